/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "history/lines.h"

#include <string.h>

void triad_history_lines_begin(struct triad_history_lines *lines,
	struct triad_history_out *out, const char *name)
{
	lines->out = out;
	lines->name = name;
	lines->n = 0;
}

static void write_hex_line(struct triad_history_lines *lines)
{
	char *begin = triad_history_line(lines->out);
	char *to = stpcpy(begin, lines->name);

	to += triad_history_put_hex(to, lines->octets, lines->n);
	*to++ = '\n';
	triad_history_add(lines->out, (size_t)(to - begin));
	lines->n = 0;
}

void triad_history_lines_put(
	struct triad_history_lines *lines, const void *octets, size_t size)
{
	const uint8_t *from = octets;

	while (size) {
		size_t n = sizeof(lines->octets) - lines->n;

		n = n < size ? n : size;
		memcpy(lines->octets + lines->n, from, n);
		lines->n += (uint32_t)n;
		from += n;
		size -= n;
		if (lines->n == sizeof(lines->octets))
			write_hex_line(lines);
	}
}

void triad_history_lines_end(struct triad_history_lines *lines)
{
	if (lines->n)
		write_hex_line(lines);
}
