/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What becomes of bad links in a year of a fat tree, of 10,976 links between switches by default: with
 * healing, with a plug-in's fixed windows, and with nothing but people.  All have the same faults.
 *
 * Healing runs the product's code: BER tests (perfmgr/watch/ber.h) on sweeps, plans (heal/plan.h), of
 * each of which the first link is taken, courses (heal/course.h) and damping (damp/links.h).
 *
 * Windows are those of UFM's plug-in [UFM SDK, pdr_deterministic_plugin/README.md]: polls each 300 s;
 * out after more than 2.88 symbol errors in 12 minutes or 3 in 125, or when the link went down; back
 * when both windows are clean; at most ten links, or 0.5 % of the ports.
 *
 * People look once a day at what is bad or stays out, and mend half of it at the first visit, some two
 * days later: recommendations improve repairs by 60 % [Zhuo et al., CorrOpt, SIGCOMM 2017], to 80 %
 * after two days [its section 7.1, as LinkGuardian's simulator has it: NUS-SNL/linkguardian,
 * simulator/solutions/corropt_recovery.py].
 *
 * Faults.  Published rates of failures of a link are far apart: 0.057 % a month [Qian et al.,
 * Alibaba HPN, SIGCOMM 2024], one in 10,000 hours [Meza et al., IMC 2018, as LinkGuardian's
 * trace_generator uses it].  The first is that of links that die; bit errors have 0.1 a year, between
 * both, and --rate multiplies all.  They are as CorrOpt's table 1 [trace_generator/dist_data], losses
 * taken for those of packets of 4 KiB.  2 % of switches fail within three months, a third of these by
 * hardware [Singh et al., Surviving switch failures in cloud datacenters, CCR 51(2), 2021].  Not
 * published: how often errors come in bursts, links flap, and retraining cures, and what BER good links have;
 * here it is log-uniform, up to a tenth of the target. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "damp/links.h"
#include "heal/course.h"
#include "heal/plan.h"
#include "perfmgr/watch/ber.h"
#include "tests/random.h"
#include "tests/sim/event_heap.h"
#include "tests/sim/fat_tree.h"
#include "tests/sim/storms.h"

#define S TRIAD_US_PER_S
#define HOUR (3600 * S)
#define DAY (24 * HOUR)
#define YEAR_DAYS 365.25
#define NEVER UINT64_MAX
#define NONE TRIAD_FABRIC_NONE
#define MAX_UP 24u

#define TARGET 1e-15
#define BPS 4e11
#define PACKET_BITS (4096.0 * 8)
#define RESWEEP (10 * S) /* until tables have no more of a link */
#define REMEMBERED (7 * DAY)
#define MAX_HEALED 64u
#define FLOOR 0.75
#define MEND (600 * S) /* the link is down meanwhile */
#define POLL (300 * S)
#define SHORT_POLLS 3u
#define LONG_POLLS 26u
#define N_HOSTS_OF_JOB 64u
#define JOB_EACH (3 * HOUR)
#define HIT (60 * S)

enum policy { HEALING, WINDOWS, PEOPLE, N_POLICIES };
static const char *const policies[] = {"healing", "windows", "people"};
enum kind { WORN, DIRTY, OF_SWITCH, BURST, FLAPPING, DEAD, FALSE_ALARM };
/* Of a link in a year. */
static const double rates[] = {[WORN] = 0.05,
	[DIRTY] = 0.05,
	[BURST] = 0.1,
	[FLAPPING] = 0.01,
	[DEAD] = 0.00684};
#define SWITCHES_A_YEAR (0.08 * 0.32)
#define CURED 0.6 /* by a retraining; half of these for good, others for some days */
static const struct {
	double share, low, high;
} losses[] = {{0.4723, 1e-8, 1e-5}, {0.1843, 1e-5, 1e-4}, {0.2167, 1e-4, 1e-3},
	{0.1267, 1e-3, 1e-2}};

struct fault {
	uint64_t at_us, seed;
	uint32_t link;
	enum kind kind;
	double ber, pace_s, lasts_s;
};

struct link {
	struct triad_damp_ends ends;
	uint32_t lower, upper;     /* switches of the layout */
	const struct fault *fault; /* NULL: it is good, or has ended */
	uint64_t random, epoch, accrued_us;
	double n_errors; /* not read yet */
	double low;      /* its BER is not less */
	bool is_bad, is_dead, is_out, is_active, is_reading, is_worse, has_ticket,
		is_done;
	bool is_held, is_damped, is_measured;
	enum kind kind; /* the last one */
	size_t delay;   /* in 'delays_s' */
	uint64_t onset_us, hurts_us, waits_us, moved_us, test_us, back_us;
	uint64_t taken_us[8];
	unsigned n_taken;
	struct triad_ber ber;
	struct triad_course course;
	uint32_t polls[LONG_POLLS], n_polls;
};

enum what { BEGINS, READ, LOOK, VISIT, MENDED, CHANGES, BOUNCE, COURSE, SLOT, RETURN };
struct event {
	uint64_t at_us, number;
	enum what what;
	uint32_t at; /* a link, or a fault */
	uint64_t epoch;
};

struct list {
	double *all;
	size_t n, room;
};

struct result {
	struct list delays_s, flap_delays_s, back_s;
	double bad_hours, packets, out_hours, lost_share_hours, floor_hours, least;
	uint64_t n_good, n_ended, n_most_out, n_floor, n_damped_floor, n_cut, n_jobs,
		n_hit;
	uint64_t n_not_back, n_taken, n_visits, n_retrained;
};

struct sim {
	uint64_t radix, days, n_seeds, seed, rate, sweep_s, max_out;
	uint64_t random, now_us, end_us;
	struct triad_fabric *fabric;
	struct triad_routes_check *check;
	const struct triad_routes_layout *layout;
	uint32_t n_links, n_faults, n_jobs, n_active, n_out;
	struct link *links;
	uint32_t *link_of, *active, *up, *down; /* links of switches */
	struct fault *faults;
	uint8_t *jobs, *hit;
	double *share;
	double lost;
	uint32_t n_below;
	uint64_t counted_us, slot_us;
	bool has_slot;
	enum policy policy;
	struct event_heap heap;
	struct triad_damp_links *damp;
	struct triad_ber_test test;
	struct result results[N_POLICIES];
	struct result *result;
};

/* --- numbers --- */

static double unit(uint64_t *random)
{
	return ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
}

static double log_uniform(uint64_t *random, double low, double high)
{
	return low * exp(unit(random) * log(high / low));
}

static double poisson(uint64_t *random, double mean)
{
	double product = 1, quiet = exp(-mean), n = -1;

	if (mean > 50)
		return fmax(0,
			round(mean +
				sqrt(-2 * mean * log(unit(random))) *
					cos(2 * M_PI * unit(random))));
	for (; product > quiet; n++)
		product *= unit(random);
	return n;
}

static void add(struct list *list, double value)
{
	if (list->n == list->room) {
		list->room = 2 * list->room + 64;
		list->all = realloc(list->all, list->room * sizeof(*list->all));
		if (!list->all)
			abort();
	}
	list->all[list->n++] = value;
}

static void *new_array(size_t n, size_t size)
{
	void *array = calloc(n + 1, size);

	if (!array)
		abort();
	return array;
}

static void push(struct sim *sim, uint64_t at_us, enum what what, uint32_t at)
{
	struct event event = {.at_us = at_us, .what = what, .at = at};

	if (what != BEGINS && what != LOOK && what != SLOT)
		event.epoch = sim->links[at].epoch;
	if (at_us < sim->end_us)
		event_heap_push(&sim->heap, &event);
}

/* --- the fabric --- */

static void add_link(struct sim *sim, uint32_t sw, uint32_t number)
{
	const struct triad_routes_layout *layout = sim->layout;
	const struct triad_routes_switch *at = &layout->switches[sw];
	const struct triad_routes_link *to = &layout->links[at->first_link + number];
	const struct triad_routes_switch *far = &layout->switches[to->to];
	const struct triad_fabric_node *nodes = layout->fabric->nodes;
	struct link *link = &sim->links[sim->n_links];

	link->ends = triad_damp_ends_of(nodes[at->node].guid, (uint8_t)number,
		nodes[far->node].guid, to->in_port);
	link->lower = sw;
	link->upper = to->to;
	sim->link_of[at->first_link + number] =
		sim->link_of[far->first_link + to->in_port] = sim->n_links;
	for (unsigned i = 0; i < MAX_UP; i++)
		if (sim->up[sw * MAX_UP + i] == NONE) {
			sim->up[sw * MAX_UP + i] = sim->n_links;
			break;
		}
	for (unsigned i = 0; i < 2 * MAX_UP; i++)
		if (sim->down[to->to * 2 * MAX_UP + i] == NONE) {
			sim->down[to->to * 2 * MAX_UP + i] = sim->n_links++;
			break;
		}
}

static void make_fabric(struct sim *sim)
{
	static const struct triad_routes_options all;
	const struct triad_routes_layout *layout;

	sim->fabric = fat_tree((unsigned)sim->radix);
	if (triad_routes_check_make(sim->fabric, &all, &sim->check))
		abort();
	layout = sim->layout = sim->check->layout;
	sim->links = new_array(layout->n_links, sizeof(*sim->links));
	sim->link_of = new_array(layout->n_links, sizeof(*sim->link_of));
	memset(sim->link_of, 0xff, layout->n_links * sizeof(*sim->link_of));
	sim->up = new_array(layout->n_switches * MAX_UP, sizeof(*sim->up));
	sim->down = new_array(layout->n_switches * 2 * MAX_UP, sizeof(*sim->down));
	memset(sim->up, 0xff, layout->n_switches * MAX_UP * sizeof(*sim->up));
	memset(sim->down, 0xff, layout->n_switches * 2 * MAX_UP * sizeof(*sim->down));
	sim->share = new_array(layout->n_switches, sizeof(*sim->share));
	for (uint32_t sw = 0; sw < layout->n_switches; sw++)
		for (uint32_t n = 0; n < layout->switches[sw].n_links; n++) {
			const struct triad_routes_link *link =
				&layout->links[layout->switches[sw].first_link + n];

			if (link->kind == TRIAD_ROUTES_TO_SWITCH &&
				layout->switches[link->to].level >
					layout->switches[sw].level)
				add_link(sim, sw, n);
		}
	sim->active = new_array(sim->n_links, sizeof(*sim->active));
}

/* --- faults --- */

static int by_time(const void *a, const void *b)
{
	const struct fault *x = a, *y = b;

	return (x->at_us > y->at_us) - (x->at_us < y->at_us);
}

static struct fault *add_fault(
	struct sim *sim, enum kind kind, uint32_t link, double at_us)
{
	struct fault *fault;
	double share = unit(&sim->random);
	unsigned i = 0;

	if (sim->n_faults % 1024 == 0)
		sim->faults =
			realloc(sim->faults, (sim->n_faults + 1024) * sizeof(*fault));
	if (!sim->faults)
		abort();
	for (; i < 3 && share > losses[i].share; i++)
		share -= losses[i].share;
	fault = &sim->faults[sim->n_faults++];
	*fault = (struct fault){.at_us = (uint64_t)at_us,
		.seed = random_next(&sim->random),
		.link = link,
		.kind = kind,
		.ber = kind >= FLAPPING
			? 0
			: log_uniform(&sim->random, losses[i].low, losses[i].high) /
				PACKET_BITS,
		.pace_s = log_uniform(&sim->random, 30, 600),
		.lasts_s = log_uniform(&sim->random, 1, 1800)};
	return fault;
}

static void add_bad_switch(struct sim *sim, double at_us)
{
	uint32_t sw = random_below(&sim->random, sim->layout->n_switches);
	uint32_t n = sim->layout->switches[sw].n_links,
		 first = random_below(&sim->random, n);
	uint64_t seed = random_next(&sim->random);

	for (uint32_t i = 0; i < n / 4; i++) {
		uint32_t link = sim->link_of[sim->layout->switches[sw].first_link +
			(first + i) % n];

		if (link != NONE)
			add_fault(sim, OF_SWITCH, link, at_us)->seed = seed;
	}
}

static void make_faults(struct sim *sim)
{
	double years = (double)sim->days / YEAR_DAYS * (double)sim->rate / 100;

	sim->n_faults = 0;
	for (unsigned kind = 0; kind <= DEAD; kind++) {
		double n = poisson(&sim->random,
			kind == OF_SWITCH
				? SWITCHES_A_YEAR * years * sim->layout->n_switches
				: rates[kind] * years * sim->n_links);

		while (n-- > 0) {
			double at_us = unit(&sim->random) * (double)sim->end_us;

			if (kind == OF_SWITCH)
				add_bad_switch(sim, at_us);
			else
				add_fault(sim, kind,
					random_below(&sim->random, sim->n_links),
					at_us);
		}
	}
}

/* False alarms of good ports, error by error. */
static void add_false_alarms(struct sim *sim, enum policy policy)
{
	uint64_t random = sim->seed * 7919 + 1;

	for (uint32_t port = 0; port < 2 * sim->n_links; port++) {
		double rate = BPS * log_uniform(&random, TARGET / 1e4, TARGET / 10);
		double at_s = 0, last_s[4] = {-1e9, -1e9, -1e9, -1e9};
		struct triad_ber ber = {0};

		for (;;) {
			double wait_s = -log(unit(&random)) / rate, poll_s;
			const struct triad_ber_reading one = {
				.errors = 1, .seconds = (double)sim->sweep_s};

			at_s += wait_s;
			if (at_s >= (double)sim->end_us / S)
				break;
			if (policy == HEALING) {
				(void)triad_ber_add_quiet(&ber, &sim->test, wait_s, 0);
				if (triad_ber_add(&ber, &sim->test, &one) !=
					TRIAD_BER_WORSE)
					continue;
				ber = (struct triad_ber){0};
			} else {
				memmove(last_s, last_s + 1, 3 * sizeof(*last_s));
				last_s[3] = at_s;
				poll_s = ceil(at_s / 300) * 300;
				if (last_s[1] < poll_s - 300 * SHORT_POLLS &&
					last_s[0] < poll_s - 300 * LONG_POLLS)
					continue;
			}
			add_fault(sim, FALSE_ALARM, port / 2, at_s * S);
		}
	}
}

/* --- jobs --- */

static void cross(struct sim *sim, uint8_t *job, uint32_t from, uint32_t to)
{
	const struct triad_routes_layout *layout = sim->layout;
	uint32_t sw = layout->hosts[from].sw;
	uint16_t lid = layout->fabric->ports[layout->hosts[to].port].lid;

	while (sw != layout->hosts[to].sw) {
		uint32_t at = layout->switches[sw].first_link +
			triad_routes_out(layout, sw, lid);

		job[sim->link_of[at] / 8] |= (uint8_t)(1 << sim->link_of[at] % 8);
		sw = layout->links[at].to;
	}
}

static void make_jobs(struct sim *sim)
{
	size_t octets = sim->n_links / 8 + 1;
	uint32_t hosts[N_HOSTS_OF_JOB];

	sim->n_jobs = (uint32_t)(sim->end_us / JOB_EACH);
	sim->jobs = new_array(sim->n_jobs, octets);
	sim->hit = new_array(sim->n_jobs, 1);
	for (uint32_t job = 0; job < sim->n_jobs; job++) {
		for (unsigned i = 0; i < N_HOSTS_OF_JOB; i++)
			hosts[i] = random_below(&sim->random, sim->layout->n_hosts);
		for (unsigned i = 0; i < N_HOSTS_OF_JOB; i++)
			for (unsigned k = 0; k < N_HOSTS_OF_JOB; k++)
				cross(sim, sim->jobs + job * octets, hosts[i],
					hosts[k]);
	}
}

/* Jobs run for a day. */
static void hit_jobs(struct sim *sim, uint32_t link, uint64_t from_us, uint64_t to_us)
{
	size_t octets = sim->n_links / 8 + 1;

	for (uint64_t job = from_us < DAY ? 0 : (from_us - DAY) / JOB_EACH;
		job < sim->n_jobs; job++) {
		uint64_t begun_us = job * JOB_EACH, ended_us = begun_us + DAY;

		if (begun_us + HIT > to_us)
			break;
		begun_us = begun_us > from_us ? begun_us : from_us;
		ended_us = ended_us < to_us ? ended_us : to_us;
		if (ended_us >= begun_us + HIT &&
			sim->jobs[job * octets + link / 8] >> link % 8 & 1)
			sim->hit[job] = 1;
	}
}

/* --- what is so --- */

static bool carries(const struct link *link)
{
	return !link->is_out && !link->is_dead;
}

/* Returns it if it is less than before, else 1. */
static double set_share(struct sim *sim, uint32_t sw, double share)
{
	bool is_less = share < sim->share[sw];

	sim->lost += sim->share[sw] - share;
	sim->n_below += (uint32_t)(share < FLOOR) - (uint32_t)(sim->share[sw] < FLOOR);
	sim->share[sw] = share;
	sim->result->least = fmin(sim->result->least, share);
	return is_less ? share : 1;
}

/* By itself, not by heal/capacity.h; cores keep all.  Returns the least of those that lose. */
static double count_share(struct sim *sim, uint32_t sw)
{
	double sum = 0, least;
	unsigned n = 0;

	for (; n < MAX_UP && sim->up[sw * MAX_UP + n] != NONE; n++) {
		const struct link *link = &sim->links[sim->up[sw * MAX_UP + n]];

		sum += carries(link) * sim->share[link->upper];
	}
	least = set_share(sim, sw, sum / n);
	for (unsigned i = 0; i < 2 * MAX_UP; i++) {
		uint32_t link = sim->down[sw * 2 * MAX_UP + i];

		if (link != NONE)
			least = fmin(least, count_share(sim, sim->links[link].lower));
	}
	return least;
}

static void count_time(struct sim *sim)
{
	double hours = (double)(sim->now_us - sim->counted_us) / HOUR;

	sim->result->out_hours += hours * sim->n_out;
	sim->result->lost_share_hours += hours * sim->lost / sim->layout->n_switches;
	sim->result->floor_hours += sim->n_below ? hours : 0;
	sim->counted_us = sim->now_us;
}

static void end_hurt(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];
	uint64_t until_us = sim->now_us + (link->is_out ? RESWEEP : 0);
	double s = (double)(until_us - link->hurts_us) / S;

	sim->result->bad_hours += s / 3600;
	if (link->fault)
		sim->result->packets += s * fmin(1, link->fault->ber * PACKET_BITS);
	hit_jobs(sim, at, link->hurts_us, until_us);
	link->hurts_us = NEVER;
}

/* After each change of a link; returns the least share of those that it changes. */
static double settle(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];
	bool hurts = link->is_bad && carries(link);
	bool waits = link->is_out && !link->is_bad && !(link->is_dead && link->fault);

	count_time(sim);
	if (!link->is_active) {
		link->is_active = true;
		sim->active[sim->n_active++] = at;
	}
	if (hurts && link->hurts_us == NEVER)
		link->hurts_us = sim->now_us;
	else if (!hurts && link->hurts_us != NEVER)
		end_hurt(sim, at);
	if (waits && link->waits_us == NEVER) {
		link->waits_us = sim->now_us;
	} else if (!waits && link->waits_us != NEVER) {
		if (!link->is_out)
			add(&sim->result->back_s,
				(double)(sim->now_us - link->waits_us) / S);
		link->waits_us = NEVER;
	}
	return count_share(sim, link->lower);
}

/* Errors that were made and not yet read. */
static void accrue(struct sim *sim, struct link *link)
{
	if (link->is_bad && link->fault && !link->is_dead)
		link->n_errors += poisson(&link->random,
			link->fault->ber * BPS *
				(double)(sim->now_us - link->accrued_us) / S);
	link->accrued_us = sim->now_us;
}

static void forget_errors(struct sim *sim, struct link *link)
{
	link->n_errors = 0;
	link->accrued_us = sim->now_us;
	link->is_worse = false;
	triad_ber_begin(&link->ber);
}

static void read_later(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];
	uint64_t each_us = sim->policy == WINDOWS ? POLL
		: link->is_worse                  ? 600 * S
						  : sim->sweep_s * S;

	if (!link->is_reading)
		push(sim, (sim->now_us / each_us + 1) * each_us, READ, at);
	link->is_reading = true;
}

static void ask_slot(struct sim *sim)
{
	if (sim->policy == HEALING && !sim->has_slot)
		push(sim,
			sim->now_us > sim->slot_us ? sim->now_us + 3 * S : sim->slot_us,
			SLOT, 0);
	sim->has_slot = true;
}

/* --- out of routing, and back --- */

static void take_out(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];
	struct result *result = sim->result;
	struct list *delays_s =
		link->kind == FLAPPING ? &result->flap_delays_s : &result->delays_s;
	double least;

	accrue(sim, link);
	result->n_taken++;
	result->n_good += link->kind == FALSE_ALARM;
	result->n_ended += link->kind == BURST || (!link->is_bad && link->kind < BURST);
	if (link->is_measured && link->is_bad && isinf(delays_s->all[link->delay]))
		delays_s->all[link->delay] =
			(double)(sim->now_us + RESWEEP - link->onset_us) / S;
	link->is_out = true;
	link->is_done = false;
	least = settle(sim, at);
	sim->n_out++;
	if (sim->n_out > result->n_most_out)
		result->n_most_out = sim->n_out;
	result->n_cut += least == 0;
	if (link->is_damped)
		result->n_damped_floor += least < FLOOR;
	else
		result->n_floor += least < FLOOR;
}

static void bring_back(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];

	link->is_out = false;
	settle(sim, at);
	sim->n_out--;
	if (sim->policy != WINDOWS)
		forget_errors(sim, link);
	if (link->is_bad)
		read_later(sim, at);
	ask_slot(sim);
}

/* --- healing --- */

static uint32_t link_at(const struct sim *sim, const struct triad_heal_proposal *of)
{
	uint32_t sw = sim->layout->switch_of_node[of->node];

	return sim->link_of[sim->layout->switches[sw].first_link +
		sim->fabric->ports[of->port].number];
}

/* The first link that a plan takes, of those that are known as bad, or of 'only' (NONE: all); NONE:
 * it takes none. */
static uint32_t plan_first(const struct sim *sim, uint32_t only)
{
	struct triad_heal_finding *findings =
		new_array(sim->n_active, sizeof(*findings));
	struct triad_heal_out *out = new_array(sim->n_active, sizeof(*out));
	struct triad_heal_input input = {.fabric = sim->fabric,
		.check = sim->check,
		.findings = findings,
		.out = out,
		.max_out = (uint32_t)sim->max_out,
		.min_capacity = FLOOR,
		.max_judged = 64};
	struct triad_heal_plan *plan = NULL;
	uint32_t first = NONE;

	for (uint32_t i = 0; i < sim->n_active; i++) {
		const struct link *link = &sim->links[sim->active[i]];

		if (!carries(link))
			out[input.n_out++] =
				(struct triad_heal_out){link->ends, link->is_out};
		else if (link->is_worse && (only == NONE || only == sim->active[i]))
			findings[input.n_findings++] = (struct triad_heal_finding){
				.kind = TRIAD_HEAL_BIT_ERRORS,
				.is_sure = true,
				.port = triad_fabric_port_at(sim->fabric,
					link->ends.guid, link->ends.number),
				.times = link->low / TARGET};
	}
	if (input.n_findings && triad_heal_plan_make(&input, &plan))
		abort();
	for (uint32_t i = 0; plan && i < plan->n && first == NONE; i++)
		if (plan->proposals[i].why == TRIAD_HEAL_TAKE)
			first = link_at(sim, &plan->proposals[i]);
	triad_heal_plan_free(plan);
	free(findings);
	free(out);
	return first;
}

static void retrain(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];

	sim->result->n_retrained++;
	forget_errors(sim, link);
	link->test_us = sim->now_us + (link->is_dead ? 300 : 12) * S;
	if (link->kind != DIRTY || !link->fault || !link->is_bad ||
		unit(&link->random) > CURED)
		return;
	link->is_bad = false;
	if (unit(&link->random) < 0.5)
		link->fault = NULL;
	else
		push(sim, sim->now_us + (uint64_t)(-log(unit(&link->random)) * 3 * DAY),
			CHANGES, at);
	settle(sim, at);
}

static enum triad_course_verdict test(struct sim *sim, struct link *link)
{
	if (sim->now_us < link->test_us)
		return TRIAD_COURSE_NO_VERDICT;
	return link->is_dead ||
			(link->is_bad && link->fault &&
				poisson(&link->random, link->fault->ber * BPS * 10) > 0)
		? TRIAD_COURSE_BAD
		: TRIAD_COURSE_GOOD;
}

static void note_taken(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];

	link->taken_us[link->n_taken++ % 8] = sim->now_us;
	link->moved_us = sim->now_us + RESWEEP;
	take_out(sim, at);
	sim->slot_us = sim->now_us + RESWEEP;
}

static bool step_once(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];
	bool is_back = link->course.state == TRIAD_COURSE_PROBATION;
	struct triad_course_facts facts = {.is_held = !is_back,
		.is_out = sim->now_us >= link->moved_us,
		.test = test(sim, link),
		.is_up = !link->is_dead,
		.may_test_again = true,
		.may_take = is_back && sim->now_us >= sim->slot_us &&
			plan_first(sim, at) != NONE};
	uint64_t until_us;
	enum triad_course_act act;

	if (is_back && !link->is_dead && sim->now_us >= link->back_us)
		facts.back = link->is_worse ? TRIAD_COURSE_BAD : TRIAD_COURSE_GOOD;
	act = triad_course_step(&link->course, &facts, sim->now_us, &until_us);
	if (link->course.state == TRIAD_COURSE_ENDED) {
		link->is_held = false;
		return false;
	}
	if (link->course.state == TRIAD_COURSE_MOVING)
		until_us = link->moved_us;
	if (act == TRIAD_COURSE_TEST)
		until_us = link->test_us;
	if (link->course.state == TRIAD_COURSE_STAYS_OUT && link->is_dead)
		until_us = sim->now_us + 60 * S;
	if (act == TRIAD_COURSE_WAIT || act == TRIAD_COURSE_TEST) {
		if (is_back && until_us <= sim->now_us)
			until_us = sim->now_us + 60 * S;
		if (until_us > sim->now_us && until_us != NEVER)
			push(sim, until_us, COURSE, at);
		return until_us <= sim->now_us;
	}
	if (act == TRIAD_COURSE_TAKE) {
		note_taken(sim, at);
	} else if (act == TRIAD_COURSE_BOUNCE) {
		retrain(sim, at);
	} else {
		link->back_us = sim->now_us + 10 * S + sim->sweep_s * S;
		bring_back(sim, at);
		push(sim, link->back_us, COURSE, at);
	}
	triad_course_did(&link->course, act, true, sim->now_us);
	return true;
}

static void step(struct sim *sim, uint32_t at)
{
	while (sim->links[at].is_held && step_once(sim, at))
		;
}

static void begin_course(struct sim *sim, uint32_t at)
{
	const struct triad_course_conf conf = {
		.out_us = 600 * S, .probation_us = HOUR, .max_taken = 3};
	struct link *link = &sim->links[at];
	uint32_t n = 0;

	note_taken(sim, at);
	for (unsigned i = 0; i < 8 && i < link->n_taken; i++)
		n += link->taken_us[i] + REMEMBERED > sim->now_us;
	link->is_held = true;
	triad_course_begin(&link->course, &conf, n, sim->now_us);
	step(sim, at);
}

static void take_next(struct sim *sim)
{
	uint32_t best = plan_first(sim, NONE), n_held = 0;

	sim->has_slot = false;
	for (uint32_t i = 0; i < sim->n_active; i++)
		n_held += sim->links[sim->active[i]].is_held;
	if (best == NONE || (!sim->links[best].is_held && n_held >= MAX_HEALED))
		return;
	if (sim->links[best].is_held)
		step(sim, best);
	else
		begin_course(sim, best);
	ask_slot(sim);
}

/* --- reading --- */

static void read_sweep(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];
	double seconds = link->is_worse ? 600 : (double)sim->sweep_s;
	const struct triad_ber_reading reading = {
		.errors = (uint64_t)link->n_errors, .seconds = seconds};
	enum triad_ber_verdict verdict;

	if (!carries(link))
		return;
	verdict = link->n_errors > 0
		? triad_ber_add(&link->ber, &sim->test, &reading)
		: triad_ber_add_quiet(&link->ber, &sim->test, seconds, 0);
	link->n_errors = 0;
	if (verdict == TRIAD_BER_WORSE && !link->is_worse)
		link->low = triad_ber_estimate(&link->ber, &sim->test, 0.95).low;
	link->is_worse = verdict == TRIAD_BER_WORSE;
	if (link->is_worse) {
		ask_slot(sim);
		step(sim, at);
	}
	if ((link->is_bad || link->is_worse) && carries(link))
		read_later(sim, at);
}

static void read_poll(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];
	uint64_t few = 0, many = 0;
	uint32_t ports = sim->fabric->n_ports,
		 most = ports / 200 > 10 ? ports / 200 : 10;

	link->polls[link->n_polls++ % LONG_POLLS] = (uint32_t)fmin(link->n_errors, 1e6);
	link->n_errors = 0;
	for (uint32_t i = 0; i < LONG_POLLS && i < link->n_polls; i++) {
		uint32_t n = link->polls[(link->n_polls - 1 - i) % LONG_POLLS];

		many += n;
		few += i < SHORT_POLLS ? n : 0;
	}
	link->is_worse = (double)few > 2.88 || many > 3;
	if (link->is_worse && carries(link) && sim->n_out < most)
		take_out(sim, at);
	else if (!link->is_worse && link->is_out && !link->is_dead)
		bring_back(sim, at);
	if (link->is_bad || many || link->is_out)
		read_later(sim, at);
}

/* --- events --- */

static void begin(struct sim *sim, const struct fault *fault)
{
	struct link *link = &sim->links[fault->link];
	struct result *result = sim->result;

	/* One fault at a time. */
	if (link->fault || link->is_held || link->is_worse || !carries(link))
		return;
	link->kind = fault->kind;
	link->random = fault->seed;
	link->onset_us = link->accrued_us = sim->now_us;
	link->epoch++;
	link->is_reading = false;
	link->is_measured = fault->kind < BURST || fault->kind == FLAPPING;
	if (link->is_measured) {
		struct list *list = fault->kind == FLAPPING ? &result->flap_delays_s
							    : &result->delays_s;

		link->delay = list->n;
		add(list, INFINITY);
	}
	link->fault = fault->kind == FALSE_ALARM ? NULL : fault;
	link->is_dead = fault->kind == DEAD;
	link->is_bad = fault->kind < DEAD;
	if (fault->kind == FALSE_ALARM && sim->policy == HEALING) {
		link->ber = (struct triad_ber){.verdict = TRIAD_BER_WORSE};
		link->is_worse = true;
		ask_slot(sim);
	} else if (fault->kind == FALSE_ALARM) {
		link->n_errors = 4;
	} else {
		triad_ber_begin(&link->ber);
	}
	settle(sim, fault->link);
	if (fault->kind == BURST)
		push(sim, sim->now_us + (uint64_t)(fault->lasts_s * S), CHANGES,
			fault->link);
	if (fault->kind == FLAPPING)
		push(sim, sim->now_us, BOUNCE, fault->link);
	else if (fault->kind != DEAD)
		read_later(sim, fault->link);
}

static void bounce(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];
	struct triad_damp_link *damped;

	if (!link->is_bad || !link->fault)
		return;
	push(sim, sim->now_us + (uint64_t)(link->fault->pace_s * S), BOUNCE, at);
	if (link->is_dead)
		return;
	if (sim->policy == WINDOWS) {
		link->n_errors += 100;
		read_later(sim, at);
	}
	if (sim->policy != HEALING)
		return;
	triad_damp_links_bounce(sim->damp, &link->ends, (unsigned)sim->radix,
		(unsigned)sim->radix, sim->now_us);
	(void)triad_damp_links_settle(sim->damp, sim->now_us + TRIAD_DAMP_TOGETHER_US);
	damped = triad_damp_links_next_over(
		sim->damp, sim->now_us + TRIAD_DAMP_TOGETHER_US);
	if (damped && !link->is_out) {
		triad_damp_link_hold(sim->damp, damped, sim->now_us);
		link->is_damped = true;
		take_out(sim, at);
	}
	damped = triad_damp_links_find(sim->damp, &link->ends, false);
	if (damped && damped->is_held) {
		triad_damp_link_set_up(
			damped, true, sim->now_us + TRIAD_DAMP_TOGETHER_US);
		push(sim, triad_damp_link_returns_us(damped), RETURN, at);
	}
}

static void return_damped(struct sim *sim, uint32_t at)
{
	struct triad_damp_link *damped =
		triad_damp_links_find(sim->damp, &sim->links[at].ends, false);

	if (!damped || !damped->is_held ||
		triad_damp_link_returns_us(damped) > sim->now_us)
		return;
	triad_damp_link_release(damped, false, sim->now_us);
	sim->links[at].is_damped = false;
	bring_back(sim, at);
}

static bool is_for_people(const struct sim *sim, const struct link *link)
{
	if (link->is_dead || (link->is_bad && link->kind == FLAPPING))
		return true;
	if (sim->policy == HEALING && link->is_held)
		return link->course.state == TRIAD_COURSE_STAYS_OUT && !link->is_done;
	return link->is_out || link->is_worse;
}

/* Once a day; links of which nothing is left are forgotten. */
static void look(struct sim *sim)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < sim->n_active; i++) {
		struct link *link = &sim->links[sim->active[i]];

		if (!link->has_ticket && is_for_people(sim, link)) {
			link->has_ticket = true;
			push(sim,
				sim->now_us +
					(4 + (uint64_t)(88 * unit(&link->random))) *
						HOUR,
				VISIT, sim->active[i]);
		}
		link->is_active = link->fault || link->has_ticket || link->is_held ||
			link->is_worse || !carries(link);
		if (link->is_active)
			sim->active[n++] = sim->active[i];
	}
	sim->n_active = n;
	push(sim, sim->now_us + DAY, LOOK, 0);
}

static void visit(struct sim *sim, uint32_t at)
{
	sim->result->n_visits++;
	accrue(sim, &sim->links[at]);
	sim->links[at].is_dead = true;
	settle(sim, at);
	step(sim, at);
	push(sim, sim->now_us + MEND, MENDED, at);
}

static void mended(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];
	bool works = unit(&link->random) < 0.5;

	link->is_dead = link->kind == DEAD && link->fault && !works;
	link->has_ticket = false;
	link->is_done = works || !link->fault;
	if (works) {
		link->is_bad = false;
		link->fault = NULL;
	}
	forget_errors(sim, link);
	if (sim->policy == WINDOWS) /* it went down */
		link->n_errors = 100;
	settle(sim, at);
	step(sim, at);
	if (!link->is_dead && (link->is_bad || link->n_errors > 0))
		read_later(sim, at);
	ask_slot(sim);
}

/* A burst ends, or a cure. */
static void change(struct sim *sim, uint32_t at)
{
	struct link *link = &sim->links[at];

	if (!link->fault)
		return;
	accrue(sim, link);
	link->is_bad = link->kind == DIRTY;
	settle(sim, at);
	if (!link->is_bad)
		link->fault = NULL;
	else if (carries(link))
		read_later(sim, at);
}

static void handle(struct sim *sim, const struct event *event)
{
	uint32_t at = event->at;

	if (event->what == BEGINS) {
		begin(sim, &sim->faults[at]);
	} else if (event->what == LOOK) {
		look(sim);
	} else if (event->what == SLOT) {
		take_next(sim);
	} else if (event->epoch == sim->links[at].epoch) {
		if (event->what == READ) {
			accrue(sim, &sim->links[at]);
			sim->links[at].is_reading = false;
			(sim->policy == WINDOWS ? read_poll : read_sweep)(sim, at);
		} else if (event->what == VISIT) {
			visit(sim, at);
		} else if (event->what == MENDED) {
			mended(sim, at);
		} else if (event->what == CHANGES) {
			change(sim, at);
		} else if (event->what == BOUNCE) {
			bounce(sim, at);
		} else if (event->what == COURSE) {
			step(sim, at);
		} else {
			return_damped(sim, at);
		}
	}
}

/* --- a year --- */

static void start(struct sim *sim, enum policy policy)
{
	sim->policy = policy;
	sim->result = &sim->results[policy];
	sim->now_us = sim->counted_us = sim->slot_us = 0;
	sim->n_active = sim->n_out = sim->n_below = 0;
	sim->has_slot = false;
	sim->lost = 0;
	sim->damp = triad_damp_links_new();
	if (!sim->damp)
		abort();
	memset(sim->hit, 0, sim->n_jobs);
	for (uint32_t i = 0; i < sim->layout->n_switches; i++)
		sim->share[i] = 1;
	for (uint32_t i = 0; i < sim->n_links; i++) {
		const struct link *was = &sim->links[i];

		sim->links[i] = (struct link){.ends = was->ends,
			.lower = was->lower,
			.upper = was->upper,
			.hurts_us = NEVER,
			.waits_us = NEVER};
	}
}

/* What is out though good, for longer than a week. */
static void finish(struct sim *sim)
{
	sim->now_us = sim->end_us;
	count_time(sim);
	for (uint32_t i = 0; i < sim->n_links; i++) {
		struct link *link = &sim->links[i];

		if (link->hurts_us != NEVER)
			end_hurt(sim, i);
		sim->result->n_not_back += link->waits_us != NEVER &&
			link->waits_us + 7 * DAY < sim->end_us;
	}
	sim->result->n_jobs += sim->n_jobs;
	for (uint32_t i = 0; i < sim->n_jobs; i++)
		sim->result->n_hit += sim->hit[i];
	event_heap_clear(&sim->heap);
	triad_damp_links_free(sim->damp);
}

static void run_policy(struct sim *sim, enum policy policy)
{
	uint32_t n_faults = sim->n_faults;
	uint64_t random = sim->random;

	start(sim, policy);
	if (policy != PEOPLE)
		add_false_alarms(sim, policy);
	qsort(sim->faults + n_faults, sim->n_faults - n_faults, sizeof(*sim->faults),
		by_time);
	for (uint32_t i = 0; i < sim->n_faults; i++)
		push(sim, sim->faults[i].at_us, BEGINS, i);
	push(sim, 8 * HOUR, LOOK, 0);
	while (event_heap_next_us(&sim->heap) != NEVER) {
		struct event event = {0};

		event_heap_pop(&sim->heap, &event);
		sim->now_us = event.at_us;
		handle(sim, &event);
	}
	finish(sim);
	sim->n_faults = n_faults;
	sim->random = random;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print_list(const char *name, struct list *list)
{
	double finite = 0;

	qsort(list->all, list->n, sizeof(*list->all), by_size);
	for (size_t i = 0; i < list->n; i++)
		finite += !isinf(list->all[i]);
	printf(" \"%s\": {\"n\": %zu, \"share\": %.4g", name, list->n,
		list->n ? finite / (double)list->n : 0);
	for (unsigned percent = 50; percent < 100; percent += 49) {
		size_t i = list->n * percent / 100;

		if (list->n && !isinf(list->all[i]))
			printf(", \"p%u_s\": %.4g", percent, list->all[i]);
		else
			printf(", \"p%u_s\": null", percent);
	}
	puts("},");
}

static void print_policy(struct sim *sim, enum policy policy)
{
	struct result *result = &sim->results[policy];
	double years = (double)(sim->days * sim->n_seeds) / YEAR_DAYS,
	       hours = (double)(sim->days * sim->n_seeds) * 24;

	printf("{\"policy\": \"%s\",\n", policies[policy]);
	print_list("isolated", &result->delays_s);
	print_list("flaps_isolated", &result->flap_delays_s);
	print_list("good_back", &result->back_s);
	printf(" \"not_back\": %" PRIu64 ", \"bad_hours_per_year\": %.4g, "
	       "\"corrupted_vs_people\": %.3g,\n"
	       " \"taken_per_year\": %.4g, \"good_taken_per_year\": %.3g, "
	       "\"ended_taken_per_year\": %.4g, \"visits_per_year\": %.4g, "
	       "\"retrained_per_year\": %.4g,\n"
	       " \"most_out\": %" PRIu64 ", \"mean_out\": %.3g, \"least_share\": %.3g, "
	       "\"mean_share_lost\": %.3g,\n"
	       " \"floor_broken\": %" PRIu64 ", \"floor_broken_by_damping\": %" PRIu64
	       ", \"below_floor_hours_per_year\": %.3g, \"cut_off\": %" PRIu64
	       ", \"jobs_hit_share\": %.3g}%s\n",
		result->n_not_back, result->bad_hours / years,
		result->packets / sim->results[PEOPLE].packets,
		(double)result->n_taken / years, (double)result->n_good / years,
		(double)result->n_ended / years, (double)result->n_visits / years,
		(double)result->n_retrained / years, result->n_most_out,
		result->out_hours / hours, result->least,
		result->lost_share_hours / hours, result->n_floor,
		result->n_damped_floor, result->floor_hours / years, result->n_cut,
		(double)result->n_hit / (double)result->n_jobs,
		policy + 1 == N_POLICIES ? "" : ",");
	free(result->delays_s.all);
	free(result->flap_delays_s.all);
	free(result->back_s.all);
}

static void run(struct sim *sim)
{
	uint64_t n_faults = 0, seed = sim->seed;

	for (unsigned i = 0; i < N_POLICIES; i++)
		sim->results[i].least = 1;
	for (uint64_t i = 0; i < sim->n_seeds; i++, sim->seed++) {
		sim->random = sim->seed;
		make_jobs(sim);
		make_faults(sim);
		n_faults += sim->n_faults;
		for (unsigned policy = 0; policy < N_POLICIES; policy++)
			run_policy(sim, policy);
		free(sim->jobs);
		free(sim->hit);
	}
	printf("{\"seed\": %" PRIu64 ", \"seeds\": %" PRIu64 ", \"days\": %" PRIu64
	       ", \"links\": %u, \"faults\": %" PRIu64 ", \"rate\": %" PRIu64
	       ", \"sweep_s\": %" PRIu64 ", \"max_out\": %" PRIu64
	       ",\n\"policies\": [\n",
		seed, sim->n_seeds, sim->days, sim->n_links, n_faults, sim->rate,
		sim->sweep_s, sim->max_out);
	for (unsigned policy = 0; policy < N_POLICIES; policy++)
		print_policy(sim, policy);
	puts("]}");
}

/* --- command line --- */

static void usage(void)
{
	puts("Usage: heal_trials [OPTION...]\n"
	     "\n"
	     "Prints JSON: what becomes of bad links with healing, with fixed windows, and with\n"
	     "people alone.\n"
	     "\n"
	     "  --radix N       of the fat tree's switches, even, 4 to 36 (default 28)\n"
	     "  --days N        (default 365)\n"
	     "  --seeds N       so many years, each of its own faults (default 10)\n"
	     "  --seed N        the first one (default 1)\n"
	     "  --rate N        faults, in percent of the usual ones (default 100)\n"
	     "  --sweep N       perfmgr.sweep_period, in seconds (default 60)\n"
	     "  --max-out N     heal.max_out (default 10)");
}

static bool take_option(int option, void *wish)
{
	struct sim *sim = wish;
	uint64_t *const numbers[] = {
		['x'] = &sim->radix,
		['d'] = &sim->days,
		['n'] = &sim->n_seeds,
		['s'] = &sim->seed,
		['r'] = &sim->rate,
		['w'] = &sim->sweep_s,
		['m'] = &sim->max_out,
	};

	return storms_read_number(optarg, numbers[option]) &&
		(*numbers[option] || option == 's' || option == 'm') &&
		*numbers[option] <= 100000 && sim->radix % 2 == 0 && sim->radix >= 4 &&
		sim->radix <= 36;
}

static const struct option known[] = {
	{"radix", required_argument, NULL, 'x'},
	{"days", required_argument, NULL, 'd'},
	{"seeds", required_argument, NULL, 'n'},
	{"seed", required_argument, NULL, 's'},
	{"rate", required_argument, NULL, 'r'},
	{"sweep", required_argument, NULL, 'w'},
	{"max-out", required_argument, NULL, 'm'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
	static const struct storms_options options = {known, usage, take_option};
	struct sim sim = {.radix = 28,
		.days = 365,
		.n_seeds = 10,
		.seed = 1,
		.rate = 100,
		.sweep_s = 60,
		.max_out = 10,
		.heap = {.size = sizeof(struct event)}};
	int status;

	if (!storms_read_options(&options, argc, argv, &sim, &status))
		return status;
	sim.end_us = sim.days * DAY;
	make_fabric(&sim);
	/* As perfmgr/watch/bers.c: all ports and kinds. */
	if (triad_ber_test_init(&sim.test, TARGET, BPS,
		    triad_ber_false_alarm_s(
			    (uint64_t)sim.fabric->n_ports * TRIAD_BER_N_KINDS, 1),
		    TRIAD_BER_N_READINGS))
		return 1;
	run(&sim);
	triad_routes_check_free(sim.check);
	triad_fabric_unref(sim.fabric);
	free(sim.links);
	free(sim.link_of);
	free(sim.active);
	free(sim.up);
	free(sim.down);
	free(sim.share);
	free(sim.faults);
	return 0;
}
