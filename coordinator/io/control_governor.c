/* What the governor may do where: orders are given, lifted and shown here. Whether what an order
 * names is there is step()'s to say, so that it is said once.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <assert.h>
#include <string.h>

#include "coordinator/io/control_ask.h"
#include "coordinator/io/snapshot.h"
#include "proto/base/mem.h"
#include "proto/wire.h"
#include "proto/wire_text.h"

/* At most one of branch, class and host; none: the farm. */
static bool
take_scope(struct ask *ask)
{
	struct event *e = ask->event;
	int scope;

	e->scope = SCOPE_FARM;
	for (scope = SCOPE_BRANCH; scope <= SCOPE_HOST; scope++) {
		const char *name = arg_get(ask, mode_scope_name((enum mode_scope)scope));

		if (name == NULL)
			continue;
		if (e->scope != SCOPE_FARM) {
			answer(ask, REPLY_USAGE,
			    "one of a branch, a class or a host was expected, or none of them for "
			    "the whole farm");
			return false;
		}
		if (!wire_name_ok(name)) {
			answer(ask, REPLY_USAGE,
			    "\"%.60s\" is no name of a %s: letters, digits, . _ + - were expected",
			    name, mode_scope_name((enum mode_scope)scope));
			return false;
		}
		e->scope = (enum mode_scope)scope;
		mem_copy_text(e->name, sizeof e->name, name);
	}
	return true;
}

enum control_result
change_governor(struct ask *ask)
{
	const char *word = arg_get(ask, "mode");
	int mode = GOVERNOR_OFF;

	if (!take_scope(ask) || !take_reason(ask, true))
		return CONTROL_ANSWERED;
	if (word != NULL && strcmp(word, "policy") == 0) {
		ask->event->kind = EVENT_GOVERNOR_LIFT;
		return CONTROL_EVENT;
	}
	for (; mode <= GOVERNOR_ACT; mode++)
		if (word != NULL &&
		    strcmp(governor_mode_name((enum governor_mode)mode), word) == 0) {
			ask->event->kind = EVENT_GOVERNOR;
			ask->event->mode = (enum governor_mode)mode;
			return CONTROL_EVENT;
		}
	return answer(ask, REPLY_USAGE,
	    "\"%.60s\" is no mode: off, observe, advise, act, or policy to lift an order was "
	    "expected",
	    word != NULL ? word : "");
}

static json_t *
order_json(const struct mode_order *order)
{
	json_t *json = json_pack("{s:s, s:o, s:s, s:o, s:o, s:o}", "scope",
	    mode_scope_name(order->scope), "name", snapshot_text(order->name), "mode",
	    governor_mode_name(order->mode), "who", snapshot_text(order->who), "reason",
	    snapshot_text(order->reason), "since", snapshot_time(order->since));

	assert(json != NULL);
	return json;
}

enum control_result
show_governor(struct ask *ask)
{
	json_t *json = json_object(), *orders = json_array(), *branches = json_array();
	size_t i;

	for (i = 0; i < ask->c->norders; i++)
		json_array_append_new(orders, order_json(&ask->c->orders[i]));
	for (i = 0; i < ask->c->nbranches; i++) {
		const struct policy *p = cluster_find_policy_version(ask->c, ask->c->branches[i]);

		json_array_append_new(branches, json_pack("{s:s, s:s}", "branch", p->branch,
						    "governor", governor_mode_name(p->governor)));
	}
	json_object_set_new(json, "orders", orders);
	json_object_set_new(json, "branches", branches);
	return answer_json(ask, json);
}
