/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "tests/lab/umad_sysfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/lab/umad_planes.h"

#define CLASS_FOLDER "/sys/class/infiniband"
#define HCA "ibsim0"
#define SMI "ibsim_smi" /* the device of planes */
#define MAD "/class/infiniband_mad"

#define MAX_ENTRIES 1536u
#define MAX_TEXT_SIZE 512

/* ibsim reports this many P_Keys; the rest of the table is shown as 0. */
#define N_PKEYS_REPORTED 32u
#define MAX_PKEYS 128u

struct entry {
	char path[96]; /* relative to the folder */
	bool is_folder;
	char text[64]; /* the beginning of the file's text */
};

struct lab_sysfs {
	struct lab_port *port;
	pthread_mutex_t lock;
	char root[256];
	unsigned n_planes;
	unsigned plane; /* whose files are written; 0: the whole port's */
	struct entry entries[MAX_ENTRIES]; /* each folder before its contents */
	size_t n_entries;
	uint8_t node_info[LAB_WIRE_ANSWER_SIZE];
	uint8_t port_info[LAB_WIRE_ANSWER_SIZE];
	uint16_t pkeys[N_PKEYS_REPORTED];
};

/* --- fields --- */

static unsigned octet(const uint8_t *info, size_t at)
{
	return info[at];
}

static unsigned field16(const uint8_t *info, size_t at)
{
	return (unsigned)(info[at] << 8 | info[at + 1]);
}

static uint64_t field64(const uint8_t *info, size_t at)
{
	return (uint64_t)lab_mad_get32(info + at) << 32 | lab_mad_get32(info + at + 4);
}

/* Offsets in NodeInfo and PortInfo [IBA 14.2.5.3, 14.2.5.6]. */
enum {
	NODE_TYPE = 2,
	SYSTEM_GUID = 4,
	NODE_GUID = 12,
	PARTITION_CAP = 28,
	REVISION = 32
};
enum {
	GID_PREFIX = 8,
	LID = 16,
	SM_LID = 18,
	CAPABILITY_MASK = 20,
	LOCAL_PORT = 28,
	WIDTH_ACTIVE = 31,
	STATE = 32,
	PHYSICAL_STATE = 33,
	LMC = 34,
	SPEED_ACTIVE = 35,
	SM_SL = 36,
	SPEED_EXT_ACTIVE = 62
};

/* Of the capability mask [IBA 14.2.5.6]. */
#define IS_SM 0x2u
#define SM_DISABLED 0x400u

/* --- files --- */

static struct entry *find_entry(
	struct lab_sysfs *sysfs, const char *path, bool is_folder)
{
	struct entry *entry;

	for (size_t i = 0; i < sysfs->n_entries; i++)
		if (strcmp(sysfs->entries[i].path, path) == 0)
			return &sysfs->entries[i];
	if (sysfs->n_entries == MAX_ENTRIES)
		return NULL;
	entry = &sysfs->entries[sysfs->n_entries++];
	snprintf(entry->path, sizeof(entry->path), "%s", path);
	entry->is_folder = is_folder;
	return entry;
}

static void full_path(const struct lab_sysfs *sysfs, const char *path,
	char buffer[LAB_SYSFS_PATH_SIZE])
{
	snprintf(buffer, LAB_SYSFS_PATH_SIZE, "%s%s", sysfs->root, path);
}

static void put_folder(struct lab_sysfs *sysfs, const char *path)
{
	char full[LAB_SYSFS_PATH_SIZE];

	full_path(sysfs, path, full);
	if (find_entry(sysfs, path, true))
		(void)mkdir(full, 0755);
}

/* Replaces the file as a whole: a reader sees the old text or the new one. */
static void write_file(const char *path, const char *text)
{
	char new[LAB_SYSFS_PATH_SIZE + 8];
	FILE *file;

	snprintf(new, sizeof(new), "%s.new", path);
	file = fopen(new, "we");
	if (!file)
		return;
	fputs(text, file);
	if (fclose(file) == 0)
		(void)rename(new, path);
}

__attribute__((format(printf, 3, 4))) static void put(
	struct lab_sysfs *sysfs, const char *path, const char *format, ...)
{
	char text[MAX_TEXT_SIZE], full[LAB_SYSFS_PATH_SIZE];
	struct entry *entry = find_entry(sysfs, path, false);
	va_list arguments;

	if (!entry)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (strncmp(text, entry->text, sizeof(entry->text) - 1) == 0 &&
		strlen(text) < sizeof(entry->text))
		return;
	snprintf(entry->text, sizeof(entry->text), "%.*s", (int)sizeof(entry->text) - 1,
		text);
	full_path(sysfs, path, full);
	write_file(full, text);
}

static void put_guid(struct lab_sysfs *sysfs, const char *path, uint64_t guid)
{
	put(sysfs, path, "%04x:%04x:%04x:%04x\n", (unsigned)(guid >> 48),
		(unsigned)(guid >> 32 & 0xffff), (unsigned)(guid >> 16 & 0xffff),
		(unsigned)(guid & 0xffff));
}

static const char *device_name(const struct lab_sysfs *sysfs)
{
	return sysfs->plane ? SMI : HCA;
}

static unsigned port_number(const struct lab_sysfs *sysfs)
{
	return sysfs->plane ? sysfs->plane : octet(sysfs->port_info, LOCAL_PORT);
}

/* A path in the device's folder. */
static const char *device_path(const struct lab_sysfs *sysfs, const char *name)
{
	static _Thread_local char path[96];

	snprintf(
		path, sizeof(path), "/class/infiniband/%s%s", device_name(sysfs), name);
	return path;
}

/* A path in the folder of the process's port, or of a plane's. */
static const char *port_path(const struct lab_sysfs *sysfs, const char *name)
{
	static _Thread_local char path[96];

	snprintf(path, sizeof(path), "/class/infiniband/%s/ports/%u%s",
		device_name(sysfs), port_number(sysfs), name);
	return path;
}

/* Calls 'put_one' for the port and for each plane. */
static void for_each_port(
	struct lab_sysfs *sysfs, void (*put_one)(struct lab_sysfs *sysfs))
{
	for (sysfs->plane = 0; sysfs->plane <= sysfs->n_planes; sysfs->plane++)
		put_one(sysfs);
	sysfs->plane = 0;
}

/* --- contents of the files --- */

static const char *name_of(const char *const *names, unsigned n, unsigned value)
{
	return value < n ? names[value] : "<unknown>";
}

#define NAME(names, value) name_of(names, sizeof(names) / sizeof(*(names)), value)

static void put_rate(struct lab_sysfs *sysfs)
{
	static const unsigned lanes[] = {[1] = 1, [2] = 4, [4] = 8, [8] = 12};
	static const char *const speeds[] = {[1] = "", [2] = " DDR", [4] = " QDR"};
	static const char *const extended[] = {
		[1] = " FDR", [2] = " EDR", [4] = " HDR", [8] = " NDR"};
	static const unsigned lane_rate[] = {[1] = 14, [2] = 25, [4] = 50, [8] = 100};
	unsigned width = octet(sysfs->port_info, WIDTH_ACTIVE) & 0xf;
	unsigned speed = octet(sysfs->port_info, SPEED_ACTIVE) >> 4;
	unsigned ext = octet(sysfs->port_info, SPEED_EXT_ACTIVE) >> 4;
	unsigned n =
		width == 1 || width == 2 || width == 4 || width == 8 ? lanes[width] : 4;
	unsigned tenths;

	if (ext == 1 || ext == 2 || ext == 4 || ext == 8) {
		put(sysfs, port_path(sysfs, "/rate"), "%u Gb/sec (%uX%s)\n",
			lane_rate[ext] * n, n, extended[ext]);
		return;
	}
	if (speed != 2 && speed != 4)
		speed = 1;
	tenths = 25 * speed * n;
	put(sysfs, port_path(sysfs, "/rate"), "%u%s Gb/sec (%uX%s)\n", tenths / 10,
		tenths % 10 ? ".5" : "", n, speeds[speed]);
}

static void put_port(struct lab_sysfs *sysfs)
{
	static const char *const states[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
	static const char *const physical[] = {"<unknown>", "Sleep", "Polling",
		"Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery",
		"Phy Test"};
	const uint8_t *info = sysfs->port_info;
	unsigned state = octet(info, STATE) & 0xf;
	unsigned physical_state = octet(info, PHYSICAL_STATE) >> 4;
	uint32_t capabilities = lab_mad_get32(info + CAPABILITY_MASK);
	uint64_t prefix = field64(info, GID_PREFIX);
	uint64_t guid = field64(sysfs->node_info, NODE_GUID) + octet(info, LOCAL_PORT);

	if (sysfs->n_planes && !sysfs->plane)
		capabilities |= SM_DISABLED;
	if (sysfs->plane && !lab_planes_is_up(sysfs->plane)) {
		state = 1;
		physical_state = 2;
	}
	put(sysfs, port_path(sysfs, "/lid"), "0x%x\n", field16(info, LID));
	put(sysfs, port_path(sysfs, "/sm_lid"), "0x%x\n", field16(info, SM_LID));
	put(sysfs, port_path(sysfs, "/lid_mask_count"), "%u\n", octet(info, LMC) & 7);
	put(sysfs, port_path(sysfs, "/sm_sl"), "%u\n", octet(info, SM_SL) & 0xf);
	put(sysfs, port_path(sysfs, "/state"), "%u: %s\n", state, NAME(states, state));
	put(sysfs, port_path(sysfs, "/phys_state"), "%u: %s\n", physical_state,
		NAME(physical, physical_state));
	put(sysfs, port_path(sysfs, "/cap_mask"), "0x%08x\n", capabilities);
	put(sysfs, port_path(sysfs, "/link_layer"), "InfiniBand\n");
	put(sysfs, port_path(sysfs, "/gids/0"),
		"%04x:%04x:%04x:%04x:%04x:%04x:%04x:%04x\n", (unsigned)(prefix >> 48),
		(unsigned)(prefix >> 32 & 0xffff), (unsigned)(prefix >> 16 & 0xffff),
		(unsigned)(prefix & 0xffff), (unsigned)(guid >> 48),
		(unsigned)(guid >> 32 & 0xffff), (unsigned)(guid >> 16 & 0xffff),
		(unsigned)(guid & 0xffff));
	put_rate(sysfs);
}

/* ibsim clears IsSM when links go down and come up again; a real HCA keeps it as long
 * as issm0 is open. */
static void set_issm_again(struct lab_sysfs *sysfs, const uint8_t *info)
{
	uint32_t data[LAB_WIRE_ANSWER_SIZE / 4] = {1};

	if (sysfs->port->has_issm && !(lab_mad_get32(info + CAPABILITY_MASK) & IS_SM))
		(void)lab_wire_ask(sysfs->port->wire, LAB_ASK_SET_ISSM, data);
}

static void update_port(struct lab_sysfs *sysfs)
{
	uint8_t info[LAB_WIRE_ANSWER_SIZE] = {0};
	int error = lab_wire_ask(sysfs->port->wire, LAB_ASK_PORT_INFO, info);

	if (!error)
		set_issm_again(sysfs, info);
	/* While ibsim doesn't answer, the files keep their last contents. */
	if (error ||
		(!sysfs->n_planes && memcmp(info, sysfs->port_info, sizeof(info)) == 0))
		return;
	memcpy(sysfs->port_info, info, sizeof(info));
	for_each_port(sysfs, put_port);
}

static void put_pkeys(struct lab_sysfs *sysfs)
{
	unsigned n = field16(sysfs->node_info, PARTITION_CAP);
	char name[16];

	if (n == 0 || n > MAX_PKEYS)
		n = n ? MAX_PKEYS : 1;
	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "/pkeys/%u", i);
		put(sysfs, port_path(sysfs, name), "0x%04x\n",
			i < N_PKEYS_REPORTED ? be16toh(sysfs->pkeys[i]) : 0);
	}
}

static void update_pkeys(struct lab_sysfs *sysfs)
{
	uint16_t pkeys[N_PKEYS_REPORTED] = {0};

	if (lab_wire_ask(sysfs->port->wire, LAB_ASK_PKEYS, pkeys) ||
		memcmp(pkeys, sysfs->pkeys, sizeof(pkeys)) == 0)
		return;
	memcpy(sysfs->pkeys, pkeys, sizeof(pkeys));
	for_each_port(sysfs, put_pkeys);
}

static void put_node(struct lab_sysfs *sysfs)
{
	static const char *const types[] = {"<unknown>", "CA", "SWITCH", "ROUTER"};
	unsigned type = octet(sysfs->node_info, NODE_TYPE);
	uint64_t vendor[LAB_WIRE_ANSWER_SIZE / 8] = {0};

	put(sysfs, device_path(sysfs, "/node_type"), "%u: %s\n", type,
		NAME(types, type));
	/* The firmware's version follows three numbers of 32 bits and a gap. */
	if (lab_wire_ask(sysfs->port->wire, LAB_ASK_VENDOR, vendor) == 0)
		put(sysfs, device_path(sysfs, "/fw_ver"), "%" PRIx64 "\n", vendor[2]);
	put(sysfs, device_path(sysfs, "/hw_rev"), "%x\n",
		lab_mad_get32(sysfs->node_info + REVISION));
	put(sysfs, device_path(sysfs, "/hca_type"), "simulator\n");
	put_guid(sysfs, device_path(sysfs, "/node_guid"),
		field64(sysfs->node_info, NODE_GUID));
	put_guid(sysfs, device_path(sysfs, "/sys_image_guid"),
		field64(sysfs->node_info, SYSTEM_GUID));
}

static void put_mad_device(struct lab_sysfs *sysfs, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), MAD "/%s%u", name, sysfs->plane);
	put_folder(sysfs, path);
	snprintf(path, sizeof(path), MAD "/%s%u/ibdev", name, sysfs->plane);
	put(sysfs, path, "%s\n", device_name(sysfs));
	snprintf(path, sizeof(path), MAD "/%s%u/port", name, sysfs->plane);
	put(sysfs, path, "%u\n", port_number(sysfs));
}

/* --- the folder --- */

static void put_devices_of_port(struct lab_sysfs *sysfs)
{
	put_folder(sysfs, device_path(sysfs, ""));
	put_node(sysfs);
	put_folder(sysfs, device_path(sysfs, "/ports"));
	put_folder(sysfs, port_path(sysfs, ""));
	put_folder(sysfs, port_path(sysfs, "/gids"));
	put_folder(sysfs, port_path(sysfs, "/pkeys"));
	put_port(sysfs);
	put_pkeys(sysfs);
	put_mad_device(sysfs, "umad");
	/* Of a port of several planes, only these run an SM. */
	if (!sysfs->n_planes || sysfs->plane)
		put_mad_device(sysfs, "issm");
}

static void put_all(struct lab_sysfs *sysfs)
{
	put_folder(sysfs, "/class");
	put_folder(sysfs, "/class/infiniband");
	put_folder(sysfs, MAD);
	put(sysfs, MAD "/abi_version", "%u\n", IB_USER_MAD_ABI_VERSION);
	for_each_port(sysfs, put_devices_of_port);
}

int lab_sysfs_new(struct lab_port *port, struct lab_sysfs **made)
{
	struct lab_sysfs *sysfs = calloc(1, sizeof(*sysfs));
	const char *parent = getenv("TRIAD_LAB_SYS");
	int error;

	if (!sysfs)
		return ENOMEM;
	sysfs->port = port;
	sysfs->n_planes = lab_planes_n();
	pthread_mutex_init(&sysfs->lock, NULL);
	snprintf(sysfs->root, sizeof(sysfs->root), "%s/triad-lab-sys-XXXXXX",
		parent && *parent ? parent : "/tmp");
	error = lab_wire_ask(port->wire, LAB_ASK_NODE_INFO, sysfs->node_info);
	if (!error)
		error = lab_wire_ask(port->wire, LAB_ASK_PORT_INFO, sysfs->port_info);
	if (!error && !mkdtemp(sysfs->root))
		error = errno;
	if (error) {
		fprintf(stderr, "lab: no folder %s for sysfs: %s\n", sysfs->root,
			strerror(error));
		free(sysfs);
		return error;
	}
	put_all(sysfs);
	*made = sysfs;
	return 0;
}

bool lab_sysfs_has(const char *path)
{
	size_t length = sizeof(CLASS_FOLDER) - 1;

	if (strncmp(path, CLASS_FOLDER, length) != 0)
		return false;
	path += length;
	if (strncmp(path, "_mad", 4) == 0)
		path += 4;
	return !*path || *path == '/';
}

const char *lab_sysfs_resolve(
	struct lab_sysfs *sysfs, const char *path, char buffer[LAB_SYSFS_PATH_SIZE])
{
	char counters[MAX_TEXT_SIZE];

	if (strlen(path) + strlen(sysfs->root) >= LAB_SYSFS_PATH_SIZE)
		return path;
	pthread_mutex_lock(&sysfs->lock);
	if (strstr(path, "/pkeys/"))
		update_pkeys(sysfs);
	else if (strstr(path, "/ports/"))
		update_port(sysfs);
	else if (strstr(path, "/lab_counters")) {
		lab_port_format_counters(sysfs->port, counters, sizeof(counters));
		put(sysfs, MAD "/umad0/lab_counters", "%s", counters);
	}
	pthread_mutex_unlock(&sysfs->lock);
	full_path(sysfs, path + sizeof("/sys") - 1, buffer);
	return buffer;
}

void lab_sysfs_remove(struct lab_sysfs *sysfs)
{
	char full[LAB_SYSFS_PATH_SIZE];

	for (size_t i = sysfs->n_entries; i-- > 0;) {
		full_path(sysfs, sysfs->entries[i].path, full);
		if (sysfs->entries[i].is_folder)
			(void)rmdir(full);
		else
			(void)unlink(full);
	}
	(void)rmdir(sysfs->root);
}
