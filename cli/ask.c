/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/ask.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/client.h"
#include "cli/local_time.h"
#include "cli/other_version.h"
#include "cli/reply.h"
#include "cli/table.h"
#include "command/command_table.h"
#include "lib/text.h"
#include "triad/clock.h"
#include "triad/control.h"
#include "triad/file.h"

struct asking {
	const struct triad_ask *ask;
	const struct triad_command *command;
	struct triad_client client;
	struct triad_client_sink sink;
	const char *request;
	size_t request_size;
	struct triad_screen screen;
	struct triad_layout layout;
	struct triad_tables *tables; /* of the present answer */
	struct triad_table_reader reader;
	struct triad_table_sink table_sink;
	int refusal;        /* the exit status after triadctl broke off an answer */
	char message[1024]; /* the last one, in a watch on a terminal */
	bool has_output;    /* the present answer has output */
	bool has_local_times;
	struct triad_local_time times; /* of the present answer's text */
};

/* --- the request ------------------------------------------------------- */

/* The index of the command's file name: a word behind 'qos plan' that is not an
 * option's value; -1: none. */
static int find_file(const struct triad_command *command, int n_words, char **words)
{
	for (int i = 2; command->file[0] && i < n_words; i++) {
		const char *before = words[i - 1];
		bool is_value = before[0] == '-' && !strchr(before, '=') &&
			strcmp(before, "--json") != 0;

		if (!is_value && !strcmp(words[i], command->file))
			return i;
	}
	return -1;
}

static bool has_option(const struct triad_command *command, unsigned option)
{
	return triad_verb_of(command->verb)->options & TRIAD_OPTION_BIT(option);
}

/* Packs the words, and '--color' and '--table' if needed; returns the size, 0: too
 * long. */
static size_t pack_request(char *request, size_t size, const struct asking *asking,
	int n_words, char **words)
{
	const struct triad_command *command = asking->command;
	const char *packed[TRIAD_CONTROL_MAX_WORDS + 2];
	int file = find_file(command, n_words, words);
	char path[PATH_MAX];
	int n = 0;

	if (n_words >= TRIAD_CONTROL_MAX_WORDS - 1)
		return 0;
	/* The plugin has another working directory, so send the whole path of a file.
	 * If there is no such file, send the name: the plugin reports that. */
	for (; n < n_words; n++)
		packed[n] = n == file && realpath(words[n], path) ? path : words[n];
	if (asking->screen.has_color)
		packed[n++] = "--color";
	if (has_option(command, TRIAD_OPTION_TABLE) && !command->json)
		packed[n++] = "--table";
	return triad_request_encode(request, size, n, packed);
}

/* --- one answer -------------------------------------------------------- */

static int complain_of_failure(const char *message)
{
	fprintf(stderr, "triadctl: %s\n", message);
	return TRIAD_CONTROL_FAILED;
}

/* Converts an error of triad_tables_...() for the client. */
static int convert_error(struct asking *asking, int error)
{
	if (error != EINVAL && error != E2BIG && error != ENOMEM)
		return error;
	fprintf(stderr, "triadctl: %s: %s\n",
		triad_verb_of(asking->command->verb)->name,
		triad_tables_complaint(asking->tables));
	/* EINVAL, an unknown column, is the user's mistake. */
	asking->refusal = error == EINVAL ? TRIAD_CONTROL_USAGE : TRIAD_CONTROL_FAILED;
	return ECANCELED;
}

/* Writes text for standard output; times that are not whole yet stay for the next piece. */
static int write_text(struct asking *asking, const char *piece, size_t size)
{
	char text[TRIAD_LOCAL_TIME_ROOM(TRIAD_REPLY_PIECE_SIZE)];

	if (!asking->has_local_times)
		return triad_screen_write(&asking->screen, piece, size);
	return triad_screen_write(&asking->screen, text,
		triad_local_time_take(&asking->times, piece, size, text));
}

static int end_text(struct asking *asking)
{
	char text[TRIAD_LOCAL_TIME_HELD];
	size_t size = triad_local_time_end(&asking->times, text);

	return size ? triad_screen_write(&asking->screen, text, size) : 0;
}

static int take_message(struct asking *asking, const char *whole, size_t whole_size)
{
	char text[TRIAD_LOCAL_TIME_ROOM(TRIAD_REPLY_PIECE_SIZE)];
	struct triad_local_time times = {0};
	const char *piece = whole;
	size_t size = whole_size;

	if (asking->has_local_times) {
		size = triad_local_time_take(&times, whole, whole_size, text);
		size += triad_local_time_end(&times, text + size);
		text[size] = '\0';
		piece = text;
	}
	if (!asking->screen.is_watched)
		return triad_write_all(STDERR_FILENO, piece, size), 0;
	/* A message would destroy the picture: keep it for the last row. */
	while (*piece) {
		size_t length = strcspn(piece, "\n");

		triad_text_append(asking->message, sizeof(asking->message), "%s%.*s",
			asking->message[0] ? "; " : "", (int)length, piece);
		piece += length + (piece[length] == '\n');
	}
	return 0;
}

static int take_piece(struct asking *asking, enum triad_frame_type type,
	const char *piece, size_t size)
{
	int error;

	if (type == TRIAD_FRAME_MESSAGE)
		return take_message(asking, piece, size);
	if (type == TRIAD_FRAME_TABLE) {
		error = end_text(asking);
		return error ? error
			     : convert_error(asking,
				       triad_table_reader_take(&asking->reader, piece,
					       size, &asking->table_sink));
	}
	error = triad_tables_end(asking->tables);
	if (error)
		return convert_error(asking, error);
	/* No sentences between rows for programs. */
	if (asking->layout.is_raw || asking->layout.no_headings)
		return take_message(asking, piece, size);
	return write_text(asking, piece, size);
}

static int take_frame(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	struct asking *asking = context;
	int error = take_piece(asking, type, piece, size);

	asking->has_output |= !error && type != TRIAD_FRAME_MESSAGE;
	return error;
}

/* Prints how many rows there were, and which options make fewer, when the first ones
 * have left the terminal. */
static void print_advice(const struct asking *asking)
{
	static const unsigned options[] = {TRIAD_OPTION_NODE, TRIAD_OPTION_PORT,
		TRIAD_OPTION_TYPE, TRIAD_OPTION_STATE, TRIAD_OPTION_DOWN,
		TRIAD_OPTION_SLOW, TRIAD_OPTION_ERRORS, TRIAD_OPTION_LINK_ERRORS,
		TRIAD_OPTION_FLAPPED, TRIAD_OPTION_HELD, TRIAD_OPTION_FAILED,
		TRIAD_OPTION_LIMIT, TRIAD_OPTION_LIMIT_ALL};
	uint64_t n = triad_tables_n_rows(asking->tables);
	char text[256] = "";

	if (!asking->screen.is_terminal || n + 2 <= asking->screen.n_rows ||
		asking->screen.is_watched || asking->command->raw)
		return;
	for (unsigned i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (has_option(asking->command, options[i]))
			triad_text_append(text, sizeof(text), "%s%s",
				text[0] ? ", " : "", triad_options[options[i]].name);
	printf("%llu rows%s%s\n", (unsigned long long)n,
		text[0] ? "; to see fewer: " : "", text);
	fflush(stdout);
}

/* Whether the command's exit status is its verdict, so that any status may be an
 * answer. */
static bool is_verdict(const struct asking *asking)
{
	const struct triad_verb *verb = triad_verb_of(asking->command->verb);

	return asking->has_output &&
		(verb->is_verdict || verb->verb == TRIAD_COMMAND_STATUS);
}

/* Whether the status is that of an answer. */
static bool is_answer(const struct asking *asking, int status)
{
	return status == TRIAD_CONTROL_DONE || status == TRIAD_CONTROL_TO_DO ||
		(status > 0 && is_verdict(asking));
}

/* Writes the remaining rows at the end of an answer, complete or not. */
static int end_answer(struct asking *asking, int status)
{
	int error = end_text(asking);

	if (!error)
		error = triad_tables_end(asking->tables);
	/* Not after an incomplete answer: a later table may have had the name. */
	if (!error && is_answer(asking, status))
		error = triad_tables_check_names(asking->tables);
	if (!error) {
		print_advice(asking);
		return status;
	}
	if (error == EPIPE)
		return TRIAD_CLIENT_UNREAD;
	if (convert_error(asking, error) == ECANCELED)
		return asking->refusal;
	fprintf(stderr, "triadctl: can't write to standard output: %s\n",
		strerror(error));
	return TRIAD_CONTROL_FAILED;
}

static int ask_once(struct asking *asking)
{
	int status;

	asking->tables = triad_tables_new(&asking->screen, &asking->layout);
	if (!asking->tables)
		return complain_of_failure("not enough memory");
	asking->message[0] = '\0';
	asking->has_output = false;
	asking->table_sink = triad_tables_sink(asking->tables);
	triad_table_reader_init(&asking->reader);
	triad_screen_begin(&asking->screen);
	status = triad_client_ask(
		&asking->client, asking->request, asking->request_size);
	if (status == TRIAD_CLIENT_CANCELED)
		status = asking->refusal;
	else if (status != TRIAD_CLIENT_UNREAD)
		status = end_answer(asking, status);
	triad_tables_free(asking->tables);
	asking->tables = NULL;
	return status;
}

/* --- again and again --------------------------------------------------- */

/* Paints the answer; without one, writes why below the last picture. */
static int show_picture(struct asking *asking, int status)
{
	char text[sizeof(asking->message) + 64], at[TRIAD_SCREEN_CLOCK_SIZE];

	if (!asking->screen.is_watched)
		return 0;
	triad_screen_clock(at);
	if (is_answer(asking, status)) {
		snprintf(text, sizeof(text), "%s, every %u s%s%s", at,
			asking->command->interval_s, asking->message[0] ? "; " : "",
			asking->message);
		return triad_screen_show(&asking->screen, text);
	}
	snprintf(text, sizeof(text), "%s, trying again: %s", at, asking->message);
	return triad_screen_show_status(&asking->screen, text);
}

static int watch(struct asking *asking)
{
	bool has_answered = false;
	struct timespec next;
	int status;

	triad_screen_end_by_signals(&asking->screen, TRIAD_CONTROL_DONE);
	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;;) {
		status = ask_once(asking);
		has_answered |= is_answer(asking, status);
		/* If the first request fails, end.  Later go on: OpenSM may be
		 * restarting, and the user wants to see it come back. */
		if (status == TRIAD_CLIENT_UNREAD || !has_answered ||
			(status == TRIAD_CONTROL_USAGE && !is_verdict(asking)))
			break;
		if (show_picture(asking, status)) {
			status = TRIAD_CLIENT_UNREAD;
			break;
		}
		triad_screen_wait(&next, asking->command->interval_s);
	}
	if (asking->screen.is_watched && has_answered)
		triad_screen_leave();
	/* The last row, which had the message, was never painted. */
	if (asking->screen.is_watched && asking->message[0])
		fprintf(stderr, "%s\n", asking->message);
	return status;
}

/* Explains a refusal of a command that triadctl knows: the process may be of another
 * release. */
static void explain_refusal(const struct asking *asking)
{
	char text[256];

	if (!asking->refusal && !is_verdict(asking) &&
		triad_other_version_explain(&asking->client, text, sizeof(text)))
		complain_of_failure(text);
}

int triad_ask(const struct triad_ask *ask, const struct triad_command *command,
	int n_words, char **words)
{
	char request[TRIAD_CONTROL_REQUEST_SIZE];
	struct asking asking = {
		.ask = ask,
		.command = command,
		.client = {.path = ask->path,
			.program = "triadctl",
			.may = TRIAD_CLIENT_MAY,
			.is_agent = ask->is_agent,
			.timeout_s = ask->timeout_s,
			.sink = &asking.sink},
		.sink = {take_frame, &asking},
		.request = request,
		.layout = {.columns = command->columns,
			.sort = command->sort,
			.no_headings = command->no_headings,
			.is_raw = command->raw},
	};
	int status;

	triad_screen_init(&asking.screen, ask->color, command->watch && !command->json);
	asking.has_local_times = asking.screen.is_terminal && !command->json;
	asking.layout.worst_first = asking.screen.is_watched;
	asking.client.hides_progress = asking.screen.is_watched;
	asking.request_size =
		pack_request(request, sizeof(request), &asking, n_words, words);
	if (!asking.request_size) {
		complain_of_failure("the command is too long");
		return TRIAD_CONTROL_USAGE;
	}
	status = command->watch ? watch(&asking) : ask_once(&asking);
	triad_screen_clear(&asking.screen);
	if (status == TRIAD_CONTROL_USAGE)
		explain_refusal(&asking);
	/* After a refusal, or "too many clients", there is no verdict. */
	if (status == TRIAD_CLIENT_NO_ANSWER ||
		(status > 0 && !asking.has_output && !asking.refusal &&
			triad_verb_of(command->verb)->is_verdict))
		return ask->no_answer;
	return status == TRIAD_CLIENT_UNREAD ? TRIAD_CONTROL_DONE : status;
}
