/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history/past_parts.h"
#include "history/record.h"
#include "lib/grow.h"
#include "lib/text.h"

const char *triad_past_after(
	const char *line, size_t length, const char *name, size_t *n)
{
	size_t n_name = strlen(name);

	if (length < n_name || memcmp(line, name, n_name) != 0)
		return NULL;
	*n = length - n_name;
	return line + n_name;
}

bool triad_past_read_note(
	const char *line, uint64_t *node_guid, unsigned *port, uint32_t *mask)
{
	*mask = UINT32_MAX;
	return sscanf(line, "# triad-quiet 0x%16" SCNx64 ",%3u", node_guid, port) ==
		2 ||
		sscanf(line, "# triad-full 0x%16" SCNx64 ",%3u,0x%8" SCNx32, node_guid,
			port, mask) == 3;
}

const char *triad_past_read_head(const char *text, struct triad_history_head *head)
{
	char kind[8];
	unsigned version = 0;
	int n;

	*head = (struct triad_history_head){0};
	n = sscanf(text,
		"version=%9u kind=%7s sweep=%" SCNu64 " generation=%" SCNu64
		" sm=%15s active=%" SCNu32 " silenced=%" SCNu32 " raised=%" SCNu64
		" cleared=%" SCNu64 " not_kept=%" SCNu64 " left_out=%" SCNu32
		" zeroed=%" SCNu64,
		&version, kind, &head->sweep, &head->generation, head->sm,
		&head->alerts.n_active, &head->alerts.n_silenced,
		&head->alerts.n_raised, &head->alerts.n_cleared,
		&head->alerts.n_not_kept, &head->n_left_out, &head->zeroed_us);
	if (version > TRIAD_HISTORY_IMAGE_VERSION)
		return "a later Triad wrote it";
	/* The last one is of a later release than the others. */
	if (n < 11)
		return "its line 'triad-image' is malformed";
	head->is_key = !strcmp(kind, "key");
	return NULL;
}

bool triad_past_take_head(struct triad_past *past, const char *text)
{
	struct triad_history_head head;
	const char *why = triad_past_read_head(text, &head);

	if (why)
		return triad_past_fail(past, EPROTO, why);
	past->building->head = head;
	past->building->has_head = true;
	return true;
}

static bool take_topology(struct triad_past *past, const char *text)
{
	struct triad_topology_octets *octets = &past->building->topology;

	if (octets->octets || past->building->fabric ||
		sscanf(text, "0x%16" SCNx64 " %" SCNu32 " %" SCNu32, &octets->hash,
			&octets->size, &octets->n_octets) != 3 ||
		!octets->n_octets || octets->size > TRIAD_TOPOLOGY_MAX_SIZE ||
		octets->n_octets > TRIAD_TOPOLOGY_MAX_SIZE)
		return triad_past_fail(
			past, EPROTO, "its line 'triad-topology' is malformed");
	octets->octets = malloc(octets->n_octets);
	return octets->octets || triad_past_no_memory(past);
}

static bool take_octets(struct triad_past *past, const char *digits, size_t n)
{
	struct triad_past_building *building = past->building;
	uint32_t left = building->topology.n_octets - building->n_octets;

	if (!building->topology.octets || n / 2 > left ||
		!triad_history_get_hex(
			digits, n, building->topology.octets + building->n_octets))
		return triad_past_fail(past, EPROTO, "its topology is malformed");
	building->n_octets += (uint32_t)(n / 2);
	return true;
}

static bool take_tables(
	struct triad_past *past, const char *text, enum triad_history_tables of)
{
	struct triad_past_tables tables;

	if (sscanf(text, "0x%16" SCNx64 ",0x%16" SCNx64, &tables.node_guid,
		    &tables.hash) != 2)
		return triad_past_fail(past, EPROTO,
			"a line 'triad-routes' or 'triad-qos' is malformed");
	if (past->n_tables[of] == TRIAD_FABRIC_MAX_NODES ||
		triad_grow(&past->tables[of], &past->tables_room[of],
			past->n_tables[of] + 1, sizeof(tables), 64))
		return triad_past_no_memory(past);
	past->tables[of][past->n_tables[of]++] = tables;
	return true;
}

static bool take_key(struct triad_past *past, const char *text, size_t n)
{
	const char *blank = memchr(text, ' ', n);
	struct triad_past_key *key;

	if (!blank || (size_t)(blank - text) >= sizeof(key->name) ||
		n - (size_t)(blank - text) > sizeof(key->value))
		return triad_past_fail(
			past, EPROTO, "a line 'triad-conf' is malformed");
	if (past->n_keys == TRIAD_PAST_MAX_KEYS ||
		triad_grow(&past->keys, &past->keys_room, past->n_keys + 1,
			sizeof(*key), 32))
		return triad_past_no_memory(past);
	key = &past->keys[past->n_keys++];
	snprintf(key->name, sizeof(key->name), "%.*s", (int)(blank - text), text);
	snprintf(key->value, sizeof(key->value), "%s", blank + 1);
	triad_text_clean(key->name);
	triad_text_clean(key->value);
	return true;
}

static bool take_alert(struct triad_past *past, const char *digits, size_t n)
{
	struct triad_alert alert;

	if (!triad_history_get_alert(digits, n, &alert, past->offset_us))
		return triad_past_fail(
			past, EPROTO, "a line 'triad-alert' is malformed");
	if (past->n_alerts == TRIAD_HISTORY_MAX_ALERTS ||
		triad_grow(&past->alerts, &past->alerts_room, past->n_alerts + 1,
			sizeof(alert), 16))
		return triad_past_no_memory(past);
	past->alerts[past->n_alerts++] = alert;
	return true;
}

static bool take_finding(struct triad_past *past, const char *digits, size_t n)
{
	struct triad_alert *alert =
		past->n_alerts ? &past->alerts[past->n_alerts - 1] : NULL;
	struct triad_alert_finding finding;

	if (!alert || alert->n_findings == TRIAD_ALERT_MAX_FINDINGS ||
		!triad_history_get_finding(digits, n, &finding, past->offset_us) ||
		finding.end >= alert->n_ends)
		return triad_past_fail(
			past, EPROTO, "a line 'triad-finding' is malformed");
	alert->findings[alert->n_findings++] = finding;
	return true;
}

static bool take_link(struct triad_past *past, const char *digits, size_t n)
{
	struct triad_link link;

	if (!triad_history_get_link(digits, n, &link, past->offset_us))
		return triad_past_fail(
			past, EPROTO, "a line 'triad-link' is malformed");
	if (past->n_links == TRIAD_HISTORY_MAX_LINKS ||
		triad_grow(&past->links, &past->links_room, past->n_links + 1,
			sizeof(link), 16))
		return triad_past_no_memory(past);
	past->links[past->n_links++] = link;
	return true;
}

static struct triad_history_output *add_output(struct triad_past *past)
{
	struct triad_history_output *output;

	if (past->n_outputs == TRIAD_HISTORY_MAX_OUTPUTS ||
		triad_grow(&past->outputs, &past->outputs_room, past->n_outputs + 1,
			sizeof(*output), 8)) {
		triad_past_no_memory(past);
		return NULL;
	}
	output = &past->outputs[past->n_outputs++];
	*output = (struct triad_history_output){0};
	return output;
}

static bool take_left_out_output(struct triad_past *past, const char *text)
{
	struct triad_history_output *output = add_output(past);
	char form[8];

	if (!output)
		return false;
	if (sscanf(text, "%7s %31[a-z -]", form, output->command) != 2)
		return triad_past_fail(
			past, EPROTO, "a line 'triad-output-left-out' is malformed");
	output->is_json = !strcmp(form, "json");
	output->is_left_out = true;
	return true;
}

static bool take_output(struct triad_past *past, const char *text)
{
	struct triad_history_output *output = add_output(past);
	unsigned status;
	uint32_t size;
	char form[8];

	if (!output)
		return false;
	/* A name has one word or two. */
	if (sscanf(text, "%3u %" SCNu32 " %7s %31[a-z -]", &status, &size, form,
		    output->command) != 4 ||
		status > UINT8_MAX || size > TRIAD_HISTORY_OUTPUT_SIZE)
		return triad_past_fail(
			past, EPROTO, "a line 'triad-output' is malformed");
	output->status = (uint8_t)status;
	output->is_json = !strcmp(form, "json");
	output->octets = malloc(size + 1);
	if (!output->octets)
		return triad_past_no_memory(past);
	output->room = size;
	return true;
}

static bool take_output_octets(struct triad_past *past, const char *digits, size_t n)
{
	struct triad_history_output *output =
		past->n_outputs ? &past->outputs[past->n_outputs - 1] : NULL;

	if (!output || n / 2 > output->room - output->size ||
		!triad_history_get_hex(digits, n, output->octets + output->size))
		return triad_past_fail(
			past, EPROTO, "the output of a command is malformed");
	output->size += (uint32_t)(n / 2);
	return true;
}

void triad_past_drop_outputs(struct triad_past *past)
{
	while (past->n_outputs)
		triad_history_output_clear(&past->outputs[--past->n_outputs]);
}

/* --- which --- */

/* Reads the lines that every image has before its rows. */
bool triad_past_take_content(struct triad_past *past, const char *line, size_t length)
{
	bool is_key = past->building->part == TRIAD_PAST_KEY;
	const char *text;
	size_t n;

	if ((text = triad_past_after(line, length, "# triad-conf ", &n)))
		return take_key(past, text, n);
	if ((text = triad_past_after(line, length, "# triad-alert ", &n)))
		return take_alert(past, text, n);
	if ((text = triad_past_after(line, length, "# triad-finding ", &n)))
		return take_finding(past, text, n);
	if ((text = triad_past_after(line, length, "# triad-link ", &n)))
		return take_link(past, text, n);
	if ((text = triad_past_after(line, length, "# triad-output ", &n)))
		return take_output(past, text);
	if ((text = triad_past_after(line, length, "# triad-output-left-out ", &n)))
		return take_left_out_output(past, text);
	if ((text = triad_past_after(line, length, "# triad-output-octets ", &n)))
		return take_output_octets(past, text, n);
	if ((text = triad_past_after(line, length, "# triad-left-out ", &n)))
		return triad_past_take_left_out(past, text);
	if ((text = triad_past_after(line, length, "# triad-extra ", &n)))
		return past->building->is_without_ports ||
			triad_past_take_extra(past, text, n);
	if ((text = triad_past_after(line, length, "# triad-list-rows ", &n)))
		return triad_past_take_list_rows(past, text, n);
	if ((text = triad_past_after(line, length, "# triad-list ", &n)))
		return triad_past_take_list(past, text);
	if ((text = triad_past_after(line, length, "# triad-no-list ", &n)))
		return triad_past_take_no_list(past, text);
	if (is_key && (text = triad_past_after(line, length, "# triad-topology ", &n)))
		return take_topology(past, text);
	if (is_key && (text = triad_past_after(line, length, "# triad-octets ", &n)))
		return take_octets(past, text, n);
	if (is_key && (text = triad_past_after(line, length, "# triad-routes ", &n)))
		return take_tables(past, text, TRIAD_HISTORY_ROUTES);
	if (is_key && (text = triad_past_after(line, length, "# triad-qos ", &n)))
		return take_tables(past, text, TRIAD_HISTORY_QOS);
	return true;
}
