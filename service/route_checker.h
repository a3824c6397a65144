/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Checks the routes of each new fabric (routes/check.h), in a thread beside the SM.
 *
 * Model: the thread triad-routes, which a large fabric keeps busy for seconds, checks the
 * newest fabric that it was given, skips those that came meanwhile, and ends.  A fabric with the same tables as the last one
 * needs no new check.  The result is immutable and swapped whole; the last one stays
 * until then.  Where the routing engine chooses SLs, and the links by themselves could
 * form a credit loop, the checker asks the owner for the SLs.  When it is enabled, it
 * checks the last fabric that it was given before.
 *
 * It does not check a fabric without forwarding tables, such as an agent's, and shows
 * that in its status.
 *
 * Thread-safety: any thread.  The lock is held for pointers and the status.
 * Memory: a result has 8 octets for each port, and holds its fabric. */
#ifndef TRIAD_SERVICE_ROUTE_CHECKER_H
#define TRIAD_SERVICE_ROUTE_CHECKER_H

#include "routes/check.h"
#include "triad/conf.h"
#include "triad/log.h"

struct triad_route_checker;

/* The owner's callbacks for what the fabric does not have; each may be NULL.  The first
 * two run in the thread triad-routes. */
struct triad_route_source {
	void *context;
	/* SLs that packets may have besides those of the fabric, a bit for each. */
	uint16_t (*more_sls)(void *context);
	/* Where the routing engine chooses SLs: fills 'sls' (struct
	 * triad_routes_sls.of).  Returns 0, E2BIG (too many to ask for), ENOTSUP (SLs
	 * have no effect: the SM programs no SL2VL tables), ECANCELED, or EAGAIN (no
	 * engine runs). */
	int (*ask_sls)(void *context, const struct triad_routes_layout *layout,
		uint16_t *sls, bool (*is_stopped)(void *), void *stop_context);
	/* The SLs, a bit each, one of which the engine gives a pair whose partition has
	 * the SL 'hint'; from any thread.  0: it is not known at once. */
	uint16_t (*sls_between)(
		void *context, uint16_t slid, uint16_t dlid, uint8_t hint);
};

enum triad_route_state {
	TRIAD_ROUTE_OFF,
	TRIAD_ROUTE_NO_FABRIC,   /* none was given yet */
	TRIAD_ROUTE_NO_SWITCHES, /* hosts back to back: there is nothing to check */
	TRIAD_ROUTE_NO_TABLES,   /* it has no forwarding tables */
	TRIAD_ROUTE_NO_MEMORY,
	TRIAD_ROUTE_CHECKED,
};

/* Why credit loops were not looked for. */
enum triad_route_credit {
	TRIAD_ROUTE_CREDIT_CHECKED,
	TRIAD_ROUTE_CREDIT_NO_SLS,    /* the engine gave no SLs */
	TRIAD_ROUTE_CREDIT_NO_TABLES, /* SLs without SL2VL tables */
	TRIAD_ROUTE_CREDIT_TOO_MANY,  /* SLs to ask for, or dependencies */
};

struct triad_route_result {
	struct triad_routes_check *check;
	enum triad_route_credit credit;
	uint16_t sls;        /* that were checked; 0: those of the routing engine */
	uint64_t generation; /* of the fabric */
	uint64_t hash;
	uint64_t checked_us; /* monotonic, when it was ready */
	uint64_t took_us;
};

struct triad_route_status {
	enum triad_route_state state;
	bool is_behind; /* the result is of an earlier fabric than the last one given */
	uint64_t n_checks, n_unchanged, n_failed;
	uint64_t took_us, checked_us; /* the last check */
};

/* NULL when memory is short.  'source' is copied; NULL: no callbacks. */
struct triad_route_checker *triad_route_checker_new(
	const struct triad_route_source *source, struct triad_log *log);

/* Breaks off the present check and ends the thread. */
bool triad_route_checker_stop(struct triad_route_checker *checker); /* accepts NULL */
void triad_route_checker_free(struct triad_route_checker *checker); /* accepts NULL */

/* 'changed' is called, without a lock, when the result has changed or gone.  Set it
 * before the first configuration. */
void triad_route_checker_set_listener(struct triad_route_checker *checker,
	void (*changed)(void *context), void *context);

void triad_route_checker_configure(
	struct triad_route_checker *checker, const struct triad_conf *conf);

/* Adds a reference to a new fabric and has it checked; NULL: drops fabric and result.
 * Returns at once. */
void triad_route_checker_set_fabric(
	struct triad_route_checker *checker, struct triad_fabric *fabric);

struct triad_route_status triad_route_checker_status(
	struct triad_route_checker *checker);

/* The last result, with a reference; NULL: there is none. */
struct triad_route_result *triad_route_checker_result(
	struct triad_route_checker *checker);
struct triad_route_result *triad_route_result_ref(struct triad_route_result *result);
void triad_route_result_unref(struct triad_route_result *result); /* accepts NULL */

/* The state that an error of triad_routes_check_make() means. */
enum triad_route_state triad_route_state_of_error(int error);

/* Why there is no result, or none for credit loops, and what to do; NULL: there is
 * one. */
const char *triad_route_state_text(enum triad_route_state state);
const char *triad_route_credit_text(enum triad_route_credit credit);

#endif
