/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sends Reports of ports that came into service, as the SA does and as any program can.
 *
 *     report_say LID COUNT EVERY_MS
 *
 * Sends COUNT of them to the GSI of the port with that LID, one each EVERY_MS [IBA
 * 13.4.9]. Ends when the last one is acknowledged, or after ACKNOWLEDGED_MS: when a
 * client disconnects, ibsim drops the client's MADs that it has not read yet. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/umad.h>

#include "triad/mad.h"
#include "triad/wire.h"

enum { CLASS_SA = 0x03, CLASS_VERSION = 2, METHOD_REPORT = 0x06 };
enum { ATTRIBUTE_NOTICE = 0x02, TRAP_IN_SERVICE = 64 };
enum { AT_TID = 8, AT_ATTRIBUTE = 16, DATA = 56, AT_TRAP = DATA + 4 };
enum { ACKNOWLEDGED_MS = 2000 };
enum { IS_GENERIC = 0x80, TYPE_INFO = 0x04, PRODUCER_CLASS_MANAGER = 4 };

static int port, agent;

static void die(const char *what)
{
	fprintf(stderr, "report_say: %s\n", what);
	exit(1);
}

static void open_port(void)
{
	if (umad_init() < 0)
		die("there is no port to send from");
	port = umad_open_port(NULL, 0);
	agent = port < 0 ? -1 : umad_register(port, CLASS_SA, CLASS_VERSION, 1, NULL);
	if (agent < 0)
		die("the port can't be opened");
}

static void put(uint8_t *mad, size_t at, size_t n, uint64_t value)
{
	struct triad_wire w;

	triad_wire_init(&w, mad + at, n);
	triad_wire_put(&w, n, value);
}

/* 'wait_ms': how long the kernel waits for an acknowledgement; 0: it does not wait. */
static void send_report(void *umad, int lid, uint32_t number, int wait_ms)
{
	uint8_t *mad = umad_get_mad(umad);

	memset(umad, 0, umad_size() + TRIAD_MAD_SIZE);
	put(mad, 0, 4, 1 << 24 | CLASS_SA << 16 | CLASS_VERSION << 8 | METHOD_REPORT);
	put(mad, AT_TID, 8, number);
	put(mad, AT_ATTRIBUTE, 2, ATTRIBUTE_NOTICE);
	put(mad, DATA, 4,
		(uint64_t)(IS_GENERIC | TYPE_INFO) << 24 | PRODUCER_CLASS_MANAGER);
	put(mad, AT_TRAP, 2, TRAP_IN_SERVICE);
	umad_set_addr(umad, lid, 1, 0, (int)TRIAD_MAD_GSI_QKEY);
	if (umad_send(port, agent, umad, TRIAD_MAD_SIZE, wait_ms, 0))
		die("a MAD can't be sent");
}

/* Waits for the last acknowledgement.  Without one, the kernel returns the MAD when its
 * time is over. */
static void await_last(void *umad)
{
	int size = TRIAD_MAD_SIZE;

	if (umad_recv(port, umad, &size, 2 * ACKNOWLEDGED_MS) < 0)
		die("the last report neither was acknowledged nor came back");
}

int main(int argc, char **argv)
{
	void *umad;
	unsigned long count, every_ms;

	if (argc != 4)
		die("usage: report_say LID COUNT EVERY_MS");
	count = strtoul(argv[2], NULL, 0);
	every_ms = strtoul(argv[3], NULL, 0);
	open_port();
	umad = umad_alloc(1, umad_size() + TRIAD_MAD_SIZE);
	if (!umad)
		die("out of memory");
	for (uint32_t i = 1; i <= count; i++) {
		send_report(umad, atoi(argv[1]), i, i < count ? 0 : ACKNOWLEDGED_MS);
		usleep((useconds_t)(every_ms * 1000));
	}
	if (count)
		await_last(umad);
	umad_free(umad);
	umad_unregister(port, agent);
	umad_close_port(port);
	return 0;
}
