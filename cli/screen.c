/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/screen.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "lib/text.h"
#include "triad/file.h"

#define DEFAULT_COLUMNS 80
#define DEFAULT_ROWS 24
/* Limits for wrong sizes, which would cost memory. */
#define MAX_COLUMNS 1000
#define MAX_ROWS 1000

/* --- text in columns --------------------------------------------------- */

/* The length of an escape sequence "ESC [ ... letter", as for a color; 0: not one. */
static size_t escape_length(const char *text, size_t size)
{
	size_t n = 2;

	if (size < 2 || text[0] != '\033' || text[1] != '[')
		return 0;
	while (n < size && (unsigned char)text[n] >= ' ' && text[n] < '@')
		n++;
	return n < size ? n + 1 : n;
}

/* The length of a character, and its width in columns. */
static size_t measure_character(const char *text, size_t size, unsigned *width)
{
	size_t n = escape_length(text, size);
	mbstate_t state = {0};
	wchar_t character;
	int columns;

	*width = 0;
	if (n)
		return n;
	n = mbrtowc(&character, text, size, &state);
	if (!n || n > size) {
		*width = 1;
		return 1;
	}
	columns = wcwidth(character);
	*width = columns < 0 ? 1 : (unsigned)columns;
	return n;
}

size_t triad_screen_fit(const char *text, size_t size, unsigned n_columns, bool *is_cut)
{
	unsigned used = 0, width;
	size_t at = 0, n;

	while (at < size) {
		n = measure_character(text + at, size - at, &width);
		if (used + width > n_columns)
			break;
		used += width;
		at += n;
	}
	*is_cut = at < size;
	return at;
}

unsigned triad_screen_width(const char *text, size_t size)
{
	unsigned sum = 0, width;

	for (size_t at = 0; at < size; sum += width)
		at += measure_character(text + at, size - at, &width);
	return sum;
}

/* --- what standard output is ------------------------------------------- */

static bool is_terminal(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && (!term || strcmp(term, "dumb") != 0);
}

static bool is_color_wanted(enum triad_screen_color color)
{
	const char *no_color = getenv("NO_COLOR");

	if (color != TRIAD_SCREEN_COLOR_AUTO)
		return color == TRIAD_SCREEN_COLOR_ALWAYS;
	return is_terminal() && (!no_color || !*no_color);
}

/* The size by the kernel ('reported'), else by the environment, else the usual one. */
static unsigned measure(
	unsigned reported, const char *variable, unsigned usual, unsigned max)
{
	const char *set = getenv(variable);
	unsigned number;

	if (!reported && set && triad_text_number(set, &number))
		reported = number;
	if (!reported)
		reported = usual;
	return reported < max ? reported : max;
}

void triad_screen_init(
	struct triad_screen *screen, enum triad_screen_color color, bool is_watched)
{
	*screen = (struct triad_screen){
		.is_terminal = is_terminal(),
		.has_color = is_color_wanted(color),
		.is_watched = is_watched && is_terminal(),
	};
}

void triad_screen_clear(struct triad_screen *screen)
{
	free(screen->picture);
	screen->picture = NULL;
}

void triad_screen_begin(struct triad_screen *screen)
{
	struct winsize window = {0};

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &window);
	screen->n_columns =
		measure(window.ws_col, "COLUMNS", DEFAULT_COLUMNS, MAX_COLUMNS);
	screen->n_rows = measure(window.ws_row, "LINES", DEFAULT_ROWS, MAX_ROWS);
	screen->size = screen->line_at = 0;
	screen->n_lines = 0;
	screen->n_hidden = 0;
	screen->out_of_memory = false;
}

/* --- pictures ---------------------------------------------------------- */

bool triad_screen_is_full(const struct triad_screen *screen)
{
	/* The last row is for the status. */
	return screen->is_watched && screen->n_lines + 1 >= screen->n_rows;
}

void triad_screen_hide(struct triad_screen *screen, uint64_t n)
{
	screen->n_hidden += n;
}

static void keep(struct triad_screen *screen, const char *data, size_t size)
{
	if (size > screen->room - screen->size) {
		size_t room = 2 * (screen->size + size) + 4096;
		char *picture = realloc(screen->picture, room);

		if (!picture) {
			screen->out_of_memory = true;
			return;
		}
		screen->picture = picture;
		screen->room = room;
	}
	if (size)
		memcpy(screen->picture + screen->size, data, size);
	screen->size += size;
}

/* Ends a line of the picture and cuts it to the width: if it wrapped, the picture would
 * have more rows than counted. */
static void end_line(struct triad_screen *screen)
{
	static const char end[] = "\033[0m\033[K\r\n";
	bool is_cut;

	if (triad_screen_is_full(screen)) {
		screen->size = screen->line_at;
		screen->n_hidden++;
		return;
	}
	if (screen->picture)
		screen->size = screen->line_at +
			triad_screen_fit(screen->picture + screen->line_at,
				screen->size - screen->line_at, screen->n_columns,
				&is_cut);
	keep(screen, end, strlen(end));
	screen->line_at = screen->size;
	screen->n_lines++;
}

int triad_screen_write(struct triad_screen *screen, const char *data, size_t size)
{
	if (!screen->is_watched)
		return triad_write_all(STDOUT_FILENO, data, size);
	while (size) {
		const char *end = memchr(data, '\n', size);
		size_t n = end ? (size_t)(end - data) : size;

		/* Keep nothing of a hidden line. */
		if (!triad_screen_is_full(screen))
			keep(screen, data, n);
		if (end) {
			end_line(screen);
			n++;
		}
		data += n;
		size -= n;
	}
	return 0;
}

int triad_screen_show_status(struct triad_screen *screen, const char *status)
{
	char text[MAX_COLUMNS * 4], line[sizeof(text) + 64];
	bool is_cut;
	size_t size;

	snprintf(text, sizeof(text), "%s", status);
	triad_text_clean(text);
	/* Leave the last column free: some terminals wrap as soon as it is written. */
	size = triad_screen_fit(text, strlen(text), screen->n_columns - 1, &is_cut);
	snprintf(line, sizeof(line), "\033[?25l\033[%u;1H%s%.*s%s\033[K",
		screen->n_rows, screen->has_color ? "\033[7m" : "", (int)size, text,
		screen->has_color ? "\033[0m" : "");
	return triad_write_all(STDOUT_FILENO, line, strlen(line));
}

int triad_screen_show(struct triad_screen *screen, const char *status)
{
	static const char home[] = "\033[?25l\033[H", rest[] = "\033[J";
	char text[512];
	int error;

	if (screen->size > screen->line_at)
		end_line(screen);
	error = triad_write_all(STDOUT_FILENO, home, strlen(home));
	if (!error && screen->picture)
		error = triad_write_all(
			STDOUT_FILENO, screen->picture, screen->line_at);
	if (!error)
		error = triad_write_all(STDOUT_FILENO, rest, strlen(rest));
	snprintf(text, sizeof(text), "%s", status);
	if (screen->n_hidden)
		snprintf(text, sizeof(text), "%llu more lines; %s",
			(unsigned long long)screen->n_hidden, status);
	if (screen->out_of_memory)
		snprintf(text, sizeof(text), "lines are missing: not enough memory");
	return error ? error : triad_screen_show_status(screen, text);
}

void triad_screen_leave(void)
{
	static const char leave[] = "\033[?25h\r\n";

	/* Ignore an error: nothing could be done about it. */
	(void)triad_write_all(STDOUT_FILENO, leave, strlen(leave));
}

/* --- again and again --- */

static volatile sig_atomic_t status_of_signals;

static void end_lines(int signal_number)
{
	(void)signal_number;
	_exit(status_of_signals);
}

static void end_pictures(int signal_number)
{
	(void)signal_number;
	triad_screen_leave();
	_exit(status_of_signals);
}

/* Ends the wait when the terminal's size changes. */
static void note_resize(int signal_number)
{
	(void)signal_number;
}

void triad_screen_end_by_signals(const struct triad_screen *screen, int status)
{
	const struct sigaction resize = {.sa_handler = note_resize};

	status_of_signals = status;
	signal(SIGINT, screen->is_watched ? end_pictures : end_lines);
	signal(SIGTERM, screen->is_watched ? end_pictures : end_lines);
	if (!screen->is_watched)
		return;
	signal(SIGHUP, end_pictures);
	/* Without SA_RESTART, so that the wait ends at once. */
	sigaction(SIGWINCH, &resize, NULL);
}

void triad_screen_wait(struct timespec *next, unsigned interval_s)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	next->tv_sec += interval_s;
	if (next->tv_sec < now.tv_sec)
		*next = now;
	/* After a resize there is no wait. */
	if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL))
		clock_gettime(CLOCK_MONOTONIC, next);
}

void triad_screen_clock(char text[TRIAD_SCREEN_CLOCK_SIZE])
{
	time_t now = time(NULL);
	struct tm tm;

	text[0] = '\0';
	if (localtime_r(&now, &tm))
		strftime(text, TRIAD_SCREEN_CLOCK_SIZE, "%H:%M:%S", &tm);
}

/* --- all of it --- */

int triad_screen_finish(void)
{
	/* EPIPE: the reader has closed the output, which is not a failure. */
	if (!fflush(stdout) || errno == EPIPE)
		return TRIAD_CONTROL_DONE;
	fprintf(stderr, "triadctl: can't write to standard output: %s\n",
		strerror(errno));
	return TRIAD_CONTROL_FAILED;
}

bool triad_screen_write_frame(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	(void)context;
	(void)type;
	return fwrite(data, 1, size, stdout) == size;
}
