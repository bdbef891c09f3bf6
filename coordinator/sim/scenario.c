/* The file is what people write, so each value is checked where it stands, and each sentence says what
 * was expected. Values that a file leaves out are those of a host without the effect.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/sim/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/conf.h"
#include "proto/base/mem.h"

#define HOURS_12 43200.0

/* A number's place in a struct, and what it may be. */
struct number {
	const char *name;
	size_t offset;
	double low, high;
	bool whole;
};

#define REAL(type, field, low, high) \
	{ \
#field, offsetof(struct type, field), low, high, false \
	}
#define WHOLE(type, field, low, high) \
	{ \
#field, offsetof(struct type, field), low, high, true \
	}

static const struct number host_numbers[] = {
	WHOLE(model_host, threads, 1, JOBS_MAX),
	WHOLE(model_host, cores, 1, JOBS_MAX),
	REAL(model_host, smt_gain, 0, 1),
	REAL(model_host, memory, 0.1, 1e6),
	REAL(model_host, bandwidth, 0, 1e4),
	REAL(model_host, bandwidth_drop, 0, 0.9),
	REAL(model_host, nfs, 0, 1e4),
	REAL(model_host, nfs_latency, 0, 10),
	REAL(model_host, lock_sleep_seen, 0, 1),
};

static const struct number phase_numbers[] = {
	REAL(model_phase, work, 1, 1e7),
	WHOLE(model_phase, width, 1, JOBS_MAX),
	WHOLE(model_phase, width_low, 0, JOBS_MAX),
	REAL(model_phase, step, 0.05, 1e4),
	REAL(model_phase, spread, 0, 3),
	REAL(model_phase, system, 0, 0.95),
	REAL(model_phase, lock, 0, 0.95),
	REAL(model_phase, holder, 0, 100),
	REAL(model_phase, rest, 0, 100),
	REAL(model_phase, sleep, 0, 0.99),
	REAL(model_phase, memory, 0, 1e4),
	REAL(model_phase, memory_last, 0, 1e4),
	REAL(model_phase, memory_spread, 0, 3),
};

static const struct number stretch_numbers[] = {
	REAL(model_stretch, value, 0, 1000),
	REAL(model_stretch, every, 1, HOURS_12),
	REAL(model_stretch, lasts, 1, HOURS_12),
};

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static int
take_numbers(
    const char *path, cfg_t *cfg, const struct number *numbers, size_t n, void *to, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		double value = cfg_getfloat(cfg, numbers[i].name);
		char *at = (char *)to + numbers[i].offset;

		if (!(value >= numbers[i].low && value <= numbers[i].high))
			return err_set(err, "%s: %s \"%s\": %s is %g; expected %g to %g", path,
			    cfg_name(cfg), cfg_title(cfg) ? cfg_title(cfg) : "", numbers[i].name,
			    value, numbers[i].low, numbers[i].high);
		if (!numbers[i].whole)
			*(double *)(void *)at = value;
		else
			*(int *)(void *)at = (int)value;
	}
	return 0;
}

static int
take_word(const char *path, cfg_t *cfg, const char *key, const char *a, const char *b,
    bool *ret_second, struct err *err)
{
	const char *value = cfg_getstr(cfg, key);

	*ret_second = strcmp(value, b) == 0;
	if (*ret_second || strcmp(value, a) == 0)
		return 0;
	return err_set(err, "%s: %s is \"%s\"; expected \"%s\" or \"%s\"", path, key, value, a, b);
}

static int
take_phase(const char *path, cfg_t *cfg, struct model_phase *p, struct err *err)
{
	bool sleeps;

	mem_copy_text(p->name, sizeof p->name, cfg_title(cfg));
	if (take_numbers(path, cfg, phase_numbers, COUNT(phase_numbers), p, err) < 0 ||
	    take_word(path, cfg, "lock_kind", "spin", "sleep", &sleeps, err) < 0)
		return -1;
	p->lock_kind = sleeps ? LOCK_SLEEP : LOCK_SPIN;
	p->on_bandwidth = cfg_getbool(cfg, "on_bandwidth");
	if (p->width_low == 0 || p->width_low > p->width)
		p->width_low = p->width;
	if (p->memory_last == 0)
		p->memory_last = p->memory;
	return 0;
}

static int
take_stretch(const char *path, cfg_t *cfg, struct model_stretch *s, struct err *err)
{
	static const char *const kinds[STRETCH_KINDS] = { "steal", "nfs" };

	for (int i = 0; i < STRETCH_KINDS; i++)
		if (strcmp(cfg_title(cfg), kinds[i]) == 0) {
			s->kind = (enum stretch_kind)i;
			return take_numbers(
			    path, cfg, stretch_numbers, COUNT(stretch_numbers), s, err);
		}
	return err_set(err, "%s: stretch \"%s\" is not known; expected \"steal\" or \"nfs\"", path,
	    cfg_title(cfg));
}

static int
take(const char *path, cfg_t *cfg, struct scenario *s, struct err *err)
{
	cfg_t *host = cfg_getsec(cfg, "host");
	size_t n = cfg_size(cfg, "phase");

	mem_copy_text(s->host.os, sizeof s->host.os, cfg_getstr(host, "os"));
	s->host.counters = cfg_getbool(host, "counters");
	if (take_numbers(path, host, host_numbers, COUNT(host_numbers), &s->host, err) < 0)
		return -1;
	if (n == 0 || n > PHASES_MAX)
		return err_set(err, "%s: %zu phases; expected 1 to %d sections \"phase\"", path, n,
		    PHASES_MAX);
	s->phases = mem_calloc(n, sizeof *s->phases);
	for (; s->nphases < n; s->nphases++)
		if (take_phase(path, cfg_getnsec(cfg, "phase", (unsigned)s->nphases),
			&s->phases[s->nphases], err) < 0)
			return -1;
	n = cfg_size(cfg, "stretch");
	s->stretches = mem_calloc(n, sizeof *s->stretches);
	for (; s->nstretches < n; s->nstretches++)
		if (take_stretch(path, cfg_getnsec(cfg, "stretch", (unsigned)s->nstretches),
			&s->stretches[s->nstretches], err) < 0)
			return -1;
	return 0;
}

/* "tests/scenarios/founding.conf" is "founding". */
static void
name_of(const char *path, char *ret_name)
{
	const char *slash = strrchr(path, '/');

	mem_copy_text(ret_name, NAME_SIZE, slash != NULL ? slash + 1 : path);
	ret_name[strcspn(ret_name, ".")] = '\0';
}

int
scenario_read(const char *path, struct scenario *ret_scenario, struct err *err)
{
	cfg_opt_t host[] = {
		CFG_STR("os", "Linux", CFGF_NONE),
		CFG_FLOAT("threads", 8, CFGF_NONE),
		CFG_FLOAT("cores", 8, CFGF_NONE),
		CFG_FLOAT("smt_gain", 0.3, CFGF_NONE),
		CFG_FLOAT("memory", 64, CFGF_NONE),
		CFG_FLOAT("bandwidth", 0, CFGF_NONE),
		CFG_FLOAT("bandwidth_drop", 0, CFGF_NONE),
		CFG_FLOAT("nfs", 0, CFGF_NONE),
		CFG_FLOAT("nfs_latency", 0, CFGF_NONE),
		CFG_BOOL("counters", cfg_false, CFGF_NONE),
		CFG_FLOAT("lock_sleep_seen", 0, CFGF_NONE),
		CFG_END(),
	};
	cfg_opt_t phase[] = {
		CFG_FLOAT("work", 1000, CFGF_NONE),
		CFG_FLOAT("width", JOBS_MAX, CFGF_NONE),
		CFG_FLOAT("width_low", 0, CFGF_NONE),
		CFG_FLOAT("step", 2, CFGF_NONE),
		CFG_FLOAT("spread", 1, CFGF_NONE),
		CFG_FLOAT("system", 0.1, CFGF_NONE),
		CFG_STR("lock_kind", "spin", CFGF_NONE),
		CFG_FLOAT("lock", 0, CFGF_NONE),
		CFG_FLOAT("holder", 0, CFGF_NONE),
		CFG_FLOAT("rest", 0, CFGF_NONE),
		CFG_FLOAT("sleep", 0, CFGF_NONE),
		CFG_FLOAT("memory", 0, CFGF_NONE),
		CFG_FLOAT("memory_last", 0, CFGF_NONE),
		CFG_FLOAT("memory_spread", 0, CFGF_NONE),
		CFG_BOOL("on_bandwidth", cfg_false, CFGF_NONE),
		CFG_END(),
	};
	cfg_opt_t stretch[] = {
		CFG_FLOAT("value", 0, CFGF_NONE),
		CFG_FLOAT("every", 600, CFGF_NONE),
		CFG_FLOAT("lasts", 120, CFGF_NONE),
		CFG_END(),
	};
	cfg_opt_t all[] = {
		CFG_SEC("host", host, CFGF_NONE),
		CFG_SEC("phase", phase, CFGF_MULTI | CFGF_TITLE),
		CFG_SEC("stretch", stretch, CFGF_MULTI | CFGF_TITLE),
		CFG_END(),
	};
	struct scenario s = { 0 };
	cfg_t *cfg = NULL;
	int rc;

	if (conf_parse_file(path, all, &cfg, err) < 0)
		return -1;
	name_of(path, s.name);
	rc = take(path, cfg, &s, err);
	cfg_free(cfg);
	if (rc < 0)
		scenario_clear(&s);
	else
		*ret_scenario = s;
	return rc;
}

void
scenario_clear(struct scenario *scenario)
{
	free(scenario->phases);
	free(scenario->stretches);
	memset(scenario, 0, sizeof *scenario);
}
