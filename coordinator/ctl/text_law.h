/* text_law.h - what the governor's law knows and did, in words
 *
 * Shape:  prints a part of an answer.
 * Units:  none.
 * Errors: what is not there is shown as "-".
 * Memory: none.
 * Source: flyball(1).
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#ifndef FLYBALL_TEXT_LAW_H
#define FLYBALL_TEXT_LAW_H

#include "coordinator/ctl/output.h"

void text_law(const json_t *law, const struct view *view);
void text_changes(const json_t *changes, const struct view *view);

#endif
