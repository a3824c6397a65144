/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/diag.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/text.h"

void triad_diags_init(struct triad_diags *diags, const char *source)
{
	diags->n = 0;
	diags->n_total = 0;
	snprintf(diags->source, sizeof(diags->source), "%s", source);
	triad_text_clean(diags->source);
}

/* Replaces the last entry by the number of those without room. */
static void count_one_more(struct triad_diags *diags)
{
	struct triad_diag *last = &diags->entries[TRIAD_DIAG_MAX - 1];

	last->line = 0;
	last->column = 0;
	snprintf(last->text, sizeof(last->text), "%zu more mistakes aren't shown",
		diags->n_total - (TRIAD_DIAG_MAX - 1));
}

void triad_diags_add(struct triad_diags *diags, unsigned line, unsigned column,
	const char *format, ...)
{
	struct triad_diag *diag;
	va_list args;

	diags->n_total++;
	if (diags->n == TRIAD_DIAG_MAX) {
		count_one_more(diags);
		return;
	}
	diag = &diags->entries[diags->n++];
	diag->line = line;
	diag->column = column;
	diag->text[0] = '\0';
	va_start(args, format);
	vsnprintf(diag->text, sizeof(diag->text), format, args);
	va_end(args);
	triad_text_clean(diag->text);
}

void triad_diags_format(
	const struct triad_diags *diags, size_t i, char *text, size_t size)
{
	const struct triad_diag *diag = &diags->entries[i];

	snprintf(text, size, "%s:", diags->source);
	if (diag->line)
		triad_text_append(text, size, "%u:", diag->line);
	if (diag->column)
		triad_text_append(text, size, "%u:", diag->column);
	triad_text_append(text, size, " %s", diag->text);
}
