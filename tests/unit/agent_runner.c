/* The runner and a keeper that is slow.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/runner.h"
#include "proto/base/mem.h"

enum { MANY = 5000, PATIENCE_MS = 20000 };

struct rig {
	char state[64];
	struct loop *loop;
	struct spool *spool;
	struct runner *runner;
	int listen_fd, wake[2];
	pid_t keeper;
};

static void
on_adopted(void *arg, const struct message_start *start, const struct attempt_status *status)
{
	(void)arg;
	(void)start;
	(void)status;
}

static void
on_stat(void *arg, attempt_id id, const struct attempt_status *status)
{
	(void)arg;
	(void)id;
	(void)status;
}

static void
on_ended(void *arg, const struct message_attempt *attempt)
{
	(void)arg;
	(void)attempt;
}

/* Greets, hears nothing until it is woken, and then goes on until somebody cancels. */
static void __attribute__((noreturn)) be_keeper(const struct rig *rig)
{
	int fd = accept(rig->listen_fd, NULL, NULL);
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	char text[2048];
	ssize_t n;

	alarm(PATIENCE_MS / 1000 * 2);
	if (recv(fd, text, sizeof text, 0) <= 0 || send(fd, "hello 1 1", 9, MSG_NOSIGNAL) != 9 ||
	    read(rig->wake[0], text, 1) != 1)
		_exit(2);
	while (poll(&wait, 1, PATIENCE_MS) == 1 && (n = recv(fd, text, sizeof text - 1, 0)) > 0) {
		text[n] = '\0';
		if (strncmp(text, "cancel no longer wanted", 23) == 0)
			_exit(0);
	}
	_exit(1);
}

static int
set_up(void **state)
{
	static const struct config config = { .keeper = (char *)"/nonexistent" };
	static const struct recipe_list recipes;
	const struct runner_callbacks callbacks = { on_adopted, on_stat, on_ended, NULL };
	struct order order = { .start = { .id = { 1 }, .fence = 1 },
		.program = "/p",
		.work = "/w",
		.out = "/o",
		.tag = "1-0",
		.limit = 1,
		.log_cap_bytes = 4096 };
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct rig *rig = mem_calloc(1, sizeof *rig);
	struct err err;
	char *folder;

	strcpy(rig->state, "/tmp/flyball-runner.XXXXXX");
	if (mkdtemp(rig->state) == NULL)
		return -1;
	rig->loop = loop_create();
	rig->spool = spool_open(rig->state, &err);
	rig->runner = runner_create(rig->loop, &config, &recipes, rig->spool, &callbacks);
	folder = spool_folder(rig->spool, order.start.id);
	snprintf(address.sun_path, sizeof address.sun_path, "%s/keeper.sock", folder);
	rig->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	if (spool_add(rig->spool, order.start.id, &err) != 0 ||
	    order_write(folder, &order, &err) != 0 ||
	    bind(rig->listen_fd, (struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(rig->listen_fd, 1) != 0 || pipe(rig->wake) != 0)
		return -1;
	free(folder);
	rig->keeper = fork();
	if (rig->keeper == 0)
		be_keeper(rig);
	*state = rig;
	return runner_adopt(rig->runner, &err);
}

static int
tear_down(void **state)
{
	struct rig *rig = *state;
	char command[128];

	if (rig->keeper > 0) {
		kill(rig->keeper, SIGKILL);
		waitpid(rig->keeper, NULL, 0);
	}
	runner_destroy(rig->runner);
	spool_close(rig->spool);
	loop_destroy(rig->loop);
	close(rig->listen_fd);
	close(rig->wake[0]);
	close(rig->wake[1]);
	snprintf(command, sizeof command, "rm -rf %s", rig->state);
	free(rig);
	return system(command);
}

/* A command is acknowledged when it has been taken, so it must reach the keeper in the end. */
static void
a_cancel_reaches_a_keeper_that_was_stopped(void **state)
{
	struct rig *rig = *state;
	int status = -1, i;

	assert_int_equal(runner_living(rig->runner), 1);
	for (i = 0; i < MANY; i++)
		runner_limit(rig->runner, (attempt_id){ 1 }, 1 + i % 2);
	runner_cancel(rig->runner, (attempt_id){ 1 }, "no longer wanted");
	assert_int_equal(write(rig->wake[1], "", 1), 1);
	for (i = 0; i < PATIENCE_MS / 10 && waitpid(rig->keeper, &status, WNOHANG) == 0; i++) {
		runner_tick(rig->runner);
		poll(NULL, 0, 10);
	}
	rig->keeper = 0;
	assert_int_equal(status, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
		    a_cancel_reaches_a_keeper_that_was_stopped, set_up, tear_down),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("the runner", tests, NULL, NULL);
}
