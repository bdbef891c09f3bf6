/* From the inside out: the level the law has found, or the first limit where it may not act; the
 * policies' bounds; the operator's word, which comes last since operators know what no reading
 * shows. The floor is one step.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/core/governor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/core/mode.h"
#include "proto/base/mem.h"

static int32_t
at_least_one(int32_t n)
{
	return n < 1 ? 1 : n > JOBS_MAX ? JOBS_MAX : n;
}

static void
start(const struct governor_input *in, struct governor_decision *d)
{
	d->limit = at_least_one(in->start > 0 ? in->start : in->threads);
	d->level = LEVEL_START;
	mem_copy_text(d->reason, sizeof d->reason,
	    in->start > 0 ? "the start value of the policies of its builds"
			  : "one step for each of its threads");
}

/* What the host would be given if nobody bounded it. */
static void
law(const struct governor_input *in, struct governor_decision *d)
{
	if (in->law == NULL || in->law->state == LAW_OFF || in->law->by == LEVEL_START) {
		start(in, d);
		return;
	}
	d->limit = at_least_one(in->law->level);
	d->level = in->law->by;
	memcpy(d->reason, in->law->reason, sizeof d->reason);
}

static void
bound_by_policies(const struct governor_input *in, struct governor_decision *d)
{
	int32_t was = d->limit;

	if (in->max > 0 && d->limit > in->max)
		d->limit = in->max;
	if (d->limit < in->min)
		d->limit = in->min;
	d->limit = at_least_one(d->limit);
	if (d->limit == was)
		return;
	d->level = LEVEL_BOUNDS;
	snprintf(d->reason, sizeof d->reason,
	    "the policies of its builds allow %d to %d, and %d was wanted", in->min, in->max, was);
}

static void
bound_by_operator(const struct governor_input *in, struct governor_decision *d)
{
	int32_t was = d->limit;

	if (in->pinned) {
		d->limit = at_least_one(in->pin);
		d->level = LEVEL_OPERATOR;
		snprintf(d->reason, sizeof d->reason,
		    "pinned by %s (%.300s); without that it would be %d", in->pin_who,
		    in->pin_reason, was);
		return;
	}
	if (!in->throttled || d->limit <= in->throttle)
		return;
	d->limit = at_least_one(in->throttle);
	d->level = LEVEL_OPERATOR;
	snprintf(d->reason, sizeof d->reason,
	    "throttled by %s (%.300s); without that it would be %d", in->throttle_who,
	    in->throttle_reason, was);
}

void
governor_decide(const struct governor_input *in, struct governor_decision *ret_decision)
{
	struct governor_decision d = { 0 }, would = { 0 };

	law(in, &would);
	bound_by_policies(in, &would);
	start(in, &d);
	bound_by_policies(in, &d);
	if (in->mode == GOVERNOR_ACT)
		d = would;
	d.would = would.limit;
	memcpy(d.would_reason, would.reason, sizeof d.would_reason);
	bound_by_operator(in, &d);
	*ret_decision = d;
}

static void
add_build(const struct cluster *c, const struct attempt *a, struct governor_input *in)
{
	const struct build *b = cluster_find_build(c, a->build);
	const struct policy *p = build_policy(c, b);

	in->builds++;
	if (p->jobs_start > in->start)
		in->start = p->jobs_start;
	if (p->jobs_min > in->min)
		in->min = p->jobs_min;
	in->max += p->jobs_max;
	if (p->spin_target_ppm > 0 &&
	    (in->spin_target_ppm == 0 || p->spin_target_ppm < in->spin_target_ppm))
		in->spin_target_ppm = (int32_t)p->spin_target_ppm;
	in->limited = in->limited || a->status.limited;
	in->running += a->status.running;
}

void
governor_input_get(const struct cluster *c, const struct host *h, struct governor_input *ret_input)
{
	struct governor_input in = { .threads = h->facts.threads, .limit = h->limit };
	const struct order_hold *throttle = &h->holds[HOLD_THROTTLE], *pin = &h->holds[HOLD_PIN];
	const struct attempt *a;
	size_t i;

	in.mode = governor_mode_of_host(c, h, NULL);
	if (in.mode != GOVERNOR_OFF && h->nlive > 0)
		in.law = &h->law;
	for (i = 0; (a = host_live_attempt(c, h, i)) != NULL; i++)
		add_build(c, a, &in);
	in.throttled = throttle->set;
	in.throttle = throttle->limit;
	in.throttle_who = throttle->who;
	in.throttle_reason = throttle->reason;
	in.pinned = pin->set;
	in.pin = pin->limit;
	in.pin_who = pin->who;
	in.pin_reason = pin->reason;
	in.paused = h->holds[HOLD_PAUSE].set;
	if (h->reported) {
		in.load = &h->load;
		in.load_age_us = mono_since(h->load_at, c->now.mono);
	}
	*ret_input = in;
}

bool
governor_spin(const struct host *h, double *ret_share, bool *ret_estimate)
{
	const struct law *law = &h->law;
	double busy;

	if (!h->reported)
		return false;
	busy = h->load.readings[LOAD_USER].value + h->load.readings[LOAD_SYS].value;
	if (!load_has(&h->load, LOAD_USER) || !load_has(&h->load, LOAD_SYS) || !(busy > 0))
		return false;
	*ret_estimate = !load_has(&h->load, LOAD_SPIN);
	if (!*ret_estimate)
		*ret_share = h->load.readings[LOAD_SPIN].value / busy;
	else if (law->state != LAW_OFF && law->sampled && !isnan(law->waste.spin))
		*ret_share = law->waste.spin / busy;
	else
		return false;
	return true;
}
