/* Orders are few, and kept in the order of scope and name, so that one is found by halving. One
 * for the farm ends the others: whoever reverts the farm does not have to know what was set on
 * single hosts before.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/mode.h"

#include <stdio.h>
#include <string.h>

#include "coordinator/core/predict.h"
#include "coordinator/core/turn.h"
#include "proto/base/mem.h"

struct order_key {
	enum mode_scope scope;
	const char *name;
};

static int
compare(const void *x, const void *element)
{
	const struct order_key *key = x;
	const struct mode_order *order = element;

	if (key->scope != order->scope)
		return key->scope < order->scope ? -1 : 1;
	return strcmp(key->name, order->name);
}

size_t
mode_place(const struct cluster *c, enum mode_scope scope, const char *name)
{
	const struct order_key key = { scope, name };

	return mem_place(c->orders, c->norders, sizeof *c->orders, &key, compare);
}

const struct mode_order *
mode_find(const struct cluster *c, enum mode_scope scope, const char *name)
{
	const struct order_key key = { scope, name };
	size_t i = mode_place(c, scope, name);

	return i < c->norders && compare(&key, &c->orders[i]) == 0 ? &c->orders[i] : NULL;
}

/* ---- changing them; for apply.c ---------------------------------------------------------- */

static void
remove_order(struct cluster *c, size_t i)
{
	c->norders--;
	memmove(&c->orders[i], &c->orders[i + 1], (c->norders - i) * sizeof *c->orders);
}

static void
set_order(struct cluster *c, const struct fact *f)
{
	size_t i = mode_place(c, f->scope, f->name);

	if (mode_find(c, f->scope, f->name) == NULL) {
		c->orders = mem_room(c->orders, c->norders, &c->orders_capacity, sizeof *c->orders);
		memmove(&c->orders[i + 1], &c->orders[i], (c->norders - i) * sizeof *c->orders);
		c->norders++;
	}
	c->orders[i] = (struct mode_order){ .scope = f->scope, .mode = f->mode, .since = f->at };
	memcpy(c->orders[i].name, f->name, sizeof f->name);
	memcpy(c->orders[i].who, f->who, sizeof f->who);
	memcpy(c->orders[i].reason, f->text, sizeof f->text);
}

void
mode_apply(struct cluster *c, const struct fact *f)
{
	if (f->scope == SCOPE_FARM)
		c->norders = 0;
	if (f->kind == FACT_GOVERNOR)
		set_order(c, f);
	else if (f->scope != SCOPE_FARM)
		remove_order(c, mode_place(c, f->scope, f->name));
}

/* ---- what holds ------------------------------------------------------------------------- */

static const struct mode_order *
order_for(const struct cluster *c, const struct host *h, const struct attempt *a)
{
	const struct mode_order *order;
	char class_name[NAME_SIZE];

	if (c->norders == 0)
		return NULL;
	if ((order = mode_find(c, SCOPE_HOST, h->name)) != NULL)
		return order;
	host_class(h, class_name);
	if ((order = mode_find(c, SCOPE_CLASS, class_name)) != NULL)
		return order;
	if (a != NULL)
		order = mode_find(
		    c, SCOPE_BRANCH, build_round(c, cluster_find_build(c, a->build))->branch);
	return order != NULL ? order : mode_find(c, SCOPE_FARM, "");
}

static enum governor_mode
mode_of(const struct cluster *c, const struct mode_order *order, const struct attempt *a)
{
	if (order != NULL)
		return order->mode;
	return a != NULL ? build_policy(c, cluster_find_build(c, a->build))->governor
			 : GOVERNOR_OBSERVE;
}

enum governor_mode
governor_mode_of(const struct cluster *c, const struct host *h, const struct attempt *a)
{
	return mode_of(c, order_for(c, h, a), a);
}

enum governor_mode
governor_mode_of_host(
    const struct cluster *c, const struct host *h, const struct mode_order **ret_order)
{
	const struct attempt *a = host_live_attempt(c, h, 0);
	const struct mode_order *order = order_for(c, h, a);
	enum governor_mode mode = mode_of(c, order, a);
	size_t i;

	for (i = 1; (a = host_live_attempt(c, h, i)) != NULL; i++) {
		const struct mode_order *other = order_for(c, h, a);

		if (mode_of(c, other, a) >= mode)
			continue;
		order = other;
		mode = mode_of(c, other, a);
	}
	if (ret_order != NULL)
		*ret_order = order;
	return mode;
}

/* ---- orders ----------------------------------------------------------------------------- */

static bool
class_is_known(const struct cluster *c, const char *name)
{
	char class_name[NAME_SIZE];
	size_t i;

	for (i = 0; i < c->nhosts; i++) {
		host_class(c->hosts[i], class_name);
		if (strcmp(class_name, name) == 0)
			return true;
	}
	return false;
}

/* What has an order may be ordered again, and lifted, also when it is gone. */
static bool
names_something(const struct cluster *c, enum mode_scope scope, const char *name)
{
	if (mode_find(c, scope, name) != NULL)
		return true;
	switch (scope) {
	case SCOPE_FARM:
		return name[0] == '\0';
	case SCOPE_BRANCH:
		return cluster_find_policy(c, name) != NULL;
	case SCOPE_CLASS:
		return class_is_known(c, name);
	case SCOPE_HOST:
		return cluster_find_host(c, name) != NULL;
	}
	return false;
}

/* "host a", "the whole farm" */
static const char *
say_scope(enum mode_scope scope, const char *name, char buf[NAME_SIZE + 16])
{
	if (scope == SCOPE_FARM)
		return "the whole farm";
	snprintf(buf, NAME_SIZE + 16, "%s %s", mode_scope_name(scope), name);
	return buf;
}

static void
lift(struct turn *t)
{
	const struct event *e = t->event;
	struct fact f = { .kind = FACT_GOVERNOR_LIFTED, .scope = e->scope };
	char buf[NAME_SIZE + 16];

	if (e->scope == SCOPE_FARM ? t->c->norders == 0
				   : mode_find(t->c, e->scope, e->name) == NULL) {
		turn_refuse(t, ANSWER_CONFLICT,
		    "there is no governor order for %s: its mode is the policies' or a wider "
		    "order's",
		    say_scope(e->scope, e->name, buf));
		return;
	}
	memcpy(f.name, e->name, sizeof f.name);
	memcpy(f.who, e->who, sizeof f.who);
	memcpy(f.text, e->text, sizeof f.text);
	turn_fact(t, &f);
	turn_reply(t, ANSWER_OK, (round_id){ 0 },
	    "for %s no governor order is in force any longer: wider ones hold, else the policies",
	    say_scope(e->scope, e->name, buf));
}

void
mode_event(struct turn *t)
{
	const struct event *e = t->event;
	struct fact f = { .kind = FACT_GOVERNOR, .scope = e->scope, .mode = e->mode };
	char buf[NAME_SIZE + 16];

	if ((unsigned)e->scope > SCOPE_HOST || (unsigned)e->mode > GOVERNOR_ACT ||
	    !names_something(t->c, e->scope, e->name)) {
		turn_refuse(t, ANSWER_NOT_FOUND,
		    "no %s \"%s\" is known: `flyball hosts` lists hosts and their classes, "
		    "`flyball status` branches",
		    mode_scope_name(e->scope), e->name);
		return;
	}
	if (e->kind == EVENT_GOVERNOR_LIFT) {
		lift(t);
		return;
	}
	memcpy(f.name, e->name, sizeof f.name);
	memcpy(f.who, e->who, sizeof f.who);
	memcpy(f.text, e->text, sizeof f.text);
	turn_fact(t, &f);
	turn_reply(t, ANSWER_OK, (round_id){ 0 }, "for %s the governor's mode is %s%s",
	    say_scope(e->scope, e->name, buf), governor_mode_name(e->mode),
	    e->scope == SCOPE_FARM ? ", and all narrower orders have ended" : "");
}

void
host_alarm(struct turn *t, struct host *h, const char *why)
{
	const struct mode_order *order = mode_find(t->c, SCOPE_HOST, h->name);
	struct fact f = { .kind = FACT_GOVERNOR,
		.scope = SCOPE_HOST,
		.mode = GOVERNOR_OBSERVE,
		.who = MODE_ALARM };

	if (order != NULL && (strcmp(order->who, MODE_ALARM) == 0 || order->mode == GOVERNOR_OFF))
		return;
	memcpy(f.name, h->name, sizeof f.name);
	mem_copy_text(f.text, sizeof f.text, why);
	turn_fact(t, &f);
	mem_copy_text(h->trouble, sizeof h->trouble, why);
}
