/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The words behind 'port ...'. */
#include "command/command_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "lib/text.h"

#define MAX_PRIORITY 15
#define MAX_PORT 254

struct place {
	const struct triad_verb *verb;
	struct triad_command *command;
	char *message;
	size_t size;
};

static int complain(const struct place *place, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int complain(const struct place *place, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	triad_verb_complain(place->verb, place->message, place->size, format, args);
	va_end(args);
	return EINVAL;
}

static int take_priority(const struct place *place, const char *word)
{
	unsigned number;

	if (!triad_text_number(word, &number) || number > MAX_PRIORITY)
		return complain(place, "%.80s: allowed are whole numbers, 0 to %u",
			word, MAX_PRIORITY);
	place->command->priority = number;
	return 0;
}

static int take_change(const struct place *place, const char *word, const char *guid)
{
	if (!g_ascii_strcasecmp(word, "add"))
		place->command->change = TRIAD_COMMAND_ADD;
	else if (!g_ascii_strcasecmp(word, "remove"))
		place->command->change = TRIAD_COMMAND_REMOVE;
	else
		return complain(place, "%.80s: allowed are add and remove", word);
	if (!guid)
		return complain(place, "%s needs the GUID of an SM's port", word);
	if (!triad_text_guid(guid, &place->command->guid))
		return complain(place,
			"%.80s: a GUID is 0x and 1 to 16 hexadecimal digits, not all 0",
			guid);
	return 0;
}

static int take_verdict(const struct place *place, const char *word)
{
	place->command->is_yes = !g_ascii_strcasecmp(word, "yes");
	if (!place->command->is_yes && g_ascii_strcasecmp(word, "no") != 0)
		return complain(place, "%.80s: allowed are yes and no", word);
	return 0;
}

static int take_place(const struct place *place, const char *node, const char *port)
{
	unsigned number;

	if (!port)
		return complain(place, "%.80s needs the number of a port", node);
	if (!*node || strlen(node) >= sizeof(place->command->node))
		return complain(
			place, "%.80s: a node is a GUID as 0x..., or a name", node);
	if (!triad_text_number(port, &number) || !number || number > MAX_PORT)
		return complain(place, "%.80s: a switch has ports from 1 to %u", port,
			MAX_PORT);
	snprintf(place->command->node, sizeof(place->command->node), "%s", node);
	place->command->port = (int)number;
	return 0;
}

int triad_command_take_port(const struct triad_verb *verb, const char *const *arguments,
	int n_arguments, struct triad_command *command, char *message, size_t size)
{
	const struct place place = {
		.verb = verb, .command = command, .message = message, .size = size};

	switch (verb->verb) {
	case TRIAD_COMMAND_PORT_PRIORITY:
		return take_priority(&place, arguments[0]);
	case TRIAD_COMMAND_PORT_BLACKLIST:
		return n_arguments ? take_change(&place, arguments[0],
					     n_arguments > 1 ? arguments[1] : NULL)
				   : 0;
	case TRIAD_COMMAND_PORT_RELEASE:
	case TRIAD_COMMAND_PORT_APPROVE:
		return n_arguments ? take_place(&place, arguments[0],
					     n_arguments > 1 ? arguments[1] : NULL)
				   : 0;
	case TRIAD_COMMAND_PORT_VERDICT:
		return take_verdict(&place, arguments[0]);
	default:
		return 0;
	}
}
