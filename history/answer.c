/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {[false] = "change", [true] = "key"};

void triad_history_answers_clear(struct triad_history_answers *answers)
{
	triad_history_topology_clear(&answers->topology);
	for (unsigned i = 0; i < TRIAD_HISTORY_N_TIERS; i++)
		triad_history_key_clear(&answers->keys[i]);
}

void triad_history_question_put(const struct triad_history_question *question,
	char words[TRIAD_HISTORY_QUESTION_WORDS][TRIAD_HISTORY_WORD_SIZE])
{
	snprintf(words[0], TRIAD_HISTORY_WORD_SIZE, "%" PRIu64, question->mark);
	for (unsigned i = 0; i < TRIAD_HISTORY_N_TIERS; i++) {
		snprintf(words[1 + 2 * i], TRIAD_HISTORY_WORD_SIZE, "%" PRIu64,
			question->tiers[i].key);
		snprintf(words[2 + 2 * i], TRIAD_HISTORY_WORD_SIZE, "%" PRIu64,
			question->tiers[i].last_us);
	}
}

void triad_history_question_read(
	const char *const *words, struct triad_history_question *question)
{
	question->mark = strtoull(words[0], NULL, 10);
	for (unsigned i = 0; i < TRIAD_HISTORY_N_TIERS; i++) {
		question->tiers[i].key = strtoull(words[1 + 2 * i], NULL, 10);
		question->tiers[i].last_us = strtoull(words[2 + 2 * i], NULL, 10);
	}
}

static int answer_tier(struct triad_history_answers *answers,
	const struct triad_history_image *image, enum triad_history_tier tier,
	const struct triad_history_question *question, struct triad_output *output)
{
	struct triad_history_image shown = *image;
	uint32_t n_left_out;
	bool is_key;
	int error;

	if (question->tiers[tier].key != answers->numbers[tier])
		triad_history_key_forget(&answers->keys[tier]);
	is_key = triad_history_key_is_due(&answers->keys[tier], &answers->topology);
	if (is_key)
		answers->numbers[tier] = ++answers->n;
	triad_output_printf(output,
		"= image %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32
		" %" PRIu64 "\n",
		triad_history_tiers[tier].name, kinds[is_key], answers->numbers[tier],
		image->wall_us, image->started_us, image->head.sweep,
		image->view->fabric->n_ports, image->mark);
	shown.events_since_us = question->tiers[tier].last_us;
	error = triad_history_image_write(
		&shown, &answers->topology, &answers->keys[tier], output, &n_left_out);
	if (!error)
		triad_output_printf(output, "= end %" PRIu32 "\n", n_left_out);
	return error;
}

int triad_history_answer(struct triad_history_answers *answers,
	const struct triad_history_image *image,
	const struct triad_history_question *question, struct triad_output *output)
{
	int error =
		triad_history_topology_update(&answers->topology, image->view->fabric);

	for (unsigned i = 0; !error && i < TRIAD_HISTORY_N_TIERS; i++)
		if (triad_history_tier_takes(
			    i, question->tiers[i].last_us, image->wall_us))
			error = answer_tier(answers, image, i, question, output);
	return error;
}

bool triad_history_answer_read(const char *text, struct triad_history_answer_head *head)
{
	char tier[16], kind[8];

	*head = (struct triad_history_answer_head){0};
	if (sscanf(text,
		    "%15s %7s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32
		    " %" SCNu64,
		    tier, kind, &head->key, &head->entry.time_us, &head->started_us,
		    &head->entry.sweep, &head->n_ports, &head->mark) != 8)
		return false;
	head->entry.is_key = !strcmp(kind, kinds[true]);
	while (head->tier < TRIAD_HISTORY_N_TIERS &&
		strcmp(triad_history_tiers[head->tier].name, tier) != 0)
		head->tier++;
	return head->tier < TRIAD_HISTORY_N_TIERS && head->key && head->entry.time_us;
}
