/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads tables back through a transport that doesn't accept every request. */
#include "plugin/read_back.h"

#include <errno.h>
#include <string.h>

#include "service/umad.h"
#include "tests/sim/fabrics.h"
#include "tests/unit/run.h"

#define N_ITEMS 2
#define MAX_TURNS 100

static struct triad_fabric *fabric;
static int send_error;      /* the result of send() when it refuses */
static unsigned n_refusals; /* how often send() refuses before it accepts requests */
static struct triad_mad_reply replies[N_ITEMS];
static unsigned n_sent, n_answered, n_turns;
static bool ended_in_flight;

/* --- substitutes for service/umad.c --- */

static int send(void *context, const struct triad_mad_address *to, const uint8_t *mad,
	unsigned timeout_ms)
{
	struct triad_mad_reply *reply = &replies[n_sent];

	if (n_refusals) {
		n_refusals--;
		return send_error;
	}
	ck_assert_uint_lt(n_sent++, N_ITEMS);
	*reply = (struct triad_mad_reply){.lid = to->lid, .size = TRIAD_MAD_SIZE};
	memcpy(reply->mad, mad, TRIAD_MAD_SIZE);
	return 0;
}

static int receive(void *context, uint64_t wait_us, struct triad_mad_reply *reply)
{
	if (n_answered == n_sent)
		return EAGAIN;
	*reply = replies[n_answered++];
	return 0;
}

static const struct triad_mad_transport transport = {.send = send, .receive = receive};

int triad_umad_open(uint64_t port_guid, int mgmt_class, struct triad_umad **umad)
{
	*umad = NULL;
	return 0;
}

void triad_umad_close(struct triad_umad *umad, bool in_flight)
{
	ended_in_flight = in_flight;
}

const struct triad_mad_transport *triad_umad_transport(struct triad_umad *umad)
{
	return &transport;
}

/* --- cases --- */

static void set_up(void)
{
	fabric = fabric_row(1, N_ITEMS);
}

static void tear_down(void)
{
	triad_fabric_unref(fabric);
}

static bool goes_on(void *context, size_t n_done)
{
	return ++n_turns < MAX_TURNS;
}

/* Reads back PortInfo of the first ports; returns the result of triad_read_back(). */
static int read_back(struct triad_read_back items[N_ITEMS])
{
	const struct triad_read_back_owner owner = {.goes_on = goes_on};

	for (uint32_t i = 0; i < N_ITEMS; i++)
		items[i] = (struct triad_read_back){
			.port = i, .kind = TRIAD_AUDIT_PORT_INFO};
	return triad_read_back(fabric, 0, items, N_ITEMS, &owner);
}

START_TEST(test_transport_full_request_sent_again)
{
	struct triad_read_back items[N_ITEMS];

	send_error = EAGAIN;
	n_refusals = 1;
	ck_assert_int_eq(read_back(items), 0);
	ck_assert_uint_eq(n_sent, N_ITEMS);
	for (unsigned i = 0; i < N_ITEMS; i++)
		ck_assert_int_eq(items[i].error, 0);
	ck_assert(!ended_in_flight);
}
END_TEST

START_TEST(test_transport_broken_requests_given_up_at_once)
{
	struct triad_read_back items[N_ITEMS];

	send_error = ENODEV;
	n_refusals = UINT32_MAX;
	ck_assert_int_eq(read_back(items), 0);
	for (unsigned i = 0; i < N_ITEMS; i++)
		ck_assert_int_eq(items[i].error, ENODEV);
	ck_assert_uint_eq(n_turns, 1);
	ck_assert(!ended_in_flight);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("read_back");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_transport_full_request_sent_again);
	tcase_add_test(cases, test_transport_broken_requests_given_up_at_once);
	return run_cases(cases);
}
