/* endpoint.h - addresses as ZeroMQ takes them, looked at before it does
 *
 * Shape:  "tcp://HOST:PORT".
 * Units:  none.
 * Errors: none; the caller knows where the text stands and says so.
 * Memory: none.
 * Source: zmq_tcp(7).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_BASE_ENDPOINT_H
#define FLYBALL_BASE_ENDPOINT_H

#include <stdbool.h>

/* True for a host without blanks and a port from 1 to 65535. */
bool endpoint_tcp_ok(const char *text);

#endif
