/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Faults that hardware reports about itself.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_PERFMGR_DEVICES_FAULT_H
#define TRIAD_PERFMGR_DEVICES_FAULT_H

#include <stddef.h>

enum triad_hardware_fault {
	TRIAD_HARDWARE_FINE,
	TRIAD_HARDWARE_MODULE_HOT,  /* above its own high alarm */
	TRIAD_HARDWARE_MODULE_DARK, /* a lane is below the low alarm of received power */
	TRIAD_HARDWARE_DEVICE_HOT,  /* a sensor is above its threshold */
	TRIAD_HARDWARE_FAN_STANDS,
	TRIAD_HARDWARE_FAN_SLOW, /* below or above its limit, as the device reports */
	TRIAD_HARDWARE_FAN_FAST,
	TRIAD_HARDWARE_SUPPLY_FAILED,
	TRIAD_HARDWARE_N_FAULTS
};

struct triad_hardware_finding {
	enum triad_hardware_fault fault;
	unsigned index;      /* lane (from 1), sensor, fan or supply */
	double value, limit; /* in degrees Celsius or dBm */
};

/* "module_temperature", "rx_power", "temperature", "fan" (all three of a fan),
 * "power_supply" */
const char *triad_hardware_fault_name(enum triad_hardware_fault fault);

/* "module temperature 78.0 C (alarm above 75.0 C)", "fan 3 stands". */
void triad_hardware_finding_format(
	const struct triad_hardware_finding *finding, char *text, size_t size);

/* Advice for the administrator. */
const char *triad_hardware_advice(enum triad_hardware_fault fault);

#endif
