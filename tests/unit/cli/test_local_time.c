/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/local_time.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/run.h"

static char out[1024];

static void set_zone(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

/* Converts a text that comes in pieces of so many octets. */
static const char *convert(const char *text, size_t piece)
{
	struct triad_local_time times = {0};
	size_t size = strlen(text), n = 0;

	for (size_t at = 0; at < size; at += piece)
		n += triad_local_time_take(&times, text + at,
			size - at < piece ? size - at : piece, out + n);
	n += triad_local_time_end(&times, out + n);
	out[n] = '\0';
	return out;
}

static void check(const char *text, const char *expected)
{
	for (size_t piece = 1; piece <= strlen(text); piece++)
		ck_assert_str_eq(convert(text, piece), expected);
}

START_TEST(test_times_have_the_zone_of_the_user)
{
	set_zone("XXX-05:30"); /* east */
	check("since 2026-01-02T03:04:05Z, then",
		"since 2026-01-02T08:34:05+05:30, then");
	check("2026-12-31T18:30:00.678Z", "2027-01-01T00:00:00.678+05:30");
	set_zone("XXX03:30"); /* west */
	check("2026-01-01T03:29:59Z2026-01-01T03:30:00Z",
		"2025-12-31T23:59:59-03:302026-01-01T00:00:00-03:30");
	set_zone("XXX-1XXS,M3.5.0,M10.5.0/3");
	check("2026-03-29T00:59:59Z 2026-03-29T01:00:00Z",
		"2026-03-29T01:59:59+01:00 2026-03-29T03:00:00+02:00");
}
END_TEST

START_TEST(test_what_is_no_time_stays)
{
	static const char *const texts[] = {"", "2026", "leaf-2026-01-02", "0x2026-01",
		"2026-01-02T03:04:05", "2026-01-02T03:04Z", "2026-01-02T03:04:05.6Z",
		"2026-13-02T03:04:05Z", "2026-01-02T03:04:05+01:00", "12 345 678 Z"};

	set_zone("XXX-05:30");
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		check(texts[i], texts[i]);
	set_zone("UTC0");
	check("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z");
}
END_TEST

START_TEST(test_room_is_enough)
{
	char text[201] = "";

	set_zone("XXX-05:30");
	while (strlen(text) + 20 < sizeof(text))
		strcat(text, "2026-01-02T03:04:05Z");
	ck_assert_uint_eq(strlen(convert(text, strlen(text))), strlen(text) / 20 * 25);
	ck_assert_uint_le(strlen(out), TRIAD_LOCAL_TIME_ROOM(strlen(text)));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("local_time");

	tcase_add_test(cases, test_times_have_the_zone_of_the_user);
	tcase_add_test(cases, test_what_is_no_time_stays);
	tcase_add_test(cases, test_room_is_enough);
	return run_cases(cases);
}
