/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/command/outputs.h"

#include <stdio.h>
#include <string.h>

#include "command/command_table.h"
#include "service/command/moment.h"
#include "service/service.h"

/* --- what they answer now --- */

struct taking {
	struct triad_history_output *to;
	uint32_t room; /* for all answers together */
};

static bool take_frame(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	struct taking *taking = context;
	struct triad_history_output *to = taking->to;

	/* No user waits for this output, so ignore progress. */
	if (type == TRIAD_FRAME_PROGRESS)
		return true;
	to->is_left_out |= size + TRIAD_FRAME_HEADER_SIZE > taking->room - to->size ||
		triad_history_output_add(to, type, data, (uint32_t)size) != 0;
	return !to->is_left_out;
}

static void run_verb(struct triad_service *service, const struct triad_verb *verb,
	bool is_json, struct taking *taking)
{
	const struct triad_service_owner *owner = service->owner;
	struct triad_command command = triad_verb_default(verb);
	struct triad_history_output *to = taking->to;
	struct triad_output output;

	snprintf(to->command, sizeof(to->command), "%s", verb->name);
	to->is_json = is_json;
	to->is_left_out = false;
	to->size = 0;
	command.json = is_json;
	command.table = !is_json;
	command.for_image = true;
	if (verb->kept_rows)
		command.limit = verb->kept_rows;
	triad_output_init(&output, take_frame, taking);
	output.tables = !is_json;
	to->status = (uint8_t)owner->run(owner->context, "triadctl", &command, &output);
	triad_output_flush(&output);
	if (to->is_left_out)
		to->size = 0;
	taking->room -= to->size;
}

uint32_t triad_outputs_run(struct triad_service *service,
	struct triad_history_output *outputs, uint32_t *n_left_out)
{
	struct taking taking = {.room = TRIAD_HISTORY_OUTPUTS_SIZE};
	uint32_t n = 0;

	for (unsigned i = 0; i < TRIAD_N_COMMANDS; i++)
		for (unsigned is_json = 0;
			triad_verb_is_kept(&triad_verbs[i]) && is_json < 2; is_json++) {
			if (n == TRIAD_HISTORY_MAX_OUTPUTS) {
				++*n_left_out;
				continue;
			}
			taking.to = &outputs[n++];
			run_verb(service, &triad_verbs[i], is_json, &taking);
			*n_left_out += taking.to->is_left_out;
		}
	return n;
}

/* --- what they answered then --- */

static void show_frames(
	const struct triad_history_output *from, struct triad_output *output)
{
	struct triad_frame frame;
	const uint8_t *data;
	uint32_t at = 0;

	while (triad_history_output_next(from, &at, &frame, &data)) {
		if (frame.type == TRIAD_FRAME_OUTPUT)
			triad_output_put(output, (const char *)data, frame.size);
		else if (frame.type == TRIAD_FRAME_TABLE)
			triad_output_put_table(output, data, frame.size);
		else
			triad_output_message(output, TRIAD_FRAME_MESSAGE, "%.*s",
				(int)frame.size, (const char *)data);
	}
}

static bool has_table(const struct triad_history_output *output)
{
	struct triad_frame frame;
	const uint8_t *data;
	uint32_t at = 0;

	while (triad_history_output_next(output, &at, &frame, &data))
		if (frame.type == TRIAD_FRAME_TABLE)
			return true;
	return false;
}

int triad_outputs_show(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output)
{
	const struct triad_verb *verb = triad_verb_of(command->verb);
	const char *name = verb->name;
	const struct triad_history_output *found;
	struct triad_past *past = triad_moment_outputs(service, command, output);
	int status = triad_verb_no_answer(verb);

	if (!past)
		return status;
	found = triad_history_output_find(
		past->outputs, past->n_outputs, name, command->json);
	if (found && found->is_left_out) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: its answer then was left out of the image: it was longer "
			"than %u octets, or all answers were longer than %u\n",
			name, TRIAD_HISTORY_OUTPUT_SIZE, TRIAD_HISTORY_OUTPUTS_SIZE);
	} else if (found && has_table(found) && !output->tables) {
		/* OpenSM's console, and other clients that do not lay out tables. */
		status = TRIAD_CONTROL_USAGE;
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: what it answered then is laid out by triadctl: type "
			"'triadctl %s --at %s' in a shell\n",
			name, name, command->at);
	} else if (found) {
		status = found->status;
		show_frames(found, output);
	} else {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"%s: that image has no answer of it: the Triad that wrote it did "
			"not keep it\n",
			name);
	}
	triad_past_free(past);
	return status;
}
