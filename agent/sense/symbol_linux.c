/* Reading all symbols takes 50 ms of CPU. The child does it on another CPU than the loop's, and what
 * it touches is not the agent's memory. It is a fork and no program of its own, so that nothing
 * must be installed or found; between fork and _exit it calls only what is safe there.
 *
 * The first look-up comes soon after the first question, so that a short look at a host shows names;
 * each further one waits four times as long, from a minute to an hour: 0.08 % of a CPU in the first
 * minutes, and next to nothing when the callers of a host's locks are known.
 *
 * Invariants: at most one child; an address that the symbols do not cover keeps an empty name and
 * is not looked for again while it stays in the cache.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/symbol.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/sense/kallsyms.h"
#include "proto/base/mem.h"

#define SOON_US (SECOND_US / 2) /* to gather what else is new */
#define SELDOM_US MINUTE_US

enum { NAME_BYTES = LOCK_NAME_SIZE - 16 }; /* leaves room for "+0x1f" */

struct symbol {
	uint64_t address;
	uint64_t begin; /* of the function, which is named */
	char name[NAME_BYTES];
};

struct entry {
	struct symbol symbol;
	bool looked_up;
	uint64_t asked; /* the number of the question that was last for it */
};

struct symbols {
	struct loop *loop;
	size_t n;
	struct entry entries[SYMBOLS_MAX];
	uint64_t questions;
	mono_us next; /* no look-up before it */
	int64_t pause_us;
	struct loop_watch *timer, *answer;
	pid_t child;
	int fd;
	size_t filled; /* bytes of the answer */
	struct symbol found[SYMBOLS_MAX];
	int64_t last_ns, debt_ns; /* CPU time of the last child; of children, not yet charged */
};

/* ---- in the child ---- */

static void
on_symbol(void *arg, uint64_t address, char type, const char *name)
{
	struct symbols *symbols = arg;

	if (strchr("tTwW", type) == NULL)
		return;
	for (size_t i = 0; i < SYMBOLS_MAX; i++) {
		struct symbol *s = &symbols->found[i];

		if (s->address == 0 || address > s->address || address <= s->begin)
			continue;
		s->begin = address;
		mem_copy_text(s->name, sizeof s->name, name);
	}
}

static void __attribute__((noreturn)) look_up(struct symbols *symbols, int fd)
{
	const char *p = (const char *)symbols->found;
	size_t left = sizeof symbols->found;
	struct err err;
	ssize_t n;

	signal(SIGPIPE, SIG_DFL); /* an agent that has gone needs no answer */
	if (kallsyms_read(on_symbol, symbols, &err) != 0)
		_exit(1);
	while (left > 0 && ((n = write(fd, p, left)) > 0 || errno == EINTR)) {
		if (n <= 0)
			continue;
		p += n;
		left -= (size_t)n;
	}
	_exit(0);
}

/* ---- in the agent ---- */

static struct entry *
find(struct symbols *symbols, uint64_t address)
{
	for (size_t i = 0; i < symbols->n; i++) {
		if (symbols->entries[i].symbol.address == address)
			return &symbols->entries[i];
	}
	return NULL;
}

static void
end_child(struct symbols *symbols)
{
	struct rusage usage = { 0 };

	loop_remove(symbols->answer);
	symbols->answer = NULL;
	close(symbols->fd);
	if (wait4(symbols->child, NULL, 0, &usage) == symbols->child)
		symbols->last_ns =
		    (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
		    (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
	symbols->debt_ns += symbols->last_ns;
	symbols->child = -1;
}

static void
on_answer(void *arg)
{
	struct symbols *symbols = arg;
	size_t left = sizeof symbols->found - symbols->filled;
	ssize_t n = read(symbols->fd, (char *)symbols->found + symbols->filled, left);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && (symbols->filled += (size_t)n) < sizeof symbols->found)
		return;
	if (n > 0) {
		for (size_t i = 0; i < SYMBOLS_MAX; i++) {
			struct entry *entry = find(symbols, symbols->found[i].address);

			if (entry != NULL)
				*entry = (struct entry){ symbols->found[i], true, entry->asked };
		}
	}
	end_child(symbols);
}

static void
start_child(struct symbols *symbols)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return;
	memset(symbols->found, 0, sizeof symbols->found);
	for (size_t i = 0; i < symbols->n; i++) {
		if (!symbols->entries[i].looked_up)
			symbols->found[i].address = symbols->entries[i].symbol.address;
	}
	symbols->child = fork();
	if (symbols->child == 0)
		look_up(symbols, fds[1]);
	close(fds[1]);
	if (symbols->child < 0) {
		close(fds[0]);
		return;
	}
	symbols->fd = fds[0];
	symbols->filled = 0;
	fcntl(symbols->fd, F_SETFL, O_NONBLOCK);
	symbols->answer = loop_fd_add(symbols->loop, symbols->fd, LOOP_READ, on_answer, symbols);
}

static void
on_timer(void *arg)
{
	struct symbols *symbols = arg;

	loop_remove(symbols->timer);
	symbols->timer = NULL;
	symbols->next = mono_add(loop_now(), symbols->pause_us);
	symbols->pause_us = symbols->pause_us < HOUR_US / 4 ? symbols->pause_us * 4 : HOUR_US;
	start_child(symbols);
}

static void
arm(struct symbols *symbols)
{
	int64_t wait_us = mono_since(loop_now(), symbols->next);

	if (symbols->timer == NULL && symbols->child < 0)
		symbols->timer = loop_timer_add(
		    symbols->loop, wait_us > SOON_US ? wait_us : SOON_US, 0, on_timer, symbols);
}

/* Takes a free entry, or the one that was longest not asked for. */
static struct entry *
enter(struct symbols *symbols, uint64_t address)
{
	struct entry *entry = &symbols->entries[0];

	if (symbols->n < SYMBOLS_MAX)
		entry = &symbols->entries[symbols->n++];
	else
		for (size_t i = 1; i < SYMBOLS_MAX; i++)
			if (symbols->entries[i].asked < entry->asked)
				entry = &symbols->entries[i];
	*entry = (struct entry){ .symbol = { .address = address }, .asked = symbols->questions };
	return entry;
}

struct symbols *
symbols_create(struct loop *loop)
{
	struct symbols *symbols = mem_calloc(1, sizeof *symbols);

	symbols->loop = loop;
	symbols->pause_us = SELDOM_US;
	symbols->child = -1;
	return symbols;
}

void
symbols_destroy(struct symbols *symbols)
{
	if (symbols == NULL)
		return;
	loop_remove(symbols->timer);
	if (symbols->child >= 0) {
		kill(symbols->child, SIGKILL);
		end_child(symbols);
	}
	free(symbols);
}

bool
symbols_name(struct symbols *symbols, uint64_t address, char ret_name[LOCK_NAME_SIZE])
{
	struct entry *entry = find(symbols, address);

	ret_name[0] = '\0';
	symbols->questions++;
	if (entry == NULL)
		entry = enter(symbols, address);
	entry->asked = symbols->questions;
	if (!entry->looked_up)
		arm(symbols);
	if (entry->symbol.name[0] == '\0')
		return false;
	snprintf(ret_name, LOCK_NAME_SIZE, "%s+0x%" PRIx64, entry->symbol.name,
	    address - entry->symbol.begin);
	return true;
}

int64_t
symbols_charge_ns(struct symbols *symbols, int64_t window_us)
{
	int64_t part_us = window_us < SELDOM_US ? window_us : SELDOM_US;
	int64_t charge_ns = symbols->last_ns * part_us / SELDOM_US;

	if (charge_ns > symbols->debt_ns)
		charge_ns = symbols->debt_ns;
	symbols->debt_ns -= charge_ns;
	return charge_ns;
}
