/* What comes from an agent is shown on operators' terminals, becomes file names
 * and is handed to recipes as arguments: three sets of characters, each checked
 * once, at the edge.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/wire_text.h"

#include <stdint.h>
#include <string.h>

#include "proto/wire.h"

/* Bytes of the character at s, or 0 when it is not well-formed or a control character. */
static size_t
character_size(const unsigned char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t c = s[0];
	size_t n;

	if (c < 0x80)
		return (c >= ' ' && c != 0x7f) || c == '\n' || c == '\t' || c == '\r' ? 1 : 0;
	n = c >= 0xf0 && c < 0xf8 ? 4 : c >= 0xe0 && c < 0xf0 ? 3 : c >= 0xc0 && c < 0xe0 ? 2 : 0;
	if (n == 0)
		return 0;
	c &= 0x7fU >> n;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) || c < 0xa0)
		return 0;
	return n;
}

bool
wire_text_ok(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s != '\0') {
		size_t n = character_size(s);

		if (n == 0)
			return false;
		s += n;
	}
	return true;
}

void
wire_text_repair(char *text)
{
	while (*text != '\0') {
		size_t n = character_size((const unsigned char *)text);

		if (n == 0) {
			*text = '?';
			n = 1;
		}
		text += n;
	}
}

bool
wire_name_ok(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._+-";
	size_t n = strnlen(name, NAME_SIZE);

	return n > 0 && n < NAME_SIZE && name[0] != '.' && name[0] != '-' &&
	       strspn(name, allowed) == n;
}

bool
wire_word_ok(const char *text)
{
	if (text[0] == '-')
		return false;
	for (; *text != '\0'; text++)
		if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7f)
			return false;
	return true;
}

bool
wire_path_ok(const char *text)
{
	const char *at = text;

	if (text[0] == '-' || !wire_text_ok(text) || strpbrk(text, "\n\t\r") != NULL)
		return false;
	while ((at = strstr(at, "..")) != NULL) {
		if ((at == text || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
			return false;
		at += 2;
	}
	return true;
}
