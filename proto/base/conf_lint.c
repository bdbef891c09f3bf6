/* libconfuse is kind to a text where it should be strict: it lets the last of two
 * equal keys win, merges equal sections, reads 010 as 8, expands the daemon's own
 * environment, takes a scalar for a list, and drops characters that it has no use
 * for (the '+' of "a+b", each '*' of an unquoted "0 2 * * *", what follows "//" in
 * "http://host"). An operator would find out by a build that did not run. So the
 * text is walked first, by the same tokens, along the option table.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/base/conf_lint.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/mem.h"
#include "proto/base/near.h"

enum token { TOKEN_END, TOKEN_WORD, TOKEN_STRING, TOKEN_SIGN };

struct scan {
	const char *path;
	const char *text, *at;
	char *blanked;
	int line;
	struct err *err;
	/* the last token */
	enum token token;
	const char *begin;
	size_t size; /* without quotes */
	int begin_line;
	bool append; /* += */
};

/* What has stood in a section so far. */
struct seen {
	const cfg_opt_t *opt;
	const char *title;
	size_t title_size;
	int line;
};

struct section {
	const char *name; /* NULL: the file */
	int line;
	const cfg_opt_t *opts;
	struct seen *seen;
	size_t nseen, capacity;
};

#define REFUSE(s, on_line, ...) refuse(s, on_line, mem_printf(__VA_ARGS__))

static int
refuse(const struct scan *s, int line, char *sentence)
{
	err_set(s->err, "%s:%d: %s", s->path, line, sentence);
	free(sentence);
	return -1;
}

/* ---- tokens ------------------------------------------------------------------------------ */

static void
blank(struct scan *s, const char *from, const char *to)
{
	if (s->blanked == NULL)
		return;
	for (; from < to; from++)
		if (*from != '\n')
			s->blanked[from - s->text] = ' ';
}

static bool
begins_comment(const char *at)
{
	return *at == '#' || (at[0] == '/' && (at[1] == '/' || at[1] == '*'));
}

static int
skip_comment(struct scan *s)
{
	const char *from = s->at, *end;

	if (from[0] == '/' && from[1] == '*') {
		end = strstr(from + 2, "*/");
		if (end == NULL)
			return REFUSE(s, s->line,
			    "the comment that begins here is not closed; "
			    "'*/' is missing");
		end += 2;
	} else {
		end = from + strcspn(from, "\n");
	}
	blank(s, from, end);
	for (; s->at < end; s->at++)
		if (*s->at == '\n')
			s->line++;
	return 0;
}

static int
skip_space(struct scan *s)
{
	for (;;) {
		if (*s->at == '\n')
			s->line++;
		if (*s->at != '\0' && strchr(" \t\r\n", *s->at) != NULL) {
			s->at++;
			continue;
		}
		if (!begins_comment(s->at))
			return 0;
		if (skip_comment(s) != 0)
			return -1;
	}
}

static int
refuse_expansion(struct scan *s)
{
	return REFUSE(s, s->line,
	    "'${...}' would put the daemon's environment in; write the value "
	    "itself, or put it in single quotes");
}

static int
scan_string(struct scan *s)
{
	char quote = *s->at++;

	s->begin = s->at;
	for (; *s->at != quote; s->at++) {
		if (*s->at == '\0')
			return REFUSE(s, s->begin_line,
			    "the string that begins here is not closed; "
			    "a %s is missing",
			    quote == '"' ? "\"" : "'");
		if (quote == '"' && s->at[0] == '$' && s->at[1] == '{')
			return refuse_expansion(s);
		if (*s->at == '\\' && s->at[1] != '\0')
			s->at++;
		if (*s->at == '\n')
			s->line++;
	}
	s->size = (size_t)(s->at - s->begin);
	s->at++;
	s->token = TOKEN_STRING;
	return 0;
}

static int
scan_word(struct scan *s)
{
	static const char ends[] = " \t\r\n#\"'={}()+,*";

	for (; *s->at != '\0' && strchr(ends, *s->at) == NULL; s->at++) {
		if ((unsigned char)*s->at < ' ' || *s->at == 127)
			return REFUSE(s, s->line, "a control character (%d) stands here", *s->at);
		if (s->at[0] == '$' && s->at[1] == '{')
			return refuse_expansion(s);
		if (begins_comment(s->at))
			break;
	}
	s->size = (size_t)(s->at - s->begin);
	s->token = TOKEN_WORD;
	if (*s->at != '\0' && (strchr("#\"'()+*", *s->at) != NULL || begins_comment(s->at)))
		return REFUSE(s, s->line,
		    "'%.*s' is followed by '%c', which is no part of an "
		    "unquoted value; put the value in quotes",
		    (int)(s->size > 80 ? 80 : s->size), s->begin, *s->at);
	return 0;
}

static int
next_token(struct scan *s)
{
	if (skip_space(s) != 0)
		return -1;
	s->begin = s->at;
	s->begin_line = s->line;
	s->size = 1;
	s->append = false;
	switch (*s->at) {
	case '\0':
		s->token = TOKEN_END;
		s->size = 0;
		return 0;
	case '"':
	case '\'':
		return scan_string(s);
	case '+':
		if (s->at[1] == '=') {
			s->append = true;
			s->at++;
			break;
		}
		/* fall through */
	case '*':
	case '(':
	case ')':
		return REFUSE(s, s->line,
		    "'%c' cannot stand here; a value that holds it needs quotes", *s->at);
	case '{':
	case '}':
	case '=':
	case ',':
		break;
	default:
		return scan_word(s);
	}
	s->at++;
	s->token = TOKEN_SIGN;
	return 0;
}

static bool
is_sign(const struct scan *s, char c)
{
	return s->token == TOKEN_SIGN && *s->begin == c;
}

static bool
is_value(const struct scan *s)
{
	return s->token == TOKEN_WORD || s->token == TOKEN_STRING;
}

static int
refuse_token(const struct scan *s, const char *expected)
{
	if (s->token == TOKEN_END)
		return REFUSE(s, s->begin_line, "the file ends, and %s was expected", expected);
	return REFUSE(s, s->begin_line, "found '%.*s' where %s was expected",
	    (int)(s->size > 80 ? 80 : s->size), s->begin, expected);
}

/* ---- names ------------------------------------------------------------------------------- */

static const cfg_opt_t *
find_option(const cfg_opt_t *opts, const char *name, size_t size)
{
	for (; opts->name != NULL; opts++)
		if (strlen(opts->name) == size && memcmp(opts->name, name, size) == 0)
			return opts;
	return NULL;
}

static const char *
nearest_name(const cfg_opt_t *opts, const char *name, size_t size)
{
	const char *best = NULL;
	unsigned least = near_bound(size) + 1;

	for (; opts->name != NULL; opts++) {
		unsigned d = near_distance(name, size, opts->name, strlen(opts->name));

		if (d < least) {
			least = d;
			best = opts->name;
		}
	}
	return best;
}

static char *
list_names(const cfg_opt_t *opts)
{
	char *list = mem_strdup("");

	for (const cfg_opt_t *o = opts; o->name != NULL; o++) {
		char *longer = mem_printf("%s%s%s", list, o == opts ? "" : ", ", o->name);

		free(list);
		list = longer;
	}
	return list;
}

static int
refuse_name(const struct scan *s, const struct section *section)
{
	const char *near = nearest_name(section->opts, s->begin, s->size);
	char *names = list_names(section->opts);
	char *where =
	    section->name ? mem_printf("a section '%s'", section->name) : mem_strdup("this file");
	char *hint = near ? mem_printf("; did you mean '%s'?", near) : mem_printf(";");

	REFUSE(s, s->begin_line, "'%.*s' is not known in %s%s known here: %s",
	    (int)(s->size > 80 ? 80 : s->size), s->begin, where, hint, names);
	free(hint);
	free(where);
	free(names);
	return -1;
}

/* ---- the walk ---------------------------------------------------------------------------- */

/* A section may stand again under another title, or when the table says so. */
static bool
is_again(const struct seen *seen, const cfg_opt_t *opt, const char *title, size_t title_size)
{
	if (seen->opt != opt)
		return false;
	if (opt->type != CFGT_SEC || !(opt->flags & CFGF_MULTI))
		return true;
	return (opt->flags & CFGF_TITLE) && seen->title_size == title_size &&
	       memcmp(seen->title, title, title_size) == 0;
}

static int
note_seen(const struct scan *s, struct section *section, const cfg_opt_t *opt, const char *title,
    size_t title_size, int line)
{
	for (size_t i = 0; i < section->nseen; i++) {
		const struct seen *seen = &section->seen[i];

		if (!is_again(seen, opt, title, title_size))
			continue;
		if (title == NULL)
			return REFUSE(s, line, "'%s' stands twice; it is on line %d already",
			    opt->name, seen->line);
		return REFUSE(s, line, "%s '%.*s' stands twice; it is on line %d already",
		    opt->name, (int)(title_size > 80 ? 80 : title_size), title, seen->line);
	}
	section->seen =
	    mem_room(section->seen, section->nseen, &section->capacity, sizeof *section->seen);
	section->seen[section->nseen++] = (struct seen){ opt, title, title_size, line };
	return 0;
}

static int
check_integer(const struct scan *s, const cfg_opt_t *opt)
{
	const char *digits = s->begin;
	size_t n = s->size;

	if (opt->type != CFGT_INT)
		return 0;
	if (n > 0 && (*digits == '-' || *digits == '+')) {
		digits++;
		n--;
	}
	if (n < 2 || digits[0] != '0' || strspn(digits, "0123456789") < n)
		return 0;
	return REFUSE(s, s->begin_line,
	    "'%.*s' of '%s' begins with 0 and would be read as octal; "
	    "write it without",
	    (int)(s->size > 80 ? 80 : s->size), s->begin, opt->name);
}

static int
lint_list(struct scan *s, const cfg_opt_t *opt)
{
	int line = s->begin_line;

	if (!is_sign(s, '{'))
		return REFUSE(s, s->begin_line, "'%s' takes a list: write %s = { %.*s }", opt->name,
		    opt->name, is_value(s) && s->size < 80 ? (int)s->size : 3,
		    is_value(s) && s->size < 80 ? s->begin : "...");
	for (;;) {
		if (next_token(s) != 0)
			return -1;
		if (is_sign(s, '}'))
			return 0;
		if (s->token == TOKEN_END)
			return REFUSE(s, line,
			    "the list of '%s' that begins here is not closed; '}' "
			    "is missing",
			    opt->name);
		if (!is_value(s))
			return refuse_token(s, "a value of the list or '}'");
		if (check_integer(s, opt) != 0 || next_token(s) != 0)
			return -1;
		if (is_sign(s, '}'))
			return 0;
		if (s->token == TOKEN_END)
			return REFUSE(s, line,
			    "the list of '%s' that begins here is not closed; '}' "
			    "is missing",
			    opt->name);
		if (!is_sign(s, ','))
			return refuse_token(s, "',' or '}' behind a value of the list");
	}
}

static int
lint_scalar(struct scan *s, const cfg_opt_t *opt, int line)
{
	if (is_sign(s, '{'))
		return REFUSE(s, s->begin_line,
		    "'%s' takes one value, not a list; leave the braces "
		    "out",
		    opt->name);
	if (!is_value(s) || s->begin_line != line)
		return REFUSE(s, line, "'%s' has no value on its line", opt->name);
	return check_integer(s, opt);
}

static int
lint_setting(struct scan *s, struct section *section, const cfg_opt_t *opt)
{
	int line = s->begin_line;

	if (note_seen(s, section, opt, NULL, 0, line) != 0 || next_token(s) != 0)
		return -1;
	if (s->append)
		return REFUSE(
		    s, line, "'+=' is not taken here; write '%s = ...' with all of it", opt->name);
	if (!is_sign(s, '='))
		return REFUSE(s, line, "'=' and a value were expected behind '%s'", opt->name);
	if (next_token(s) != 0)
		return -1;
	return opt->flags & CFGF_LIST ? lint_list(s, opt) : lint_scalar(s, opt, line);
}

static int lint_section(struct scan *s, struct section *section);

static int
lint_subsection(struct scan *s, struct section *parent, const cfg_opt_t *opt)
{
	struct section section = { opt->name, s->begin_line, opt->subopts, NULL, 0, 0 };
	const char *title = NULL;
	size_t title_size = 0;
	int rc;

	if (next_token(s) != 0)
		return -1;
	if (opt->flags & CFGF_TITLE) {
		if (!is_value(s))
			return REFUSE(s, section.line, "'%s' needs a title: write %s NAME { ... }",
			    opt->name, opt->name);
		title = s->begin;
		title_size = s->size;
		if (next_token(s) != 0)
			return -1;
	}
	if (!is_sign(s, '{'))
		return REFUSE(
		    s, section.line, "'%s' is a section: '{' was expected behind it", opt->name);
	if (note_seen(s, parent, opt, title, title_size, section.line) != 0)
		return -1;
	rc = lint_section(s, &section);
	free(section.seen);
	return rc;
}

/* A value that needs quotes shows as a stray word behind it. */
static int
lint_entry(struct scan *s, struct section *section, const cfg_opt_t *before, int before_line)
{
	const cfg_opt_t *opt = NULL;

	if (s->token == TOKEN_WORD)
		opt = find_option(section->opts, s->begin, s->size);
	if (opt == NULL && before != NULL && before->type != CFGT_SEC && is_value(s) &&
	    s->begin_line == before_line)
		return REFUSE(s, s->begin_line,
		    "'%.*s' stands behind the value of '%s'; a value "
		    "with spaces needs quotes",
		    (int)(s->size > 80 ? 80 : s->size), s->begin, before->name);
	if (s->token != TOKEN_WORD)
		return refuse_token(s, "a name");
	if (opt == NULL)
		return refuse_name(s, section);
	return opt->type == CFGT_SEC ? lint_subsection(s, section, opt)
				     : lint_setting(s, section, opt);
}

static int
lint_section(struct scan *s, struct section *section)
{
	const cfg_opt_t *before = NULL;
	int before_line = 0;

	for (;;) {
		const cfg_opt_t *opt;

		if (next_token(s) != 0)
			return -1;
		if (s->token == TOKEN_END && section->name == NULL)
			return 0;
		if (s->token == TOKEN_END)
			return REFUSE(s, section->line,
			    "the section '%s' that begins here is not "
			    "closed; '}' is missing",
			    section->name);
		if (is_sign(s, '}') && section->name != NULL)
			return 0;
		if (is_sign(s, '}'))
			return REFUSE(s, s->begin_line, "this '}' closes nothing");
		opt = find_option(section->opts, s->begin, s->size);
		if (lint_entry(s, section, before, before_line) != 0)
			return -1;
		before = opt;
		before_line = s->line;
	}
}

int
conf_lint_blank(
    const char *path, const char *text, const cfg_opt_t *opts, char *blanked, struct err *err)
{
	struct scan s = {
		.path = path, .text = text, .at = text, .blanked = blanked, .line = 1, .err = err
	};
	struct section file = { NULL, 1, opts, NULL, 0, 0 };
	int rc;

	if (strlen(text) > CONF_BYTES)
		return err_set(err, "%s: is longer than %d bytes; split it or leave something out",
		    path, CONF_BYTES);
	rc = lint_section(&s, &file);
	free(file.seen);
	return rc;
}

int
conf_lint(const char *path, const char *text, const cfg_opt_t *opts, struct err *err)
{
	return conf_lint_blank(path, text, opts, NULL, err);
}

/* ---- places ------------------------------------------------------------------------------ */

static bool
token_is(const struct scan *s, const char *word)
{
	return strlen(word) == s->size && memcmp(word, s->begin, s->size) == 0;
}

/* Behind a name: takes the title, if there is one; true when the name is the one that step means. */
static bool
take_title(struct scan *s, const struct conf_step *step, bool name_is_it)
{
	const struct scan name = *s;

	if (next_token(s) == 0 && is_value(s))
		return name_is_it && step->title != NULL && token_is(s, step->title);
	*s = name;
	return name_is_it && step->title == NULL;
}

int
conf_line(const char *text, const struct conf_step *path, size_t n)
{
	struct scan s = { .text = text, .at = text, .line = 1 };
	size_t depth = 0, found = 0;

	while (next_token(&s) == 0 && s.token != TOKEN_END) {
		int line = s.begin_line;

		if (is_sign(&s, '=')) {
			if (next_token(&s) == 0 && is_sign(&s, '{'))
				depth++;
		} else if (is_sign(&s, '{')) {
			depth++;
		} else if (is_sign(&s, '}')) {
			if (depth-- == found)
				return 0;
		} else if (depth == found &&
			   take_title(&s, &path[found], token_is(&s, path[found].name))) {
			if (++found == n)
				return line;
		}
	}
	return 0;
}
