/* What both stores promise, then what the one on disk promises beyond: whole batches whatever
 * happens, one owner, no file of another schema, damage told by row.
 *
 * io_store --fixture FILE.db writes the database that is kept of a release, and its lines beside.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/io/store.h"
#include "coordinator/io/store_schema.h"
#include "proto/base/mem.h"

static char folder[] = "/tmp/flyball-store-XXXXXX";
static char *path; /* of the database in it */

/* ---- facts ------------------------------------------------------------------------------ */

static void
random_text(char *buf, size_t size)
{
	size_t i, n = (size_t)random() % size;

	for (i = 0; i < n; i++)
		buf[i] = (char)(random() % 255 + 1);
	buf[n] = '\0';
}

static int64_t
random_number(void)
{
	uint64_t n = ((uint64_t)random() << 33) ^ ((uint64_t)random() << 2) ^ (uint64_t)random();

	return random() % 4 == 0 ? 0 : (int64_t)(n >> (1 + random() % 62));
}

static struct policy *
make_policy(const char *target)
{
	struct policy *p = policy_create();

	mem_copy_text(p->branch, sizeof p->branch, "zstd-1.5.4");
	mem_copy_text(p->recipe, sizeof p->recipe, "gmake");
	mem_copy_text(p->source, sizeof p->source, "/src/zstd-1.5.4");
	p->jobs_min = 1;
	p->jobs_max = 16;
	p->ntargets = 1;
	p->targets = mem_calloc(1, sizeof *p->targets);
	mem_copy_text(p->targets[0].name, sizeof p->targets[0].name, target);
	p->targets[0].needs.nlabels = 1;
	p->targets[0].needs.labels = mem_calloc(1, sizeof *p->targets[0].needs.labels);
	mem_copy_text(p->targets[0].needs.labels[0], NAME_SIZE, "tmpfs");
	return p;
}

static void
add_parts(struct fact *f)
{
	if (f->kind == FACT_POLICY)
		f->policy = make_policy("lib-release");
	if (f->kind == FACT_HOST) {
		f->facts = mem_calloc(1, sizeof *f->facts);
		mem_copy_text(f->facts->cpu, sizeof f->facts->cpu, "Pentium (TM) 75 % \t");
		f->facts->threads = 24;
	}
	if (f->kind == FACT_ENDED) {
		f->status = mem_calloc(1, sizeof *f->status);
		f->status->percent = -1;
		f->result = mem_calloc(1, sizeof *f->result);
		f->result->outcome = OUTCOME_OK;
		f->result->nphases = 1;
		f->result->phases = mem_calloc(1, sizeof *f->result->phases);
		mem_copy_text(f->result->phases[0].name, NAME_SIZE, "link");
	}
}

static struct fact
random_fact(void)
{
	struct fact f = { .kind = (enum fact_kind)(random() % (FACT_KINDS - 1) + 1) };

	f.at.us = random_number();
	f.round.n = (uint64_t)random_number();
	f.build.n = (uint64_t)random_number();
	f.attempt.n = (uint64_t)random_number();
	f.fence = (uint64_t)random_number();
	f.number = (uint64_t)random_number();
	f.limit = (int32_t)random();
	f.duration_us = -random_number();
	random_text(f.host, sizeof f.host);
	random_text(f.branch, sizeof f.branch);
	random_text(f.revision, sizeof f.revision);
	random_text(f.text, sizeof f.text);
	add_parts(&f);
	return f;
}

static char *
line_of(const struct fact *fact)
{
	struct text t = { 0 };

	fact_encode(fact, &t);
	return t.text;
}

/* One of each kind, always the same: what the fixture holds. */
static struct fact
sample_fact(int kind)
{
	struct fact f = { .kind = (enum fact_kind)kind,
		.at = { INT64_C(1700000000000000) + kind } };

	f.round.n = 1;
	f.build.n = 2;
	f.attempt.n = 3;
	f.fence = 4;
	f.number = 5;
	f.limit = 6;
	f.duration_us = 2 * HOUR_US;
	f.verdict = VERDICT_OK;
	mem_copy_text(f.host, sizeof f.host, "h1");
	mem_copy_text(f.branch, sizeof f.branch, "zstd-1.5.4");
	mem_copy_text(f.target, sizeof f.target, "lib-release");
	mem_copy_text(f.revision, sizeof f.revision, "1.5.4");
	mem_copy_text(f.who, sizeof f.who, "alice");
	mem_copy_text(f.text, sizeof f.text, "it is (nearly) 100 % done,\nsays \"alice\" \xc3\xa9");
	add_parts(&f);
	return f;
}

/* ---- helpers ---------------------------------------------------------------------------- */

static void
remove_files(void)
{
	static const char *const ends[] = { "", "-wal", "-shm", "-journal", ".lock" };
	size_t i;

	for (i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		char *name = mem_printf("%s%s", path, ends[i]);

		unlink(name);
		free(name);
	}
}

static struct store *
open_sqlite(void)
{
	struct err err = { "" };
	struct store *store = store_open_sqlite(path, &err);

	if (store == NULL)
		fail_msg("%s", err.text);
	return store;
}

static void
append(struct store *store, const struct fact *fact)
{
	struct err err = { "" };

	if (store_append(store, &fact, 1, &err) != 0)
		fail_msg("%s", err.text);
}

static void
append_samples(struct store *store)
{
	int kind;

	for (kind = FACT_NONE + 1; kind < FACT_KINDS; kind++) {
		struct fact f = sample_fact(kind);

		append(store, &f);
		fact_clear(&f);
	}
}

static void
expect_next(struct store *store, const char *line)
{
	struct err err = { "" };
	struct fact f;
	char *got;

	if (store_next(store, &f, &err) != 1)
		fail_msg("expected %s, and there is no fact: %s", line, err.text);
	got = line_of(&f);
	assert_string_equal(got, line);
	free(got);
	fact_clear(&f);
}

static void
expect_end(struct store *store)
{
	struct err err = { "" };
	struct fact f;

	if (store_next(store, &f, &err) != 0)
		fail_msg("expected the end: %s", err.text);
}

static void
expect_refused(const char *file, const char *sentence)
{
	struct err err = { "" };
	struct store *store = store_open_sqlite(file, &err);

	if (store != NULL) {
		store_close(store);
		fail_msg("was opened; expected: %s", sentence);
	}
	if (strstr(err.text, sentence) == NULL || strstr(err.text, file) == NULL)
		fail_msg("said: %s\nexpected: %s", err.text, sentence);
}

/* What another program, or an operator with sqlite3, does to the file. */
static void
run_sql(const char *sql)
{
	sqlite3 *db;
	char *message = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
		fail_msg("%s: %s", sql, message);
	sqlite3_close(db);
}

/* ---- both stores ------------------------------------------------------------------------ */

struct opener {
	const char *what;
	struct store *(*open)(void);
};

static struct opener openers[] = {
	{ "SQLite", open_sqlite },
	{ "memory", store_open_memory },
};

static struct store *
open_by(void **state)
{
	const struct opener *opener = *state;

	print_message("# %s\n", opener->what);
	remove_files();
	return opener->open();
}

static void
gives_back_random_facts_to_the_letter(void **state)
{
	enum { BATCHES = 60, MOST = 12 };
	struct store *store = open_by(state);
	unsigned seed = (unsigned)getpid();
	char *lines[BATCHES * MOST];
	size_t n = 0, i;
	int batch;

	print_message("# seed %u\n", seed);
	srandom(seed);
	for (batch = 0; batch < BATCHES; batch++) {
		struct fact facts[MOST];
		const struct fact *list[MOST];
		struct err err = { "" };
		size_t k, size = (size_t)random() % (MOST + 1);

		for (k = 0; k < size; k++) {
			facts[k] = random_fact();
			list[k] = &facts[k];
			lines[n++] = line_of(&facts[k]);
		}
		assert_int_equal(store_append(store, list, size, &err), 0);
		for (k = 0; k < size; k++)
			fact_clear(&facts[k]);
	}
	assert_int_equal(store_count(store), n);
	for (i = 0; i < n; i++) {
		expect_next(store, lines[i]);
		free(lines[i]);
	}
	expect_end(store);
	store_close(store);
}

static void
an_empty_store_is_at_its_end(void **state)
{
	struct store *store = open_by(state);
	struct err err = { "" };

	assert_int_equal(store_count(store), 0);
	expect_end(store);
	assert_int_equal(store_append(store, NULL, 0, &err), 0);
	assert_int_equal(store_rewind(store, &err), 0);
	expect_end(store);
	store_close(store);
}

static void
reading_goes_on_with_what_was_appended_meanwhile(void **state)
{
	struct store *store = open_by(state);
	struct fact a = sample_fact(FACT_EPOCH), b = sample_fact(FACT_BUILD),
		    c = sample_fact(FACT_LIMIT);
	char *la = line_of(&a), *lb = line_of(&b), *lc = line_of(&c);
	struct err err = { "" };

	append(store, &a);
	append(store, &b);
	expect_next(store, la);
	append(store, &c);
	expect_next(store, lb);
	expect_next(store, lc);
	expect_end(store);
	append(store, &a);
	expect_next(store, la);
	assert_int_equal(store_rewind(store, &err), 0);
	expect_next(store, la);
	expect_next(store, lb);
	assert_int_equal(store_rewind(store, &err), 0);
	expect_next(store, la);
	assert_int_equal(store_count(store), 4);
	store_close(store);
	free(la);
	free(lb);
	free(lc);
}

/* ---- on disk ---------------------------------------------------------------------------- */

static void
facts_are_there_when_it_is_opened_again(void **state)
{
	struct store *store;
	int round, kind;

	(void)state;
	remove_files();
	for (round = 0; round < 3; round++) {
		store = open_sqlite();
		assert_int_equal(store_count(store), round * (FACT_KINDS - 1));
		append_samples(store);
		store_close(store);
	}
	store = open_sqlite();
	for (kind = 0; kind < 3 * (FACT_KINDS - 1); kind++) {
		struct fact f = sample_fact(kind % (FACT_KINDS - 1) + 1);
		char *line = line_of(&f);

		expect_next(store, line);
		free(line);
		fact_clear(&f);
	}
	expect_end(store);
	store_close(store);
}

static void
a_second_coordinator_is_refused(void **state)
{
	struct store *store;
	char *sentence = mem_printf("another coordinator (process %ld) has it", (long)getpid());

	(void)state;
	remove_files();
	store = open_sqlite();
	expect_refused(path, sentence);
	store_close(store);
	store_close(open_sqlite());
	free(sentence);
}

static void
people_may_read_it_meanwhile(void **state)
{
	struct store *store;

	(void)state;
	remove_files();
	store = open_sqlite();
	append_samples(store);
	run_sql("SELECT kind, datetime(wall_us / 1000000, 'unixepoch'), host FROM fact WHERE build "
		"= 2");
	append_samples(store);
	store_close(store);
}

static void
another_writer_is_told_and_waited_for(void **state)
{
	struct fact f = sample_fact(FACT_EPOCH);
	const struct fact *list = &f;
	struct err err = { "" };
	struct store *store;
	sqlite3 *db;

	(void)state;
	remove_files();
	store = open_sqlite();
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(store_append(store, &list, 1, &err), -1);
	assert_non_null(strstr(err.text, "another program is writing to it"));
	sqlite3_close(db);
	append(store, &f);
	assert_int_equal(store_count(store), 1);
	store_close(store);
}

static void
a_later_schema_is_refused(void **state)
{
	(void)state;
	remove_files();
	store_close(open_sqlite());
	run_sql("PRAGMA user_version = 7");
	expect_refused(path,
	    "it has schema version 7, and this coordinator knows versions up to 1; "
	    "start the newer coordinator that wrote it");
}

static void
a_file_of_another_program_is_refused_and_left_alone(void **state)
{
	(void)state;
	remove_files();
	run_sql("CREATE TABLE fact (id INTEGER); PRAGMA user_version = 1");
	expect_refused(path, "it is a SQLite file of another program");
	run_sql("INSERT INTO fact VALUES (1); DROP TABLE fact; CREATE TABLE cookies (id INTEGER)");
	expect_refused(path, "it is a SQLite file of another program");
}

static void
a_file_that_is_no_database_is_refused(void **state)
{
	FILE *file;
	int i;

	(void)state;
	remove_files();
	file = fopen(path, "w");
	assert_non_null(file);
	for (i = 0; i < 1000; i++)
		fputs("jobs = 4\n", file);
	assert_int_equal(fclose(file), 0);
	expect_refused(path, "it is no SQLite file");
}

static void
a_folder_that_is_not_there_is_named(void **state)
{
	char *name = mem_printf("%s/no/such/journal.db", folder);

	(void)state;
	expect_refused(name, "cannot be opened for writing: No such file or directory");
	free(name);
}

struct damage {
	const char *what, *sql, *sentence;
};

static const struct damage damages[] = {
	{ "a row is missing", "DELETE FROM fact WHERE id = 3", "row 3 is missing" },
	{ "the first row is missing", "DELETE FROM fact WHERE id = 1", "row 1 is missing" },
	{ "a body is cut", "UPDATE fact SET body = substr(body, 1, length(body) - 1) WHERE id = 2",
	    "row 2 is damaged: " },
	{ "a body goes on", "UPDATE fact SET body = body || ' ' WHERE id = 2",
	    "row 2 is damaged: " },
	{ "a body is empty", "UPDATE fact SET body = '' WHERE id = 4", "row 4 is damaged: " },
	{ "a kind is unknown", "UPDATE fact SET body = 'party (at=1)' WHERE id = 4",
	    "row 4 is damaged: expected the name of a fact at \"party" },
	{ "a field is unknown", "UPDATE fact SET body = 'epoch (colour=1)' WHERE id = 4",
	    "row 4 is damaged: " },
	{ "a body holds a zero byte", "UPDATE fact SET body = body || char(0) || 'x' WHERE id = 2",
	    "row 2 is damaged: " },
};

static void
damage_is_told_by_file_and_row(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof damages / sizeof damages[0]; i++) {
		struct err err = { "" };
		struct store *store;
		struct fact f;
		int rc;

		remove_files();
		store = open_sqlite();
		append_samples(store);
		store_close(store);
		run_sql(damages[i].sql);
		store = open_sqlite();
		while ((rc = store_next(store, &f, &err)) == 1)
			fact_clear(&f);
		store_close(store);
		if (rc != -1 || strstr(err.text, damages[i].sentence) == NULL ||
		    strstr(err.text, path) == NULL)
			fail_msg("%s, and it said: %s", damages[i].what, err.text);
	}
}

static void
a_cut_file_is_never_read_as_whole(void **state)
{
	struct err err = { "" };
	struct store *store;
	struct stat st;
	struct fact f;
	int i, rc = -1;

	(void)state;
	remove_files();
	store = open_sqlite();
	for (i = 0; i < 50; i++)
		append_samples(store);
	store_close(store);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(truncate(path, st.st_size / 2 / 4096 * 4096), 0);
	store = store_open_sqlite(path, &err);
	if (store != NULL)
		while ((rc = store_next(store, &f, &err)) == 1)
			fact_clear(&f);
	store_close(store);
	assert_int_equal(rc, -1);
	assert_non_null(strstr(err.text, "damaged"));
}

/* ---- schema ----------------------------------------------------------------------------- */

static int
update(const char *const *steps, int nsteps, struct err *err)
{
	sqlite3 *db;
	int rc;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	rc = store_schema_update(db, path, steps, nsteps, err);
	assert_true(sqlite3_get_autocommit(db));
	sqlite3_close(db);
	return rc;
}

static void
missing_steps_are_made_in_order_and_together(void **state)
{
	const char *const steps[] = { store_schema_steps[0],
		"ALTER TABLE fact ADD COLUMN colour TEXT; UPDATE fact SET colour = 'red'",
		"CREATE INDEX fact_colour ON fact (colour)", "SELECT no_such FROM fact" };
	struct err err = { "" };
	struct store *store;

	(void)state;
	remove_files();
	store = open_sqlite();
	append_samples(store);
	store_close(store);
	assert_int_equal(update(steps, 4, &err), -1);
	assert_non_null(strstr(err.text, "cannot be brought to this version: no such column"));
	store_close(open_sqlite());
	assert_int_equal(update(steps, 3, &err), 0);
	assert_int_equal(update(steps, 3, &err), 0);
	run_sql("UPDATE fact SET colour = 'blue' WHERE colour = 'red'");
	expect_refused(path, "it has schema version 3");
}

static void
copy_file(const char *from, const char *to)
{
	char buf[65536];
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	size_t n;

	assert_non_null(in);
	assert_non_null(out);
	while ((n = fread(buf, 1, sizeof buf, in)) > 0)
		assert_int_equal(fwrite(buf, 1, n, out), n);
	fclose(in);
	assert_int_equal(fclose(out), 0);
}

/* Each release's fixture, made by --fixture, stays in this table. */
static void
the_databases_of_all_releases_are_read(void **state)
{
	static const char *const releases[] = { "0.1.0" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof releases / sizeof releases[0]; i++) {
		char *db = mem_printf("tests/fixtures/journal-%s.db", releases[i]);
		char *txt = mem_printf("tests/fixtures/journal-%s.txt", releases[i]);
		FILE *lines = fopen(txt, "r");
		char *line = NULL;
		size_t size = 0, n = 0;
		struct store *store;

		assert_non_null(lines);
		remove_files();
		copy_file(db, path);
		store = open_sqlite();
		for (; getline(&line, &size, lines) > 0; n++) {
			line[strcspn(line, "\n")] = '\0';
			expect_next(store, line);
		}
		expect_end(store);
		assert_true(n > 0);
		append_samples(store);
		store_close(store);
		fclose(lines);
		free(line);
		free(db);
		free(txt);
	}
}

/* ---- trouble ---------------------------------------------------------------------------- */

static struct fact
batch_fact(int64_t batch, int of, int i)
{
	struct fact f = {
		.kind = FACT_LIMIT, .limit = i, .number = (uint64_t)batch, .duration_us = of
	};

	memset(f.text, 'x', sizeof f.text - 1);
	return f;
}

static int
append_batch(struct store *store, int64_t batch, int size, struct err *err)
{
	struct fact *facts = mem_calloc((size_t)size, sizeof *facts);
	const struct fact **list = mem_calloc((size_t)size, sizeof(struct fact *));
	int i, rc;

	for (i = 0; i < size; i++) {
		facts[i] = batch_fact(batch, size, i);
		list[i] = &facts[i];
	}
	rc = store_append(store, list, (size_t)size, err);
	free(list);
	free(facts);
	return rc;
}

/* Appends batch after batch and reports each that is safe, until it is killed. */
static void
append_for_ever(int report, int64_t batch)
{
	struct store *store = store_open_sqlite(path, NULL);

	while (store != NULL && append_batch(store, batch, (int)(batch % 7 + 1), NULL) == 0) {
		if (write(report, &batch, sizeof batch) != sizeof batch)
			break;
		batch++;
	}
	_exit(1);
}

/* The last batch that a child reported before it was killed, at some point of its work. */
static int64_t
kill_amid_appending(int64_t first)
{
	int64_t batch, last = first - 1, stop = first + random() % 12;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		append_for_ever(ends[1], first);
	close(ends[1]);
	while (last < stop && read(ends[0], &batch, sizeof batch) == sizeof batch)
		last = batch;
	usleep((useconds_t)(random() % 700)); /* where it dies is left to chance */
	kill(child, SIGKILL);
	while (read(ends[0], &batch, sizeof batch) == sizeof batch)
		last = batch;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	return last;
}

/* Reads all batches, each whole; the number of the last. */
static int64_t
check_batches(struct store *store)
{
	int64_t batch = 0;
	struct fact f;
	struct err err = { "" };
	int i = 0, of = 0, rc;

	while ((rc = store_next(store, &f, &err)) == 1) {
		if (i == of) {
			batch++;
			i = 0;
			of = (int)f.duration_us;
		}
		assert_int_equal(f.number, batch);
		assert_int_equal(f.duration_us, batch % 7 + 1);
		assert_int_equal(f.limit, i++);
		fact_clear(&f);
	}
	if (rc != 0)
		fail_msg("%s", err.text);
	assert_int_equal(i, of);
	return batch;
}

static void
after_kill_9_all_reported_batches_are_there_and_whole(void **state)
{
	int rounds = getenv("FLYBALL_LONG") != NULL ? 200 : 25;
	unsigned seed = (unsigned)getpid();
	int64_t last = 0;

	(void)state;
	print_message("# seed %u\n", seed);
	srandom(seed);
	remove_files();
	while (rounds-- > 0) {
		int64_t reported = kill_amid_appending(last + 1);
		struct store *store = open_sqlite();

		last = check_batches(store);
		assert_true(last >= reported);
		store_close(store);
	}
}

static void
expect_kept(struct store *store, int64_t batches)
{
	struct err err = { "" };

	assert_int_equal(store_rewind(store, &err), 0);
	assert_int_equal(check_batches(store), batches);
}

/* A file may grow no further: to SQLite as to us a disk that takes no more. */
static void
a_failed_append_keeps_nothing_and_it_works_again(void **state)
{
	struct rlimit was, tight;
	struct err err = { "" };
	struct store *store;
	int64_t batch = 0, count;

	(void)state;
	remove_files();
	store = open_sqlite();
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	tight = was;
	tight.rlim_cur = 100000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	while (append_batch(store, batch + 1, (int)((batch + 1) % 7 + 1), &err) == 0)
		batch++;
	count = store_count(store);
	assert_int_equal(append_batch(store, batch + 1, 7, &err), -1);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	print_message("# %s\n", err.text);
	assert_non_null(strstr(err.text, "cannot be written"));
	assert_int_equal(store_count(store), count);
	expect_kept(store, batch);
	assert_int_equal(append_batch(store, batch + 1, (int)((batch + 1) % 7 + 1), &err), 0);
	expect_kept(store, batch + 1);
	store_close(store);
	store = open_sqlite();
	expect_kept(store, batch + 1);
	store_close(store);
}

static char disk[64], ballast[80], *outside;

static void
fill_disk(void)
{
	static const char zeros[4096];
	int fd = open(ballast, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	while (write(fd, zeros, sizeof zeros) > 0)
		;
	assert_int_equal(errno, ENOSPC);
	close(fd);
}

/* In a chroot / is no mount that could be made private; then there is nothing to keep it from. */
static bool
mount_disk(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       (mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 || errno == EINVAL) &&
	       mount("flyball", disk, "tmpfs", 0, "size=1m") == 0;
}

/* From here on the database is on a disk of 1 MB: a mount of this process's own, that goes with it.
 * False, and said, where mounting is not allowed. */
static bool
enter_small_disk(void)
{
	snprintf(disk, sizeof disk, "%s/disk", folder);
	snprintf(ballast, sizeof ballast, "%s/ballast", disk);
	assert_int_equal(mkdir(disk, 0700), 0);
	if (!mount_disk()) {
		print_message(
		    "# skipped: a small disk cannot be mounted here: %s\n", strerror(errno));
		rmdir(disk);
		return false;
	}
	outside = path;
	path = mem_printf("%s/journal.db", disk);
	return true;
}

static void
leave_small_disk(void)
{
	umount(disk);
	rmdir(disk);
	free(path);
	path = outside;
}

static void
a_full_disk_is_said_and_recovered_from(void **state)
{
	struct err err = { "" };
	struct store *store;

	(void)state;
	if (!enter_small_disk())
		return;
	store = open_sqlite();
	assert_int_equal(append_batch(store, 1, 2, &err), 0);
	fill_disk();
	assert_int_equal(append_batch(store, 2, 100, &err), -1);
	print_message("# %s\n", err.text);
	assert_non_null(strstr(err.text, "the disk is full"));
	assert_int_equal(store_count(store), 2);
	expect_kept(store, 1);
	unlink(ballast);
	assert_int_equal(append_batch(store, 2, 3, &err), 0);
	expect_kept(store, 2);
	store_close(store);
	store = open_sqlite();
	expect_kept(store, 2);
	store_close(store);

	remove_files();
	fill_disk();
	expect_refused(path, "the disk is full; make room on it");
	leave_small_disk();
}

static void
what_can_only_be_read_is_said(void **state)
{
	(void)state;
	if (!enter_small_disk())
		return;
	store_close(open_sqlite());
	assert_int_equal(mount("none", disk, "tmpfs", MS_REMOUNT | MS_RDONLY, NULL), 0);
	expect_refused(path, "cannot be opened for writing: Read-only file system");
	leave_small_disk();
}

/* ---- main ------------------------------------------------------------------------------- */

static int
make_folder(void **state)
{
	(void)state;
	if (mkdtemp(folder) == NULL)
		return -1;
	path = mem_printf("%s/journal.db", folder);
	return 0;
}

static int
remove_folder(void **state)
{
	(void)state;
	remove_files();
	rmdir(folder);
	free(path);
	return 0;
}

static int
write_fixture(const char *file)
{
	char *txt = mem_printf("%.*s.txt", (int)(strlen(file) - strlen(".db")), file);
	FILE *lines = fopen(txt, "w");
	struct store *store;
	int kind;

	path = mem_strdup(file);
	store = store_open_sqlite(path, NULL);
	for (kind = FACT_NONE + 1; kind < FACT_KINDS && store != NULL && lines != NULL; kind++) {
		struct fact f = sample_fact(kind);
		const struct fact *list = &f;
		char *line = line_of(&f);

		fprintf(lines, "%s\n", line);
		store_append(store, &list, 1, NULL);
		free(line);
		fact_clear(&f);
	}
	store_close(store);
	free(txt);
	free(path);
	return lines != NULL && fclose(lines) == 0 && store != NULL ? 0 : 1;
}

#define BOTH(f) \
	{ #f " (SQLite)", f, NULL, NULL, &openers[0] }, \
	{ \
#f " (memory)", f, NULL, NULL, &openers[1] \
	}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		BOTH(gives_back_random_facts_to_the_letter),
		BOTH(an_empty_store_is_at_its_end),
		BOTH(reading_goes_on_with_what_was_appended_meanwhile),
		cmocka_unit_test(facts_are_there_when_it_is_opened_again),
		cmocka_unit_test(a_second_coordinator_is_refused),
		cmocka_unit_test(people_may_read_it_meanwhile),
		cmocka_unit_test(another_writer_is_told_and_waited_for),
		cmocka_unit_test(a_later_schema_is_refused),
		cmocka_unit_test(a_file_of_another_program_is_refused_and_left_alone),
		cmocka_unit_test(a_file_that_is_no_database_is_refused),
		cmocka_unit_test(a_folder_that_is_not_there_is_named),
		cmocka_unit_test(damage_is_told_by_file_and_row),
		cmocka_unit_test(a_cut_file_is_never_read_as_whole),
		cmocka_unit_test(missing_steps_are_made_in_order_and_together),
		cmocka_unit_test(the_databases_of_all_releases_are_read),
		cmocka_unit_test(after_kill_9_all_reported_batches_are_there_and_whole),
		cmocka_unit_test(a_failed_append_keeps_nothing_and_it_works_again),
		cmocka_unit_test(a_full_disk_is_said_and_recovered_from),
		cmocka_unit_test(what_can_only_be_read_is_said),
	};

	if (argc == 3 && strcmp(argv[1], "--fixture") == 0)
		return write_fixture(argv[2]);
	return cmocka_run_group_tests_name("store of facts", tests, make_folder, remove_folder);
}
