/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/record.h"

#include <string.h>

#include "ib/ber_target.h"
#include "ib/detail.h"
#include "lib/fields.h"
#include "triad/fabric.h"

#define ALERT(member, n) TRIAD_FIELD(struct triad_alert, member, n)
#define END(member, n) TRIAD_FIELD(struct triad_alert_end, member, n)
#define FINDING(member, n) TRIAD_FIELD(struct triad_alert_finding, member, n)
#define FINDING_FLAG(member, mask) TRIAD_FLAG(struct triad_alert_finding, member, mask)
#define LINK(member, n) TRIAD_FIELD(struct triad_link, member, n)
#define LINK_END(member, n) TRIAD_FIELD(struct triad_link_end, member, n)
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static const struct triad_field alert_fields[] = {
	ALERT(id, 8),
	ALERT(state, 1),
	ALERT(n_ends, 1),
	TRIAD_FLAG(struct triad_alert, forgotten, 0x1),
	ALERT(n_nodes, 4),
	ALERT(n_links, 4),
	ALERT(raised_us, 8),
	ALERT(cleared_us, 8),
	ALERT(sm.kind, 1),
	ALERT(sm.trap, 2),
	ALERT(sm.at_us, 8),
	ALERT(silence, 4),
	ALERT(silenced_until_us, 8),
	ALERT(more[0], 4),
	ALERT(more[1], 4),
};

static const struct triad_field end_fields[] = {
	END(node_guid, 8),
	END(lid, 2),
	END(node_type, 1),
	END(port, 1),
	TRIAD_TEXT(struct triad_alert_end, node_name),
};

static const struct triad_field finding_fields[] = {
	FINDING(cause, 1),
	FINDING(end, 1),
	FINDING_FLAG(raised, 0x1),
	FINDING_FLAG(at_least, 0x2),
	FINDING_FLAG(judged, 0x4),
	FINDING_FLAG(why.is_only_one, 0x8),
	FINDING(routes, 1),
	FINDING(why.field, 1),
	FINDING(why.element, 1),
	FINDING(value, 4),
	FINDING(worst, 4),
	FINDING(threshold.value, 8),
	FINDING(threshold.unit, 1),
	FINDING(ber.kind, 1),
	FINDING(ber.low, 4),
	FINDING(ber.high, 4),
	FINDING(ber.target, 4),
	FINDING(ber.in_s, 4),
	FINDING(hardware.fault, 1),
	FINDING(hardware.index, 1),
	FINDING(hardware.limit, 4),
	FINDING(since_us, 8),
	FINDING(under_us, 8),
};

static const struct triad_field link_fields[] = {
	LINK(state, 1),
	LINK(rate.width, 1),
	LINK(rate.speed, 1),
	LINK(n_seen, 4),
	LINK(down_us, 8),
	LINK(up_us, 8),
	LINK(counted_us, 8),
};

static const struct triad_field link_end_fields[] = {
	LINK_END(node_guid, 8),
	LINK_END(port_guid, 8),
	LINK_END(n_counted, 4),
	LINK_END(lid, 2),
	LINK_END(node_type, 1),
	LINK_END(port, 1),
	TRIAD_TEXT(struct triad_link_end, node_name),
};

/* --- digits --- */

size_t triad_history_put_hex(char *to, const uint8_t *octets, size_t n)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		*to++ = digits[octets[i] >> 4];
		*to++ = digits[octets[i] & 15];
	}
	return 2 * n;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool triad_history_get_hex(const char *from, size_t n, uint8_t *octets)
{
	for (size_t i = 0; i + 1 < n; i += 2) {
		int high = digit_of(from[i]), low = digit_of(from[i + 1]);

		if (high < 0 || low < 0)
			return false;
		octets[i / 2] = (uint8_t)(high << 4 | low);
	}
	return n % 2 == 0;
}

/* --- times --- */

static void shift_alert(struct triad_alert *alert, int64_t offset_us)
{
	triad_history_shift(&alert->raised_us, offset_us);
	triad_history_shift(&alert->cleared_us, offset_us);
	triad_history_shift(&alert->sm.at_us, offset_us);
}

static void shift_finding(struct triad_alert_finding *finding, int64_t offset_us)
{
	triad_history_shift(&finding->since_us, offset_us);
	triad_history_shift(&finding->under_us, offset_us);
}

static void shift_link(struct triad_link *link, int64_t offset_us)
{
	triad_history_shift(&link->down_us, offset_us);
	triad_history_shift(&link->up_us, offset_us);
	triad_history_shift(&link->counted_us, offset_us);
}

/* --- lines --- */

static size_t put_hex_line(char *to, const char *name, const struct triad_wire *wire)
{
	char *at = stpcpy(to, name);

	at += triad_history_put_hex(at, wire->start, wire->at);
	*at++ = '\n';
	*at = '\0';
	return (size_t)(at - to);
}

size_t triad_history_put_alert(
	char *to, const struct triad_alert *alert, int64_t offset_us)
{
	struct triad_alert copy = *alert;
	uint8_t octets[TRIAD_HISTORY_DIGITS / 2];
	struct triad_wire wire;

	shift_alert(&copy, offset_us);
	triad_wire_init(&wire, octets, sizeof(octets));
	triad_fields_put(&wire, alert_fields, COUNT(alert_fields), &copy);
	for (unsigned i = 0; i < copy.n_ends; i++)
		triad_fields_put(&wire, end_fields, COUNT(end_fields), &copy.ends[i]);
	return put_hex_line(to, "# triad-alert ", &wire);
}

size_t triad_history_put_finding(
	char *to, const struct triad_alert_finding *finding, int64_t offset_us)
{
	struct triad_alert_finding copy = *finding;
	uint8_t octets[TRIAD_HISTORY_DIGITS / 2];
	struct triad_wire wire;

	shift_finding(&copy, offset_us);
	triad_wire_init(&wire, octets, sizeof(octets));
	triad_fields_put(&wire, finding_fields, COUNT(finding_fields), &copy);
	return put_hex_line(to, "# triad-finding ", &wire);
}

size_t triad_history_put_link(
	char *to, const struct triad_link *link, int64_t offset_us)
{
	struct triad_link copy = *link;
	uint8_t octets[TRIAD_HISTORY_DIGITS / 2];
	struct triad_wire wire;

	shift_link(&copy, offset_us);
	triad_wire_init(&wire, octets, sizeof(octets));
	triad_fields_put(&wire, link_fields, COUNT(link_fields), &copy);
	for (unsigned i = 0; i < 2; i++)
		triad_fields_put(
			&wire, link_end_fields, COUNT(link_end_fields), &copy.ends[i]);
	return put_hex_line(to, "# triad-link ", &wire);
}

static bool begin_reading(
	struct triad_wire *wire, uint8_t *octets, const char *from, size_t n)
{
	if (n > TRIAD_HISTORY_DIGITS || !triad_history_get_hex(from, n, octets))
		return false;
	triad_wire_init(wire, octets, n / 2);
	return true;
}

static void clean_name(char name[TRIAD_NODE_NAME_SIZE])
{
	char copy[TRIAD_NODE_NAME_SIZE];

	memcpy(copy, name, sizeof(copy));
	triad_fabric_clean_name(name, copy);
}

bool triad_history_get_alert(
	const char *from, size_t n, struct triad_alert *alert, int64_t offset_us)
{
	uint8_t octets[TRIAD_HISTORY_DIGITS / 2];
	struct triad_wire wire;

	*alert = (struct triad_alert){0};
	if (!begin_reading(&wire, octets, from, n))
		return false;
	triad_fields_get(&wire, alert_fields, COUNT(alert_fields), alert);
	if (wire.failed || alert->state > TRIAD_ALERT_CLEARED || !alert->n_ends ||
		alert->n_ends > 2 || alert->sm.kind > TRIAD_ALERT_SM_TRAP)
		return false;
	for (unsigned i = 0; i < alert->n_ends; i++) {
		triad_fields_get(&wire, end_fields, COUNT(end_fields), &alert->ends[i]);
		clean_name(alert->ends[i].node_name);
		alert->more[i] &= (uint32_t)((UINT64_C(1) << TRIAD_ALERT_N_CAUSES) - 1);
	}
	shift_alert(alert, -offset_us);
	return !wire.failed;
}

bool triad_history_get_finding(const char *from, size_t n,
	struct triad_alert_finding *finding, int64_t offset_us)
{
	uint8_t octets[TRIAD_HISTORY_DIGITS / 2];
	struct triad_wire wire;

	*finding = (struct triad_alert_finding){0};
	if (!begin_reading(&wire, octets, from, n))
		return false;
	triad_fields_get(&wire, finding_fields, COUNT(finding_fields), finding);
	shift_finding(finding, -offset_us);
	/* Check all numbers that are used as indexes. */
	return !wire.failed && finding->cause < TRIAD_ALERT_N_CAUSES &&
		finding->end < 2 && finding->routes < TRIAD_ALERT_N_ROUTES &&
		finding->why.field <= TRIAD_DETAIL_N_FIELDS &&
		finding->threshold.unit <= TRIAD_THRESHOLD_PERCENT &&
		finding->ber.kind < TRIAD_BER_N_KINDS &&
		finding->hardware.fault < TRIAD_HARDWARE_N_FAULTS;
}

bool triad_history_get_link(
	const char *from, size_t n, struct triad_link *link, int64_t offset_us)
{
	uint8_t octets[TRIAD_HISTORY_DIGITS / 2];
	struct triad_wire wire;

	*link = (struct triad_link){0};
	if (!begin_reading(&wire, octets, from, n))
		return false;
	triad_fields_get(&wire, link_fields, COUNT(link_fields), link);
	for (unsigned i = 0; i < 2; i++) {
		triad_fields_get(
			&wire, link_end_fields, COUNT(link_end_fields), &link->ends[i]);
		clean_name(link->ends[i].node_name);
	}
	shift_link(link, -offset_us);
	return !wire.failed && link->state <= TRIAD_LINK_UNREACHABLE &&
		link->rate.speed < TRIAD_N_SPEEDS;
}
