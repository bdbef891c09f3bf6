/* The journal in a SQLite file: one transaction a batch, with WAL and synchronous=FULL, so that
 * what append has reported is on the disk and a batch is there whole or not at all.
 *
 * Ids count up from 1 without a gap, given here: a row that is missing is damage that can be seen.
 *
 * Two coordinators on one journal would each grant the same builds, so a lock is held on PATH.lock
 * for as long as the store is open. It is flock() on a file of its own: it ends with the process
 * however that ends, and people may still look into the journal with sqlite3 meanwhile.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "coordinator/io/store_calls.h"
#include "coordinator/io/store_schema.h"
#include "proto/base/mem.h"

struct store_sqlite {
	struct store store;
	char *path;
	int lock;
	sqlite3 *db;
	sqlite3_stmt *insert, *select;
	int64_t count;
	int64_t at; /* id of the last fact that was read */
	bool reading; /* select is at the row of that id */
};

static struct store_sqlite *
sqlite_of(struct store *store)
{
	return (struct store_sqlite *)store;
}

static int
refuse(struct store_sqlite *s, const char *tried, struct err *err)
{
	return store_schema_refuse(s->db, s->path, tried, err);
}

static void
sqlite_close(struct store *store)
{
	struct store_sqlite *s = sqlite_of(store);

	sqlite3_finalize(s->insert);
	sqlite3_finalize(s->select);
	sqlite3_close(s->db);
	if (s->lock >= 0)
		close(s->lock);
	free(s->path);
	free(s);
}

/* ---- append ----------------------------------------------------------------------------- */

static void
bind_number(sqlite3_stmt *insert, int at, uint64_t n)
{
	if (n == 0)
		sqlite3_bind_null(insert, at);
	else
		sqlite3_bind_int64(insert, at, (sqlite3_int64)n);
}

/* In the order of the columns. */
static int
insert_fact(struct store_sqlite *s, int64_t id, const struct fact *fact)
{
	struct text body = { 0 };
	int rc;

	fact_encode(fact, &body);
	sqlite3_bind_int64(s->insert, 1, id);
	bind_number(s->insert, 2, (uint64_t)fact->at.us);
	sqlite3_bind_text(s->insert, 3, fact_kind_name(fact->kind), -1, SQLITE_STATIC);
	bind_number(s->insert, 4, fact->round.n);
	bind_number(s->insert, 5, fact->build.n);
	bind_number(s->insert, 6, fact->attempt.n);
	if (fact->host[0] == '\0')
		sqlite3_bind_null(s->insert, 7);
	else
		sqlite3_bind_text(s->insert, 7, fact->host, -1, SQLITE_STATIC);
	sqlite3_bind_text(s->insert, 8, body.text, (int)body.length, SQLITE_STATIC);
	rc = sqlite3_step(s->insert);
	sqlite3_reset(s->insert);
	sqlite3_clear_bindings(s->insert);
	free(body.text);
	return rc == SQLITE_DONE ? 0 : -1;
}

static int
run(struct store_sqlite *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
}

/* A reading select would hold an old state of the file; it goes on behind its last row later. */
static void
pause_reading(struct store_sqlite *s)
{
	sqlite3_reset(s->select);
	s->reading = false;
}

static int
sqlite_append(struct store *store, const struct fact *const *facts, size_t nfacts, struct err *err)
{
	struct store_sqlite *s = sqlite_of(store);
	size_t i;

	pause_reading(s);
	if (run(s, "BEGIN IMMEDIATE") != 0)
		return refuse(s, "cannot be written", err);
	for (i = 0; i < nfacts; i++)
		if (insert_fact(s, s->count + 1 + (int64_t)i, facts[i]) != 0)
			goto fail;
	if (run(s, "COMMIT") != 0)
		goto fail;
	s->count += (int64_t)nfacts;
	return 0;
fail:
	refuse(s, "cannot be written", err);
	if (!sqlite3_get_autocommit(s->db))
		run(s, "ROLLBACK");
	return -1;
}

/* ---- reading ---------------------------------------------------------------------------- */

static int
sqlite_rewind(struct store *store, struct err *err)
{
	(void)err;
	pause_reading(sqlite_of(store));
	sqlite_of(store)->at = 0;
	return 0;
}

static int
refuse_row(struct store_sqlite *s, const char *what, struct err *err)
{
	return err_set(err,
	    "journal %s: row %" PRId64 " %s; put back a copy of the file, or move it "
	    "away to begin with an empty journal",
	    s->path, s->at + 1, what);
}

static int
take_row(struct store_sqlite *s, struct fact *ret_fact, struct err *err)
{
	const char *body = (const char *)sqlite3_column_text(s->select, 1);
	struct err why;
	char *what;

	if (sqlite3_column_int64(s->select, 0) != s->at + 1)
		return refuse_row(s, "is missing", err);
	if (body == NULL || strlen(body) != (size_t)sqlite3_column_bytes(s->select, 1))
		return refuse_row(s, "is damaged: its body is no text", err);
	if (fact_decode(body, ret_fact, &why) != 0) {
		what = mem_printf("is damaged: %.200s", why.text);
		refuse_row(s, what, err);
		free(what);
		return -1;
	}
	s->at++;
	return 1;
}

static int
sqlite_next(struct store *store, struct fact *ret_fact, struct err *err)
{
	struct store_sqlite *s = sqlite_of(store);
	char *tried;
	int rc;

	if (!s->reading)
		sqlite3_bind_int64(s->select, 1, s->at);
	rc = sqlite3_step(s->select);
	s->reading = rc == SQLITE_ROW;
	if (rc == SQLITE_ROW)
		rc = take_row(s, ret_fact, err);
	else if (rc == SQLITE_DONE)
		rc = 0;
	else {
		tried = mem_printf("row %" PRId64 " cannot be read", s->at + 1);
		rc = refuse(s, tried, err);
		free(tried);
	}
	if (rc != 1)
		pause_reading(s);
	return rc;
}

static int64_t
sqlite_count(struct store *store)
{
	return sqlite_of(store)->count;
}

/* ---- opening ---------------------------------------------------------------------------- */

static int
refuse_holder(struct store_sqlite *s, struct err *err)
{
	char pid[24] = "";
	ssize_t n = pread(s->lock, pid, sizeof pid - 1, 0);

	pid[n > 0 ? strspn(pid, "0123456789") : 0] = '\0';
	return err_set(err,
	    "journal %s: another coordinator (process %s) has it; stop that one, or give "
	    "this one a state folder of its own",
	    s->path, pid[0] == '\0' ? "unknown" : pid);
}

static int
take_lock(struct store_sqlite *s, struct err *err)
{
	char *name = mem_printf("%s.lock", s->path);
	int rc = 0;

	s->lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (s->lock < 0)
		rc = err_set_errno(
		    err, errno, "journal %s: %s cannot be opened for writing", s->path, name);
	else if (flock(s->lock, LOCK_EX | LOCK_NB) != 0)
		rc = errno == EWOULDBLOCK ? refuse_holder(s, err)
					  : err_set_errno(err, errno,
						"journal %s: %s cannot be locked", s->path, name);
	/* Who has it is a help for people; a full disk may leave it out. */
	else if (ftruncate(s->lock, 0) != 0 || dprintf(s->lock, "%ld\n", (long)getpid()) < 0)
		errno = 0;
	free(name);
	return rc;
}

/* SQLite syncs the file; that it stands in its folder is ours to make sure of. */
static int
sync_folder(struct store_sqlite *s, struct err *err)
{
	char *copy = mem_strdup(s->path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc =
	    fd >= 0 && fsync(fd) == 0
		? 0
		: err_set_errno(err, errno, "journal %s: its folder cannot be synced", s->path);

	if (fd >= 0)
		close(fd);
	free(copy);
	return rc;
}

static int
prepare(struct store_sqlite *s, const char *sql, sqlite3_stmt **ret, struct err *err)
{
	if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL) == SQLITE_OK)
		return 0;
	return refuse(s, "has tables that were not expected", err);
}

static int
read_count(struct store_sqlite *s, struct err *err)
{
	sqlite3_stmt *query;
	int rc;

	if (prepare(s, "SELECT coalesce(max(id), 0) FROM fact", &query, err) != 0)
		return -1;
	rc = sqlite3_step(query);
	if (rc == SQLITE_ROW)
		s->count = sqlite3_column_int64(query, 0);
	else
		refuse(s, "cannot be read", err);
	sqlite3_finalize(query);
	return rc == SQLITE_ROW ? 0 : -1;
}

/* SQLite answers with the mode that is in force, which is another one where a file system cannot
 * do what WAL needs. */
static int
use_wal(struct store_sqlite *s, struct err *err)
{
	sqlite3_stmt *query;
	char mode[16] = "none";

	if (prepare(s, "PRAGMA journal_mode = WAL", &query, err) != 0)
		return -1;
	if (sqlite3_step(query) == SQLITE_ROW)
		mem_copy_text(mode, sizeof mode, (const char *)sqlite3_column_text(query, 0));
	if (sqlite3_finalize(query) != SQLITE_OK)
		return refuse(s, "cannot be opened", err);
	if (strcmp(mode, "wal") != 0)
		return err_set(err,
		    "journal %s: its file system cannot keep it safe (SQLite's WAL is "
		    "refused, mode %s); use a local disk",
		    s->path, mode);
	return 0;
}

static int
open_database(struct store_sqlite *s, struct err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;

	if (sqlite3_open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK ||
	    run(s, "PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL") != 0)
		return refuse(s, "cannot be opened", err);
	if (store_schema_update(s->db, s->path, store_schema_steps, STORE_SCHEMA_VERSION, err) !=
		0 ||
	    use_wal(s, err) != 0)
		return -1;
	if (prepare(s,
		"INSERT INTO fact (id, wall_us, kind, round, build, attempt, host, body) "
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		&s->insert, err) != 0 ||
	    prepare(s, "SELECT id, body FROM fact WHERE id > ? ORDER BY id", &s->select, err) != 0)
		return -1;
	return read_count(s, err);
}

struct store *
store_open_sqlite(const char *path, struct err *err)
{
	static const struct store_calls calls = { sqlite_close, sqlite_append, sqlite_rewind,
		sqlite_next, sqlite_count };
	struct store_sqlite *s = mem_calloc(1, sizeof *s);

	s->store.calls = &calls;
	s->path = mem_strdup(path);
	s->lock = -1;
	if (take_lock(s, err) == 0 && open_database(s, err) == 0 && sync_folder(s, err) == 0)
		return &s->store;
	sqlite_close(&s->store);
	return NULL;
}
