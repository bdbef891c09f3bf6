/* SPDX-License-Identifier: BSD-2-Clause */
#include "coordinator/ctl/watch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "coordinator/ctl/command.h"

/* As many lines as there is room for; each clears what stood behind its end. */
static void
draw(const char *text, bool first)
{
	struct winsize size = { 0 };
	size_t rows = SIZE_MAX, row = 1;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1)
		rows = size.ws_row - 1U;
	fputs(first ? "\x1b[2J\x1b[H" : "\x1b[H", stdout);
	for (; *text != '\0' && row <= rows; text++) {
		if (*text == '\n') {
			fputs("\x1b[K\n", stdout);
			row++;
		} else
			putc(*text, stdout);
	}
	fputs("\x1b[J", stdout);
	fflush(stdout);
}

/* The verb once, into memory. */
static int
render(struct session *s, char **ret_text)
{
	struct winsize size = { 0 };
	size_t length;
	FILE *out = open_memstream(ret_text, &length);
	int status;

	assert(out != NULL);
	s->view.out = out;
	if (s->view.width > 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		s->view.width = size.ws_col; /* it may have been made narrower meanwhile */
	status = s->args->command->run(s);
	fclose(out);
	s->view.out = stdout;
	return status;
}

/* What is worth another look: answers, and nobody there. */
static bool
goes_on(int status)
{
	return status == REPLY_OK || status == REPLY_UNHEALTHY || status == REPLY_UNREACHABLE ||
	       status == REPLY_TIMED_OUT;
}

/* The shell's prompt must not stand behind what was drawn, nor in its colour. */
static void
leave(bool terminal)
{
	if (terminal)
		fputs("\x1b[0m\n", stdout);
	else if (isatty(STDERR_FILENO) == 1)
		putc('\n', stderr);
}

int
watch(struct session *s)
{
	bool terminal = isatty(STDOUT_FILENO) == 1, first = true;
	char *text;
	int status;

	client_catch_interrupt(s->client);
	s->patient = true;
	do {
		status = render(s, &text);
		if (status == REPLY_OK || status == REPLY_UNHEALTHY) {
			if (terminal)
				draw(text, first);
			else
				printf("%s%s", first ? "" : "\n", text);
			fflush(stdout);
			first = false;
		}
		free(text);
		if (!client_interrupted(s->client) && !goes_on(status))
			return status;
	} while (client_sleep(s->client, s->args->watch_us) && !ferror(stdout));
	if (!client_interrupted(s->client))
		return REPLY_OK;
	leave(terminal);
	return EXIT_INTERRUPTED;
}
