/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/port_command.h"
#include "cli/screen.h"
#include "portmgr/plan/plan.h"
#include "triad/control.h"
#include "triad/json.h"
#include "triad/output.h"

struct summary {
	const char *file;
	uint64_t generation, hash;
	uint32_t n_ports;
	uint32_t n_of_state[TRIAD_EXPECTED_TEST + 1];
	bool has_fabric;
	uint32_t n_unknown;   /* ports whose switch isn't in the fabric */
	uint32_t n_different; /* ports whose link is another one than expected */
};

/* --- showing ----------------------------------------------------------- */

static void show_text(const struct summary *summary)
{
	printf("%" PRIu32 " ports: %" PRIu32 " enabled, %" PRIu32 " disabled, %" PRIu32
	       " under test; generation %" PRIu64 "\n",
		summary->n_ports, summary->n_of_state[TRIAD_EXPECTED_ENABLED],
		summary->n_of_state[TRIAD_EXPECTED_DISABLED],
		summary->n_of_state[TRIAD_EXPECTED_TEST], summary->generation);
	if (summary->n_unknown)
		printf("%" PRIu32 " of them are of switches that aren't in the "
		       "fabric\n",
			summary->n_unknown);
	if (summary->n_different)
		printf("%" PRIu32 " of them differ from the fabric\n",
			summary->n_different);
}

static void show_json(const struct summary *summary)
{
	struct triad_output output;
	struct triad_json json;
	char hash[24];

	snprintf(hash, sizeof(hash), "0x%016" PRIx64, summary->hash);
	triad_output_init(&output, triad_screen_write_frame, NULL);
	triad_json_init(&json, &output);
	triad_json_object_begin(&json, NULL);
	triad_json_string(&json, "file", summary->file);
	triad_json_uint(&json, "generation", summary->generation);
	triad_json_string(&json, "hash", hash);
	triad_json_uint(&json, "ports", summary->n_ports);
	for (unsigned i = 0; i <= TRIAD_EXPECTED_TEST; i++)
		triad_json_uint(
			&json, triad_expected_state_name(i), summary->n_of_state[i]);
	if (summary->has_fabric) {
		triad_json_uint(&json, "unknown", summary->n_unknown);
		triad_json_uint(&json, "different", summary->n_different);
	}
	triad_json_object_end(&json);
	triad_json_end(&json);
	triad_output_flush(&output);
}

/* --- checking ---------------------------------------------------------- */

static int complain_of_file(const char *path, int error)
{
	fprintf(stderr, "triadctl: %s: can't be checked: %s\n", path, strerror(error));
	return error;
}

static int load_expected(const char *path, struct triad_expected **expected)
{
	static struct triad_diags diags;
	char *octets;
	size_t size;
	int error;

	error = triad_port_read_file(path, TRIAD_EXPECTED_MAX_OCTETS, &octets, &size);
	if (error)
		return error;
	triad_diags_init(&diags, path);
	error = triad_expected_parse(octets, size, &diags, expected);
	free(octets);
	triad_port_print(&diags, "");
	/* Otherwise the printed mistakes explain it. */
	if (error && !diags.n)
		complain_of_file(path, error);
	return error;
}

/* Whether a plan's item is about a link that is not the expected one.  A file doesn't tell which
 * ports are disabled. */
static bool is_difference(const struct triad_plan_item *item)
{
	if (!item->remote_guid || item->kind == TRIAD_PLAN_TEST)
		return false;
	return item->kind == TRIAD_PLAN_DISABLE || item->note == TRIAD_NOTE_WIDTH ||
		item->note == TRIAD_NOTE_SPEED || item->note == TRIAD_NOTE_LATER ||
		item->note == TRIAD_NOTE_OTHER_END;
}

/* Finds what differs by the plan that the port manager would make. */
static int compare_with_plan(const struct triad_expected *expected,
	const struct triad_fabric *fabric, const struct triad_placed *placed,
	struct triad_diags *differences)
{
	struct triad_history *history = triad_history_new();
	const struct triad_plan_input input = {.fabric = fabric,
		.expected = expected,
		.placed = placed,
		.history = history};
	struct triad_plan *plan = NULL;
	char text[TRIAD_DIAG_TEXT_SIZE];
	int error = history ? triad_plan_build(&input, &plan) : ENOMEM;

	for (uint32_t i = 0; !error && i < plan->n_items; i++) {
		struct triad_plan_item item = plan->items[i];
		const struct triad_expected_port *row = &expected->ports[item.row];

		if (!is_difference(&item))
			continue;
		/* Who does something about it, and what keeps that from being done, are the
		 * port manager's. */
		item.guard = TRIAD_GUARD_FREE;
		if (item.note == TRIAD_NOTE_LATER || item.note == TRIAD_NOTE_OTHER_END)
			item.kind = TRIAD_PLAN_DISABLE;
		triad_plan_describe(&input, &item, text, sizeof(text));
		triad_diags_add(differences, row->line, 0, "%s port %u: %s",
			fabric->nodes[fabric->ports[item.port].node].name, item.number,
			text);
	}
	triad_plan_free(plan);
	triad_history_free(history);
	return error;
}

/* Compares the configuration with the fabric.  Differences that may vanish later are
 * warnings, not mistakes. */
static int place(const struct triad_port_command *command,
	const struct triad_expected *expected, struct summary *summary)
{
	static struct triad_diags mistakes, warnings, differences;
	struct triad_fabric *fabric;
	struct triad_placed *placed;
	int error = triad_port_read_fabric(command->fabric, &fabric);

	if (error)
		return error;
	triad_diags_init(&mistakes, command->file);
	triad_diags_init(&warnings, command->file);
	triad_diags_init(&differences, command->file);
	error = triad_placed_build(expected, fabric, &mistakes, &warnings, &placed);
	if (!error) {
		summary->has_fabric = true;
		summary->n_unknown = placed->n_unknown;
		error = compare_with_plan(expected, fabric, placed, &differences);
		summary->n_different = (uint32_t)differences.n_total;
		triad_placed_free(placed);
	}
	triad_fabric_unref(fabric);
	if (error)
		return complain_of_file(command->file, error);
	triad_port_print(&mistakes, "");
	triad_port_print(&warnings, "warning: ");
	triad_port_print(&differences, "different: ");
	return mistakes.n_total ? EINVAL : 0;
}

static struct summary summarize(const char *file, const struct triad_expected *expected)
{
	struct summary summary = {
		.file = file,
		.generation = expected->generation,
		.hash = expected->hash,
		.n_ports = expected->n_ports,
	};

	for (uint32_t i = 0; i < expected->n_ports; i++)
		summary.n_of_state[expected->ports[i].state]++;
	return summary;
}

int triad_port_check(const struct triad_port_command *command)
{
	struct triad_expected *expected;
	struct summary summary;
	int error = 0;

	if (load_expected(command->file, &expected))
		return TRIAD_CONTROL_FAILED;
	summary = summarize(command->file, expected);
	if (command->fabric)
		error = place(command, expected, &summary);
	triad_expected_free(expected);
	/* No summary of a configuration with mistakes. */
	if (error)
		return TRIAD_CONTROL_FAILED;
	if (command->json)
		show_json(&summary);
	else
		show_text(&summary);
	return summary.n_different ? TRIAD_CONTROL_FAILED : triad_screen_finish();
}
