/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* 'audit': forwarding tables as switches have them, compared with those that OpenSM wants.
 *
 * What a difference must be newer than: all blocks are read; those that differ are read
 * once more while no sweep and no rerouting is under way or begins, and are compared with
 * what OpenSM itself wants at that moment.  A sweep in between: once more, some times. */
#include "plugin/opensm.h"

#include "plugin/command/commands.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/grow.h"
#include "plugin/command/qos_setup.h"
#include "plugin/instance.h"
#include "plugin/qos/tables/read_back.h"
#include "plugin/worker.h"
#include "routes/audit.h"
#include "service/command/list.h"
#include "service/command/ports.h"
#include "service/command/report.h"
#include "triad/clock.h"
#include "triad/control.h"

/* How many SMPs to send without a pause, and how many a second at most. */
#define BATCH 256u
#define SMPS_PER_S 10000u
#define PROGRESS_US TRIAD_US_PER_S
/* Of more, the rest is left out: the fabric is not the one that OpenSM knows. */
#define MAX_ENTRIES 100000u
/* Entries whose hosts are counted, which takes a walk from each host. */
#define MAX_COUNTED 256u
#define N_CONFIRM 5u
/* How long to wait for the end of a sweep. */
#define QUIET_US (30 * TRIAD_US_PER_S)
#define LOOK_US (100 * TRIAD_US_PER_MS)

struct audit {
	struct triad_plugin *plugin;
	struct triad_output *output;
	struct triad_fabric *fabric;
	struct triad_read_back *items;
	size_t n_items;
	uint64_t n_blocks, n_done, n_unread; /* blocks: in all, read before, not read */
	uint32_t n_silent;                   /* switches */
	uint32_t last_silent;
	struct triad_audit_entry *entries;
	size_t n_entries, room;
	bool is_short; /* memory, or MAX_ENTRIES */
	uint64_t reported_us;
	uint64_t next_us; /* when the next batch may be sent */
};

/* One at a time: each sends as many SMPs as one should. */
static atomic_flag is_running = ATOMIC_FLAG_INIT;

/* --- reading --- */

/* Reports progress; returns false when OpenSM ends or the client has gone. */
static bool goes_on(void *context, size_t n_done)
{
	struct audit *audit = context;
	uint64_t now_us = triad_clock_now_us();

	if (now_us - audit->reported_us > PROGRESS_US) {
		audit->reported_us = now_us;
		triad_output_message(audit->output, TRIAD_FRAME_PROGRESS,
			"%" PRIu64 " of %" PRIu64 " blocks read",
			audit->n_done + n_done, audit->n_blocks);
	}
	return !osm_exit_flag && !audit->output->failed;
}

static void add_entry(void *context, const struct triad_audit_entry *entry)
{
	struct audit *audit = context;

	if (audit->n_entries == MAX_ENTRIES ||
		triad_grow(&audit->entries, &audit->room, audit->n_entries + 1,
			sizeof(*entry), 64)) {
		audit->is_short = true;
		return;
	}
	audit->entries[audit->n_entries++] = *entry;
}

/* Reads the items, and adds what differs.  Returns 0 or an errno. */
static int read_items(struct audit *audit)
{
	const struct triad_read_back_owner owner = {goes_on, audit};
	uint64_t now_us = triad_clock_now_us();
	int error;

	if (now_us < audit->next_us)
		usleep((useconds_t)(audit->next_us - now_us));
	audit->next_us =
		triad_clock_now_us() + audit->n_items * TRIAD_US_PER_S / SMPS_PER_S;
	error = triad_read_back(audit->fabric,
		cl_ntoh64(audit->plugin->osm->subn.opt.m_key), audit->items,
		audit->n_items, &owner);

	for (size_t i = 0; !error && i < audit->n_items; i++) {
		const struct triad_read_back *item = &audit->items[i];
		uint32_t node = audit->fabric->ports[item->port].node;

		if (!item->error) {
			triad_audit_block(audit->fabric, node, item->block, item->data,
				add_entry, audit);
			continue;
		}
		audit->n_unread++;
		audit->n_silent += node + 1 != audit->last_silent;
		audit->last_silent = node + 1;
	}
	audit->n_done += audit->n_items;
	audit->n_items = 0;
	return error;
}

static int add_item(struct audit *audit, uint32_t node, uint32_t block)
{
	audit->items[audit->n_items++] =
		(struct triad_read_back){.port = audit->fabric->nodes[node].first_port,
			.kind = TRIAD_SMP_LFT,
			.block = (uint16_t)block};
	return audit->n_items == BATCH ? read_items(audit) : 0;
}

static bool is_audited(const struct triad_fabric *fabric, uint32_t node,
	const struct triad_node_choice *choice)
{
	return fabric->nodes[node].type == TRIAD_NODE_SWITCH &&
		fabric->nodes[node].n_ports &&
		triad_node_choice_has_port(
			choice, fabric, fabric->nodes[node].first_port);
}

static int read_all(struct audit *audit, const struct triad_node_choice *choice)
{
	const struct triad_fabric *fabric = audit->fabric;
	int error = 0;

	for (uint32_t i = 0; i < fabric->n_nodes; i++)
		if (is_audited(fabric, i, choice))
			audit->n_blocks += triad_audit_n_blocks(fabric, i);
	for (uint32_t i = 0; i < fabric->n_nodes && !error; i++)
		for (uint32_t block = 0; is_audited(fabric, i, choice) && !error &&
			block < triad_audit_n_blocks(fabric, i);
			block++)
			error = add_item(audit, i, block);
	return error ? error : read_items(audit);
}

/* --- confirming --- */

/* What says that OpenSM has begun to change tables. */
static uint64_t count_changes(struct triad_plugin *plugin)
{
	struct triad_events_counts counts = triad_events_counts(plugin->events);

	return counts.reported[TRIAD_EVENT_SWEEP_START] +
		counts.reported[TRIAD_EVENT_ROUTING_DONE] +
		counts.reported[TRIAD_EVENT_REROUTED] +
		counts.reported[TRIAD_EVENT_STATE_CHANGE];
}

/* Waits until the worker has seen, after '*n_changes' were counted, that OpenSM does not
 * sweep.  False: it sweeps on, or the client has gone. */
static bool wait_for_quiet(struct audit *audit, uint64_t *n_changes)
{
	uint64_t end_us = triad_clock_now_us() + QUIET_US;

	while (goes_on(audit, 0) && triad_clock_now_us() < end_us) {
		uint64_t counted_us = triad_clock_now_us(),
			 n = count_changes(audit->plugin);
		struct triad_sm_sight sight;

		do {
			usleep(LOOK_US);
			sight = triad_worker_status(audit->plugin->worker).sm.last;
		} while (goes_on(audit, 0) && sight.now_us < counted_us &&
			triad_clock_now_us() < end_us);
		*n_changes = n;
		if (sight.now_us >= counted_us && !sight.is_sweeping)
			return true;
	}
	return false;
}

/* What OpenSM wants at this moment; false: it does not have the switch or the LID. */
static bool find_wanted(
	struct triad_plugin *plugin, uint64_t guid, uint16_t lid, uint8_t *wanted)
{
	const osm_switch_t *sw;
	bool is_known;

	cl_plock_acquire(&plugin->osm->lock);
	sw = osm_get_switch_by_guid(&plugin->osm->subn, cl_hton64(guid));
	is_known = sw && sw->new_lft && lid <= sw->max_lid_ho && lid < sw->lft_size;
	if (is_known)
		*wanted = sw->new_lft[lid];
	cl_plock_release(&plugin->osm->lock);
	return is_known;
}

/* Reads the blocks of 'old' again, and keeps of what differs now what differs from what
 * OpenSM wants now. */
static int read_again(
	struct audit *audit, const struct triad_audit_entry *old, size_t n)
{
	const struct triad_fabric *fabric = audit->fabric;
	size_t n_kept = 0;
	int error = 0;

	audit->n_entries = 0;
	audit->n_blocks = audit->n_done = 0;
	for (size_t i = 0; i < n && !error; i++) {
		uint32_t block = old[i].lid / TRIAD_LFT_BLOCK_SIZE;

		if (i && old[i - 1].node == old[i].node &&
			old[i - 1].lid / TRIAD_LFT_BLOCK_SIZE == block)
			continue;
		audit->n_blocks++;
		error = add_item(audit, old[i].node, block);
	}
	if (!error)
		error = read_items(audit);
	for (size_t i = 0; i < audit->n_entries && !error; i++) {
		struct triad_audit_entry entry = audit->entries[i];

		if (find_wanted(audit->plugin, fabric->nodes[entry.node].guid,
			    entry.lid, &entry.wanted) &&
			entry.wanted != entry.found)
			audit->entries[n_kept++] = entry;
	}
	audit->n_entries = n_kept;
	return error;
}

/* Returns 0; EAGAIN: sweeps came between each time; or another errno. */
static int confirm(struct audit *audit)
{
	size_t n = audit->n_entries;
	struct triad_audit_entry *old = malloc((n + 1) * sizeof(*old));
	uint64_t n_changes;
	int error = EAGAIN;

	if (!old)
		return ENOMEM;
	memcpy(old, audit->entries, n * sizeof(*old));
	for (unsigned i = 0; i < N_CONFIRM && error == EAGAIN; i++) {
		if (!wait_for_quiet(audit, &n_changes))
			break;
		error = read_again(audit, old, n);
		if (!error && count_changes(audit->plugin) != n_changes)
			error = EAGAIN;
	}
	free(old);
	return error;
}

/* --- the answer --- */

static void put_entry(struct triad_list *list, const struct triad_fabric *fabric,
	const struct triad_audit_entry *entry, double hosts)
{
	const struct triad_fabric_node *node = NULL, *to = NULL;
	uint32_t port = TRIAD_FABRIC_NONE;

	if (fabric) {
		node = &fabric->nodes[entry->node];
		port = triad_fabric_find_lid(fabric, entry->lid);
	}
	if (port != TRIAD_FABRIC_NONE)
		to = &fabric->nodes[fabric->ports[port].node];
	triad_list_row(list);
	triad_list_guid(list, "node_guid", NULL, node ? node->guid : 0);
	triad_list_node(list, "node_name", "switch", 24, node);
	triad_list_uint(list, "lid", "LID", 5, entry->lid);
	triad_list_blank(list);
	triad_list_node(list, "to_name", "of", 24, to);
	triad_list_uint(list, "wanted", "wanted", 6, entry->wanted);
	triad_list_uint(list, "found", "found", 6, entry->found);
	triad_list_real(list, "hosts", "hosts", 6, hosts, "%.0f", hosts);
	triad_list_row_end(list);
}

static void put_entries(struct audit *audit, const struct triad_command *command)
{
	struct triad_report report = {
		.output = audit->output, .as_json = command->json};
	struct triad_list list = {.report = &report, .phase = TRIAD_LIST_TITLES};
	struct triad_routes_layout *layout = NULL;

	if (audit->n_entries)
		(void)triad_routes_layout_make(audit->fabric, &layout);
	triad_report_array(&report, NULL);
	if (audit->n_entries || command->json)
		put_entry(&list, NULL, &(struct triad_audit_entry){0}, NAN);
	for (size_t i = 0; i < audit->n_entries && i < command->limit; i++) {
		const struct triad_audit_entry *entry = &audit->entries[i];
		double hosts = NAN;

		if (layout && i < MAX_COUNTED)
			hosts = triad_audit_n_hosts(layout, entry->node, entry->lid);
		put_entry(&list, audit->fabric, entry, hosts);
	}
	triad_report_array_end(&report);
	triad_routes_layout_free(layout);
}

/* Says what the rows do not.  Returns the command's status. */
static int end_audit(struct audit *audit, const struct triad_command *command)
{
	if (!command->json && audit->n_entries)
		triad_output_printf(audit->output,
			"%zu entries differ.  Packets to these LIDs leave by another port than "
			"OpenSM wants;\n255 is by none.  'hosts' is how many send there by "
			"this switch.  OpenSM writes a\ntable again when a link of that "
			"switch changes, and all when it becomes master.\n",
			audit->n_entries);
	if (audit->n_unread)
		triad_output_message(audit->output, TRIAD_FRAME_MESSAGE,
			"audit: not known: %" PRIu64 " blocks of %" PRIu32
			" switches were not read\n",
			audit->n_unread, audit->n_silent);
	if (audit->is_short)
		triad_output_message(audit->output, TRIAD_FRAME_MESSAGE,
			"audit: more than %u entries differ, or memory is short: the rest "
			"is left out\n",
			MAX_ENTRIES);
	if (audit->n_entries || audit->is_short)
		return TRIAD_CONTROL_FAILED;
	if (audit->n_unread)
		return TRIAD_CONTROL_UNKNOWN;
	if (!command->json)
		triad_output_printf(audit->output,
			"all %" PRIu64 " blocks are as OpenSM wants them\n",
			audit->n_done);
	return TRIAD_CONTROL_DONE;
}

static int run_audit(struct audit *audit, const struct triad_node_choice *choice,
	const struct triad_command *command)
{
	uint64_t n_read;
	int error = read_all(audit, choice);

	n_read = audit->n_done;
	if (!error && audit->n_entries)
		error = confirm(audit);
	audit->n_done = n_read;
	if (error == EAGAIN) {
		triad_output_message(audit->output, TRIAD_FRAME_MESSAGE,
			"audit: not known: %zu entries differ, and OpenSM sweeps again and "
			"again, so that they may be on their way; try again\n",
			audit->n_entries);
		return TRIAD_CONTROL_UNKNOWN;
	}
	if (error) {
		triad_output_message(audit->output, TRIAD_FRAME_MESSAGE,
			"audit: the switches can't be asked: %s\n", strerror(error));
		return TRIAD_CONTROL_FAILED;
	}
	put_entries(audit, command);
	return end_audit(audit, command);
}

int triad_command_run_audit(struct triad_plugin *plugin,
	const struct triad_command *command, struct triad_output *output)
{
	struct audit audit = {.plugin = plugin, .output = output};
	struct triad_node_choice choice = {0};
	int status = TRIAD_CONTROL_FAILED;

	if (atomic_flag_test_and_set(&is_running)) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"audit: another one is running: try again when it has ended\n");
		return TRIAD_CONTROL_FAILED;
	}
	audit.fabric = triad_setup_find_fabric(plugin, "audit", output);
	audit.items = calloc(BATCH, sizeof(*audit.items));
	if (audit.fabric && !audit.items)
		triad_output_message(
			output, TRIAD_FRAME_MESSAGE, "audit: not enough memory\n");
	else if (audit.fabric &&
		triad_command_choose_of_type(command, audit.fabric, TRIAD_NODE_SWITCH,
			"audit", &choice, output))
		status = run_audit(&audit, &choice, command);
	free(audit.entries);
	free(audit.items);
	triad_fabric_unref(audit.fabric);
	atomic_flag_clear(&is_running);
	return status;
}
