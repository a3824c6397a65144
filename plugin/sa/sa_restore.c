/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/opensm.h"

#include "plugin/sa/sa_restore.h"

#include <errno.h>
#include <opensm/osm_inform.h>
#include <opensm/osm_service.h>
#include <stdlib.h>
#include <string.h>

/* A file's name, kept because OpenSM may still use it; a new folder makes a new
 * name. */
struct name {
	struct name *before;
	char path[];
};

struct triad_sa_restore {
	struct osm_opensm *osm;
	struct name *names; /* newest first; NULL: none yet */
};

struct triad_sa_restore *triad_sa_restore_new(struct osm_opensm *osm)
{
	struct triad_sa_restore *restore = calloc(1, sizeof(*restore));

	if (restore)
		restore->osm = osm;
	return restore;
}

void triad_sa_restore_free(struct triad_sa_restore *restore)
{
	if (!restore)
		return;
	triad_sa_restore_withdraw(restore);
	while (restore->names) {
		struct name *before = restore->names->before;

		free(restore->names);
		restore->names = before;
	}
	free(restore);
}

static char *present(const struct triad_sa_restore *restore)
{
	return __atomic_load_n(&restore->osm->subn.opt.sa_db_file, __ATOMIC_ACQUIRE);
}

static bool is_our_path(const struct triad_sa_restore *restore, const char *path)
{
	for (const struct name *name = restore->names; name; name = name->before)
		if (name->path == path)
			return true;
	return false;
}

bool triad_sa_restore_has_own(const struct triad_sa_restore *restore)
{
	const char *path = present(restore);

	return path && !is_our_path(restore, path);
}

bool triad_sa_restore_is_given(const struct triad_sa_restore *restore)
{
	const char *path = present(restore);

	return path && is_our_path(restore, path);
}

void triad_sa_restore_withdraw(struct triad_sa_restore *restore)
{
	if (triad_sa_restore_is_given(restore))
		__atomic_store_n(
			&restore->osm->subn.opt.sa_db_file, NULL, __ATOMIC_RELEASE);
}

/* The caller holds OpenSM's lock exclusively. */
static void empty_lists(struct osm_opensm *osm)
{
	osm_subn_t *subn = &osm->subn;

	while (!cl_is_qlist_empty(&subn->sa_infr_list))
		osm_infr_remove_from_db(subn, &osm->log,
			(osm_infr_t *)cl_qlist_head(&subn->sa_infr_list));
	while (!cl_is_qlist_empty(&subn->sa_sr_list)) {
		osm_svcr_t *service = (osm_svcr_t *)cl_qlist_head(&subn->sa_sr_list);

		osm_svcr_remove_from_db(subn, &osm->log, service);
		osm_svcr_delete(service);
	}
}

/* Whether another SM has the records that count: this one is standby, or about to be,
 * and its SA takes no new records. */
static bool follows_other(const struct osm_opensm *osm)
{
	uint8_t state = triad_osm_peek(&osm->subn.sm_state);

	if (osm_exit_flag)
		return false;
	return state == IB_SMINFO_STATE_STANDBY ||
		(state == IB_SMINFO_STATE_MASTER &&
			triad_osm_peek(&osm->sm.polling_sm_guid));
}

static int make_ready(struct osm_opensm *osm)
{
	bool is_ready;

	cl_plock_excl_acquire(&osm->lock);
	/* Check again: the wait for the lock may have been long. */
	is_ready = follows_other(osm);
	if (is_ready)
		empty_lists(osm);
	cl_plock_release(&osm->lock);
	return is_ready ? 0 : EAGAIN;
}

static char *find_name(struct triad_sa_restore *restore, const char *path)
{
	size_t size = strlen(path) + 1;
	struct name *name = restore->names;

	if (name && strcmp(name->path, path) == 0)
		return name->path;
	name = malloc(sizeof(*name) + size);
	if (!name)
		return NULL;
	memcpy(name->path, path, size);
	name->before = restore->names;
	restore->names = name;
	return name->path;
}

int triad_sa_restore_give(
	struct triad_sa_restore *restore, const char *path, bool is_own)
{
	char *given = present(restore), *name;
	int error = 0;

	if (given && !is_our_path(restore, given))
		return EEXIST;
	name = find_name(restore, path);
	if (!name)
		return ENOMEM;
	if (given == name)
		return 0;
	if (!is_own)
		error = make_ready(restore->osm);
	if (!error)
		__atomic_store_n(
			&restore->osm->subn.opt.sa_db_file, name, __ATOMIC_RELEASE);
	return error;
}
