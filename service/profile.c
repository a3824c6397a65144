/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfmgr/formats/profile_section.h"
#include "triad/clock.h"
#include "triad/thread.h"

#define KEY_SIZE 48

struct triad_profile {
	struct triad_perf *perf;

	/* Of the request that is answered: */
	struct triad_profile_sections *sections;
	char key[KEY_SIZE]; /* of the last section */
	uint64_t n_answers; /* with a section */
	uint64_t begun_us;  /* when the sweep told last began, monotonic */
	uint64_t wall_us;   /* and its wall time, so that it stays the same */

	pthread_mutex_t lock; /* of what follows */
	bool is_wanted;       /* there is a file */
	bool is_busy;         /* a request is being answered */
	uint64_t told_sweep;  /* the last one that was told whole; 0: none */
	struct triad_profile_section_params params;
};

struct triad_profile *triad_profile_new(struct triad_perf *perf, uint64_t port_guid)
{
	struct triad_profile *profile = calloc(1, sizeof(*profile));

	if (!profile)
		return NULL;
	profile->perf = perf;
	profile->sections =
		triad_profile_sections_new(port_guid, triad_clock_wall_us());
	if (!profile->sections) {
		free(profile);
		return NULL;
	}
	pthread_mutex_init(&profile->lock, NULL);
	return profile;
}

void triad_profile_free(struct triad_profile *profile)
{
	if (!profile)
		return;
	triad_profile_sections_free(profile->sections);
	pthread_mutex_destroy(&profile->lock);
	free(profile);
}

void triad_profile_configure(
	struct triad_profile *profile, const struct triad_conf *conf)
{
	pthread_mutex_lock(&profile->lock);
	profile->is_wanted = conf->profile.file[0];
	if (!profile->is_wanted)
		profile->told_sweep = 0;
	profile->params = (struct triad_profile_section_params){
		.all_counters = conf->profile.counters != TRIAD_PROFILE_DATA,
		.details = conf->profile.counters == TRIAD_PROFILE_DETAILS,
		.period_us = conf->perfmgr.sweep_period_s * TRIAD_US_PER_S,
	};
	pthread_mutex_unlock(&profile->lock);
}

/* --- a request --- */

static bool put_line(void *context, const char *line, size_t size)
{
	struct triad_output *output = context;

	triad_output_put(output, line, size);
	return !output->failed;
}

/* When the last sweep began, in whole milliseconds; the same each time it is asked for,
 * though the wall clock is set or slewed meanwhile. */
static uint64_t find_wall_us(struct triad_profile *profile, uint64_t begun_us)
{
	if (begun_us != profile->begun_us)
		profile->wall_us = triad_clock_to_wall_us(begun_us) / TRIAD_US_PER_MS *
			TRIAD_US_PER_MS;
	profile->begun_us = begun_us;
	return profile->wall_us;
}

static uint64_t told_sweep(struct triad_profile *profile)
{
	return TRIAD_LOCKED(&profile->lock, profile->told_sweep);
}

static void note_told(struct triad_profile *profile, uint64_t sweep)
{
	pthread_mutex_lock(&profile->lock);
	if (profile->is_wanted)
		profile->told_sweep = sweep;
	pthread_mutex_unlock(&profile->lock);
}

static int put_section(struct triad_profile *profile,
	const struct triad_profile_section_params *params, uint64_t start,
	const char *const *words, struct triad_output *output)
{
	const struct triad_profile_sink sink = {.put = put_line, .context = output};
	struct triad_collector_status status = triad_perf_status(profile->perf);
	struct triad_view *view =
		status.n_sweeps ? triad_perf_view(profile->perf) : NULL;
	uint64_t wall_us = find_wall_us(profile, status.last_started_us);
	bool is_whole = true;

	if (view && wall_us != strtoull(words[2], NULL, 10)) {
		if (strcmp(words[1], profile->key) != 0)
			triad_profile_sections_forget(profile->sections);
		snprintf(profile->key, sizeof(profile->key), "%" PRIu64 ".%" PRIu64,
			start, ++profile->n_answers);
		triad_output_printf(output,
			"= profile %" PRIu64 " %s %" PRIu64 " %" PRIu64 "\n", wall_us,
			profile->key, status.n_sweeps, told_sweep(profile));
		is_whole = triad_profile_sections_put(profile->sections, params, view,
			wall_us, status.last_started_us, &sink);
		triad_output_flush(output);
		is_whole &= !output->failed;
		if (is_whole)
			note_told(profile, status.n_sweeps);
	}
	triad_view_unref(view);
	return is_whole ? TRIAD_CONTROL_DONE : TRIAD_CONTROL_FAILED;
}

int triad_profile_answer(struct triad_profile *profile, uint64_t start, int n_words,
	const char *const *words, struct triad_output *output)
{
	struct triad_profile_section_params params;
	bool is_wanted, was_busy;
	int status = TRIAD_CONTROL_DONE;

	if (n_words != 3) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"profile: a key and a time are needed\n");
		return TRIAD_CONTROL_USAGE;
	}
	pthread_mutex_lock(&profile->lock);
	is_wanted = profile->is_wanted;
	was_busy = profile->is_busy;
	profile->is_busy = true;
	params = profile->params;
	pthread_mutex_unlock(&profile->lock);
	if (was_busy) {
		triad_output_message(output, TRIAD_FRAME_MESSAGE,
			"profile: another request for it is being answered\n");
		return TRIAD_CONTROL_FAILED;
	}
	if (is_wanted)
		status = put_section(profile, &params, start, words, output);
	pthread_mutex_lock(&profile->lock);
	profile->is_busy = false;
	pthread_mutex_unlock(&profile->lock);
	return status;
}
