/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests attributes of nodes by SMPs, by LID, all in one process.
 *
 *     smp_ask <QUESTIONS
 *
 * A question is a line "LID ATTRIBUTE MODIFIER".  The answer to it is a line with the
 * 64 octets of data [IBA 14.2.1.2], in hexadecimal.  With such data as a fourth word they
 * are set.  Fails when a request has no answer.  A line "trap LID DATA" sends such a notice to
 * the SM at this LID, waits for no answer and gives none. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/umad.h>

#include "triad/wire.h"

#define MAD_SIZE 256
#define DATA 64
#define DATA_SIZE 64
#define TIMEOUT_MS 1000
#define RETRIES 5

static int port, agent;

static void die(const char *what)
{
	fprintf(stderr, "smp_ask: %s\n", what);
	exit(1);
}

static void open_port(void)
{
	if (umad_init() < 0)
		die("there is no port to ask from");
	port = umad_open_port(NULL, 0);
	agent = port < 0 ? -1 : umad_register(port, 1, 1, 0, NULL);
	if (agent < 0)
		die("the port can't be opened");
}

/* Sends a Get(), or with 'digits' a Set(); the response overwrites the request. */
static void ask(void *umad, uint32_t number, unsigned lid, unsigned attribute,
	unsigned modifier, const char *digits)
{
	uint8_t *mad = umad_get_mad(umad);
	int length = MAD_SIZE;
	struct triad_wire w;

	memset(umad, 0, umad_size() + MAD_SIZE);
	triad_wire_init(&w, mad, MAD_SIZE);
	triad_wire_put(&w, 4, *digits ? 0x01010102 : 0x01010101);
	triad_wire_seek(&w, 8);
	triad_wire_put(&w, 8, number);
	triad_wire_put(&w, 2, attribute);
	triad_wire_seek(&w, 20);
	triad_wire_put(&w, 4, modifier);
	for (size_t i = 0; digits[2 * i] && digits[2 * i + 1]; i++)
		sscanf(digits + 2 * i, "%2hhx", mad + DATA + i);
	umad_set_addr(umad, (int)lid, 0, 0, 0);
	if (umad_send(port, agent, umad, MAD_SIZE, TIMEOUT_MS, RETRIES))
		die("a MAD can't be sent");
	if (umad_recv(port, umad, &length, -1) < 0 || umad_status(umad))
		die("no answer");
	if (mad[4] || mad[5])
		die("refused");
}

/* A Trap(Notice); in the response to it the master may say nothing. */
static void send_trap(void *umad, uint32_t number, unsigned lid, const char *digits)
{
	uint8_t *mad = umad_get_mad(umad);
	struct triad_wire w;

	memset(umad, 0, umad_size() + MAD_SIZE);
	triad_wire_init(&w, mad, MAD_SIZE);
	triad_wire_put(&w, 4, 0x01010105);
	triad_wire_seek(&w, 8);
	triad_wire_put(&w, 8, number);
	triad_wire_put(&w, 2, 0x0002);
	for (size_t i = 0; digits[2 * i] && digits[2 * i + 1]; i++)
		sscanf(digits + 2 * i, "%2hhx", mad + DATA + i);
	umad_set_addr(umad, (int)lid, 0, 0, 0);
	if (umad_send(port, agent, umad, MAD_SIZE, 0, 0))
		die("a trap can't be sent");
}

int main(void)
{
	char line[256], digits[2 * DATA_SIZE + 1];
	unsigned lid, attribute, modifier;
	uint32_t number = 0;
	void *umad;

	open_port();
	/* umad_size() is correct only after the port was opened. */
	umad = umad_alloc(1, umad_size() + MAD_SIZE);
	if (!umad)
		die("out of memory");
	while (fgets(line, sizeof(line), stdin)) {
		const uint8_t *data = (const uint8_t *)umad_get_mad(umad) + DATA;

		digits[0] = '\0';
		if (sscanf(line, "trap %u %128s", &lid, digits) == 2) {
			send_trap(umad, ++number, lid, digits);
			continue;
		}
		if (sscanf(line, "%u %i %i %128s", &lid, (int *)&attribute,
			    (int *)&modifier, digits) < 3)
			break;
		ask(umad, ++number, lid, attribute, modifier, digits);
		for (unsigned i = 0; i < DATA_SIZE; i++)
			printf("%02x", data[i]);
		putchar('\n');
	}
	umad_free(umad);
	umad_unregister(port, agent);
	umad_close_port(port);
	return 0;
}
