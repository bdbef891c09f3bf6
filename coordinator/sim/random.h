/* random.h - dice for model hosts: the same seed gives the same throws on any machine
 *
 * Shape:  splitmix64, seeded by a number and a stream, so that work, surroundings and sensors
 *         draw apart: what one of them draws more of changes nothing for the others.
 * Units:  none.
 * Errors: none.
 * Memory: by value.
 * Source: Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014; Box and Muller, 1958.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_SIM_RANDOM_H
#define FLYBALL_SIM_RANDOM_H

#include <math.h>
#include <stdint.h>

struct dice {
	uint64_t state;
};

static inline uint64_t
dice_throw(struct dice *d)
{
	uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static inline struct dice
dice_create(uint64_t seed, uint64_t stream)
{
	struct dice d = { seed * UINT64_C(0xd1342543de82ef95) + stream };

	d.state = dice_throw(&d) ^ stream;
	return d;
}

/* Between 0 and 1, never either. */
static inline double
dice_unit(struct dice *d)
{
	return ((double)(dice_throw(d) >> 11) + 0.5) / 9007199254740992.0;
}

static inline double
dice_between(struct dice *d, double low, double high)
{
	return low + (high - low) * dice_unit(d);
}

/* Each factor as likely as any other. */
static inline double
dice_between_log(struct dice *d, double low, double high)
{
	return low * exp(dice_unit(d) * log(high / low));
}

static inline double
dice_gauss(struct dice *d)
{
	double radius = sqrt(-2 * log(dice_unit(d)));

	return radius * cos(6.283185307179586 * dice_unit(d));
}

#endif
