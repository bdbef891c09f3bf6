/* giantlock_stat FILE lockstat SECONDS   what the lock costs, as NetBSD's lockstat(8) prints it
 * giantlock_stat FILE units              units done so far
 * giantlock_stat FILE rate SECONDS       units a second over that time
 * giantlock_stat FILE until RATE SECONDS DEADLINE
 *                                        seconds until a stretch of SECONDS begins over which RATE units
 *                                        a second are done; fails after DEADLINE
 *
 * FILE is the one of giantlock_step. "lockstat" is a lock_command for an agent. A window without a spin
 * is a row of zeros: unlike lockstat we know that nothing was missed.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <string.h>

#include "tests/workloads/giantlock.h"

enum { TICK_MS = 50, TICKS_MAX = 1200 };

static void
pause_s(double seconds)
{
	struct timespec t = { (time_t)seconds, 0 };

	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
}

static double
now_s(void)
{
	return (double)clock_ns(CLOCK_MONOTONIC) / 1e9;
}

static int
lockstat(struct giantlock *lock, char **word)
{
	uint64_t spins = lock->spins, ns = lock->spin_ns;
	double from = now_s(), elapsed, ms;

	pause_s(atof(word[0]));
	elapsed = now_s() - from;
	spins = lock->spins - spins;
	ms = (double)(lock->spin_ns - ns) / 1e6;
	printf("Elapsed time: %.2f seconds.\n\n-- Kernel lock spin\n\n"
	       "Total%%  Count   Time/ms          Lock                       Caller\n"
	       "------ ------- --------- ---------------------- ------------------------------\n",
	    elapsed);
	printf(
	    "%6.2f %7llu %9.2f %-22s <all>\n", 100.0, (unsigned long long)spins, ms, "kernel_lock");
	printf("%6.2f %7llu %9.2f %-22s %s\n", 100.0, (unsigned long long)spins, ms, "kernel_lock",
	    "giantlock_step+1");
	return 0;
}

static int
units(struct giantlock *lock, char **word)
{
	(void)word;
	printf("%llu\n", (unsigned long long)lock->units);
	return 0;
}

static int
rate(struct giantlock *lock, char **word)
{
	uint64_t before = lock->units;
	double from = now_s();

	pause_s(atof(word[0]));
	printf("%.1f\n", (double)(lock->units - before) / (now_s() - from));
	return 0;
}

/* Ticks go round; the one `back` ticks ago is where the stretch began. */
static int
until(struct giantlock *lock, char **word)
{
	static struct {
		double at;
		uint64_t units;
	} tick[TICKS_MAX];
	double wanted = atof(word[0]), from = now_s(), deadline = from + atof(word[2]);
	int back = (int)(atof(word[1]) * 1000 / TICK_MS), n, old;

	if (back < 1 || back >= TICKS_MAX)
		return 2;
	for (n = 0; now_s() < deadline; n++) {
		tick[n % TICKS_MAX].at = now_s();
		tick[n % TICKS_MAX].units = lock->units;
		old = (n - back) % TICKS_MAX;
		if (n >= back && (double)(tick[n % TICKS_MAX].units - tick[old].units) >=
				     wanted * (tick[n % TICKS_MAX].at - tick[old].at)) {
			printf("%.2f\n", tick[old].at - from);
			return 0;
		}
		pause_s(TICK_MS / 1000.0);
	}
	return 1;
}

static const struct {
	const char *name;
	int words;
	int (*run)(struct giantlock *lock, char **word);
} modes[] = {
	{ "lockstat", 1, lockstat },
	{ "units", 0, units },
	{ "rate", 1, rate },
	{ "until", 3, until },
};

int
main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 2 && i < sizeof modes / sizeof modes[0]; i++)
		if (strcmp(argv[2], modes[i].name) == 0 && argc == 3 + modes[i].words)
			return modes[i].run(giantlock_map(argv[1]), argv + 3);
	fputs("usage: giantlock_stat FILE lockstat SECONDS | units | rate SECONDS |"
	      " until RATE SECONDS DEADLINE\n",
	    stderr);
	return 2;
}
