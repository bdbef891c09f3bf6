/* flyball-lock-bpf: loads the program into the kernel, hands it over and exits.
 *
 * Loading takes 14 MB at its peak, which the agent shall not have. What it loaded lives on by the
 * descriptors that it sends over the socket that is its standard input; the agent reads the maps
 * by bpf(2) alone. Built without what it needs, it says so instead.
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/sense/lock_bpf.h"
#include "agent/sense/lock_place.h"
#include "proto/base/mem.h"

#ifdef FLYBALL_LOCK_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/* It holds the object as one string. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverlength-strings"
#include "agent/sense/lock.skel.h"
#pragma GCC diagnostic pop

static void
set_not_callers(struct lock_bpf *skeleton, const struct lock_places *places)
{
	size_t n = 0;

	for (size_t i = 0; i < places->n && n < LOCK_BPF_RANGES; i++) {
		const struct lock_place *place = &places->places[i];

		if (place->spins != NULL)
			continue; /* a wait begins before or behind them, never inside */
		skeleton->rodata->not_caller[n].begin = place->begin;
		skeleton->rodata->not_caller[n++].end = place->end;
	}
}

static int
refused(struct err *err, const char *what, int rc)
{
	if (rc == -EPERM || rc == -EACCES)
		return err_set_errno(err, -rc,
		    "the kernel refused %s: run the agent as root or with CAP_BPF and CAP_PERFMON; "
		    "in a "
		    "container its seccomp filter must allow bpf",
		    what);
	return err_set_errno(err, -rc,
	    "%s failed: expected Linux 5.19 or later with CONFIG_BPF_SYSCALL and "
	    "CONFIG_BPF_EVENTS, "
	    "which has the tracepoints lock:contention_begin and contention_end",
	    what);
}

static int
load(void **ret_loaded, int *ret_fds, struct err *err)
{
	struct lock_places places;
	struct lock_bpf *s;
	int rc;

	if (lock_places_find(&places, err) != 0)
		return -1;
	libbpf_set_print(NULL);
	*ret_loaded = s = lock_bpf__open();
	if (s == NULL)
		return refused(err, "reading the BPF program", -errno);
	set_not_callers(s, &places);
	rc = lock_bpf__load(s);
	if (rc != 0)
		return refused(err, "loading the BPF program", rc);
	rc = lock_bpf__attach(s);
	if (rc != 0)
		return refused(err, "attaching the BPF program to the tracepoints of locks", rc);
	ret_fds[LOCK_BPF_FD_SUMS] = bpf_map__fd(s->maps.sums);
	ret_fds[LOCK_BPF_FD_LOST] = bpf_map__fd(s->maps.lost);
	ret_fds[LOCK_BPF_FD_CONTROL] = bpf_map__fd(s->maps.control);
	ret_fds[LOCK_BPF_FD_BEGIN] = bpf_program__fd(s->progs.on_begin);
	ret_fds[LOCK_BPF_FD_END] = bpf_program__fd(s->progs.on_end);
	ret_fds[LOCK_BPF_FD_BEGIN_LINK] = bpf_link__fd(s->links.on_begin);
	ret_fds[LOCK_BPF_FD_END_LINK] = bpf_link__fd(s->links.on_end);
	return 0;
}

/* Lets go of it; what was handed over stays. */
static void
unload(void *loaded)
{
	lock_bpf__destroy(loaded);
}
#else
static int
load(void **ret_loaded __attribute__((unused)), int *ret_fds __attribute__((unused)),
    struct err *err)
{
	return err_set(err,
	    "flyball-lock-bpf was built without clang, bpftool or libbpf-dev: install these, see "
	    "deploy/deps.sh bpf, and build again");
}

static void
unload(void *loaded __attribute__((unused)))
{
}
#endif

static int
send_hello(const struct lock_bpf_hello *hello, const int *fds)
{
	struct iovec iov = { .iov_base = (void *)(uintptr_t)hello, .iov_len = sizeof *hello };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(LOCK_BPF_FDS * sizeof(int))];
	} control = { 0 };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c = &control.header;

	if (hello->text[0] == '\0') {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof control.bytes;
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(LOCK_BPF_FDS * sizeof(int));
		memcpy(CMSG_DATA(c), fds, LOCK_BPF_FDS * sizeof(int));
	}
	return sendmsg(STDIN_FILENO, &message, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

int
main(void)
{
	struct lock_bpf_hello hello = { "" };
	int fds[LOCK_BPF_FDS] = { 0 }, rc;
	void *loaded = NULL;
	struct err err;

	if (load(&loaded, fds, &err) != 0)
		mem_copy_text(hello.text, sizeof hello.text, err.text);
	rc = send_hello(&hello, fds);
	if (rc != 0)
		fprintf(stderr,
		    "flyball-lock-bpf: standard input is not the agent's socket (%s): it "
		    "is run by flyball-agent\n",
		    strerror(errno));
	unload(loaded);
	return rc == 0 && hello.text[0] == '\0' ? 0 : 1;
}
