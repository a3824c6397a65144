/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Functions that the commands about routes share.
 *
 * Thread-safety: functions without state, on a result that the caller holds. */
#ifndef TRIAD_SERVICE_COMMAND_ROUTES_PARTS_H
#define TRIAD_SERVICE_COMMAND_ROUTES_PARTS_H

#include "service/command/list.h"
#include "service/route_checker.h"
#include "triad/command.h"

struct triad_moment;
struct triad_service;

/* The last result, with a reference; or NULL, having written why there is none. */
struct triad_route_result *triad_routes_command_result(
	struct triad_service *service, const char *verb, struct triad_output *output);

/* Opens the command's moment and returns the present result, with a reference.  NULL,
 * having written why: no result, or the paths of that moment were different. */
struct triad_route_result *triad_routes_open_moment(struct triad_moment *moment,
	struct triad_service *service, const struct triad_command *command,
	struct triad_output *output);
void triad_routes_close_moment(
	struct triad_moment *moment, struct triad_route_result *result);

/* A port in a row: "NODE:3" for people; members PREFIX_node_name, PREFIX_node_guid and
 * PREFIX_port in JSON.  TRIAD_FABRIC_NONE: "-", null. */
void triad_routes_put_port(struct triad_list *list, const char *prefix,
	const char *title, const struct triad_fabric *fabric, uint32_t port);

/* Credit loops, each hop by hop: an array "credit_loops" in JSON. */
void triad_routes_put_loops(struct triad_report *report,
	const struct triad_fabric *fabric, const struct triad_routes_credit *credit);

/* "NODE:3". */
const char *triad_routes_format_port(
	const struct triad_fabric *fabric, uint32_t port, char *text, size_t size);

/* Reads the counters of a port of 'fabric', which need not be the view's: looks the
 * port up in the view.  False: 'view' is NULL or lacks the port, or its row is
 * another's. */
bool triad_routes_read_port(const struct triad_view *view,
	const struct triad_fabric *fabric, uint32_t port, struct triad_engine_row *row);

/* How busy the direction out of 'port' of a fabric is, by the counters of the present
 * view, in percent; NAN: not known. */
double triad_routes_use_percent(struct triad_service *service,
	const struct triad_fabric *fabric, uint32_t port);
void triad_routes_put_use(struct triad_list *list, double percent);

#endif
