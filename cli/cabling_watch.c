/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'cabling check --watch': on a terminal a picture, with what is to be done first; else a line
 * for each thing that was done or has become another. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cabling/progress.h"
#include "cli/cabling_parts.h"

struct watching {
	struct triad_cabling_checking *checking;
	struct triad_cabling_progress progress;
	struct triad_screen screen;
	bool has_shown;
	uint32_t n_right, n_not_known; /* as was shown last */
};

static bool write_to_screen(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	(void)type;
	return !triad_screen_write(context, data, size);
}

/* The lines of a task; 'before' stands before the first one. */
static void put_task(struct triad_output *output, const char *before,
	const struct triad_cabling_task *task)
{
	const char *text = task->text;

	triad_output_printf(output, "%s%" PRIu32 ". ", before, task->number);
	while (*text) {
		size_t length = strcspn(text, "\n");

		triad_output_put(output, text, length);
		triad_output_put(output, "\n", 1);
		text += length;
		if (*text++ == '\0')
			break;
		triad_output_printf(output, "%*s", (int)strlen(before) + 3, "");
	}
}

static void put_not_known(struct triad_cabling_checking *checking)
{
	const struct triad_cabling_result *result = checking->result;
	char text[TRIAD_CABLING_TEXT_SIZE];

	for (uint32_t i = result->n_deviations; i < result->n_items; i++) {
		triad_cabling_describe(
			&checking->view, &result->items[i], 0, text, sizeof(text));
		triad_output_printf(&checking->output, "not known: %s\n", text);
	}
}

/* --- a picture --------------------------------------------------------- */

static void put_picture(struct watching *watching)
{
	const struct triad_cabling_progress *progress = &watching->progress;
	struct triad_output *output = &watching->checking->output;

	triad_cabling_put_summary(watching->checking);
	triad_output_printf(output, "; done: %" PRIu32 "\n\n", progress->n_done);
	for (uint32_t i = 0; i < progress->n; i++)
		if (progress->tasks[i].state == TRIAD_CABLING_OPEN)
			put_task(output, "[ ] ", &progress->tasks[i]);
	put_not_known(watching->checking);
	for (uint32_t i = progress->n; i-- > 0;)
		if (progress->tasks[i].state == TRIAD_CABLING_IS_DONE)
			put_task(output, "[x] ", &progress->tasks[i]);
}

/* --- lines ------------------------------------------------------------- */

static const char *word_of(const struct triad_cabling_task *task)
{
	switch (task->state) {
	case TRIAD_CABLING_IS_DONE:
		return "done ";
	case TRIAD_CABLING_REPLACED:
		return "is another by now ";
	default:
		return "to do ";
	}
}

static void put_lines(struct watching *watching)
{
	const struct triad_cabling_progress *progress = &watching->progress;
	struct triad_cabling_checking *checking = watching->checking;
	uint32_t n_not_known = triad_cabling_count_not_known(checking);
	char before[64], clock[TRIAD_SCREEN_CLOCK_SIZE];
	bool is_news = !watching->has_shown ||
		watching->n_right != checking->result->n_right ||
		watching->n_not_known != n_not_known;

	triad_screen_clock(clock);
	for (uint32_t i = 0; i < progress->n; i++) {
		if (!progress->tasks[i].is_news)
			continue;
		is_news = true;
		snprintf(before, sizeof(before), "%s %s", clock,
			word_of(&progress->tasks[i]));
		put_task(&checking->output, before, &progress->tasks[i]);
	}
	if (!is_news)
		return;
	if (watching->n_not_known != n_not_known)
		put_not_known(checking);
	triad_output_printf(&checking->output, "%s ", clock);
	triad_cabling_put_summary(checking);
	triad_output_printf(&checking->output, "\n");
	watching->n_right = checking->result->n_right;
	watching->n_not_known = n_not_known;
}

/* --- again and again --------------------------------------------------- */

/* Returns false when the output can't be written. */
static bool show(struct watching *watching)
{
	struct triad_cabling_checking *checking = watching->checking;
	char clock[TRIAD_SCREEN_CLOCK_SIZE], status[64];
	int error = 0;

	triad_screen_begin(&watching->screen);
	triad_output_init(&checking->output, write_to_screen, &watching->screen);
	if (watching->screen.is_watched)
		put_picture(watching);
	else
		put_lines(watching);
	triad_output_flush(&checking->output);
	watching->has_shown = true;
	if (watching->screen.is_watched) {
		triad_screen_clock(clock);
		snprintf(status, sizeof(status), "%s, every %u s", clock,
			checking->command->interval_s);
		error = triad_screen_show(&watching->screen, status);
	}
	return !error && !checking->output.failed;
}

/* One that is off does not end the watch: OpenSM may be restarting. */
static void show_no_answer(struct watching *watching)
{
	if (watching->screen.is_watched)
		(void)triad_screen_show_status(
			&watching->screen, "no answer; trying again");
}

static bool is_all_done(const struct watching *watching)
{
	const struct triad_cabling_result *result = watching->checking->result;

	return !result->n_items && !watching->progress.n_open;
}

static int watch(struct watching *watching)
{
	struct triad_cabling_checking *checking = watching->checking;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	for (;; triad_screen_wait(&next, checking->command->interval_s)) {
		if (triad_cabling_look(checking)) {
			if (!watching->has_shown)
				return TRIAD_CONTROL_UNKNOWN;
			show_no_answer(watching);
			continue;
		}
		if (triad_cabling_progress_take(
			    &watching->progress, &checking->view, checking->cables)) {
			fprintf(stderr, "triadctl: cabling check: not enough memory\n");
			return TRIAD_CONTROL_UNKNOWN;
		}
		if (!show(watching))
			return TRIAD_CONTROL_UNKNOWN;
		if (is_all_done(watching))
			return TRIAD_CONTROL_DONE;
	}
}

int triad_cabling_watch(struct triad_cabling_checking *checking)
{
	struct watching watching = {.checking = checking};
	enum triad_screen_color color =
		checking->asker ? checking->asker->color : TRIAD_SCREEN_COLOR_AUTO;
	int status;

	triad_screen_init(&watching.screen, color, true);
	triad_screen_end_by_signals(&watching.screen, TRIAD_CONTROL_UNKNOWN);
	status = watch(&watching);
	if (watching.screen.is_watched && watching.has_shown)
		triad_screen_leave();
	triad_screen_clear(&watching.screen);
	triad_cabling_progress_clear(&watching.progress);
	return status;
}
