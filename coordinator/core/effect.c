/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/core/effect.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"

static const char *const names[EFFECT_KINDS] = {
	[EFFECT_NONE] = "none",
	[EFFECT_FACT] = "fact",
	[EFFECT_WELCOME] = "welcome",
	[EFFECT_START] = "start",
	[EFFECT_CANCEL] = "cancel",
	[EFFECT_DROP] = "drop",
	[EFFECT_KEPT] = "kept",
	[EFFECT_LIMIT] = "limit",
	[EFFECT_REPLY] = "reply",
	[EFFECT_REFUSE] = "refuse",
	[EFFECT_PLAN] = "plan",
	[EFFECT_WOULD] = "would",
};

const char *
effect_kind_name(enum effect_kind kind)
{
	return (unsigned)kind < EFFECT_KINDS ? names[kind] : "?";
}

struct effect *
effects_add(struct effects *e, enum effect_kind kind)
{
	e->list = mem_room(e->list, e->n, &e->capacity, sizeof *e->list);
	memset(&e->list[e->n], 0, sizeof *e->list);
	e->list[e->n].kind = kind;
	return &e->list[e->n++];
}

void
effects_clear(struct effects *e)
{
	size_t i;

	for (i = 0; i < e->n; i++) {
		if (e->list[i].fact == NULL)
			continue;
		fact_clear(e->list[i].fact);
		free(e->list[i].fact);
	}
	free(e->list);
	memset(e, 0, sizeof *e);
}

static const struct field effect_fields[] = {
	FIELD_AT(FIELD_TEXT, struct effect, "host", host),
	FIELD_AT(FIELD_INT, struct effect, "attempt", attempt.n),
	FIELD_AT(FIELD_INT, struct effect, "fence", fence),
	FIELD_AT(FIELD_INT, struct effect, "limit", limit),
	FIELD_AT(FIELD_INT, struct effect, "paused", paused),
	FIELD_AT(FIELD_INT, struct effect, "duration_us", duration_us),
	FIELD_AT(FIELD_INT, struct effect, "request", request),
	FIELD_AT(FIELD_INT, struct effect, "answer", answer),
	FIELD_AT(FIELD_INT, struct effect, "round", round.n),
	FIELD_AT(FIELD_INT, struct effect, "version", version),
	FIELD_AT(FIELD_TEXT, struct effect, "text", text),
	FIELD_END,
};

void
effect_encode(const struct effect *effect, struct text *t)
{
	text_printf(t, "%s ", effect_kind_name(effect->kind));
	if (effect->fact != NULL)
		fact_encode(effect->fact, t);
	else
		codec_encode(t, effect_fields, effect);
}
