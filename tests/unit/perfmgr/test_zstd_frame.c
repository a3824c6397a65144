/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/zstd_frame.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <zstd.h>

#include "tests/unit/run.h"

#define CONTENT_SIZE (400u << 10)
#define FRAME_SIZE (512u << 10)

static unsigned seed;
static FILE *file;
static char content[CONTENT_SIZE], frame[FRAME_SIZE];

static void set_up(void)
{
	seed = (unsigned)time(NULL);
	srand(seed);
	file = tmpfile();
	ck_assert_ptr_nonnull(file);
}

static void tear_down(void)
{
	fclose(file);
}

static void put(uint64_t at, const void *octets, size_t size)
{
	ck_assert_int_eq(pwrite(fileno(file), octets, size, (off_t)at), (ssize_t)size);
}

static int measure(uint64_t at, uint64_t size, struct triad_zstd_frame *measured)
{
	return triad_zstd_frame_measure(fileno(file), at, size, measured);
}

/* Makes noise, runs or text, so that zstd writes blocks of every kind. */
static size_t make_content(void)
{
	size_t size = (size_t)rand() % CONTENT_SIZE;
	int kind = rand() % 3;

	for (size_t i = 0; i < size; i++)
		content[i] = (char)(kind == 0 ? rand()
				: kind == 1   ? 7
					      : "0123456789,\n"[rand() % 12]);
	return size;
}

/* Makes a frame with a random one of zstd's headers: with or without the size, with or
 * without a checksum, or a single segment. */
static size_t make_frame(size_t size)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	ZSTD_outBuffer out = {.dst = frame, .size = FRAME_SIZE};
	ZSTD_inBuffer in = {.src = content, .size = size / 2};

	ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, rand() % 2);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, 1 + rand() % 3);
	if (rand() % 2)
		ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush);
	in.size = size;
	ck_assert_uint_eq(ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_end), 0);
	ZSTD_freeCCtx(zstd);
	return out.pos;
}

START_TEST(test_frame_measured_as_zstd_does)
{
	for (unsigned i = 0; i < 200; i++) {
		size_t size = make_frame(make_content());
		struct triad_zstd_frame measured;
		uint64_t at = (uint64_t)rand() % 100;
		size_t cut = (size_t)rand() % size;

		put(at, frame, size);
		put(at + size, "behind", 6);
		ck_assert_msg(!measure(at, at + size + 6, &measured), "seed %u", seed);
		ck_assert_msg(measured.size == size, "seed %u: %lu, not %zu", seed,
			(unsigned long)measured.size, size);
		ck_assert_uint_eq(
			measured.size, ZSTD_findFrameCompressedSize(frame, size));
		ck_assert(!measured.is_skippable);
		ck_assert_msg(measure(at, at + cut, &measured) == ENODATA,
			"seed %u: %zu of %zu octets", seed, cut, size);
	}
}
END_TEST

START_TEST(test_skippable_frame_measured)
{
	static const uint8_t skippable[] = {
		0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3};
	struct triad_zstd_frame measured;

	put(0, skippable, sizeof(skippable));
	ck_assert_int_eq(measure(0, sizeof(skippable), &measured), 0);
	ck_assert(measured.is_skippable);
	ck_assert_uint_eq(measured.size, sizeof(skippable));
	ck_assert_int_eq(measure(0, sizeof(skippable) - 1, &measured), ENODATA);
}
END_TEST

START_TEST(test_other_octets_are_no_frame)
{
	static const uint8_t reserved_flag[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0x08, 0, 1, 0, 0};
	static const uint8_t reserved_block[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0, 7, 0, 0};
	static const uint8_t large_block[] = {
		0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0x01, 0xff, 0xff};
	struct triad_zstd_frame measured;

	put(0, "no frame.", 9);
	ck_assert_int_eq(measure(0, 9, &measured), EILSEQ);
	ck_assert_int_eq(measure(0, 3, &measured), ENODATA);
	ck_assert_int_eq(measure(9, 9, &measured), ENODATA);
	put(0, reserved_flag, sizeof(reserved_flag));
	ck_assert_int_eq(measure(0, sizeof(reserved_flag), &measured), EILSEQ);
	put(0, reserved_block, sizeof(reserved_block));
	ck_assert_int_eq(measure(0, sizeof(reserved_block), &measured), EILSEQ);
	put(0, large_block, sizeof(large_block));
	ck_assert_int_eq(measure(0, sizeof(large_block), &measured), EILSEQ);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("zstd_frame");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_frame_measured_as_zstd_does);
	tcase_add_test(cases, test_skippable_frame_measured);
	tcase_add_test(cases, test_other_octets_are_no_frame);
	return run_cases(cases);
}
