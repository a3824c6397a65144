/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where a mistake is in the text, and what is reported of it. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "lib/text.h"
#include "qos/policy/policy_build.h"

/* Moves the location back to 'at', which is before the last place. */
static void go_back(struct triad_policy_builder *builder, size_t at)
{
	const char *text = builder->text, *newline;
	size_t n = 0;

	for (size_t i = at; i < builder->at; i++)
		n += text[i] == '\n';
	/* On another line the column is counted from that line's beginning. */
	if (n) {
		newline = memrchr(text, '\n', at);
		builder->location.line -= (uint32_t)n;
		builder->location.column =
			(uint32_t)(text + at - (newline ? newline + 1 : text)) + 1;
	} else {
		builder->location.column -= (uint32_t)(builder->at - at);
	}
	builder->at = at;
}

struct triad_source_location triad_policy_location(
	struct triad_policy_builder *builder, size_t at)
{
	const char *newline;

	/* Locations are requested nearly in order.  So continue from the last one: a
	 * large file is then scanned once, not once for each location. */
	if (at < builder->at)
		go_back(builder, at);
	while ((newline =
			memchr(builder->text + builder->at, '\n', at - builder->at))) {
		builder->at = (size_t)(newline - builder->text) + 1;
		builder->location =
			(struct triad_source_location){builder->location.line + 1, 1};
	}
	builder->location.column += (uint32_t)(at - builder->at);
	builder->at = at;
	return builder->location;
}

void triad_policy_report(struct triad_policy_builder *builder,
	struct triad_source_location location, const char *format, ...)
{
	char text[TRIAD_DIAG_TEXT_SIZE] = "";
	va_list args;

	/* A mistake beyond the limit is only counted: don't make a text. */
	if (triad_policy_is_shown(builder)) {
		va_start(args, format);
		triad_text_vappend(text, sizeof(text), format, args);
		va_end(args);
	}
	triad_diags_add(builder->diags, location.line, location.column, "%s", text);
}

void triad_policy_out_of_memory(struct triad_policy_builder *builder)
{
	/* Report it once: later attempts may fail for the same reason. */
	builder->stopped = true;
	if (builder->error)
		return;
	builder->error = ENOMEM;
	triad_diags_add(builder->diags, 0, 0, "memory is short");
}

bool triad_policy_is_shown(const struct triad_policy_builder *builder)
{
	return builder->diags->n < TRIAD_DIAG_MAX;
}
