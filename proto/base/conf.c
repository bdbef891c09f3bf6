/* libconfuse reports through a function without an argument of ours, so the err of
 * the parse under way is kept in a static; there is one thread, and a validate
 * callback does not parse.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "proto/base/conf.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/conf_lint.h"
#include "proto/base/mem.h"

/* Some editors put it before UTF-8 text, where nobody sees it. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

static struct err *collecting;
static const char *collecting_path;
static bool collected;

/* The first error is the cause; what follows are its consequences. */
static void
collect(cfg_t *cfg, const char *format, va_list ap)
{
	char sentence[ERR_TEXT_SIZE];

	if (collected)
		return;
	collected = true;
	vsnprintf(sentence, sizeof sentence, format, ap);
	err_set(collecting, "%s:%d: %s", collecting_path, cfg->line, sentence);
}

static int
parse(cfg_t *cfg, char *text, struct err *err)
{
	FILE *f = fmemopen(text, strlen(text), "r");
	int rc;

	if (f == NULL)
		return err_set_errno(err, errno, "%s: cannot be read from memory", cfg->filename);
	collecting = err;
	collecting_path = cfg->filename;
	collected = false;
	rc = cfg_parse_fp(cfg, f);
	fclose(f);
	if (rc != CFG_SUCCESS && !collected)
		err_set(err, "%s:%d: is not understood", cfg->filename, cfg->line);
	collecting = NULL;
	return rc == CFG_SUCCESS ? 0 : -1;
}

int
conf_parse_text(
    const char *path, const char *text, cfg_opt_t *opts, cfg_t **ret_cfg, struct err *err)
{
	cfg_t *cfg = NULL;
	char *blanked;

	if (strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0)
		text += strlen(BYTE_ORDER_MARK);
	blanked = mem_printf("%s\n", text); /* fmemopen wants at least a byte */
	if (conf_lint_blank(path, text, opts, blanked, err) != 0)
		goto fail;
	cfg = cfg_init(opts, CFGF_NONE);
	assert(cfg != NULL);
	cfg->filename = mem_strdup(path);
	cfg_set_error_function(cfg, collect);
	if (parse(cfg, blanked, err) != 0)
		goto fail;
	free(blanked);
	*ret_cfg = cfg;
	return 0;
fail:
	if (cfg != NULL)
		cfg_free(cfg);
	free(blanked);
	return -1;
}

int
conf_parse_file(const char *path, cfg_opt_t *opts, cfg_t **ret_cfg, struct err *err)
{
	char *text = NULL;
	int rc;

	if (conf_read(path, &text, err) != 0)
		return -1;
	assert(text != NULL);
	rc = conf_parse_text(path, text, opts, ret_cfg, err);
	free(text);
	return rc;
}

/* A file that grows meanwhile is cut at the bound and then refused by it. */
static ssize_t
read_all(int fd, char *text, size_t size)
{
	size_t n = 0;
	ssize_t got;

	while (n < size && (got = read(fd, text + n, size - n)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		n += (size_t)got;
	}
	return (ssize_t)n;
}

int
conf_read(const char *path, char **ret_text, struct err *err)
{
	struct stat st;
	char *text = NULL;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_set_errno(err, errno, "%s: cannot be opened for reading", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		err_set(err, "%s: is no regular file", path);
		goto fail;
	}
	text = mem_calloc(CONF_BYTES + 2, 1);
	n = read_all(fd, text, CONF_BYTES + 1);
	if (n < 0) {
		err_set_errno(err, errno, "%s: cannot be read", path);
		goto fail;
	}
	if (n > CONF_BYTES) {
		err_set(err, "%s: is longer than %d bytes; split it or leave something out", path,
		    CONF_BYTES);
		goto fail;
	}
	if (memchr(text, '\0', (size_t)n) != NULL) {
		err_set(err, "%s: holds a zero byte; a text file was expected", path);
		goto fail;
	}
	close(fd);
	*ret_text = text;
	return 0;
fail:
	free(text);
	close(fd);
	return -1;
}

void
conf_validate(cfg_opt_t *opts, const char *name, cfg_validate_callback_t f)
{
	size_t n = strcspn(name, "|");

	while (opts->name != NULL && (strlen(opts->name) != n || memcmp(opts->name, name, n) != 0))
		opts++;
	assert(opts->name != NULL);
	if (name[n] == '|')
		conf_validate(opts->subopts, name + n + 1, f);
	else
		opts->validcb = f;
}
