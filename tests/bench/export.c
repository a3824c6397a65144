/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The exports of a large fabric's counters, on one core.
 *
 *     export [--ports N] [--json] [PART...]
 *
 * Runs the parts named, by default all; --ports replaces each part's number of ports:
 *
 * sflow, 1,000,000  the sFlow agent, rounds over all ports as fast as they go
 *     samples_per_s           into datagrams, which are dropped
 *     octets_per_sample       of them, with their headers
 *     copy_ratio              that time over the time of memcpy of as many octets
 *     loopback_samples_per_s  sent to a socket of this host that no program reads
 *     octets_per_port         size of the agent
 *
 * metrics, 70,000  the text for Prometheus
 *     first_us       from the creation of a generator to its first 32 KiB
 *     text_ms        to the end of the text, in pieces of 32 KiB
 *     octets, lines  of the text
 *     ns_per_line    of text_ms
 *     memory         octets that the generator allocated
 *     copy_ratio     that time over the time of memcpy of as many octets
 *
 * Best of five rounds each, in turn.  Nothing here is asserted: machines differ. */
#include "tests/bench/export.h"

#include "perfmgr/engine.h"
#include "tests/bench/bench.h"

static const struct {
	const char *name;
	void (*run)(unsigned n_ports, bool as_json);
	unsigned n_ports;
} parts[] = {
	{"sflow", bench_sflow, 1000000},
	{"metrics", bench_metrics, 70000},
};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

static unsigned find_part(const char *name)
{
	for (unsigned i = 0; i < N_PARTS; i++)
		if (strcmp(name, parts[i].name) == 0)
			return i;
	die("usage: export [--ports N] [--json] [PART...]; parts: sflow, metrics");
	return 0;
}

int main(int argc, char **argv)
{
	unsigned chosen = 0, n_ports = 0;
	const char *separator = "{";
	bool as_json = false;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			as_json = true;
		else if (strcmp(argv[i], "--ports") == 0 && i + 1 < argc)
			n_ports = (unsigned)strtoul(argv[++i], NULL, 10);
		else
			chosen |= 1u << find_part(argv[i]);
	}
	if (n_ports > 1000000)
		die("--ports must be from 1 to 1000000");
	for (size_t i = 0; i < N_PARTS; i++) {
		if (chosen && !(chosen & 1u << i))
			continue;
		if (as_json)
			fputs(separator, stdout);
		separator = ",";
		parts[i].run(n_ports ? n_ports : parts[i].n_ports, as_json);
	}
	if (as_json)
		puts("}");
	return 0;
}
