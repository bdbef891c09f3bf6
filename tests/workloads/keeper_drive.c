/* keeper_drive [OPTION]... FOLDER [RECIPE] - drives one keeper from a test
 *
 * Writes an order into FOLDER, starts the keeper through keeper_client and follows it to its result.
 *   -k PROGRAM   flyball-keeper          -a          adopt the keeper of FOLDER instead
 *   -l "T:N ..." limits: N from T s on   -L FILE     append "NS N 2" or "NS N 0" for overlap
 *   -t S -s S    timeout, stall          -c BYTES    log cap
 *   -C T         cancel after T s        -F          POOL_FIFO
 *   -w FOLDER    workspace               -n          do not follow: exit once it is started
 * Prints "stat t=..." five times a second, then the result as key=value; exit 0 with a result.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "agent/keeper_client.h"
#include "proto/base/mem.h"

enum { ASK_EVERY_NS = 200000000, LIMITS_MAX = 32, POLL_MS = 10 };

struct drive {
	const char *keeper, *folder, *limits_file;
	bool adopt, start_only;
	double cancel_at;
	struct {
		double at;
		int limit;
	} limits[LIMITS_MAX];
	size_t nlimits, next;
	struct order order;
	int64_t began;
};

static int64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void __attribute__((noreturn)) die(const char *text)
{
	fprintf(stderr, "keeper_drive: %s\n", text);
	exit(1);
}

static void
take_limits(struct drive *d, char *text)
{
	char *save = NULL;

	for (char *p = strtok_r(text, " ", &save); p != NULL && d->nlimits < LIMITS_MAX;
	     p = strtok_r(NULL, " ", &save)) {
		if (sscanf(p, "%lf:%d", &d->limits[d->nlimits].at, &d->limits[d->nlimits].limit) !=
		    2)
			die("-l wants \"SECONDS:LIMIT ...\"");
		d->nlimits++;
	}
}

static void
take_option(struct drive *d, int option)
{
	struct order *o = &d->order;

	switch (option) {
	case 'k':
		d->keeper = optarg;
		break;
	case 'a':
		d->adopt = true;
		break;
	case 'l':
		take_limits(d, optarg);
		break;
	case 'L':
		d->limits_file = optarg;
		break;
	case 't':
		o->start.timeout_us = (int64_t)(atof(optarg) * 1e6);
		break;
	case 's':
		o->start.stall_us = (int64_t)(atof(optarg) * 1e6);
		break;
	case 'c':
		o->log_cap_bytes = atoll(optarg);
		break;
	case 'C':
		d->cancel_at = atof(optarg);
		break;
	case 'F':
		o->pool = POOL_FIFO;
		break;
	case 'w':
		mem_copy_text(o->work, sizeof o->work, optarg);
		break;
	case 'n':
		d->start_only = true;
		break;
	default:
		die("unknown option; see the head of keeper_drive.c");
	}
}

/* The limit that is in force from now on, for overlap: growth is to show within 2 s. */
static void
note_limit(struct drive *d, int was, int limit)
{
	FILE *f;

	if (d->limits_file == NULL)
		return;
	f = fopen(d->limits_file, "a");
	if (f == NULL)
		die("the file of -L cannot be written");
	fprintf(f, "%" PRId64 " %d %d\n", now_ns(), limit, limit > was ? 2 : 0);
	fclose(f);
}

static void
fill_order(struct drive *d, const char *recipe)
{
	struct order *o = &d->order;

	o->start.id.n = 7;
	o->start.fence = 3;
	mem_copy_text(o->start.branch, sizeof o->start.branch, "branch");
	mem_copy_text(o->start.target, sizeof o->start.target, "target");
	mem_copy_text(o->start.revision, sizeof o->start.revision, "r1");
	mem_copy_text(o->program, sizeof o->program, recipe);
	mem_copy_text(o->source, sizeof o->source, "/");
	if (o->work[0] == '\0')
		snprintf(o->work, sizeof o->work, "%.400s/work", d->folder);
	snprintf(o->out, sizeof o->out, "%.400s/out", d->folder);
	snprintf(o->tag, sizeof o->tag, "test-%d", (int)getpid());
	o->limit = d->nlimits > 0 ? d->limits[0].limit : 2;
	o->ceiling = 24;
}

static struct keeper_client *
get_client(struct drive *d, const char *recipe)
{
	struct keeper_client *client;
	struct err err;

	if (d->adopt) {
		client = keeper_client_adopt(d->folder, &err);
	} else {
		fill_order(d, recipe);
		if (order_write(d->folder, &d->order, &err) != 0)
			die(err.text);
		note_limit(d, 0, d->order.limit);
		client = keeper_client_start(d->keeper, d->folder, &err);
		d->next = 1;
	}
	if (client == NULL)
		die(err.text);
	return client;
}

static double
since(const struct drive *d)
{
	return (double)(now_ns() - d->began) / 1e9;
}

static void
steer(struct drive *d, struct keeper_client *client)
{
	struct err err;

	if (d->next < d->nlimits && since(d) >= d->limits[d->next].at) {
		int was = d->next > 0 ? d->limits[d->next - 1].limit : 0;

		note_limit(d, was, d->limits[d->next].limit);
		if (keeper_client_limit(client, d->limits[d->next].limit, &err) != 0)
			die(err.text);
		d->next++;
	}
	if (d->cancel_at >= 0 && since(d) >= d->cancel_at) {
		d->cancel_at = -1;
		if (keeper_client_cancel(client, "a test said so", &err) != 0)
			die(err.text);
	}
}

static void
print_stat(const struct drive *d, const struct attempt_status *s)
{
	printf("stat t=%.2f limit=%d running=%d limited=%d ungoverned=%d granted=%" PRId64
	       " returned=%" PRId64 " drained=%" PRId64 " lost=%" PRId64 " unclaimed=%" PRId64
	       " log_bytes=%" PRId64 "\n",
	    since(d), (int)s->limit, (int)s->running, s->limited, s->ungoverned, s->granted,
	    s->returned, s->drained, s->lost, s->unclaimed, s->log_bytes);
	fflush(stdout);
}

static void
follow(struct drive *d, struct keeper_client *client)
{
	struct attempt_status status = { 0 };
	int64_t ask_at = 0;

	for (;;) {
		struct pollfd fd = { .fd = keeper_client_fd(client), .events = POLLIN };
		enum keeper_word word;

		poll(&fd, 1, POLL_MS);
		while ((word = keeper_client_read(client, &status)) != KEEPER_NOTHING) {
			if (word == KEEPER_STAT)
				print_stat(d, &status);
			else
				return;
		}
		steer(d, client);
		if (now_ns() >= ask_at) {
			keeper_client_ask(client, NULL);
			ask_at = now_ns() + ASK_EVERY_NS;
		}
	}
}

static int
print_result(const struct drive *d)
{
	struct message_attempt a;
	struct err err;
	bool there;

	if (result_read(d->folder, &a, &there, &err) != 0)
		die(err.text);
	if (!there)
		die("there is no result");
	printf("id=%" PRIu64 " outcome=%s exit=%d granted=%" PRId64 " returned=%" PRId64
	       " drained=%" PRId64 " lost=%" PRId64 " ungoverned=%d log_bytes=%" PRId64
	       " dropped=%" PRId64 "\nreal_s=%.2f user_s=%.2f sys_s=%.2f rss_kb=%" PRId64
	       "\nreason=%s\n",
	    a.status.id.n, outcome_name(a.result.outcome), (int)a.result.exit_code,
	    a.status.granted, a.status.returned, a.status.drained, a.status.lost,
	    a.status.ungoverned, a.status.log_bytes, a.result.log_dropped_bytes,
	    (double)a.result.real_us / 1e6, (double)a.result.usage.user_us / 1e6,
	    (double)a.result.usage.sys_us / 1e6, a.result.usage.max_resident_bytes / 1024,
	    a.result.reason);
	return 0;
}

int
main(int argc, char **argv)
{
	struct drive d = { .keeper = "flyball-keeper", .cancel_at = -1 };
	struct keeper_client *client;
	int option;

	d.order.log_cap_bytes = LOG_CAP_BYTES;
	while ((option = getopt(argc, argv, "k:al:L:t:s:c:C:Fw:n")) != -1)
		take_option(&d, option);
	if (optind >= argc || (!d.adopt && optind + 1 >= argc))
		die("FOLDER and RECIPE are wanted");
	d.folder = argv[optind];
	d.began = now_ns();
	client = get_client(&d, argv[optind + 1]);
	if (!d.start_only)
		follow(&d, client);
	keeper_client_destroy(client);
	return d.start_only ? 0 : print_result(&d);
}
