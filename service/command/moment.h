/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a command shows: the fabric as it is, or with --at as it was.
 *
 * The same code shows both: it reads a view, alerts and links of a moment, and does not
 * know which one that is.
 *
 * Thread-safety: one thread.  Opening a past waits for the disk, and for others that do
 * the same. */
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

/* A time as it was typed: 'at_us' of the wall clock, or 'ago_us' before now. */
uint64_t triad_moment_time(uint64_t at_us, uint64_t ago_us);

/* The moment that the command is about.  Of a past one it says which image it is; false,
 * having said why, when there is none.  At present there may be no view. */
bool triad_moment_open(struct triad_moment *moment, struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);
/* The same of a time of the wall clock; 'verb' is the command, for messages. */
bool triad_moment_open_at(struct triad_moment *moment, struct triad_service *service,
	uint64_t at_us, const char *verb, struct triad_output *output);
void triad_moment_close(struct triad_moment *moment);

/* The past moment that the command is about, with a list of then (history/kept.h), or
 * without, having said why: then the moment is to be closed all the same. */
const struct triad_kept_list *triad_moment_open_list(struct triad_moment *moment,
	struct triad_service *service, const struct triad_command *command,
	enum triad_kept_kind kind, struct triad_output *output);
/* A row of the list can't be read; returns the command's status. */
int triad_moment_refuse_row(
	const struct triad_command *command, struct triad_output *output);

/* What commands answered at the past moment that the command is about, and said which image
 * that is: a past without a view, to be freed.  NULL, having said why. */
struct triad_past *triad_moment_outputs(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);

/* The view alone, referenced; NULL, having said why. */
struct triad_view *triad_moment_view(struct triad_service *service,
	const struct triad_command *command, struct triad_output *output);

/* Why counters are not read here at present; NULL: they are, or a past is shown. */
const char *triad_moment_trouble(const struct triad_moment *moment);

/* The time of the moment, monotonic. */
uint64_t triad_moment_now_us(const struct triad_moment *moment);

/* What is known of a port or a device besides counters; of a past what its image keeps.
 * False: nothing is.  See triad_details_read(), triad_watch_read_bers(),
 * triad_device_reader_read() and _read_port(). */
bool triad_moment_read_detail(const struct triad_moment *moment, uint32_t port,
	enum triad_pma_attribute attribute, struct triad_detail_row *row);
/* The attributes of which there may be something (TRIAD_DETAIL_BIT()). */
uint32_t triad_moment_details(const struct triad_moment *moment, uint32_t port);
void triad_moment_read_bers(const struct triad_moment *moment, uint32_t port,
	struct triad_bers_rate rates[TRIAD_BER_N_KINDS]);
bool triad_moment_read_device(const struct triad_moment *moment, uint64_t guid,
	struct triad_device_known *known);
bool triad_moment_read_cable(const struct triad_moment *moment, uint64_t guid,
	uint8_t port, struct triad_cable_known *known);

/* The hash of tables of a node of the view; 0: it has none, or they are not kept. */
uint64_t triad_moment_tables_hash(const struct triad_moment *moment, uint32_t node,
	enum triad_history_tables tables);

/* Whether nodes, links, LIDs, forwarding tables and QoS tables were those of 'fabric', a
 * fabric of the present.  Then paths were the same, too. */
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
