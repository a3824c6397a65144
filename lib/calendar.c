/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/calendar.h"

#include <stdbool.h>

#define S_PER_DAY 86400
#define DAYS_TO_1970 719162 /* from the first day of the year 1 */
#define DAYS_PER_400_YEARS 146097
#define DAYS_PER_CENTURY                                                               \
	36524 /* unless it ends with a leap year, as each fourth does */
#define DAYS_PER_4_YEARS 1461

static bool is_leap(int64_t year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Of a month from 0 on. */
static int length_of_month(int64_t year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month] + (month == 1 && is_leap(year));
}

static int64_t at_most(int64_t value, int64_t most)
{
	return value < most ? value : most;
}

/* The year of a day; what is left of the day is its number in that year. */
static int64_t take_years(int64_t *day)
{
	int64_t cycles = *day / DAYS_PER_400_YEARS, centuries, fours, years;

	*day %= DAYS_PER_400_YEARS;
	/* The last century of four, and the last year, have a day more. */
	centuries = at_most(*day / DAYS_PER_CENTURY, 3);
	*day -= centuries * DAYS_PER_CENTURY;
	fours = *day / DAYS_PER_4_YEARS;
	*day %= DAYS_PER_4_YEARS;
	years = at_most(*day / 365, 3);
	*day -= years * 365;
	return cycles * 400 + centuries * 100 + fours * 4 + years + 1;
}

void triad_calendar_from_s(int64_t wall_s, struct tm *date)
{
	int64_t second = wall_s + (int64_t)DAYS_TO_1970 * S_PER_DAY;
	int64_t day = second / S_PER_DAY, year;
	int of_day = (int)(second % S_PER_DAY), month = 0;

	year = take_years(&day);
	for (; day >= length_of_month(year, month); month++)
		day -= length_of_month(year, month);
	*date = (struct tm){
		.tm_year = (int)(year - 1900),
		.tm_mon = month,
		.tm_mday = (int)day + 1,
		.tm_hour = of_day / 3600,
		.tm_min = of_day / 60 % 60,
		.tm_sec = of_day % 60,
	};
}

int64_t triad_calendar_to_s(const struct tm *date)
{
	int64_t months = ((int64_t)date->tm_year + 1900) * 12 + date->tm_mon;
	int64_t year = months / 12, before = year - 1, day;

	day = before * 365 + before / 4 - before / 100 + before / 400 - DAYS_TO_1970;
	for (int month = 0; month < months % 12; month++)
		day += length_of_month(year, month);
	day += date->tm_mday - 1;
	return day * S_PER_DAY + date->tm_hour * 3600 + date->tm_min * 60 +
		date->tm_sec;
}
