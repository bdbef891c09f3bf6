/* Widths are counted in columns of a terminal, not bytes, and after cells were made harmless:
 * what is measured is what is printed. A row that went over the edge of a terminal would make
 * two lines, and the table could not be read any more: rather is something left out, first of
 * texts, then of columns, in an order that stands in one list.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/ctl/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/width.h"
#include "proto/base/mem.h"

enum { COLUMNS_MAX = 24, CUT_LEAST = 8, LAST_LEAST = 12, LAST_WANTED = 24 };

struct table {
	size_t ncolumns;
	bool right[COLUMNS_MAX];
	size_t soft; /* the column that may be cut; 0: none, since the first is a name */
	size_t ncells, capacity; /* the titles are the first row */
	char **cells;
};

struct table *
table_create(const char *titles)
{
	struct table *t = mem_calloc(1, sizeof *t);
	char *copy = mem_strdup(titles), *save = NULL, *word;

	for (word = strtok_r(copy, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
		assert(t->ncolumns < COLUMNS_MAX);
		t->right[t->ncolumns] = *word == '+';
		if (*word == '~' && t->soft == 0)
			t->soft = t->ncolumns;
		t->ncolumns++;
		table_add(t, word + (*word == '+' || *word == '~'));
	}
	free(copy);
	return t;
}

void
table_destroy(struct table *t)
{
	size_t i;

	for (i = 0; i < t->ncells; i++)
		free(t->cells[i]);
	free(t->cells);
	free(t);
}

void
table_add(struct table *t, const char *text)
{
	char *cell = NULL;
	size_t size;
	FILE *f = open_memstream(&cell, &size);

	assert(f != NULL);
	harmless_line(text != NULL && text[0] != '\0' ? text : "-", f);
	fclose(f);
	t->cells = mem_room(t->cells, t->ncells, &t->capacity, sizeof *t->cells);
	t->cells[t->ncells++] = cell;
}

void
table_addf(struct table *t, const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	text = mem_vprintf(format, ap);
	va_end(ap);
	table_add(t, text);
	free(text);
}

/* A state's colour: good, to be looked at, bad. */
static const char *
color_of(const char *cell)
{
	static const struct {
		const char *word, *color;
	} colors[] = {
		{ "ok", "32" },
		{ "up", "32" },
		{ "running", "36" },
		{ "starting", "36" },
		{ "failed", "31" },
		{ "lost", "31" },
		{ "silent", "33" },
		{ "silent*", "33" },
		{ "lost*", "31" },
		{ "cancelled", "33" },
		{ "cancelling", "33" },
		{ "over", "32" },
	};
	size_t i;

	for (i = 0; i < sizeof colors / sizeof colors[0]; i++)
		if (strcmp(cell, colors[i].word) == 0)
			return colors[i].color;
	return NULL;
}

/* As much of the cell as fits into width columns, an ellipsis at its end when it is cut; gives
 * how many it took. */
static size_t
print_cut(const char *cell, size_t width, FILE *out)
{
	size_t n = width_of(cell);
	char *head;

	if (n <= width) {
		fputs(cell, out);
		return n;
	}
	if (width == 0)
		return 0;
	head = mem_printf("%.*s", (int)width_fit(cell, width - 1), cell);
	fprintf(out, "%s\xe2\x80\xa6", head);
	n = width_of(head) + 1;
	free(head);
	return n;
}

/* ---- what there is room for ---------------------------------------------------------------- */

struct layout {
	const struct table *t;
	size_t room; /* 0: nothing is cut */
	size_t widths[COLUMNS_MAX];
	bool hidden[COLUMNS_MAX];
};

/* What is left out on a narrow terminal, the first of these first. */
static const char *const optional[] = { "PATH", "IDLE%", "CLASS", "AGE", "ROUND", "STEPS", "SYS",
	"USER", "LOAD", "MEM", "BEGAN", "BY", "PHASE", "RESIDENT", "OVER", "BUILDS", "RUN",
	"ELAPSED", "TOOK", "SPIN%", "REAL", "%" };

static size_t
last_column(const struct layout *l)
{
	size_t i = l->t->ncolumns - 1;

	while (i > 0 && l->hidden[i])
		i--;
	return i;
}

/* The text at the end may be cut, a number not. */
static bool
may_cut_last(const struct layout *l)
{
	return last_column(l) == l->t->ncolumns - 1 && !l->t->right[l->t->ncolumns - 1];
}

/* What the columns take, the last one aside, with two blanks behind each. */
static size_t
width_before(const struct layout *l)
{
	size_t i, sum = 0, last = last_column(l);

	for (i = 0; i < last; i++)
		if (!l->hidden[i])
			sum += l->widths[i] + 2;
	return sum;
}

static size_t
at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

static bool
fits(const struct layout *l)
{
	const struct table *t = l->t;
	size_t last = last_column(l), needed = width_before(l) + l->widths[last];

	if (may_cut_last(l) && l->widths[last] > LAST_LEAST)
		needed -= l->widths[last] - LAST_LEAST;
	if (t->soft != 0 && t->soft != last && !l->hidden[t->soft] &&
	    l->widths[t->soft] > CUT_LEAST)
		needed -= l->widths[t->soft] - CUT_LEAST;
	return needed <= l->room;
}

/* The titles are the first row. The first column names what its row is of. */
static void
hide_titled(struct layout *l, const char *title)
{
	size_t i;

	for (i = 1; i < l->t->ncolumns; i++)
		if (strcmp(l->t->cells[i], title) == 0)
			l->hidden[i] = true;
}

/* Makes room for the last column out of the one that may be cut. */
static void
cut_soft(struct layout *l)
{
	size_t last = last_column(l), soft = l->t->soft, wanted;

	if (soft == 0 || soft == last || l->hidden[soft] || l->widths[soft] <= CUT_LEAST)
		return;
	wanted = width_before(l) +
		 (may_cut_last(l) ? at_most(l->widths[last], LAST_WANTED) : l->widths[last]);
	if (wanted > l->room)
		l->widths[soft] -= at_most(wanted - l->room, l->widths[soft] - CUT_LEAST);
}

static void
make_room(struct layout *l)
{
	size_t i, before, last;

	for (i = 0; i < sizeof optional / sizeof optional[0] && !fits(l); i++)
		hide_titled(l, optional[i]);
	/* Narrower than anybody works: what stands on the left counts most. */
	while (last_column(l) > 0 && !fits(l))
		l->hidden[last_column(l)] = true;
	cut_soft(l);
	last = last_column(l);
	before = width_before(l);
	l->widths[last] = at_most(l->widths[last], l->room > before ? l->room - before : 0);
}

/* ---- printing ---------------------------------------------------------------------------- */

static void
print_cell(const struct layout *l, size_t cell, const struct view *view)
{
	size_t column = cell % l->t->ncolumns, width = l->widths[column];
	const char *text = l->t->cells[cell], *color = NULL;
	size_t n = width_of(text), pad = width > n ? width - n : 0;

	if (view->color && cell >= l->t->ncolumns)
		color = color_of(text);
	if (l->t->right[column])
		fprintf(view->out, "%*s", (int)pad, "");
	if (color != NULL)
		fprintf(view->out, "\x1b[%sm", color);
	n = print_cut(text, width, view->out);
	if (color != NULL)
		fputs("\x1b[0m", view->out);
	if (!l->t->right[column] && column != last_column(l))
		fprintf(view->out, "%*s", (int)(width - n), "");
}

void
table_print(const struct table *t, const struct view *view)
{
	struct layout l = { .t = t, .room = view->wide ? 0 : view->width };
	size_t i, last;

	assert(t->ncells % t->ncolumns == 0);
	for (i = 0; i < t->ncells; i++) {
		size_t n = width_of(t->cells[i]);

		if (n > l.widths[i % t->ncolumns])
			l.widths[i % t->ncolumns] = n;
	}
	if (l.room > 0)
		make_room(&l);
	last = last_column(&l);
	for (i = 0; i < t->ncells; i++) {
		if (l.hidden[i % t->ncolumns])
			continue;
		print_cell(&l, i, view);
		fputs(i % t->ncolumns == last ? "\n" : "  ", view->out);
	}
}
