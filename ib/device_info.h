/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks a switch or HCA of Mellanox or NVIDIA about itself: firmware, serial number,
 * temperatures, fans, power supplies.
 *
 * Model: MADs of the vendor's class 0x0a to the GSI, only with the method Get:
 *
 *     GeneralInfo (0x17)        firmware, PSID, hardware, uptime; and whether the
 *                               device has the other attribute
 *     AccessRegister (0x51)     one register, whose number is the modifier
 *
 * This class reads registers.  The SMP 0xff52 could, too, but with the method Set, and
 * Triad sends a Set only to change something.
 *
 * The caller asks what triad_device_next() names, until there is no more.  Some
 * registers tell what else can be read: MTCAP which sensors, MFCR which fans.
 *
 * The meaning of MSPS (power supplies) is not published; it is decoded as in ibswinfo,
 * whose authors found it out by comparing.
 *
 * Invariants: texts are printable ASCII.  Sensors, fans and supplies without room are
 * neither asked for nor kept.
 *
 * Thread-safety: functions without state.
 * Source: mstflint, mtcr_ul/mtcr_ib_ofed.c (MADs) and tools_layouts/adb/prm/switch
 * (registers); Linux, mlxsw/reg.h (FORE); rdma-core, infiniband-diags/vendstat.c
 * (GeneralInfo); ibswinfo (which registers, MSPS); OpenSM, osm_base.h (vendors). */
#ifndef TRIAD_IB_DEVICE_INFO_H
#define TRIAD_IB_DEVICE_INFO_H

#include <stdbool.h>
#include <stddef.h>

#include "triad/mad.h"

#define TRIAD_DEVICE_CLASS 0x0a
#define TRIAD_DEVICE_GENERAL_INFO 0x17
#define TRIAD_DEVICE_ACCESS_REGISTER 0x51

#define TRIAD_DEVICE_MAX_SENSORS 16
#define TRIAD_DEVICE_MAX_FANS 16
#define TRIAD_DEVICE_MAX_SUPPLIES 2

/* Whether devices with this NodeInfo:VendorID know these attributes. */
bool triad_device_is_known_vendor(uint32_t vendor_id);

/* The parts that can be asked for. */
enum triad_device_part {
	TRIAD_DEVICE_GENERAL,
	TRIAD_DEVICE_MSGI,  /* serial and part number */
	TRIAD_DEVICE_MTCAP, /* which sensors there are */
	TRIAD_DEVICE_MTMP,  /* one sensor */
	TRIAD_DEVICE_MFCR,  /* which fans there are */
	TRIAD_DEVICE_MFSM,  /* one fan */
	TRIAD_DEVICE_MSPS,  /* power supplies */
	TRIAD_DEVICE_FORE,  /* which fans are out of their range */
	TRIAD_DEVICE_N_PARTS
};

/* "GeneralInfo", "MSGI", ... */
const char *triad_device_part_name(enum triad_device_part part);

struct triad_device_sensor {
	uint8_t index;
	char name[9];
	int16_t now, most, limit; /* 1/8 degrees Celsius; 'limit' 0: none */
};

struct triad_device_fan {
	uint8_t index;
	uint16_t rpm;
};

enum triad_device_supply_state {
	TRIAD_SUPPLY_UNKNOWN,
	TRIAD_SUPPLY_ABSENT,
	TRIAD_SUPPLY_OK,
	TRIAD_SUPPLY_FAILED,
};

struct triad_device_supply {
	uint8_t state;  /* enum triad_device_supply_state */
	uint8_t fan;    /* the same, of its fan */
	uint32_t watts; /* 0: not known */
	char serial[13], part[17];
};

struct triad_device_info {
	uint8_t reported, refused; /* bit for each part */
	bool has_registers;        /* GeneralInfo says so */
	uint16_t device_id, hardware_revision;
	uint32_t firmware[3];
	uint32_t uptime_s;
	char psid[17];
	char serial[25], part[21], revision[5], product[65];
	uint64_t sensors_there;        /* bit for each sensor */
	uint16_t fans_there;           /* bit for each tachometer, as in the next two */
	uint16_t fans_slow, fans_fast; /* below and above their limits */
	uint8_t n_sensors, n_fans, n_supplies;
	struct triad_device_sensor sensors[TRIAD_DEVICE_MAX_SENSORS];
	struct triad_device_fan fans[TRIAD_DEVICE_MAX_FANS];
	struct triad_device_supply supplies[TRIAD_DEVICE_MAX_SUPPLIES];
};

/* A question; 'index' is that of the sensor or fan. */
struct triad_device_query {
	enum triad_device_part part;
	uint8_t index;
};

/* The next question after 'last' (NULL: the first), given what 'info' has; false: there
 * is no more.  Refused parts are not asked again; constant ones are asked once. */
bool triad_device_next(const struct triad_device_info *info,
	const struct triad_device_query *last, struct triad_device_query *query);

void triad_device_encode(uint8_t mad[TRIAD_MAD_SIZE],
	const struct triad_device_query *query, uint32_t tid);

enum triad_device_result {
	TRIAD_DEVICE_ANSWERED,
	TRIAD_DEVICE_BUSY,    /* not now */
	TRIAD_DEVICE_REFUSED, /* it has no such part, as 'info' notes */
};

/* Decodes an answer into 'info'. */
enum triad_device_result triad_device_take(struct triad_device_info *info,
	const struct triad_device_query *query, const uint8_t mad[TRIAD_MAD_SIZE]);

/* What is wrong with a device, by its own data. */
enum triad_device_fault {
	TRIAD_DEVICE_FINE,
	TRIAD_DEVICE_HOT,          /* a sensor is above its threshold */
	TRIAD_DEVICE_FAN_STANDS,   /* 0 rpm */
	TRIAD_DEVICE_FAN_SLOW,     /* below its limit, as the device says */
	TRIAD_DEVICE_FAN_FAST,     /* above it */
	TRIAD_DEVICE_SUPPLY_FAILED /* one that is plugged in gives no power */
};

/* Its worst fault; '*index' is that of the sensor, fan or supply, '*value' and '*limit'
 * are in degrees. */
enum triad_device_fault triad_device_judge(const struct triad_device_info *info,
	unsigned *index, double *value, double *limit);

/* "ok", "failed", "absent", "unknown" */
const char *triad_device_supply_name(uint8_t state);

#endif
