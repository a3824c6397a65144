/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Makes MHD_get_connection_info() behave as in libmicrohttpd 1.0, with any version of
 * the library: each call overwrites the result of the previous one.  The linker's
 * --wrap puts it in front of the real function. */
#include "perfmgr/export/microhttpd.h"

const union MHD_ConnectionInfo *__real_MHD_get_connection_info(
	struct MHD_Connection *connection, enum MHD_ConnectionInfoType type, ...);
const union MHD_ConnectionInfo *__wrap_MHD_get_connection_info(
	struct MHD_Connection *connection, enum MHD_ConnectionInfoType type, ...);

const union MHD_ConnectionInfo *__wrap_MHD_get_connection_info(
	struct MHD_Connection *connection, enum MHD_ConnectionInfoType type, ...)
{
	static _Thread_local union MHD_ConnectionInfo copy; /* of one daemon each */
	const union MHD_ConnectionInfo *info =
		__real_MHD_get_connection_info(connection, type);

	if (!info)
		return NULL;
	if (type == MHD_CONNECTION_INFO_CONNECTION_FD)
		copy.connect_fd = info->connect_fd;
	else
		copy.client_addr = info->client_addr; /* for any other pointer, too */
	return &copy;
}
