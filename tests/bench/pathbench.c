/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The cost of an answer to a PathRecord request, in a real opensm.  This plugin of
 * OpenSM, loaded besides Triad, executes a command from a file and writes JSON to
 * another.
 *
 * It waits for the file that TRIAD_PATHBENCH names, with one of these lines, and
 * removes it when done:
 *
 *     decide COUNT SEED POLICY OUT
 *     timer OUT
 *     pass COUNT OUT
 *     storm CLIENTS GREEDY PACE SECONDS OUT
 *
 * "decide" computes the paths of COUNT random pairs of end ports, both directions each:
 * by OpenSM's functions under its shared lock, and by Triad's on a snapshot of the same
 * subnet with the policy in the file POLICY ("-": none).  Neither time includes finding
 * the ports of the GIDs.
 *
 * "timer" writes the times of answers since the last time: from the return of
 * umad_recv() with the request to the return of umad_send() with the answer, by OpenSM
 * or by Triad.  For that the library is preloaded, so that it replaces these calls.
 *
 * "pass" is in passbench.h, "storm" in pathstorm.h. */
#include "plugin/opensm.h"

#include <dlfcn.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <opensm/osm_qos_policy.h>
#include <opensm/osm_sa.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "plugin/qos/tables/osm_defaults.h"
#include "plugin/snapshot.h"
#include "qos/answer.h"
#include "qos/latency.h"
#include "tests/bench/passbench.h"
#include "tests/bench/pathstorm.h"
#include "tests/random.h"

#define VISIBLE __attribute__((visibility("default")))
#define LOOK_US 10000
#define N_SLOTS 65536
#define STORM_LOOK_MS 10
#define BATCH 64 /* pairs for each time that OpenSM's lock is held */

/* OpenSM has no prototype of it in a header. */
void osm_pr_process_pair(osm_sa_t *sa, const ib_sa_mad_t *mad,
	const osm_port_t *requester, const osm_alias_guid_t *from,
	const osm_alias_guid_t *to, const ib_gid_t *sgid, const ib_gid_t *dgid,
	cl_qlist_t *list);

extern osm_event_plugin_t osm_event_plugin VISIBLE;
VISIBLE int umad_recv(int fd, void *umad, int *length, int timeout_ms);
VISIBLE int umad_send(
	int fd, int agent, void *umad, int length, int timeout_ms, int retries);

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* --- the timer --- */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int (*real_recv)(int, void *, int *, int);
static int (*real_send)(int, int, void *, int, int, int);
static _Atomic uint64_t received[N_SLOTS]; /* by transaction ID and LID */
static struct triad_latency answers;

static void find_real(void)
{
	real_recv = (int (*)(int, void *, int *, int))dlsym(RTLD_NEXT, "umad_recv");
	real_send =
		(int (*)(int, int, void *, int, int, int))dlsym(RTLD_NEXT, "umad_send");
}

/* The slot of a PathRecord's request (or answer), by its sender (or receiver); NULL:
 * the MAD is none. */
static _Atomic uint64_t *slot_of(void *umad, bool is_answer)
{
	const uint8_t *mad = umad_get_mad(umad);
	const ib_mad_addr_t *address = umad_get_mad_addr(umad);
	uint32_t tid;

	if (mad[1] != IB_MCLASS_SUBN_ADM || mad[17] != 0x35 || mad[16] ||
		!(mad[3] & 0x80) == is_answer)
		return NULL;
	memcpy(&tid, mad + 12, sizeof(tid));
	return &received[(cl_ntoh32(tid) * 31 + cl_ntoh16(address->lid) * 7919) %
		N_SLOTS];
}

/* Receives a real MAD, or a request of a storm; real ones first, so that sweeps go
 * on. */
static int receive_any(int fd, void *umad, int *length, int timeout_ms)
{
	int agent = -1;

	/* A storm may begin while OpenSM waits without a timeout. */
	while (timeout_ms < 0 && agent < 0 &&
		umad_poll(fd, triad_pathstorm_runs(fd) ? 0 : STORM_LOOK_MS))
		agent = triad_pathstorm_receive(fd, umad, length);
	return agent < 0 ? real_recv(fd, umad, length, timeout_ms) : agent;
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	_Atomic uint64_t *slot;
	int agent;

	pthread_once(&once, find_real);
	agent = receive_any(fd, umad, length, timeout_ms);
	if (agent >= 0)
		triad_pathstorm_note(fd, umad);
	slot = agent < 0 ? NULL : slot_of(umad, false);
	if (slot)
		atomic_store(slot, now_ns());
	return agent;
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	_Atomic uint64_t *slot;
	uint64_t begun_ns;
	int error;

	pthread_once(&once, find_real);
	if (triad_pathstorm_take(umad))
		return 0;
	/* The buffer may have another owner when it is sent. */
	slot = slot_of(umad, true);
	begun_ns = slot ? atomic_exchange(slot, 0) : 0;
	error = real_send(fd, agent, umad, length, timeout_ms, retries);
	if (begun_ns)
		triad_latency_add(&answers, now_ns() - begun_ns);
	return error;
}

static void write_timer(FILE *out)
{
	struct triad_latency_summary summary = triad_latency_summarize(&answers);

	memset(&answers, 0, sizeof(answers));
	fprintf(out,
		"{\"n\": %" PRIu64 ", \"p50_ns\": %" PRIu64 ", \"p99_ns\": %" PRIu64
		"}\n",
		summary.n, summary.p50_ns, summary.p99_ns);
}

/* --- pairs --- */

struct pair {
	uint64_t from, to; /* port GUIDs */
	uint64_t service_id;
};

struct bench {
	osm_opensm_t *osm;
	struct triad_fabric *fabric;
	struct triad_paths *paths;
	struct triad_classifier *classifier; /* NULL: no policy */
	struct pair *pairs;
	size_t n;
	double stock_classify_ns, stock_decide_ns, classify_ns, decide_ns;
	size_t stock_found, found;
	uint64_t compile_us, build_us;
};

static uint64_t state;

static uint64_t random_value(void)
{
	return random_next(&state);
}

/* Half of the Service-IDs are those of scripts/bench-pathrecord's policies; no rule has
 * the others. */
static uint64_t any_service(uint32_t n_rules)
{
	return 0x1000000 + random_value() % (2 * (n_rules + 1)) * 16;
}

static bool make_pairs(struct bench *bench)
{
	const struct triad_fabric *fabric = bench->fabric;
	uint32_t n_rules = bench->classifier
		? triad_classifier_policy(bench->classifier)->n_rules
		: 0;
	size_t n = 0;

	bench->pairs = malloc(bench->n * sizeof(*bench->pairs));
	while (bench->pairs && n < bench->n) {
		uint32_t from = (uint32_t)(random_value() % fabric->n_aliases);
		uint32_t to = (uint32_t)(random_value() % fabric->n_aliases);

		if (!fabric->ports[fabric->aliases[from].port].lid ||
			!fabric->ports[fabric->aliases[to].port].lid)
			continue;
		bench->pairs[n++] = (struct pair){.from = fabric->aliases[from].guid,
			.to = fabric->aliases[to].guid,
			.service_id = any_service(n_rules)};
	}
	return bench->pairs;
}

/* --- OpenSM's part --- */

static void fill_request(
	const struct bench *bench, const struct pair *pair, ib_sa_mad_t *mad)
{
	ib_path_rec_t *record = ib_sa_mad_get_payload_ptr(mad);
	const uint64_t prefix = bench->osm->subn.opt.subnet_prefix;

	memset(mad, 0, sizeof(*mad));
	mad->method = IB_MAD_METHOD_GET;
	mad->attr_id = IB_MAD_ATTR_PATH_RECORD;
	mad->comp_mask =
		IB_PR_COMPMASK_SGID | IB_PR_COMPMASK_DGID | IB_PR_COMPMASK_SERVICEID;
	record->service_id = cl_hton64(pair->service_id);
	record->sgid.unicast.prefix = record->dgid.unicast.prefix = prefix;
	record->sgid.unicast.interface_id = cl_hton64(pair->from);
	record->dgid.unicast.interface_id = cl_hton64(pair->to);
}

struct ends {
	const osm_alias_guid_t *from, *to;
	const osm_port_t *requester;
	ib_sa_mad_t mad;
};

static void find_ends(
	const struct bench *bench, const struct pair *pair, struct ends *ends)
{
	const osm_subn_t *subn = &bench->osm->subn;

	ends->from = osm_get_alias_guid_by_guid(subn, cl_hton64(pair->from));
	ends->to = osm_get_alias_guid_by_guid(subn, cl_hton64(pair->to));
	ends->requester = osm_get_port_by_guid(subn, subn->sm_port_guid);
	fill_request(bench, pair, &ends->mad);
}

static void stock_decide(struct bench *bench, const struct ends *ends)
{
	osm_sa_t *sa = &bench->osm->sa;
	cl_list_item_t *item;
	cl_qlist_t list;

	cl_qlist_init(&list);
	osm_pr_process_pair(sa, &ends->mad, ends->requester, ends->from, ends->to, NULL,
		NULL, &list);
	while ((item = cl_qlist_remove_head(&list)) != cl_qlist_end(&list)) {
		bench->stock_found++;
		free(item);
	}
}

static void stock_classify(struct bench *bench, const struct ends *ends)
{
	static const void *volatile sink;

	sink = osm_qos_policy_get_qos_level_by_pr(bench->osm->subn.p_qos_policy,
		ib_sa_mad_get_payload_ptr(&ends->mad), ends->from->p_base_port->p_physp,
		ends->to->p_base_port->p_physp, ends->mad.comp_mask);
	(void)sink;
}

/* The time does not include looking up the pairs' ports. */
static double time_stock(
	struct bench *bench, void (*one)(struct bench *, const struct ends *))
{
	static struct ends ends[BATCH];
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < bench->n; i += BATCH) {
		size_t n = bench->n - i < BATCH ? bench->n - i : BATCH;
		uint64_t begun_ns;

		cl_plock_acquire(&bench->osm->lock);
		for (size_t j = 0; j < n; j++)
			find_ends(bench, &bench->pairs[i + j], &ends[j]);
		begun_ns = now_ns();
		for (size_t j = 0; j < n; j++)
			if (ends[j].from && ends[j].to)
				one(bench, &ends[j]);
		sum_ns += now_ns() - begun_ns;
		cl_plock_release(&bench->osm->lock);
	}
	return (double)sum_ns / (double)bench->n;
}

/* --- Triad's part --- */

/* As for OpenSM: classifies, then computes both directions, between known ports. */
static double time_decide(struct bench *bench)
{
	const struct triad_answer_snapshot snapshot = {
		.paths = bench->paths, .classifier = bench->classifier};
	struct triad_path_request request = {
		.has = TRIAD_HAS_SGID | TRIAD_HAS_DGID | TRIAD_HAS_SERVICE_ID,
		.one = true,
	};
	struct triad_path_ask ask = {.paths = bench->paths, .request = &request};
	struct triad_path_decision decision;
	uint64_t sum_ns = 0, begun_ns;
	uint32_t from[BATCH], to[BATCH], level, rule;

	for (size_t i = 0; i < bench->n; i += BATCH) {
		size_t n = bench->n - i < BATCH ? bench->n - i : BATCH;

		for (size_t j = 0; j < n; j++) {
			from[j] = triad_fabric_find_alias(
				bench->fabric, bench->pairs[i + j].from);
			to[j] = triad_fabric_find_alias(
				bench->fabric, bench->pairs[i + j].to);
		}
		begun_ns = now_ns();
		for (size_t j = 0; j < n; j++) {
			request.service_id = bench->pairs[i + j].service_id;
			level = triad_answer_level(
				&snapshot, &request, from[j], to[j], &rule);
			ask.from = from[j];
			ask.to = to[j];
			if (level != TRIAD_POLICY_NONE)
				ask.level = &triad_classifier_policy(bench->classifier)
						     ->levels[level];
			triad_path_decide(&ask, bench->paths->ends[from[j]].lid,
				bench->paths->ends[to[j]].lid, &decision);
			bench->found += !decision.refusal;
		}
		sum_ns += now_ns() - begun_ns;
	}
	return (double)sum_ns / (double)bench->n;
}

static double time_classify(struct bench *bench)
{
	static volatile uint32_t sink;
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < bench->n; i++) {
		struct triad_class_request request = {
			.source = triad_fabric_find_alias(
				bench->fabric, bench->pairs[i].from),
			.destination = triad_fabric_find_alias(
				bench->fabric, bench->pairs[i].to),
			.has_service_id = true,
			.service_id = bench->pairs[i].service_id,
		};
		uint64_t begun_ns = now_ns();

		sink = triad_classifier_level(
			bench->classifier, &request, 0xffff, NULL);
		sum_ns += now_ns() - begun_ns;
	}
	(void)sink;
	return (double)sum_ns / (double)bench->n;
}

/* The time of reading the clock, which time_classify() includes. */
static double clock_ns(void)
{
	uint64_t begun_ns = now_ns();

	for (int i = 0; i < 10000; i++)
		(void)now_ns();
	return (double)(now_ns() - begun_ns) / 10000;
}

/* --- commands --- */

static bool prepare(struct bench *bench, const char *policy_file)
{
	static struct triad_diags diags;
	atomic_ulong sweeps = 0;
	struct triad_fabric_qos defaults = {0};
	struct triad_policy *policy = NULL;
	uint64_t begun_ns;
	bool fits;

	triad_osm_defaults_read(bench->osm, &defaults);
	if (triad_snapshot_take(bench->osm, NULL, &defaults, &sweeps, &bench->fabric))
		return false;
	begun_ns = now_ns();
	fits = !triad_paths_build(bench->fabric, &bench->paths);
	bench->build_us = (now_ns() - begun_ns) / 1000;
	if (fits && strcmp(policy_file, "-") != 0) {
		fits = !triad_policy_load(policy_file, NULL, &policy, &diags);
		begun_ns = now_ns();
		fits = fits &&
			!triad_classifier_compile(
				policy, bench->fabric, &bench->classifier);
		bench->compile_us = (now_ns() - begun_ns) / 1000;
		triad_policy_unref(policy);
	}
	return fits && make_pairs(bench);
}

static void measure(struct bench *bench)
{
	double clock = clock_ns();

	/* The first run of each warms up. */
	(void)time_stock(bench, stock_decide);
	bench->stock_found = 0;
	bench->stock_decide_ns = time_stock(bench, stock_decide);
	if (bench->osm->subn.p_qos_policy)
		bench->stock_classify_ns = time_stock(bench, stock_classify);
	(void)time_decide(bench);
	bench->found = 0;
	bench->decide_ns = time_decide(bench);
	if (bench->classifier) {
		(void)time_classify(bench);
		bench->classify_ns = time_classify(bench) - clock;
	}
}

static void write_decide(const struct bench *bench, FILE *out)
{
	fprintf(out,
		"{\"pairs\": %zu, \"stock\": {\"ns_classify\": %.1f, \"ns_decide\": %.1f, "
		"\"found\": %zu}, \"triad\": {\"ns_classify\": %.1f, \"ns_decide\": %.1f, "
		"\"found\": %zu}, \"compile_us\": %" PRIu64 ", \"build_us\": %" PRIu64
		", \"octets\": %zu, \"sm_lock_us\": %" PRIu64 "}\n",
		bench->n, bench->stock_classify_ns, bench->stock_decide_ns,
		bench->stock_found, bench->classify_ns, bench->decide_ns, bench->found,
		bench->compile_us, bench->build_us,
		bench->paths->octets +
			(bench->classifier ? triad_classifier_octets(bench->classifier)
					   : 0),
		bench->fabric->lock_us);
}

static void decide(
	osm_opensm_t *osm, size_t n, uint64_t seed, const char *policy_file, FILE *out)
{
	struct bench bench = {.osm = osm, .n = n};

	state = seed;
	if (prepare(&bench, policy_file)) {
		measure(&bench);
		write_decide(&bench, out);
	} else {
		fprintf(out, "{\"error\": \"no snapshot, policy or memory\"}\n");
	}
	free(bench.pairs);
	triad_classifier_free(bench.classifier);
	triad_paths_unref(bench.paths);
	triad_fabric_unref(bench.fabric);
}

static void obey(osm_opensm_t *osm, const char *line)
{
	char policy_file[512], path[512];
	struct triad_pathstorm_params storm;
	unsigned long n, seed;
	FILE *out;

	if (sscanf(line, "decide %lu %lu %511s %511s", &n, &seed, policy_file, path) ==
		4) {
		out = fopen(path, "w");
		if (out)
			decide(osm, n, seed, policy_file, out);
	} else if (sscanf(line, "timer %511s", path) == 1) {
		out = fopen(path, "w");
		if (out)
			write_timer(out);
	} else if (sscanf(line, "pass %lu %511s", &n, path) == 2) {
		out = fopen(path, "w");
		if (out)
			triad_passbench(osm, n, out);
	} else if (sscanf(line, "storm %lu %lu %lu %lu %511s", &storm.n_clients,
			   &storm.n_greedy, &storm.pace, &storm.seconds, path) == 5) {
		out = fopen(path, "w");
		if (out)
			triad_pathstorm(osm, &storm, out);
	} else {
		return;
	}
	if (out)
		fclose(out);
}

static void *wait_for_file(void *osm)
{
	const char *path = getenv("TRIAD_PATHBENCH");
	char line[1200];

	while (path) {
		FILE *file = fopen(path, "r");

		usleep(LOOK_US);
		if (!file)
			continue;
		if (fgets(line, sizeof(line), file))
			obey(osm, line);
		fclose(file);
		unlink(path);
	}
	return NULL;
}

static void *create(osm_opensm_t *osm)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_file, osm))
		return NULL;
	pthread_detach(thread);
	return osm;
}

static void destroy(void *plugin)
{
	(void)plugin;
}

osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = destroy,
};
