/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/devices/fault.h"

#include <stdio.h>

const char *triad_hardware_fault_name(enum triad_hardware_fault fault)
{
	static const char *const names[TRIAD_HARDWARE_N_FAULTS] = {
		[TRIAD_HARDWARE_FINE] = "none",
		[TRIAD_HARDWARE_MODULE_HOT] = "module_temperature",
		[TRIAD_HARDWARE_MODULE_DARK] = "rx_power",
		[TRIAD_HARDWARE_DEVICE_HOT] = "temperature",
		[TRIAD_HARDWARE_FAN_STANDS] = "fan",
		[TRIAD_HARDWARE_FAN_SLOW] = "fan",
		[TRIAD_HARDWARE_FAN_FAST] = "fan",
		[TRIAD_HARDWARE_SUPPLY_FAILED] = "power_supply",
	};

	return names[fault];
}

void triad_hardware_finding_format(
	const struct triad_hardware_finding *finding, char *text, size_t size)
{
	switch (finding->fault) {
	case TRIAD_HARDWARE_MODULE_HOT:
		snprintf(text, size, "module temperature %.1f C (alarm above %.1f C)",
			finding->value, finding->limit);
		break;
	case TRIAD_HARDWARE_MODULE_DARK:
		snprintf(text, size,
			"received power of lane %u %.1f dBm (alarm below %.1f dBm)",
			finding->index, finding->value, finding->limit);
		break;
	case TRIAD_HARDWARE_DEVICE_HOT:
		snprintf(text, size, "temperature %.1f C (threshold %.1f C)",
			finding->value, finding->limit);
		break;
	case TRIAD_HARDWARE_FAN_STANDS:
		snprintf(text, size, "fan %u stands", finding->index);
		break;
	case TRIAD_HARDWARE_FAN_SLOW:
		snprintf(text, size, "fan %u is slower than its limit", finding->index);
		break;
	case TRIAD_HARDWARE_FAN_FAST:
		snprintf(text, size, "fan %u is faster than its limit", finding->index);
		break;
	case TRIAD_HARDWARE_SUPPLY_FAILED:
		snprintf(text, size, "power supply %u gives no power", finding->index);
		break;
	default:
		snprintf(text, size, "a fault of its hardware, which the agent knows");
		break;
	}
}

const char *triad_hardware_advice(enum triad_hardware_fault fault)
{
	switch (fault) {
	case TRIAD_HARDWARE_MODULE_HOT:
		return "check the air flow, then replace the cable or module";
	case TRIAD_HARDWARE_MODULE_DARK:
		return "clean the plugs and check the cable; at the far end, check the "
		       "power that is sent";
	case TRIAD_HARDWARE_DEVICE_HOT:
		return "check its fans and the air around it";
	case TRIAD_HARDWARE_FAN_STANDS:
	case TRIAD_HARDWARE_FAN_SLOW:
		return "replace the fan";
	case TRIAD_HARDWARE_FAN_FAST:
		return "check the air around the device and its other fans";
	case TRIAD_HARDWARE_SUPPLY_FAILED:
		return "check its power cord, then replace the power supply";
	default:
		return "ask 'triadctl cables' and 'triadctl devices' on the agent's "
		       "host";
	}
}
