/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_timers.h"

#include <errno.h>
#include <stdlib.h>

static void put(struct lab_timers *timers, size_t position, struct lab_timer *timer)
{
	timers->heap[position] = timer;
	timer->position = position;
}

static void sift_up(struct lab_timers *timers, size_t position)
{
	struct lab_timer *timer = timers->heap[position];

	for (; position > 1 && timers->heap[position / 2]->at_us > timer->at_us;
		position /= 2)
		put(timers, position, timers->heap[position / 2]);
	put(timers, position, timer);
}

static void sift_down(struct lab_timers *timers, size_t position)
{
	struct lab_timer *timer = timers->heap[position];

	while (position * 2 <= timers->n) {
		size_t child = position * 2;

		if (child < timers->n &&
			timers->heap[child + 1]->at_us < timers->heap[child]->at_us)
			child++;
		if (timers->heap[child]->at_us >= timer->at_us)
			break;
		put(timers, position, timers->heap[child]);
		position = child;
	}
	put(timers, position, timer);
}

static int make_room(struct lab_timers *timers)
{
	size_t room = timers->room * 2 + 256;
	struct lab_timer **heap;

	if (timers->n + 1 < timers->room)
		return 0;
	heap = realloc(timers->heap, room * sizeof(struct lab_timer *));
	if (!heap)
		return ENOMEM;
	timers->heap = heap;
	timers->room = room;
	return 0;
}

int lab_timer_set(struct lab_timers *timers, struct lab_timer *timer, uint64_t at_us)
{
	lab_timer_stop(timers, timer);
	if (make_room(timers))
		return ENOMEM;
	timer->at_us = at_us;
	put(timers, ++timers->n, timer);
	sift_up(timers, timers->n);
	return 0;
}

void lab_timer_stop(struct lab_timers *timers, struct lab_timer *timer)
{
	size_t position = timer->position;
	struct lab_timer *last;

	if (!position)
		return;
	timer->position = 0;
	last = timers->heap[timers->n--];
	if (last == timer)
		return;
	put(timers, position, last);
	sift_up(timers, position);
	sift_down(timers, last->position);
}

uint64_t lab_timers_next_us(const struct lab_timers *timers)
{
	return timers->n ? timers->heap[1]->at_us : LAB_NEVER;
}

bool lab_timers_run_one(struct lab_timers *timers, void *context, uint64_t now_us)
{
	struct lab_timer *timer;

	if (lab_timers_next_us(timers) > now_us)
		return false;
	timer = timers->heap[1];
	lab_timer_stop(timers, timer);
	timer->expired(context, timer);
	return true;
}
