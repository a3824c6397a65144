/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the hardware behind links: [devices].  Runs perfmgr/devices/devices.h in a
 * thread.
 *
 * The thread asks while this process reads counters, about the nodes that it reads: an
 * agent about those that it owns, a manager about none.  It sends MADs by descriptors
 * of its own, one at a time, at most [devices] rate in a second, each once.  So
 * OpenSM's SMPs never wait for them, and at most one of ours waits with them for a
 * port.
 *
 * Off by default.  Nothing is opened or asked before [devices] enabled is true.
 *
 * Thread-safety: any thread, for all but new, stop and free.  The lock is held for a
 * copy of one device or port, or while a new view is adopted; no other lock is taken
 * under it.  It may be taken under the lock of perfmgr/watch/watch.h. */
#ifndef TRIAD_SERVICE_DEVICES_H
#define TRIAD_SERVICE_DEVICES_H

#include "perfmgr/devices/devices.h"
#include "service/collect.h"
#include "service/perf.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_device_reader;

struct triad_device_reader_status {
	bool is_enabled;
	bool is_reading; /* enabled, and counters are read here */
	int error;       /* of the last try to open the local port; 0: none */
	struct triad_devices_counts counts;
};

/* 'perf' and 'collect' are borrowed.  NULL when memory is short. */
struct triad_device_reader *triad_device_reader_new(struct triad_perf *perf,
	struct triad_collect *collect, uint64_t port_guid, struct triad_log *log);

/* Starts the thread when devices are enabled for the first time. */
void triad_device_reader_configure(
	struct triad_device_reader *reader, const struct triad_conf *conf);

/* Ends the thread, in 0.2 s at most.  Accepts NULL. */
void triad_device_reader_stop(struct triad_device_reader *reader);
/* After the stop.  Accepts NULL. */
void triad_device_reader_free(struct triad_device_reader *reader);

struct triad_device_reader_status triad_device_reader_status(
	struct triad_device_reader *reader);

/* See triad_devices_read(), _read_port() and _judge(). */
bool triad_device_reader_read(struct triad_device_reader *reader, uint64_t guid,
	struct triad_device_known *copy);
bool triad_device_reader_read_port(struct triad_device_reader *reader, uint64_t guid,
	uint8_t number, struct triad_cable_known *copy);
bool triad_device_reader_judge(struct triad_device_reader *reader, uint64_t guid,
	uint8_t number, struct triad_hardware_finding *finding);

#endif
