/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Images are written to a folder and read from it, whatever happens to the files. */
#include "serve/history/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "perfmgr/export/zstd_frame.h"
#include "tests/unit/history/fixture.h"
#include "tests/unit/history/kept.h"

#define MAX_COPIES 6000u
#define HOUR (3600 * S)

static struct world world;
static uint64_t seed;
static char folder[TEST_FOLDER_SIZE];
static struct triad_history_params params;
static struct triad_history_store *store;
static struct kept_reader reader;
static struct triad_history_answers answers;
static struct copied *copies;
static uint32_t n_copies;
static char message[TRIAD_HISTORY_MESSAGE_SIZE];

static void open_store(void)
{
	store = triad_history_store_new(NULL);
	ck_assert(kept_reader_open(&reader, store));
	triad_history_store_configure(store, &params);
	triad_history_store_prepare(store);
}

static void close_store(void)
{
	kept_reader_close(&reader);
	triad_history_store_free(store);
}

/* Replaces pread(): with 'hangs', the disk doesn't answer. */
static atomic_bool hangs, is_asked;
ssize_t __real_pread64(int fd, void *to, size_t size, off_t at);
ssize_t __wrap_pread64(int fd, void *to, size_t size, off_t at);

ssize_t __wrap_pread64(int fd, void *to, size_t size, off_t at)
{
	is_asked = true;
	while (hangs)
		usleep(1000);
	return __real_pread64(fd, to, size, at);
}

static void set_up(void)
{
	seed = (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid();
	world_begin(&world, seed);
	make_test_folder(folder);
	params = (struct triad_history_params){.limits = {.max_octets = 1000000000,
						       .keep_us = 31 * 24 * HOUR,
						       .period_us = 10 * S}};
	strcpy(params.dir, folder);
	strcpy(params.program, "OpenSM");
	params.port_guid = GUID;
	copies = calloc(MAX_COPIES, sizeof(*copies));
	n_copies = 0;
	open_store();
}

/* Calls for each file there whose name has 'part' in it; returns how many. */
static unsigned for_files(const char *part, void (*call)(const char *path))
{
	struct dirent *entry;
	DIR *dir = opendir(folder);
	unsigned n = 0;
	char path[512];

	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strstr(entry->d_name, part)) {
			snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
			n++;
			if (call)
				call(path);
		}
	closedir(dir);
	return n;
}

static void remove_file(const char *path)
{
	unlink(path);
}

static void tear_down(void)
{
	close_store();
	for_files("", remove_file);
	rmdir(folder);
	free(copies);
	world_end(&world);
	triad_history_answers_clear(&answers);
}

static int write_image(void)
{
	struct triad_history_image image = world_image(&world);
	int error = keep_image(store, &answers, &image);

	if (!error)
		copies[n_copies++] = world_copy(&world);
	return error;
}

static void write_images(unsigned n, uint64_t each_us)
{
	for (unsigned i = 0; i < n; i++) {
		world_sweep(&world, each_us);
		ck_assert_int_eq(write_image(), 0);
	}
}

static const struct copied *copy_at(uint64_t wall_us)
{
	for (uint32_t i = n_copies; i; i--)
		if (copies[i - 1].wall_us <= wall_us)
			return &copies[i - 1];
	return NULL;
}

static void check_ports(const struct triad_past *past, const struct copied *copied)
{
	const struct triad_view *view = past->view;

	ck_assert_uint_eq(view->fabric->n_ports, copied->n_ports);
	for (uint32_t i = 0; i < copied->n_ports; i++) {
		const struct copy *copy = &copied->ports[i];
		struct triad_engine_row row;

		if (!view->fabric->ports[i].has_pma)
			continue;
		ck_assert(triad_view_read(view, i, &row));
		ck_assert_msg((row.read_us != 0) == copy->was_read, "seed %lu: port %u",
			(unsigned long)seed, i);
		/* A port that never answered is unanswered in the image, too. */
		ck_assert_int_eq(row.was_asked,
			copy->was_read || copy->quiet == TRIAD_HISTORY_UNANSWERED);
		if (!copy->was_read)
			continue;
		ck_assert_int_eq(row.answered, copy->quiet == TRIAD_HISTORY_READ);
		/* This also holds for a port that didn't change. */
		if (copy->quiet == TRIAD_HISTORY_READ)
			ck_assert_uint_eq(
				row.read_us + (uint64_t)past->offset_us, past->wall_us);
		for (unsigned c = 0; c < TRIAD_N_COUNTERS; c++)
			ck_assert_msg(row.total[c] == copy->total[c],
				"seed %lu: port %u, %s is %lu and was %lu",
				(unsigned long)seed, i, triad_counters[c].name,
				(unsigned long)row.total[c],
				(unsigned long)copy->total[c]);
	}
}

static void check_at(uint64_t wall_us, const struct copied *copied)
{
	struct triad_past *past =
		triad_history_reader_read(reader.reader, wall_us, message);

	ck_assert_msg(past != NULL, "seed %lu: %s", (unsigned long)seed, message);
	ck_assert_msg(past->wall_us == copied->wall_us, "seed %lu: %lu and not %lu",
		(unsigned long)seed, (unsigned long)past->wall_us,
		(unsigned long)copied->wall_us);
	check_ports(past, copied);
	triad_past_free(past);
}

static uint64_t random_time(void)
{
	uint64_t from_us = copies[0].wall_us, to_us = copies[n_copies - 1].wall_us + S;

	return from_us + random_next(&world.seed) % (to_us - from_us);
}

static void change_topology(void)
{
	world_adopt(&world,
		random_below(&world.seed, 2)
			? fabric_without(world.fabric, NULL, 0, 0x200,
				  1 + random_below(&world.seed, 4))
			: fabric_row(2, 4));
}

/* Row: N10 */
START_TEST(test_images_at_random_times_are_what_was_written)
{
	for (unsigned i = 0; i < 240; i++) {
		if (!random_below(&world.seed, 20))
			change_topology();
		write_images(1, (8 + random_below(&world.seed, 5)) * S);
	}
	for (unsigned i = 0; i < 300; i++) {
		uint64_t wall_us = random_time();

		check_at(wall_us, copy_at(wall_us));
	}
	/* After a restart the store finds all images, with and without the index. */
	close_store();
	open_store();
	check_at(copies[17].wall_us, &copies[17]);
	close_store();
	for_files(".idx", remove_file);
	open_store();
	for (unsigned i = 0; i < 50; i++) {
		uint64_t wall_us = random_time();

		check_at(wall_us, copy_at(wall_us));
	}
}
END_TEST

START_TEST(test_image_has_rates_from_the_one_before)
{
	struct triad_past *past;
	struct triad_engine_row row;
	uint64_t grown;

	write_images(100, 10 * S);
	past = triad_history_reader_read(
		reader.reader, copies[80].wall_us + S, message);
	ck_assert_msg(past != NULL, "%s", message);
	ck_assert_uint_eq(past->before_us, copies[79].wall_us);
	for (uint32_t i = 0; i < copies[80].n_ports; i++) {
		const struct copy *now = &copies[80].ports[i];
		const struct copy *before = &copies[79].ports[i];

		if (now->quiet || before->quiet || !before->was_read)
			continue;
		ck_assert(triad_view_read(past->view, i, &row));
		grown = now->total[TRIAD_PORT_XMIT_DATA] -
			before->total[TRIAD_PORT_XMIT_DATA];
		ck_assert_double_eq_tol(triad_engine_rate(&row, TRIAD_PORT_XMIT_DATA),
			(double)grown / 10, 0.01);
	}
	triad_past_free(past);
}
END_TEST

/* Row: N10 */
START_TEST(test_older_images_are_thinned_and_their_totals_stay_exact)
{
	/* An image a minute for more than two days. */
	write_images(3200, 60 * S);
	for (unsigned i = 0; i < 300; i++) {
		uint64_t wall_us = random_time();
		uint64_t age_us = copies[n_copies - 1].wall_us - wall_us;
		struct triad_past *past =
			triad_history_reader_read(reader.reader, wall_us, message);

		ck_assert_msg(
			past != NULL, "seed %lu: %s", (unsigned long)seed, message);
		ck_assert_uint_le(past->wall_us, wall_us);
		ck_assert_uint_le(wall_us - past->wall_us,
			age_us < 24 * HOUR ? 60 * S : HOUR + 60 * S);
		check_ports(past, copy_at(past->wall_us));
		triad_past_free(past);
	}
	ck_assert_uint_gt(triad_history_store_status(store).n_removed, 0);
}
END_TEST

START_TEST(test_time_without_image_is_refused_with_what_there_is)
{
	ck_assert_ptr_null(triad_history_reader_read(reader.reader, BEGIN_US, message));
	ck_assert_ptr_nonnull(strstr(message, "no image yet"));
	write_images(10, 10 * S);
	world.now_us += 600 * S;
	write_images(10, 10 * S);
	ck_assert_ptr_null(triad_history_reader_read(
		reader.reader, copies[0].wall_us - 1, message));
	ck_assert_ptr_nonnull(strstr(message, "before the first image"));
	ck_assert_ptr_null(triad_history_reader_read(
		reader.reader, copies[9].wall_us + 300 * S, message));
	ck_assert_ptr_nonnull(strstr(message, "nothing was recorded between"));
	ck_assert_ptr_null(triad_history_reader_read(
		reader.reader, copies[19].wall_us + 300 * S, message));
	ck_assert_ptr_nonnull(strstr(message, "after the last image"));
}
END_TEST

/* --- answers of commands --- */

/* A command's answer of two frames, the first of 'size' random octets. */
static void answer(uint32_t size)
{
	struct triad_history_output *output = &world.output;
	char *octets = malloc(size);

	triad_history_output_clear(output);
	strcpy(output->command, "routes check");
	output->status = 3;
	for (uint32_t i = 0; i < size; i++)
		octets[i] = (char)random_next(&world.seed);
	ck_assert_int_eq(
		triad_history_output_add(output, TRIAD_FRAME_TABLE, octets, size), 0);
	ck_assert_int_eq(triad_history_output_add(
				 output, TRIAD_FRAME_MESSAGE, "not checked\n", 12),
		0);
	free(octets);
}

static void check_answer(const struct triad_past *past)
{
	const struct triad_history_output *output = triad_history_output_find(
		past->outputs, past->n_outputs, "routes check", false);

	ck_assert_ptr_nonnull(output);
	ck_assert_ptr_null(triad_history_output_find(
		past->outputs, past->n_outputs, "routes check", true));
	ck_assert_uint_eq(output->status, 3);
	ck_assert_uint_eq(output->size, world.output.size);
	ck_assert_mem_eq(output->octets, world.output.octets, output->size);
}

/* Row: N10 */
START_TEST(test_image_has_what_commands_answered)
{
	/* The images are key images and ones that contain only differences from
	 * these. */
	for (unsigned i = 0; i < 20; i++) {
		struct triad_past *past;

		answer(1 + random_below(&world.seed, 4000));
		write_images(1, 10 * S);
		past = triad_history_reader_read(
			reader.reader, copies[n_copies - 1].wall_us, message);
		ck_assert_msg(
			past != NULL, "seed %lu: %s", (unsigned long)seed, message);
		ck_assert_uint_eq(past->n_outputs, 1);
		check_answer(past);
		triad_past_free(past);
		/* Read only the answers, without ports. */
		past = triad_history_reader_outputs(
			reader.reader, copies[n_copies - 1].wall_us, message);
		ck_assert_msg(
			past != NULL, "seed %lu: %s", (unsigned long)seed, message);
		ck_assert_ptr_null(past->view);
		ck_assert_uint_eq(past->wall_us, copies[n_copies - 1].wall_us);
		ck_assert_uint_eq(past->head.sweep, world.n_images);
		check_answer(past);
		triad_past_free(past);
	}
}
END_TEST

START_TEST(test_answer_has_a_size_at_most_and_whole_frames)
{
	static char octets[TRIAD_HISTORY_OUTPUT_SIZE];
	struct triad_history_output *output = &world.output;
	struct triad_frame frame;
	const uint8_t *data;
	uint32_t at = 0, size;

	answer(1000);
	size = output->size;
	ck_assert_int_eq(triad_history_output_add(
				 output, TRIAD_FRAME_OUTPUT, octets, sizeof(octets)),
		EMSGSIZE);
	ck_assert_uint_eq(output->size, size);
	ck_assert(triad_history_output_next(output, &at, &frame, &data));
	ck_assert_uint_eq(frame.size, 1000);
	ck_assert(triad_history_output_next(output, &at, &frame, &data));
	ck_assert_mem_eq(data, "not checked\n", frame.size);
	ck_assert(!triad_history_output_next(output, &at, &frame, &data));
	/* An answer that is cut off anywhere ends with its last whole frame. */
	for (output->size = 0; output->size < size; output->size++) {
		unsigned n = 0;

		for (at = 0; triad_history_output_next(output, &at, &frame, &data); n++)
			ck_assert_uint_le(at, output->size);
		ck_assert_uint_eq(n, output->size >= 1000 + TRIAD_FRAME_HEADER_SIZE);
	}
}
END_TEST

START_TEST(test_image_reports_which_answer_it_lacks)
{
	const struct triad_history_output *found;
	struct triad_past *past;

	world.output.is_left_out = true;
	strcpy(world.output.command, "port plan");
	write_images(1, 10 * S);
	past = triad_history_reader_outputs(reader.reader, copies[0].wall_us, message);
	ck_assert_ptr_nonnull(past);
	found = triad_history_output_find(
		past->outputs, past->n_outputs, "port plan", false);
	ck_assert_ptr_nonnull(found);
	ck_assert(found->is_left_out);
	ck_assert_uint_eq(found->size, 0);
	triad_past_free(past);
}
END_TEST

/* --- ports and devices --- */

/* By index of the port: the length of its cable, 0: no cable; the errors of its link.
 * A link with errors is worse than its target. */
struct hardware {
	uint16_t length_dm[MAX_PORTS];
	uint32_t errors[MAX_PORTS], uptime_s;
	bool is_silent;
};

static struct hardware hardware;

static bool read_device(void *context, uint64_t guid, struct triad_device_known *known)
{
	struct hardware *of = context;

	(void)guid;
	*known = (struct triad_device_known){.is_silent = of->is_silent};
	known->info.uptime_s = of->uptime_s++;
	return true;
}

static bool read_cable(
	void *context, uint64_t guid, uint8_t number, struct triad_cable_known *known)
{
	const struct hardware *of = context;
	uint32_t port = triad_fabric_find_port(
		world.fabric, triad_fabric_find_node(world.fabric, guid), number);

	*known = (struct triad_cable_known){
		.module = TRIAD_MODULE_KNOWN, .read_us = world.now_us};
	known->cable.length_dm = of->length_dm[port];
	return of->length_dm[port];
}

static void read_bers(void *context, const struct triad_view *view, uint32_t port,
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS])
{
	const struct hardware *of = context;

	(void)view;
	memset(rates, 0, TRIAD_BER_N_KINDS * sizeof(*rates));
	rates[TRIAD_BER_SYMBOL].is_known = true;
	rates[TRIAD_BER_SYMBOL].estimate.errors = of->errors[port];
}

/* Counts details of a port: the causes of errors, and the data of a VL. */
static void count_details(uint32_t port, uint32_t n_errors)
{
	const struct triad_details_port of = triad_view_details_port(world.view, port);
	struct triad_details *details = triad_engine_details(world.engine);
	struct triad_details_report report = {
		.read_us = world.now_us, .raw = {n_errors, 0, 7}};

	(void)triad_details_take(details, &of, TRIAD_PMA_RCV_ERROR_DETAILS, &report, 1);
	report.raw[0] = 1000;
	(void)triad_details_take(details, &of, TRIAD_PMA_VL_OP_DATA, &report, 1);
}

static void check_hardware(const struct triad_past *past, uint32_t port)
{
	uint64_t guid = world.fabric->nodes[world.fabric->ports[port].node].guid;
	uint8_t number = world.fabric->ports[port].number;
	struct triad_extra extra;
	bool is_found =
		triad_past_find_extra(past, TRIAD_EXTRA_CABLE, guid, number, 0, &extra);

	ck_assert_msg(is_found == (hardware.length_dm[port] != 0), "seed %lu: port %u",
		(unsigned long)seed, port);
	if (is_found)
		ck_assert_uint_eq(
			extra.is.cable.cable.length_dm, hardware.length_dm[port]);
	ck_assert(triad_past_find_extra(past, TRIAD_EXTRA_DEVICE, guid, 0, 0, &extra));
	ck_assert_int_eq(extra.is.device.is_silent, hardware.is_silent);
	if (!world.fabric->ports[port].has_pma)
		return;
	is_found = triad_past_find_extra(
		past, TRIAD_EXTRA_BER, guid, number, TRIAD_BER_SYMBOL, &extra);
	ck_assert(is_found == (hardware.errors[port] != 0));
	if (is_found)
		ck_assert_uint_eq(extra.is.ber.estimate.errors, hardware.errors[port]);
}

/* Row: N10 */
START_TEST(test_image_has_what_was_known_of_ports_and_devices)
{
	world.sources = (struct triad_history_sources){.context = &hardware,
		.read_device = read_device,
		.read_cable = read_cable,
		.read_bers = read_bers};
	for (unsigned i = 0; i < 60; i++) {
		uint32_t port = random_below(&world.seed, world.fabric->n_ports);
		struct triad_past *past;

		hardware.length_dm[port] = (uint16_t)random_below(&world.seed, 3);
		hardware.errors[port] = random_below(&world.seed, 3);
		hardware.is_silent = !random_below(&world.seed, 3);
		if (!random_below(&world.seed, 20))
			change_topology();
		write_images(1, 10 * S);
		past = triad_history_reader_read(
			reader.reader, copies[n_copies - 1].wall_us, message);
		ck_assert_msg(
			past != NULL, "seed %lu: %s", (unsigned long)seed, message);
		for (uint32_t p = 0; p < world.fabric->n_ports; p++)
			check_hardware(past, p);
		triad_past_free(past);
	}
}
END_TEST

static bool is_key(const struct copied *copied)
{
	struct triad_past *past =
		triad_history_reader_outputs(reader.reader, copied->wall_us, message);
	bool found;

	ck_assert_ptr_nonnull(past);
	found = past->head.is_key;
	triad_past_free(past);
	return found;
}

START_TEST(test_image_after_all_cables_were_read_again_is_a_key)
{
	static const bool expected[] = {true, false, false, true, false};

	world.sources = (struct triad_history_sources){.context = &hardware,
		.read_device = read_device,
		.read_cable = read_cable};
	for (unsigned i = 0; i < sizeof(expected); i++) {
		for (uint32_t p = 0; p < world.fabric->n_ports && (!i || i == 2); p++)
			hardware.length_dm[p] = (uint16_t)(100 + i);
		write_images(1, 10 * S);
	}
	for (unsigned i = 0; i < sizeof(expected); i++)
		ck_assert_msg(is_key(&copies[i]) == expected[i], "image %u", i);
}
END_TEST

START_TEST(test_image_has_details_with_errors_alone)
{
	uint64_t guid = world.fabric->nodes[world.fabric->ports[1].node].guid;
	uint8_t number = world.fabric->ports[1].number;
	struct triad_extra extra;
	struct triad_past *past;

	for (uint32_t n_errors = 0; n_errors < 3; n_errors++) {
		write_images(1, 10 * S);
		count_details(1, n_errors);
		ck_assert_int_eq(write_image(), 0);
		past = triad_history_reader_read(
			reader.reader, copies[n_copies - 1].wall_us, message);
		ck_assert_ptr_nonnull(past);
		ck_assert(triad_past_find_extra(past, TRIAD_EXTRA_DETAIL, guid, number,
			TRIAD_PMA_RCV_ERROR_DETAILS, &extra));
		ck_assert_uint_eq(extra.is.detail.total[0], n_errors);
		ck_assert_uint_eq(extra.is.detail.total[2], 7);
		ck_assert_uint_eq(extra.is.detail.read_us + (uint64_t)past->offset_us,
			BEGIN_US + world.now_us);
		ck_assert(!triad_past_find_extra(past, TRIAD_EXTRA_DETAIL, guid, number,
			TRIAD_PMA_VL_OP_DATA, &extra));
		triad_past_free(past);
	}
}
END_TEST

/* --- damaged files and faults --- */

/* The newest segment of a tier. */
static void find_newest(const char *tier, char path[512])
{
	struct dirent *entry;
	DIR *dir = opendir(folder);
	char newest[256] = "";

	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, tier, strlen(tier)) &&
			!strstr(entry->d_name, ".idx") &&
			strcmp(entry->d_name, newest) > 0)
			strcpy(newest, entry->d_name);
	closedir(dir);
	ck_assert(newest[0]);
	snprintf(path, 512, "%s/%s", folder, newest);
}

/* Asks for an image, of which there is none. */
static struct triad_history_status ask_in_vain(const char *why)
{
	struct triad_history_question question;

	ck_assert(triad_history_store_begin(store, world.now_us, &question));
	(void)triad_history_store_end(store, false, why);
	return triad_history_store_status(store);
}

START_TEST(test_image_that_is_not_made_is_said_until_there_is_one)
{
	struct triad_history_status status;

	write_images(2, 10 * S);
	ck_assert_int_eq(ask_in_vain(NULL).error, 0);
	status = ask_in_vain("Cannot allocate memory");
	ck_assert_int_ne(status.error, 0);
	ck_assert_str_eq(status.reason, "none was made: Cannot allocate memory");
	/* Nobody knows of which sweep. */
	ck_assert_uint_eq(ask_in_vain("Cannot allocate memory").n_dropped, 0);
	write_images(1, 10 * S);
	status = triad_history_store_status(store);
	ck_assert_int_eq(status.error, 0);
	ck_assert_str_eq(status.reason, "");
	ck_assert_uint_eq(status.n_dropped, 0);
}
END_TEST

/* Row: N10 */
START_TEST(test_kill_within_an_image_loses_that_one_alone)
{
	char path[512];

	write_images(20, 10 * S);
	for (unsigned i = 0; i < 24; i++) {
		struct triad_history_answer last =
			triad_history_store_find(store, UINT64_MAX);
		uint64_t left = random_next(&world.seed) % last.position.entry.size;

		close_store();
		/* As after a kill: the last frame is incomplete, and the index has no
		 * line for it. */
		find_newest("sweeps", path);
		ck_assert_int_eq(
			truncate(path, (off_t)(last.position.entry.offset + left)), 0);
		for_files(".idx", remove_file);
		open_store();
		n_copies--;
		check_at(copies[n_copies].wall_us - 1, &copies[n_copies - 1]);
		check_at(copies[3].wall_us, &copies[3]);
		write_images(2, 10 * S);
		check_at(copies[n_copies - 1].wall_us, &copies[n_copies - 1]);
		check_at(copies[n_copies - 2].wall_us, &copies[n_copies - 2]);
	}
}
END_TEST

/* Checks that the file consists of whole frames. */
static void check_whole(const char *path)
{
	struct triad_zstd_frame frame;
	struct stat status;
	uint64_t at = 0;
	int fd = open(path, O_RDONLY);

	if (strstr(path, ".idx")) {
		close(fd);
		return;
	}
	ck_assert_int_eq(fstat(fd, &status), 0);
	for (; at < (uint64_t)status.st_size; at += frame.size)
		ck_assert_int_eq(triad_zstd_frame_measure(
					 fd, at, (uint64_t)status.st_size, &frame),
			0);
	close(fd);
}

/* Limits the size of files, to simulate a full disk. */
static void limit_files(rlim_t octets)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = octets;
	setrlimit(RLIMIT_FSIZE, &limit);
}

/* The one who wrote was killed, and started again. */
START_TEST(test_sweeps_while_no_store_was_open_are_counted)
{
	write_images(5, 10 * S);
	close_store();
	for (unsigned i = 0; i < 3; i++) {
		world_sweep(&world, 10 * S);
		(void)world_image(&world); /* which nobody keeps */
	}
	open_store();
	write_images(1, 10 * S);
	ck_assert_uint_eq(triad_history_store_status(store).n_dropped, 3);
	write_images(2, 10 * S);
	ck_assert_uint_eq(triad_history_store_status(store).n_dropped, 3);
}
END_TEST

/* Row: N10 */
START_TEST(test_full_disk_loses_images_until_there_is_room_and_no_file)
{
	struct triad_history_answer last;
	uint32_t n;
	int error;

	signal(SIGXFSZ, SIG_IGN);
	write_images(20, 10 * S);
	last = triad_history_store_find(store, UINT64_MAX);
	world_sweep(&world, 10 * S);
	/* No assertions under the limit: libcheck writes to a file for each. */
	limit_files(
		(rlim_t)(last.position.entry.offset + last.position.entry.size + 100));
	error = write_image();
	limit_files(RLIM_INFINITY);
	ck_assert_int_eq(error, EFBIG);
	ck_assert_ptr_nonnull(
		strstr(triad_history_store_status(store).reason, "large"));
	ck_assert_uint_eq(triad_history_store_status(store).n_dropped, 1);
	n = n_copies;
	check_at(copies[n - 1].wall_us, &copies[n - 1]);
	write_images(10, 10 * S);
	ck_assert_int_eq(triad_history_store_status(store).error, 0);
	for_files("", check_whole);
	for (uint32_t i = 0; i < n_copies; i++)
		check_at(copies[i].wall_us, &copies[i]);
	close_store();
	open_store();
	for (uint32_t i = 0; i < n_copies; i++)
		check_at(copies[i].wall_us, &copies[i]);
}
END_TEST

START_TEST(test_altered_octets_are_noticed_and_other_images_stay)
{
	char path[512];
	unsigned n_failed = 0;

	write_images(30, 10 * S);
	find_newest("sweeps", path);
	for (unsigned i = 0; i < 40; i++) {
		struct triad_history_answer answer =
			triad_history_store_find(store, copies[10 + i % 19].wall_us);
		uint64_t at = answer.position.entry.offset +
			random_next(&world.seed) % answer.position.entry.size;
		int fd = open(path, O_RDWR);
		struct triad_past *past;
		uint8_t was, is;

		ck_assert_int_eq(pread(fd, &was, 1, (off_t)at), 1);
		is = (uint8_t)(was ^ (1 + random_below(&world.seed, 255)));
		ck_assert_int_eq(pwrite(fd, &is, 1, (off_t)at), 1);
		past = triad_history_reader_read(
			reader.reader, copies[10 + i % 19].wall_us, message);
		n_failed += !past;
		if (past)
			check_ports(past, copy_at(past->wall_us));
		triad_past_free(past);
		check_at(copies[2].wall_us, &copies[2]);
		ck_assert_int_eq(pwrite(fd, &was, 1, (off_t)at), 1);
		close(fd);
	}
	/* Changes of some octets of a frame have no effect. */
	ck_assert_uint_gt(n_failed, 30);
}
END_TEST

START_TEST(test_limit_is_kept_and_the_oldest_are_removed)
{
	struct triad_history_status status;

	params.limits.max_octets = 200000;
	triad_history_store_configure(store, &params);
	for (unsigned i = 0; i < 1000; i++) {
		write_images(1, 10 * S);
		status = triad_history_store_status(store);
		ck_assert_uint_le(status.octets, params.limits.max_octets + 8000);
	}
	ck_assert_uint_gt(status.n_removed, 0);
	ck_assert_uint_gt(status.octets, params.limits.max_octets / 2);
	ck_assert_uint_eq(status.last_us, copies[n_copies - 1].wall_us);
	check_at(copies[n_copies - 1].wall_us, &copies[n_copies - 1]);
	/* There is one index for each segment. */
	ck_assert_uint_eq(for_files(".idx", NULL), status.n_segments);
	ck_assert_uint_eq(for_files("", NULL), 2 * status.n_segments);
}
END_TEST

START_TEST(test_clock_that_goes_back_costs_no_image)
{
	write_images(10, 10 * S);
	/* Here the wall clock differs from the monotonic one by a constant. */
	world.now_us -= 1800 * S;
	write_images(10, 10 * S);
	check_at(copies[9].wall_us, &copies[9]);
	check_at(copies[19].wall_us, &copies[19]);
	/* There are two segments in each tier, not one for each image. */
	ck_assert_uint_le(triad_history_store_status(store).n_segments, 6);
	close_store();
	open_store();
	check_at(copies[9].wall_us, &copies[9]);
	check_at(copies[19].wall_us, &copies[19]);
}
END_TEST

/* Files whose name has the year of a wall time. */
static unsigned n_of_year(uint64_t wall_us)
{
	char time[TRIAD_CLOCK_TEXT_SIZE], year[8];

	triad_clock_format(wall_us, time);
	snprintf(year, sizeof(year), "-%.4s", time);
	return for_files(year, NULL);
}

START_TEST(test_clock_ten_years_ahead_for_a_time_costs_no_image)
{
	const uint64_t ten_years_us = 3652 * 24 * HOUR;
	uint64_t ahead_us;
	unsigned n_ahead;

	write_images(10, 10 * S);
	world.now_us += ten_years_us;
	write_images(10, 10 * S);
	ahead_us = copies[19].wall_us;
	n_ahead = n_of_year(ahead_us);
	ck_assert_uint_gt(n_ahead, 0);
	close_store();
	open_store();
	write_images(10, 10 * S);
	world.now_us -= ten_years_us;
	n_ahead = n_of_year(ahead_us);
	write_images(10, 10 * S);
	/* No name is of the future, and it goes on in the same segments. */
	ck_assert_uint_eq(n_of_year(ahead_us), n_ahead);
	ck_assert_uint_le(triad_history_store_status(store).n_segments, 12);
	check_at(copies[0].wall_us, &copies[0]);
	check_at(copies[9].wall_us, &copies[9]);
	check_at(copies[19].wall_us, &copies[19]);
	check_at(copies[39].wall_us, &copies[39]);
	ck_assert_uint_eq(triad_history_store_status(store).n_removed, 0);
}
END_TEST

/* Row: N10 */
START_TEST(test_images_of_another_fill_the_time_in_which_one_was_dead)
{
	struct triad_history_store *ours = store, *other;
	struct triad_history_params of_other = params;
	struct kept_reader reads_other;
	struct triad_past *past;

	write_images(10, 10 * S);
	other = store = triad_history_store_new(NULL);
	ck_assert(kept_reader_open(&reads_other, other));
	of_other.port_guid = GUID + 1;
	triad_history_store_configure(other, &of_other);
	write_images(10, 10 * S);
	store = ours;
	write_images(10, 10 * S);
	/* Each store answers about all images, and both stores' files still exist. */
	for (uint32_t i = 0; i < n_copies; i++) {
		check_at(copies[i].wall_us, &copies[i]);
		past = triad_history_reader_read(
			reads_other.reader, copies[i].wall_us, message);
		ck_assert_msg(past != NULL, "%s", message);
		check_ports(past, &copies[i]);
		triad_past_free(past);
	}
	kept_reader_close(&reads_other);
	triad_history_store_free(other);
}
END_TEST

static uint32_t read_series(uint64_t from_us, uint64_t to_us, uint32_t n,
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS])
{
	const struct triad_history_request request = {.node_guid = 0x200,
		.port = 3,
		.counter = TRIAD_SYMBOL_ERROR_COUNTER,
		.from_us = from_us,
		.to_us = to_us,
		.n = n};

	return triad_history_reader_series(reader.reader, &request, points, message);
}

START_TEST(test_series_has_the_totals_of_a_port)
{
	struct triad_history_point points[TRIAD_HISTORY_MAX_POINTS];
	uint32_t n, n_full = 0;
	uint32_t port = triad_fabric_find_port(
		world.fabric, triad_fabric_find_node(world.fabric, 0x200), 3);

	write_images(20, 10 * S);
	/* Its row is again as in the key. */
	for (unsigned i = 0; i < 30; i++) {
		memcpy(world.ports[port].total, copies[0].ports[port].total,
			sizeof(world.ports[port].total));
		write_images(1, 10 * S);
	}
	/* It counts no more at its maximum. */
	world.ports[port].full = 1u << TRIAD_SYMBOL_ERROR_COUNTER;
	world.zeroed_us = BEGIN_US + S;
	write_images(10, 10 * S);
	world.ports[port].full = 0;
	write_images(40, 10 * S);
	n = read_series(copies[0].wall_us, copies[63].wall_us, 64, points);
	ck_assert_msg(n == 64, "%u: %s", n, message);
	for (uint32_t i = 0; i < n; i++) {
		const struct copied *copied = copy_at(points[i].time_us);
		const struct copy *expected = &copied->ports[port];
		bool is_known = expected->was_read &&
			expected->quiet == TRIAD_HISTORY_READ && !expected->full;

		ck_assert_uint_eq(copied->wall_us, points[i].time_us);
		ck_assert_int_eq(points[i].is_known, is_known);
		ck_assert_uint_eq(points[i].base.started_us, BEGIN_US);
		ck_assert_uint_eq(points[i].base.zeroed_us, i < 50 ? 0 : BEGIN_US + S);
		if (is_known)
			ck_assert_uint_eq(points[i].total,
				expected->total[TRIAD_SYMBOL_ERROR_COUNTER]);
		n_full += expected->full != 0;
	}
	ck_assert_uint_gt(n_full, 0);
	n = read_series(BEGIN_US, UINT64_MAX, 10, points);
	ck_assert_uint_eq(n, 10);
	ck_assert_uint_eq(points[0].time_us, copies[0].wall_us);
	ck_assert_uint_eq(points[9].time_us, copies[99].wall_us);
	ck_assert_uint_eq(read_series(1, 2, 10, points), 0);
	ck_assert_ptr_nonnull(strstr(message, "before the first image"));
}
END_TEST

static void *read_once(void *past)
{
	*(struct triad_past **)past =
		triad_history_reader_read(reader.reader, copies[0].wall_us, message);
	return NULL;
}

START_TEST(test_disk_that_hangs_blocks_no_thread_when_the_process_ends)
{
	struct triad_past *past = (struct triad_past *)&past;
	pthread_t thread;

	write_images(3, 10 * S);
	hangs = true;
	is_asked = false;
	ck_assert_int_eq(pthread_create(&thread, NULL, read_once, &past), 0);
	while (!is_asked)
		usleep(1000);
	triad_history_reader_close(reader.reader);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_ptr_null(past);
	ck_assert_ptr_nonnull(strstr(message, "the program ends"));
	hangs = false;
	kept_reader_close(&reader);
	ck_assert(kept_reader_open(&reader, store));
	check_at(copies[2].wall_us, &copies[2]);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("history_store");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_images_at_random_times_are_what_was_written);
	tcase_add_test(cases, test_image_has_rates_from_the_one_before);
	tcase_add_test(
		cases, test_older_images_are_thinned_and_their_totals_stay_exact);
	tcase_add_test(cases, test_time_without_image_is_refused_with_what_there_is);
	tcase_add_test(cases, test_image_has_what_commands_answered);
	tcase_add_test(cases, test_answer_has_a_size_at_most_and_whole_frames);
	tcase_add_test(cases, test_image_reports_which_answer_it_lacks);
	tcase_add_test(cases, test_image_has_what_was_known_of_ports_and_devices);
	tcase_add_test(cases, test_image_after_all_cables_were_read_again_is_a_key);
	tcase_add_test(cases, test_image_has_details_with_errors_alone);
	tcase_add_test(cases, test_image_that_is_not_made_is_said_until_there_is_one);
	tcase_add_test(cases, test_kill_within_an_image_loses_that_one_alone);
	tcase_add_test(cases, test_sweeps_while_no_store_was_open_are_counted);
	tcase_add_test(
		cases, test_full_disk_loses_images_until_there_is_room_and_no_file);
	tcase_add_test(cases, test_altered_octets_are_noticed_and_other_images_stay);
	tcase_add_test(cases, test_limit_is_kept_and_the_oldest_are_removed);
	tcase_add_test(cases, test_clock_that_goes_back_costs_no_image);
	tcase_add_test(cases, test_clock_ten_years_ahead_for_a_time_costs_no_image);
	tcase_add_test(
		cases, test_images_of_another_fill_the_time_in_which_one_was_dead);
	tcase_add_test(
		cases, test_disk_that_hangs_blocks_no_thread_when_the_process_ends);
	tcase_add_test(cases, test_series_has_the_totals_of_a_port);
	return run_cases(cases);
}
