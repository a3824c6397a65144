/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/sa/sa_copies_parts.h"
#include "portmgr/sa/sa_file.h"

/* The shortest time between two files. */
#define PERIOD_US (TRIAD_US_PER_S / 2)
/* Rest this many times as long as the last write took, to spare a slow disk. */
#define REST_PARTS 10u
#define RETRY_US (5 * TRIAD_US_PER_S)
/* How long to distrust a loss of many members: the master may be cut off from the
 * fabric, and be replaced in this time. */
#define FEWER_US (10 * TRIAD_US_PER_S)
#define MIN_MEMBERS 16u
/* How often the file of records that are confirmed is marked as of now. */
#define TOUCH_US (5 * TRIAD_US_PER_S)

void copies_file_forget(struct triad_sa_copies *copies)
{
	struct copies_file *file = &copies->file;

	/* Withdraw the name before the file: OpenSM reports a missing file as an
	 * error. */
	triad_sa_restore_withdraw(copies->restore);
	if (file->is_there)
		(void)unlink(file->path);
	file->is_there = false;
	file->is_own = false;
	file->fewer_us = 0;
	file->due_us = 0;
	file->since_us = triad_clock_now_us();
}

/* When its records were confirmed, by the clock of the present process; 0: that is too long
 * ago, or to come after a step of the clock, or the file can't be trusted. */
static uint64_t find_confirmed(const char *path)
{
	char why[TRIAD_FILE_REASON_SIZE];
	uint64_t now_us = triad_clock_wall_us(), at_us;
	struct stat facts;

	if (triad_file_check_trusted(path, false, why) || stat(path, &facts))
		return 0;
	at_us = triad_clock_from_timespec(&facts.st_mtim);
	if (at_us > now_us || now_us - at_us >= TRIAD_SA_COPIES_LEASE_US)
		return 0;
	return triad_clock_now_us() - (now_us - at_us);
}

/* The file that an earlier process left is like one from an earlier time as master. */
static void take_over(struct triad_sa_copies *copies)
{
	struct copies_file *file = &copies->file;

	file->confirmed_us = find_confirmed(file->path);
	if (file->confirmed_us &&
		!triad_sa_restore_give(copies->restore, file->path, true)) {
		file->is_there = true;
		file->is_own = true;
		file->digest = 0;
		file->n_members = 0;
	} else {
		(void)unlink(file->path);
	}
}

void copies_file_name(
	struct triad_sa_copies *copies, const struct triad_conf *conf, bool is_on)
{
	struct copies_file *file = &copies->file;
	char path[sizeof(file->path)];

	snprintf(path, sizeof(path), "%s/sa-0x%016" PRIx64 ".records",
		conf->election.state_dir, copies->port_guid);
	if (strcmp(path, file->path) == 0)
		return;
	copies_file_forget(copies);
	memcpy(file->path, path, sizeof(path));
	if (is_on)
		take_over(copies);
	else
		(void)unlink(path);
}

/* --- writing --- */

struct output {
	struct triad_sa_copies *copies;
	int fd;
};

static int write_some(void *context, const char *text, size_t size)
{
	const struct output *output = context;

	return triad_write_all(output->fd, text, size);
}

/* Whether OpenSM's table of the port has room for a block of aliases.  OpenSM does not
 * check this and would write past the end. */
static bool has_room(void *context, const struct triad_sa_guids *guids)
{
	const struct output *output = context;
	struct osm_opensm *osm = output->copies->osm;
	const osm_port_t *port;
	bool fits = true;

	cl_plock_acquire(&osm->lock);
	port = osm_get_port_by_guid(&osm->subn, cl_hton64(guids->port_guid));
	if (port && port->p_physp)
		fits = guids->block * TRIAD_SA_GUIDS_PER_BLOCK <
			port->p_physp->port_info.guid_cap;
	cl_plock_release(&osm->lock);
	return fits;
}

/* 'why' gets a text if it explains more than the errno, else "". */
static int write_file(struct triad_sa_copies *copies, char why[TRIAD_FILE_REASON_SIZE])
{
	struct triad_sa_copies_status *draft = &copies->draft;
	struct output output = {.copies = copies};
	const struct triad_sa_file_conf conf = {
		.now_s = triad_clock_wall_us() / TRIAD_US_PER_S,
		.ahead_us = draft->copier.ahead_us,
		.context = &output,
		.has_room = has_room,
		.write = write_some};
	const char *path = copies->file.path;
	int error = triad_file_check_folder(path, why);

	if (error == EPERM)
		return error;
	*why = '\0';
	output.fd = triad_file_new_open(path, 0, 0600);
	if (output.fd < 0)
		return -output.fd;
	error = triad_sa_file_write(
		triad_sa_copier_set(copies->copier), &conf, &draft->n_unwritable);
	return triad_file_new_end(output.fd, path, error);
}

static void report_file_error(
	struct triad_sa_copies *copies, int error, const char *why)
{
	struct copies_file *file = &copies->file;
	struct triad_sa_copies_status *draft = &copies->draft;
	enum triad_file_news news = triad_file_report(&file->report, file->path, error);

	draft->error = error;
	snprintf(draft->error_text, sizeof(draft->error_text), "%s",
		!error         ? ""
			: *why ? why
			       : strerror(error));
	if (news == TRIAD_FILE_IN_TROUBLE)
		triad_log_write(copies->log, TRIAD_LOG_ERROR,
			"election: %s: can't be written: %s; OpenSM's SA would not be "
			"restored here as master; it is tried again "
			"(election.replicate_sa, election.state_dir)",
			file->path, draft->error_text);
	if (news == TRIAD_FILE_WELL_AGAIN)
		triad_log_write(copies->log, TRIAD_LOG_INFO,
			"election: %s: is written again", file->path);
}

static void write_and_give(struct triad_sa_copies *copies, uint64_t begun_us)
{
	struct triad_sa_copies_status *draft = &copies->draft;
	struct copies_file *file = &copies->file;
	uint64_t digest = triad_sa_copier_digest(copies->copier);
	uint64_t period_us = PERIOD_US;
	char why[TRIAD_FILE_REASON_SIZE] = "";
	bool is_own = draft->copier.role == TRIAD_SA_GIVES;
	uint64_t now_us;
	int error;

	/* Named anew, it has OpenSM drop what it has in memory from its time as master. */
	if (file->is_own && !is_own)
		triad_sa_restore_withdraw(copies->restore);
	error = write_file(copies, why);
	now_us = triad_clock_now_us();

	report_file_error(copies, error, why);
	if (error) {
		/* The present file is older than the known records. */
		copies_file_forget(copies);
		file->due_us = now_us + RETRY_US;
		return;
	}
	file->is_there = true;
	file->is_own = is_own;
	file->confirmed_us = now_us;
	file->digest = digest;
	file->n_members = draft->copier.counts.n[TRIAD_SA_MEMBER];
	draft->n_written++;
	draft->write_us = now_us - begun_us;
	if (period_us < REST_PARTS * draft->write_us)
		period_us = REST_PARTS * draft->write_us;
	file->due_us = now_us + period_us;
}

/* --- when --- */

/* Whether many members of multicast groups have just vanished.  Keep the old file for a
 * while: too many members do no harm, because OpenSM skips ports that are missing. */
static bool lacks_many_members(struct triad_sa_copies *copies, uint64_t now_us)
{
	struct copies_file *file = &copies->file;
	uint32_t n = copies->draft.copier.counts.n[TRIAD_SA_MEMBER];

	if (!file->is_there || file->n_members < MIN_MEMBERS ||
		n >= file->n_members - file->n_members / 4) {
		file->fewer_us = 0;
		return false;
	}
	if (!file->fewer_us)
		file->fewer_us = now_us;
	return now_us - file->fewer_us < FEWER_US;
}

/* Whether all records of the SA are known: of this SM's own, or of the master's. */
static bool knows_all(const struct triad_sa_copies *copies)
{
	const struct triad_sa_copier_status *copier = &copies->draft.copier;

	return copier->role == TRIAD_SA_GIVES
		? copies->has_records && !copier->is_outdated
		: copier->is_complete;
}

static bool is_up_to_date(const struct triad_sa_copies *copies)
{
	return copies->file.is_there &&
		copies->file.digest == triad_sa_copier_digest(copies->copier);
}

static bool is_to_be_written(struct triad_sa_copies *copies, uint64_t now_us)
{
	const struct triad_sa_copier_status *copier = &copies->draft.copier;
	struct copies_file *file = &copies->file;

	if (!knows_all(copies) ||
		(copier->role != TRIAD_SA_GIVES && copier->equal_us < file->since_us))
		return false;
	/* Call this even if there is nothing to write, so that it notices returned
	 * members. */
	if (lacks_many_members(copies, now_us))
		return false;
	return !is_up_to_date(copies) && now_us >= file->due_us;
}

/* Whether the file has what the master's SA has now. */
static bool is_confirmed(const struct triad_sa_copies *copies)
{
	return copies->draft.copier.role != TRIAD_SA_RESTS && knows_all(copies) &&
		is_up_to_date(copies);
}

static void confirm(struct copies_file *file, uint64_t now_us)
{
	file->confirmed_us = now_us;
	if (now_us < file->touch_us)
		return;
	(void)utimensat(AT_FDCWD, file->path, NULL, AT_SYMLINK_NOFOLLOW);
	file->touch_us = now_us + TOUCH_US;
}

static bool is_outlived(const struct triad_sa_copies *copies, uint64_t now_us)
{
	const struct triad_sa_copier_status *copier = &copies->draft.copier;

	if (copier->role == TRIAD_SA_GIVES)
		return copier->is_outdated;
	/* Only a master's silence counts, not the time in which SMs look for a
	 * master. */
	return copier->role == TRIAD_SA_TAKES &&
		now_us - copies->file.confirmed_us > TRIAD_SA_COPIES_LEASE_US;
}

void copies_file_look(struct triad_sa_copies *copies, uint64_t now_us)
{
	struct copies_file *file = &copies->file;
	enum triad_sa_role role = copies->draft.copier.role;

	if (triad_sa_restore_has_own(copies->restore) ||
		(file->is_there && is_outlived(copies, now_us))) {
		copies_file_forget(copies);
		return;
	}
	if (is_to_be_written(copies, now_us))
		write_and_give(copies, now_us);
	else if (is_confirmed(copies))
		confirm(file, now_us);
	/* The write may have taken long: check again whether OpenSM ends. */
	if (file->is_there && role != TRIAD_SA_RESTS && !osm_exit_flag)
		(void)triad_sa_restore_give(
			copies->restore, file->path, role == TRIAD_SA_GIVES);
}
