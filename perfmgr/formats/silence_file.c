/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/formats/silence_file.h"

#include <errno.h>
#include <string.h>

#include "lib/fields.h"
#include "lib/format_version.h"
#include "lib/text.h"

#define NAME "Silences of Triad"

static const char title[] = NAME ", version 1\n";

static const struct triad_field fields[] = {
	TRIAD_FIELD(struct triad_silence, id, 4),
	TRIAD_FIELD(struct triad_silence, from_us, 8),
	TRIAD_FIELD(struct triad_silence, until_us, 8),
	TRIAD_FLAG(struct triad_silence, is_ack, 0x1),
	TRIAD_FIELD(struct triad_silence, choice.rule, 1),
	TRIAD_FIELD(struct triad_silence, choice.port, 4),
	TRIAD_FIELD(struct triad_silence, choice.guid, 8),
	TRIAD_TEXT(struct triad_silence, choice.name),
	TRIAD_FIELD(struct triad_silence, node_guid, 8),
	TRIAD_FIELD(struct triad_silence, port, 1),
	TRIAD_FIELD(struct triad_silence, kind, 1),
	TRIAD_FIELD(struct triad_silence, severity, 1),
	TRIAD_TEXT(struct triad_silence, place),
	TRIAD_TEXT(struct triad_silence, by),
	TRIAD_TEXT(struct triad_silence, reason),
};

size_t triad_silence_file_write(
	const struct triad_silences *silences, uint8_t octets[TRIAD_SILENCE_FILE_SIZE])
{
	struct triad_wire wire;

	triad_wire_init(&wire, octets, TRIAD_SILENCE_FILE_SIZE);
	memcpy(triad_wire_take(&wire, strlen(title)), title, strlen(title));
	triad_wire_put(&wire, 4, silences->last_id);
	triad_wire_put(&wire, 2, silences->n);
	for (uint32_t i = 0; i < silences->n; i++)
		TRIAD_FIELDS_PUT(&wire, fields, &silences->list[i]);
	return wire.at;
}

static bool is_sound(const struct triad_silence *silence)
{
	return silence->id && silence->choice.rule <= TRIAD_NODE_RULE_NONE &&
		silence->choice.port >= -1 &&
		silence->choice.port < (int)TRIAD_ALERT_NO_PORT &&
		silence->kind < TRIAD_ALERT_N_KINDS &&
		silence->severity < TRIAD_N_SEVERITIES;
}

/* Returns false for what is no silence. */
static bool read_silence(struct triad_wire *wire, struct triad_silences *silences)
{
	struct triad_silence silence = {0};

	TRIAD_FIELDS_GET(wire, fields, &silence);
	if (wire->failed || !is_sound(&silence))
		return false;
	triad_text_clean(silence.place);
	triad_text_clean(silence.by);
	triad_text_clean(silence.reason);
	return silence.until_us <= silences->wall_us ||
		triad_silences_add(silences, &silence);
}

unsigned triad_silence_file_version(const uint8_t *octets, size_t size)
{
	return triad_format_version((const char *)octets, size, NAME);
}

int triad_silence_file_read(
	uint8_t *octets, size_t size, struct triad_silences *silences)
{
	struct triad_wire wire;
	const uint8_t *begin;
	uint32_t last_id;
	unsigned n;

	triad_wire_init(&wire, octets, size);
	if (triad_silence_file_version(octets, size) > TRIAD_SILENCE_FILE_VERSION)
		return EPROTONOSUPPORT;
	begin = triad_wire_take(&wire, strlen(title));
	if (!begin || memcmp(begin, title, strlen(title)) != 0)
		return EPROTO;
	last_id = (uint32_t)triad_wire_get(&wire, 4);
	n = (unsigned)triad_wire_get(&wire, 2);
	while (n && read_silence(&wire, silences))
		n--;
	if (n || wire.failed || wire.at != size) {
		*silences = (struct triad_silences){.wall_us = silences->wall_us};
		return EINVAL;
	}
	if (silences->last_id < last_id)
		silences->last_id = last_id;
	return 0;
}
