/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Forges fragments of datagrams between SMs that elect over the fabric.
 *
 *     fragment_say LID GUID part|size|whole
 *
 * Sends them to the port with that LID, as if from the port with that GUID. part: the
 * first fragments of datagrams, without the rest; size: fragments with an impossible
 * size; whole: complete datagrams that are not sealed.  Sends some 2,000 a second until
 * its input ends, then prints their number. */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "portmgr/cluster/fragments.h"

enum { BURST = 10, BETWEEN_MS = 5 };
enum { AT_SIZE = 46, SMALL = 100 };

static int port, agent;

static void die(const char *what)
{
	fprintf(stderr, "fragment_say: %s\n", what);
	exit(1);
}

static void open_port(void)
{
	uint8_t oui[3];

	memcpy(oui, triad_fragment_oui, sizeof(oui));
	if (umad_init() < 0)
		die("there is no port to send from");
	port = umad_open_port(NULL, 0);
	agent = port < 0 ? -1
			 : umad_register_oui(port, TRIAD_FRAGMENT_CLASS, 0, oui, NULL);
	if (agent < 0)
		die("the port can't be opened");
}

static void make(uint8_t *mad, uint64_t guid, uint32_t number, const char *what)
{
	static const uint8_t datagram[TRIAD_SEAL_MAX_SIZE] = "TrCl";
	size_t size = strcmp(what, "whole") == 0 ? SMALL : sizeof(datagram);

	triad_fragment_make(mad, guid, number, datagram, size, 0);
	if (strcmp(what, "size") == 0)
		mad[AT_SIZE] = 0xff;
}

static bool is_to_end(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, BETWEEN_MS) > 0;
}

int main(int argc, char **argv)
{
	uint32_t n = 0;
	void *umad;

	if (argc != 4)
		die("usage: fragment_say LID GUID part|size|whole");
	open_port();
	umad = umad_alloc(1, umad_size() + TRIAD_MAD_SIZE);
	if (!umad)
		die("out of memory");
	while (!is_to_end())
		for (unsigned i = 0; i < BURST; i++) {
			memset(umad, 0, umad_size() + TRIAD_MAD_SIZE);
			make(umad_get_mad(umad), strtoull(argv[2], NULL, 0), n++,
				argv[3]);
			umad_set_addr(
				umad, atoi(argv[1]), 1, 0, (int)TRIAD_MAD_GSI_QKEY);
			if (umad_send(port, agent, umad, TRIAD_MAD_SIZE, 0, 0))
				die("a MAD can't be sent");
		}
	printf("%u\n", n);
	umad_free(umad);
	umad_unregister(port, agent);
	umad_close_port(port);
	return 0;
}
