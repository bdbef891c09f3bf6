/* wcwidth would need a locale that knows UTF-8, and scripts run with none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/ctl/width.h"

#include <stdint.h>

/* In ascending order; what stands between takes one column. */
static const struct {
	uint32_t first, last;
	unsigned columns;
} ranges[] = {
	{ 0x300, 0x36f, 0 }, /* combining */
	{ 0x1100, 0x115f, 2 }, /* Hangul Jamo */
	{ 0x1ab0, 0x1aff, 0 }, { 0x1dc0, 0x1dff, 0 },
	{ 0x200b, 0x200f, 0 }, /* joiners, marks of direction */
	{ 0x20d0, 0x20ff, 0 }, { 0x2e80, 0x303e, 2 }, /* CJK radicals and punctuation */
	{ 0x3041, 0x3098, 2 }, /* Hiragana */
	{ 0x3099, 0x309a, 0 }, { 0x309b, 0xa4cf, 2 }, /* Katakana, Bopomofo, CJK, Yi */
	{ 0xa960, 0xa97f, 2 }, { 0xac00, 0xd7a3, 2 }, /* Hangul */
	{ 0xf900, 0xfaff, 2 }, { 0xfe00, 0xfe0f, 0 }, /* variation selectors */
	{ 0xfe20, 0xfe2f, 0 }, { 0xfe30, 0xfe6f, 2 }, { 0xfeff, 0xfeff, 0 },
	{ 0xff00, 0xff60, 2 }, /* full width */
	{ 0xffe0, 0xffe6, 2 }, { 0x1f300, 0x1f64f, 2 }, /* pictures */
	{ 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 },
	{ 0x20000, 0x3fffd, 2 }, /* CJK of the other planes */
};

static unsigned
columns_of(uint32_t code)
{
	size_t i;

	for (i = 0; i < sizeof ranges / sizeof ranges[0] && code >= ranges[i].first; i++)
		if (code <= ranges[i].last)
			return ranges[i].columns;
	return 1;
}

/* The character that stands there, and how many bytes it has. */
static size_t
decode(const char *text, uint32_t *ret_code)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t size = s[0] < 0xc2 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 1, i;
	uint32_t code = size == 1 ? s[0] : s[0] & (0xffU >> (size + 1));

	for (i = 1; i < size; i++) {
		if ((s[i] & 0xc0) != 0x80)
			break;
		code = code << 6 | (s[i] & 0x3fU);
	}
	*ret_code = i == size ? code : '?';
	return i == size ? size : 1;
}

size_t
width_fit(const char *text, size_t columns)
{
	size_t bytes = 0, used = 0;

	while (text[bytes] != '\0') {
		uint32_t code;
		size_t size = decode(text + bytes, &code);

		used += columns_of(code);
		if (used > columns)
			break;
		bytes += size;
	}
	return bytes;
}

size_t
width_of(const char *text)
{
	size_t used = 0;
	uint32_t code;

	while (*text != '\0') {
		text += decode(text, &code);
		used += columns_of(code);
	}
	return used;
}
