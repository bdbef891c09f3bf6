/* lock_show SOURCE SECONDS [HELPERS] - what a lock source of this system sees, for people and tests
 *
 * Opens SOURCE, "profile" or "bpf", and prints a line a reading, rows below it:
 *
 *   reading source=bpf window_us=... cpus=2 spin_ns=... sleep_ns=... spin_share=... cost_cpu_ppm=...
 *   row KIND COUNT NANOSECONDS LOCK CALLER          (what has no name is -)
 *   missing SENTENCE
 *
 * and at the end "memory rss_kb=... private_kb=... hwm_kb=... cpu_us=..." of this process. When the
 * source does not open: "closed SENTENCE", and exit status 3. HELPERS is the folder of its helper.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "agent/sense/lock_linux.h"
#include "proto/base/mem.h"

static const char *
or_dash(const char *name)
{
	return name[0] == '\0' ? "-" : name;
}

static void
on_reading(void *arg __attribute__((unused)), const struct lock_table *t)
{
	double all_ns = (double)t->window_us * 1000 * t->cpus;

	printf("reading source=%s window_us=%" PRId64 " cpus=%d spin_ns=%" PRId64
	       " sleep_ns=%" PRId64 " spin_share=%.4f cost_cpu_ppm=%" PRId64 "\n",
	    t->source, t->window_us, (int)t->cpus, t->spin_ns, t->sleep_ns,
	    all_ns > 0 ? (double)t->spin_ns / all_ns : 0, t->cost_cpu_ppm);
	if (t->missing[0] != '\0')
		printf("missing %s\n", t->missing);
	for (size_t i = 0; i < t->nrows; i++)
		printf("row %s %" PRId64 " %" PRId64 " %s %s\n", lock_kind_name(t->rows[i].kind),
		    t->rows[i].count, t->rows[i].wait_ns, or_dash(t->rows[i].lock),
		    or_dash(t->rows[i].caller));
	fflush(stdout);
}

static void
on_end(void *arg)
{
	loop_stop(arg);
}

static long
line_kb(const char *path, const char *key)
{
	FILE *f = fopen(path, "r");
	char line[256];
	long kb = -1;

	while (f != NULL && kb < 0 && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, key, strlen(key)) == 0)
			kb = strtol(line + strlen(key), NULL, 10);
	if (f != NULL)
		fclose(f);
	return kb;
}

static void
print_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("memory rss_kb=%ld private_kb=%ld hwm_kb=%ld cpu_us=%ld\n",
	    line_kb("/proc/self/smaps_rollup", "Rss:"),
	    line_kb("/proc/self/smaps_rollup", "Private_Dirty:"),
	    line_kb("/proc/self/status", "VmHWM:"),
	    (long)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		(long)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
}

int
main(int argc, char **argv)
{
	static const struct lock_source *const sources[] = { &lock_profile, &lock_bpf };
	struct lock_settings settings = { .every_us = 2 * SECOND_US, .window_us = 2 * SECOND_US };
	const struct lock_source *source = NULL;
	struct loop *loop;
	struct err err;
	void *self;

	for (size_t i = 0; argc >= 3 && i < sizeof sources / sizeof sources[0]; i++)
		if (strcmp(argv[1], sources[i]->name) == 0)
			source = sources[i];
	if (source == NULL) {
		fprintf(stderr, "usage: lock_show profile|bpf SECONDS [HELPERS]\n");
		return 2;
	}
	if (argc > 3)
		mem_copy_text(settings.helpers, sizeof settings.helpers, argv[3]);
	loop = loop_create();
	self = source->open(loop, &settings, on_reading, NULL, &err);
	if (self == NULL) {
		printf("closed %s\n", err.text);
		return 3;
	}
	loop_timer_add(loop, strtol(argv[2], NULL, 10) * SECOND_US, 0, on_end, loop);
	loop_run(loop);
	source->close(self);
	print_memory();
	loop_destroy(loop);
	return 0;
}
