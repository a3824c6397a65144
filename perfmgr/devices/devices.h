/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks devices and cables about themselves: which device gets which question, when, and
 * what is known.
 *
 * Model: a view says which nodes are read here.  Of these, devices of a known vendor
 * are asked, one after the other, in rounds:
 *
 *     about itself         ib/device_info.h, requests to its GSI
 *     about each port      ib/cable_info.h, SMPs by LID: what is plugged in there
 *
 * There is one question at a time.  The owner sends it, and passes the answer or that
 * there is none:
 *
 *     while (triad_devices_next(devices, now, &question, &due))
 *             triad_devices_answer(devices, ask(&question), now);
 *
 * A known cable is asked in later rounds only for what changes; and as a whole when its
 * link has changed, or after a day.
 *
 * Restraint: a device that does not answer its first question is asked nothing further.
 * A MAD may be lost, so a device that answered before is given up only after three
 * rounds in a row with an unanswered question, and one that was given up is asked again
 * after an hour: it is silent until a round has left no question unanswered.  A device
 * that refuses an attribute or a register is not asked for that again.  All this is
 * forgotten when the node leaves the view, and by triad_devices_clear().
 *
 * Thread-safety: none; the owner excludes others (service/devices.h).
 * Memory: 64 octets for each device and 24 for each of its ports; some 200 for each
 * cable, 700 for each device that was asked.  Answers that find no memory are
 * counted. */
#ifndef TRIAD_PERFMGR_DEVICES_H
#define TRIAD_PERFMGR_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ib/cable.h"
#include "ib/device_info.h"
#include "perfmgr/devices/fault.h"
#include "perfmgr/view.h"

/* The age at which a cable is read as a whole again. */
#define TRIAD_DEVICES_ANEW_US (UINT64_C(86400) * 1000000)

/* Rounds with an unanswered question after which a device that answered before is
 * silent. */
#define TRIAD_DEVICES_MISSED 3

/* The time from its last question to the next one. */
#define TRIAD_DEVICES_AGAIN_US (UINT64_C(3600) * 1000000)

struct triad_devices;

struct triad_devices_question {
	struct triad_mad_address to;
	bool is_smp; /* an SMP by LID; else a MAD of TRIAD_DEVICE_CLASS */
	uint32_t tid;
	uint8_t mad[TRIAD_MAD_SIZE];
};

/* What is plugged in at a port. */
enum triad_port_module {
	TRIAD_MODULE_UNREAD,
	TRIAD_MODULE_EMPTY,     /* nothing is plugged in */
	TRIAD_MODULE_NO_MEMORY, /* a cable that can't be read: passive copper */
	TRIAD_MODULE_NO_CAGE,   /* an internal port */
	TRIAD_MODULE_KNOWN,
};

struct triad_devices_counts {
	uint32_t n_devices;     /* that are asked */
	uint32_t n_reported;    /* of these, devices with information */
	uint32_t n_silent;      /* devices that did not answer, and are given up */
	uint32_t n_fell_silent; /* of these, devices that had answered before */
	uint32_t n_refused;     /* devices that refused something */
	uint32_t n_cables;      /* that are known */
	uint32_t n_faulty;      /* devices and cables with a fault */
	uint64_t n_questions, n_rounds;
	uint64_t n_errors;  /* questions that could not be sent */
	uint64_t n_dropped; /* for want of memory */
	uint64_t round_us;  /* duration of the last round; 0: none has ended */
};

/* NULL when memory is short. */
struct triad_devices *triad_devices_new(void);
/* Accepts NULL. */
void triad_devices_free(struct triad_devices *devices);

/* Sets the time from the beginning of a round to that of the next. */
void triad_devices_set_period(struct triad_devices *devices, uint64_t period_us);

/* Whether to ask what is plugged in at ports; true at first. */
void triad_devices_set_cables(struct triad_devices *devices, bool are_wanted);

/* Forgets everything, also who refused or was silent. */
void triad_devices_clear(struct triad_devices *devices);

/* Asks the devices of 'view' (referenced) from now on; keeps what is known of nodes
 * that stay.  Returns 0, or ENOMEM and keeps the last view. */
int triad_devices_adopt(struct triad_devices *devices, struct triad_view *view);

/* Gives the next question.  False: none is due before '*due_us' (monotonic; UINT64_MAX:
 * before the next view). */
bool triad_devices_next(struct triad_devices *devices, uint64_t now_us,
	struct triad_devices_question *question, uint64_t *due_us);

/* Takes the answer to the last question, with status ETIMEDOUT where there was none.
 * NULL: the question could not be sent. */
void triad_devices_answer(struct triad_devices *devices,
	const struct triad_mad_reply *reply, uint64_t now_us);

/* --- reading --- */

struct triad_devices_counts triad_devices_counts(const struct triad_devices *devices);

/* A device that is asked. */
struct triad_device_known {
	bool is_silent, refuses_cables;
	uint64_t read_us;              /* it last gave information; 0: never */
	struct triad_device_info info; /* zeros: it gave none */
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

/* Finds what is wrong with the module at a port, or with the device as a whole (number
 * 0; an HCA has no port 0).  False: nothing, as far as is known; nothing is known of a
 * silent device. */
bool triad_devices_judge(const struct triad_devices *devices, uint64_t guid,
	uint8_t number, struct triad_hardware_finding *finding);

#endif
