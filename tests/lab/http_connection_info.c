/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* In the place of MHD_get_connection_info(), as libmicrohttpd 1.0 does it, whichever is
 * here: each answer takes the place of the one before. */
#include "perfmgr/export/microhttpd.h"

const union MHD_ConnectionInfo *__real_MHD_get_connection_info(
	struct MHD_Connection *connection, enum MHD_ConnectionInfoType type, ...);
const union MHD_ConnectionInfo *__wrap_MHD_get_connection_info(
	struct MHD_Connection *connection, enum MHD_ConnectionInfoType type, ...);

const union MHD_ConnectionInfo *__wrap_MHD_get_connection_info(
	struct MHD_Connection *connection, enum MHD_ConnectionInfoType type, ...)
{
	static union MHD_ConnectionInfo place;
	const union MHD_ConnectionInfo *info =
		__real_MHD_get_connection_info(connection, type);

	if (!info)
		return NULL;
	if (type == MHD_CONNECTION_INFO_CONNECTION_FD)
		place.connect_fd = info->connect_fd;
	else
		place.client_addr = info->client_addr; /* or another pointer */
	return &place;
}
