/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* schemas.json, as constant data that scripts/embed-files makes at build time.
 *
 * Thread-safety: constant data. */
#ifndef TRIAD_SERVICE_WEB_SCHEMAS_H
#define TRIAD_SERVICE_WEB_SCHEMAS_H

#include <stddef.h>

extern const unsigned char triad_web_schemas[];
extern const size_t triad_web_schemas_size;

#endif
