/* flyball - the operators' command
 *
 * SPDX-License-Identifier: BSD-2-Clause
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "coordinator/ctl/command.h"
#include "coordinator/ctl/session.h"
#include "coordinator/ctl/watch.h"

#define SERVER_DEFAULT "ipc:///run/flyball/operator.sock"

/* An option's text, else what the environment says, else NULL. */
static const char *
setting(const struct args *args, enum option option, const char *variable)
{
	const char *text = args->texts[option];

	if (text == NULL)
		text = getenv(variable);
	return text != NULL && text[0] != '\0' ? text : NULL;
}

static struct client *
connect_to(const struct args *args, struct err *err)
{
	struct client_options options = {
		.server = setting(args, OPTION_SERVER, "FLYBALL_SERVER"),
		.key = setting(args, OPTION_KEY, "FLYBALL_KEY"),
		.server_key = setting(args, OPTION_SERVER_KEY, "FLYBALL_SERVER_KEY"),
		.timeout_us = args->timeout_us,
	};

	if (options.server == NULL)
		options.server = SERVER_DEFAULT;
	return client_create(&options, err);
}

static struct view
view_of(const struct args *args)
{
	struct view view = { .out = stdout, .wide = args->wide };
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct winsize size = { 0 };

	if (isatty(STDOUT_FILENO) != 1)
		return view;
	view.color =
	    (no_color == NULL || no_color[0] == '\0') && term != NULL && strcmp(term, "dumb") != 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		view.width = size.ws_col;
	return view;
}

static int
run(const struct args *args)
{
	struct session s = { .args = args, .view = view_of(args) };
	struct err err;
	int status;

	s.output = args_given(args, OPTION_JSON) ? &output_json : &output_text;
	if (!args->command->local) {
		s.client = connect_to(args, &err);
		if (s.client == NULL) {
			complain("%s", err.text);
			return REPLY_USAGE;
		}
	}
	if (args_given(args, OPTION_WATCH))
		status = watch(&s);
	else
		status = args->command->run(&s);
	client_destroy(s.client);
	return status;
}

/* What was printed and did not arrive (a full disk) is a failure. */
static int
close_stdout(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	complain("the output could not be written: %s", strerror(errno));
	return status == REPLY_OK ? REPLY_FAILED : status;
}

int
main(int argc, char *argv[])
{
	struct args args;
	struct err err;
	int status = REPLY_OK;

	if (args_parse(argc, argv, &args, &err) != 0) {
		complain("%s", err.text);
		return REPLY_USAGE;
	}
	if (args_given(&args, OPTION_HELP) && args.command != NULL)
		command_help(args.command, stdout);
	else if (args_given(&args, OPTION_VERSION))
		printf("flyball %s\n", FLYBALL_VERSION);
	else if (args_given(&args, OPTION_HELP))
		command_list(stdout);
	else if (args.command != NULL)
		status = run(&args);
	else {
		command_list(stderr);
		status = REPLY_USAGE;
	}
	args_clear(&args);
	return close_stdout(status);
}
