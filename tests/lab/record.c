/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Records the MADs that a program sends, and changes some MADs.  Preloaded into opensm,
 * it writes a line for each MAD given to umad_send() to the file that TRIAD_RECORD
 * names:
 *
 *     CLASS METHOD ATTRIBUTE LID SL P_KEY_INDEX MODIFIER M_KEY PATH DATA TIME NODE THREAD
 *
 * All fields but the last three are hexadecimal.  M_KEY and DATA (64 octets) are taken
 * from their offsets in an SMP.  PATH is the directed route: port numbers, each
 * followed by ','; "-" for none.  TIME is CLOCK_BOOTTIME in us.  NODE is the node of
 * the program, THREAD the name of its thread.  The simulator ignores SL, P_Key and M_Key;
 * tests check them by these lines.
 *
 * TRIAD_RECORD_OPTIMIZED: switches report in SwitchInfo that they support optimised
 * SL2VL mapping.  The simulator's switches accept such SMPs (and store only one of the
 * many tables), but don't report the support.
 *
 * TRIAD_RECORD_M_KEY, a number: ports report this M_Key in PortInfo.  The simulator's
 * ports don't store theirs.
 *
 * TRIAD_RECORD_MFT_TOP, a number: switches report that they have a MulticastFDBTop, and that it
 * is this one.  The simulator's have none.  With "taken" behind it they keep what is set by the same
 * directed route.
 *
 * TRIAD_RECORD_SIGNAL, "NUMBER FILE": the first program that sends a Set(PortInfo) with
 * PortPhysicalState Disabled removes FILE and then sends itself signal NUMBER, right
 * after the MAD.
 *
 * TRIAD_RECORD_WAIT_MS, a number: such a Set is sent so much later than its line is
 * written, so that who reads the line can take the link's far end down first.
 *
 * TRIAD_RECORD_SWITCH, a file with a word and a port number: while it exists, switches
 * don't change PortPhysicalState of their port with that number.  "refuse": they answer
 * with an error status; "ignore": they answer with success but change nothing; "lose":
 * they don't answer.
 *
 * TRIAD_RECORD_LFT, a file: while it exists, switches answer a Set of a forwarding table with an
 * error status and change nothing; of several that are sent at once, the last one's.
 *
 * TRIAD_RECORD_MFT, a file with a multicast LID, a port number and PATHs: while it exists, a
 * Set of a multicast forwarding table by one of these routes has that port the other way in the
 * LID's row.  So a switch takes it otherwise than opensm wants, and says so.
 *
 * TRIAD_RECORD_HOLD, a file: when it exists, the thread of a command that is about to send a
 * Set renames it to FILE.held, and sends once that is gone.
 *
 * ibsim delivers requests only to programs that are SMs.  So a server that this is
 * preloaded into sets IsSM with TRIAD_RECORD_SERVER.  With TRIAD_RECORD_NO_SM, opensm
 * receives each PortInfo without IsSM. */
#include <dlfcn.h>
#include <endian.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* In a MAD [IBA 13.4.3, 14.2.1]. */
enum {
	AT_METHOD = 3,
	AT_STATUS = 4,
	AT_HOPS = 7,
	AT_TID = 12, /* the lower half, which the program chooses */
	AT_ATTRIBUTE = 16,
	AT_MODIFIER = 20,
	AT_M_KEY = 24,
	AT_DATA = 64,
	AT_PATH = 128
};
enum { DATA_SIZE = 64, PATH_SIZE = 64, MAD_SIZE = 256 };
enum { CLASS_SMP_LID = 0x01, CLASS_SMP_DIRECTED = 0x81 };
enum {
	GET = 0x01,
	SET = 0x02,
	GET_RESP = 0x81,
	ATTRIBUTE_SWITCH_INFO = 0x12,
	ATTRIBUTE_PORT_INFO = 0x15,
	ATTRIBUTE_LFT = 0x19,
	ATTRIBUTE_MFT = 0x1b
};
/* In SwitchInfo [IBA 14.2.5.4]. */
enum { AT_LIFE_TIME = 11, TAKES_OPTIMIZED = 1, AT_MFT_TOP = 18 };
/* In PortInfo [IBA 14.2.5.6]. */
enum { AT_CAPABILITIES = 16 + 4, HAS_MFT_TOP = 0x40, HAS_SM = 0x02 };
enum { AT_PHYS_STATE = 33, PHYS_DISABLED = 3 };
enum { STATUS_INVALID_VALUE = 0x1c }; /* [IBA 13.4.7] */

EXPORT int umad_send(
	int fd, int agent, void *umad, int length, int timeout_ms, int retries);
EXPORT int umad_recv(int fd, void *umad, int *length, int timeout_ms);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int (*real_send)(int, int, void *, int, int, int);
static int (*real_recv)(int, void *, int *, int);
static FILE *record;
static unsigned wait_ms;
static bool optimized, no_sm;
static const char *m_key, *mft_top, *node, *signal_request, *switch_file, *lft_file,
	*mft_file, *hold_file;
static atomic_uint refused_tid;
/* By directed routes: a hash of the route, the MulticastFDBTop that was set. */
static _Atomic uint64_t tops[4096];

static void become_sm(void)
{
	char path[256];

	if (umad_get_issm_path(NULL, 0, path, sizeof(path)) ||
		open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC) < 0)
		perror("record: issm");
}

static void open_record(void)
{
	const char *path = getenv("TRIAD_RECORD");

	real_send =
		(int (*)(int, int, void *, int, int, int))dlsym(RTLD_NEXT, "umad_send");
	real_recv = (int (*)(int, void *, int *, int))dlsym(RTLD_NEXT, "umad_recv");
	optimized = getenv("TRIAD_RECORD_OPTIMIZED") != NULL;
	m_key = getenv("TRIAD_RECORD_M_KEY");
	mft_top = getenv("TRIAD_RECORD_MFT_TOP");
	node = getenv("SIM_HOST");
	signal_request = getenv("TRIAD_RECORD_SIGNAL");
	switch_file = getenv("TRIAD_RECORD_SWITCH");
	lft_file = getenv("TRIAD_RECORD_LFT");
	mft_file = getenv("TRIAD_RECORD_MFT");
	hold_file = getenv("TRIAD_RECORD_HOLD");
	if (getenv("TRIAD_RECORD_WAIT_MS"))
		wait_ms = (unsigned)atoi(getenv("TRIAD_RECORD_WAIT_MS"));
	no_sm = getenv("TRIAD_RECORD_NO_SM") != NULL;
	if (getenv("TRIAD_RECORD_SERVER"))
		become_sm();
	if (path)
		record = fopen(path, "a");
	if (record)
		setvbuf(record, NULL, _IOLBF, 0);
}

static uint64_t get(const unsigned char *at, unsigned n)
{
	uint64_t value = 0;

	while (n--)
		value = value << 8 | *at++;
	return value;
}

static void format_path(const unsigned char *mad, char *text, size_t size)
{
	size_t n = 0;

	strcpy(text, "-");
	for (unsigned hop = 1; hop <= mad[AT_HOPS] && hop < PATH_SIZE; hop++)
		n += (size_t)snprintf(text + n, size - n, "%x,", mad[AT_PATH + hop]);
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void write_line(
	const ib_mad_addr_t *to, const unsigned char mad[MAD_SIZE], int length)
{
	char path[4 * PATH_SIZE] = "-", data[2 * DATA_SIZE + 1] = "-";
	char thread[16] = "";

	prctl(PR_GET_NAME, thread);
	if (length >= MAD_SIZE && mad[1] == CLASS_SMP_DIRECTED)
		format_path(mad, path, sizeof(path));
	for (unsigned i = 0; length >= MAD_SIZE && i < DATA_SIZE; i++)
		snprintf(data + 2 * i, 3, "%02x", mad[AT_DATA + i]);
	fprintf(record, "%x %x %x %x %x %x %x %" PRIx64 " %s %s %" PRIu64 " %s %s\n",
		mad[1], mad[3], (unsigned)get(mad + AT_ATTRIBUTE, 2), be16toh(to->lid),
		to->sl, to->pkey_index, (unsigned)get(mad + AT_MODIFIER, 4),
		get(mad + AT_M_KEY, 8), path, data, now_us(), node ? node : "-",
		thread[0] ? thread : "-");
}

/* The PortPhysicalState that a Set(PortInfo) requests; 0: no change. */
static unsigned phys_state_wanted(const unsigned char *mad, int length)
{
	if (length < MAD_SIZE || mad[1] != CLASS_SMP_DIRECTED ||
		mad[AT_METHOD] != SET ||
		get(mad + AT_ATTRIBUTE, 2) != ATTRIBUTE_PORT_INFO)
		return 0;
	return mad[AT_DATA + AT_PHYS_STATE] >> 4;
}

/* The first letter of the switch's fault for this MAD, or 0. */
static char disobedience(const unsigned char *mad, int length)
{
	unsigned number = 0;
	char word[16] = "";
	FILE *file;

	if (!switch_file || !phys_state_wanted(mad, length))
		return 0;
	file = fopen(switch_file, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%15s %u", word, &number) != 2 ||
		number != get(mad + AT_MODIFIER, 4))
		word[0] = '\0';
	fclose(file);
	return word[0];
}

/* Makes the Set a Get: the answer is the same, but nothing changes. */
static void disarm(unsigned char *mad, bool is_refused)
{
	mad[AT_METHOD] = GET;
	if (is_refused)
		atomic_store(&refused_tid, (unsigned)get(mad + AT_TID, 4));
}

static bool is_set_of(unsigned attribute, const unsigned char *mad, int length)
{
	return length >= MAD_SIZE && mad[1] == CLASS_SMP_DIRECTED &&
		mad[AT_METHOD] == SET && get(mad + AT_ATTRIBUTE, 2) == attribute;
}

/* In a row the ports from the highest down [IBA 14.2.5.12]. */
static void flip_row(unsigned char *mad, unsigned mlid, unsigned port)
{
	unsigned block = (mlid - 0xc000) / 32, position = port / 16;

	if (get(mad + AT_MODIFIER, 4) == (block | position << 28))
		mad[AT_DATA + mlid % 32 * 2 + (port % 16 < 8)] ^=
			(unsigned char)(1 << port % 8);
}

static void disturb_mft(unsigned char *mad)
{
	char path[4 * PATH_SIZE], wanted[4 * PATH_SIZE];
	unsigned mlid, port;
	bool is_wanted = false;
	FILE *file = fopen(mft_file, "r");

	if (!file)
		return;
	format_path(mad, path, sizeof(path));
	if (fscanf(file, "%u %u", &mlid, &port) == 2)
		while (!is_wanted && fscanf(file, "%255s", wanted) == 1)
			is_wanted = strcmp(path, wanted) == 0;
	if (is_wanted)
		flip_row(mad, mlid, port);
	fclose(file);
}

/* Not opensm's own. */
static bool is_set_of_command(const unsigned char *mad, int length)
{
	char thread[16] = "";

	prctl(PR_GET_NAME, thread);
	return length >= MAD_SIZE && mad[1] == CLASS_SMP_DIRECTED &&
		mad[AT_METHOD] == SET && strcmp(thread, "triad-client") == 0;
}

static void hold_once(void)
{
	char held[256];

	snprintf(held, sizeof(held), "%s.held", hold_file);
	if (rename(hold_file, held) == 0)
		while (access(held, F_OK) == 0)
			usleep(1000);
}

static void signal_once(void)
{
	char *file;
	int number = (int)strtol(signal_request, &file, 10);

	while (*file == ' ')
		file++;
	if (!unlink(file))
		kill(getpid(), number);
}

static uint32_t hash_path(const unsigned char *mad)
{
	uint32_t hash = 2166136261u;

	for (unsigned hop = 1; hop <= mad[AT_HOPS] && hop < PATH_SIZE; hop++)
		hash = (hash ^ mad[AT_PATH + hop]) * 16777619u;
	return hash;
}

static _Atomic uint64_t *place_of(uint32_t hash)
{
	return &tops[hash % (sizeof(tops) / sizeof(tops[0]))];
}

static void keep_top(const unsigned char *mad, int length)
{
	uint64_t hash;

	if (!is_set_of(ATTRIBUTE_SWITCH_INFO, mad, length))
		return;
	hash = hash_path(mad);
	atomic_store(place_of((uint32_t)hash),
		hash << 16 | get(mad + AT_DATA + AT_MFT_TOP, 2));
}

int umad_send(int fd, int agent, void *umad, int length, int timeout_ms, int retries)
{
	unsigned char *mad = umad_get_mad(umad);
	bool disables = phys_state_wanted(mad, length) == PHYS_DISABLED;
	char instead;
	int result;

	pthread_once(&once, open_record);
	if (record)
		write_line(umad_get_mad_addr(umad), mad, length);
	if (mft_file && is_set_of(ATTRIBUTE_MFT, mad, length))
		disturb_mft(mad);
	keep_top(mad, length);
	if (hold_file && is_set_of_command(mad, length))
		hold_once();
	if (wait_ms && disables)
		usleep(wait_ms * 1000);
	instead = disobedience(mad, length);
	if (instead == 'l')
		return 0;
	if (instead)
		disarm(mad, instead == 'r');
	if (lft_file && is_set_of(ATTRIBUTE_LFT, mad, length) &&
		!access(lft_file, F_OK))
		disarm(mad, true);
	result = real_send(fd, agent, umad, length, timeout_ms, retries);
	if (signal_request && disables)
		signal_once();
	return result;
}

/* The attribute of a response to an SMP; 0: not such a response. */
static unsigned answered(const unsigned char *mad)
{
	if ((mad[1] != CLASS_SMP_LID && mad[1] != CLASS_SMP_DIRECTED) ||
		mad[3] != GET_RESP)
		return 0;
	return (unsigned)get(mad + AT_ATTRIBUTE, 2);
}

/* In network order. */
static uint16_t top_of(const unsigned char *mad)
{
	uint32_t hash = hash_path(mad);
	uint64_t set = atomic_load(place_of(hash));

	if (strstr(mft_top, "taken") && set >> 16 == hash)
		return htobe16((uint16_t)set);
	return htobe16((uint16_t)strtoul(mft_top, NULL, 0));
}

static void change(unsigned char *mad)
{
	uint64_t key = m_key ? htobe64(strtoull(m_key, NULL, 0)) : 0;
	uint16_t top = mft_top ? top_of(mad) : 0;

	if (optimized && answered(mad) == ATTRIBUTE_SWITCH_INFO)
		mad[AT_DATA + AT_LIFE_TIME] |= TAKES_OPTIMIZED;
	if (mft_top && answered(mad) == ATTRIBUTE_PORT_INFO)
		mad[AT_DATA + AT_CAPABILITIES] |= HAS_MFT_TOP;
	if (mft_top && answered(mad) == ATTRIBUTE_SWITCH_INFO)
		memcpy(mad + AT_DATA + AT_MFT_TOP, &top, sizeof(top));
	if (m_key && answered(mad) == ATTRIBUTE_PORT_INFO)
		memcpy(mad + AT_DATA, &key, sizeof(key));
	if (no_sm && answered(mad) == ATTRIBUTE_PORT_INFO)
		mad[AT_DATA + AT_CAPABILITIES + 3] &= (unsigned char)~HAS_SM;
	if ((switch_file || lft_file) &&
		(answered(mad) == ATTRIBUTE_PORT_INFO ||
			answered(mad) == ATTRIBUTE_LFT) &&
		get(mad + AT_TID, 4) == atomic_load(&refused_tid))
		mad[AT_STATUS + 1] = STATUS_INVALID_VALUE;
}

int umad_recv(int fd, void *umad, int *length, int timeout_ms)
{
	int agent;

	pthread_once(&once, open_record);
	agent = real_recv(fd, umad, length, timeout_ms);
	if (agent >= 0 && *length >= MAD_SIZE)
		change(umad_get_mad(umad));
	return agent;
}
