/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/fact.h"

#include <string.h>

static const void *member_at(const struct triad_fact_member *member, const void *status)
{
	return (const char *)status + member->offset;
}

static uint64_t read_uint(const struct triad_fact_member *member, const void *status)
{
	const void *at = member_at(member, status);

	switch (member->size) {
	case sizeof(uint8_t):
		return *(const uint8_t *)at;
	case sizeof(uint16_t):
		return *(const uint16_t *)at;
	case sizeof(uint32_t):
		return *(const uint32_t *)at;
	default:
		return *(const uint64_t *)at;
	}
}

/* Microseconds since 1970; 0: never. */
static uint64_t read_wall_us(const struct triad_fact *fact, const void *status)
{
	uint64_t at_us = read_uint(&fact->member, status);

	return at_us ? triad_clock_to_wall_us(at_us) : 0;
}

uint64_t triad_fact_uint(const struct triad_fact *fact, const void *status)
{
	uint64_t value = read_uint(&fact->member, status);

	if (fact->member.kind == TRIAD_FACT_MS)
		value /= TRIAD_US_PER_MS;
	for (unsigned i = 0; i < 2; i++)
		if (fact->plus[i].kind != TRIAD_FACT_END)
			value += read_uint(&fact->plus[i], status);
	return value;
}

double triad_fact_value(const struct triad_fact *fact, const void *status)
{
	switch (fact->member.kind) {
	case TRIAD_FACT_US:
	case TRIAD_FACT_MS:
		return (double)read_uint(&fact->member, status) /
			(double)TRIAD_US_PER_S;
	case TRIAD_FACT_NS:
		return (double)read_uint(&fact->member, status) / 1e9;
	case TRIAD_FACT_WHEN:
		return (double)read_wall_us(fact, status) / (double)TRIAD_US_PER_S;
	default:
		return (double)triad_fact_uint(fact, status);
	}
}

const char *triad_fact_text(const struct triad_fact *fact, const void *status,
	char room[TRIAD_CLOCK_TEXT_SIZE])
{
	const char *text = member_at(&fact->member, status);
	int error;

	switch (fact->member.kind) {
	case TRIAD_FACT_ERROR:
		memcpy(&error, text, sizeof(error));
		return error ? strerror(error) : NULL;
	case TRIAD_FACT_WHEN:
		if (!read_uint(&fact->member, status))
			return NULL;
		triad_clock_format(read_wall_us(fact, status), room);
		return room;
	default:
		return text[0] ? text : NULL;
	}
}
