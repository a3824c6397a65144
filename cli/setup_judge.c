/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/setup_judge.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/opensm_conf.h"
#include "lib/text.h"

struct triad_setup_check *triad_setup_check(struct triad_setup_checks *checks,
	enum triad_setup_state state, const char *name, const char *format, ...)
{
	struct triad_setup_check *check;
	va_list args;

	if (checks->n < TRIAD_SETUP_MAX_CHECKS)
		checks->n++;
	checks->n_problems += state == TRIAD_SETUP_PROBLEM;
	check = &checks->checks[checks->n - 1];
	*check = (struct triad_setup_check){.state = state, .name = name};
	va_start(args, format);
	vsnprintf(check->text, sizeof(check->text), format, args);
	va_end(args);
	triad_text_clean(check->text);
	return check;
}

void triad_setup_advise(struct triad_setup_check *check, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(check->advice, sizeof(check->advice), format, args);
	va_end(args);
	triad_text_clean(check->advice);
}

/* --- what programs say --- */

bool triad_setup_read_help(const char *help, char path[PATH_MAX])
{
	const char *at = strstr(help, "--config");

	if (at)
		at = strstr(at, "not specified");
	at = at ? strchr(at, '/') : NULL;
	if (!at)
		return false;
	snprintf(path, PATH_MAX, "%.*s", (int)strcspn(at, " \t\r\n"), at);
	return true;
}

bool triad_setup_read_version(
	const char *output, char version[TRIAD_PLUGIN_VERSION_SIZE])
{
	static const char name[] = "OpenSM ";
	const char *line = output;

	while (strncmp(line, name, strlen(name))) {
		line = strchr(line, '\n');
		if (!line)
			return false;
		line++;
	}
	snprintf(version, TRIAD_PLUGIN_VERSION_SIZE, "%.*s", (int)strcspn(line, "\r\n"),
		line);
	return true;
}

static void read_trace_line(
	const char *line, const char *library, struct triad_setup_trace *trace)
{
	const char *found = strstr(line, "=> "), *lost = strstr(line, "=> not found");
	const char *symbol = strstr(line, "undefined symbol: ");
	const char *name = line + strspn(line, " \t");

	if (symbol || lost)
		triad_text_append(trace->missing, sizeof(trace->missing), "%s%.*s",
			*trace->missing ? ", " : "",
			symbol ? (int)strcspn(symbol, "\t(") : (int)strcspn(name, " "),
			symbol ? symbol : name);
	else if (found && !strncmp(name, library, strlen(library)) &&
		name[strlen(library)] == ' ')
		snprintf(trace->path, sizeof(trace->path), "%.*s",
			(int)strcspn(found + 3, " "), found + 3);
}

void triad_setup_read_trace(
	const char *output, const char *library, struct triad_setup_trace *trace)
{
	char line[PATH_MAX + 256];

	*trace = (struct triad_setup_trace){0};
	while (*output) {
		size_t n = strcspn(output, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)n, output);
		read_trace_line(line, library, trace);
		output += n + (output[n] == '\n');
	}
}

/* --- opensms that run --- */

/* The value of an option of opensm, in the same word or in the next one. */
static const char *value_of(
	const char *word, const char *next, const char *name, char letter)
{
	size_t n = strlen(name);

	if (!strcmp(word, name))
		return next;
	if (!strncmp(word, name, n) && word[n] == '=')
		return word + n + 1;
	if (word[0] != '-' || word[1] != letter)
		return NULL;
	return word[2] ? word + 2 : next;
}

void triad_setup_read_words(const char *words, size_t size, struct triad_setup_sm *sm)
{
	size_t n;

	for (size_t at = 0; at < size; at += n + 1) {
		const char *next, *conf, *log;

		n = strnlen(words + at, size - at);
		if (at + n >= size)
			return;
		next = at + n + 1 < size &&
				memchr(words + at + n + 1, '\0', size - at - n - 1)
			? words + at + n + 1
			: NULL;
		conf = value_of(words + at, next, "--config", 'F');
		log = value_of(words + at, next, "--log_file", 'f');
		if (conf)
			snprintf(sm->conf, sizeof(sm->conf), "%s", conf);
		if (log)
			snprintf(sm->log, sizeof(sm->log), "%s", log);
	}
}

static bool is_naming(const char *line, size_t size)
{
	static const char between[] = " \t\"'=";
	static const char *const options[] = {"-F", "--config"};

	for (size_t i = strspn(line, between); i < size;) {
		size_t n = strcspn(line + i, " \t\"'=\n");

		for (size_t k = 0; k < 2; k++)
			if (n == strlen(options[k]) &&
				!strncmp(line + i, options[k], n))
				return true;
		/* "-F/etc/a.conf" */
		if (!strncmp(line + i, "-F/", 3))
			return true;
		i += n;
		i += strspn(line + i, between);
	}
	return false;
}

bool triad_setup_names_conf(const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		char first = text[strspn(text, " \t")];

		if (first != '#' && first != ';' && is_naming(text, n))
			return true;
		text += n + (text[n] == '\n');
	}
	return false;
}

bool triad_setup_choose(const char *chosen, const struct triad_setup_sm *sms,
	unsigned n, const char *default_conf, const char *ambiguity,
	char path[PATH_MAX], char *message, size_t size)
{
	unsigned n_others = 0;

	snprintf(path, PATH_MAX, "%s",
		chosen      ? chosen
			: n ? sms[0].conf
			    : default_conf);
	if (chosen)
		return true;
	for (unsigned i = 1; i < n; i++)
		n_others += strcmp(sms[i].conf, path) != 0;
	if (n_others) {
		snprintf(message, size,
			"several opensms run here, with different configurations; "
			"choose one with --conf:");
		for (unsigned i = 0; i < n; i++)
			triad_text_append(message, size, "\n  %s (process %d)",
				sms[i].conf, sms[i].pid);
		return false;
	}
	if (!n && *ambiguity) {
		snprintf(message, size,
			"no opensm runs here, and %s; name the file with --conf",
			ambiguity);
		return false;
	}
	if (!*path)
		snprintf(message, size,
			"which configuration OpenSM reads is not known here; name it "
			"with --conf");
	return *path;
}

/* --- the plugin --- */

static void judge_place(
	const struct triad_setup_plugin *plugin, struct triad_setup_checks *checks)
{
	struct triad_setup_check *check;

	if (!*plugin->trace.path) {
		check = triad_setup_check(checks, TRIAD_SETUP_PROBLEM, "plugin",
			TRIAD_OPENSM_LIBRARY " is not where the dynamic linker looks");
		triad_setup_advise(check,
			"install Triad, then run ldconfig; if it is in /usr/local/lib "
			"and still not found, put that line into "
			"/etc/ld.so.conf.d/osmtriad.conf and run ldconfig again");
	} else if (*plugin->trace.missing) {
		check = triad_setup_check(checks, TRIAD_SETUP_PROBLEM, "plugin",
			"%s can't be loaded into %s, which lacks: %s",
			plugin->trace.path, plugin->opensm, plugin->trace.missing);
		triad_setup_advise(check,
			"install the libraries that are missing, or a Triad that was "
			"built on this system");
	} else if (plugin->library_path && *plugin->library_path) {
		check = triad_setup_check(checks, TRIAD_SETUP_WARNING, "plugin",
			"%s was found with LD_LIBRARY_PATH set", plugin->trace.path);
		triad_setup_advise(check,
			"OpenSM's service may not have that: try again without it");
	} else {
		triad_setup_check(
			checks, TRIAD_SETUP_OK, "plugin", "%s", plugin->trace.path);
	}
}

static void judge_version(
	const struct triad_setup_plugin *plugin, struct triad_setup_checks *checks)
{
	struct triad_setup_check *check;

	if (plugin->error) {
		check = triad_setup_check(checks, TRIAD_SETUP_PROBLEM, "version",
			"%s: %s", plugin->trace.path,
			plugin->error == ENOENT            ? "it is no plugin of OpenSM"
				: plugin->error == ENOEXEC ? "it is no shared object "
							     "of this machine"
							   : strerror(plugin->error));
		triad_setup_advise(check, "install Triad again");
	} else if (strcmp(plugin->version, plugin->opensm_version)) {
		check = triad_setup_check(checks, TRIAD_SETUP_PROBLEM, "version",
			"the plugin was built for %s, but %s is %s: OpenSM loads a "
			"plugin of its own version alone",
			plugin->version, plugin->opensm, plugin->opensm_version);
		triad_setup_advise(check,
			"install the Triad for this OpenSM, or build it against this "
			"OpenSM's headers");
	} else {
		triad_setup_check(checks, TRIAD_SETUP_OK, "version",
			"the plugin was built for %s", plugin->version);
	}
}

void triad_setup_judge_plugin(
	const struct triad_setup_plugin *plugin, struct triad_setup_checks *checks)
{
	struct triad_setup_check *check;

	if (!*plugin->opensm || !*plugin->opensm_version) {
		check = triad_setup_check(checks, TRIAD_SETUP_PROBLEM, "opensm",
			*plugin->opensm ? "%s doesn't say its version"
					: "opensm is not installed%s",
			plugin->opensm);
		triad_setup_advise(check,
			"install OpenSM (opensm in Debian's and Red Hat's packages)");
		return;
	}
	triad_setup_check(checks, TRIAD_SETUP_OK, "opensm", "%s, %s", plugin->opensm,
		plugin->opensm_version);
	judge_place(plugin, checks);
	if (*plugin->trace.path)
		judge_version(plugin, checks);
}

/* --- OpenSM's log --- */

bool triad_setup_judge_line(const char *line, const char **advice, bool *is_final)
{
	static const struct {
		const char *part, *advice;
		bool is_final;
	} known[] = {
		{"version mismatch",
			"install the Triad for this OpenSM, or build it against this "
			"OpenSM's headers",
			false},
		{"Failed to open event plugin",
			"see what the line says is missing; the service's environment "
			"may differ from yours",
			false},
		{"Failed to find \"osm_event_plugin\"", "install Triad again", false},
		{"Error loading plugin", "install the Triad for this OpenSM", false},
		{"ERR 1000: cannot load plugin '" TRIAD_OPENSM_PLUGIN "'", NULL, true},
		{"triad: error: ", NULL, false},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (!strstr(line, known[i].part))
			continue;
		*advice = known[i].advice;
		*is_final = known[i].is_final;
		return true;
	}
	return false;
}
