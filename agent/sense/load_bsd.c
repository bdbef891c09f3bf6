/* NetBSD and FreeBSD tell by sysctl, under names that mostly differ and in structures that grow with
 * releases. Each answer is judged by its size: one of a size that is not known is no reading, so that a
 * field is never taken from the wrong place. The structures are read here as bytes at offsets, not by the
 * system's headers: a binary then also understands another release, and tests can feed this file with
 * the bytes of both systems on a third.
 *
 *   kern.cp_time      five counters: user, nice, system, interrupt, idle; NetBSD uint64_t, FreeBSD long
 *   vm.loadavg        three 32-bit numbers of fixed point, and a long that says what 1 is
 *   vm.uvmexp2        NetBSD: int64_t each; more at the end with newer releases. pgswapin is no longer
 *                     counted there, nswget (pages fetched from swap) is
 *   vm.stats.*        FreeBSD: a number each; 64 bits for counters, 32 for those before 12
 *   vm.vmtotal        FreeBSD; vm.vmmeter NetBSD: tasks in the run queue and waiting for a disk. The
 *                     kernel walks all processes and memory objects for it, so not every second
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/sense/load.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sense/load_text.h"
#include "proto/base/mem.h"

#ifdef __linux__ /* the test's */
int sysctlbyname(const char *name, void *old, size_t *old_bytes, const void *new, size_t new_bytes);
#else
#include <sys/types.h>

#include <sys/sysctl.h>
#endif

enum { CP_STATES = 5, ANSWER_BYTES = 4096, TASKS_S = 10 };

/* Places in vm.uvmexp2, in int64_t's. */
enum {
	UVM_PAGE_BYTES = 0,
	UVM_FREE = 4,
	UVM_SWAP_GETS = 20,
	UVM_SWITCHES = 27,
	UVM_SWAPPED_OUT = 34,
	UVM_FILE_PAGES = 72,
	UVM_LEAST = 73
};

struct counters {
	bool has_cpu, has_swap, has_switches;
	uint64_t cpu[CP_STATES];
	uint64_t swap_in_pages, swap_out_pages, switches;
	int64_t page_bytes;
};

struct load_sampler {
	char *work;
	mono_us at, tasks_at;
	bool sampled, has_tasks;
	struct counters before;
	double running, blocked;
};

struct load_sampler *
load_sampler_create(const char *work)
{
	struct load_sampler *sampler = mem_calloc(1, sizeof *sampler);

	sampler->work = mem_strdup(work);
	return sampler;
}

void
load_sampler_destroy(struct load_sampler *sampler)
{
	if (sampler == NULL)
		return;
	free(sampler->work);
	free(sampler);
}

/* ---- answers ---- */

struct answer {
	size_t n;
	_Alignas(8) unsigned char bytes[ANSWER_BYTES];
};

static bool
ask(const char *name, struct answer *ret_answer)
{
	ret_answer->n = sizeof ret_answer->bytes;
	return sysctlbyname(name, ret_answer->bytes, &ret_answer->n, NULL, 0) == 0;
}

static uint64_t
at(const struct answer *answer, size_t offset, size_t bytes)
{
	uint64_t wide;
	uint32_t narrow;
	uint16_t small;

	if (bytes == sizeof small) {
		memcpy(&small, answer->bytes + offset, sizeof small);
		return small;
	}
	if (bytes == sizeof narrow) {
		memcpy(&narrow, answer->bytes + offset, sizeof narrow);
		return narrow;
	}
	memcpy(&wide, answer->bytes + offset, sizeof wide);
	return wide;
}

static bool
ask_number(const char *name, uint64_t *ret_n)
{
	struct answer answer;

	/* FreeBSD cuts a counter to 32 bits for one that asks with 32 bits of room: we have more. */
	if (!ask(name, &answer) || (answer.n != 4 && answer.n != 8))
		return false;
	*ret_n = at(&answer, 0, answer.n);
	return true;
}

/* By its size: 4 and 8 bytes are a number, as nearly all are; else it is a text with its zero byte. */
bool
load_oid_text(const char *oid, char *text, size_t text_bytes)
{
	struct answer answer;

	if (!ask(oid, &answer) || answer.n == 0 || answer.n > text_bytes)
		return false;
	if (answer.n == 8)
		snprintf(text, text_bytes, "%" PRId64, (int64_t)at(&answer, 0, 8));
	else if (answer.n == 4)
		snprintf(text, text_bytes, "%" PRId32, (int32_t)at(&answer, 0, 4));
	else if (memchr(answer.bytes, '\0', answer.n) == answer.bytes + answer.n - 1)
		memcpy(text, answer.bytes, answer.n);
	else
		return false;
	return true;
}

/* ---- readings of both ---- */

static void
read_cpu(struct counters *counters)
{
	struct answer answer;
	size_t width;

	if (!ask("kern.cp_time", &answer))
		return;
	width = answer.n / CP_STATES;
	if (answer.n % CP_STATES != 0 || (width != 4 && width != 8))
		return;
	for (size_t i = 0; i < CP_STATES; i++)
		counters->cpu[i] = at(&answer, i * width, width);
	counters->has_cpu = true;
}

static void
read_averages(struct load *load)
{
	struct answer answer;
	uint64_t scale;

	if (!ask("vm.loadavg", &answer) || (answer.n != 24 && answer.n != 16))
		return;
	scale = answer.n == 24 ? at(&answer, 16, 8) : at(&answer, 12, 4);
	for (size_t i = 0; scale > 0 && i < 3; i++)
		load_set(load, (enum load_reading)(LOAD_1 + (int)i),
		    (double)at(&answer, i * 4, 4) / (double)scale, 0);
}

/* Run queue, disk wait, page wait: 16 bits each, in front of 32-bit sizes or, newer, behind 64-bit ones. */
static void
read_tasks(struct load_sampler *sampler)
{
	struct answer answer;
	size_t offset;

	sampler->has_tasks = false;
	if (!ask("vm.vmtotal", &answer) && !ask("vm.vmmeter", &answer))
		return;
	if (answer.n != 48 && answer.n != 88)
		return;
	offset = answer.n == 48 ? 0 : 72;
	sampler->has_tasks = true;
	sampler->running = (double)at(&answer, offset, 2);
	sampler->blocked = (double)at(&answer, offset + 2, 2) + (double)at(&answer, offset + 4, 2);
}

static void
sample_tasks(struct load_sampler *sampler, mono_us now, struct load *load)
{
	if (!sampler->sampled || mono_since(sampler->tasks_at, now) >= TASKS_S * SECOND_US) {
		read_tasks(sampler);
		sampler->tasks_at = now;
	}
	if (!sampler->has_tasks)
		return;
	load_set(load, LOAD_RUNNING, sampler->running, 0);
	load_set(load, LOAD_BLOCKED, sampler->blocked, 0);
	load->readings[LOAD_RUNNING].age_us = load->readings[LOAD_BLOCKED].age_us =
	    mono_since(sampler->tasks_at, now);
}

/* ---- memory: NetBSD ---- */

static uint64_t
uvm_at(const struct answer *answer, size_t place)
{
	return at(answer, place * 8, 8);
}

static bool
read_uvm(struct counters *counters, struct load *load)
{
	struct answer answer;
	double pages;

	if (!ask("vm.uvmexp2", &answer) || answer.n % 8 != 0 || answer.n / 8 < UVM_LEAST)
		return false;
	counters->page_bytes = (int64_t)uvm_at(&answer, UVM_PAGE_BYTES);
	counters->swap_in_pages = uvm_at(&answer, UVM_SWAP_GETS);
	counters->swap_out_pages = uvm_at(&answer, UVM_SWAPPED_OUT);
	counters->switches = uvm_at(&answer, UVM_SWITCHES);
	counters->has_swap = counters->has_switches = true;
	pages = (double)uvm_at(&answer, UVM_FREE) + (double)uvm_at(&answer, UVM_FILE_PAGES);
	load_set(load, LOAD_MEMORY_FREE, pages * (double)counters->page_bytes, 0);
	return true;
}

/* ---- memory and clock: FreeBSD ---- */

static void
read_vm_stats(struct counters *counters, struct load *load)
{
	uint64_t page_bytes, free_pages, inactive;

	counters->has_switches = ask_number("vm.stats.sys.v_swtch", &counters->switches);
	if (!ask_number("vm.stats.vm.v_page_size", &page_bytes))
		return;
	counters->page_bytes = (int64_t)page_bytes;
	counters->has_swap = ask_number("vm.stats.vm.v_swappgsin", &counters->swap_in_pages) &&
			     ask_number("vm.stats.vm.v_swappgsout", &counters->swap_out_pages);
	/* Inactive pages are clean or cache for the most part: what needs swap stands in the laundry. */
	if (ask_number("vm.stats.vm.v_free_count", &free_pages) &&
	    ask_number("vm.stats.vm.v_inactive_count", &inactive))
		load_set(load, LOAD_MEMORY_FREE,
		    ((double)free_pages + (double)inactive) * (double)page_bytes, 0);
}

/* The levels are "MHz/milliwatt" with spaces between, the highest first. */
static void
read_clock(struct load *load)
{
	struct answer levels;
	uint64_t now, most;
	char *end;

	if (!ask_number("dev.cpu.0.freq", &now) || !ask("dev.cpu.0.freq_levels", &levels) ||
	    levels.n == 0 || levels.n == sizeof levels.bytes)
		return;
	levels.bytes[levels.n] = '\0';
	most = strtoull((const char *)levels.bytes, &end, 10);
	if (*end == '/' && most > 0 && now <= most)
		load_set(load, LOAD_FREQUENCY, (double)now / (double)most, 0);
}

/* ---- differences ---- */

static void
cpu_shares(const struct counters *before, const struct counters *after, int64_t window_us,
    struct load *load)
{
	double d[CP_STATES], sum = 0;

	for (size_t i = 0; i < CP_STATES; i++) {
		if (after->cpu[i] < before->cpu[i])
			return;
		d[i] = (double)(after->cpu[i] - before->cpu[i]);
		sum += d[i];
	}
	if (sum <= 0)
		return;
	load_set(load, LOAD_USER, (d[0] + d[1]) / sum, window_us);
	load_set(load, LOAD_SYS, (d[2] + d[3]) / sum, window_us);
	load_set(load, LOAD_IDLE, d[4] / sum, window_us);
}

static void
rate(uint64_t before, uint64_t after, int64_t unit, int64_t window_us, enum load_reading reading,
    struct load *load)
{
	if (after >= before)
		load_set(load, reading,
		    (double)(after - before) * (double)unit * (double)SECOND_US / (double)window_us,
		    window_us);
}

static void
difference(const struct counters *before, const struct counters *after, int64_t window_us,
    struct load *load)
{
	if (window_us <= 0)
		return;
	if (before->has_cpu && after->has_cpu)
		cpu_shares(before, after, window_us, load);
	if (before->has_switches && after->has_switches)
		rate(before->switches, after->switches, 1, window_us, LOAD_SWITCHES, load);
	if (!before->has_swap || !after->has_swap)
		return;
	rate(before->swap_in_pages, after->swap_in_pages, after->page_bytes, window_us,
	    LOAD_SWAP_IN, load);
	rate(before->swap_out_pages, after->swap_out_pages, after->page_bytes, window_us,
	    LOAD_SWAP_OUT, load);
}

void
load_sample(struct load_sampler *sampler, mono_us now, struct load *ret_load)
{
	struct counters after = { 0 };
	int64_t free_bytes = load_disk_free(sampler->work);

	load_clear(ret_load);
	read_cpu(&after);
	read_averages(ret_load);
	if (!read_uvm(&after, ret_load))
		read_vm_stats(&after, ret_load);
	read_clock(ret_load);
	sample_tasks(sampler, now, ret_load);
	if (free_bytes >= 0)
		load_set(ret_load, LOAD_DISK_FREE, (double)free_bytes, 0);
	if (sampler->sampled)
		difference(&sampler->before, &after, mono_since(sampler->at, now), ret_load);
	sampler->before = after;
	sampler->at = now;
	sampler->sampled = true;
}
