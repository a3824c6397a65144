/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/setup_parts.h"
#include "lib/text.h"
#include "triad/file.h"

#define MAX_PLUGIN_SIZE ((size_t)256 << 20)
#define MAX_OUTPUT_SIZE ((size_t)256 << 10)

/* --- programs and files --- */

/* Parameters of a program's start. */
struct start {
	unsigned limit_s;
	int output_fd;
};

/* Runs in the child: sets the time limit; the alarm outlives exec(), and ends the
 * program. */
static void prepare_child(void *context)
{
	const struct start *start = context;

	(void)signal(SIGALRM, SIG_DFL);
	alarm(start->limit_s);
	(void)dup2(start->output_fd, STDOUT_FILENO);
	(void)dup2(start->output_fd, STDERR_FILENO);
}

/* Reads the program's output from a file.  Not from a pipe: processes that the program
 * left running may hold that open for ever. */
static char *read_output(int fd)
{
	char *output = g_malloc0(MAX_OUTPUT_SIZE);

	if (fd >= 0 && pread(fd, output, MAX_OUTPUT_SIZE - 1, 0) < 0)
		output[0] = '\0';
	return output;
}

static int wait_for_end(pid_t pid, unsigned limit_s, char **output)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		*output = g_strdup_printf("it did not end within %u s", limit_s);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int triad_setup_run(const char *const *words, const char *const *variables,
	unsigned limit_s, char **output)
{
	const GSpawnFlags flags = G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD;
	int fd = memfd_create("output", MFD_CLOEXEC), status = -1;
	struct start start = {.limit_s = limit_s, .output_fd = fd};
	char **environment = g_get_environ();
	GPid pid;

	for (; variables && *variables; variables += 2)
		environment =
			g_environ_setenv(environment, variables[0], variables[1], TRUE);
	*output = NULL;
	if (fd >= 0 &&
		g_spawn_async(NULL, (char **)words, environment, flags, prepare_child,
			&start, &pid, NULL))
		status = wait_for_end(pid, limit_s, output);
	if (!*output)
		*output = read_output(fd);
	if (fd >= 0)
		close(fd);
	g_strfreev(environment);
	return status;
}

/* Reads a file, up to one octet more than 'max': so the caller notices a file that is
 * too large. */
static int read_open(int fd, size_t max, char **octets, size_t *size, const char **why)
{
	struct stat status;
	size_t room;
	int error;

	if (fstat(fd, &status))
		return errno;
	if (!S_ISREG(status.st_mode)) {
		*why = S_ISDIR(status.st_mode) ? "it is a folder"
					       : "it is not a regular file";
		return EMEDIUMTYPE;
	}
	room = (uint64_t)status.st_size < max ? (size_t)status.st_size + 1 : max + 1;
	*octets = malloc(room);
	if (!*octets)
		return ENOMEM;
	error = triad_read_all(fd, *octets, room, size);
	if (error)
		free(*octets);
	return error;
}

int triad_setup_read_file(
	const char *path, size_t max, char **octets, size_t *size, const char **why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), error;

	*why = NULL;
	*octets = NULL;
	error = fd < 0 ? errno : read_open(fd, max, octets, size, why);
	if (fd >= 0)
		close(fd);
	if (error && !*why)
		*why = strerror(error);
	if (error)
		*octets = NULL;
	return error;
}

/* --- opensms that run --- */

static bool read_link(int pid, const char *name, char path[PATH_MAX])
{
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%d/%s", pid, name);
	n = readlink(link, path, PATH_MAX - 1);
	path[n > 0 ? n : 0] = '\0';
	return n > 0;
}

static bool is_opensm(int pid)
{
	char path[64], name[32], theirs[PATH_MAX], ours[PATH_MAX];
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	if (triad_file_read(path, name, sizeof(name) - 1, &n))
		return false;
	name[n] = '\0';
	if (strcmp(name, "opensm\n"))
		return false;
	/* A process in a container has other files. */
	return !read_link(pid, "ns/mnt", theirs) ||
		!read_link((int)getpid(), "ns/mnt", ours) || !strcmp(theirs, ours);
}

/* Resolves a path of process 'pid', perhaps relative to its working directory. */
static void resolve(int pid, char path[PATH_MAX])
{
	char folder[PATH_MAX], whole[PATH_MAX], real[PATH_MAX];

	if (*path && *path != '/' && read_link(pid, "cwd", folder)) {
		whole[0] = '\0';
		triad_text_append(whole, sizeof(whole), "%s/%s", folder, path);
		memcpy(path, whole, PATH_MAX);
	}
	if (realpath(path, real))
		memcpy(path, real, strlen(real) + 1);
}

static void read_sm(struct triad_setup *setup, int pid)
{
	struct triad_setup_sm *sm = &setup->sms[setup->n_sms];
	static char words[65536];
	char path[64];
	size_t n;

	*sm = (struct triad_setup_sm){.pid = pid};
	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	if (triad_file_read(path, words, sizeof(words), &n) || !n)
		return;
	triad_setup_read_words(words, n, sm);
	if (strcmp(sm->log, "stdout") != 0)
		resolve(pid, sm->log);
	if (!*sm->conf)
		snprintf(sm->conf, sizeof(sm->conf), "%s", setup->default_conf);
	resolve(pid, sm->conf);
	/* The link of a program that was replaced since ends with "(deleted)". */
	if (!read_link(pid, "exe", sm->program) || access(sm->program, X_OK))
		sm->program[0] = '\0';
	setup->n_sms++;
}

static void find_sms(struct triad_setup *setup)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	unsigned pid;

	setup->n_sms = 0;
	while (folder && (entry = readdir(folder)) &&
		setup->n_sms < TRIAD_SETUP_MAX_SMS)
		if (triad_text_number(entry->d_name, &pid) && is_opensm((int)pid))
			read_sm(setup, (int)pid);
	if (folder)
		closedir(folder);
}

void triad_setup_keep_sms(struct triad_setup *setup)
{
	char conf[PATH_MAX];
	unsigned n = 0;

	/* The file may have been made since. */
	if (!realpath(setup->conf, conf))
		snprintf(conf, sizeof(conf), "%s", setup->conf);
	find_sms(setup);
	setup->other = setup->n_sms ? setup->sms[0] : (struct triad_setup_sm){0};
	for (unsigned i = 0; i < setup->n_sms; i++)
		if (!strcmp(setup->sms[i].conf, conf))
			setup->sms[n++] = setup->sms[i];
	setup->n_sms = n;
}

/* --- opensm --- */

static void find_opensm(struct triad_setup *setup)
{
	/* opensm is not a command for users, so PATH may lack its folder. */
	static const char *const others[] = {
		"/usr/sbin/opensm", "/sbin/opensm", "/usr/local/sbin/opensm"};
	char *found = g_find_program_in_path("opensm");

	if (found)
		snprintf(setup->opensm, sizeof(setup->opensm), "%s", found);
	g_free(found);
	for (size_t i = 0; i < 3 && !*setup->opensm; i++)
		if (!access(others[i], X_OK))
			snprintf(setup->opensm, sizeof(setup->opensm), "%s", others[i]);
}

/* Finds reasons why the next start may read another configuration: without a running
 * OpenSM that is not certain. */
static void find_ambiguity(struct triad_setup *setup)
{
	static const char *const confs[] = {
		"/etc/opensm/opensm.conf", "/etc/rdma/opensm.conf"};
	static const char *const starters[] = {
		"/etc/default/opensm", "/etc/sysconfig/opensm"};
	char text[16384];
	size_t n;

	for (size_t i = 0; i < sizeof(confs) / sizeof(confs[0]); i++)
		if (*setup->default_conf &&
			strcmp(confs[i], setup->default_conf) != 0 &&
			!access(confs[i], F_OK) && !access(setup->default_conf, F_OK))
			snprintf(setup->ambiguity, sizeof(setup->ambiguity),
				"there are %s and %s", setup->default_conf, confs[i]);
	for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++) {
		if (triad_file_read(starters[i], text, sizeof(text) - 1, &n))
			continue;
		text[n] = '\0';
		if (triad_setup_names_conf(text))
			snprintf(setup->ambiguity, sizeof(setup->ambiguity),
				"%s tells it which configuration to read", starters[i]);
	}
}

void triad_setup_look(struct triad_setup *setup)
{
	const char *words[] = {setup->opensm, "-h", NULL};
	char *help;

	find_opensm(setup);
	if (*setup->opensm) {
		triad_setup_run(words, NULL, TRIAD_SETUP_LOOK_S, &help);
		triad_setup_read_help(help, setup->default_conf);
		g_free(help);
	}
	find_sms(setup);
	find_ambiguity(setup);
}

bool triad_setup_make_defaults(struct triad_setup *setup, char **octets, size_t *size,
	char *reason, size_t reason_size)
{
	char folder[] = "/tmp/triadctl-setup.XXXXXX";
	char none[64], made[64], *output = NULL;
	const char *words[] = {setup->opensm, "-F", none, "-c", made, NULL};
	const char *why;
	int error = EIO;

	if (!mkdtemp(folder)) {
		snprintf(reason, reason_size, "%s: %s", folder, strerror(errno));
		return false;
	}
	snprintf(none, sizeof(none), "%s/none", folder);
	snprintf(made, sizeof(made), "%s/opensm.conf", folder);
	if (triad_setup_run(words, NULL, TRIAD_SETUP_LOOK_S, &output))
		why = output;
	else
		error = triad_setup_read_file(
			made, TRIAD_OPENSM_CONF_MAX_SIZE, octets, size, &why);
	if (error)
		snprintf(reason, reason_size,
			"'opensm -c' could not write its defaults: %.600s", why);
	g_free(output);
	(void)unlink(made);
	(void)rmdir(folder);
	return !error;
}

/* --- the plugin --- */

/* Has the dynamic linker list what opensm would load with the plugin, without running
 * it. */
static void trace_plugin(struct triad_setup *setup, struct triad_setup_trace *trace)
{
	const char *words[] = {setup->opensm, NULL};
	const char *before = getenv("LD_PRELOAD");
	char *preload = g_strjoin(
		":", TRIAD_OPENSM_LIBRARY, before && *before ? before : NULL, NULL);
	const char *variables[] = {"LD_TRACE_LOADED_OBJECTS", "1", "LD_WARN", "yes",
		"LD_BIND_NOW", "yes", "LD_PRELOAD", preload, NULL};
	char *output;

	triad_setup_run(words, variables, TRIAD_SETUP_LOOK_S, &output);
	triad_setup_read_trace(output, TRIAD_OPENSM_LIBRARY, trace);
	g_free(output);
	g_free(preload);
}

static void read_plugin_version(struct triad_setup_plugin *plugin)
{
	char *octets;
	const char *why;
	size_t size;

	plugin->error = triad_setup_read_file(
		plugin->trace.path, MAX_PLUGIN_SIZE, &octets, &size, &why);
	if (plugin->error)
		return;
	plugin->error = triad_plugin_file_version(octets, size, plugin->version);
	free(octets);
}

void triad_setup_look_at_plugin(struct triad_setup *setup)
{
	struct triad_setup_plugin plugin = {
		.opensm = setup->opensm, .library_path = getenv("LD_LIBRARY_PATH")};
	const char *words[] = {setup->opensm, "--version", NULL};
	char *output;

	/* Prefer the running program: that will be restarted. */
	if (setup->n_sms && *setup->sms[0].program)
		snprintf(setup->opensm, sizeof(setup->opensm), "%s",
			setup->sms[0].program);
	if (*setup->opensm) {
		triad_setup_run(words, NULL, TRIAD_SETUP_LOOK_S, &output);
		triad_setup_read_version(output, plugin.opensm_version);
		g_free(output);
		trace_plugin(setup, &plugin.trace);
	}
	if (*plugin.trace.path)
		read_plugin_version(&plugin);
	triad_setup_judge_plugin(&plugin, &setup->checks);
}
