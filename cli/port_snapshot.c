/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <stdio.h>

#include "cli/port_command.h"
#include "cli/screen.h"
#include "portmgr/expected/write.h"
#include "triad/control.h"

static void print_line(void *context, const char *line)
{
	(void)context;
	fputs(line, stdout);
}

int triad_port_snapshot(const struct triad_port_command *command)
{
	struct triad_fabric *fabric;

	if (triad_port_read_fabric(command->from, &fabric))
		return TRIAD_CONTROL_FAILED;
	triad_expected_write(fabric, command->generation, print_line, NULL);
	triad_fabric_unref(fabric);
	return triad_screen_finish();
}
