/* log.h - one line a state change: words, then key=value
 *
 * Shape:  to standard error; with a time when that is no journal (JOURNAL_STREAM unset).
 * Units:  none.
 * Errors: cannot fail.
 * Memory: none kept but the throttle of repeats.
 * Source: docs/style.md "Errors, memory, logging".
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOG_H
#define FLYBALL_LOG_H

enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTICE, LOG_DEBUG };

/* What is less urgent than level is not written; program stands before each line. */
void log_open(const char *program, enum log_level level);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* For what strangers can cause at will: a line per key (a peer, a reason) in 10 s, the
 * rest counted and told with the next one. */
void log_throttled(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
