/* policy_text.h - a policy file as text that may be sent
 *
 * Shape:  looked at whole before any of it is sent.
 * Units:  none.
 * Errors: as statuses: there is no such file, or it is none that a policy can stand in, with
 *         FILE:LINE where a line is at fault.
 * Memory: the text is the caller's (free).
 * Source: flyball-policy(5).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_POLICY_TEXT_H
#define FLYBALL_POLICY_TEXT_H

#include "proto/base/err.h"
#include "proto/message.h"

/* "-" is standard input. */
enum reply_status policy_text_read(const char *path, char **ret_text, struct err *err);

#endif
