/* load_check.h - a reading of a load is there and is what it should be
 *
 * Shape:  to be included behind cmocka.h.
 * Units:  as struct load.
 * Errors: fails the test with the reading's name.
 * Memory: none.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_LOAD_CHECK_H
#define FLYBALL_LOAD_CHECK_H

#include "proto/units.h"

static inline void
assert_value(const struct load *load, enum load_reading reading, double value)
{
	double d = load->readings[reading].value - value;

	if (!load_has(load, reading) || d < -1e-9 || d > 1e-9)
		fail_msg("%s is %f, expected %f", load_reading_name(reading),
		    load_has(load, reading) ? load->readings[reading].value : -1.0, value);
}

#endif
