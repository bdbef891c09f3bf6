/* A gauge is judged when its section closes, since only then all its settings are there.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "agent/config_gauge.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"
#include "proto/wire.h"

enum { FIELD_MAX = 4096 };

#define EVERY_MAX_US HOUR_US

cfg_opt_t config_gauge_opts[] = { CFG_STR("file", "", CFGF_NONE), CFG_STR("oid", "", CFGF_NONE),
	CFG_STR("command", "", CFGF_NONE), CFG_INT("field", 1, CFGF_NONE),
	CFG_STR("every", "30s", CFGF_NONE), CFG_END() };

/* As enum gauge_kind. */
static const char *const kinds[] = { "file", "oid", "command" };

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* "30s", "5m"; -1 for what is no such duration. */
static int64_t
duration_of(const char *text)
{
	char *end;
	long n;

	if (!isdigit((unsigned char)*text))
		return -1;
	n = strtol(text, &end, 10);
	if (n < 1 || n > EVERY_MAX_US / SECOND_US ||
	    (strcmp(end, "s") != 0 && strcmp(end, "m") != 0))
		return -1;
	n *= *end == 'm' ? MINUTE_US / SECOND_US : 1;
	return n <= EVERY_MAX_US / SECOND_US ? n * SECOND_US : -1;
}

/* The kind that is set; KINDS when it is none or several. */
static size_t
kind_of(cfg_t *gauge)
{
	size_t found = KINDS;

	for (size_t i = 0; i < KINDS; i++) {
		if (cfg_getstr(gauge, kinds[i])[0] == '\0')
			continue;
		if (found != KINDS)
			return KINDS;
		found = i;
	}
	return found;
}

static int
check_source(cfg_t *gauge)
{
	size_t kind = kind_of(gauge);
	const char *source;

	if (kind == KINDS) {
		cfg_error(
		    gauge, "gauge \"%s\": expected one of file, oid and command", cfg_title(gauge));
		return -1;
	}
	source = cfg_getstr(gauge, kinds[kind]);
	if (strlen(source) >= SOURCE_SIZE || (kind == GAUGE_FILE && source[0] != '/')) {
		cfg_error(gauge, "gauge \"%s\": %s is \"%.100s\": expected %s of at most %d bytes",
		    cfg_title(gauge), kinds[kind], source,
		    kind == GAUGE_FILE ? "an absolute path" : "a text", SOURCE_SIZE - 1);
		return -1;
	}
	return 0;
}

int
config_gauge_check(cfg_t *cfg, cfg_opt_t *opt)
{
	cfg_t *gauge = cfg_opt_getnsec(opt, cfg_opt_size(opt) - 1);
	long field = cfg_getint(gauge, "field");

	(void)cfg;
	if (!wire_name_ok(cfg_title(gauge)))
		cfg_error(gauge,
		    "the gauge \"%s\" has no name: expected 1 to %d of A-Z a-z 0-9 . _ + -",
		    cfg_title(gauge), NAME_SIZE - 1);
	else if (cfg_opt_size(opt) > GAUGES_MAX)
		cfg_error(gauge, "there are more than %d gauges", GAUGES_MAX);
	else if (field < 1 || field > FIELD_MAX)
		cfg_error(gauge, "gauge \"%s\": field is %ld: expected 1 to %d", cfg_title(gauge),
		    field, FIELD_MAX);
	else if (duration_of(cfg_getstr(gauge, "every")) < 0)
		cfg_error(gauge,
		    "gauge \"%s\": every is \"%s\": expected 1s to 60m, such as \"30s\"",
		    cfg_title(gauge), cfg_getstr(gauge, "every"));
	else
		return check_source(gauge);
	return -1;
}

struct gauge_settings *
config_gauges_take(cfg_t *cfg, size_t *ret_n)
{
	size_t n = cfg_size(cfg, "gauge");
	struct gauge_settings *list = mem_calloc(n + 1, sizeof *list);

	for (size_t i = 0; i < n; i++) {
		cfg_t *gauge = cfg_getnsec(cfg, "gauge", (unsigned)i);
		size_t kind = kind_of(gauge);

		assert(kind < KINDS); /* it has been checked */
		mem_copy_text(list[i].name, sizeof list[i].name, cfg_title(gauge));
		list[i].kind = (enum gauge_kind)kind;
		mem_copy_text(
		    list[i].source, sizeof list[i].source, cfg_getstr(gauge, kinds[kind]));
		list[i].field = (int32_t)cfg_getint(gauge, "field");
		list[i].every_us = duration_of(cfg_getstr(gauge, "every"));
	}
	*ret_n = n;
	return list;
}
