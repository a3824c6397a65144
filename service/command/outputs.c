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
	bool is_full;
};

static bool take_frame(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	struct taking *taking = context;

	/* Progress is for who waits. */
	if (type == TRIAD_FRAME_PROGRESS)
		return true;
	taking->is_full |=
		triad_history_output_add(taking->to, type, data, (uint32_t)size) != 0;
	return !taking->is_full;
}

/* False: it is to be left out. */
static bool run(struct triad_service *service, const struct triad_verb *verb,
	bool is_json, struct triad_history_output *to)
{
	const struct triad_service_owner *owner = service->owner;
	struct triad_command command = triad_verb_default(verb);
	struct taking taking = {.to = to};
	struct triad_output output;

	snprintf(to->command, sizeof(to->command), "%s", verb->name);
	to->is_json = is_json;
	to->size = 0;
	command.json = is_json;
	command.table = !is_json;
	triad_output_init(&output, take_frame, &taking);
	output.tables = !is_json;
	to->status = (uint8_t)owner->run(owner->context, "triadctl", &command, &output);
	triad_output_flush(&output);
	return !taking.is_full;
}

uint32_t triad_outputs_run(struct triad_service *service,
	struct triad_history_output *outputs, uint32_t *n_left_out)
{
	uint32_t n = 0;

	for (unsigned i = 0; i < TRIAD_N_COMMANDS; i++)
		for (unsigned is_json = 0; triad_verbs[i].is_kept && is_json < 2;
			is_json++) {
			bool has_room = n < TRIAD_HISTORY_MAX_OUTPUTS &&
				run(service, &triad_verbs[i], is_json, &outputs[n]);

			n += has_room;
			*n_left_out += !has_room;
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
	const char *name = triad_verb_of(command->verb)->name;
	const struct triad_history_output *found;
	struct triad_past *past = triad_moment_outputs(service, command, output);
	int status = TRIAD_CONTROL_FAILED;

	if (!past)
		return TRIAD_CONTROL_FAILED;
	found = triad_history_output_find(
		past->outputs, past->n_outputs, name, command->json);
	if (found && has_table(found) && !output->tables) {
		/* OpenSM's console, and who else asks for lines. */
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
			"%s: that image has no answer of it: an earlier Triad wrote it, "
			"or the answer was longer than %u octets\n",
			name, TRIAD_HISTORY_OUTPUT_SIZE);
	}
	triad_past_free(past);
	return status;
}
