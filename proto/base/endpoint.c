/* ZeroMQ cuts a port to 16 bits and then listens on another one than was written, so
 * the port is looked at here.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/base/endpoint.h"

#include <stdlib.h>
#include <string.h>

enum { PORT_MAX = 65535, PORT_DIGITS = 5 };

bool
endpoint_tcp_ok(const char *text)
{
	static const char scheme[] = "tcp://";
	const char *host = text + strlen(scheme), *colon;
	size_t digits;
	long port;

	if (strncmp(text, scheme, strlen(scheme)) != 0)
		return false;
	colon = strrchr(host, ':');
	if (colon == NULL || colon == host || strcspn(host, " \t") != strlen(host))
		return false;
	digits = strspn(colon + 1, "0123456789");
	if (digits == 0 || digits > PORT_DIGITS || colon[1 + digits] != '\0')
		return false;
	port = strtol(colon + 1, NULL, 10);
	return port >= 1 && port <= PORT_MAX;
}
