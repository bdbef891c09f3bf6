/* A build's log in pieces: the client says where it is, and gets what is behind that.
 *
 * The name of the file is made of the attempt's number, found in the cluster: nothing that
 * was on the wire becomes part of a path. A log is whole when its attempt has ended and
 * all bytes that the agent counted are here; a lost attempt's never is.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coordinator/io/control_ask.h"
#include "coordinator/io/snapshot.h"
#include "proto/base/mem.h"

enum { PIECE_BYTES = 256 * 1024 };

struct piece {
	int64_t offset; /* where it begins */
	int64_t stored; /* bytes in the file */
	size_t nbytes;
	uint8_t *bytes;
};

/* Reads up to a piece; a file that is not there yet is an empty one. */
static int
piece_read(const char *folder, attempt_id id, struct piece *piece, struct err *err)
{
	char *path = mem_printf("%s/%" PRIu64 ".log", folder, id.n);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), rc = 0;
	struct stat st;
	ssize_t n;

	if (fd < 0 && errno != ENOENT)
		rc = err_set_errno(err, errno, "the log %s cannot be opened", path);
	if (fd < 0)
		goto out;
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		rc = err_set(err, "the log %s is no plain file", path);
		goto out;
	}
	piece->stored = st.st_size;
	piece->bytes = mem_calloc(PIECE_BYTES, 1);
	n = pread(fd, piece->bytes, PIECE_BYTES, piece->offset);
	if (n < 0)
		rc = err_set_errno(err, errno, "the log %s cannot be read", path);
	else
		piece->nbytes = (size_t)n;
out:
	if (fd >= 0)
		close(fd);
	free(path);
	return rc;
}

static bool
is_whole(const struct attempt *a, int64_t stored)
{
	return a->state == ATTEMPT_ENDED && a->result.outcome != OUTCOME_LOST &&
	       stored >= a->status.log_bytes;
}

static attempt_id
last_attempt(const struct build *b)
{
	return b->nattempts > 0 ? b->attempts[b->nattempts - 1] : (attempt_id){ 0 };
}

/* NULL attempt: the build has none yet. */
static json_t *
describe(const struct ask *ask, const struct build *b, const struct attempt *a, int64_t stored)
{
	json_t *json = json_pack("{s:I, s:s, s:b, s:I}", "build", (json_int_t)b->id.n, "state",
	    build_state_name(build_state_get(ask->c, b)), "done", (int)(b->verdict != VERDICT_NONE),
	    "last_attempt", (json_int_t)last_attempt(b).n);

	assert(json != NULL);
	if (a == NULL) {
		json_object_set_new(json, "attempt", json_null());
		return json;
	}
	json_object_set_new(json, "attempt", json_integer((json_int_t)a->id.n));
	json_object_set_new(json, "host", json_string(a->host));
	json_object_set_new(json, "ended", json_boolean(a->state == ATTEMPT_ENDED));
	json_object_set_new(json, "whole", json_boolean(is_whole(a, stored)));
	json_object_set_new(json, "stored_bytes", json_integer(stored));
	json_object_set_new(json, "log_bytes", json_integer(a->status.log_bytes));
	json_object_set_new(json, "log_dropped_bytes", json_integer(a->result.log_dropped_bytes));
	return json;
}

/* The one asked for, else the last one; false when it has been answered that there is none. */
static bool
take_attempt(struct ask *ask, const struct build *b, const struct attempt **ret_attempt)
{
	int64_t n = (int64_t)last_attempt(b).n;

	if (!arg_number(ask, "attempt", 1, INT64_MAX / 1000, &n))
		return false;
	*ret_attempt = cluster_find_attempt(ask->c, (attempt_id){ (uint64_t)n });
	if (*ret_attempt != NULL && (*ret_attempt)->build.n == b->id.n)
		return true;
	if (n != 0)
		answer(ask, REPLY_NOT_FOUND,
		    "build %" PRIu64 " has no attempt %" PRId64 "; flyball build %" PRIu64
		    " lists them",
		    b->id.n, n, b->id.n);
	else if (arg_get(ask, "follow") == NULL)
		answer(ask, REPLY_NOT_FOUND,
		    "build %" PRIu64 " has no log: it is %s and was never given to a host", b->id.n,
		    build_state_name(build_state_get(ask->c, b)));
	*ret_attempt = NULL;
	return n == 0 && arg_get(ask, "follow") != NULL;
}

enum control_result
show_log(struct ask *ask)
{
	const struct build *b = find_build(ask, arg_get(ask, "build"));
	const struct attempt *a = NULL;
	struct piece piece = { 0 };
	struct err err;

	if (b == NULL || !arg_number(ask, "offset", 0, INT64_MAX / 1000, &piece.offset) ||
	    !take_attempt(ask, b, &a))
		return CONTROL_ANSWERED;
	if (a != NULL && piece_read(ask->context->log_folder, a->id, &piece, &err) != 0) {
		free(piece.bytes);
		return answer(ask, REPLY_FAILED, "%s", err.text);
	}
	ask->reply->offset = piece.offset;
	ask->reply->nbytes = piece.nbytes;
	ask->reply->bytes = piece.bytes;
	ask->reply->last = a != NULL ? is_whole(a, piece.offset + (int64_t)piece.nbytes)
				     : b->verdict != VERDICT_NONE;
	return answer_json(ask, describe(ask, b, a, piece.stored));
}
