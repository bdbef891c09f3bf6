/* policy_grammar.h - every key that a policy file may hold, and those not acted on yet
 *
 * Shape:  the option table for libconfuse; for policy_file.c alone.
 * Units:  none.
 * Errors: none.
 * Memory: constant but for what libconfuse's types ask for.
 * Source: flyball-policy(5).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_POLICY_GRAMMAR_H
#define FLYBALL_POLICY_GRAMMAR_H

#include <confuse.h>

extern cfg_opt_t policy_opts[];

/* A key of the design that this release does not act on. */
struct unacted {
	const char *section; /* that it stands in; "" is the file */
	const char *key;
	const char *instead; /* what is done without it */
};

/* Ends with a section that is NULL. */
extern const struct unacted policy_unacted[];

#endif
