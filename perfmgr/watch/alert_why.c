/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/watch/alert_why.h"

#include <string.h>

#define BAD_CABLE "check the cable and its plugs"
#define SLOW_RECEIVER "look for what takes its packets too slowly behind the far end"

struct triad_alert_why triad_alert_find_why(const struct triad_view *view,
	uint32_t port, unsigned counter, double interval_us, uint64_t now_us)
{
	const struct triad_details_port of = triad_view_details_port(view, port);
	uint32_t attributes = triad_detail_explain(UINT32_C(1) << counter);
	struct triad_alert_why why = {0};
	struct triad_detail_row row;
	uint64_t most = 0;

	if (!attributes ||
		!triad_details_read(triad_engine_details(view->engine), &of,
			(enum triad_pma_attribute)__builtin_ctz(attributes), &row) ||
		(double)(now_us - row.read_us) > interval_us)
		return why;
	for (unsigned i = 0; i < TRIAD_DETAIL_N_FIELDS; i++) {
		const struct triad_detail_field *field = &triad_detail_fields[i];
		uint64_t grew;

		if (!(field->attributes & attributes))
			continue;
		grew = row.interval_us || row.change[field->slot]
			? row.change[field->slot]
			: row.total[field->slot];
		if (!grew)
			continue;
		why.is_only_one = !most;
		if (grew > most) {
			most = grew;
			why.field = (uint8_t)(i + 1);
		}
	}
	return why;
}

const char *triad_alert_why_name(struct triad_alert_why why)
{
	return why.field ? triad_detail_fields[why.field - 1].name : NULL;
}

const char *triad_alert_why_advice(struct triad_alert_why why)
{
	static const struct {
		const char *name, *advice;
	} advices[] = {
		{"PortLocalPhysicalErrors", BAD_CABLE},
		{"PortMalformedPktErrors",
			"what is at the far end sends packets that are wrong: look at "
			"its firmware"},
		{"PortBufferOverrunErrors",
			"the far end sends more than there are credits for: look at the "
			"firmware and the operational VLs of both ends"},
		{"PortDLIDMappingErrors",
			"packets come for LIDs that lead nowhere from here: routes are "
			"wrong or just changed"},
		{"PortVLMappingErrors",
			"packets come on VLs that are not set up here: compare SL2VL "
			"of both ends ('triadctl qos plan')"},
		{"PortLoopingErrors",
			"packets would go out where they came in: routes form a loop, "
			"or just changed"},
		{"PortInactiveDiscards", "packets come for a link that is down"},
		{"PortNeighborMTUDiscards",
			"packets are larger than the MTU of the far end: check MTUs of "
			"paths and partitions"},
		{"PortSwLifetimeLimitDiscards",
			"packets waited in the switch for too long: congestion; look for "
			"what takes them too slowly behind the far end"},
		{"PortSwHOQLifetimeLimitDiscards",
			"the far end gave no credits for too long: congestion, or "
			"routes that wait for each other; look behind it"},
		{"PortVLXmitFlowCtlUpdateErrors",
			"the far end did not tell its credits in time: look at its "
			"firmware and at errors of the link"},
		{"PortVLXmitWait", SLOW_RECEIVER},
		{"SWPortVLCongestion", SLOW_RECEIVER},
		{"PortXmitTimeCong", SLOW_RECEIVER},
		{"PortVLXmitTimeCong", SLOW_RECEIVER},
		{"SyncHeaderErrorCounter", BAD_CABLE},
		{"UnknownBlockCounter", BAD_CABLE},
		{"ErrorDetectionCounterLane", BAD_CABLE},
		{"FECCorrectableBlockCtrLane", BAD_CABLE},
		{"FECUncorrectableBlockCtrLane", BAD_CABLE},
		{"FECCorrectableSymbolCtrLane", BAD_CABLE},
		{"PortFECCorrectableBlockCtr", BAD_CABLE},
		{"PortFECUncorrectableBlockCtr", BAD_CABLE},
		{"PortFECCorrectedSymbolCtr", BAD_CABLE},
	};
	const char *name = triad_alert_why_name(why);

	for (unsigned i = 0; name && i < sizeof(advices) / sizeof(advices[0]); i++)
		if (!strcmp(advices[i].name, name))
			return advices[i].advice;
	return NULL;
}
