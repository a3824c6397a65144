/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The agent's discovery, with fabrics made by the test instead of libibnetdisc's. */
#include "agent/discover.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <infiniband/ibnetdisc.h>

#include "agent/discovery.h"
#include "service/local_port.h"
#include "tests/unit/mentions.h"

#define PORT_GUID 0x11

static struct triad_discover *discover;
static struct triad_log log_; /* writes nothing */

/* --- substitutes for libibnetdisc ---
 * They find a switch (LID 3) with two ports: host LID 7 on port 1, host LID 9 on
 * port 2. */

enum { HOST, SWITCH, FAR, N_NODES };

static ibnd_node_t nodes[N_NODES];
static ibnd_port_t ports[N_NODES][3];
static ibnd_port_t *port_table[N_NODES][3];
static ibnd_fabric_t found;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the variables below */
static unsigned n_asked;
static enum {
	ALL,
	NOTHING,      /* libibnetdisc gives up */
	EMPTY,        /* the agent's own node doesn't answer */
	NO_OWN_PORT,  /* the agent's own port doesn't answer */
	NO_FAR_NODE,  /* the node behind a link that is up doesn't answer */
	NO_FAR_PORT,  /* a port of the switch doesn't answer */
	FAR_UNLINKED, /* the switch's second port has no link */
} what;

static void add_node(unsigned i, int type, const char *name, int n_ports)
{
	nodes[i] = (ibnd_node_t){.next = i + 1 < N_NODES ? &nodes[i + 1] : NULL,
		.guid = 0x10 * (i + 1),
		.type = type,
		.numports = n_ports,
		.smalid = type == IB_NODE_SWITCH ? 3 : 0,
		.ports = port_table[i]};
	strcpy(nodes[i].nodedesc, name);
	mad_set_field(nodes[i].info, 0, IB_NODE_VENDORID_F, 0x2c9);
	mad_set_field(nodes[i].info, 0, IB_NODE_DEVID_F, 0x1000 + i);
	mad_set_field(nodes[i].info, 0, IB_NODE_PARTITION_CAP_F, 128);
}

static void add_port(unsigned i, int number, uint16_t lid)
{
	ibnd_port_t *port = &ports[i][number];

	*port = (ibnd_port_t){.guid = 0x10 * (i + 1) + 1,
		.portnum = number,
		.node = &nodes[i],
		.base_lid = lid};
	mad_set_field(port->info, 0, IB_PORT_STATE_F, 4);
	mad_set_field(port->info, 0, IB_PORT_PHYS_STATE_F, number ? 5 : 0);
	mad_set_field(port->info, 0, IB_PORT_LINK_WIDTH_ACTIVE_F, 2);
	mad_set_field(port->info, 0, IB_PORT_LINK_SPEED_ACTIVE_F, 4);
	port_table[i][number] = port;
}

static void link_ports(ibnd_port_t *a, ibnd_port_t *b)
{
	a->remoteport = b;
	b->remoteport = a;
}

static void make_all(void)
{
	memset(port_table, 0, sizeof(port_table));
	add_node(HOST, IB_NODE_CA, "host", 1);
	add_node(SWITCH, IB_NODE_SWITCH, "switch", 2);
	add_node(FAR, IB_NODE_CA, "far", 1);
	add_port(HOST, 1, 7);
	add_port(SWITCH, 0, 3);
	add_port(SWITCH, 1, 0);
	add_port(SWITCH, 2, 0);
	add_port(FAR, 1, 9);
	nodes[SWITCH].path_portid.drpath = (ib_dr_path_t){.cnt = 1, .p = {0, 1}};
	/* discovery reached this node by a path to another of its ports */
	nodes[FAR].path_portid.drpath =
		(ib_dr_path_t){.cnt = 5, .p = {0, 9, 9, 9, 9, 9}};
	link_ports(&ports[HOST][1], &ports[SWITCH][1]);
	link_ports(&ports[SWITCH][2], &ports[FAR][1]);
	found = (ibnd_fabric_t){.nodes = nodes, .total_mads_used = 11};
}

static void leave_out(void)
{
	switch (what) {
	case EMPTY:
		found.nodes = NULL;
		break;
	case NO_OWN_PORT:
		port_table[HOST][1] = NULL;
		nodes[HOST].next = NULL;
		break;
	case FAR_UNLINKED:
		mad_set_field(ports[SWITCH][2].info, 0, IB_PORT_PHYS_STATE_F, 2);
		/* fall through */
	case NO_FAR_NODE:
		ports[SWITCH][2].remoteport = NULL;
		nodes[SWITCH].next = NULL;
		break;
	case NO_FAR_PORT:
		port_table[SWITCH][2] = NULL;
		nodes[SWITCH].next = NULL;
		break;
	default:
		break;
	}
}

ibnd_fabric_t *ibnd_discover_fabric(
	char *ca_name, int ca_port, ib_portid_t *from, struct ibnd_config *config)
{
	ibnd_fabric_t *result;

	pthread_mutex_lock(&lock);
	n_asked++;
	make_all();
	leave_out();
	result = what == NOTHING ? NULL : &found;
	pthread_mutex_unlock(&lock);
	return result;
}

static unsigned n_blocks_asked; /* blocks of tables that were requested */
static bool is_mute;            /* SMPs for tables get no answers */
static char opened;

struct ibmad_port *mad_rpc_open_port(char *ca_name, int number, int *classes, int n)
{
	return (struct ibmad_port *)&opened;
}

void mad_rpc_close_port(struct ibmad_port *port)
{
}

void mad_rpc_set_retries(struct ibmad_port *port, int retries)
{
}

void mad_rpc_set_timeout(struct ibmad_port *port, int timeout)
{
}

/* The host has the P_Key 0xffff; the switch has 0x7fff and 0x8002; the far host has 35
 * P_Keys from 0x8100 on. */
static void fill_block(const ib_dr_path_t *path, unsigned block, uint8_t *data)
{
	static const uint8_t of_host[] = {0xff, 0xff},
			     of_switch[] = {0x7f, 0xff, 0x80, 2};

	if (path->cnt == 0 && !block)
		memcpy(data, of_host, sizeof(of_host));
	else if (path->cnt == 1 && path->p[1] == 1 && !block)
		memcpy(data, of_switch, sizeof(of_switch));
	else if (path->cnt == 2 && path->p[1] == 1 && path->p[2] == 2)
		for (unsigned i = 0; i < 32 && 32 * block + i < 35; i++) {
			data[2 * i] = 0x81;
			data[2 * i + 1] = (uint8_t)(32 * block + i);
		}
}

uint8_t *smp_query_via(void *data, ib_portid_t *portid, unsigned attribute,
	unsigned block, unsigned timeout, const struct ibmad_port *port)
{
	n_blocks_asked++;
	if (is_mute || attribute != IB_ATTR_PKEY_TBL)
		return NULL;
	fill_block(&portid->drpath, block, data);
	return data;
}

void ibnd_destroy_fabric(ibnd_fabric_t *fabric)
{
}

/* --- substitutes for the separate process --- */

int triad_discovery_ask(
	const struct triad_discovery_asking *asking, struct triad_discovery *made)
{
	int error = triad_discovery_make(asking->port_guid, made);

	if (error)
		strcpy(made->why, error == ENODEV ? "no port" : "no answers");
	return error;
}

/* --- substitutes for this machine's ports --- */

int umad_init(void)
{
	return 0;
}

bool triad_local_port_find_for_smps(
	uint64_t port_guid, char ca_name[UMAD_CA_NAME_LEN], int *number)
{
	strcpy(ca_name, "test");
	*number = 1;
	return port_guid == PORT_GUID;
}

/* --- results --- */

static struct triad_fabric *taken;
static unsigned n_taken;

static void take(void *context, struct triad_fabric *fabric)
{
	pthread_mutex_lock(&lock);
	triad_fabric_unref(taken);
	taken = triad_fabric_ref(fabric);
	n_taken++;
	pthread_mutex_unlock(&lock);
}

static unsigned count(const unsigned *counter)
{
	unsigned n;

	pthread_mutex_lock(&lock);
	n = *counter;
	pthread_mutex_unlock(&lock);
	return n;
}

static void make_it(int now)
{
	pthread_mutex_lock(&lock);
	what = now;
	pthread_mutex_unlock(&lock);
}

/* Waits until 'n' discoveries have ended, successful or not. */
static struct triad_discover_status wait_for(uint64_t n)
{
	struct triad_discover_status status;

	do {
		usleep(1000);
		status = triad_discover_status(discover);
	} while (status.n_done + status.n_failed < n);
	return status;
}

static void set_up(void)
{
	taken = NULL;
	n_taken = n_asked = n_blocks_asked = 0;
	is_mute = false;
	what = ALL;
	discover = triad_discover_new(PORT_GUID, take, NULL, &log_);
	ck_assert_ptr_nonnull(discover);
}

static void tear_down(void)
{
	ck_assert(triad_discover_free(discover));
	triad_fabric_unref(taken);
}

/* Begins with one complete discovery. */
static void discover_all(void)
{
	triad_discover_want(discover, true);
	while (!count(&n_taken))
		usleep(1000);
	(void)wait_for(1);
}

/* --- cases --- */

/* Row: M15 */
START_TEST(test_discovered_fabric_has_nodes_ports_and_links)
{
	const struct triad_fabric_port *port;
	uint32_t host, leaf;

	discover_all();
	ck_assert_uint_eq(taken->n_nodes, 3);
	ck_assert_uint_eq(taken->n_ports, 5);
	host = triad_fabric_find_node(taken, 0x10);
	leaf = triad_fabric_find_node(taken, 0x20);
	ck_assert_uint_eq(taken->sm_port, triad_fabric_find_port(taken, host, 1));
	ck_assert_str_eq(taken->nodes[leaf].name, "switch");
	ck_assert_uint_eq(taken->nodes[leaf].vendor_id, 0x2c9);
	ck_assert_uint_eq(taken->nodes[leaf].device_id, 0x1001);
	port = &taken->ports[triad_fabric_find_port(taken, leaf, 2)];
	ck_assert_uint_eq(port->lid, 3);
	ck_assert(port->has_pma);
	ck_assert_uint_eq(port->width, 2);
	ck_assert_uint_eq(port->speed, 4);
	ck_assert_uint_eq(port->state, TRIAD_PORT_ACTIVE);
	ck_assert_uint_eq(taken->ports[port->remote].lid, 9);
	ck_assert(!taken->ports[triad_fabric_find_port(taken, leaf, 0)].has_pma);
	ck_assert(taken->consistent);
}
END_TEST

static const uint16_t *pkeys_of(uint64_t guid, unsigned number, uint32_t n)
{
	uint32_t node = triad_fabric_find_node(taken, guid);
	const struct triad_fabric_port *port =
		&taken->ports[triad_fabric_find_port(taken, node, number)];

	ck_assert_uint_eq(port->pkeys.n, n);
	return taken->pkeys + port->pkeys.at;
}

START_TEST(test_tables_of_partitions_are_read_by_the_path_to_each_port)
{
	discover_all();
	ck_assert_uint_eq(pkeys_of(0x10, 1, 1)[0], 0xffff);
	ck_assert_uint_eq(pkeys_of(0x20, 0, 2)[1], 0x8002);
	ck_assert_uint_eq(pkeys_of(0x30, 1, 35)[34], 0x8122);
	/* the agent doesn't read tables of a switch's external ports */
	(void)pkeys_of(0x20, 1, 0);
	/* the blocks in use, and one empty block per table */
	ck_assert_uint_eq(n_blocks_asked, 2 + 2 + 3);
}
END_TEST

START_TEST(test_tables_that_no_port_answers_for_are_unknown)
{
	is_mute = true;
	discover_all();
	(void)pkeys_of(0x10, 1, 0);
	(void)pkeys_of(0x30, 1, 0);
	ck_assert_uint_eq(n_blocks_asked, 3);
}
END_TEST

START_TEST(test_failed_discovery_is_not_taken)
{
	static const int failing[] = {NOTHING, EMPTY, NO_OWN_PORT};
	struct triad_discover_status status;

	discover_all();
	make_it(failing[_i]);
	triad_discover_again(discover);
	status = wait_for(2);
	ck_assert_uint_eq(status.n_failed, 1);
	ck_assert_str_eq(status.why, "no answers");
	ck_assert_uint_eq(count(&n_taken), 1);
}
END_TEST

START_TEST(test_partial_discovery_is_taken_the_third_time)
{
	static const int partial[] = {NO_FAR_NODE, NO_FAR_PORT};
	struct triad_discover_status status;

	discover_all();
	make_it(partial[_i]);
	triad_discover_again(discover);
	status = wait_for(3);
	ck_assert_uint_eq(status.n_failed, 2);
	ck_assert_uint_eq(status.n_silent, 1);
	assert_mentions(status.why, "1 SMPs");
	ck_assert_uint_eq(count(&n_taken), 1);
	status = wait_for(4);
	ck_assert_uint_eq(status.n_done, 2);
	while (count(&n_taken) < 2)
		usleep(1000);
	ck_assert_uint_eq(taken->n_nodes, 2);
	ck_assert(!taken->consistent);
}
END_TEST

START_TEST(test_partial_discovery_is_forgotten_after_a_whole_one)
{
	discover_all();
	make_it(NO_FAR_NODE);
	triad_discover_again(discover);
	(void)wait_for(2);
	make_it(ALL);
	ck_assert_uint_eq(wait_for(3).n_failed, 1);
	while (count(&n_taken) < 2)
		usleep(1000);
	ck_assert_uint_eq(taken->n_nodes, 3);
}
END_TEST

START_TEST(test_first_discovery_is_taken_in_part)
{
	make_it(NO_FAR_NODE);
	discover_all();
	ck_assert_uint_eq(taken->n_nodes, 2);
	ck_assert_uint_eq(triad_discover_status(discover).n_failed, 0);
}
END_TEST

START_TEST(test_node_without_link_is_gone_at_once)
{
	struct triad_discover_status status;

	discover_all();
	make_it(FAR_UNLINKED);
	triad_discover_again(discover);
	status = wait_for(2);
	ck_assert_uint_eq(status.n_done, 2);
	ck_assert_uint_eq(status.n_silent, 0);
	while (count(&n_taken) < 2)
		usleep(1000);
	ck_assert_uint_eq(taken->n_nodes, 2);
}
END_TEST

START_TEST(test_not_wanted_is_not_discovered)
{
	discover_all();
	triad_discover_want(discover, false);
	ck_assert(!triad_discover_status(discover).active);
	triad_discover_again(discover);
	triad_discover_want(discover, true);
	(void)wait_for(2);
	ck_assert_uint_eq(count(&n_asked), 2);
}
END_TEST

START_TEST(test_other_port_is_reported)
{
	ck_assert(triad_discover_free(discover));
	discover = triad_discover_new(0x99, take, NULL, &log_);
	triad_discover_want(discover, true);
	ck_assert_str_eq(wait_for(1).why, "no port");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("discover");

	log_.write = NULL;
	log_.level = -1;
	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, test_discovered_fabric_has_nodes_ports_and_links);
	tcase_add_test(
		cases, test_tables_of_partitions_are_read_by_the_path_to_each_port);
	tcase_add_test(cases, test_tables_that_no_port_answers_for_are_unknown);
	tcase_add_loop_test(cases, test_failed_discovery_is_not_taken, 0, 3);
	tcase_add_loop_test(
		cases, test_partial_discovery_is_taken_the_third_time, 0, 2);
	tcase_add_test(cases, test_partial_discovery_is_forgotten_after_a_whole_one);
	tcase_add_test(cases, test_first_discovery_is_taken_in_part);
	tcase_add_test(cases, test_node_without_link_is_gone_at_once);
	tcase_add_test(cases, test_not_wanted_is_not_discovered);
	tcase_add_test(cases, test_other_port_is_reported);
	return run_cases(cases);
}
