/* fields.h - the tables of fields of the plain structs that facts and events are made of
 *
 * Shape:  one table a struct, for codec.h.
 * Units:  as units.h.
 * Errors: none.
 * Memory: constant.
 * Source: none.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_FIELDS_H
#define FLYBALL_FIELDS_H

#include "coordinator/core/codec.h"

extern const struct field policy_fields[];
extern const struct field host_facts_fields[];
extern const struct field load_fields[];
extern const struct field gauge_fields[];
extern const struct field attempt_status_fields[];
extern const struct field attempt_result_fields[];
extern const struct field memory_fields[];
extern const struct field law_evidence_fields[];

#endif
