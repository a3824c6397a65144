/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/image_bus.h"

#include "tests/unit/run.h"

static struct triad_image_bus *bus;

static void set_up(void)
{
	bus = triad_image_bus_new();
	ck_assert_ptr_nonnull(bus);
	triad_image_bus_enable(bus, true);
}

static void tear_down(void)
{
	triad_image_bus_free(bus);
}

static bool takes_view(uint64_t listener)
{
	uint64_t members[TRIAD_MIRROR_MAX_MEMBERS];
	uint32_t n;

	return triad_image_bus_take_view(bus, listener, members, &n);
}

static bool takes_payload(uint64_t listener)
{
	struct triad_payload payload;

	return triad_image_bus_take_payload(bus, listener, &payload);
}

/* The one before it may hang, and would take what it does not read. */
START_TEST(test_listener_that_came_last_is_given_all)
{
	uint64_t first = triad_image_bus_join(bus), last;

	ck_assert(takes_view(first));
	ck_assert(!takes_view(first));
	last = triad_image_bus_join(bus);
	triad_image_bus_leave_payload(bus, 7, "x", 1);
	ck_assert(!takes_view(first));
	ck_assert(!takes_payload(first));
	ck_assert(takes_view(last));
	ck_assert(takes_payload(last));
	ck_assert(!takes_payload(last));
}
END_TEST

START_TEST(test_listener_that_stays_is_given_all_again)
{
	uint64_t first = triad_image_bus_join(bus), last = triad_image_bus_join(bus);

	ck_assert(takes_view(last));
	triad_image_bus_leave(bus, last);
	triad_image_bus_leave_payload(bus, 7, "x", 1);
	ck_assert(takes_view(first));
	ck_assert(takes_payload(first));
	/* Nobody is left. */
	triad_image_bus_leave(bus, first);
	triad_image_bus_leave_payload(bus, 7, "x", 1);
	ck_assert(!takes_payload(triad_image_bus_join(bus)));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("image bus");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_listener_that_came_last_is_given_all);
	tcase_add_test(cases, test_listener_that_stays_is_given_all_again);
	return run_cases(cases);
}
