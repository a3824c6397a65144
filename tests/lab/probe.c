/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tests the behaviour of a lab's simulated port, through libibumad.  Runs on a node of
 * a lab.
 *
 *     probe ask LID N TIMEOUT_MS RETRIES [LATE]
 *         requests ClassPortInfo of the LID's PMA N times, one after the other; then
 *         waits until LATE responses have arrived after their requests' timeout
 *     probe owners LID N     sends N requests from each of two descriptors, all at once
 *     probe requests         sends requests to its own port, for agents on two other
 *                            descriptors
 *     probe overlap          registers agents that overlap
 *     probe close LID N UNREGISTER
 *         closes N descriptors with requests in flight; UNREGISTER is 1: unregisters
 *         their agents before
 *     probe table SM_LID     reads a table, first with a buffer that is too small
 *     probe flood LID N [CLASS]
 *         prints its pid, reads a line, sends N requests of the class (default:
 *         performance management)
 *     probe fork LID         forks a child, which uses an inherited descriptor and one
 *                            that it opens
 *
 * Each prints one JSON object, which ends with the library's counters. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAD_SIZE 256
#define PERFORMANCE 0x04
#define SUBNET_ADM 0x03
#define APPLICATION 0x09 /* a class that ibsim doesn't handle */
#define GET 1
#define SET 2
#define TRAP 5
#define GET_TABLE 0x12
#define RESPONSE 0x80
#define CLASS_PORT_INFO 1
#define NODE_RECORD 0x11
#define GSI_QKEY 0x80010000u
#define COUNTERS "/sys/class/infiniband_mad/umad0/lab_counters"
#define SECONDS 1000

static void die(const char *what)
{
	fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
	exit(1);
}

static int open_port(void)
{
	int fd = umad_open_port(NULL, 0);

	if (fd < 0)
		die("umad_open_port");
	return fd;
}

static int add_agent(int fd, int mgmt_class, int version, int rmpp, unsigned methods)
{
	long mask[16 / sizeof(long)] = {(long)methods};

	return umad_register(fd, mgmt_class, version, (uint8_t)rmpp, mask);
}

/* --- MADs --- */

struct question {
	uint16_t lid;
	uint8_t mgmt_class, version, method;
	uint16_t attribute;
	uint32_t tid;
	int timeout_ms, retries;
};

static int send_mad(int fd, int agent, const struct question *question)
{
	void *umad = umad_alloc(1, umad_size() + MAD_SIZE);
	uint8_t *mad = umad_get_mad(umad);
	uint32_t tid = htobe32(question->tid);
	int result;

	mad[0] = 1;
	mad[1] = question->mgmt_class;
	mad[2] = question->version;
	mad[3] = question->method;
	memcpy(mad + 12, &tid, sizeof(tid));
	mad[16] = (uint8_t)(question->attribute >> 8);
	mad[17] = (uint8_t)question->attribute;
	umad_set_addr(umad, question->lid, 1, 0, (int)GSI_QKEY);
	result = umad_send(
		fd, agent, umad, MAD_SIZE, question->timeout_ms, question->retries);
	umad_free(umad);
	return result;
}

struct answer {
	int agent; /* < 0: no answer arrived */
	int status, length;
	uint16_t lid;
	uint32_t tid;
	uint8_t mad[MAD_SIZE];
};

static struct answer read_mad(int fd, int timeout_ms)
{
	void *umad = umad_alloc(1, umad_size() + MAD_SIZE);
	struct answer answer = {.length = MAD_SIZE};

	answer.agent = umad_recv(fd, umad, &answer.length, timeout_ms);
	if (answer.agent >= 0) {
		answer.status = umad_status(umad);
		answer.lid = be16toh(umad_get_mad_addr(umad)->lid);
		memcpy(answer.mad, umad_get_mad(umad), MAD_SIZE);
		memcpy(&answer.tid, answer.mad + 12, sizeof(answer.tid));
		answer.tid = be32toh(answer.tid);
	}
	umad_free(umad);
	return answer;
}

static struct question pma_question(uint16_t lid, uint32_t tid)
{
	return (struct question){.lid = lid,
		.mgmt_class = PERFORMANCE,
		.version = 1,
		.method = GET,
		.attribute = CLASS_PORT_INFO,
		.tid = tid,
		.timeout_ms = 5 * SECONDS};
}

/* --- counters --- */

static unsigned long counter(const char *wanted)
{
	FILE *file = fopen(COUNTERS, "r");
	unsigned long value, found = 0;
	char name[32];

	if (!file)
		die(COUNTERS);
	while (fscanf(file, "%31s %lu", name, &value) == 2)
		if (strcmp(name, wanted) == 0)
			found = value;
	fclose(file);
	return found;
}

static void print_end(void)
{
	static const char *const names[] = {
		"sent", "resent", "timed_out", "unclaimed", "late", "unsent", "faults"};
	const char *before = "";

	printf(", \"counters\": {");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		printf("%s\"%s\": %lu", before, names[i], counter(names[i]));
		before = ", ";
	}
	printf("}}\n");
}

static void wait_for_counter(const char *name, unsigned long value)
{
	for (int i = 0; i < 1000 && counter(name) < value; i++)
		poll(NULL, 0, 10);
}

/* --- commands --- */

static void print_answer(const struct answer *answer)
{
	printf("{\"status\": %d, \"length\": %d, \"tid\": %u, \"data\": \"",
		answer->status, answer->length, answer->tid);
	for (int i = 24; i < answer->length && i < MAD_SIZE; i++)
		printf("%02x", answer->mad[i]);
	printf("\"}");
}

static void ask(uint16_t lid, uint32_t n, int timeout_ms, int retries, unsigned late)
{
	/* ibsim returns an undeliverable MAD to its sender as it is, a Get.  The agent
	 * registers for Get to check that it doesn't receive such a MAD as a
	 * request. */
	int fd = open_port(), agent = add_agent(fd, PERFORMANCE, 1, 0, 1 << GET);

	printf("{\"answers\": [");
	for (uint32_t i = 1; i <= n; i++) {
		struct question question = pma_question(lid, i);
		struct answer answer;

		question.timeout_ms = timeout_ms;
		question.retries = retries;
		if (send_mad(fd, agent, &question))
			die("umad_send");
		answer = read_mad(fd, 20 * SECONDS);
		if (answer.agent != agent)
			die("umad_recv");
		printf("%s", i > 1 ? ", " : "");
		print_answer(&answer);
	}
	wait_for_counter("late", late);
	printf("], \"strays\": %d", read_mad(fd, 0).agent >= 0);
	print_end();
}

static void owners(uint16_t lid, uint32_t n)
{
	int fds[2] = {open_port(), open_port()}, agents[2];
	unsigned own[2] = {0}, foreign = 0;

	for (int i = 0; i < 2; i++)
		agents[i] = add_agent(fds[i], PERFORMANCE, 1, 0, 0);
	for (uint32_t k = 0; k < 2 * n; k++) {
		struct question question = pma_question(lid, k + 1);

		if (send_mad(fds[k % 2], agents[k % 2], &question))
			die("umad_send");
	}
	for (int i = 0; i < 2; i++)
		for (uint32_t k = 0; k < n; k++) {
			struct answer answer = read_mad(fds[i], 5 * SECONDS);
			bool is_own = answer.agent == agents[i] && !answer.status &&
				(answer.tid - 1) % 2 == (unsigned)i;

			own[i] += is_own;
			foreign += !is_own;
		}
	printf("{\"own\": [%u, %u], \"foreign\": %u, \"strays\": %d", own[0], own[1],
		foreign,
		read_mad(fds[0], 0).agent >= 0 || read_mad(fds[1], 0).agent >= 0);
	print_end();
}

static uint16_t own_lid(void)
{
	umad_port_t umad_port;
	uint16_t lid;

	if (umad_get_port(NULL, 0, &umad_port))
		die("umad_get_port");
	lid = (uint16_t)umad_port.base_lid;
	umad_release_port(&umad_port);
	return lid;
}

/* ibsim delivers requests to the client that has set IsSM on their port. */
static void become_sm(void)
{
	char path[256];

	if (umad_get_issm_path(NULL, 0, path, sizeof(path)) ||
		open(path, O_RDWR | O_NONBLOCK) < 0)
		die("issm");
}

/* Sends the request's MAD back as the response. */
static void answer_request(int fd, int agent, const struct answer *request)
{
	void *umad = umad_alloc(1, umad_size() + MAD_SIZE);

	memcpy(umad_get_mad(umad), request->mad, MAD_SIZE);
	((uint8_t *)umad_get_mad(umad))[3] |= RESPONSE;
	umad_set_addr(umad, request->lid, 1, 0, (int)GSI_QKEY);
	if (umad_send(fd, agent, umad, MAD_SIZE, 0, 0))
		die("umad_send");
	umad_free(umad);
}

static void requests(void)
{
	int getter = open_port(), setter = open_port(), asker = open_port();
	int get_agent = add_agent(getter, APPLICATION, 1, 0, 1 << GET);
	int set_agent = add_agent(setter, APPLICATION, 1, 0, 1 << SET);
	int ask_agent = add_agent(asker, APPLICATION, 1, 0, 0);
	struct question question = {.lid = own_lid(),
		.mgmt_class = APPLICATION,
		.version = 1,
		.timeout_ms = 20 * SECONDS};
	struct answer get, set, response;

	become_sm();
	for (unsigned i = 0; i < 3; i++) {
		question.method = (uint8_t[]){GET, SET, TRAP}[i];
		question.tid = i + 1;
		if (send_mad(asker, ask_agent, &question))
			die("umad_send");
	}
	get = read_mad(getter, 5 * SECONDS);
	set = read_mad(setter, 5 * SECONDS);
	wait_for_counter("unclaimed", 1);
	answer_request(setter, set_agent, &set);
	response = read_mad(asker, 5 * SECONDS);
	printf("{\"get\": [%d, %u], \"set\": [%d, %u], \"response\": [%d, %u], "
	       "\"strays\": %d",
		get.agent - get_agent, get.tid, set.agent - set_agent, set.tid,
		response.agent - ask_agent, response.tid,
		read_mad(getter, 0).agent >= 0 || read_mad(setter, 0).agent >= 0 ||
			read_mad(asker, 0).agent >= 0);
	print_end();
}

static void overlap(void)
{
	int one = open_port(), other = open_port();
	int first = add_agent(one, APPLICATION, 1, 0, 1 << GET | 1 << SET);
	int error, same, class, version, rest, again, bad_rmpp;

	same = add_agent(other, APPLICATION, 1, 0, 1 << SET);
	error = errno;
	class = add_agent(other, APPLICATION + 1, 1, 0, 1 << SET);
	version = add_agent(other, APPLICATION, 2, 0, 1 << SET);
	rest = add_agent(one, APPLICATION, 1, 0, 1 << TRAP);
	bad_rmpp = add_agent(one, PERFORMANCE, 1, 1, 0);
	umad_unregister(one, first);
	again = add_agent(other, APPLICATION, 1, 0, 1 << SET);
	printf("{\"refused\": %d, \"errno\": %d, \"other_class\": %d, "
	       "\"other_version\": %d, \"other_method\": %d, \"bad_rmpp\": %d, "
	       "\"after_unregister\": %d",
		same < 0, error, class >= 0, version >= 0, rest >= 0, bad_rmpp < 0,
		again >= 0);
	print_end();
}

static void close_in_flight(uint16_t lid, uint32_t n, bool must_unregister)
{
	for (uint32_t i = 0; i < n; i++) {
		int fd = open_port(), agent = add_agent(fd, PERFORMANCE, 1, 0, 0);

		for (uint32_t k = 1; k <= 32; k++) {
			struct question question = pma_question(lid, k);

			if (send_mad(fd, agent, &question))
				die("umad_send");
		}
		if (must_unregister)
			umad_unregister(fd, agent);
		umad_close_port(fd);
	}
	ask(lid, 1, 5 * SECONDS, 0, 0);
}

static void table(uint16_t sm_lid)
{
	int fd = open_port(), agent = add_agent(fd, SUBNET_ADM, 2, 1, 0);
	struct question question = {.lid = sm_lid,
		.mgmt_class = SUBNET_ADM,
		.version = 2,
		.method = GET_TABLE,
		.attribute = NODE_RECORD,
		.tid = 1,
		.timeout_ms = 10 * SECONDS};
	int needed = MAD_SIZE, error, length;
	void *umad = umad_alloc(1, umad_size() + MAD_SIZE);
	int refused;

	if (send_mad(fd, agent, &question))
		die("umad_send");
	refused = umad_recv(fd, umad, &needed, 10 * SECONDS);
	error = errno;
	umad_free(umad);
	umad = umad_alloc(1, umad_size() + (size_t)needed);
	length = needed;
	agent -= umad_recv(fd, umad, &length, 10 * SECONDS);
	/* AttributeOffset counts units of 8 octets; the headers take 56 octets. */
	printf("{\"refused\": %d, \"errno\": %d, \"needed\": %d, \"length\": %d, "
	       "\"agent\": %d, \"records\": %d",
		refused < 0, error, needed, length, agent,
		(length - 56) / ((int)((uint8_t *)umad_get_mad(umad))[45] * 8));
	print_end();
}

static void flood(uint16_t lid, uint32_t n, uint8_t mgmt_class)
{
	int version = mgmt_class == SUBNET_ADM ? 2 : 1;
	int fd = open_port(), agent = add_agent(fd, mgmt_class, version, 0, 0);
	unsigned failed = 0;

	printf("%d\n", getpid());
	fflush(stdout);
	if (getchar() == EOF)
		die("standard input");
	for (uint32_t k = 1; k <= n; k++) {
		struct question question = pma_question(lid, k);

		question.timeout_ms = 0;
		question.mgmt_class = mgmt_class;
		question.version = (uint8_t)version;
		failed += send_mad(fd, agent, &question) != 0;
	}
	printf("{\"failed\": %u", failed);
	/* Reading the counters sends no request to ibsim. */
	print_end();
}

static void child(int fd, int agent, uint16_t lid)
{
	struct question question = pma_question(lid, 7);
	int inherited = send_mad(fd, agent, &question) == 0;
	struct answer answer;

	fd = open_port();
	agent = add_agent(fd, PERFORMANCE, 1, 0, 0);
	if (send_mad(fd, agent, &question))
		die("umad_send");
	answer = read_mad(fd, 5 * SECONDS);
	/* Bit 0: the inherited descriptor failed, as it must.  Bit 1: the new one
	 * works. */
	exit((inherited ? 0 : 1) + (answer.agent == agent && !answer.status ? 2 : 0));
}

static void fork_child(uint16_t lid)
{
	int fd = open_port(), agent = add_agent(fd, PERFORMANCE, 1, 0, 0);
	struct question question = pma_question(lid, 8);
	struct answer answer;
	int status;

	if (fork() == 0)
		child(fd, agent, lid);
	wait(&status);
	if (send_mad(fd, agent, &question))
		die("umad_send");
	answer = read_mad(fd, 5 * SECONDS);
	printf("{\"child\": %d, \"parent\": %d", WEXITSTATUS(status),
		answer.agent == agent && !answer.status);
	print_end();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	uint32_t values[5] = {0};

	for (int i = 0; i < 5 && i + 2 < argc; i++)
		values[i] = (uint32_t)strtoul(argv[i + 2], NULL, 0);
	if (strcmp(what, "ask") == 0)
		ask((uint16_t)values[0], values[1], (int)values[2], (int)values[3],
			values[4]);
	else if (strcmp(what, "owners") == 0)
		owners((uint16_t)values[0], values[1]);
	else if (strcmp(what, "requests") == 0)
		requests();
	else if (strcmp(what, "overlap") == 0)
		overlap();
	else if (strcmp(what, "close") == 0)
		close_in_flight((uint16_t)values[0], values[1], values[2]);
	else if (strcmp(what, "table") == 0)
		table((uint16_t)values[0]);
	else if (strcmp(what, "flood") == 0)
		flood((uint16_t)values[0], values[1],
			values[2] ? (uint8_t)values[2] : PERFORMANCE);
	else if (strcmp(what, "fork") == 0)
		fork_child((uint16_t)values[0]);
	else
		die("what?");
	return 0;
}
