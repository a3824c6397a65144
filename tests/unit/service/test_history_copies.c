/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two SMs copy each other's images, each into its own folder.  In the end the folders
 * have the same files, whatever happened to them. */
#include "serve/history/mirror.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <zstd.h>

#include "tests/unit/history/fixture.h"
#include "tests/unit/history/kept.h"
#include "triad/file.h"

#define HOUR (3600 * S)
#define MAX_FILE (4u << 20)

static const uint64_t guids[2] = {GUID, 0x5678};

struct sm {
	char folder[TEST_FOLDER_SIZE + 2]; /* room for "/b" */
	struct triad_history_params params;
	struct triad_history_store *store;
	struct triad_history_mirror *mirror;
	struct triad_history_answers answers;
};

static struct world world;
static struct sm sms[2];
static const struct triad_conf *conf;
static unsigned refuses; /* one payload in so many is refused; 0: none */
static bool is_cut;

/* --- the SMs --- */

static int send_payload(void *context, const void *payload, size_t size)
{
	struct sm *sm = context;
	unsigned i = (unsigned)(sm - sms);

	if (refuses && !random_below(&world.seed, refuses))
		return EAGAIN;
	if (!is_cut && sms[!i].mirror)
		triad_history_mirror_leave_payload(
			sms[!i].mirror, guids[i], payload, size);
	return 0;
}

static void configure(unsigned i)
{
	triad_history_store_configure(sms[i].store, &sms[i].params);
	triad_history_store_prepare(sms[i].store);
}

static void start(unsigned i)
{
	struct sm *sm = &sms[i];
	const struct triad_history_carrier carrier = {sm, send_payload};

	sm->store = triad_history_store_new(NULL);
	strcpy(sm->params.program, "OpenSM");
	sm->params.port_guid = guids[i];
	configure(i);
	sm->mirror = triad_history_mirror_new(sm->store, &carrier, NULL);
	ck_assert_ptr_nonnull(sm->mirror);
	triad_history_mirror_leave_view(sm->mirror, guids, 2);
}

static void stop(unsigned i)
{
	triad_history_mirror_free(sms[i].mirror);
	triad_history_store_free(sms[i].store);
	triad_history_answers_clear(&sms[i].answers);
	sms[i].answers = (struct triad_history_answers){0};
	sms[i].mirror = NULL;
	sms[i].store = NULL;
}

static void run_both(void)
{
	for (unsigned i = 0; i < 2; i++)
		if (sms[i].mirror)
			triad_history_mirror_run(sms[i].mirror, conf, guids[i]);
	usleep(1000);
}

static struct triad_mirror_status status_of(unsigned i)
{
	return triad_history_mirror_status(sms[i].mirror).mirror;
}

/* --- files --- */

/* Calls for each file whose name has 'part' in it; returns how many. */
static unsigned for_files(unsigned i, const char *part,
	bool (*call)(const char *folder, const char *name))
{
	DIR *dir = opendir(sms[i].folder);
	struct dirent *entry;
	unsigned n = 0;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && strstr(entry->d_name, part))
			n += !call || call(sms[i].folder, entry->d_name);
	if (dir)
		closedir(dir);
	return n;
}

static bool remove_file(const char *folder, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	unlink(path);
	return true;
}

static bool truncate_file(const char *folder, const char *name)
{
	char path[512];

	if (strstr(name, ".idx"))
		return remove_file(folder, name);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !truncate(path, 300);
}

static size_t read_file(const char *folder, const char *name, uint8_t *octets)
{
	char path[512];
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return triad_file_read(path, octets, MAX_FILE, &n) ? SIZE_MAX : n;
}

static bool is_same_file(const char *folder, const char *name)
{
	static uint8_t a[MAX_FILE], b[MAX_FILE];
	const char *other = sms[!strcmp(folder, sms[0].folder)].folder;
	size_t n_a = read_file(folder, name, a), n_b = read_file(other, name, b);

	return n_a == n_b && n_a != SIZE_MAX && !memcmp(a, b, n_a);
}

static bool are_equal(void)
{
	unsigned n = for_files(0, "", NULL);

	return n && n == for_files(1, "", NULL) && n == for_files(0, "", is_same_file);
}

static void run_until_equal(unsigned max_s)
{
	uint64_t until_us = triad_clock_now_us() + max_s * S;

	while (!are_equal() && triad_clock_now_us() < until_us)
		for (unsigned i = 0; i < 50; i++)
			run_both();
	ck_assert_msg(are_equal(), "seed %lu: %u and %u files, %u of them the same",
		(unsigned long)world.seed, for_files(0, "", NULL),
		for_files(1, "", NULL), for_files(0, "", is_same_file));
}

static void write_images(unsigned i, unsigned n)
{
	for (; n; n--) {
		struct triad_history_image image;

		world_sweep(&world, 10 * S);
		image = world_image(&world);
		image.port_guid = guids[i];
		ck_assert_int_eq(keep_image(sms[i].store, &sms[i].answers, &image), 0);
	}
}

/* --- before and after --- */

static void set_up(void)
{
	struct triad_conf *made = triad_conf_new(GUID);

	made->history.replicate = true;
	made->election.enabled = true;
	strcpy(made->history.dir, "somewhere");
	conf = made;
	refuses = 0;
	is_cut = false;
	world_begin(&world, (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid());
	/* Begin half an hour before the wall clock, which decides what is too old. */
	world.now_us = triad_clock_wall_us() / 1000 * 1000 - BEGIN_US - HOUR / 2;
	for (unsigned i = 0; i < 2; i++) {
		struct sm *sm = &sms[i];

		*sm = (struct sm){.params = {.has_copies = true,
					  .limits = {.max_octets = 100000000,
						  .keep_us = 31 * 24 * HOUR,
						  .period_us = 10 * S}}};
		make_test_folder(sm->folder);
		strcpy(sm->params.dir, sm->folder);
		start(i);
	}
}

static void tear_down(void)
{
	for (unsigned i = 0; i < 2; i++) {
		if (sms[i].store)
			stop(i);
		for_files(i, "", remove_file);
		rmdir(sms[i].folder);
	}
	world_end(&world);
	triad_conf_unref(conf);
}

/* --- cases --- */

/* Row: N10 */
START_TEST(test_copies_have_the_same_octets_as_what_they_are_copies_of)
{
	refuses = 3;
	write_images(0, 20);
	run_until_equal(60);
	/* The SMs are master in turn; each writes images with its own GUID. */
	write_images(1, 20);
	run_until_equal(60);
	write_images(0, 5);
	run_until_equal(60);
	ck_assert_uint_eq(for_files(1, "0x0000000000001234", NULL) > 0, true);
	ck_assert_uint_eq(for_files(0, "0x0000000000005678", NULL) > 0, true);
	ck_assert_uint_eq(status_of(0).n_bad + status_of(1).n_bad, 0);
}
END_TEST

static char noted[256];

static void note_event(void *context, const struct triad_timeline_event *event)
{
	size_t length = strlen(noted);

	(void)context;
	snprintf(noted + length, sizeof(noted) - length, "%s ", event->text);
}

/* The SM that copies gets each event once, in order. */
START_TEST(test_events_of_copied_images_are_handed_on)
{
	const struct triad_history_events_sink sink = {.take = note_event};
	struct triad_timeline_event events[2] = {
		{.kind = TRIAD_TIMELINE_QOS}, {.kind = TRIAD_TIMELINE_QOS}};

	noted[0] = '\0';
	for (unsigned i = 0; i < 2; i++)
		triad_history_store_set_events_sink(sms[i].store, &sink);
	for (unsigned n = 1; n <= 3; n++) {
		struct triad_history_image image;

		world_sweep(&world, 10 * S);
		image = world_image(&world);
		image.port_guid = guids[0];
		/* The newest event is first; the image before also had the older
		 * one. */
		for (unsigned i = 0; i < 2; i++) {
			events[i].at_us = image.wall_us - 1 - i * 10 * S;
			sprintf(events[i].text, "%u", n - i);
		}
		image.events = events;
		image.n_events = n > 1 ? 2 : 1;
		ck_assert_int_eq(keep_image(sms[0].store, &sms[0].answers, &image), 0);
		run_until_equal(60);
	}
	ck_assert_str_eq(noted, "1 2 3 ");
}
END_TEST

START_TEST(test_copies_are_read_like_own_images)
{
	struct kept_reader reader;
	char message[TRIAD_HISTORY_MESSAGE_SIZE];
	struct triad_past *past;

	write_images(0, 12);
	run_until_equal(60);
	ck_assert(kept_reader_open(&reader, sms[1].store));
	past = triad_history_reader_read(
		reader.reader, BEGIN_US + world.now_us, message);
	ck_assert_msg(past != NULL, "%s", message);
	ck_assert_uint_eq(past->wall_us, BEGIN_US + world.now_us);
	triad_past_free(past);
	kept_reader_close(&reader);
}
END_TEST

START_TEST(test_copies_cut_off_by_a_kill_are_completed)
{
	write_images(0, 30);
	run_until_equal(60);
	stop(1);
	ck_assert_uint_gt(for_files(1, "", truncate_file), 0);
	write_images(0, 5);
	start(1);
	run_until_equal(60);
}
END_TEST

/* Own images that were lost come back from the SM that copied them. */
START_TEST(test_own_images_of_a_lost_disk_come_back)
{
	write_images(0, 30);
	run_until_equal(60);
	stop(0);
	ck_assert_uint_gt(for_files(0, "", remove_file), 0);
	start(0);
	write_images(0, 2);
	run_until_equal(60);
	ck_assert_uint_gt(triad_history_store_status(sms[0].store).n_kept, 30);
}
END_TEST

START_TEST(test_images_of_a_time_apart_are_copied_afterwards)
{
	write_images(0, 10);
	run_until_equal(60);
	is_cut = true;
	write_images(0, 10);
	write_images(1, 10);
	for (unsigned i = 0; i < 100; i++)
		run_both();
	ck_assert(!are_equal());
	is_cut = false;
	run_until_equal(60);
}
END_TEST

static void limit_files(rlim_t octets)
{
	struct rlimit limit;

	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = octets;
	setrlimit(RLIMIT_FSIZE, &limit);
}

START_TEST(test_copies_to_a_full_disk_wait_for_room)
{
	signal(SIGXFSZ, SIG_IGN);
	write_images(0, 20);
	limit_files(100);
	for (unsigned i = 0; i < 20000 && !status_of(1).error; i++)
		run_both();
	limit_files(RLIM_INFINITY);
	ck_assert_int_eq(status_of(1).error, EFBIG);
	run_until_equal(60);
	ck_assert_int_eq(status_of(1).error, 0);
}
END_TEST

/* That one disk is full doesn't delay copies to a folder on another. */
START_TEST(test_copies_to_another_folder_do_not_wait)
{
	struct triad_conf *other = triad_conf_new(GUID);

	signal(SIGXFSZ, SIG_IGN);
	write_images(0, 20);
	limit_files(100);
	for (unsigned i = 0; i < 20000 && !status_of(1).error; i++)
		run_both();
	limit_files(RLIM_INFINITY);
	ck_assert_int_eq(status_of(1).error, EFBIG);
	other->history = conf->history;
	other->election = conf->election;
	strcpy(other->history.dir, "elsewhere");
	triad_history_mirror_run(sms[1].mirror, other, guids[1]);
	ck_assert_int_eq(status_of(1).error, 0);
	triad_conf_unref(other);
}
END_TEST

/* Own images and copies together keep to the limit. */
START_TEST(test_copies_and_own_images_share_the_room)
{
	struct triad_history_status status;

	for (unsigned i = 0; i < 2; i++) {
		sms[i].params.limits.max_octets = 30000;
		configure(i);
	}
	/* In the last rounds only SM 0 writes images. */
	for (unsigned n = 0; n < 10; n++) {
		write_images(n < 6 ? n % 2 : 0, 15);
		run_until_equal(60);
		for (unsigned i = 0; i < 2; i++) {
			status = triad_history_store_status(sms[i].store);
			ck_assert_uint_le(status.octets + status.copied_octets, 30000);
		}
	}
	ck_assert_uint_gt(status.n_removed, 0);
	ck_assert_uint_gt(status.copied_octets, 0);
}
END_TEST

START_TEST(test_copies_go_on_in_another_folder_and_after_a_pause)
{
	char old[TEST_FOLDER_SIZE];

	write_images(0, 10);
	run_until_equal(60);
	/* While copies are off, none arrive. */
	sms[1].params.has_copies = false;
	configure(1);
	ck_assert_ptr_null(triad_history_store_rings(sms[1].store));
	write_images(0, 10);
	sms[1].params.has_copies = true;
	configure(1);
	run_until_equal(60);
	strcpy(old, sms[1].folder);
	snprintf(sms[1].folder, sizeof(sms[1].folder), "%s/b", old);
	strcpy(sms[1].params.dir, sms[1].folder);
	configure(1);
	run_until_equal(60);
	stop(1);
	for_files(1, "", remove_file);
	rmdir(sms[1].folder);
	strcpy(sms[1].folder, old);
}
END_TEST

/* Reads SM 0's first image. */
static void get_image(struct triad_mirror_image *image, uint8_t *octets)
{
	const struct triad_history_ring *ring =
		triad_history_store_rings(sms[0].store)->rings[0];
	const struct triad_history_segment *segment =
		&ring->tiers[TRIAD_HISTORY_SWEEPS].segments[0];

	*image = (struct triad_mirror_image){.owner = guids[0],
		.tier = TRIAD_HISTORY_SWEEPS,
		.begun_us = segment->begun_us,
		.size = (uint32_t)segment->entries[0].size};
	ck_assert_int_eq(triad_history_store_read_image(
				 sms[0].store, image, 0, octets, image->size),
		0);
}

static int add(const struct triad_mirror_image *image, const uint8_t *octets)
{
	return triad_history_store_add_image(sms[1].store, image, octets);
}

START_TEST(test_octets_that_are_no_image_of_that_sm_leave_nothing)
{
	static uint8_t octets[2 * MAX_FILE];
	struct triad_mirror_image image, other;

	write_images(0, 1);
	get_image(&image, octets);
	other = image;
	other.owner = 0x99;
	ck_assert_int_eq(add(&other, octets), EPROTO);
	/* Two images at once, an image without its end, and an altered one. */
	other = image;
	memcpy(octets + image.size, octets, image.size);
	other.size = 2 * image.size;
	ck_assert_int_eq(add(&other, octets), EPROTO);
	other.size = image.size - 1;
	ck_assert_int_eq(add(&other, octets), EPROTO);
	octets[image.size / 2] ^= 1;
	ck_assert_int_eq(add(&image, octets), EPROTO);
	ck_assert_uint_eq(for_files(1, "", NULL), 0);
	ck_assert_uint_eq(triad_history_store_rings(sms[1].store)->n, 1);
	octets[image.size / 2] ^= 1;
	ck_assert_int_eq(add(&image, octets), 0);
	/* The same image isn't added twice. */
	ck_assert_int_eq(add(&image, octets), EBUSY);
	/* No copy may replace the segment that the SM is writing. */
	ck_assert_int_eq(
		triad_history_store_add_image(sms[0].store, &image, octets), EBUSY);
}
END_TEST

/* An image whose lines unpack to far more than those of any fabric. */
START_TEST(test_image_that_unpacks_to_too_much_is_refused)
{
	enum { TEXT = 40u << 20 };
	static uint8_t octets[2 * MAX_FILE];
	struct triad_mirror_image image;
	char *text = malloc(TEXT);
	size_t n;

	write_images(0, 1);
	get_image(&image, octets);
	n = ZSTD_decompress(text, TEXT, octets, image.size);
	ck_assert(!ZSTD_isError(n));
	for (; n + 2 < TEXT; n += 2)
		memcpy(text + n, "#\n", 2);
	n = ZSTD_compress(octets, sizeof(octets), text, n, 3);
	ck_assert(!ZSTD_isError(n));
	image.size = (uint32_t)n;
	ck_assert_int_eq(add(&image, octets), EPROTO);
	ck_assert_uint_eq(for_files(1, "", NULL), 0);
	free(text);
}
END_TEST

/* The path of the future copy of a segment; false: 'name' isn't a segment of that
 * tier. */
static bool path_of_copy(const char *name, const char *tier, char path[512])
{
	snprintf(path, 512, "%s/%s", sms[1].folder, name);
	return !strstr(name, ".idx") && !strncmp(name, tier, strlen(tier));
}

static bool make_folder(const char *folder, const char *name)
{
	char path[512];

	(void)folder;
	return path_of_copy(name, "minutes", path) && !mkdir(path, 0755);
}

static bool make_link(const char *folder, const char *name)
{
	char path[512];

	(void)folder;
	return path_of_copy(name, "sweeps", path) && !symlink("/etc/hostname", path);
}

static bool remove_folder(const char *folder, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return !rmdir(path);
}

/* Another file with the name of a copy prevents only that copy. */
START_TEST(test_copies_go_on_beside_other_files_with_their_names)
{
	write_images(0, 20);
	ck_assert_uint_eq(for_files(0, "minutes", make_folder), 1);
	ck_assert_uint_gt(for_files(0, "sweeps", make_link), 0);
	for (unsigned i = 0; i < 2000 && !for_files(1, "hours", NULL); i++)
		run_both();
	ck_assert_uint_eq(for_files(1, "hours", NULL), 2);
	ck_assert_int_eq(status_of(1).error, 0);
	ck_assert_uint_eq(status_of(1).n_failed, 0);
	ck_assert_uint_eq(for_files(1, "minutes", remove_folder), 1);
}
END_TEST

/* An image may contain another time than the list that announced it. */
START_TEST(test_images_of_the_far_future_are_not_taken)
{
	static uint8_t octets[MAX_FILE];
	struct triad_mirror_image image;

	world.now_us += 400 * 24 * HOUR;
	write_images(0, 1);
	get_image(&image, octets);
	image.begun_us = triad_clock_wall_us() / 1000 * 1000;
	ck_assert_int_eq(add(&image, octets), EPROTO);
	ck_assert_uint_eq(for_files(1, "", NULL), 0);
}
END_TEST

/* A copy may not have a name that this SM will use for its own future segments. */
START_TEST(test_own_images_come_back_behind_what_is_written)
{
	static uint8_t octets[MAX_FILE];
	struct triad_mirror_image image;
	uint64_t begun_us;

	write_images(0, 1);
	get_image(&image, octets);
	begun_us = image.begun_us;
	image.begun_us = begun_us + 1000;
	ck_assert_int_eq(
		triad_history_store_add_image(sms[0].store, &image, octets), EBUSY);
	image.begun_us = begun_us - 1000;
	ck_assert_int_eq(
		triad_history_store_add_image(sms[0].store, &image, octets), 0);
	stop(0);
	start(0);
	image.begun_us = triad_clock_wall_us() / 1000 * 1000 + HOUR;
	ck_assert_int_eq(
		triad_history_store_add_image(sms[0].store, &image, octets), EBUSY);
}
END_TEST

START_TEST(test_trouble_names_the_remedy)
{
	struct triad_conf *other = triad_conf_new(GUID);

	other->history.replicate = true;
	other->history.dir[0] = '\0';
	triad_history_mirror_run(sms[0].mirror, other, guids[0]);
	ck_assert_ptr_nonnull(strstr(
		triad_history_mirror_status(sms[0].mirror).trouble, "history.dir"));
	strcpy(other->history.dir, "somewhere");
	triad_history_mirror_run(sms[0].mirror, other, guids[0]);
	ck_assert_ptr_nonnull(strstr(triad_history_mirror_status(sms[0].mirror).trouble,
		"election.enabled"));
	other->election.enabled = true;
	other->election.cluster = TRIAD_CLUSTER_NONE;
	triad_history_mirror_run(sms[0].mirror, other, guids[0]);
	ck_assert_ptr_nonnull(strstr(triad_history_mirror_status(sms[0].mirror).trouble,
		"election.cluster"));
	triad_history_mirror_run(sms[0].mirror, other, 0);
	ck_assert_ptr_nonnull(strstr(triad_history_mirror_status(sms[0].mirror).trouble,
		"history.replicate"));
	triad_conf_unref(other);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("copies");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(
		cases, test_copies_have_the_same_octets_as_what_they_are_copies_of);
	tcase_add_test(cases, test_events_of_copied_images_are_handed_on);
	tcase_add_test(cases, test_copies_are_read_like_own_images);
	tcase_add_test(cases, test_copies_cut_off_by_a_kill_are_completed);
	tcase_add_test(cases, test_own_images_of_a_lost_disk_come_back);
	tcase_add_test(cases, test_images_of_a_time_apart_are_copied_afterwards);
	tcase_add_test(cases, test_copies_to_a_full_disk_wait_for_room);
	tcase_add_test(cases, test_copies_to_another_folder_do_not_wait);
	tcase_add_test(cases, test_copies_and_own_images_share_the_room);
	tcase_add_test(cases, test_copies_go_on_in_another_folder_and_after_a_pause);
	tcase_add_test(cases, test_octets_that_are_no_image_of_that_sm_leave_nothing);
	tcase_add_test(cases, test_image_that_unpacks_to_too_much_is_refused);
	tcase_add_test(cases, test_copies_go_on_beside_other_files_with_their_names);
	tcase_add_test(cases, test_images_of_the_far_future_are_not_taken);
	tcase_add_test(cases, test_own_images_come_back_behind_what_is_written);
	tcase_add_test(cases, test_trouble_names_the_remedy);
	return run_cases(cases);
}
