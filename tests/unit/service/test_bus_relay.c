/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plugin's bus, and what triadd asks and says: lists take the place of its socket. */
#include "service/bus_relay.h"

#include <errno.h>
#include <string.h>

#include "collect/nats/record.h"
#include "tests/unit/run.h"

#define MAX_FRAMES 16u

/* What triadd says: frames, and how it ends. */
static struct frame {
	uint8_t octets[TRIAD_UPLOAD_SIZE];
	size_t size;
} frames[MAX_FRAMES];
static unsigned n_frames, at_frame;
static int last_error;

/* What is done before the last error is given. */
static void (*before_end)(void);

static struct triad_bus *bus;
static atomic_bool is_ending;
static unsigned n_wakes;

/* What triadd is told, as records. */
static struct triad_bus_reader reader;
static unsigned n_params, n_messages;
static char message[64];

static void wake(void *context)
{
	n_wakes++;
}

static int receive(
	const struct triad_asker *asker, void *octets, size_t *size, uint64_t until_us)
{
	if (at_frame == n_frames) {
		if (before_end)
			before_end();
		*size = 0;
		return last_error;
	}
	*size = frames[at_frame].size;
	memcpy(octets, frames[at_frame].octets, *size);
	at_frame++;
	return 0;
}

static void take_told(void *context, const struct triad_bus_record *record)
{
	n_params += record->kind == TRIAD_BUS_PARAMS;
	if (record->kind != TRIAD_BUS_MESSAGE)
		return;
	n_messages++;
	snprintf(message, sizeof(message), "%u %u %.*s", record->detail,
		(unsigned)record->id, (int)record->size, (const char *)record->octets);
}

/* Takes one piece, then ends. */
static bool write_piece(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	ck_assert_int_eq(triad_bus_reader_put(&reader, piece, size), 0);
	atomic_store(&is_ending, true);
	return true;
}

static bool write_message(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	snprintf(message, sizeof(message), "%.*s", (int)size, piece);
	return true;
}

static void put(uint8_t kind, uint8_t detail, const void *octets, size_t size)
{
	const struct triad_bus_record record = {
		.kind = kind, .detail = detail, .id = 7, .size = (uint32_t)size};
	struct frame *frame = &frames[n_frames++];

	triad_bus_record_put_header(&record, frame->octets);
	memcpy(frame->octets + TRIAD_BUS_HEADER_SIZE, octets, size);
	frame->size = TRIAD_BUS_HEADER_SIZE + size;
}

static void put_state(bool is_connected, const char *reason, uint64_t n_sent)
{
	struct triad_bus_status status = {
		.is_connected = is_connected, .n_sent = n_sent};
	uint8_t octets[TRIAD_BUS_FIELDS_SIZE];

	snprintf(status.reason, sizeof(status.reason), "%s", reason);
	put(TRIAD_BUS_STATE, 0, octets, triad_bus_record_put_state(&status, octets));
}

static int run(const char *verb)
{
	const struct triad_asker asker = {.receive = receive};
	struct triad_output output;
	int status;

	atomic_store(&is_ending, false);
	triad_output_init(&output,
		strcmp(verb, TRIAD_BUS_OUT) ? write_message : write_piece, NULL);
	status = triad_bus_relay_run(bus, verb, &asker, &is_ending, &output);
	triad_output_flush(&output);
	return status;
}

static void begin(void)
{
	const struct triad_bus_params params = {.servers = "nats://a"};

	bus = triad_bus_new(wake, NULL, NULL);
	ck_assert_ptr_nonnull(bus);
	ck_assert_int_eq(triad_bus_configure(bus, &params), 0);
	reader.take = take_told;
}

static void end(void)
{
	triad_bus_free(bus);
}

static void send(const char *text)
{
	triad_bus_send(
		bus, TRIAD_MEMBER_TO_ONE, 9, (const uint8_t *)text, strlen(text));
}

/* --- connected --- */

static void send_and_look(void)
{
	ck_assert(triad_bus_status(bus).is_connected);
	send("now");
	ck_assert_int_eq(run(TRIAD_BUS_OUT), TRIAD_CONTROL_DONE);
}

/* A message of before it runs would be outdated. */
static void send_while_connected(void)
{
	send_and_look();
	ck_assert_uint_eq(n_params, 1);
	ck_assert_uint_eq(n_messages, 0);
	ck_assert_uint_eq(triad_bus_status(bus).n_send_dropped, 2);
}

START_TEST(test_without_a_connection_messages_are_dropped_and_counted)
{
	send("too early");
	put_state(true, "", 5);
	put_state(true, "", 2);
	before_end = send_while_connected;
	last_error = ECONNRESET;
	ck_assert_int_eq(run(TRIAD_BUS_IN), TRIAD_CONTROL_FAILED);
	ck_assert_uint_eq(triad_bus_status(bus).n_sent, 7);
	ck_assert(!triad_bus_status(bus).is_connected);
	ck_assert(triad_bus_status(bus).lacks_triadd);
	ck_assert(strstr(triad_bus_status(bus).reason, "triadd has ended"));
	send("too late");
	ck_assert_uint_eq(triad_bus_status(bus).n_send_dropped, 3);
	ck_assert_uint_eq(n_wakes, 2);
}
END_TEST

/* Sends in the midst of 'bus-out'. */
static bool write_and_send(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	ck_assert_int_eq(triad_bus_reader_put(&reader, piece, size), 0);
	if (n_messages)
		atomic_store(&is_ending, true);
	else
		send("now");
	return true;
}

static void run_out_and_send(void)
{
	const struct triad_asker asker = {.receive = receive};
	struct triad_output output;

	triad_output_init(&output, write_and_send, NULL);
	ck_assert_int_eq(
		triad_bus_relay_run(bus, TRIAD_BUS_OUT, &asker, &is_ending, &output),
		TRIAD_CONTROL_DONE);
}

START_TEST(test_message_goes_out_with_its_receiver)
{
	put_state(true, "", 0);
	before_end = run_out_and_send;
	ck_assert_int_eq(run(TRIAD_BUS_IN), TRIAD_CONTROL_DONE);
	ck_assert_str_eq(message, "1 9 now");
}
END_TEST

START_TEST(test_message_comes_in_with_its_sender)
{
	struct triad_bus_message received;

	put(TRIAD_BUS_MESSAGE, 1, "hello", 5);
	ck_assert_int_eq(run(TRIAD_BUS_IN), TRIAD_CONTROL_DONE);
	ck_assert(triad_bus_take(bus, &received));
	ck_assert_uint_eq(received.speaker.id, 7);
	ck_assert(received.speaker.is_manager);
	ck_assert_mem_eq(received.octets, "hello", 5);
	ck_assert_uint_eq(received.size, 5);
	triad_bus_give_back(&received);
	ck_assert(!triad_bus_take(bus, &received));
}
END_TEST

START_TEST(test_message_for_a_bus_that_is_off_is_dropped)
{
	struct triad_bus_message received;

	(void)triad_bus_configure(bus, NULL);
	put(TRIAD_BUS_MESSAGE, 0, "hello", 5);
	ck_assert_int_eq(run(TRIAD_BUS_IN), TRIAD_CONTROL_DONE);
	ck_assert(!triad_bus_take(bus, &received));
}
END_TEST

/* --- trouble --- */

START_TEST(test_reason_without_a_connection_is_triadds)
{
	put_state(false, "No server available\033[2J", 0);
	put(TRIAD_BUS_MESSAGE, 0, "x", 1);
	last_error = ETIMEDOUT;
	before_end = NULL;
	ck_assert_int_eq(run(TRIAD_BUS_IN), TRIAD_CONTROL_FAILED);
	ck_assert(strstr(triad_bus_status(bus).reason, "not been heard of"));
}
END_TEST

static void look_at_reason(void)
{
	struct triad_bus_status status = triad_bus_status(bus);

	ck_assert_str_eq(status.reason, "No server available?[2J");
	ck_assert(!status.lacks_triadd);
}

START_TEST(test_reason_of_triadd_is_shown_without_control_characters)
{
	put_state(false, "No server available\033[2J", 0);
	before_end = look_at_reason;
	(void)run(TRIAD_BUS_IN);
}
END_TEST

START_TEST(test_malformed_records_are_counted_and_end_it)
{
	uint8_t octets[64] = {0};

	put(TRIAD_BUS_STATE, 0, octets, 3); /* it goes on */
	put(TRIAD_BUS_MESSAGE, 2, octets, 3);
	put('?', 0, octets, 3); /* it ends */
	put_state(true, "", 0);
	ck_assert_int_eq(run(TRIAD_BUS_IN), TRIAD_CONTROL_FAILED);
	ck_assert_uint_eq(at_frame, 3);
	ck_assert_uint_eq(triad_bus_status(bus).n_oversize, 3);
	ck_assert(strstr(triad_bus_status(bus).reason, "malformed"));
}
END_TEST

static void ask_again(void)
{
	before_end = NULL;
	ck_assert_int_eq(run(TRIAD_BUS_IN), TRIAD_CONTROL_FAILED);
	ck_assert(strstr(message, "another triadd"));
	ck_assert(triad_bus_status(bus).is_connected);
}

START_TEST(test_second_triadd_is_refused)
{
	put_state(true, "", 0);
	before_end = ask_again;
	ck_assert_int_eq(run(TRIAD_BUS_IN), TRIAD_CONTROL_DONE);
	/* Later there is room again. */
	ck_assert_int_eq(run(TRIAD_BUS_IN), TRIAD_CONTROL_DONE);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("bus_relay");

	tcase_add_checked_fixture(cases, begin, end);
	tcase_add_test(
		cases, test_without_a_connection_messages_are_dropped_and_counted);
	tcase_add_test(cases, test_message_goes_out_with_its_receiver);
	tcase_add_test(cases, test_message_comes_in_with_its_sender);
	tcase_add_test(cases, test_message_for_a_bus_that_is_off_is_dropped);
	tcase_add_test(cases, test_reason_without_a_connection_is_triadds);
	tcase_add_test(
		cases, test_reason_of_triadd_is_shown_without_control_characters);
	tcase_add_test(cases, test_malformed_records_are_counted_and_end_it);
	tcase_add_test(cases, test_second_triadd_is_refused);
	return run_cases(cases);
}
