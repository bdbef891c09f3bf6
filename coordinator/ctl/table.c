/* Widths are counted in characters, not bytes, and after cells were made harmless: what
 * is measured is what is printed.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/ctl/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/ctl/format.h"
#include "proto/base/mem.h"

enum { COLUMNS_MAX = 24, CUT_LEAST = 8, LAST_WANTED = 24 };

struct table {
	size_t ncolumns;
	bool right[COLUMNS_MAX];
	size_t soft; /* the column that may be cut; 0: none, since the first is a name */
	size_t ncells, capacity; /* the titles are the first row */
	char **cells;
};

static size_t
characters(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

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
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	assert(n >= 0);
	table_add(t, text);
	free(text);
}

/* ---- printing ---------------------------------------------------------------------------- */

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

/* As much of the cell as fits into width characters, the last one an ellipsis when it is cut. */
static void
print_cut(const char *cell, size_t width, FILE *out)
{
	size_t n = 0;

	if (characters(cell) <= width) {
		fputs(cell, out);
		return;
	}
	for (; *cell != '\0'; cell++) {
		n += ((unsigned char)*cell & 0xc0) != 0x80;
		if (n >= width)
			break;
		putc(*cell, out);
	}
	fputs("\xe2\x80\xa6", out);
}

static void
print_cell(const struct table *t, size_t cell, size_t width, const struct view *view)
{
	size_t column = cell % t->ncolumns;
	const char *text = t->cells[cell], *color = NULL;
	size_t n = characters(text), pad = width > n ? width - n : 0;

	if (view->color && cell >= t->ncolumns)
		color = color_of(text);
	if (t->right[column])
		fprintf(view->out, "%*s", (int)pad, "");
	if (color != NULL)
		fprintf(view->out, "\x1b[%sm%s\x1b[0m", color, text);
	else
		print_cut(text, width, view->out);
	if (!t->right[column] && column + 1 < t->ncolumns)
		fprintf(view->out, "%*s", (int)pad, "");
}

static void
print_last(const struct table *t, size_t cell, size_t before, size_t width, const struct view *view)
{
	size_t room = view->width > before + CUT_LEAST ? view->width - before : CUT_LEAST;

	if (view->width == 0 || view->wide || t->right[t->ncolumns - 1])
		print_cell(t, cell, width, view);
	else
		print_cut(t->cells[cell], room, view->out);
}

/* Makes room for the last column out of the one that may be cut. */
static void
make_room(const struct table *t, size_t *widths, size_t *before, const struct view *view)
{
	size_t last = widths[t->ncolumns - 1] < LAST_WANTED ? widths[t->ncolumns - 1] : LAST_WANTED;
	size_t spare, missing;

	if (view->width == 0 || view->wide || t->soft == 0 || *before + last <= view->width ||
	    widths[t->soft] <= CUT_LEAST)
		return;
	spare = widths[t->soft] - CUT_LEAST;
	missing = *before + last - view->width;
	if (missing > spare)
		missing = spare;
	widths[t->soft] -= missing;
	*before -= missing;
}

void
table_print(const struct table *t, const struct view *view)
{
	size_t widths[COLUMNS_MAX] = { 0 }, i, before = 0;

	assert(t->ncells % t->ncolumns == 0);
	for (i = 0; i < t->ncells; i++) {
		size_t n = characters(t->cells[i]);

		if (n > widths[i % t->ncolumns])
			widths[i % t->ncolumns] = n;
	}
	for (i = 0; i + 1 < t->ncolumns; i++)
		before += widths[i] + 2;
	make_room(t, widths, &before, view);
	for (i = 0; i < t->ncells; i++) {
		size_t column = i % t->ncolumns;

		if (column + 1 < t->ncolumns) {
			print_cell(t, i, widths[column], view);
			fputs("  ", view->out);
			continue;
		}
		print_last(t, i, before, widths[column], view);
		putc('\n', view->out);
	}
}
