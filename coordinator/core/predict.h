/* predict.h - how long, how many steps: what earlier attempts teach
 *
 * Shape:  derived from the good attempts in the cluster whenever it is asked.
 * Units:  us, steps.
 * Errors: 0 where nothing is known. Failed and cancelled attempts do not teach.
 * Memory: none.
 * Source: mean of the last good attempts, newest first, weights halving.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_PREDICT_H
#define FLYBALL_PREDICT_H

#include "coordinator/core/cluster.h"

struct prediction {
	int64_t real_us; /* 0 unknown */
	int64_t steps; /* 0 unknown */
	int32_t samples;
};

/* For a build on a host: of attempts on hosts of its class when there are any, else of all. */
struct prediction predict_build(
    const struct cluster *c, const struct build *b, const struct host *h);

bool host_same_class(const struct host *a, const struct host *b);
/* Hosts alike in OS release, CPU, threads and memory have the same class, a name: "Linux-6.1-x86_64-24t-64g-03fa";
 * memory is rounded, and the end stands for what the name has no room for. */
void host_class(const struct host *h, char ret_name[NAME_SIZE]);

#endif
