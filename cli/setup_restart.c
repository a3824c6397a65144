/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <glib.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/setup_parts.h"
#include "lib/text.h"
#include "triad/clock.h"
#include "triad/file.h"

#define POLL_US (TRIAD_US_PER_S / 5)
#define MAX_LOGS 64
#define GROUP "ControlGroup="
#define DEFAULT_LOG "/var/log/opensm.log"

/* A log of OpenSM, and its end before the restart. */
struct log {
	char path[PATH_MAX];
	ino_t file;
	off_t end;
};

struct logs {
	unsigned n;
	struct log logs[MAX_LOGS];
};

/* --- the service --- */

void triad_setup_find_groups(struct triad_setup *setup)
{
	/* Debian's service starts an instance of a template for each port. */
	const char *words[] = {"systemctl", "show", "--property=ControlGroup",
		setup->unit, "opensm@*.service", NULL};

	if (triad_setup_run(words, NULL, TRIAD_SETUP_LOOK_S, &setup->groups)) {
		g_free(setup->groups);
		setup->groups = NULL;
	}
}

/* The unit's files, for g_free(); NULL: there is no such unit. */
static char *read_unit(const char *unit)
{
	const char *words[] = {"systemctl", "cat", unit, NULL};
	char *files;

	if (!triad_setup_run(words, NULL, TRIAD_SETUP_LOOK_S, &files))
		return files;
	g_free(files);
	return NULL;
}

/* Checks whether the unit names a configuration for OpenSM. */
static void look_for_conf(
	struct triad_setup *setup, const char *unit, const char *files)
{
	if (files && triad_setup_names_conf(files))
		snprintf(setup->ambiguity, sizeof(setup->ambiguity),
			"%s tells it which configuration to read", unit);
}

void triad_setup_find_unit(struct triad_setup *setup)
{
	static const char *const units[] = {"opensm.service", "opensmd.service"};
	/* Debian's service starts one of these for each port. */
	static const char template[] = "opensm@.service";
	char *files = NULL;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]) && !files; i++) {
		files = read_unit(units[i]);
		if (!files)
			continue;
		snprintf(setup->unit, sizeof(setup->unit), "%s", units[i]);
		look_for_conf(setup, units[i], files);
	}
	if (!files)
		return;
	g_free(files);
	files = read_unit(template);
	look_for_conf(setup, template, files);
	g_free(files);
}

/* In /proc/PID/cgroup, systemd's own hierarchy is the one without controllers. */
static bool is_in_group(const char *line, const char *group)
{
	const char *path = strstr(line, "::");
	size_t n = strlen(group);

	if (path)
		path += 2;
	else if ((path = strstr(line, ":name=systemd:")))
		path += strlen(":name=systemd:");
	return path && !strncmp(path, group, n) && (!path[n] || path[n] == '/');
}

bool triad_setup_owns(const struct triad_setup *setup, const struct triad_setup_sm *sm)
{
	char path[64], octets[8192];
	bool is_owned = false;
	gchar **lines, **groups;
	size_t size;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", sm->pid);
	if (!setup->groups || triad_file_read(path, octets, sizeof(octets) - 1, &size))
		return false;
	octets[size] = '\0';
	lines = g_strsplit(octets, "\n", -1);
	groups = g_strsplit(setup->groups, "\n", -1);
	for (unsigned i = 0; lines[i]; i++)
		for (unsigned k = 0; groups[k]; k++)
			is_owned |= g_str_has_prefix(groups[k], GROUP "/") &&
				is_in_group(lines[i], groups[k] + strlen(GROUP));
	g_strfreev(groups);
	g_strfreev(lines);
	return is_owned;
}

/* --- OpenSM's log --- */

static void note_log(struct logs *logs, const char *path)
{
	struct log *log = &logs->logs[logs->n];
	struct stat status;

	for (unsigned i = 0; i < logs->n; i++)
		if (!strcmp(logs->logs[i].path, path))
			return;
	if (logs->n == MAX_LOGS || *path != '/')
		return;
	snprintf(log->path, sizeof(log->path), "%s", path);
	/* A log that does not exist yet is read from its start. */
	log->file = stat(path, &status) ? 0 : status.st_ino;
	log->end = log->file ? status.st_size : 0;
	logs->n++;
}

static void note_logs(const struct triad_setup *setup, struct logs *logs)
{
	char path[TRIAD_OPENSM_CONF_LINE_SIZE];
	glob_t found = {0};
	unsigned n;

	if (!triad_opensm_conf_get(
		    setup->edit.octets, setup->edit.size, "log_file", path, &n))
		snprintf(path, sizeof(path), DEFAULT_LOG);
	note_log(logs, path);
	for (unsigned i = 0; i < setup->n_sms; i++)
		note_log(logs, setup->sms[i].log);
	/* A service may name one for each port. */
	if (!glob("/var/log/opensm*.log", 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			note_log(logs, found.gl_pathv[i]);
	globfree(&found);
}

/* Keeps a line that explains why Triad is missing; returns whether it is final. */
static bool take_line(struct triad_setup *setup, char *line)
{
	const char *advice;
	bool is_final;

	line[strcspn(line, "\n")] = '\0';
	if (!triad_setup_judge_line(line, &advice, &is_final))
		return false;
	if (!setup->advice)
		setup->advice = advice;
	triad_text_clean(line);
	if (setup->n_lines < TRIAD_SETUP_MAX_LINES)
		snprintf(setup->lines[setup->n_lines++], sizeof(setup->lines[0]),
			"%.511s", line);
	return is_final;
}

/* Reads lines written since the restart; returns whether one is final. */
static bool read_log(struct triad_setup *setup, const struct log *log)
{
	FILE *stream = fopen(log->path, "re");
	bool is_final = false;
	struct stat status;
	char line[4096];

	if (!stream)
		return false;
	if (!fstat(fileno(stream), &status) && S_ISREG(status.st_mode)) {
		/* OpenSM may have begun its log anew. */
		bool is_same = status.st_ino == log->file && status.st_size >= log->end;

		if (is_same)
			(void)fseeko(stream, log->end, SEEK_SET);
		while (fgets(line, sizeof(line), stream))
			is_final |= take_line(setup, line);
	}
	fclose(stream);
	return is_final;
}

static bool read_logs(struct triad_setup *setup, const struct logs *logs)
{
	bool is_final = false;

	setup->n_lines = 0;
	setup->advice = NULL;
	for (unsigned i = 0; i < logs->n; i++)
		is_final |= read_log(setup, &logs->logs[i]);
	return is_final;
}

/* --- waiting --- */

static void show_progress(const struct triad_setup *setup, uint64_t waited_us)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rwaiting for Triad: %u s of %u\033[K",
			(unsigned)(waited_us / TRIAD_US_PER_S),
			setup->command->timeout_s);
}

/* Whether 'pid' is an opensm that reads the configuration and has started since. */
static bool is_new_sm(const void *context, int pid)
{
	const struct triad_setup *setup = context;
	bool is_there = false;

	for (unsigned i = 0; i < setup->n_sms; i++)
		is_there |= setup->sms[i].pid == pid;
	for (unsigned i = 0; i < setup->n_old; i++)
		is_there &= setup->old[i] != pid;
	return is_there;
}

enum triad_setup_answer triad_setup_ask(
	struct triad_setup *setup, char *reason, size_t size)
{
	const struct triad_setup_asker *asker = setup->asker;

	triad_setup_keep_sms(setup);
	return asker->ask(
		asker->context, setup->socket, is_new_sm, setup, reason, size);
}

static bool wait_for_answer(struct triad_setup *setup, struct logs *logs)
{
	enum triad_setup_answer answer = TRIAD_SETUP_SILENT;
	uint64_t start_us = triad_clock_now_us(), waited_us = 0;
	bool is_final = false;

	setup->was_asked = true;
	while (answer == TRIAD_SETUP_SILENT && !is_final &&
		waited_us < setup->command->timeout_s * TRIAD_US_PER_S) {
		is_final = read_logs(setup, logs);
		answer = triad_setup_ask(setup, setup->reason, sizeof(setup->reason));
		show_progress(setup, waited_us);
		if (answer == TRIAD_SETUP_SILENT && !is_final)
			g_usleep(POLL_US);
		waited_us = triad_clock_now_us() - start_us;
	}
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	/* Logs named on command lines are known only now that OpenSM runs. */
	for (unsigned i = 0; i < setup->n_sms; i++)
		note_log(logs, setup->sms[i].log);
	read_logs(setup, logs);
	if (answer == TRIAD_SETUP_IDLE)
		snprintf(setup->reason, sizeof(setup->reason),
			"Triad was loaded, but does nothing; 'triadctl health' says why");
	setup->is_loaded = answer == TRIAD_SETUP_WORKS;
	return answer != TRIAD_SETUP_SILENT;
}

/* Whether an opensm from before the restart still runs; then sets the reason. */
static bool explain_old(struct triad_setup *setup)
{
	int pid = 0;

	for (unsigned i = 0; i < setup->n_sms; i++)
		for (unsigned k = 0; k < setup->n_old; k++)
			if (setup->sms[i].pid == setup->old[k])
				pid = setup->old[k];
	if (pid)
		snprintf(setup->reason, sizeof(setup->reason),
			"opensm (process %d) from before the restart still runs; "
			"'systemctl status %s' says why",
			pid, setup->unit);
	return pid;
}

static void explain_silence(struct triad_setup *setup)
{
	char waited[1024];

	snprintf(waited, sizeof(waited), "%s", setup->reason);
	if (explain_old(setup))
		return;
	if (setup->n_lines)
		snprintf(setup->reason, sizeof(setup->reason),
			"OpenSM runs without Triad; its log says why:");
	else if (!setup->n_sms)
		snprintf(setup->reason, sizeof(setup->reason),
			"no opensm runs with %.500s; 'systemctl status %s' and "
			"'journalctl -u %s' say why",
			setup->conf, setup->unit, setup->unit);
	else
		snprintf(setup->reason, sizeof(setup->reason),
			"Triad did not answer within %u s: %.900s",
			setup->command->timeout_s, waited);
}

bool triad_setup_restart(struct triad_setup *setup)
{
	const char *words[] = {"systemctl", "restart", setup->unit, NULL};
	static struct logs logs;
	char *output;
	int status;

	note_logs(setup, &logs);
	for (unsigned i = 0; i < setup->n_sms; i++)
		setup->old[setup->n_old++] = setup->sms[i].pid;
	status = triad_setup_run(words, NULL, TRIAD_SETUP_RESTART_S, &output);
	if (status) {
		triad_text_clean(output);
		snprintf(setup->reason, sizeof(setup->reason),
			"'systemctl restart %s' failed: %.700s; 'journalctl -u %s' "
			"says more",
			setup->unit, output, setup->unit);
	}
	g_free(output);
	setup->has_restarted = !status;
	if (status)
		return false;
	if (setup->command->remove) {
		triad_setup_keep_sms(setup);
		return !explain_old(setup);
	}
	if (!wait_for_answer(setup, &logs))
		explain_silence(setup);
	return setup->is_loaded;
}
