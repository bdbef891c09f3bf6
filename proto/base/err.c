/* A sentence is built once, where the fault is seen, since only there are the
 * file, the value and the expectation all at hand.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int
err_set(struct err *err, const char *format, ...)
{
	va_list ap;

	if (err == NULL)
		return -1;
	va_start(ap, format);
	vsnprintf(err->text, sizeof err->text, format, ap);
	va_end(ap);
	return -1;
}

int
err_set_errno(struct err *err, int errnum, const char *format, ...)
{
	va_list ap;
	size_t used;

	if (err == NULL)
		return -1;
	va_start(ap, format);
	vsnprintf(err->text, sizeof err->text, format, ap);
	va_end(ap);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof err->text - used, ": %s", strerror(errnum));
	return -1;
}

int
err_prefix(struct err *err, const char *format, ...)
{
	char was[ERR_TEXT_SIZE];
	va_list ap;
	size_t used;

	if (err == NULL)
		return -1;
	memcpy(was, err->text, sizeof was);
	va_start(ap, format);
	vsnprintf(err->text, sizeof err->text, format, ap);
	va_end(ap);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof err->text - used, ": %s", was);
	return -1;
}
