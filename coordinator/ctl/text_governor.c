/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/ctl/format.h"
#include "coordinator/ctl/text.h"

static void
show_orders(const json_t *orders, const struct view *view)
{
	struct table *t = table_create("FOR NAME MODE SINCE BY REASON");
	char since[FORMAT_SIZE];
	size_t i;

	for (i = 0; i < json_array_size(orders); i++) {
		const json_t *order = json_array_get(orders, i);

		table_add(t, get_text(order, "scope"));
		table_add(t, get_text(order, "name"));
		table_add(t, get_text(order, "mode"));
		table_add(t, get_time(since, order, "since"));
		table_add(t, get_text(order, "who"));
		table_add(t, get_text(order, "reason"));
	}
	table_print(t, view);
	table_destroy(t);
	putc('\n', view->out);
}

/* Two columns of names, a mode, and where it comes from. */
static void
show_modes(
    const char *columns, const json_t *list, const char *const keys[], const struct view *view)
{
	struct table *t = table_create(columns);
	size_t i, k;

	for (i = 0; i < json_array_size(list); i++)
		for (k = 0; keys[k] != NULL; k++)
			table_add(t, get_text(json_array_get(list, i), keys[k]));
	table_print(t, view);
	table_destroy(t);
}

void
text_governor(const json_t *answer, const struct view *view)
{
	static const char *const branch_keys[] = { "branch", "governor", NULL };
	static const char *const host_keys[] = { "host", "class", "governor", "governor_from",
		NULL };
	const json_t *orders = json_object_get(answer, "orders");

	if (json_array_size(orders) == 0)
		fputs("no orders: each branch's policy says its mode\n\n", view->out);
	else
		show_orders(orders, view);
	show_modes("BRANCH POLICY", json_object_get(answer, "branches"), branch_keys, view);
	putc('\n', view->out);
	show_modes("HOST CLASS MODE FROM", json_object_get(answer, "hosts"), host_keys, view);
}
