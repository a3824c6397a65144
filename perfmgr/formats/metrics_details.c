/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Families of details (ib/detail.h). */
#include "perfmgr/formats/metrics_parts.h"

/* The totals of a field, one for each VL or SL; all lanes are one. */
struct totals {
	bool is_known;
	unsigned n;
	uint64_t of[16];
};

/* A port may have a field from several attributes, one after the other: the two layouts
 * of PortExtendedSpeedsCounters. */
static void read_totals(const struct triad_view *view, uint32_t index,
	const struct triad_detail_field *field, struct totals *totals)
{
	const struct triad_details_port of = triad_view_details_port(view, index);
	bool is_sum = field->part == TRIAD_PART_LANE;
	struct triad_detail_row row;

	*totals = (struct totals){.n = is_sum ? 1 : field->n};
	for (uint32_t left = field->attributes; left; left &= left - 1) {
		enum triad_pma_attribute attribute = __builtin_ctz(left);

		if (!triad_details_read(
			    triad_engine_details(view->engine), &of, attribute, &row))
			continue;
		totals->is_known = true;
		for (unsigned i = 0; i < field->n; i++)
			totals->of[is_sum ? 0 : i] += row.total[field->slot + i];
	}
}

void triad_metrics_put_detail(
	struct triad_metrics *metrics, struct triad_exposition *writer, uint32_t index)
{
	const struct triad_fabric_port *port = &metrics->view->fabric->ports[index];
	const struct triad_detail_field *field = triad_metrics_detail(metrics->family);
	struct totals totals;

	if (triad_view_is_skipped(metrics->view, index))
		return;
	read_totals(metrics->view, index, field, &totals);
	for (unsigned i = 0; totals.is_known && i < totals.n; i++) {
		/* Few VLs are used: omit those that carry nothing. */
		if (totals.n > 1 && !totals.of[i])
			continue;
		triad_metrics_put_family_header(metrics, writer);
		triad_metrics_put_prefix(metrics, writer, port->guid, "_total");
		triad_exposition_puts(writer, ",port=\"");
		triad_exposition_uint(writer, port->number);
		if (totals.n > 1) {
			triad_exposition_puts(writer, "\",");
			triad_exposition_puts(
				writer, triad_detail_part_name(field->part));
			triad_exposition_puts(writer, "=\"");
			triad_exposition_uint(writer, i);
		}
		triad_exposition_puts(writer, "\"} ");
		if (field->unit == TRIAD_UNIT_WORDS)
			triad_exposition_octets(writer, totals.of[i]);
		else
			triad_exposition_uint(writer, totals.of[i]);
		triad_exposition_put(writer, "\n", 1);
	}
}
