/* wire_text.h - which characters may stand where on the wire
 *
 * Shape:  predicates over zero-terminated text from outside.
 * Units:  none.
 * Errors: none; false, and the caller knows the field.
 * Memory: none.
 * Source: RFC 3629 (UTF-8: no overlong forms, no surrogates).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_WIRE_TEXT_H
#define FLYBALL_WIRE_TEXT_H

#include <stdbool.h>

/* UTF-8 without control characters other than tab, line feed and carriage return: it will
 * stand on somebody's terminal. */
bool wire_text_ok(const char *text);

/* Puts '?' for each byte that wire_text_ok would refuse. */
void wire_text_repair(char *text);

/* Printable ASCII without spaces, not beginning with '-': safe as a program's argument. */
bool wire_word_ok(const char *text);

/* Text in one line, not beginning with '-', without a ".." component. */
bool wire_path_ok(const char *text);

#endif
