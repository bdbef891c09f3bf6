/* The system's view of processes, asked about processes that this test makes.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/os.h"

/* sh runs script, with the tag in its environment; returns when the script has printed a line. */
static pid_t
start(const char *script, const char *tag)
{
	int fds[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execle("/bin/sh", "sh", "-c", script, (char *)NULL,
		    (char *[]){ (char *)tag, (char *)"PATH=/usr/bin:/bin", NULL });
		_exit(127);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	return pid;
}

static void
reap(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
}

static size_t
count_named(const struct os_process *list, size_t n, const char *name)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		found += strcmp(list[i].name, name) == 0 && !list[i].zombie;
	return found;
}

/* Lists what is tagged, or below us without a tag, until so many have the name; fork and exec
 * take their time. */
static void
list_until(const char *entry, const char *name, size_t want, struct os_process **list, size_t *n)
{
	for (int tries = 0;; tries++) {
		int rc = entry != NULL ? os_tagged_list(entry, list, n, NULL)
				       : os_tree_list(getpid(), list, n, NULL);

		assert_int_equal(rc, 0);
		if (count_named(*list, *n, name) == want)
			return;
		assert_true(tries < 500);
		free(*list);
		usleep(10000);
	}
}

static int
kill_what_is_left(void **state)
{
	(void)state;
	return os_tree_kill(getpid(), 5 * SECOND_US, NULL);
}

static void
test_the_tree_has_children_and_theirs(void **state)
{
	pid_t pid = start("sleep 400 & sh -c 'sleep 401 & echo; wait' & wait", "A=1");
	struct os_process *list;
	struct err err;
	size_t n;

	(void)state;
	list_until(NULL, "sleep", 2, &list, &n);
	assert_int_equal(count_named(list, n, "sh"), 2);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(list[i].session, getsid(0));
	free(list);
	assert_int_equal(os_tree_kill(getpid(), 5 * SECOND_US, &err), 0);
	reap(pid);
}

static void
test_the_tagged_are_found_wherever_they_fled_and_others_live(void **state)
{
	const char *entry = "FLYBALL_TAG=agent-os-test";
	pid_t canary = start("echo; exec sleep 402", "FLYBALL_TAG=agent-os-test-2");
	pid_t pid = start("(setsid sh -c 'sleep 403 & env -i sleep 404 & echo; wait' &)", entry);
	struct os_process *list;
	struct err err;
	size_t n;

	(void)state;
	reap(pid); /* the one we started is gone, its grandchildren are not ours */
	list_until(entry, "sleep", 1, &list, &n);
	free(list);
	assert_int_equal(os_tagged_kill(entry, 5 * SECOND_US, &err), 0);
	assert_int_equal(os_tagged_list(entry, &list, &n, &err), 0);
	assert_int_equal(n, 0);
	free(list);
	assert_int_equal(kill(canary, 0), 0);
	kill(canary, SIGKILL);
	reap(canary);
}

static void
test_the_facts_of_this_machine_are_there(void **state)
{
	struct host_facts facts = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(os_host_facts(&facts, &err), 0);
	assert_true(facts.threads >= 1);
	assert_true(facts.memory_bytes > 1 << 20);
	assert_true(strlen(facts.boot_id) > 8 && strchr(facts.boot_id, '\n') == NULL);
	assert_true(facts.os[0] != '\0' && facts.release[0] != '\0' && facts.cpu[0] != '\0');
}

static void
test_bytes_in_a_pipe_are_counted(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(os_pipe_bytes(fds[0]), 0);
	assert_int_equal(write(fds[1], "+++", 3), 3);
	assert_int_equal(os_pipe_bytes(fds[0]), 3);
	close(fds[0]);
	close(fds[1]);
}

static void
test_a_mount_is_told_from_a_folder(void **state)
{
	int root = open("/proc", O_RDONLY | O_DIRECTORY);
	int below = open("/proc/self", O_RDONLY | O_DIRECTORY);

	(void)state;
	assert_true(root >= 0 && below >= 0);
	assert_true(os_is_mount(root));
	assert_false(os_is_mount(below));
	close(root);
	close(below);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_tree_has_children_and_theirs),
		cmocka_unit_test(test_the_tagged_are_found_wherever_they_fled_and_others_live),
		cmocka_unit_test(test_the_facts_of_this_machine_are_there),
		cmocka_unit_test(test_bytes_in_a_pipe_are_counted),
		cmocka_unit_test(test_a_mount_is_told_from_a_folder),
	};

	return cmocka_run_group_tests_name("operating system", tests, NULL, kill_what_is_left);
}
