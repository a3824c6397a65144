/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a descriptor for MADs gives its user, with a port that is the test's. */
#include "service/umad.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <string.h>

#include "ib/pma.h"
#include "service/local_port.h"
#include "service/strangers.h"
#include "tests/unit/run.h"

enum { LID = 7, FORGER = 9, TID = 1, AT_METHOD = 3, AT_TID = 12, TIMEOUT_MS = 100 };

struct arrival {
	uint16_t lid;
	uint32_t status;
	uint8_t mad[TRIAD_MAD_SIZE];
};

static struct triad_umad *umad;
static uint8_t sent[TRIAD_MAD_SIZE]; /* the last one */
static int send_error;
static struct arrival arrivals[8];
static unsigned n_arrivals, n_read;

/* --- the port: substitutes for libibumad and service/local_port.c --- */

int umad_init(void)
{
	return 0;
}

int umad_open_port(const char *name, int number)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

int umad_close_port(int fd)
{
	return 0;
}

int umad_register(int fd, int mgmt_class, int version, uint8_t rmpp,
	long methods[16 / sizeof(long)])
{
	return 1;
}

int umad_unregister(int fd, int agent)
{
	return 0;
}

int umad_send(int fd, int agent, void *buffer, int length, int timeout_ms, int retries)
{
	if (send_error) {
		errno = send_error;
		return -1;
	}
	memcpy(sent, umad_get_mad(buffer), sizeof(sent));
	return 0;
}

int umad_poll(int fd, int timeout_ms)
{
	return n_read < n_arrivals ? 0 : -ETIMEDOUT;
}

int umad_recv(int fd, void *buffer, int *length, int timeout_ms)
{
	const struct arrival *arrival = &arrivals[n_read];
	struct ib_user_mad *header = buffer;

	if (n_read == n_arrivals)
		return -EWOULDBLOCK;
	n_read++;
	memset(buffer, 0, umad_size());
	header->status = arrival->status;
	header->addr.lid = htobe16(arrival->lid);
	memcpy(umad_get_mad(buffer), arrival->mad, TRIAD_MAD_SIZE);
	*length = TRIAD_MAD_SIZE;
	return 1;
}

bool triad_local_port_find(uint64_t port_guid, char name[UMAD_CA_NAME_LEN], int *number)
{
	return true;
}

bool triad_local_port_find_for_smps(
	uint64_t port_guid, char name[UMAD_CA_NAME_LEN], int *number)
{
	return true;
}

size_t triad_local_port_pkeys(uint64_t port_guid, uint16_t *pkeys, size_t most)
{
	return 0;
}

uint16_t triad_local_port_pkey_index(const umad_port_t *port)
{
	return 0;
}

/* --- cases --- */

static void begin(void)
{
	send_error = 0;
	n_arrivals = n_read = 0;
	ck_assert_int_eq(triad_umad_open(1, TRIAD_MAD_CLASS_PERFORMANCE, &umad), 0);
}

static void end(void)
{
	triad_umad_close(umad, false);
}

static int ask(uint32_t tid)
{
	const struct triad_mad_transport *transport = triad_umad_transport(umad);
	const struct triad_mad_address to = {.lid = LID, .qpn = 1};
	uint8_t mad[TRIAD_MAD_SIZE];

	triad_pma_encode_get(mad, TRIAD_PMA_PORT_COUNTERS, 1, tid);
	return transport->send(transport->context, &to, mad, TIMEOUT_MS);
}

/* A reply to what was sent last arrives. */
static struct arrival *reply_from(uint16_t lid)
{
	struct arrival *arrival = &arrivals[n_arrivals++];

	*arrival = (struct arrival){.lid = lid};
	memcpy(arrival->mad, sent, sizeof(sent));
	arrival->mad[AT_METHOD] = TRIAD_MAD_METHOD_GET_RESPONSE;
	return arrival;
}

static int receive(struct triad_mad_reply *reply)
{
	const struct triad_mad_transport *transport = triad_umad_transport(umad);

	return transport->receive(transport->context, 0, reply);
}

/* The first may be the agent's own error, so its user is told, but not what it says. */
START_TEST(test_forged_reply_counted_and_true_one_taken)
{
	uint64_t n_before = triad_strangers().n;
	struct triad_mad_reply reply;

	ck_assert_int_eq(ask(TID), 0);
	reply_from(FORGER);
	reply_from(LID);
	ck_assert_int_eq(receive(&reply), 0);
	ck_assert_int_eq(reply.status, EREMCHG);
	ck_assert_uint_eq(reply.lid, FORGER);
	ck_assert_int_eq(receive(&reply), 0);
	ck_assert_int_eq(reply.status, 0);
	ck_assert_uint_eq(reply.lid, LID);
	ck_assert_uint_eq(triad_pma_tid(reply.mad, reply.size), TID);
	ck_assert_int_eq(receive(&reply), EAGAIN);
	ck_assert_uint_eq(triad_strangers().n, n_before + 1);
	ck_assert_uint_eq(triad_strangers().lid, FORGER);
	ck_assert_uint_eq(triad_strangers().mgmt_class, TRIAD_MAD_CLASS_PERFORMANCE);
}
END_TEST

/* Who doesn't know the ID is nobody of whom the user is told. */
START_TEST(test_reply_with_another_transaction_id_counted_alone)
{
	uint64_t n_before = triad_strangers().n;
	struct triad_mad_reply reply;

	ck_assert_int_eq(ask(TID), 0);
	reply_from(FORGER)->mad[AT_TID + 3] ^= 1;
	reply_from(LID);
	ck_assert_int_eq(receive(&reply), 0);
	ck_assert_int_eq(reply.status, 0);
	ck_assert_uint_eq(reply.lid, LID);
	ck_assert_int_eq(receive(&reply), EAGAIN);
	ck_assert_uint_eq(triad_strangers().n, n_before + 1);
}
END_TEST

START_TEST(test_reply_that_nobody_asked_for_not_taken)
{
	struct triad_mad_reply reply;

	ck_assert_int_eq(ask(TID), 0);
	reply_from(LID);
	reply_from(LID);
	ck_assert_int_eq(receive(&reply), 0);
	ck_assert_int_eq(receive(&reply), EAGAIN);
}
END_TEST

/* The kernel reports that there was no reply. */
START_TEST(test_request_without_reply_reported_to_its_user)
{
	uint64_t n_before = triad_strangers().n;
	struct triad_mad_reply reply;

	ck_assert_int_eq(ask(TID), 0);
	reply_from(LID)->status = ETIMEDOUT;
	arrivals[0].mad[AT_METHOD] = TRIAD_MAD_METHOD_GET;
	ck_assert_int_eq(receive(&reply), 0);
	ck_assert_int_eq(reply.status, ETIMEDOUT);
	ck_assert_uint_eq(triad_pma_tid(reply.mad, reply.size), TID);
	ck_assert_uint_eq(triad_strangers().n, n_before);
}
END_TEST

START_TEST(test_request_that_was_not_sent_has_no_reply)
{
	struct triad_mad_reply reply;

	ck_assert_int_eq(ask(TID), 0);
	send_error = ENODEV;
	ck_assert_int_eq(ask(TID + 1), ENODEV);
	reply_from(LID);
	ck_assert_int_eq(receive(&reply), 0);
	ck_assert_uint_eq(triad_pma_tid(reply.mad, reply.size), TID);
}
END_TEST

START_TEST(test_transaction_ids_on_the_wire_do_not_follow_each_other)
{
	uint32_t last = 0, n_near = 0;

	for (uint32_t i = 0; i < 64; i++) {
		uint32_t tid;

		ck_assert_int_eq(ask(i), 0);
		tid = triad_pma_tid(sent, TRIAD_MAD_SIZE);
		n_near += tid - last < 1u << 20;
		last = tid;
	}
	ck_assert_uint_lt(n_near, 4);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("umad");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(cases, test_forged_reply_counted_and_true_one_taken);
	tcase_add_test(cases, test_reply_with_another_transaction_id_counted_alone);
	tcase_add_test(cases, test_reply_that_nobody_asked_for_not_taken);
	tcase_add_test(cases, test_request_without_reply_reported_to_its_user);
	tcase_add_test(cases, test_request_that_was_not_sent_has_no_reply);
	tcase_add_test(
		cases, test_transaction_ids_on_the_wire_do_not_follow_each_other);
	return run_cases(cases);
}
