/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "agent/discovery.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/handout.h"

#define MAGIC 0x54444953u
#define LOOK_MS 100
#define END_US TRIAD_US_PER_S /* for the process to end, having said all */

/* What comes first out of the pipe.  Both ends are the same program. */
struct reply {
	uint32_t magic;
	int32_t error;
	uint64_t n_smps, hash;
	uint32_t n_silent, size, packed_size;
	uint16_t pkey_index;
};

const char *triad_discovery_strerror(int error)
{
	switch (error) {
	case EIO:
		return "no answers to SMPs";
	case ETIMEDOUT:
		return "it took over 10 minutes";
	case ECHILD:
		return "process " TRIAD_DISCOVERY_NAME " ended without a word";
	default:
		return strerror(error);
	}
}

/* --- the process that discovers --- */

static bool write_all(int fd, const void *from, size_t size)
{
	const uint8_t *octets = from;

	while (size) {
		ssize_t n = write(fd, octets, size);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0) {
			octets += n;
			size -= (size_t)n;
		}
	}
	return true;
}

int triad_discovery_tell(uint64_t port_guid, int fd)
{
	struct triad_handout_packed packed = {0};
	struct triad_discovery made;
	struct reply reply = {.magic = MAGIC};
	bool is_written;

	/* Who asked is gone: nobody waits for it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	reply.error = triad_discovery_make(port_guid, &made);
	if (!reply.error)
		reply.error = triad_handout_pack(made.fabric, &packed);
	reply.n_smps = made.n_smps;
	reply.n_silent = made.n_silent;
	reply.pkey_index = made.pkey_index;
	reply.hash = packed.hash;
	reply.size = packed.size;
	reply.packed_size = packed.packed_size;
	is_written = write_all(fd, &reply, sizeof(reply)) &&
		write_all(fd, packed.octets, packed.packed_size);
	free(packed.octets);
	triad_fabric_unref(made.fabric);
	return is_written ? 0 : 1;
}

/* --- the one that asks --- */

static int prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes,
	int to, bool is_loud)
{
	sigset_t none, standard;

	sigemptyset(&none);
	sigemptyset(&standard);
	sigaddset(&standard, SIGPIPE);
	(void)posix_spawnattr_setsigmask(attributes, &none);
	(void)posix_spawnattr_setsigdefault(attributes, &standard);
	(void)posix_spawnattr_setflags(
		attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (posix_spawn_file_actions_adddup2(actions, to, STDOUT_FILENO) ||
		posix_spawn_file_actions_addopen(
			actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0) ||
		(!is_loud &&
			posix_spawn_file_actions_addopen(
				actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)) ||
		posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1))
		return ENOMEM;
	return 0;
}

static int start(const struct triad_discovery_asking *asking, int to, pid_t *pid)
{
	char name[] = TRIAD_DISCOVERY_NAME, guid[20];
	char *const words[] = {name, guid, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error;

	snprintf(guid, sizeof(guid), "0x%016" PRIx64, asking->port_guid);
	if (posix_spawn_file_actions_init(&actions))
		return ENOMEM;
	if (posix_spawnattr_init(&attributes)) {
		posix_spawn_file_actions_destroy(&actions);
		return ENOMEM;
	}
	error = prepare(&actions, &attributes, to, asking->is_loud);
	if (!error)
		error = posix_spawn(
			pid, asking->program, &actions, &attributes, words, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error == EAGAIN ? ENOMEM : error; /* no room for a process */
}

/* Reads so many octets, as long as it isn't over and somebody may write. */
static int read_all(const struct triad_discovery_asking *asking, uint64_t end_us,
	int from, void *to, size_t size)
{
	uint8_t *octets = to;

	while (size) {
		struct pollfd ready = {.fd = from, .events = POLLIN};
		ssize_t n;

		if (asking->is_over(asking->context))
			return ECANCELED;
		if (triad_clock_now_us() > end_us)
			return ETIMEDOUT;
		if (poll(&ready, 1, LOOK_MS) <= 0)
			continue;
		n = read(from, octets, size);
		if (!n || (n < 0 && errno != EINTR))
			return ECHILD;
		if (n > 0) {
			octets += n;
			size -= (size_t)n;
		}
	}
	return 0;
}

static int take(const struct triad_discovery_asking *asking, uint64_t end_us, int from,
	const struct reply *reply, struct triad_discovery *made)
{
	struct triad_handout_packed packed = {.hash = reply->hash,
		.size = reply->size,
		.packed_size = reply->packed_size};
	int error;

	if (packed.size > TRIAD_HANDOUT_MAX_SIZE ||
		packed.packed_size > TRIAD_HANDOUT_MAX_SIZE)
		return EPROTO;
	packed.octets = malloc(packed.packed_size + (size_t)1);
	if (!packed.octets)
		return ENOMEM;
	error = read_all(asking, end_us, from, packed.octets, packed.packed_size);
	if (!error)
		error = triad_handout_unpack(&packed, NULL, 0, &made->fabric);
	free(packed.octets);
	/* The fabric is ours alone still. */
	for (uint32_t i = 0; !error && i < made->fabric->n_ports; i++)
		made->fabric->ports[i].pkey_index = reply->pkey_index;
	return error;
}

static int hear(const struct triad_discovery_asking *asking, int from,
	struct triad_discovery *made)
{
	uint64_t end_us = triad_clock_now_us() + asking->limit_us;
	struct reply reply;
	int error = read_all(asking, end_us, from, &reply, sizeof(reply));

	if (error)
		return error;
	if (reply.magic != MAGIC)
		return EPROTO;
	made->n_smps = reply.n_smps;
	made->n_silent = reply.n_silent;
	made->pkey_index = reply.pkey_index;
	return reply.error ? reply.error : take(asking, end_us, from, &reply, made);
}

/* Until it has closed its port and is gone, by itself or by us. */
static void end(const struct triad_discovery_asking *asking, int from, pid_t pid)
{
	uint8_t more;

	(void)read_all(
		asking, triad_clock_now_us() + END_US, from, &more, sizeof(more));
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int triad_discovery_ask(
	const struct triad_discovery_asking *asking, struct triad_discovery *made)
{
	int ends[2], error;
	pid_t pid;

	*made = (struct triad_discovery){0};
	if (pipe2(ends, O_CLOEXEC))
		return errno;
	error = start(asking, ends[1], &pid);
	close(ends[1]);
	if (!error) {
		error = hear(asking, ends[0], made);
		end(asking, ends[0], pid);
	}
	close(ends[0]);
	return error;
}
