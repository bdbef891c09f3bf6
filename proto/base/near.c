/* A suggestion that is wrong is worse than none: of a word of up to three letters one may be
 * off, of a longer one two.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/base/near.h"

#include <string.h>

unsigned
near_distance(const char *a, size_t na, const char *b, size_t nb)
{
	unsigned row[33], corner, up;

	if (na > 32 || nb > 32)
		return 99;
	for (unsigned j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 0; i < na; i++) {
		corner = row[0]++;
		for (size_t j = 0; j < nb; j++) {
			up = row[j + 1];
			corner += a[i] != b[j];
			if (corner > up + 1)
				corner = up + 1;
			if (corner > row[j] + 1)
				corner = row[j] + 1;
			row[j + 1] = corner;
			corner = up;
		}
	}
	return row[nb];
}

unsigned
near_bound(size_t length)
{
	return length > 3 ? 2 : 1;
}

const char *
near_find(const char *word, const char *const *names, size_t n)
{
	size_t i, length = strlen(word);
	unsigned least = near_bound(length) + 1;
	const char *best = NULL;

	for (i = 0; i < n; i++) {
		unsigned d = near_distance(word, length, names[i], strlen(names[i]));

		if (d < least) {
			least = d;
			best = names[i];
		}
	}
	return best;
}
