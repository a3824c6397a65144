/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/format_version.h"
#include "plugin/ports/ports_parts.h"
#include "triad/lists.h"

/* How often to look while there is no other reason to. */
#define LOOK_US (60 * TRIAD_US_PER_S)

/* --- which there are --- */

/* The SMs that are known now; 'now_us' was taken when the search began. */
struct search {
	uint64_t now_us, wall_us, own;
	struct triad_seen_sms sms;
};

static void add_sm(struct search *search, uint64_t guid, int64_t at_us)
{
	if (guid != search->own)
		triad_seen_sms_add(&search->sms, guid, at_us, search->now_us);
}

static void add_of_opensm(struct triad_ports *ports, struct search *search)
{
	cl_qmap_t *table = &ports->osm->subn.sm_guid_tbl;
	cl_map_item_t *item;

	/* OpenSM may keep its lock for long in a sweep: commands don't wait for
	 * that. */
	ports_begin_wait(ports);
	cl_plock_acquire(&ports->osm->lock);
	for (item = cl_qmap_head(table); item != cl_qmap_end(table);
		item = cl_qmap_next(item))
		add_sm(search, cl_ntoh64(((osm_remote_sm_t *)item)->smi.guid),
			(int64_t)search->now_us);
	cl_plock_release(&ports->osm->lock);
	ports_end_wait(ports);
}

static void add_configured(const struct triad_ports *ports, struct search *search)
{
	uint64_t guids[TRIAD_CONF_MAX_PEERS];
	char reason[256];
	size_t n = 0;

	if (ports->conf->election.cluster != TRIAD_CLUSTER_FABRIC ||
		!triad_guids_parse(ports->conf->election.peers, guids,
			TRIAD_CONF_MAX_PEERS, &n, reason, sizeof(reason)))
		return;
	for (size_t i = 0; i < n; i++)
		add_sm(search, guids[i], (int64_t)search->now_us);
}

/* Those that this SM saw, and those whose acts the journal has: others may have seen
 * them. */
static void add_remembered(const struct triad_ports *ports, struct search *search)
{
	const struct triad_seen_sms *before = &ports->sms.seen;

	for (uint32_t i = 0; i < before->n; i++)
		add_sm(search, before->guids[i], before->at_us[i]);
	for (unsigned bucket = 0; bucket < TRIAD_HISTORY_N_BUCKETS; bucket++) {
		const struct triad_record *record;

		for (uint32_t i = 0;
			(record = triad_history_at(ports->records.history, bucket, i));
			i++)
			add_sm(search, record->writer,
				triad_seen_sms_time(record->at_us, search->now_us,
					search->wall_us));
	}
}

/* --- the file --- */

static void write_file(struct triad_ports *ports, const struct search *search)
{
	char text[TRIAD_SEEN_SMS_SIZE];
	struct ports_sms *sms = &ports->sms;
	size_t size;
	int error;

	if (!sms->path[0] || sms->is_of_later ||
		!triad_seen_sms_must_write(&sms->seen, &sms->written))
		return;
	size = triad_seen_sms_format(&sms->seen, search->now_us, search->wall_us, text);
	ports_begin_wait(ports);
	error = triad_file_replace(sms->path, text, size, 0600);
	ports_end_wait(ports);
	if (!error)
		sms->written = sms->seen;
	switch (triad_file_report(&sms->reported, sms->path, error)) {
	case TRIAD_FILE_IN_TROUBLE:
		triad_log_write(ports->log, TRIAD_LOG_ERROR,
			"ports: %s: not written: %s; after a restart of OpenSM, SMs "
			"that have ended by then are not guarded, unless they changed "
			"ports",
			sms->path, strerror(error));
		break;
	case TRIAD_FILE_WELL_AGAIN:
		triad_log_write(ports->log, TRIAD_LOG_INFO,
			"ports: %s is written again", sms->path);
		break;
	default:
		break;
	}
}

/* Returns 0 or an errno, with the reason in 'why', or "" there. */
static int read_seen_sms(struct ports_sms *sms, char why[TRIAD_FILE_REASON_SIZE])
{
	char text[TRIAD_SEEN_SMS_SIZE];
	size_t size = 0;
	int error;

	why[0] = '\0';
	if (triad_file_check_trusted(sms->path, false, why) == EPERM)
		return EPERM;
	why[0] = '\0';
	error = triad_file_read(sms->path, text, sizeof(text), &size);
	if (!error)
		error = triad_seen_sms_parse(text, size, triad_clock_boot_us(),
			triad_clock_wall_us(), &sms->written);
	sms->is_of_later = error == EPROTONOSUPPORT;
	if (sms->is_of_later)
		triad_format_refusal(why, triad_seen_sms_version(text, size),
			TRIAD_SEEN_SMS_VERSION);
	return error;
}

void ports_open_sms(struct triad_ports *ports)
{
	char path[TRIAD_SOURCE_PATH_SIZE], why[TRIAD_FILE_REASON_SIZE];
	struct ports_sms *sms = &ports->sms;
	uint64_t now_us = triad_clock_boot_us();
	int error;

	snprintf(path, sizeof(path), "%s/sms-0x%016" PRIx64,
		ports->conf->election.state_dir, ports->id);
	if (strcmp(path, sms->path) == 0)
		return;
	strcpy(sms->path, path);
	sms->written.n = 0;
	ports_begin_wait(ports);
	error = read_seen_sms(sms, why);
	ports_end_wait(ports);
	if (error && error != ENOENT)
		triad_log_write(ports->log, TRIAD_LOG_ERROR,
			"ports: %s: not read, or not all of it: %s", path,
			*why ? why : strerror(error));
	for (uint32_t i = 0; i < sms->written.n; i++)
		triad_seen_sms_add(&sms->seen, sms->written.guids[i],
			sms->written.at_us[i], now_us);
}

/* --- looking --- */

bool ports_must_find_sms(const struct triad_ports *ports, uint64_t now_us)
{
	return now_us >= ports->sms.look_us;
}

void ports_find_sms(struct triad_ports *ports)
{
	struct ports_sms *sms = &ports->sms;
	struct search search = {.now_us = triad_clock_boot_us(),
		.wall_us = triad_clock_wall_us(),
		.own = ports->id};

	add_of_opensm(ports, &search);
	/* Without a cluster nothing keeps another SM from changing ports, too. */
	sms->without_cluster =
		search.sms.n && ports->conf->election.cluster == TRIAD_CLUSTER_NONE;
	/* The cluster's members run SMs, even if these do not answer now. */
	for (uint32_t i = 0; i < ports->view.n_members; i++)
		add_sm(&search, ports->view.members[i], (int64_t)search.now_us);
	add_configured(ports, &search);
	add_remembered(ports, &search);
	/* The last plan does not guard the way to a new one. */
	for (uint32_t i = 0; i < search.sms.n; i++)
		ports->must_plan |=
			!triad_seen_sms_has(&sms->seen, search.sms.guids[i]);
	sms->seen = search.sms;
	sms->look_us = search.now_us + LOOK_US;
	if (ports->conf->port.enabled)
		write_file(ports, &search);
}
