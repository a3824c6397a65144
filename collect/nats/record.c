/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "collect/nats/record.h"

#include <errno.h>

#include "lib/fields.h"
#include "lib/text.h"

static const struct triad_field state_fields[] = {
	TRIAD_FLAG(struct triad_bus_status, is_connected, 0x1),
	TRIAD_TEXT(struct triad_bus_status, server),
	TRIAD_TEXT(struct triad_bus_status, reason),
	TRIAD_FIELD(struct triad_bus_status, n_connects, 8),
	TRIAD_FIELD(struct triad_bus_status, n_sent, 8),
	TRIAD_FIELD(struct triad_bus_status, n_received, 8),
	TRIAD_FIELD(struct triad_bus_status, n_send_dropped, 8),
	TRIAD_FIELD(struct triad_bus_status, n_receive_dropped, 8),
	TRIAD_FIELD(struct triad_bus_status, n_oversize, 8),
};

static const struct triad_field params_fields[] = {
	TRIAD_TEXT(struct triad_bus_params, servers),
	TRIAD_TEXT(struct triad_bus_params, fabric),
	TRIAD_TEXT(struct triad_bus_params, credentials),
	TRIAD_TEXT(struct triad_bus_params, tls_ca),
	TRIAD_TEXT(struct triad_bus_params, tls_certificate),
	TRIAD_TEXT(struct triad_bus_params, tls_key),
	TRIAD_TEXT(struct triad_bus_params, name),
	TRIAD_FIELD(struct triad_bus_params, id, 8),
	TRIAD_FLAG(struct triad_bus_params, is_manager, 0x1),
};

/* --- writing --- */

void triad_bus_record_put_header(
	const struct triad_bus_record *record, uint8_t header[TRIAD_BUS_HEADER_SIZE])
{
	struct triad_wire wire;

	triad_wire_init(&wire, header, TRIAD_BUS_HEADER_SIZE);
	triad_wire_put(&wire, 1, record->kind);
	triad_wire_put(&wire, 1, record->detail);
	triad_wire_put(&wire, 2, 0);
	triad_wire_put(&wire, 4, record->size);
	triad_wire_put(&wire, 8, record->id);
}

size_t triad_bus_record_put_state(
	const struct triad_bus_status *status, uint8_t octets[TRIAD_BUS_FIELDS_SIZE])
{
	struct triad_wire wire;

	triad_wire_init(&wire, octets, TRIAD_BUS_FIELDS_SIZE);
	TRIAD_FIELDS_PUT(&wire, state_fields, status);
	return wire.at;
}

size_t triad_bus_record_put_params(
	const struct triad_bus_params *params, uint8_t octets[TRIAD_BUS_FIELDS_SIZE])
{
	struct triad_wire wire;

	triad_wire_init(&wire, octets, TRIAD_BUS_FIELDS_SIZE);
	TRIAD_FIELDS_PUT(&wire, params_fields, params);
	return wire.at;
}

/* --- reading --- */

bool triad_bus_record_get_state(
	const struct triad_bus_record *record, struct triad_bus_status *status)
{
	struct triad_wire wire;

	*status = (struct triad_bus_status){0};
	triad_wire_init(&wire, record->octets, record->size);
	TRIAD_FIELDS_GET(&wire, state_fields, status);
	triad_text_clean(status->server);
	triad_text_clean(status->reason);
	return !wire.failed && wire.at == wire.size;
}

bool triad_bus_record_get_params(
	const struct triad_bus_record *record, struct triad_bus_params *params)
{
	struct triad_wire wire;

	*params = (struct triad_bus_params){0};
	triad_wire_init(&wire, record->octets, record->size);
	TRIAD_FIELDS_GET(&wire, params_fields, params);
	triad_text_clean(params->name);
	return !wire.failed && wire.at == wire.size;
}

/* Reads the header of the record that begins.  False: malformed. */
static bool read_header(struct triad_bus_reader *reader)
{
	struct triad_bus_record *record = &reader->record;
	struct triad_wire wire;
	uint16_t reserved;

	triad_wire_init(&wire, reader->octets, TRIAD_BUS_HEADER_SIZE);
	record->kind = triad_wire_get8(&wire);
	record->detail = triad_wire_get8(&wire);
	reserved = triad_wire_get16(&wire);
	record->size = triad_wire_get32(&wire);
	record->id = triad_wire_get64(&wire);
	record->octets = reader->octets + TRIAD_BUS_HEADER_SIZE;
	if (reserved || !record->size)
		return false;
	switch (record->kind) {
	case TRIAD_BUS_MESSAGE:
		return record->size <= TRIAD_COLLECT_MAX_SIZE &&
			record->detail <= TRIAD_MEMBER_TO_MANAGERS;
	case TRIAD_BUS_STATE:
	case TRIAD_BUS_PARAMS:
		return record->size <= TRIAD_BUS_FIELDS_SIZE && record->detail <= 1;
	default:
		return false;
	}
}

int triad_bus_reader_put(
	struct triad_bus_reader *reader, const void *octets, size_t size)
{
	for (const uint8_t *at = octets; size;) {
		bool is_header = reader->used < TRIAD_BUS_HEADER_SIZE;
		size_t whole =
			TRIAD_BUS_HEADER_SIZE + (is_header ? 0 : reader->record.size);
		size_t n = whole - reader->used < size ? whole - reader->used : size;

		memcpy(reader->octets + reader->used, at, n);
		reader->used += n;
		at += n;
		size -= n;
		if (reader->used < whole)
			break;
		if (is_header && !read_header(reader))
			return EPROTO;
		if (is_header)
			continue;
		reader->used = 0;
		reader->take(reader->context, &reader->record);
	}
	return 0;
}
