/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The files of the web page: constant data that scripts/embed-files makes at build
 * time, plain and packed by gzip.
 *
 * Thread-safety: constant data. */
#ifndef TRIAD_SERVICE_WEB_FILES_H
#define TRIAD_SERVICE_WEB_FILES_H

#include <stddef.h>

struct triad_web_form {
	const unsigned char *octets;
	size_t size;
	const char *etag; /* with its quotes */
};

struct triad_web_file {
	const char *name; /* "index.html", below "/" */
	const char *type; /* as Content-Type has it */
	struct triad_web_form plain, packed;
};

/* The last one has no name. */
extern const struct triad_web_file triad_web_files[];

#endif
