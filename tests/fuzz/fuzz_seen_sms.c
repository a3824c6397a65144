/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The list of SMs that were seen, from any text.  What is read is within its cap and a
 * day old at most, and is read again as it was, once it is written.
 *
 * Input: the text. */
#include "portmgr/plan/seen_sms.h"
#include "tests/fuzz/fuzz.h"

#define NOW_US (UINT64_C(100) * TRIAD_US_PER_S)
#define WALL_US (UINT64_C(1800000000) * TRIAD_US_PER_S)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_seen_sms sms, again;
	char text[TRIAD_SEEN_SMS_SIZE];
	size_t length;

	(void)triad_seen_sms_parse((const char *)data, size, NOW_US, WALL_US, &sms);
	require(sms.n <= TRIAD_SEEN_SMS_MAX, "a list with an end");
	for (uint32_t i = 0; i < sms.n; i++)
		require(sms.guids[i] && sms.at_us[i] <= (int64_t)NOW_US &&
				sms.at_us[i] + TRIAD_SEEN_SMS_FOR_US > (int64_t)NOW_US,
			"seen within a day");
	length = triad_seen_sms_format(&sms, NOW_US, WALL_US, text);
	require(length < sizeof(text) && length == strlen(text), "there is room");
	require(!triad_seen_sms_parse(text, length, NOW_US, WALL_US, &again),
		"it can be read");
	require(again.n == sms.n, "as many");
	for (uint32_t i = 0; i < sms.n; i++)
		require(again.guids[i] == sms.guids[i] &&
				again.at_us[i] == sms.at_us[i],
			"it is the same");
	return 0;
}
