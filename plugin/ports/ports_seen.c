/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <string.h>

#include "plugin/ports/ports_parts.h"

/* triadd comes within some seconds, and reads an image in one, on a disk that answers. */
#define PAST_WAIT_US (10 * TRIAD_US_PER_S)

/* 'at_us' is triad_clock_boot_us(); 0: before this host was started. */
static void see(
	struct triad_ports *ports, const struct triad_fabric *fabric, uint64_t at_us)
{
	if (triad_seen_switches_look(&ports->seen.switches, fabric, at_us))
		triad_log_write(ports->log, TRIAD_LOG_ERROR,
			"ports: out of memory: which switches were there is not "
			"remembered");
}

/* Images are written only of what is read. */
static bool has_images(const struct triad_ports *ports)
{
	return ports->conf->history.dir[0] && ports->conf->perfmgr.enabled;
}

void ports_see_fabric(struct triad_ports *ports, const struct triad_fabric *fabric)
{
	struct ports_seen *seen = &ports->seen;
	uint64_t now_us = triad_clock_boot_us();

	if (!fabric) {
		seen->has_past = false;
		seen->wait_until_us = 0;
		return;
	}
	see(ports, fabric, now_us);
	/* The first one. */
	if (!ports->fabric && !seen->has_past && has_images(ports))
		seen->wait_until_us = now_us + PAST_WAIT_US;
}

static void take_past(struct triad_ports *ports, const struct triad_fabric *past,
	uint64_t wall_us, uint64_t now_us)
{
	int64_t at_us = triad_seen_sms_time(wall_us, now_us, triad_clock_wall_us());

	if ((int64_t)now_us - at_us > TRIAD_SEEN_SMS_FOR_US)
		return;
	see(ports, past, at_us > 0 ? (uint64_t)at_us : 0);
	/* What is there now was seen now. */
	if (ports->fabric)
		see(ports, ports->fabric, now_us);
}

void ports_see_past(struct triad_ports *ports, uint64_t now_us)
{
	struct ports_seen *seen = &ports->seen;
	struct triad_fabric *past;
	uint64_t wall_us;

	if (ports_next_past(ports, &past, &wall_us)) {
		if (past)
			take_past(ports, past, wall_us, now_us);
		triad_fabric_unref(past);
		seen->has_past = true;
	}
	if (seen->wait_until_us && (seen->has_past || now_us >= seen->wait_until_us)) {
		if (!seen->has_past)
			triad_log_write(ports->log, TRIAD_LOG_WARNING,
				"ports: which switches were there before is not known: "
				"triadd, which keeps the images, has not told it for "
				"10 s; a way to another SM by one that is gone is not "
				"guarded");
		seen->wait_until_us = 0;
		ports->must_plan = true;
	}
}

void ports_find_missing(struct triad_ports *ports, const struct triad_plan_input *input)
{
	struct ports_seen *seen = &ports->seen;

	triad_missing_find(input, &seen->switches, seen->missing);
	if (seen->wait_until_us && !seen->missing[0])
		strcpy(seen->missing, "what was there before, which is being read");
}
