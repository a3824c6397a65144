/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/run.h"

START_TEST(test_frame_encode_layout_as_specified)
{
	static const uint8_t expected[] = {'O', 1, 0, 0, 0x00, 0x01, 0x02, 0x03};
	uint8_t header[TRIAD_FRAME_HEADER_SIZE];

	memset(header, 0xff, sizeof(header));
	triad_frame_encode(header, TRIAD_FRAME_OUTPUT, 0x010203);
	ck_assert_mem_eq(header, expected, sizeof(header));
}
END_TEST

static const struct {
	enum triad_frame_type type;
	uint32_t min, max;
} limits[] = {
	{TRIAD_FRAME_REQUEST, 0, 4096},
	{TRIAD_FRAME_OUTPUT, 0, 65536},
	{TRIAD_FRAME_MESSAGE, 0, 65536},
	{TRIAD_FRAME_PROGRESS, 0, 65536},
	{TRIAD_FRAME_EXIT, 1, 1},
};

#define N_LIMITS (sizeof(limits) / sizeof(limits[0]))

static int decode(enum triad_frame_type type, uint32_t size, struct triad_frame *frame)
{
	uint8_t header[TRIAD_FRAME_HEADER_SIZE];

	triad_frame_encode(header, type, size);
	return triad_frame_decode(header, frame);
}

START_TEST(test_frame_decode_sizes_up_to_limit_taken)
{
	struct triad_frame frame;

	for (size_t i = 0; i < N_LIMITS; i++) {
		ck_assert_int_eq(decode(limits[i].type, limits[i].min, &frame), 0);
		ck_assert_uint_eq(frame.size, limits[i].min);
		ck_assert_int_eq(decode(limits[i].type, limits[i].max, &frame), 0);
		ck_assert_uint_eq(frame.size, limits[i].max);
		ck_assert_int_eq(frame.type, (int)limits[i].type);
	}
}
END_TEST

START_TEST(test_frame_decode_sizes_over_limit_refused)
{
	struct triad_frame frame = {.type = 9, .size = 9};

	for (size_t i = 0; i < N_LIMITS; i++) {
		ck_assert_int_eq(
			decode(limits[i].type, limits[i].max + 1, &frame), EMSGSIZE);
		ck_assert_int_eq(decode(limits[i].type, UINT32_MAX, &frame), EMSGSIZE);
	}
	ck_assert_int_eq(decode(TRIAD_FRAME_EXIT, 0, &frame), EMSGSIZE);
	ck_assert_uint_eq(frame.type, 9);
	ck_assert_uint_eq(frame.size, 9);
}
END_TEST

START_TEST(test_frame_decode_unknown_type_refused)
{
	struct triad_frame frame;

	for (int type = 0; type < 256; type++) {
		int known = type && strchr("ROTEPX", type);
		int error = decode((enum triad_frame_type)type, 1, &frame);

		ck_assert_int_eq(error, known ? 0 : EPROTO);
	}
}
END_TEST

START_TEST(test_frame_decode_reserved_octets_refused)
{
	struct triad_frame frame;

	for (int i = 2; i < 4; i++) {
		uint8_t header[] = {'O', 1, 0, 0, 0, 0, 0, 1};

		ck_assert_int_eq(triad_frame_decode(header, &frame), 0);
		header[i] = 1;
		ck_assert_int_eq(triad_frame_decode(header, &frame), EPROTO);
	}
}
END_TEST

START_TEST(test_frame_decode_other_version_distinguished)
{
	struct triad_frame frame;
	uint8_t header[] = {'?', 2, 3, 4, 0xff, 0xff, 0xff, 0xff};

	ck_assert_int_eq(triad_frame_decode(header, &frame), EPROTONOSUPPORT);
	header[1] = 0;
	ck_assert_int_eq(triad_frame_decode(header, &frame), EPROTONOSUPPORT);
}
END_TEST

START_TEST(test_request_words_come_back)
{
	static const char *const words[] = {"perf", "show", "", "--node", "a b", NULL};
	char payload[64], *decoded[TRIAD_CONTROL_MAX_WORDS + 1];
	int n_words = -1;
	size_t size = triad_request_encode(payload, sizeof(payload), 5, words);

	ck_assert_uint_eq(size, 5 + 5 + 1 + 7 + 4);
	ck_assert_mem_eq(payload, "perf\0show\0\0--node\0a b\0", size);
	ck_assert_int_eq(triad_request_decode(payload, size, decoded, &n_words), 0);
	ck_assert_int_eq(n_words, 5);
	for (int i = 0; i < 5; i++)
		ck_assert_str_eq(decoded[i], words[i]);
	ck_assert_ptr_null(decoded[5]);
}
END_TEST

START_TEST(test_request_encode_too_long_refused)
{
	static char word[TRIAD_CONTROL_REQUEST_SIZE + 1];
	static char payload[2 * TRIAD_CONTROL_REQUEST_SIZE];
	const char *words[] = {word};
	char small[4] = "###";

	memset(word, 'x', TRIAD_CONTROL_REQUEST_SIZE - 1);
	ck_assert_uint_eq(triad_request_encode(payload, sizeof(payload), 1, words),
		TRIAD_CONTROL_REQUEST_SIZE);
	word[TRIAD_CONTROL_REQUEST_SIZE - 1] = 'x';
	ck_assert_uint_eq(triad_request_encode(payload, sizeof(payload), 1, words), 0);
	words[0] = "abc";
	ck_assert_uint_eq(triad_request_encode(small, 4, 1, words), 4);
	ck_assert_uint_eq(triad_request_encode(small, 3, 1, words), 0);
}
END_TEST

START_TEST(test_request_encode_too_many_words_refused)
{
	const char *words[TRIAD_CONTROL_MAX_WORDS + 1];
	char payload[256];

	for (int i = 0; i <= TRIAD_CONTROL_MAX_WORDS; i++)
		words[i] = "x";
	ck_assert_uint_eq(triad_request_encode(payload, sizeof(payload),
				  TRIAD_CONTROL_MAX_WORDS, words),
		2 * TRIAD_CONTROL_MAX_WORDS);
	ck_assert_uint_eq(triad_request_encode(payload, sizeof(payload),
				  TRIAD_CONTROL_MAX_WORDS + 1, words),
		0);
}
END_TEST

START_TEST(test_request_decode_empty_taken)
{
	char *words[TRIAD_CONTROL_MAX_WORDS + 1], payload[1];
	int n_words = -1;

	ck_assert_int_eq(triad_request_decode(payload, 0, words, &n_words), 0);
	ck_assert_int_eq(n_words, 0);
	ck_assert_ptr_null(words[0]);
}
END_TEST

START_TEST(test_request_decode_unterminated_refused)
{
	char *words[TRIAD_CONTROL_MAX_WORDS + 1], payload[] = {'a', 0, 'b'};
	int n_words;

	ck_assert_int_eq(triad_request_decode(payload, 3, words, &n_words), EINVAL);
}
END_TEST

START_TEST(test_request_decode_too_much_refused)
{
	static char payload[TRIAD_CONTROL_REQUEST_SIZE + 1];
	char *words[TRIAD_CONTROL_MAX_WORDS + 1];
	int n_words = -1;

	ck_assert_int_eq(
		triad_request_decode(payload, sizeof(payload), words, &n_words), E2BIG);
	memset(payload, 'x', TRIAD_CONTROL_REQUEST_SIZE - 1);
	ck_assert_int_eq(triad_request_decode(
				 payload, TRIAD_CONTROL_REQUEST_SIZE, words, &n_words),
		0);
	ck_assert_int_eq(n_words, 1);
	memset(payload, 0, sizeof(payload));
	ck_assert_int_eq(triad_request_decode(
				 payload, TRIAD_CONTROL_MAX_WORDS + 1, words, &n_words),
		E2BIG);
	ck_assert_int_eq(
		triad_request_decode(payload, TRIAD_CONTROL_MAX_WORDS, words, &n_words),
		0);
	ck_assert_int_eq(n_words, TRIAD_CONTROL_MAX_WORDS);
	ck_assert_ptr_null(words[TRIAD_CONTROL_MAX_WORDS]);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("control");

	tcase_add_test(cases, test_frame_encode_layout_as_specified);
	tcase_add_test(cases, test_frame_decode_sizes_up_to_limit_taken);
	tcase_add_test(cases, test_frame_decode_sizes_over_limit_refused);
	tcase_add_test(cases, test_frame_decode_unknown_type_refused);
	tcase_add_test(cases, test_frame_decode_reserved_octets_refused);
	tcase_add_test(cases, test_frame_decode_other_version_distinguished);
	tcase_add_test(cases, test_request_words_come_back);
	tcase_add_test(cases, test_request_encode_too_long_refused);
	tcase_add_test(cases, test_request_encode_too_many_words_refused);
	tcase_add_test(cases, test_request_decode_empty_taken);
	tcase_add_test(cases, test_request_decode_unterminated_refused);
	tcase_add_test(cases, test_request_decode_too_much_refused);
	return run_cases(cases);
}
