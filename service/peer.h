/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The user at the other end of a socket on this host, as the kernel reports it, and the
 * role of that user.
 *
 * A UNIX socket has the credentials of the process that connected (SO_PEERCRED,
 * SO_PEERGROUPS).  A TCP connection over the loopback interface has none; its other end
 * is a socket of this host as well, so the kernel is asked for that socket's owner
 * (NETLINK_SOCK_DIAG).  Its answer counts only while a process has the socket open and
 * it belongs to the same connection:
 *
 *   - a socket without an inode was closed, and the kernel then says user 0;
 *   - one that listens, or is only connecting, merely has the same port;
 *   - addresses and ports must be those asked for, IPv4 in IPv6 or not.
 *
 * The answer is in this process's user namespace: users of another one who have no
 * number here are the overflow user.  Sockets of another network namespace can't be
 * connected to the loopback interface of this one.
 *
 * A peer whose user can't be found out counts as no user, and may only read.
 *
 * Thread-safety: functions without state.  For other users than root and the process's
 * own they read the database of users and groups, which may be slow: do not call them
 * in a thread that others wait for. */
#ifndef TRIAD_SERVICE_PEER_H
#define TRIAD_SERVICE_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* In this order: each may do what those before may. */
enum triad_role {
	TRIAD_ROLE_NONE,
	TRIAD_ROLE_READER, /* may see everything */
	TRIAD_ROLE_ADMIN,  /* may change everything */
};

#define TRIAD_PEER_NAME_SIZE 128

struct triad_peer {
	int error; /* not 0: why the user is not known */
	uid_t uid;
	size_t n_groups;
	gid_t *groups; /* NULL: root and our own user need none */
};

/* Of a connected UNIX socket. */
void triad_peer_of_unix(int fd, struct triad_peer *peer);

/* Of a TCP socket that was accepted on the loopback interface. */
void triad_peer_of_loopback(int fd, struct triad_peer *peer);

/* Accepts a struct of zeros. */
void triad_peer_clear(struct triad_peer *peer);

/* Root, or the user that this process runs as. */
bool triad_peer_is_own(const struct triad_peer *peer);

/* Members of 'admin_group' may change, those of 'group' may read; both are names or
 * numbers, "" for none. */
enum triad_role triad_peer_role(
	const struct triad_peer *peer, const char *group, const char *admin_group);

/* Whether the name or number of a group is one on this machine, or "". */
bool triad_peer_has_group(const char *group);

/* "user 1000", or a text why the user is not known. */
void triad_peer_name(const struct triad_peer *peer, char name[TRIAD_PEER_NAME_SIZE]);

/* The owner of the TCP socket that is bound to 'theirs' and connected to 'ours', both
 * IPv4 addresses in host byte order.  Returns 0, or an errno: ESTALE (that socket was
 * closed, or it is another one), ENOENT (no such socket). */
struct triad_loopback_end {
	unsigned address, port;
};
int triad_loopback_owner(
	struct triad_loopback_end theirs, struct triad_loopback_end ours, uid_t *uid);

#endif
