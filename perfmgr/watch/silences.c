/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/silences.h"

#include <string.h>

#include "lib/text.h"

/* --- the list --- */

static uint32_t find_silence(const struct triad_silences *silences, uint32_t id)
{
	uint32_t i = 0;

	while (i < silences->n && silences->list[i].id != id)
		i++;
	return i;
}

static void remove_at(struct triad_silences *silences, uint32_t at)
{
	silences->n--;
	memmove(&silences->list[at], &silences->list[at + 1],
		(silences->n - at) * sizeof(silences->list[0]));
	silences->version++;
}

uint64_t triad_silences_advance(struct triad_silences *silences, uint64_t wall_us)
{
	uint64_t next_us = UINT64_MAX;

	silences->wall_us = wall_us;
	for (uint32_t i = 0; i < silences->n;) {
		struct triad_silence *silence = &silences->list[i];
		uint64_t due_us;

		if (silence->until_us <= wall_us) {
			remove_at(silences, i);
			continue;
		}
		if (!silence->has_begun && silence->from_us <= wall_us) {
			silence->has_begun = true;
			silences->version++;
		}
		due_us = silence->has_begun ? silence->until_us : silence->from_us;
		if (due_us < next_us)
			next_us = due_us;
		i++;
	}
	return next_us;
}

uint32_t triad_silences_add(
	struct triad_silences *silences, const struct triad_silence *silence)
{
	uint32_t id = silence->id ? silence->id : silences->last_id + 1;
	uint32_t at = silences->n;

	if (silences->n == TRIAD_SILENCES_MAX ||
		find_silence(silences, id) < silences->n)
		return 0;
	while (at && silences->list[at - 1].id > id)
		at--;
	memmove(&silences->list[at + 1], &silences->list[at],
		(silences->n - at) * sizeof(silences->list[0]));
	silences->list[at] = *silence;
	silences->list[at].id = id;
	silences->list[at].has_begun = silence->from_us <= silences->wall_us;
	silences->n++;
	if (id > silences->last_id)
		silences->last_id = id;
	silences->version++;
	return id;
}

bool triad_silences_remove(struct triad_silences *silences, uint32_t id)
{
	uint32_t at = find_silence(silences, id);

	if (at == silences->n)
		return false;
	remove_at(silences, at);
	return true;
}

const struct triad_silence *triad_silences_get(
	const struct triad_silences *silences, uint32_t id)
{
	uint32_t at = find_silence(silences, id);

	return at < silences->n ? &silences->list[at] : NULL;
}

/* --- matching --- */

bool triad_silence_fits_end(const struct triad_silence *silence, uint64_t node_guid,
	const char *node_name, uint8_t port)
{
	if (silence->is_ack)
		return silence->node_guid == node_guid && silence->port == port;
	return (silence->choice.port < 0 || silence->choice.port == port) &&
		triad_node_choice_has(&silence->choice, node_name, node_guid);
}

/* Whether a finding concerns the fabric: forwarding tables are its own, and their fault only
 * shows at the alert's place. */
static bool is_of_fabric(const struct triad_alert *alert)
{
	for (unsigned i = 0; i < alert->n_findings; i++)
		if (alert->findings[i].cause == TRIAD_ALERT_ROUTES &&
			alert->findings[i].routes != TRIAD_ALERT_REQUESTS)
			return true;
	return false;
}

static bool is_worse(
	const struct triad_alert *alert, const struct triad_silence *silence)
{
	return (is_of_fabric(alert) && silence->kind != TRIAD_ALERT_KIND_ROUTES) ||
		triad_severity_is_worse(
			triad_alert_severity(alert), silence->severity) ||
		triad_alert_kind(alert) > silence->kind;
}

bool triad_silences_fit_end(const struct triad_silences *silences, uint64_t node_guid,
	const char *node_name, uint8_t port)
{
	for (uint32_t i = 0; i < silences->n; i++)
		if (silences->list[i].has_begun &&
			triad_silence_fits_end(
				&silences->list[i], node_guid, node_name, port))
			return true;
	return false;
}

static bool fits_any_end(
	const struct triad_silence *silence, const struct triad_alert *alert)
{
	for (unsigned i = 0; i < alert->n_ends; i++)
		if (triad_silence_fits_end(silence, alert->ends[i].node_guid,
			    alert->ends[i].node_name, alert->ends[i].port))
			return true;
	return false;
}

bool triad_silence_fits(
	const struct triad_silence *silence, const struct triad_alert *alert)
{
	return !(silence->is_ack ? is_worse(alert, silence) : is_of_fabric(alert)) &&
		fits_any_end(silence, alert);
}

void triad_silences_note(
	struct triad_silences *silences, const struct triad_alert *alert)
{
	bool has_ended = alert->state == TRIAD_ALERT_CLEARED;

	for (uint32_t i = silences->n; i-- > 0;) {
		const struct triad_silence *silence = &silences->list[i];

		if (silence->is_ack && fits_any_end(silence, alert) &&
			(has_ended || is_worse(alert, silence)))
			remove_at(silences, i);
	}
}

const struct triad_silence *triad_silences_find(
	const struct triad_silences *silences, const struct triad_alert *alert)
{
	const struct triad_silence *longest = NULL;

	for (uint32_t i = 0; i < silences->n; i++) {
		const struct triad_silence *silence = &silences->list[i];

		if (silence->has_begun &&
			(!longest || silence->until_us > longest->until_us) &&
			triad_silence_fits(silence, alert))
			longest = silence;
	}
	return longest;
}

struct triad_silence triad_silence_of_alert(const struct triad_alert *alert)
{
	struct triad_silence silence = {
		.is_ack = true,
		.choice = {.port = -1},
		.node_guid = alert->ends[0].node_guid,
		.port = alert->ends[0].port,
		.kind = (uint8_t)triad_alert_kind(alert),
		.severity = (uint8_t)triad_alert_severity(alert),
	};
	char end[TRIAD_ALERT_PLACE_SIZE];

	for (unsigned i = 0; i < alert->n_ends; i++) {
		triad_alert_place_format(alert, i, end, sizeof(end));
		triad_text_append(silence.place, sizeof(silence.place), "%s%s",
			i ? " - " : "", end);
	}
	return silence;
}
