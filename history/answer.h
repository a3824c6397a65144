/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Images for a process that keeps them: it says what it has, and is given what it lacks.
 *
 * Model: for each tier (history/ring.h) the keeper names the last key image that it has
 * stored, by its number, and the time of its last image.  The answer has an image for
 * each tier that is due for one; of a tier whose key is another than the keeper's it is a
 * key image, with a new number.  So nothing has to be remembered here for a keeper that
 * was killed, hung or could not write: its next question says what it lacks.
 *
 * A question is words:
 *
 *     MARK KEY LAST KEY LAST KEY LAST
 *
 * which sweep it has; of each tier the number of its key and the time of its last image.
 * An answer is lines.  Those of images (history/image.h) never begin with "= ":
 *
 *     = image TIER KIND KEY TIME STARTED SWEEP PORTS MARK
 *                                    KIND: key or change; KEY: the key's number; TIME,
 *                                    STARTED: wall clock in us, when the sweep and the
 *                                    process began
 *     ...                            the image's lines
 *     = end LEFT_OUT                 it is whole; so many items were left out
 *
 * Thread-safety: none.
 * Memory: that of three keys and a fabric as octets (history/image.h). */
#ifndef TRIAD_HISTORY_ANSWER_H
#define TRIAD_HISTORY_ANSWER_H

#include "history/image.h"
#include "history/tier.h"

/* What a keeper has. */
struct triad_history_question {
	uint64_t mark; /* of the sweep that it was told last; 0: none */
	struct {
		uint64_t key; /* of the key image that the next may build on; 0: none */
		uint64_t last_us; /* time of the last image, wall clock; 0: none */
	} tiers[TRIAD_HISTORY_N_TIERS];
};

#define TRIAD_HISTORY_QUESTION_WORDS (1 + 2 * TRIAD_HISTORY_N_TIERS)
#define TRIAD_HISTORY_WORD_SIZE 24

void triad_history_question_put(const struct triad_history_question *question,
	char words[TRIAD_HISTORY_QUESTION_WORDS][TRIAD_HISTORY_WORD_SIZE]);
/* Reads TRIAD_HISTORY_QUESTION_WORDS words. */
void triad_history_question_read(
	const char *const *words, struct triad_history_question *question);

struct triad_history_answers {
	struct triad_history_topology topology;
	struct triad_history_key keys[TRIAD_HISTORY_N_TIERS];
	uint64_t numbers[TRIAD_HISTORY_N_TIERS]; /* of these */
	uint64_t
		n; /* the number given last: begin with one that no earlier process gave */
};

void triad_history_answers_clear(struct triad_history_answers *answers);

/* Writes an answer about the image.  Returns 0; or an errno, and then the rest is
 * missing: EOVERFLOW, ENOMEM, or ECANCELED if the output failed. */
int triad_history_answer(struct triad_history_answers *answers,
	const struct triad_history_image *image,
	const struct triad_history_question *question, struct triad_output *output);

/* The head of an image in an answer. */
struct triad_history_answer_head {
	enum triad_history_tier tier;
	struct triad_history_entry entry; /* its time, sweep, and whether it is a key */
	uint64_t key, started_us, mark;
	uint32_t n_ports;
};

/* Reads the text of a line after "= image ".  False: malformed. */
bool triad_history_answer_read(
	const char *text, struct triad_history_answer_head *head);

#endif
