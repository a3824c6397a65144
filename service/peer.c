/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "service/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/text.h"

/* The kernel's limit for the groups of a process. */
#define MAX_GROUPS 65536
/* Room for the database's entry of one user or group. */
#define ENTRY_SIZE 65536

/* --- groups --- */

/* Finds a group by name or number.  Returns 0, ENOENT (no such group), or another errno
 * (the database can't be read). */
static int find_group(const char *name, gid_t *gid)
{
	struct group entry, *found = NULL;
	char *room = malloc(ENTRY_SIZE);
	unsigned number;
	int error = ENOMEM;

	if (room)
		error = getgrnam_r(name, &entry, room, ENTRY_SIZE, &found);
	if (found)
		*gid = found->gr_gid;
	free(room);
	if (found)
		return 0;
	if (triad_text_number(name, &number)) {
		*gid = number;
		return 0;
	}
	return error ? error : ENOENT;
}

bool triad_peer_has_group(const char *group)
{
	gid_t gid;

	/* Only ENOENT means no such group: a directory server may be down for a
	 * while. */
	return !*group || find_group(group, &gid) != ENOENT;
}

bool triad_peer_is_own(const struct triad_peer *peer)
{
	return !peer->error && (peer->uid == 0 || peer->uid == geteuid());
}

static int make_room_for_groups(struct triad_peer *peer, size_t n)
{
	if (n > MAX_GROUPS)
		return E2BIG;
	free(peer->groups);
	peer->groups = calloc(n + 1, sizeof(*peer->groups));
	return peer->groups ? 0 : ENOMEM;
}

/* Reads the supplementary groups, and adds 'first', the group of the process, which
 * need not be among them. */
static int read_groups(int fd, struct triad_peer *peer, gid_t first)
{
	socklen_t size = 0;
	int error;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) && errno != ERANGE)
		return errno;
	error = make_room_for_groups(peer, size / sizeof(gid_t));
	if (error)
		return error;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, peer->groups, &size))
		return errno;
	peer->n_groups = size / sizeof(gid_t);
	peer->groups[peer->n_groups++] = first;
	return 0;
}

/* Reads a user's groups from the database, for a peer whose process is not known. */
static int look_up_groups(struct triad_peer *peer)
{
	struct passwd entry, *found = NULL;
	char *room = malloc(ENTRY_SIZE);
	int n = 64, error = room ? 0 : ENOMEM;

	if (!error &&
		(getpwuid_r(peer->uid, &entry, room, ENTRY_SIZE, &found) || !found))
		error = ENOENT;
	while (!error) {
		int wanted = n;

		error = make_room_for_groups(peer, (size_t)n);
		if (error ||
			getgrouplist(entry.pw_name, entry.pw_gid, peer->groups, &n) >=
				0)
			break;
		n = n > wanted ? n : 2 * wanted;
	}
	if (!error)
		peer->n_groups = (size_t)n;
	free(room);
	return error;
}

static bool is_member(const struct triad_peer *peer, const char *name)
{
	gid_t gid = 0;

	if (!*name || !peer->n_groups || find_group(name, &gid))
		return false;
	for (size_t i = 0; i < peer->n_groups; i++)
		if (peer->groups[i] == gid)
			return true;
	return false;
}

/* --- peers --- */

void triad_peer_of_unix(int fd, struct triad_peer *peer)
{
	struct ucred credentials;
	socklen_t size = sizeof(credentials);

	*peer = (struct triad_peer){.error = 0};
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size)) {
		peer->error = errno;
		return;
	}
	peer->uid = credentials.uid;
	/* If the groups can't be read, use only the group of the process. */
	if (!triad_peer_is_own(peer) && read_groups(fd, peer, credentials.gid) &&
		!make_room_for_groups(peer, 1)) {
		peer->groups[0] = credentials.gid;
		peer->n_groups = 1;
	}
}

/* Returns 0; EAFNOSUPPORT for what is neither IPv4 nor IPv4 in IPv6. */
static int read_end(
	const struct sockaddr_storage *address, struct triad_loopback_end *end)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

	if (address->ss_family == AF_INET) {
		end->address = ntohl(in->sin_addr.s_addr);
		end->port = ntohs(in->sin_port);
		return 0;
	}
	if (address->ss_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		return EAFNOSUPPORT;
	memcpy(&end->address, &in6->sin6_addr.s6_addr[12], sizeof(end->address));
	end->address = ntohl(end->address);
	end->port = ntohs(in6->sin6_port);
	return 0;
}

void triad_peer_of_loopback(int fd, struct triad_peer *peer)
{
	struct sockaddr_storage theirs, ours;
	socklen_t theirs_size = sizeof(theirs), ours_size = sizeof(ours);
	struct triad_loopback_end their_end, our_end;

	*peer = (struct triad_peer){.error = 0};
	if (getpeername(fd, (struct sockaddr *)&theirs, &theirs_size) ||
		getsockname(fd, (struct sockaddr *)&ours, &ours_size))
		peer->error = errno;
	if (!peer->error)
		peer->error = read_end(&theirs, &their_end);
	if (!peer->error)
		peer->error = read_end(&ours, &our_end);
	if (!peer->error)
		peer->error = triad_loopback_owner(their_end, our_end, &peer->uid);
	if (!peer->error && !triad_peer_is_own(peer) && look_up_groups(peer))
		peer->n_groups = 0; /* a user without an entry is in no group */
}

void triad_peer_clear(struct triad_peer *peer)
{
	free(peer->groups);
	peer->groups = NULL;
	peer->n_groups = 0;
}

enum triad_role triad_peer_role(
	const struct triad_peer *peer, const char *group, const char *admin_group)
{
	if (peer->error)
		return TRIAD_ROLE_NONE;
	if (triad_peer_is_own(peer) || is_member(peer, admin_group))
		return TRIAD_ROLE_ADMIN;
	return is_member(peer, group) ? TRIAD_ROLE_READER : TRIAD_ROLE_NONE;
}

void triad_peer_name(const struct triad_peer *peer, char name[TRIAD_PEER_NAME_SIZE])
{
	if (peer->error)
		snprintf(name, TRIAD_PEER_NAME_SIZE, "a user who isn't known (%s)",
			strerror(peer->error));
	else if (!peer->uid)
		strcpy(name, "root");
	else
		snprintf(name, TRIAD_PEER_NAME_SIZE, "user %u", (unsigned)peer->uid);
}
