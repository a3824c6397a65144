/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The moment that a command shows: the present, or with --at a past one.
 *
 * The same code of a command shows both: it reads the view, alerts and links of a
 * moment.
 *
 * Thread-safety: one thread.  Opening a past moment waits for the disk, and for other
 * callers that read images. */
#ifndef TRIAD_SERVICE_COMMAND_MOMENT_H
#define TRIAD_SERVICE_COMMAND_MOMENT_H

#include "history/past.h"
#include "perfmgr/watch/watch.h"
#include "triad/command.h"
#include "triad/output.h"

struct triad_service;

struct triad_moment {
	struct triad_service *service;
	struct triad_past *past; /* NULL: the present */
	struct triad_view *view; /* referenced; NULL: there is none, at present */
};

/* The wall-clock time of an option: 'at_us', or 'ago_us' before now. */
uint64_t triad_moment_time(uint64_t at_us, uint64_t ago_us);
/* That of --since; without it 'default_us'. */
uint64_t triad_moment_since(const struct triad_command *command, uint64_t default_us);

/* Opens the moment of the command.  Writes which image a past one is.  False, having
 * written why, when there is no image.  The present may have no view. */
bool triad_moment_open(struct triad_moment *moment, struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
/* The same for a wall-clock time; 'verb' is the command, for messages. */
bool triad_moment_open_at(struct triad_moment *moment, struct triad_service *service,
	uint64_t at_us, const char *verb, struct triad_output *output);
void triad_moment_close(struct triad_moment *moment);

/* Opens the command's past moment and returns a list of that time (history/kept.h);
 * NULL, having written why.  The caller closes the moment in both cases. */
const struct triad_kept_list *triad_moment_open_list(struct triad_moment *moment,
	struct triad_service *service, const struct triad_command *command,
	enum triad_kept_kind kind, struct triad_output *output);
/* Writes that a row of the list can't be read; returns the command's status. */
int triad_moment_refuse_row(
	const struct triad_command *command, struct triad_output *output);

/* The answers of commands at the command's past moment: a past without a view, which
 * the caller frees.  Writes which image it is.  NULL, having written why. */
struct triad_past *triad_moment_outputs(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);

/* The view of the command's moment, referenced; NULL, having written why. */
struct triad_view *triad_moment_view(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);

/* Why counters are not read here at present; NULL: they are, or a past is shown. */
const char *triad_moment_trouble(const struct triad_moment *moment);

/* Whether totals of the two moments, which may be of the present, have one base
 * (history/totals_base.h). */
bool triad_moment_shares_base(
	const struct triad_moment *before, const struct triad_moment *now);
/* The port's total of a counter grew by that much from one moment to the other, both with one
 * base.  False: it is not known. */
bool triad_moment_grown(const struct triad_engine_row *before,
	const struct triad_engine_row *now, unsigned counter, uint64_t *by);

/* The time of the moment, monotonic. */
uint64_t triad_moment_now_us(const struct triad_moment *moment);

/* Data of a port or a device besides counters; of a past moment, what its image keeps.
 * False: no data.  See triad_details_read(), triad_watch_read_bers(),
 * triad_device_reader_read() and _read_port(). */
bool triad_moment_read_detail(const struct triad_moment *moment, uint32_t port,
	enum triad_pma_attribute attribute, struct triad_detail_row *row);
/* The attributes that may have data (TRIAD_DETAIL_BIT()). */
uint32_t triad_moment_details(const struct triad_moment *moment, uint32_t port);
void triad_moment_read_bers(const struct triad_moment *moment, uint32_t port,
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS]);
bool triad_moment_read_device(const struct triad_moment *moment, uint64_t guid,
	struct triad_device_known *known);
bool triad_moment_read_cable(const struct triad_moment *moment, uint64_t guid,
	uint8_t port, struct triad_cable_known *known);

/* The hash of a node's tables; 0: it has no such tables, or the image does not keep
 * them. */
uint64_t triad_moment_tables_hash(const struct triad_moment *moment, uint32_t node,
	enum triad_history_tables tables);

/* Whether nodes, links, LIDs, forwarding tables and QoS tables were the same as in
 * 'fabric', a fabric of the present.  Then paths were the same, too. */
bool triad_moment_has_paths_of(
	const struct triad_moment *moment, const struct triad_fabric *fabric);

/* See triad_watch_next_alert(), _next_link() and _find_link(). */
bool triad_moment_next_alert(
	const struct triad_moment *moment, uint32_t *cursor, struct triad_alert *copy);
bool triad_moment_next_link(
	const struct triad_moment *moment, uint32_t *cursor, struct triad_link *copy);
bool triad_moment_find_link(const struct triad_moment *moment, uint64_t node_guid,
	uint8_t port, struct triad_link *copy);
struct triad_alerts_counts triad_moment_alerts_counts(
	const struct triad_moment *moment);

#endif
