/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/ctl/session.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/ctl/format.h"
#include "coordinator/ctl/width.h"
#include "proto/base/mem.h"

static bool progress_stands;

void
progress_show(const char *text, size_t columns)
{
	char *line = NULL;
	size_t size;
	FILE *f = open_memstream(&line, &size);

	assert(f != NULL);
	harmless_line(text, f);
	fclose(f);
	fprintf(stderr, "\r\x1b[K%.*s", (int)width_fit(line, columns), line);
	free(line);
	progress_stands = true;
}

void
progress_end(void)
{
	if (progress_stands)
		putc('\n', stderr);
	progress_stands = false;
}

void
complain(const char *format, ...)
{
	char *text;
	va_list ap;

	va_start(ap, format);
	text = mem_vprintf(format, ap);
	va_end(ap);
	fputs(progress_stands ? "\r\x1b[Kflyball: " : "flyball: ", stderr);
	progress_stands = false;
	harmless_line(text, stderr);
	putc('\n', stderr);
	free(text);
}

/* The reply's JSON, or NULL; one that cannot be read makes a failure of it. */
static json_t *
take_json(struct message_reply *reply)
{
	json_error_t error;
	json_t *json;

	if (reply->json == NULL || reply->json[0] == '\0')
		return NULL;
	json = json_loads(reply->json, 0, &error);
	if (json != NULL && json_is_object(json))
		return json;
	json_decref(json);
	reply->status = REPLY_FAILED;
	snprintf(reply->text, sizeof reply->text, "the coordinator's answer cannot be read: %.200s",
	    json == NULL ? error.text : "it is no object");
	return NULL;
}

void
session_tell(struct session *s, int status, const char *text)
{
	bool silence = status == REPLY_UNREACHABLE || status == REPLY_TIMED_OUT;

	if (status != REPLY_OK && !client_interrupted(s->client) && !(silence && s->unheard))
		complain("%s%s", text, silence && s->patient ? "; not answering, retrying" : "");
	s->unheard = s->patient && silence;
}

int
session_ask(struct session *s, struct request *request, json_t **ret_json, char **ret_text)
{
	struct message_reply reply;
	int status;

	client_ask(s->client, request, &reply);
	request_clear(request);
	*ret_json = take_json(&reply);
	status = reply.status;
	session_tell(s, status, reply.text);
	if (ret_text != NULL)
		*ret_text = mem_strdup(reply.text);
	reply_clear(&reply);
	return status;
}

int
session_show(struct session *s, struct request *request, output_f show)
{
	json_t *answer = NULL;
	int status = session_ask(s, request, &answer, NULL);

	if (status == REPLY_OK && answer == NULL)
		status = REPLY_FAILED;
	if (status == REPLY_OK)
		show(answer, &s->view);
	json_decref(answer);
	return status;
}

/* ---- lists ------------------------------------------------------------------------------- */

/* One page behind all that the list has; ret_next is where the next one begins, NULL at the end. */
static int
add_page(struct session *s, const struct request *request, const char *key, bool newest_first,
    json_t *list, char **ret_next)
{
	struct message_reply reply;
	json_t *page, *next;
	int status;
	size_t i;

	*ret_next = NULL;
	client_ask(s->client, request, &reply);
	page = take_json(&reply);
	status = reply.status;
	session_tell(s, status, reply.text);
	reply_clear(&reply);
	for (i = 0; i < json_array_size(json_object_get(page, key)); i++)
		json_array_insert(list, newest_first ? 0 : json_array_size(list),
		    json_array_get(json_object_get(page, key), i));
	next = json_object_get(page, "next");
	if (json_is_integer(next))
		*ret_next = mem_printf("%" JSON_INTEGER_FORMAT, json_integer_value(next));
	else if (json_is_string(next))
		*ret_next = mem_strdup(json_string_value(next));
	json_decref(page);
	return status;
}

/* The last argument is the cursor once there is one. */
static void
set_cursor(struct request *request, const char *cursor, char *value)
{
	struct message_request *b = &request->body;

	if (b->nargs == 0 || strcmp(b->args[b->nargs - 1].key, cursor) != 0) {
		request_add(request, cursor, value);
		free(value);
		return;
	}
	free(b->args[b->nargs - 1].value);
	b->args[b->nargs - 1].value = value;
}

int
session_list(struct session *s, struct request *request, const char *key, const char *cursor,
    size_t limit, json_t **ret_json)
{
	json_t *list = json_array();
	char *next = NULL;
	int status;

	if (limit > 0)
		request_add_number(request, "count", (int64_t)limit);
	do {
		if (next != NULL)
			set_cursor(request, cursor, next);
		status = add_page(s, request, key, strcmp(cursor, "before") == 0, list, &next);
	} while (
	    status == REPLY_OK && next != NULL && (limit == 0 || json_array_size(list) < limit));
	if (status == REPLY_OK && next != NULL)
		complain("the newest %zu are shown; --all shows the others", json_array_size(list));
	free(next);
	request_clear(request);
	*ret_json = json_object();
	json_object_set_new(*ret_json, key, list);
	return status;
}

/* ---- changes ----------------------------------------------------------------------------- */

int
session_change(struct session *s, struct request *request)
{
	json_t *answer = NULL;
	char *text = NULL;
	int status = session_ask(s, request, &answer, &text);

	if (status == REPLY_OK && args_given(s->args, OPTION_JSON)) {
		if (answer == NULL)
			answer = json_pack("{s:s}", "text", text);
		json_dumpf(answer, s->view.out, JSON_SORT_KEYS | JSON_INDENT(2));
		putc('\n', s->view.out);
	} else if (status == REPLY_OK)
		complain("%s", text);
	json_decref(answer);
	free(text);
	return status;
}
