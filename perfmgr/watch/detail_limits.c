/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/detail_limits.h"

struct look {
	const struct triad_detail_thresholds *thresholds;
	const struct triad_detail_row *row;
	double worst;    /* value of 'found' over its threshold; below 1: under it */
	uint64_t looked; /* bit i: field i was read */
	struct triad_alert_finding *found;
};

_Static_assert(TRIAD_DETAIL_N_FIELDS <= 64, "a number holds a set of fields");

static void look_at_field(struct look *look, unsigned index)
{
	const struct triad_detail_field *field = &triad_detail_fields[index];
	double limit = look->thresholds->per_s[index];

	look->looked |= UINT64_C(1) << index;
	for (unsigned i = 0; i < field->n; i++) {
		double change = (double)look->row->change[field->slot + i];
		double per_s = change * 1e6 / (double)look->row->interval_us;

		if (per_s / limit <= look->worst)
			continue;
		look->worst = per_s / limit;
		*look->found = (struct triad_alert_finding){
			.value = (float)per_s,
			.at_least = look->row->saturated >> (field->slot + i) & 1,
			.threshold = {.value = limit, .unit = TRIAD_THRESHOLD_PER_S},
			.why = {.field = (uint8_t)(index + 1), .element = (uint8_t)i},
		};
	}
}

static void look_at_attribute(struct look *look, enum triad_pma_attribute attribute)
{
	for (unsigned i = 0; i < TRIAD_DETAIL_N_FIELDS; i++)
		if (triad_detail_fields[i].attributes & TRIAD_DETAIL_BIT(attribute) &&
			look->thresholds->per_s[i] > 0)
			look_at_field(look, i);
}

enum triad_detail_verdict triad_detail_limits_look(
	const struct triad_detail_thresholds *thresholds, const struct triad_view *view,
	uint32_t port, struct triad_alert_why known, uint64_t since_us,
	struct triad_alert_finding *found)
{
	const struct triad_details *details = triad_engine_details(view->engine);
	const struct triad_details_port of = triad_view_details_port(view, port);
	struct triad_detail_row row;
	struct look look = {.thresholds = thresholds, .row = &row, .found = found};
	bool is_watched = known.field && thresholds->per_s[known.field - 1] > 0;

	/* The threshold was removed. */
	if (known.field && !is_watched)
		return TRIAD_DETAIL_IS_UNDER;
	for (uint32_t left = thresholds->attributes; left; left &= left - 1) {
		enum triad_pma_attribute attribute =
			(enum triad_pma_attribute)__builtin_ctz(left);

		if (triad_details_read(details, &of, attribute, &row) &&
			row.read_us >= since_us && row.interval_us)
			look_at_attribute(&look, attribute);
	}
	if (look.worst >= 1)
		return TRIAD_DETAIL_IS_OVER;
	return known.field && look.looked >> (known.field - 1) & 1
		? TRIAD_DETAIL_IS_UNDER
		: TRIAD_DETAIL_NOTHING_NEW;
}
