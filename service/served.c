/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/served.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/text.h"
#include "triad/clock.h"

#define LINE_SIZE 512

enum kind { FLAG, COUNT, COUNT_64, REAL, TEXT, ADDRESS };

static const struct value {
	const char *name;
	enum kind kind;
	size_t offset, size;
} values[] = {
#define VALUE(name_, kind_, member)                                                    \
	{                                                                              \
		name_, kind_, offsetof(struct triad_served, member),                   \
			sizeof(((struct triad_served *)NULL)->member)                  \
	}
#define HTTP(name, member)                                                             \
	VALUE(name ".listening", FLAG, member.listening),                              \
		VALUE(name ".tls", FLAG, member.has_tls),                              \
		VALUE(name ".has_token", FLAG, member.has_token),                      \
		VALUE(name ".client_ca", FLAG, member.has_client_ca),                  \
		VALUE(name ".listen", ADDRESS, member.listen),                         \
		VALUE(name ".reason", TEXT, member.reason),                            \
		VALUE(name ".clients", COUNT, member.n_clients),                       \
		VALUE(name ".answers", COUNT_64, member.n_answers),                    \
		VALUE(name ".bad_requests", COUNT_64, member.n_bad_requests),          \
		VALUE(name ".unauthorized", COUNT_64, member.n_unauthorized),          \
		VALUE(name ".not_found", COUNT_64, member.n_not_found),                \
		VALUE(name ".bad_methods", COUNT_64, member.n_bad_methods),            \
		VALUE(name ".no_memory", COUNT_64, member.n_no_memory),                \
		VALUE(name ".unchanged", COUNT_64, member.n_unchanged),                \
		VALUE(name ".refused", COUNT_64, member.n_refused),                    \
		VALUE(name ".too_many", COUNT_64, member.n_too_many),                  \
		VALUE(name ".timeouts", COUNT_64, member.n_timeouts),                  \
		VALUE(name ".incomplete", COUNT_64, member.n_incomplete),              \
		VALUE(name ".broken_off", COUNT_64, member.n_broken_off),              \
		VALUE(name ".octets", COUNT_64, member.octets)
	VALUE("version", TEXT, version),
	VALUE("start", COUNT_64, start),
	VALUE("configured", COUNT_64, configured),
	HTTP("prometheus", prometheus),
	HTTP("web", web.http),
	VALUE("web.streams", COUNT, web.n_streams),
	VALUE("web.running", COUNT, web.pool.n_running),
	VALUE("web.waiting", COUNT, web.pool.n_waiting),
	VALUE("web.jobs", COUNT_64, web.pool.n_jobs),
	VALUE("web.busy", COUNT_64, web.pool.n_busy),
	VALUE("web.shared", COUNT_64, web.pool.n_shared),
	VALUE("web.lost", COUNT_64, web.pool.n_lost),
	VALUE("images.on", FLAG, images.is_on),
	VALUE("images.read", FLAG, images.is_read),
	VALUE("images.images", COUNT_64, images.n_images),
	VALUE("images.written_octets", COUNT_64, images.n_written_octets),
	VALUE("images.dropped", COUNT_64, images.n_dropped),
	VALUE("images.removed", COUNT_64, images.n_removed),
	VALUE("images.octets", COUNT_64, images.octets),
	VALUE("images.copied_octets", COUNT_64, images.copied_octets),
	VALUE("images.copied_images", COUNT_64, images.n_copied_images),
	VALUE("images.max_octets", COUNT_64, images.max_octets),
	VALUE("images.kept", COUNT_64, images.n_kept),
	VALUE("images.segments", COUNT_64, images.n_segments),
	VALUE("images.first_us", COUNT_64, images.first_us),
	VALUE("images.last_us", COUNT_64, images.last_us),
	VALUE("images.took_us", COUNT_64, images.took_us),
	VALUE("images.ns_per_port", REAL, images.ns_per_port),
	VALUE("images.left_out", COUNT, images.n_left_out),
	VALUE("images.error", COUNT, images.error),
	VALUE("images.reason", TEXT, images.reason),
	VALUE("copies.on", FLAG, copies.is_on),
	VALUE("copies.trouble", TEXT, copies.trouble),
	VALUE("copies.lost", COUNT_64, copies.n_dropped),
	VALUE("copies.copied", COUNT_64, copies.mirror.n_copied),
	VALUE("copies.copied_octets", COUNT_64, copies.mirror.n_copied_octets),
	VALUE("copies.given_octets", COUNT_64, copies.mirror.n_given_octets),
	VALUE("copies.bad", COUNT_64, copies.mirror.n_bad),
	VALUE("copies.failed", COUNT_64, copies.mirror.n_failed),
	VALUE("copies.error", COUNT, copies.mirror.error),
	VALUE("copies.malformed", COUNT_64, copies.mirror.n_malformed),
	VALUE("copies.versions", COUNT_64, copies.mirror.n_versions),
	VALUE("copies.members", COUNT, copies.mirror.n_members),
	VALUE("copies.lacking_octets", COUNT_64, copies.mirror.lacking_octets),
	VALUE("copies.behind_us", COUNT_64, copies.mirror.behind_us),
	VALUE("copies.behind_for_us", COUNT_64, copies.mirror.behind_for_us),
	VALUE("copies.behind_of", COUNT_64, copies.mirror.behind_of),
	VALUE("profile.is_on", FLAG, profile.is_on),
	VALUE("profile.frames", COUNT_64, profile.n_frames),
	VALUE("profile.rows", COUNT_64, profile.n_rows),
	VALUE("profile.files", COUNT_64, profile.n_files),
	VALUE("profile.dropped", COUNT_64, profile.n_dropped),
	VALUE("profile.skipped", COUNT_64, profile.n_skipped),
	VALUE("profile.file_octets", COUNT_64, profile.file_octets),
	VALUE("profile.reason", TEXT, profile.reason),
	VALUE("prometheus.trouble", TEXT, metrics_trouble),
	VALUE("web.trouble", TEXT, web.pool.trouble),
};
#define N_VALUES (sizeof(values) / sizeof(values[0]))

static void put_value(
	const struct value *value, const void *at, char *text, size_t size)
{
	char address[TRIAD_ADDRESS_TEXT_SIZE];

	switch (value->kind) {
	case FLAG:
		triad_text_append(text, size, "%d", *(const bool *)at);
		break;
	case COUNT:
		triad_text_append(text, size, "%u", *(const unsigned *)at);
		break;
	case COUNT_64:
		triad_text_append(text, size, "%" PRIu64, *(const uint64_t *)at);
		break;
	case REAL:
		triad_text_append(text, size, "%.3f", *(const double *)at);
		break;
	case TEXT:
		triad_text_append(text, size, "%s", (const char *)at);
		break;
	case ADDRESS:
		triad_address_format(at, address);
		triad_text_append(text, size, "%s", address);
		break;
	}
}

/* Whether the value is its default, which a report leaves out. */
static bool is_unset(const struct value *value, const void *at)
{
	static const struct triad_served none;

	return value->kind == TEXT ? !*(const char *)at
				   : !memcmp(at, &none, value->size);
}

void triad_served_put(const struct triad_served *served, char *text, size_t size)
{
	char line[LINE_SIZE];

	text[0] = '\0';
	for (size_t i = 0; i < N_VALUES; i++) {
		const char *at = (const char *)served + values[i].offset;

		if (is_unset(&values[i], at))
			continue;
		snprintf(line, sizeof(line), "%s=", values[i].name);
		put_value(&values[i], at, line, sizeof(line));
		for (char *c = line; *c; c++)
			if (*c == '\n')
				*c = ' ';
		triad_text_append(text, size, "%s\n", line);
	}
}

static void take_value(const struct value *value, void *at, const char *text)
{
	char reason[256];

	switch (value->kind) {
	case FLAG:
		*(bool *)at = *text == '1';
		break;
	case COUNT:
		*(unsigned *)at = (unsigned)strtoul(text, NULL, 10);
		break;
	case COUNT_64:
		*(uint64_t *)at = strtoull(text, NULL, 10);
		break;
	case REAL:
		*(double *)at = strtod(text, NULL);
		if (!isfinite(*(double *)at))
			*(double *)at = 0;
		break;
	case TEXT:
		snprintf(at, value->size, "%s", text);
		triad_text_clean(at);
		break;
	case ADDRESS:
		(void)triad_address_parse(text, 0, at, reason, sizeof(reason));
		break;
	}
}

static void take_line(char *line, struct triad_served *served)
{
	char *text = strchr(line, '=');

	if (!text)
		return;
	*text++ = '\0';
	for (size_t i = 0; i < N_VALUES; i++)
		if (!strcmp(values[i].name, line))
			take_value(&values[i], (char *)served + values[i].offset, text);
}

void triad_served_take(const char *text, struct triad_served *served)
{
	char line[LINE_SIZE];

	*served = (struct triad_served){.is_known = true};
	while (*text) {
		size_t n = strcspn(text, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		take_line(line, served);
		text += n + (text[n] == '\n');
	}
}

void triad_served_explain_silence(
	const struct triad_served *served, char text[TRIAD_SERVED_SILENCE_SIZE])
{
	char length[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format_length(triad_clock_now_us() - served->at_us, length);
	snprintf(text, TRIAD_SERVED_SILENCE_SIZE, "triadd has not been heard of %s%s",
		served->is_known ? "for " : "since this program started",
		served->is_known ? length : "");
}
