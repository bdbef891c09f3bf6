/* Answers are JSON already: every one is shown as it came, a key a line, so that line-minded
 * tools can read it too. jansson escapes control characters.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/ctl/output.h"

static void
dump(const json_t *answer, const struct view *view)
{
	json_dumpf(answer, view->out, JSON_SORT_KEYS | JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	putc('\n', view->out);
}

const struct output output_json = {
	.status = dump,
	.hosts = dump,
	.host = dump,
	.explain_host = dump,
	.builds = dump,
	.build = dump,
	.explain_build = dump,
	.rounds = dump,
	.round = dump,
	.policy = dump,
	.policies = dump,
	.governor = dump,
	.locks = dump,
};
