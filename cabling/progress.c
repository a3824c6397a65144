/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cabling/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ib/link.h"
#include "ib/port_condition.h"
#include "lib/grow.h"
#include "lib/search.h"

/* An item, or a task, that a port belongs to. */
struct touched {
	struct triad_cabling_place place;
	uint32_t index;
};

struct places {
	struct touched *all; /* by their places */
	uint32_t n;
	size_t room;
};

struct taking {
	struct triad_cabling_progress *progress;
	const struct triad_cabling_view *view;
	const struct triad_cabling_cable *cables;
	struct places items;     /* of what is to be done now */
	struct places tasks;     /* of open tasks that are kept */
	bool *is_known;          /* items that need no task of their own */
	bool *is_same, *is_kept; /* of tasks */
};

static int compare_places(const void *a, const void *b)
{
	const struct triad_cabling_place *one = a, *other = b;

	if (one->guid != other->guid)
		return one->guid < other->guid ? -1 : 1;
	return (int)one->number - other->number;
}

/* The ports of an item that is to be done; those of a ring are in its steps. */
static uint32_t ports_of(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, const struct triad_cabling_port **ports)
{
	*ports = item->n_steps ? &view->result->steps[item->first_step] : item->ports;
	return item->n_steps ? item->n_steps : item->n_ports;
}

static struct triad_cabling_place place_of(
	const struct triad_cabling_view *view, struct triad_cabling_port port)
{
	const struct triad_fabric_node *node = &view->fabric->nodes[port.node];

	return (struct triad_cabling_place){
		node->guid, port.number, node->type == TRIAD_NODE_SWITCH};
}

/* --- who is at a port -------------------------------------------------- */

static int add_place(
	struct places *places, struct triad_cabling_place place, uint32_t index)
{
	if (triad_grow(&places->all, &places->room, places->n + 1, sizeof(*places->all),
		    64))
		return ENOMEM;
	places->all[places->n++] = (struct touched){place, index};
	return 0;
}

static void sort_places(struct places *places)
{
	if (places->n)
		qsort(places->all, places->n, sizeof(*places->all), compare_places);
}

/* The first of those at the place; 'n': there is none. */
static uint32_t find_place(
	const struct places *places, const struct triad_cabling_place *place)
{
	uint32_t i;

	TRIAD_SEARCH(i, 0, places->n, compare_places(&places->all[i].place, place) < 0);
	return i < places->n && !compare_places(&places->all[i].place, place)
		? i
		: places->n;
}

static bool is_at(const struct places *places, uint32_t i,
	const struct triad_cabling_place *place)
{
	return i < places->n && !compare_places(&places->all[i].place, place);
}

static int list_items(struct taking *taking)
{
	const struct triad_cabling_result *result = taking->view->result;
	const struct triad_cabling_port *ports;

	for (uint32_t i = 0; i < result->n_deviations; i++) {
		uint32_t n = ports_of(taking->view, &result->items[i], &ports);

		for (uint32_t j = 0; j < n; j++)
			if (add_place(&taking->items, place_of(taking->view, ports[j]),
				    i))
				return ENOMEM;
	}
	sort_places(&taking->items);
	return 0;
}

static bool is_touched(
	const struct taking *taking, const struct triad_cabling_task *task)
{
	for (uint32_t i = 0; i < task->n_places; i++)
		if (find_place(&taking->items, &task->places[i]) < taking->items.n)
			return true;
	return false;
}

/* --- which item is a task ---------------------------------------------- */

static bool has_place(
	const struct triad_cabling_task *task, const struct triad_cabling_place *place)
{
	for (uint32_t i = 0; i < task->n_places; i++)
		if (!compare_places(&task->places[i], place))
			return true;
	return false;
}

/* In whatever order the ports are: a cable has no first end, and the plan says who moves. */
static bool is_same(const struct taking *taking, const struct triad_cabling_task *task,
	const struct triad_cabling_item *item)
{
	const struct triad_cabling_port *ports;
	uint32_t n = ports_of(taking->view, item, &ports);

	if (item->kind != task->kind || n != task->n_places)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct triad_cabling_place place = place_of(taking->view, ports[i]);

		if (!has_place(task, &place))
			return false;
	}
	return true;
}

/* Notes that an item is the task.  Returns false: none is. */
static bool find_item(struct taking *taking, const struct triad_cabling_task *task)
{
	const struct triad_cabling_place *place = &task->places[0];

	for (uint32_t i = find_place(&taking->items, place);
		is_at(&taking->items, i, place); i++) {
		uint32_t item = taking->items.all[i].index;

		if (is_same(taking, task, &taking->view->result->items[item]))
			return taking->is_known[item] = true;
	}
	return false;
}

/* --- whether it is done ------------------------------------------------ */

static uint32_t port_at(
	const struct taking *taking, const struct triad_cabling_task *task, unsigned i)
{
	return triad_fabric_port_at(
		taking->view->fabric, task->places[i].guid, task->places[i].number);
}

static uint32_t far_of(
	const struct taking *taking, const struct triad_cabling_task *task, unsigned i)
{
	uint32_t port = port_at(taking, task, i);

	return port == TRIAD_FABRIC_NONE ? port
					 : taking->view->fabric->ports[port].remote;
}

static bool is_cable(const struct taking *taking, const struct triad_cabling_task *task,
	unsigned a, unsigned b)
{
	uint32_t far = far_of(taking, task, a);

	return far != TRIAD_FABRIC_NONE && far == port_at(taking, task, b);
}

static bool is_there(
	const struct taking *taking, const struct triad_cabling_task *task, unsigned i)
{
	return triad_fabric_find_node(taking->view->fabric, task->places[i].guid) !=
		TRIAD_FABRIC_NONE;
}

/* A switch says what its port does.  A port that a host does not list has no link in this fabric,
 * but why is not known. */
static enum triad_port_condition condition_of(
	const struct taking *taking, const struct triad_cabling_task *task, unsigned i)
{
	const struct triad_fabric *fabric = taking->view->fabric;
	uint32_t port = port_at(taking, task, i);

	if (port != TRIAD_FABRIC_NONE)
		return triad_port_condition(fabric, port, false);
	return is_there(taking, task, i) ? TRIAD_CONDITION_FREE
					 : TRIAD_CONDITION_UNKNOWN;
}

/* Of a switch that is off nothing is known.  A host that was at the cable has left with it. */
static bool is_taken_out(
	const struct taking *taking, const struct triad_cabling_task *task)
{
	unsigned end = task->places[0].is_switch ? 0 : 1;
	enum triad_port_condition condition = condition_of(taking, task, end);

	for (unsigned i = 0; i < 2; i++)
		if (task->places[i].is_switch && !is_there(taking, task, i))
			return false;
	return !is_cable(taking, task, 0, 1) &&
		(condition == TRIAD_CONDITION_FREE ||
			condition == TRIAD_CONDITION_POLLING ||
			far_of(taking, task, end) != TRIAD_FABRIC_NONE);
}

/* Whether what was wrong with it is known of the cable that is there now. */
static bool is_replacement_known(
	const struct taking *taking, const struct triad_cabling_task *task)
{
	uint32_t port = port_at(taking, task, 0), far = port_at(taking, task, 1);
	const struct triad_fabric_port *of = &taking->view->fabric->ports[port];

	if (task->what & TRIAD_CABLING_RATE && !triad_link_rate_active(of).speed)
		return false;
	return !(task->what & TRIAD_CABLING_LENGTH) ||
		(taking->cables &&
			(taking->cables[port].length_dm ||
				taking->cables[far].length_dm));
}

static bool has_all_cables(
	const struct taking *taking, const struct triad_cabling_task *task)
{
	for (uint32_t i = 0; i < task->n_places; i++)
		if (far_of(taking, task, i) == TRIAD_FABRIC_NONE)
			return false;
	return true;
}

static bool is_done(const struct taking *taking, const struct triad_cabling_task *task)
{
	if (!taking->view->result->n_items && task->kind != TRIAD_CABLING_TAKE_OUT)
		return true;
	switch (task->kind) {
	case TRIAD_CABLING_MOVE:
		return is_cable(taking, task, 1, 2);
	case TRIAD_CABLING_SWAP:
		return is_cable(taking, task, 0, 3) && is_cable(taking, task, 1, 2);
	case TRIAD_CABLING_RING:
		return has_all_cables(taking, task) && !is_touched(taking, task);
	case TRIAD_CABLING_PUT:
		return is_cable(taking, task, 0, 1);
	case TRIAD_CABLING_TAKE_OUT:
		return is_taken_out(taking, task);
	case TRIAD_CABLING_REPLACE:
		return is_cable(taking, task, 0, 1) && !is_touched(taking, task) &&
			is_replacement_known(taking, task);
	default:
		return false;
	}
}

/* Whether the cables that it is about are still as they were. */
static bool is_still_right(
	const struct taking *taking, const struct triad_cabling_task *task)
{
	switch (task->kind) {
	case TRIAD_CABLING_MOVE:
		return is_cable(taking, task, 0, 2);
	case TRIAD_CABLING_SWAP:
		return is_cable(taking, task, 0, 2) && is_cable(taking, task, 1, 3);
	case TRIAD_CABLING_PUT:
		return true;
	case TRIAD_CABLING_TAKE_OUT:
		return is_cable(taking, task, 0, 1);
	default:
		return false;
	}
}

/* --- tasks ------------------------------------------------------------- */

static void look_at_task(struct taking *taking, uint32_t i)
{
	struct triad_cabling_task *task = &taking->progress->tasks[i];

	task->is_news = false;
	if (task->state != TRIAD_CABLING_OPEN)
		return;
	taking->is_same[i] = find_item(taking, task);
	if (!taking->is_same[i] && is_done(taking, task)) {
		task->state = TRIAD_CABLING_IS_DONE;
		task->is_news = true;
	}
	taking->is_kept[i] = task->state == TRIAD_CABLING_OPEN &&
		(taking->is_same[i] || is_still_right(taking, task));
}

static int list_kept(struct taking *taking)
{
	const struct triad_cabling_progress *progress = taking->progress;

	taking->tasks.n = 0;
	for (uint32_t i = 0; i < progress->n; i++) {
		const struct triad_cabling_task *task = &progress->tasks[i];

		for (uint32_t j = 0; j < task->n_places && taking->is_kept[i]; j++)
			if (add_place(&taking->tasks, task->places[j], i))
				return ENOMEM;
	}
	sort_places(&taking->tasks);
	return 0;
}

/* Whether each port of the item has a task that is kept. */
static bool is_covered(
	const struct taking *taking, const struct triad_cabling_item *item)
{
	const struct triad_cabling_port *ports;
	uint32_t n = ports_of(taking->view, item, &ports);

	for (uint32_t i = 0; i < n; i++) {
		struct triad_cabling_place place = place_of(taking->view, ports[i]);

		if (find_place(&taking->tasks, &place) == taking->tasks.n)
			return false;
	}
	return true;
}

/* Whether a task that is kept takes away the cable at that port of the other one. */
static bool is_freed(const struct taking *taking, const struct triad_cabling_task *of,
	const struct triad_cabling_place *place)
{
	for (uint32_t i = find_place(&taking->tasks, place);
		is_at(&taking->tasks, i, place); i++) {
		const struct triad_cabling_task *task =
			&taking->progress->tasks[taking->tasks.all[i].index];

		if (task != of &&
			(task->kind == TRIAD_CABLING_TAKE_OUT ||
				(task->kind == TRIAD_CABLING_MOVE &&
					!compare_places(&task->places[0], place))))
			return true;
	}
	return false;
}

/* A cable was put in where another one is to be: that is to be told. */
static bool is_put_wrong(
	const struct taking *taking, const struct triad_cabling_task *task)
{
	for (unsigned i = 0; i < 2 && task->kind == TRIAD_CABLING_PUT; i++)
		if (far_of(taking, task, i) != TRIAD_FABRIC_NONE &&
			!is_freed(taking, task, &task->places[i]))
			return true;
	return false;
}

static bool drop_wrong_puts(struct taking *taking)
{
	const struct triad_cabling_progress *progress = taking->progress;
	bool has_dropped = false;

	for (uint32_t i = 0; i < progress->n; i++) {
		if (!taking->is_kept[i] || taking->is_same[i] ||
			!is_put_wrong(taking, &progress->tasks[i]))
			continue;
		taking->is_kept[i] = false;
		has_dropped = true;
	}
	return has_dropped;
}

/* Keeps no longer the tasks at the item's ports.  Returns whether there were any. */
static bool drop_tasks_at(struct taking *taking, const struct triad_cabling_item *item)
{
	const struct triad_cabling_port *ports;
	uint32_t n = ports_of(taking->view, item, &ports);
	bool has_dropped = false;

	for (uint32_t i = 0; i < n; i++) {
		struct triad_cabling_place place = place_of(taking->view, ports[i]);

		for (uint32_t j = find_place(&taking->tasks, &place);
			is_at(&taking->tasks, j, &place); j++) {
			uint32_t task = taking->tasks.all[j].index;

			has_dropped |= taking->is_kept[task] && !taking->is_same[task];
			taking->is_kept[task] = taking->is_same[task];
		}
	}
	return has_dropped;
}

/* A path has several lists that are equally short, and what is done makes another of them the one
 * that is found.  So tasks that are still right are kept as long as they have all ports of what
 * was found instead. */
static int keep_tasks(struct taking *taking)
{
	const struct triad_cabling_result *result = taking->view->result;
	bool has_dropped = true;

	while (has_dropped) {
		if (list_kept(taking))
			return ENOMEM;
		has_dropped = drop_wrong_puts(taking);
		for (uint32_t i = 0; i < result->n_deviations; i++)
			if (!taking->is_known[i] &&
				!is_covered(taking, &result->items[i]))
				has_dropped |= drop_tasks_at(taking, &result->items[i]);
	}
	for (uint32_t i = 0; i < result->n_deviations; i++)
		taking->is_known[i] |= is_covered(taking, &result->items[i]);
	return 0;
}

static void replace_task(struct taking *taking, uint32_t i)
{
	struct triad_cabling_task *task = &taking->progress->tasks[i];

	if (task->state != TRIAD_CABLING_OPEN || taking->is_kept[i] ||
		!is_touched(taking, task))
		return;
	task->state = TRIAD_CABLING_REPLACED;
	task->is_news = true;
}

/* Writes the lines of an item: the task, and a ring's steps.  Returns 0 or ENOMEM. */
static int make_text(const struct triad_cabling_view *view,
	const struct triad_cabling_item *item, char **text)
{
	char line[TRIAD_CABLING_TEXT_SIZE];
	size_t used = 0, room = 0;

	for (uint32_t step = 0; step <= triad_cabling_n_steps(item); step++) {
		size_t length;

		triad_cabling_describe(view, item, step, line, sizeof(line));
		length = strlen(line);
		if (triad_grow(text, &room, used + length + 1, 1, length + 1))
			return ENOMEM;
		if (used)
			(*text)[used - 1] = '\n';
		memcpy(*text + used, line, length + 1);
		used += length + 1;
	}
	return 0;
}

static int add_task(struct taking *taking, const struct triad_cabling_item *item)
{
	struct triad_cabling_progress *progress = taking->progress;
	const struct triad_cabling_port *ports;
	struct triad_cabling_task task = {.is_news = true,
		.kind = item->kind,
		.what = item->what,
		.number = progress->n + 1,
		.n_places = ports_of(taking->view, item, &ports)};

	if (triad_grow(&progress->tasks, &progress->room, progress->n + 1, sizeof(task),
		    64))
		return ENOMEM;
	task.places = malloc((task.n_places + 1u) * sizeof(*task.places));
	if (make_text(taking->view, item, &task.text) || !task.places) {
		free(task.places);
		free(task.text);
		return ENOMEM;
	}
	for (uint32_t i = 0; i < task.n_places; i++)
		task.places[i] = place_of(taking->view, ports[i]);
	progress->tasks[progress->n++] = task;
	return 0;
}

static void count_tasks(struct triad_cabling_progress *progress)
{
	progress->n_open = progress->n_done = 0;
	for (uint32_t i = 0; i < progress->n; i++) {
		progress->n_open += progress->tasks[i].state == TRIAD_CABLING_OPEN;
		progress->n_done += progress->tasks[i].state == TRIAD_CABLING_IS_DONE;
	}
}

static int take_items(struct taking *taking)
{
	const struct triad_cabling_result *result = taking->view->result;
	uint32_t n_before = taking->progress->n;
	int error = list_items(taking);

	for (uint32_t i = 0; i < n_before && !error; i++)
		look_at_task(taking, i);
	if (!error)
		error = keep_tasks(taking);
	for (uint32_t i = 0; i < n_before && !error; i++)
		replace_task(taking, i);
	for (uint32_t i = 0; i < result->n_deviations && !error; i++)
		if (!taking->is_known[i])
			error = add_task(taking, &result->items[i]);
	count_tasks(taking->progress);
	return error;
}

int triad_cabling_progress_take(struct triad_cabling_progress *progress,
	const struct triad_cabling_view *view, const struct triad_cabling_cable *cables)
{
	struct taking taking = {.progress = progress,
		.view = view,
		.cables = cables,
		.is_known = calloc(view->result->n_deviations + 1u, sizeof(bool)),
		.is_same = calloc(progress->n + 1u, sizeof(bool)),
		.is_kept = calloc(progress->n + 1u, sizeof(bool))};
	int error = taking.is_known && taking.is_same && taking.is_kept
		? take_items(&taking)
		: ENOMEM;

	free(taking.is_known);
	free(taking.is_same);
	free(taking.is_kept);
	free(taking.items.all);
	free(taking.tasks.all);
	return error;
}

void triad_cabling_progress_clear(struct triad_cabling_progress *progress)
{
	for (uint32_t i = 0; i < progress->n; i++) {
		free(progress->tasks[i].places);
		free(progress->tasks[i].text);
	}
	free(progress->tasks);
	*progress = (struct triad_cabling_progress){0};
}
