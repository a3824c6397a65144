/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/health.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool is_worse(
	const struct triad_health_finding *a, const struct triad_health_finding *b)
{
	if (a->is_over != b->is_over)
		return b->is_over;
	if (a->severity != b->severity)
		return triad_severity_is_worse(a->severity, b->severity);
	if (a->weight != b->weight)
		return a->weight > b->weight;
	return a->since_us > b->since_us;
}

/* How many of the kept findings are as bad or worse. */
static uint32_t rank_of(
	const struct triad_health *health, const struct triad_health_finding *finding)
{
	uint32_t rank = health->n_findings;

	while (rank && is_worse(finding, &health->findings[rank - 1]))
		rank--;
	return rank;
}

bool triad_health_would_keep(
	const struct triad_health *health, const struct triad_health_finding *finding)
{
	return rank_of(health, finding) < TRIAD_HEALTH_MAX_FINDINGS;
}

/* Which of the kept findings goes when there are too many: the last that another command
 * lists, if one of the lowest severity does; else the last. */
static uint32_t find_spare(const struct triad_health *health)
{
	uint32_t last = health->n_findings - 1;

	for (uint32_t i = last + 1; i-- > 0;) {
		if (health->findings[i].severity != health->findings[last].severity ||
			health->findings[i].is_over != health->findings[last].is_over)
			break;
		if (!health->findings[i].is_alone)
			return i;
	}
	return last;
}

void triad_health_add(
	struct triad_health *health, const struct triad_health_finding *finding)
{
	uint32_t at = rank_of(health, finding), spare;

	health->n_of[finding->severity]++;
	if (triad_severity_is_worse(finding->severity, health->verdict))
		health->verdict = finding->severity;
	memmove(&health->findings[at + 1], &health->findings[at],
		(health->n_findings - at) * sizeof(health->findings[0]));
	health->findings[at] = *finding;
	if (++health->n_findings <= TRIAD_HEALTH_MAX_FINDINGS)
		return;
	spare = find_spare(health);
	health->n_findings--;
	memmove(&health->findings[spare], &health->findings[spare + 1],
		(health->n_findings - spare) * sizeof(health->findings[0]));
}

void triad_health_add_trouble(struct triad_health *health, enum triad_severity severity,
	const char *at, const char *what, const char *advice)
{
	struct triad_health_finding finding = {.severity = severity, .is_alone = true};

	snprintf(finding.at, sizeof(finding.at), "%s", at);
	snprintf(finding.what, sizeof(finding.what), "%s", what);
	snprintf(finding.advice, sizeof(finding.advice), "%s", advice);
	triad_health_add(health, &finding);
}

static struct triad_health_line *add_line(
	struct triad_health *health, const char *name, const char *title)
{
	struct triad_health_line *line = &health->lines[TRIAD_HEALTH_MAX_LINES - 1];

	if (health->n_lines < TRIAD_HEALTH_MAX_LINES)
		line = &health->lines[health->n_lines++];
	*line = (struct triad_health_line){.name = name, .title = title};
	return line;
}

void triad_health_line(struct triad_health *health, const char *name, const char *title,
	enum triad_severity severity, const char *format, ...)
{
	struct triad_health_line *line = add_line(health, name, title);
	va_list args;

	line->severity = severity;
	va_start(args, format);
	vsnprintf(line->text, sizeof(line->text), format, args);
	va_end(args);
}

void triad_health_line_off(struct triad_health *health, const char *name,
	const char *title, const char *why)
{
	struct triad_health_line *line = add_line(health, name, title);

	line->is_off = true;
	snprintf(line->text, sizeof(line->text), "%s", why);
}
