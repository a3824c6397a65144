/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The benchmark's part for Prometheus; see export.c. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <sys/socket.h>
#include <unistd.h>

#include "perfmgr/export/http.h"
#include "perfmgr/export/metrics_handler.h"
#include "perfmgr/formats/metrics.h"
#include "tests/bench/bench.h"
#include "tests/bench/export.h"
#include "tests/heap.h"
#include "tests/sim/views.h"

#define PIECE (32 * 1024)
/* For more ports a subnet has no LIDs if each switch has 36 hosts.  Switches are large
 * then, and most of their ports have no link. */
#define MOST_OF_SMALL_SWITCHES 90000

struct bench {
	uint64_t seed;
	struct triad_view *view;
	uint64_t first_us, text_us, copy_us;
	size_t octets, lines, memory;
};

static size_t count_lines(const char *text, size_t size)
{
	const char *end = text + size;
	size_t n = 0;

	while ((text = memchr(text, '\n', (size_t)(end - text)))) {
		text++;
		n++;
	}
	return n;
}

static void write_text(struct bench *bench, char *piece)
{
	struct triad_metrics_params params = {.view = bench->view};
	size_t before = heap_in_use(), size;
	uint64_t begun_us = triad_clock_now_us(), text_us;
	struct triad_metrics *metrics = triad_metrics_new(&params);

	if (!metrics)
		die("out of memory");
	bench->octets = triad_metrics_fill(metrics, piece, PIECE);
	bench->first_us = least(bench->first_us, triad_clock_now_us() - begun_us);
	while ((size = triad_metrics_fill(metrics, piece, PIECE)))
		bench->octets += size;
	text_us = triad_clock_now_us() - begun_us;
	bench->text_us = least(bench->text_us, text_us);
	bench->memory = heap_in_use() - before;
	triad_metrics_free(metrics);
}

static void count_text(struct bench *bench, char *piece)
{
	struct triad_metrics_params params = {.view = bench->view};
	struct triad_metrics *metrics = triad_metrics_new(&params);
	size_t size;

	if (!metrics)
		die("out of memory");
	while ((size = triad_metrics_fill(metrics, piece, PIECE)))
		bench->lines += count_lines(piece, size);
	triad_metrics_free(metrics);
}

static void copy_text(struct bench *bench, char *to, const char *from)
{
	uint64_t begun_us = triad_clock_now_us();

	for (size_t left = bench->octets; left; left -= left < PIECE ? left : PIECE) {
		memcpy(to, from, left < PIECE ? left : PIECE);
		/* The compiler must not remove the copy. */
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	bench->copy_us = least(bench->copy_us, triad_clock_now_us() - begun_us);
}

static void measure(struct bench *bench, bool as_json)
{
	static char piece[PIECE], other[PIECE];

	bench->first_us = bench->text_us = bench->copy_us = UINT64_MAX;
	for (unsigned i = 0; i < ROUNDS; i++) {
		write_text(bench, piece);
		copy_text(bench, other, piece);
	}
	count_text(bench, piece);
	printf(as_json ? "\"metrics\":{\"ports\":%u,\"seed\":%" PRIu64
			 ",\"first_us\":%" PRIu64
			 ",\"text_ms\":%.1f,\"octets\":%zu,\"lines\":%zu,"
			 "\"ns_per_line\":%.1f,\"memory\":%zu,\"copy_ratio\":%.2f,"
		       : "Prometheus, %u ports (seed %" PRIu64
			 "): first piece after %" PRIu64
			 " us, all after %.1f ms, %zu octets in %zu lines, %.1f ns a "
			 "line, %zu octets of memory, %.2f times a copy\n",
		bench->view->fabric->n_ports, bench->seed, bench->first_us,
		(double)bench->text_us / 1000, bench->octets, bench->lines,
		ratio(bench->text_us * 1000, bench->lines), bench->memory,
		ratio(bench->text_us, bench->copy_us));
}

/* --- by HTTP, through the loopback --- */

static struct triad_view *give_view(void *context)
{
	return triad_view_ref(context);
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("no connection to the HTTP server");
	return fd;
}

/* Reads one answer; lowers the microseconds to its first octet and to its end. */
static void ask(uint16_t port, uint64_t *first_us, uint64_t *whole_us)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
	static char piece[1 << 18];
	uint64_t begun_us = triad_clock_now_us();
	int fd = connect_to(port);

	if (write(fd, request, sizeof(request) - 1) != sizeof(request) - 1 ||
		read(fd, piece, 1) != 1)
		die("no answer of the HTTP server");
	*first_us = least(*first_us, triad_clock_now_us() - begun_us);
	while (read(fd, piece, sizeof(piece)) > 0)
		continue;
	*whole_us = least(*whole_us, triad_clock_now_us() - begun_us);
	close(fd);
}

static void measure_http(const struct bench *bench, bool as_json)
{
	const struct triad_metrics_source source = {
		.view = give_view, .context = bench->view};
	const struct triad_http_handler handler = triad_metrics_handler(&source);
	const struct triad_http_callbacks callbacks = {.section = "prometheus",
		.what = "counters are",
		.path = "metrics",
		.handler = &handler};
	const struct triad_http_params params = {
		.listen = {.family = AF_INET, .octets = {127, 0, 0, 1}},
		.max_clients = 4};
	struct triad_http *http = need(triad_http_new(&callbacks, NULL));
	uint64_t first_us = UINT64_MAX, whole_us = UINT64_MAX;
	uint16_t port;

	if (triad_http_configure(http, &params))
		die("the HTTP server does not listen");
	port = triad_http_status(http).listen.port;
	for (unsigned i = 0; i < ROUNDS; i++)
		ask(port, &first_us, &whole_us);
	triad_http_free(http);
	printf(as_json ? "\"http_first_ms\":%.2f,\"http_whole_ms\":%.1f}"
		       : "  by HTTP: first octet after %.2f ms, all after %.1f ms\n",
		(double)first_us / 1000, (double)whole_us / 1000);
}

void bench_metrics(unsigned n_ports, bool as_json)
{
	struct bench bench = {.seed = 20260101};
	bool is_large = n_ports > MOST_OF_SMALL_SWITCHES;
	unsigned n_hosts = is_large ? 8 : 36, n_spare = is_large ? 170 : 0;
	/* Each switch has two neighbours. */
	unsigned per_switch = n_hosts + 2 + n_spare + n_hosts;
	struct triad_fabric *fabric =
		fabric_mixed(1 + n_ports / per_switch, n_hosts, n_spare, bench.seed);
	struct triad_engine *engine = need(triad_engine_new());

	bench.view = view_mixed(engine, fabric, bench.seed);
	measure(&bench, as_json);
	measure_http(&bench, as_json);
	triad_view_unref(bench.view);
	triad_engine_free(engine);
	triad_fabric_unref(fabric);
}
