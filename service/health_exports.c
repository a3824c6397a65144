/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/health_exports.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "service/health.h"
#include "service/outside.h"
#include "service/service.h"
#include "triad/clock.h"

const char *triad_health_output_name(enum triad_health_output output)
{
	static const char *const names[TRIAD_HEALTH_N_OUTPUTS] = {
		[TRIAD_HEALTH_PROMETHEUS] = "prometheus",
		[TRIAD_HEALTH_WEB] = "web",
		[TRIAD_HEALTH_PROFILE] = "profile",
		[TRIAD_HEALTH_ALERTS_FILE] = "alerts_file",
		[TRIAD_HEALTH_WEBHOOK] = "webhook",
		[TRIAD_HEALTH_SFLOW] = "sflow",
		[TRIAD_HEALTH_HISTORY] = "history",
		[TRIAD_HEALTH_IMAGES] = "images",
	};

	return names[output];
}

static void add_output(struct triad_health *health, enum triad_health_output output,
	const char *what, const char *advice)
{
	static const char *const sections[TRIAD_HEALTH_N_OUTPUTS] = {"prometheus",
		"web", "profile", "alerts.file", "alerts.webhook", "sflow", "history",
		"history.dir"};

	health->is_failing[output] = true;
	triad_health_add_trouble(health, TRIAD_WARNING, sections[output], what, advice);
}

static bool is_sflow_failing(const struct triad_sflow_sender_status *status)
{
	bool is_failing = false;

	for (unsigned i = 0; i < status->n_collectors; i++)
		is_failing |= status->collectors[i].failing;
	return is_failing;
}

/* An output whose disk hangs. */
static void add_hung(struct triad_health *health, enum triad_health_output output,
	uint64_t hung_us, const char *advice)
{
	char what[TRIAD_HEALTH_PLACE_SIZE], length[TRIAD_CLOCK_TEXT_SIZE];

	triad_clock_format_length(hung_us, length);
	snprintf(what, sizeof(what), "the disk of its file has not answered for %s",
		length);
	add_output(health, output, what, advice);
}

static void add_history(struct triad_health *health, struct triad_service *service)
{
	struct triad_recorder_status status = triad_recorder_status(service->recorder);
	char why[256];

	if (status.hung_us) {
		add_hung(health, TRIAD_HEALTH_HISTORY, status.hung_us,
			"look after the disk of state.dir; events are kept in memory");
	} else if (status.error) {
		add_output(health, TRIAD_HEALTH_HISTORY, status.reason,
			"events are kept in memory, and the file is tried again");
	} else if (triad_state_probe_fails(service->state_probe, why, sizeof(why))) {
		char what[sizeof(why) + 32];

		snprintf(what, sizeof(what), "state.dir can't be written: %s", why);
		add_output(health, TRIAD_HEALTH_HISTORY, what,
			"make room there, or mend it, before there is an event or a "
			"silence to write");
	}
}

static void add_silence(struct triad_health *health, enum triad_health_output output,
	const struct triad_served *served)
{
	char what[TRIAD_SERVED_SILENCE_SIZE];

	triad_served_explain_silence(served, what);
	add_output(health, output, what,
		served->is_connected
			? "it does this, and is connected: it hangs or is of another "
			  "release; " TRIAD_SERVED_RESTART ", and see its log"
			: served->is_known
			? "it does this: " TRIAD_SERVED_RESTART ", and see its log"
			: "it does this: install it if it is not there, "
			  "then " TRIAD_SERVED_RESTART ", and see its log");
}

static void add_listener(struct triad_health *health, enum triad_health_output output,
	const char *configured, const struct triad_served *served,
	const struct triad_http_status *status, const char *trouble)
{
	char advice[64];

	if (*configured && served->is_silent)
		add_silence(health, output, served);
	if (*trouble)
		add_output(health, output, trouble,
			"make room there on this host: triadd puts each answer together "
			"there before it is sent");
	if (!status->reason[0])
		return;
	snprintf(advice, sizeof(advice), "mend it in [%s], then 'triadctl reload'",
		triad_health_output_name(output));
	add_output(health, output, status->reason, advice);
}

/* Adds a line only if images are configured: most installations have none. */
static void add_images(struct triad_health *health, struct triad_service *service,
	const struct triad_served *served)
{
	const struct triad_history_status *status = &served->images;
	char kept[TRIAD_CLOCK_TEXT_SIZE + 32] = "none yet", at[TRIAD_CLOCK_TEXT_SIZE];

	if (!triad_service_keeps_images(service))
		return;
	if (served->is_silent)
		add_silence(health, TRIAD_HEALTH_IMAGES, served);
	else if (status->error)
		add_output(health, TRIAD_HEALTH_IMAGES, status->reason,
			"look at the disk and at history.dir; each sweep tries again");
	if (served->is_silent) {
		triad_health_line(
			health, "images", "Images", TRIAD_WARNING, "not known");
		return;
	}
	if (!status->is_read) {
		triad_health_line_off(health, "images", "Images",
			served->is_known
				? "not known yet: triadd reads the folder first"
				: "not known yet: triadd has not been heard of yet");
		return;
	}
	if (status->first_us)
		snprintf(kept, sizeof(kept), "%" PRIu64 " since %s", status->n_kept,
			triad_clock_format_s(status->first_us, at));
	else if (status->n_copied_images)
		snprintf(kept, sizeof(kept), "%" PRIu64 " of other SMs",
			status->n_copied_images);
	triad_health_line(health, "images", "Images",
		status->error ? TRIAD_WARNING : TRIAD_OK,
		"%s, %" PRIu64 " of %" PRIu64 " MB; %" PRIu64 " not written", kept,
		(status->octets + status->copied_octets) / 1000000,
		status->max_octets / 1000000, status->n_dropped);
}

static void add_copies(struct triad_health *health, const struct triad_served *served)
{
	const struct triad_history_mirror_status *status = &served->copies;
	char what[TRIAD_HEALTH_PLACE_SIZE], length[TRIAD_CLOCK_TEXT_SIZE];

	/* Images have said so. */
	if (served->is_silent)
		return;
	if (status->trouble[0]) {
		triad_health_add_trouble(health, TRIAD_WARNING, "history.replicate",
			"no images are copied", status->trouble);
	} else if (status->mirror.error) {
		triad_health_add_trouble(health, TRIAD_WARNING, "history.replicate",
			strerror(status->mirror.error),
			"other SMs' images can't be written to history.dir: look at its "
			"disk; it is tried again");
	} else if (status->mirror.behind_for_us > TRIAD_HISTORY_BEHIND_US) {
		triad_clock_format_length(status->mirror.behind_for_us, length);
		snprintf(what, sizeof(what),
			"images of SM 0x%016" PRIx64 " are behind for %s",
			status->mirror.behind_of, length);
		triad_health_add_trouble(health, TRIAD_WARNING, "history.replicate",
			what,
			"'triadctl status --all' has how much is lacking, and whether it "
			"shrinks: each SM sends 500 kB/s at most; if its clock is a day "
			"ahead, set it right");
	}
}

/* "off", "on", or why not. */
static const char *state_of_listener(const char *configured,
	const struct triad_served *served, const struct triad_http_status *status)
{
	if (!*configured)
		return "off";
	if (status->listening)
		return "on";
	return served->is_current ? "not listening" : "not known";
}

/* What triadd has said of its profile is of the configuration in force. */
static bool is_profile_known(
	struct triad_service *service, const struct triad_served *served)
{
	uint64_t number = 0;

	triad_conf_unref(triad_service_in_force(service, &number));
	return served->is_current && served->configured >= number;
}

static bool is_profile_wanted(struct triad_service *service)
{
	uint64_t number;
	const struct triad_conf *conf = triad_service_in_force(service, &number);
	bool is_wanted = conf && *conf->profile.file;

	triad_conf_unref(conf);
	return is_wanted;
}

const char *triad_exports_profile_state(
	struct triad_service *service, const struct triad_served *served)
{
	if (!is_profile_wanted(service))
		return "off";
	if (!is_profile_known(service, served))
		return "not known";
	return served->profile.file_octets && !*served->profile.reason ? "written"
								       : "not written";
}

static void add_profile(struct triad_health *health, struct triad_service *service,
	const struct triad_served *served)
{
	if (!is_profile_wanted(service))
		return;
	if (served->is_silent)
		add_silence(health, TRIAD_HEALTH_PROFILE, served);
	else if (!is_profile_known(service, served))
		return;
	else if (!served->profile.is_on)
		add_output(health, TRIAD_HEALTH_PROFILE,
			"triadd on this host does not write profiles",
			"install triadd of the same release, then 'systemctl restart "
			"triadd'");
	else if (served->profile.reason[0])
		add_output(health, TRIAD_HEALTH_PROFILE, served->profile.reason,
			"look at the disk and at profile.file, which user triadd writes");
}

/* Adds what triadd serves; writes it in words. */
static void add_served(struct triad_health *health, struct triad_service *service,
	const struct triad_served *served, char *text, size_t size)
{
	char listen[TRIAD_ADDRESS_TEXT_SIZE] = "";
	uint64_t number;
	const struct triad_conf *conf = triad_service_in_force(service, &number);

	if (!conf) {
		snprintf(text, size, "Prometheus off; page off");
		return;
	}
	add_listener(health, TRIAD_HEALTH_PROMETHEUS, conf->prometheus.listen, served,
		&served->prometheus, served->metrics_trouble);
	add_listener(health, TRIAD_HEALTH_WEB, conf->web.http.listen, served,
		&served->web.http, served->web.pool.trouble);
	if (served->prometheus.listening)
		triad_address_format(&served->prometheus.listen, listen);
	snprintf(text, size, "Prometheus %s%s; page %s", *listen ? "at " : "",
		*listen ? listen
			: state_of_listener(
				  conf->prometheus.listen, served, &served->prometheus),
		state_of_listener(conf->web.http.listen, served, &served->web.http));
	triad_conf_unref(conf);
}

void triad_exports_add_health(
	struct triad_health *health, struct triad_service *service)
{
	struct triad_served served = triad_service_served(service);
	struct triad_sflow_sender_status sflow =
		triad_exports_sflow_status(service->exports);
	struct triad_alert_log_status log = triad_alert_log_status(service->alert_log);
	struct triad_webhook_status webhook = triad_webhook_status(service->webhook);
	char served_text[128];
	bool is_bad = false;

	add_served(health, service, &served, served_text, sizeof(served_text));
	add_profile(health, service, &served);
	if (log.file_hung_us)
		add_hung(health, TRIAD_HEALTH_ALERTS_FILE, log.file_hung_us,
			"look after the disk of alerts.file; alerts are in the log and in "
			"'triadctl alerts'");
	else if (log.file_error)
		add_output(health, TRIAD_HEALTH_ALERTS_FILE, strerror(log.file_error),
			"look at the disk and at alerts.file");
	if (webhook.is_on && served.is_silent)
		add_silence(health, TRIAD_HEALTH_WEBHOOK, &served);
	else if (webhook.is_failing)
		add_output(health, TRIAD_HEALTH_WEBHOOK, webhook.reason,
			"look whether alerts.webhook, its CA and its token are right and "
			"the server runs; alerts are sent again once it takes them");
	if (is_sflow_failing(&sflow))
		add_output(health, TRIAD_HEALTH_SFLOW, "a collector can't be sent to",
			"'triadctl status --all' shows which and why");
	add_history(health, service);
	add_images(health, service, &served);
	add_copies(health, &served);
	for (unsigned i = 0; i < TRIAD_HEALTH_N_OUTPUTS; i++)
		is_bad |= health->is_failing[i] && i != TRIAD_HEALTH_IMAGES;
	triad_health_line(health, "exports", "Exports",
		is_bad ? TRIAD_WARNING : TRIAD_OK,
		"%s; sFlow %u collector%s; profile file %s; "
		"webhook %s",
		served_text, sflow.n_collectors, sflow.n_collectors == 1 ? "" : "s",
		triad_exports_profile_state(service, &served),
		webhook.is_on ? "on" : "off");
}
