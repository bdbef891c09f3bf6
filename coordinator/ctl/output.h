/* output.h - how answers are shown: to people, or as JSON
 *
 * Shape:  one vtable an output, one function an answer.
 * Units:  as in the answers' keys.
 * Errors: what is missing in an answer is shown as "-".
 * Memory: none kept.
 * Source: flyball(1); OpenBGPD's bgpctl has the same shape.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_OUTPUT_H
#define FLYBALL_OUTPUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct view {
	FILE *out;
	bool wide;
	bool color;
	size_t width; /* of the terminal; 0: lines are not cut */
};

typedef void (*output_f)(const json_t *answer, const struct view *view);

struct output {
	output_f status, hosts, host, explain_host;
	output_f builds, build, explain_build;
	output_f rounds, round;
	output_f policy, policies;
	output_f governor, locks;
};

extern const struct output output_text, output_json;

/* Parts of output_text, a file an object. */
void text_status(const json_t *answer, const struct view *view);
void text_hosts(const json_t *answer, const struct view *view);
void text_host(const json_t *answer, const struct view *view);
void text_explain_host(const json_t *answer, const struct view *view);
void text_builds(const json_t *answer, const struct view *view);
void text_build(const json_t *answer, const struct view *view);
void text_explain_build(const json_t *answer, const struct view *view);
void text_rounds(const json_t *answer, const struct view *view);
void text_round(const json_t *answer, const struct view *view);
void text_locks(const json_t *answer, const struct view *view);
void text_governor(const json_t *answer, const struct view *view);
/* The table of build rows, as builds, round and host show it. */
void text_build_table(const json_t *rows, const struct view *view);

#endif
