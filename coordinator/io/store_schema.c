/* The version stands in the file's header (user_version), beside an application_id by which we
 * know a file of ours from one of somebody else's. All missing steps are one transaction: a file
 * is of the old version or of the new one, whatever happens in between.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include "coordinator/io/store_schema.h"

#include "coordinator/io/store.h"
#include "proto/base/mem.h"

#include <stdlib.h>

#define APPLICATION_ID 0x464c5942 /* "FLYB" */

const char *const store_schema_steps[STORE_SCHEMA_VERSION] = {
#include "coordinator/io/schema.sql.h"
};

int
store_schema_refuse(sqlite3 *db, const char *path, const char *tried, struct err *err)
{
	switch (sqlite3_errcode(db) & 0xff) {
	case SQLITE_FULL:
		return err_set(
		    err, "journal %s: %s: the disk is full; make room on it", path, tried);
	case SQLITE_READONLY:
		return err_set(err,
		    "journal %s: %s: it can only be read; make the file and its folder "
		    "writable",
		    path, tried);
	case SQLITE_BUSY:
		return err_set(err,
		    "journal %s: %s: another program is writing to it; stop that one", path, tried);
	case SQLITE_NOTADB:
		return err_set(err,
		    "journal %s: %s: it is no SQLite file; move it away or name another", path,
		    tried);
	case SQLITE_CORRUPT:
		return err_set(err, "journal %s: %s: it is damaged (%s); put a copy of it back",
		    path, tried, sqlite3_errmsg(db));
	default:
		return err_set(err, "journal %s: %s: %s (SQLite error %d)", path, tried,
		    sqlite3_errmsg(db), sqlite3_extended_errcode(db));
	}
}

static int
ask_number(sqlite3 *db, const char *sql, int *ret_number)
{
	sqlite3_stmt *query;
	int rc = sqlite3_prepare_v2(db, sql, -1, &query, NULL);

	if (rc != SQLITE_OK)
		return -1;
	rc = sqlite3_step(query);
	if (rc == SQLITE_ROW)
		*ret_number = sqlite3_column_int(query, 0);
	sqlite3_finalize(query);
	return rc == SQLITE_ROW ? 0 : -1;
}

static int
check_version(const char *path, int id, int version, int tables, int nsteps, struct err *err)
{
	if (id != APPLICATION_ID && (id != 0 || version != 0 || tables != 0))
		return err_set(err,
		    "journal %s: it is a SQLite file of another program; name another file", path);
	if (version > nsteps)
		return err_set(err,
		    "journal %s: it has schema version %d, and this coordinator knows "
		    "versions up to %d; start the newer coordinator that wrote it, or put back a "
		    "copy from before the upgrade",
		    path, version, nsteps);
	return 0;
}

static int
run(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -1;
}

static int
run_steps(sqlite3 *db, const char *const *steps, int version, int nsteps)
{
	char *mark = mem_printf(
	    "PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", APPLICATION_ID, nsteps);
	int rc = 0;

	for (; version < nsteps && rc == 0; version++)
		rc = run(db, steps[version]);
	if (rc == 0)
		rc = run(db, mark);
	free(mark);
	return rc;
}

int
store_schema_update(
    sqlite3 *db, const char *path, const char *const *steps, int nsteps, struct err *err)
{
	int id, version, tables, rc;

	if (run(db, "BEGIN IMMEDIATE") != 0)
		return store_schema_refuse(db, path, "cannot be opened", err);
	if (ask_number(db, "PRAGMA application_id", &id) != 0 ||
	    ask_number(db, "PRAGMA user_version", &version) != 0 ||
	    ask_number(db, "SELECT count(*) FROM sqlite_schema", &tables) != 0)
		rc = store_schema_refuse(db, path, "cannot be read", err);
	else if (check_version(path, id, version, tables, nsteps, err) != 0)
		rc = -1;
	else if (version < nsteps && run_steps(db, steps, version, nsteps) != 0)
		rc = store_schema_refuse(db, path, "cannot be brought to this version", err);
	else
		rc = 0;
	if (!sqlite3_get_autocommit(db))
		run(db, "ROLLBACK");
	return rc;
}
