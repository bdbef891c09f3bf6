/* config_gauge.h - the sections "gauge" of the agent's configuration; for config.c alone
 *
 * Shape:  options and a check for libconfuse, and what was read as a value.
 * Units:  as struct gauge_settings.
 * Errors: by cfg_error: the line of the section's closing brace.
 * Memory: the array is the caller's to free.
 * Source: docs/man/flyball-agent.conf.5.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_CONFIG_GAUGE_H
#define FLYBALL_CONFIG_GAUGE_H

#include <confuse.h>

#include "agent/sense/gauge.h"

extern cfg_opt_t config_gauge_opts[];

int config_gauge_check(cfg_t *cfg, cfg_opt_t *opt);
struct gauge_settings *config_gauges_take(cfg_t *cfg, size_t *ret_n);

#endif
