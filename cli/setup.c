/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/setup_parts.h"
#include "lib/text.h"
#include "triad/conf.h"
#include "triad/control.h"
#include "triad/diag.h"
#include "triad/file.h"

#define DEFAULT_TRIAD_CONF TRIAD_SYSCONFDIR "/triad.conf"

static void folder_of(const char *path, char folder[PATH_MAX])
{
	char copy[PATH_MAX];

	snprintf(copy, sizeof(copy), "%s", path);
	snprintf(folder, PATH_MAX, "%s", dirname(copy));
}

/* --- opensm.conf --- */

static void refuse_conf(
	struct triad_setup *setup, const char *why, const char *what_to_do)
{
	triad_setup_advise(triad_setup_check(&setup->checks, TRIAD_SETUP_PROBLEM,
				   "opensm.conf", "%s: %s", setup->conf, why),
		"%s", what_to_do);
}

static const char *advice_of(int error)
{
	return error == EACCES || error == EPERM
		? "run it as root"
		: "name OpenSM's configuration with --conf";
}

/* Makes a missing opensm.conf of OpenSM's defaults, with which it runs without a
 * file. */
static void make_conf(struct triad_setup *setup)
{
	char reason[768];
	struct stat status;

	setup->is_missing = true;
	snprintf(setup->target, sizeof(setup->target), "%s", setup->conf);
	if (!lstat(setup->conf, &status))
		refuse_conf(setup, "it is a symbolic link to a file that is missing",
			"mend the link, or name another file with --conf");
	else if (setup->command->remove)
		setup->octets = calloc(1, 1);
	else if (*setup->opensm &&
		!triad_setup_make_defaults(
			setup, &setup->octets, &setup->size, reason, sizeof(reason)))
		refuse_conf(setup, reason, "make the file by hand, then try again");
}

static void read_conf(struct triad_setup *setup)
{
	const char *why;
	int error;

	if (!realpath(setup->conf, setup->target)) {
		setup->target[0] = '\0';
		if (errno == ENOENT)
			make_conf(setup);
		else
			refuse_conf(setup, strerror(errno), advice_of(errno));
		return;
	}
	error = triad_setup_read_file(setup->target, TRIAD_OPENSM_CONF_MAX_SIZE,
		&setup->octets, &setup->size, &why);
	if (error) {
		refuse_conf(setup, why, advice_of(error));
		return;
	}
	why = triad_opensm_conf_refuse(setup->octets, setup->size);
	if (!why)
		return;
	refuse_conf(setup, why, advice_of(0));
	free(setup->octets);
	setup->octets = NULL;
}

/* Adds checks of a usable opensm.conf. */
static void judge_conf(struct triad_setup *setup)
{
	char value[TRIAD_OPENSM_CONF_LINE_SIZE], reason[TRIAD_FILE_REASON_SIZE];
	struct triad_setup_checks *checks = &setup->checks;
	struct triad_setup_check *check;
	unsigned n;

	triad_opensm_conf_get(
		setup->octets, setup->size, "event_plugin_name", value, &n);
	if (setup->is_missing)
		triad_setup_check(checks, TRIAD_SETUP_OK, "opensm.conf",
			setup->command->remove
				? "%s is not there"
				: "%s is not there; 'opensm -c' writes one with its "
				  "defaults",
			setup->conf);
	else if (triad_file_check_trusted(setup->target, false, reason) == EPERM)
		triad_setup_check(checks, TRIAD_SETUP_WARNING, "opensm.conf", "%s: %s",
			setup->target, reason);
	else if (n > 1)
		triad_setup_check(checks, TRIAD_SETUP_WARNING, "opensm.conf",
			"%s has %u lines event_plugin_name: OpenSM takes the last",
			setup->target, n);
	else if (*value && strcmp(value, TRIAD_OPENSM_PLUGIN))
		triad_setup_check(checks, TRIAD_SETUP_OK, "opensm.conf", "%s loads: %s",
			setup->target, value);
	else
		triad_setup_check(
			checks, TRIAD_SETUP_OK, "opensm.conf", "%s", setup->target);
	if (setup->n_sms)
		return;
	check = triad_setup_check(checks, TRIAD_SETUP_OK, "running",
		"no opensm runs with this configuration");
	if (!setup->command->conf)
		return;
	check->state = TRIAD_SETUP_WARNING;
	triad_setup_advise(check, "see that it is the file that OpenSM reads");
}

static int read_copy(const struct triad_setup *setup, char **octets, size_t *size)
{
	const char *why;

	return triad_setup_read_file(
		setup->copy, TRIAD_OPENSM_CONF_MAX_SIZE, octets, size, &why);
}

static void edit_conf(struct triad_setup *setup)
{
	const struct triad_setup_command *command = setup->command;
	char *copy = NULL;
	size_t size = 0;
	int error;

	if (command->remove) {
		(void)read_copy(setup, &copy, &size);
		error = triad_opensm_conf_remove(
			setup->octets, setup->size, copy, size, &setup->edit);
		free(copy);
	} else {
		error = triad_opensm_conf_add(
			setup->octets, setup->size, command->triad_conf, &setup->edit);
	}
	if (error)
		refuse_conf(setup,
			error == EMSGSIZE
				? "a line about plugins would be too long for "
				  "OpenSM, which reads 1022 octets"
				: strerror(error),
			error == EMSGSIZE
				? "shorten event_plugin_name or event_plugin_options"
				: "try again when there is more memory");
}

/* Adds a check whether this user may replace the file. */
static void judge_permission(struct triad_setup *setup)
{
	enum triad_setup_state state =
		setup->command->dry_run ? TRIAD_SETUP_WARNING : TRIAD_SETUP_PROBLEM;
	char folder[PATH_MAX], beside[PATH_MAX] = "";
	struct triad_setup_checks *checks = &setup->checks;
	struct triad_setup_check *check;
	struct stat status = {0};
	bool is_other;
	int error;

	if (!setup->edit.n_changes)
		return;
	folder_of(setup->target, folder);
	is_other = !stat(setup->target, &status) && geteuid() &&
		status.st_uid != geteuid();
	error = is_other ? EPERM : access(folder, W_OK) ? errno : 0;
	if (error && error != ENOENT) {
		check = triad_setup_check(checks, state, "permission",
			"%s can't be replaced: %s", setup->target, strerror(error));
		triad_setup_advise(check,
			error == EROFS
				? "change it where it comes from, or mount it writable"
				: "run it as root");
	}
	if (status.st_nlink > 1) {
		check = triad_setup_check(checks, state, "permission",
			"%s has another name (a hard link), which would keep the old "
			"text",
			setup->target);
		triad_setup_advise(check,
			"'find -samefile' finds it: remove it, or make it a symbolic "
			"link");
	}
	triad_text_append(beside, sizeof(beside), "%s.new", setup->target);
	if (!lstat(beside, &status)) {
		check = triad_setup_check(checks, state, "permission",
			"%s is there, and would be overwritten", beside);
		triad_setup_advise(check,
			"move it away; if a setup that was interrupted left it, remove "
			"it");
	}
}

/* --- triad.conf and its folders --- */

static void name_triad_conf(struct triad_setup *setup)
{
	char options[TRIAD_OPENSM_CONF_LINE_SIZE], path[TRIAD_OPENSM_CONF_LINE_SIZE];
	unsigned n;

	triad_opensm_conf_get(
		setup->octets, setup->size, "event_plugin_options", options, &n);
	if (setup->command->triad_conf)
		snprintf(setup->triad_conf, PATH_MAX, "%s", setup->command->triad_conf);
	else if (triad_opensm_conf_option(options, path))
		snprintf(setup->triad_conf, PATH_MAX, "%s", path);
	else if (!access(DEFAULT_TRIAD_CONF, F_OK))
		snprintf(setup->triad_conf, PATH_MAX, DEFAULT_TRIAD_CONF);
}

static void judge_triad_conf(
	struct triad_setup *setup, int error, const struct triad_diags *diags)
{
	struct triad_setup_checks *checks = &setup->checks;
	char text[900] = "", reason[TRIAD_FILE_REASON_SIZE];
	bool is_hidden = error == EACCES && setup->command->dry_run;
	struct triad_setup_check *check;

	for (size_t i = 0; i < diags->n; i++) {
		char one[2 * TRIAD_DIAG_TEXT_SIZE + 32];

		triad_diags_format(diags, i, one, sizeof(one));
		triad_text_append(text, sizeof(text), "%s%s", i ? "; " : "", one);
	}
	if (error) {
		check = triad_setup_check(checks,
			is_hidden ? TRIAD_SETUP_WARNING : TRIAD_SETUP_PROBLEM,
			"triad.conf", "%s", text);
		triad_setup_advise(check,
			is_hidden ? "run it as root to have it checked"
				  : "mend it: with a mistake, Triad stays idle");
	} else if (triad_file_check_trusted(setup->triad_conf, false, reason)) {
		check = triad_setup_check(checks, TRIAD_SETUP_PROBLEM, "triad.conf",
			"%s: %s", setup->triad_conf, reason);
		triad_setup_advise(check, "Triad takes no file that others can change");
	} else {
		triad_setup_check(
			checks, TRIAD_SETUP_OK, "triad.conf", "%s", setup->triad_conf);
	}
}

static void judge_folder(struct triad_setup *setup, const char *name, const char *file)
{
	char folder[PATH_MAX], reason[TRIAD_FILE_REASON_SIZE];
	int error = triad_file_check_folder(file, reason);
	struct triad_setup_check *check;
	struct stat status;

	folder_of(file, folder);
	if (error && error != ENOENT) {
		check = triad_setup_check(&setup->checks, TRIAD_SETUP_WARNING, name,
			"%s can't be used: %s", folder, reason);
		triad_setup_advise(check, "mend it, or name another in triad.conf");
	} else if (!stat(folder, &status) && !S_ISDIR(status.st_mode)) {
		triad_setup_check(&setup->checks, TRIAD_SETUP_WARNING, name,
			"%s is no folder", folder);
	} else {
		triad_setup_check(&setup->checks, TRIAD_SETUP_OK, name, "%s%s", folder,
			error ? " (Triad makes it)" : "");
	}
}

/* Sets the socket where Triad will listen; only its folder if the name has the GUID. */
static void name_socket(
	struct triad_setup *setup, const struct triad_conf *conf, const char *other)
{
	if (strcmp(conf->control.socket, other) != 0)
		folder_of(conf->control.socket, setup->socket);
	else
		snprintf(setup->socket, sizeof(setup->socket), "%s", other);
}

static void look_at_triad_conf(struct triad_setup *setup)
{
	static struct triad_diags diags;
	struct triad_conf *conf = triad_conf_new(1), *other = triad_conf_new(2);
	char file[PATH_MAX];
	int error = 0;

	name_triad_conf(setup);
	if (conf && other && *setup->triad_conf) {
		(void)triad_conf_load(setup->triad_conf, 2, other, &diags);
		error = triad_conf_load(setup->triad_conf, 1, conf, &diags);
	}
	if (conf && other)
		name_socket(setup, conf, other->control.socket);
	if (conf && other && !setup->command->remove) {
		if (*setup->triad_conf)
			judge_triad_conf(setup, error, &diags);
		judge_folder(setup, "socket", conf->control.socket);
		snprintf(file, sizeof(file), "%s/x", conf->state.dir);
		if (*conf->state.dir)
			judge_folder(setup, "state", file);
	}
	triad_conf_unref(conf);
	triad_conf_unref(other);
}

/* --- the service --- */

/* Finds a running opensm that systemd did not start; NULL: none. */
static const struct triad_setup_sm *find_foreign(struct triad_setup *setup)
{
	triad_setup_find_groups(setup);
	for (unsigned i = 0; i < setup->n_sms; i++)
		if (!triad_setup_owns(setup, &setup->sms[i]))
			return &setup->sms[i];
	return NULL;
}

/* Adds a check of --restart: it must not start a second OpenSM beside a foreign one. */
static void judge_restart(
	struct triad_setup *setup, const struct triad_setup_sm *foreign)
{
	struct triad_setup_check *check;

	if (foreign) {
		check = triad_setup_check(&setup->checks, TRIAD_SETUP_PROBLEM,
			"service",
			"opensm (process %d) was not started by %s, whose restart would "
			"start a second one",
			foreign->pid, setup->unit);
		triad_setup_advise(check,
			"leave out --restart, then restart OpenSM as it was started");
	} else if (!setup->n_sms && setup->other.pid) {
		check = triad_setup_check(&setup->checks, TRIAD_SETUP_PROBLEM,
			"service", "opensm (process %d) reads %s, and none reads %s",
			setup->other.pid, setup->other.conf, setup->conf);
		triad_setup_advise(
			check, "name that file with --conf, or leave out --restart");
	} else if (!setup->n_sms) {
		triad_setup_check(&setup->checks, TRIAD_SETUP_OK, "service",
			setup->command->remove ? "%s: no opensm runs, so none is "
						 "restarted"
					       : "%s: no opensm runs, so it is started",
			setup->unit);
	} else {
		triad_setup_check(&setup->checks, TRIAD_SETUP_OK, "service",
			"%s: a restart has the SM sweep the fabric anew", setup->unit);
	}
}

static void judge_service(struct triad_setup *setup)
{
	const struct triad_setup_sm *foreign =
		*setup->unit ? find_foreign(setup) : NULL;
	struct triad_setup_check *check;

	setup->is_foreign = foreign;
	if (!setup->command->restart)
		return;
	if (*setup->unit) {
		judge_restart(setup, foreign);
		return;
	}
	check = triad_setup_check(&setup->checks, TRIAD_SETUP_PROBLEM, "service",
		"systemd has no opensm.service or opensmd.service here");
	triad_setup_advise(check,
		"leave out --restart, then restart OpenSM as it is started here; "
		"'triadctl status' says whether Triad is there");
}

/* --- changing --- */

/* Copies access lists, and SELinux' label, without which OpenSM can't read the file. */
static int copy_attributes(const char *from, int to)
{
	static const char *const names[] = {
		"security.selinux", "system.posix_acl_access"};
	static char value[65536];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		ssize_t size = getxattr(from, names[i], value, sizeof(value));

		if (size < 0 && (errno == ENODATA || errno == ENOTSUP))
			continue;
		if (size < 0 || fsetxattr(to, names[i], value, (size_t)size, 0))
			return errno;
	}
	return 0;
}

/* Whether OpenSM's file is unchanged since it was read. */
static bool is_as_read(const struct triad_setup *setup)
{
	struct stat status;
	const char *why;
	char *octets;
	size_t size;
	bool is_same;

	if (setup->is_missing)
		return lstat(setup->target, &status) && errno == ENOENT;
	if (triad_setup_read_file(
		    setup->target, TRIAD_OPENSM_CONF_MAX_SIZE, &octets, &size, &why))
		return false;
	is_same = size == setup->size && !memcmp(octets, setup->octets, size);
	free(octets);
	return is_same;
}

/* Writes a file with the mode, owner and label of OpenSM's file; without one, 0644. */
static int write_like(const struct triad_setup *setup, const char *path,
	const char *octets, size_t size)
{
	const char *like = setup->target;
	struct stat status;
	bool is_new = stat(like, &status);
	int fd = triad_file_new_open(path, 0, 0600), error = 0;

	if (fd < 0)
		return -fd;
	if ((!is_new && fchown(fd, status.st_uid, status.st_gid)) ||
		fchmod(fd, is_new ? 0644 : status.st_mode & 07777))
		error = errno;
	if (!error && !is_new)
		error = copy_attributes(like, fd);
	if (!error)
		error = triad_write_all(fd, octets, size);
	/* Sync now, so that little time passes between comparing and renaming. */
	if (!error && fsync(fd))
		error = errno;
	if (!error && !is_as_read(setup))
		error = ESTALE;
	return triad_file_new_end(fd, path, error);
}

/* Copies the file before the change.  The copy is to be of a file without Triad, so a
 * file with Triad does not replace it. */
static int keep_copy(struct triad_setup *setup)
{
	char names[TRIAD_OPENSM_CONF_LINE_SIZE];
	struct stat status;
	unsigned n;
	int error;

	triad_opensm_conf_get(
		setup->octets, setup->size, "event_plugin_name", names, &n);
	if (setup->is_missing || setup->command->remove ||
		(triad_opensm_conf_loads(names) && !lstat(setup->copy, &status)))
		return 0;
	error = write_like(setup, setup->copy, setup->octets, setup->size);
	setup->has_copied = !error;
	return error;
}

/* Removes a copy that equals the file again. */
static void drop_copy(struct triad_setup *setup)
{
	char *copy;
	size_t size;

	if (!setup->command->remove || read_copy(setup, &copy, &size))
		return;
	if (size == setup->edit.size && !memcmp(copy, setup->edit.octets, size))
		(void)unlink(setup->copy);
	else
		setup->has_old_copy = true;
	free(copy);
}

static void explain_failure(struct triad_setup *setup, const char *path, int error)
{
	/* A copy of an unchanged file is of no use. */
	if (setup->has_copied && is_as_read(setup) && !unlink(setup->copy))
		setup->has_copied = false;
	if (error == ESTALE)
		snprintf(setup->reason, sizeof(setup->reason),
			"%.700s was changed by somebody else meanwhile, so it was left "
			"as it is: try again",
			setup->target);
	else
		snprintf(setup->reason, sizeof(setup->reason),
			"%.700s can't be written: %s; OpenSM's file is whole: as "
			"it was, or as shown",
			path, strerror(error));
}

static bool change_conf(struct triad_setup *setup)
{
	const char *path = setup->copy;
	int error = keep_copy(setup);

	if (!error) {
		path = setup->target;
		error = write_like(setup, path, setup->edit.octets, setup->edit.size);
	}
	if (error) {
		explain_failure(setup, path, error);
		return false;
	}
	setup->has_changed = true;
	drop_copy(setup);
	return true;
}

/* --- all --- */

/* Examines everything before any change. */
static bool look_at_host(struct triad_setup *setup)
{
	const struct triad_setup_command *command = setup->command;
	char folder[PATH_MAX];

	triad_setup_look(setup);
	triad_setup_find_unit(setup);
	if (!triad_setup_choose(command->conf, setup->sms, setup->n_sms,
		    setup->default_conf, setup->ambiguity, setup->conf, setup->reason,
		    sizeof(setup->reason)) &&
		(*setup->opensm || setup->n_sms || command->remove))
		return false;
	read_conf(setup);
	folder_of(setup->target, folder);
	triad_text_append(setup->copy, sizeof(setup->copy),
		"%s/" TRIAD_SETUP_COPY_PREFIX "%s", folder,
		setup->target + strlen(folder) +
			strspn(setup->target + strlen(folder), "/"));
	triad_setup_keep_sms(setup);
	if (!command->remove)
		triad_setup_look_at_plugin(setup);
	if (setup->octets) {
		judge_conf(setup);
		edit_conf(setup);
		judge_permission(setup);
		look_at_triad_conf(setup);
	}
	judge_service(setup);
	return true;
}

/* Whether the running OpenSM differs from its configuration: it has Triad but should
 * not, or should have it but lacks it.  An idle Triad counts as lacking: the mistakes
 * in its configuration have been mended. */
static bool is_behind(struct triad_setup *setup)
{
	char reason[1024];
	enum triad_setup_answer answer = triad_setup_ask(setup, reason, sizeof(reason));

	return setup->command->remove ? answer != TRIAD_SETUP_SILENT
				      : answer != TRIAD_SETUP_WORKS;
}

static bool act(struct triad_setup *setup)
{
	const struct triad_setup_command *command = setup->command;

	if (setup->checks.n_problems) {
		snprintf(setup->reason, sizeof(setup->reason),
			"nothing was changed: %u problem%s", setup->checks.n_problems,
			setup->checks.n_problems == 1 ? "" : "s");
		return false;
	}
	if (command->dry_run)
		return true;
	if (setup->edit.n_changes && !change_conf(setup))
		return false;
	if (!command->restart || (command->remove && !setup->n_sms) ||
		(!setup->has_changed && !is_behind(setup)))
		return true;
	return triad_setup_restart(setup);
}

int triad_setup(const struct triad_setup_command *command,
	const struct triad_setup_asker *asker)
{
	static struct triad_setup setup;
	int status = TRIAD_CONTROL_FAILED;

	setup.command = command;
	setup.asker = asker;
	if (look_at_host(&setup)) {
		setup.reason[0] = '\0';
		triad_setup_show_plan(&setup);
		if (act(&setup))
			status = TRIAD_CONTROL_DONE;
	}
	triad_setup_show_json(&setup);
	triad_setup_show_end(&setup, status);
	g_free(setup.groups);
	free(setup.octets);
	triad_opensm_conf_edit_clear(&setup.edit);
	return status;
}
