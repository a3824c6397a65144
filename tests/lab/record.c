/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Records what goes out: preloaded into opensm, it writes a line for each MAD that is
 * given to umad_send(), into the file that TRIAD_RECORD names:
 *
 *     CLASS METHOD ATTRIBUTE LID SL P_KEY_INDEX        (all in hexadecimal)
 *
 * The simulator does not look at SL and P_Key; this does. */
#include <dlfcn.h>
#include <endian.h>
#include <infiniband/umad.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((visibility("default"))) int umad_send(
	int fd, int agent, void *umad, int length, int timeout_ms, int retries);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int (*real_send)(int, int, void *, int, int, int);
static FILE *record;

static void open_record(void)
{
	const char *path = getenv("TRIAD_RECORD");

	real_send =
		(int (*)(int, int, void *, int, int, int))dlsym(RTLD_NEXT, "umad_send");
	if (path)
		record = fopen(path, "a");
	if (record)
		setvbuf(record, NULL, _IOLBF, 0);
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	const ib_mad_addr_t *to = umad_get_mad_addr(umad);
	const unsigned char *mad = umad_get_mad(umad);

	pthread_once(&once, open_record);
	if (record)
		fprintf(record, "%x %x %x %x %x %x\n", mad[1], mad[3],
			mad[16] << 8 | mad[17], be16toh(to->lid), to->sl,
			to->pkey_index);
	return real_send(fd, agent, umad, length, timeout_ms, retries);
}
