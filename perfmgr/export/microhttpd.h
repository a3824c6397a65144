/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* libmicrohttpd's header, and what differs between the versions that Triad supports. */
#ifndef TRIAD_PERFMGR_EXPORT_MICROHTTPD_H
#define TRIAD_PERFMGR_EXPORT_MICROHTTPD_H

#include <microhttpd.h>

/* MHD_YES or MHD_NO. */
#if MHD_VERSION >= 0x00097001
typedef enum MHD_Result triad_http_result;
#else
typedef int triad_http_result;
#endif

#endif
