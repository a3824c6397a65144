/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The device that sends a port's MADs, with simulated devices of libibumad. */
#include "service/local_port.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/run.h"
#include "triad/file.h"

#define SM_DISABLED (1u << 10)

static struct {
	const char *name;
	uint64_t guid;
	uint32_t capmask;
	const char *states; /* of ports from 1 on: a digit each */
	bool is_ethernet;
} devices[4];
static unsigned n_devices, n_looks;
static umad_port_t ports[4];

/* Replaces libibumad's function. */
int umad_get_cas_names(char names[][UMAD_CA_NAME_LEN], int max)
{
	ck_assert_int_ge(max, (int)n_devices);
	for (unsigned i = 0; i < n_devices; i++)
		snprintf(names[i], UMAD_CA_NAME_LEN, "%s", devices[i].name);
	return (int)n_devices;
}

int umad_get_ca(const char *name, umad_ca_t *ca)
{
	n_looks++;
	for (unsigned i = 0; i < n_devices; i++) {
		if (strcmp(devices[i].name, name))
			continue;
		memset(ca, 0, sizeof(*ca));
		for (const char *state = devices[i].states; *state; state++) {
			umad_port_t *port = &ports[ca->numports];

			port->port_guid = htobe64(devices[i].guid);
			port->capmask = htobe32(devices[i].capmask);
			port->state = (unsigned)(*state - '0');
			snprintf(port->link_layer, sizeof(port->link_layer), "%s",
				devices[i].is_ethernet ? "Ethernet" : "InfiniBand");
			ca->ports[++ca->numports] = port;
		}
		return 0;
	}
	return -1;
}

int umad_release_ca(umad_ca_t *ca)
{
	return 0;
}

/* Replaces sysfs. */
static const char *state_text; /* of a port; NULL: the device's */

int triad_file_read(const char *path, void *octets, size_t size, size_t *n)
{
	char name[UMAD_CA_NAME_LEN], file[32], text[64] = "";
	unsigned number;

	if (sscanf(path, "/sys/class/infiniband/%19[^/]/ports/%u/%31s", name, &number,
		    file) != 3)
		return ENOENT;
	for (unsigned i = 0; i < n_devices; i++)
		if (!strcmp(devices[i].name, name) && !strcmp(file, "state"))
			snprintf(text, sizeof(text), "%c: X\n",
				devices[i].states[number - 1]);
		else if (!strcmp(devices[i].name, name) && !strcmp(file, "gids/0"))
			snprintf(text, sizeof(text),
				"fe80:0000:0000:0000:%04x:%04x:%04x:%04x\n",
				(unsigned)(devices[i].guid >> 48),
				(unsigned)(devices[i].guid >> 32 & 0xffff),
				(unsigned)(devices[i].guid >> 16 & 0xffff),
				(unsigned)(devices[i].guid & 0xffff));
	if (!strcmp(file, "state") && state_text)
		snprintf(text, sizeof(text), "%s", state_text);
	*n = strlen(text);
	ck_assert_uint_lt(*n, size);
	memcpy(octets, text, *n);
	return *n ? 0 : ENOENT;
}

/* Functions that these tests don't call. */
int umad_init(void)
{
	return -1;
}

int umad_get_port(const char *name, int number, umad_port_t *found)
{
	return -1;
}

int umad_release_port(umad_port_t *found)
{
	return 0;
}

static void set_up(void)
{
	memset(devices, 0, sizeof(devices));
	n_devices = n_looks = 0;
	state_text = NULL;
}

static void add_device(const char *name, uint64_t guid, uint32_t capmask)
{
	devices[n_devices].name = name;
	devices[n_devices].guid = guid;
	devices[n_devices].states = "4";
	devices[n_devices++].capmask = capmask;
}

static void check_found(uint64_t guid, const char *name, const char *name_for_smps)
{
	char found[UMAD_CA_NAME_LEN];
	int number = 0;

	ck_assert(triad_local_port_find(guid, found, &number));
	ck_assert_str_eq(found, name);
	ck_assert_int_eq(number, 1);
	ck_assert(triad_local_port_find_for_smps(guid, found, &number));
	ck_assert_str_eq(found, name_for_smps);
}

/* Row: N6 */
START_TEST(test_port_of_several_planes_has_a_device_for_smps)
{
	add_device("mlx5_0", 0x11, SM_DISABLED);
	add_device("mlx5_1", 0x22, 0);
	add_device("smi0", 0x11, 0);
	check_found(0x11, "mlx5_0", "smi0");
	check_found(0x22, "mlx5_1", "mlx5_1");
	/* The order of the devices doesn't matter. */
	set_up();
	add_device("asmi", 0x11, 0);
	add_device("mlx5_0", 0x11, SM_DISABLED);
	check_found(0x11, "mlx5_0", "asmi");
}
END_TEST

/* Row: N6 */
START_TEST(test_smps_go_by_a_plane_that_is_up)
{
	struct triad_local_port it = {.guid = 0x11};
	char found[UMAD_CA_NAME_LEN];
	int number = 0;

	add_device("mlx5_0", 0x11, SM_DISABLED);
	add_device("smi0", 0x11, 0);
	devices[1].states = "114";
	ck_assert(triad_local_port_find_for_smps(0x11, found, &number));
	ck_assert_str_eq(found, "smi0");
	ck_assert_int_eq(number, 3);
	/* Another one while it is down, and while all are, one of them. */
	ck_assert(triad_local_port_locate(&it));
	ck_assert_int_eq(it.number, 3);
	devices[1].states = "141";
	ck_assert(triad_local_port_locate(&it));
	ck_assert_int_eq(it.number, 2);
	devices[1].states = "111";
	ck_assert(triad_local_port_locate(&it));
	ck_assert_str_eq(it.ca_name, "smi0");
	devices[1].states = "411";
	ck_assert(triad_local_port_locate(&it));
	ck_assert_int_eq(it.number, 1);
}
END_TEST

/* A RoCE port may have any GUID. */
START_TEST(test_ethernet_is_not_asked_for_mads)
{
	char found[UMAD_CA_NAME_LEN];
	int number = 0;

	add_device("mlx5_0", 0x11, 0);
	devices[0].is_ethernet = true;
	ck_assert(!triad_local_port_find(0x11, found, &number));
	add_device("mlx5_1", 0x11, 0);
	check_found(0x11, "mlx5_1", "mlx5_1");
}
END_TEST

START_TEST(test_other_ports_have_one_device_for_all)
{
	char found[UMAD_CA_NAME_LEN];
	int number;

	add_device("mlx5_0", 0x11, 0);
	add_device("mlx5_1", 0x22, SM_DISABLED);
	check_found(0x11, "mlx5_0", "mlx5_0");
	check_found(0x22, "mlx5_1", "mlx5_1");
	n_looks = 0;
	ck_assert(triad_local_port_find_for_smps(0x11, found, &number));
	ck_assert_uint_eq(n_looks, 1);
	ck_assert(!triad_local_port_find(0x33, found, &number));
	ck_assert(!triad_local_port_find_for_smps(0x33, found, &number));
}
END_TEST

START_TEST(test_port_that_was_found_is_not_looked_for_again)
{
	struct triad_local_port it = {.guid = 0x0002c9030010f0aa};

	add_device("mlx5_0", 0x0002c9030010f0a9, 0);
	add_device("mlx5_1", it.guid, 0);
	ck_assert(triad_local_port_locate(&it));
	ck_assert_str_eq(it.ca_name, "mlx5_1");
	ck_assert_uint_eq(n_looks, 2);
	ck_assert(triad_local_port_locate(&it));
	ck_assert_uint_eq(n_looks, 2);
	/* A driver that is loaded again may name its devices in another order. */
	devices[0].guid = it.guid;
	devices[1].guid++;
	ck_assert(triad_local_port_locate(&it));
	ck_assert_str_eq(it.ca_name, "mlx5_0");
	devices[0].guid++;
	ck_assert(!triad_local_port_locate(&it));
	devices[1].guid = it.guid;
	ck_assert(triad_local_port_locate(&it));
	ck_assert_str_eq(it.ca_name, "mlx5_1");
}
END_TEST

START_TEST(test_number_at_the_beginning_of_a_file)
{
	const struct triad_local_port it = {.ca_name = "mlx5_0", .number = 1};
	unsigned long value = 0;

	state_text = "4: ACTIVE\n";
	ck_assert(triad_local_port_read(&it, "state", &value));
	ck_assert_uint_eq(value, 4);
	state_text = "0x1f\n";
	ck_assert(triad_local_port_read(&it, "state", &value));
	ck_assert_uint_eq(value, 0x1f);
	state_text = "ACTIVE\n";
	ck_assert(!triad_local_port_read(&it, "state", &value));
	ck_assert(!triad_local_port_read(&it, "sm_lid", &value));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("local_port");

	tcase_add_checked_fixture(cases, set_up, NULL);
	tcase_add_test(cases, test_port_of_several_planes_has_a_device_for_smps);
	tcase_add_test(cases, test_smps_go_by_a_plane_that_is_up);
	tcase_add_test(cases, test_ethernet_is_not_asked_for_mads);
	tcase_add_test(cases, test_other_ports_have_one_device_for_all);
	tcase_add_test(cases, test_port_that_was_found_is_not_looked_for_again);
	tcase_add_test(cases, test_number_at_the_beginning_of_a_file);
	return run_cases(cases);
}
