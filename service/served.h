/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How triadd does, which serves the outside, and keeps profiles and images of the fabric.
 *
 * Model: in the SM nobody listens; triadd does, and reports how it does.  A report is
 * text, a line for each value:
 *
 *     version=0.1.0
 *     prometheus.listen=127.0.0.1:9315
 *     web.n_answers=12
 *
 * Lines that are not known are skipped: triadd may be of another release.
 *
 * Thread-safety: functions without state. */
#ifndef TRIAD_SERVICE_SERVED_H
#define TRIAD_SERVICE_SERVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perfmgr/export/http.h"
#include "service/history_status.h"
#include "service/web/web.h"
#include "triad/control.h"

#define TRIAD_SERVED_TEXT_SIZE TRIAD_UPLOAD_SIZE /* of a report */

/* It reports every TRIAD_SERVED_REPORT_US at least, and at once when something has come
 * into force. */
#define TRIAD_SERVED_REPORT_US UINT64_C(5000000)
#define TRIAD_SERVED_SILENT_US UINT64_C(15000000)
/* One that was disconnected is missed sooner, but it may be started again. */
#define TRIAD_SERVED_GONE_US UINT64_C(3000000)

/* What to do when it does not run, or hangs. */
#define TRIAD_SERVED_RESTART                                                           \
	"'systemctl restart triadd' on this host (triadd@GUID, if several OpenSMs run here)"

#define TRIAD_SERVED_SILENCE_SIZE 96

#define TRIAD_PROFILE_REASON_SIZE 224

/* How the profile file does, which triadd writes. */
struct triad_profile_status {
	bool is_on;             /* there is a file to write */
	uint64_t n_frames;      /* written */
	uint64_t n_rows;        /* in them */
	uint64_t n_text_octets; /* of them */
	uint64_t n_octets;      /* compressed, in the file */
	uint64_t n_files;       /* opened */
	uint64_t n_dropped;     /* frames that could not be written */
	uint64_t n_skipped;     /* sweeps that had ended before they were asked for */
	uint64_t file_octets;   /* of the file at present; 0: none is open */
	int error;              /* errno of the last frame; 0: it was written */
	char reason[TRIAD_PROFILE_REASON_SIZE]; /* in words */
};

struct triad_served {
	bool is_known;     /* there was a report */
	bool is_connected; /* one follows 'changes' */
	bool is_current;   /* the report is of that one, and it is not silent */
	bool is_silent; /* there was none for TRIAD_SERVED_SILENT_US, or it has gone */
	uint64_t at_us; /* when it came; monotonic */
	char version[32]; /* of the program that serves */
	/* What is in force there, as 'changes' told it: of which start, which configuration
	 * (outside.h). */
	uint64_t start, configured;
	struct triad_http_status prometheus;
	struct triad_web_status web;
	struct triad_history_status images;
	struct triad_history_mirror_status copies;
	struct triad_profile_status profile; /* without its error: it has a reason */
	char metrics_trouble
		[TRIAD_POOL_TROUBLE_SIZE]; /* of the pool that writes these */
};

/* Since when it has said nothing, in words, of one that is silent. */
void triad_served_explain_silence(
	const struct triad_served *served, char text[TRIAD_SERVED_SILENCE_SIZE]);

/* Writes a report. */
void triad_served_put(const struct triad_served *served, char *text, size_t size);

/* Reads one; what it lacks is 0. */
void triad_served_take(const char *text, struct triad_served *served);

#endif
