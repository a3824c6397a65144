/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes for Prometheus: headers of families, labels and numbers, in either format.
 *
 * Model: a writer stands at a place in memory and moves on.  It does not write what
 * does not fit, and sets 'cut'; callers give enough room.
 *
 * The name of a family is without "_total" or "_info"; the format determines where
 * these appear:
 *
 *                  text 0.0.4                      OpenMetrics 1.0.0
 *     counter   # TYPE x_total counter          # TYPE x counter
 *               x_total 1                       x_total 1
 *     info      # TYPE x_info gauge             # TYPE x info
 *               x_info{...} 1                   x_info{...} 1
 *
 *     histogram # TYPE x histogram              # TYPE x histogram
 *               x_bucket{le="0.1"} 1            x_bucket{le="0.1"} 1
 *               x_bucket{le="+Inf"} 2           x_bucket{le="+Inf"} 2
 *               x_sum 0.5                       x_sum 0.5
 *               x_count 2                       x_count 2
 *
 * So the samples are the same in both.  OpenMetrics also has the unit, if the name ends
 * in a known one.
 *
 * Numbers are written without printf, because there are millions, and the locale must
 * have no effect.
 *
 * Thread-safety: functions without state.
 * Memory: no allocation.
 * Source: Prometheus exposition formats, text 0.0.4; OpenMetrics 1.0.0. */
#ifndef TRIAD_PERFMGR_EXPOSITION_H
#define TRIAD_PERFMGR_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum triad_exposition_format {
	TRIAD_EXPOSITION_TEXT,
	TRIAD_EXPOSITION_OPENMETRICS,
};

enum triad_metric_type {
	TRIAD_METRIC_COUNTER,
	TRIAD_METRIC_GAUGE,
	TRIAD_METRIC_INFO, /* its value is 1 */
	TRIAD_METRIC_HISTOGRAM,
};

struct triad_exposition {
	char *at, *end;
	bool cut;
};

static inline void triad_exposition_put(
	struct triad_exposition *writer, const char *text, size_t length)
{
	if ((size_t)(writer->end - writer->at) < length) {
		writer->cut = true;
		return;
	}
	memcpy(writer->at, text, length);
	writer->at += length;
}

static inline void triad_exposition_puts(
	struct triad_exposition *writer, const char *text)
{
	triad_exposition_put(writer, text, strlen(text));
}

/* HELP, TYPE and, where there is one, UNIT. */
void triad_exposition_header(struct triad_exposition *writer,
	enum triad_exposition_format format, enum triad_metric_type type,
	const char *name, const char *help);

/* "_total", "_info" or "": the suffix of the family's name in a sample.  A histogram's
 * samples name their part themselves. */
const char *triad_exposition_suffix(enum triad_metric_type type);

/* A label's value without its quotes, escaped. */
void triad_exposition_value(
	struct triad_exposition *writer, const char *text, size_t length);

void triad_exposition_uint(struct triad_exposition *writer, uint64_t number);

/* Writes four times 'words', which may exceed 64 bits. */
void triad_exposition_octets(struct triad_exposition *writer, uint64_t words);

/* As "0x0123456789abcdef". */
void triad_exposition_guid(struct triad_exposition *writer, uint64_t guid);

/* The shortest text that reads back as 'number'. */
void triad_exposition_double(struct triad_exposition *writer, double number);

#endif
