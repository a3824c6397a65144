/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the hardware behind links: which device to ask what and when, and the results.
 *
 * Model: the view has the nodes that are read here.  Of these, devices of known vendors are
 * asked, one after the other, in rounds:
 *
 *     about itself         ib/device_info.h, requests to its GSI
 *     about each port      ib/cable_info.h, SMPs by LID: what is plugged in there
 *
 * There is one question at a time.  The owner sends it, and passes the answer or that there
 * is none:
 *
 *     while (triad_devices_next(devices, now, &question, &due))
 *             triad_devices_answer(devices, ask(&question), now);
 *
 * For a known cable, later rounds read only the values that change; all of it is read again
 * when its link has changed, or after a day.
 *
 * Restraint: a device that does not answer its first question is asked no more.  A device
 * that has answered before is asked no more after three rounds in a row with unanswered
 * questions, because single MADs may be lost.  A device that refuses an attribute or a
 * register is not asked for that one again.  All this is forgotten when the node leaves the
 * view, and by triad_devices_clear().
 *
 * Thread-safety: none; the owner excludes others (service/devices.h).
 * Memory: 64 octets for each device and 24 for each of its ports; some 200 for each cable,
 * 700 for each device with information.  What is dropped for lack of memory is counted. */
#ifndef TRIAD_PERFMGR_DEVICES_H
#define TRIAD_PERFMGR_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/cable.h"
#include "ib/device_info.h"
#include "perfmgr/devices/fault.h"
#include "perfmgr/view.h"

/* After this time, a cable is read completely again. */
#define TRIAD_DEVICES_ANEW_US (UINT64_C(86400) * 1000000)

/* Rounds without an answer after which a device that answered before is silent. */
#define TRIAD_DEVICES_MISSED 3

struct triad_devices;

struct triad_devices_question {
	struct triad_mad_address to;
	bool is_smp; /* of the class for SMPs by LID; or of TRIAD_DEVICE_CLASS */
	uint32_t tid;
	uint8_t mad[TRIAD_MAD_SIZE];
};

/* The state of a port's cage. */
enum triad_port_module {
	TRIAD_MODULE_UNREAD,
	TRIAD_MODULE_EMPTY,     /* nothing is plugged in */
	TRIAD_MODULE_NO_MEMORY, /* a cable that can't be read: passive copper */
	TRIAD_MODULE_NO_CAGE,   /* an internal port */
	TRIAD_MODULE_KNOWN,
};

struct triad_devices_counts {
	uint32_t n_devices;  /* that are asked */
	uint32_t n_reported; /* of these, devices with information */
	uint32_t n_silent;   /* devices that did not answer, and are no longer asked */
	uint32_t n_fell_silent; /* of these, devices that had answered before */
	uint32_t n_refused;     /* devices that refused something */
	uint32_t n_cables;      /* that are known */
	uint32_t n_faulty;      /* devices and cables with a fault */
	uint64_t n_questions, n_rounds;
	uint64_t n_errors;  /* questions that could not be sent */
	uint64_t n_dropped; /* for lack of memory */
	uint64_t round_us;  /* how long the last round took; 0: none has ended */
};

/* NULL when memory is short. */
struct triad_devices *triad_devices_new(void);
/* Accepts NULL. */
void triad_devices_free(struct triad_devices *devices);

/* Sets the time between the starts of two rounds. */
void triad_devices_set_period(struct triad_devices *devices, uint64_t period_us);

/* Sets whether to read cables, too; at first, yes. */
void triad_devices_set_cables(struct triad_devices *devices, bool are_wanted);

/* Forgets everything, also refusals and silence. */
void triad_devices_clear(struct triad_devices *devices);

/* Sets the view, which is referenced; keeps information about nodes that stay.  Returns 0
 * or ENOMEM; then the old view stays. */
int triad_devices_adopt(struct triad_devices *devices, struct triad_view *view);

/* Takes the next question.  False: none is due before '*due_us' (monotonic; UINT64_MAX:
 * until there is another view). */
bool triad_devices_next(struct triad_devices *devices, uint64_t now_us,
	struct triad_devices_question *question, uint64_t *due_us);

/* Passes the result: the answer, with status ETIMEDOUT if there was none.  NULL: the
 * question could not be sent. */
void triad_devices_answer(struct triad_devices *devices,
	const struct triad_mad_reply *reply, uint64_t now_us);

/* --- reading --- */

struct triad_devices_counts triad_devices_counts(const struct triad_devices *devices);

/* A device that is asked. */
struct triad_device_known {
	bool is_silent, refuses_cables;
	uint64_t read_us;              /* last information; 0: never */
	struct triad_device_info info; /* zeros: no information */
};

/* False: it is not asked here. */
bool triad_devices_read(const struct triad_devices *devices, uint64_t guid,
	struct triad_device_known *copy);

struct triad_cable_known {
	enum triad_port_module module;
	uint64_t read_us;         /* 0: never */
	struct triad_cable cable; /* with TRIAD_MODULE_KNOWN */
};

bool triad_devices_read_port(const struct triad_devices *devices, uint64_t guid,
	uint8_t number, struct triad_cable_known *copy);

/* Finds a fault of the module at a port, or of the device as a whole (number 0; an HCA has
 * no port 0).  False: none is known; of a silent device none ever is. */
bool triad_devices_judge(const struct triad_devices *devices, uint64_t guid,
	uint8_t number, struct triad_hardware_finding *finding);

#endif
