/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "portmgr/election/fabric_watch.h"

#include <string.h>

#include "triad/clock.h"

#define SLOW_US TRIAD_US_PER_S           /* period for SMs that are not master */
#define FAST_US (40 * TRIAD_US_PER_MS)   /* period for SMs silent in the election */
#define FAST_FOR_US (5 * TRIAD_US_PER_S) /* how long to use FAST_US */
#define ANSWER_US (60 * TRIAD_US_PER_MS) /* how long to wait for an answer */
#define KEEP_US (600 * TRIAD_US_PER_S)   /* how long to keep a lost, silent peer */
#define FORGET_US (3 * TRIAD_US_PER_S)   /* ignore evidence that is older */

/* The evidence needed to call an SM or port silent, or dead. */
#define N_MISSED 3u
#define SILENT_US (250 * TRIAD_US_PER_MS)
/* A death is certain only with recent evidence: the last question, and the port's last
 * answer, are not older than this. */
#define PROOF_US (300 * TRIAD_US_PER_MS)

void triad_fabric_watch_init(
	struct triad_fabric_watch *watch, uint32_t period_ms, uint32_t status_ms)
{
	/* Continue the transaction ids, so that late answers match no new question. */
	uint32_t last_tid = watch->last_tid;

	memset(watch, 0, sizeof(*watch));
	watch->last_tid = last_tid;
	watch->period_us = period_ms * TRIAD_US_PER_MS;
	watch->late_us = status_ms * TRIAD_US_PER_MS * 3 / 2;
}

/* --- peers --- */

static struct triad_fabric_peer *find_peer(
	struct triad_fabric_watch *watch, uint64_t id)
{
	for (uint32_t i = 0; id && i < watch->n_peers; i++)
		if (watch->peers[i].id == id)
			return &watch->peers[i];
	return NULL;
}

/* A free entry: at the end, or that of the peer that was lost first. */
static struct triad_fabric_peer *find_room(struct triad_fabric_watch *watch)
{
	struct triad_fabric_peer *oldest = NULL;

	if (watch->n_peers < TRIAD_FABRIC_MAX_PEERS)
		return &watch->peers[watch->n_peers++];
	for (uint32_t i = 0; i < watch->n_peers; i++) {
		struct triad_fabric_peer *peer = &watch->peers[i];

		if (!peer->is_member &&
			(!oldest || peer->received_us < oldest->received_us))
			oldest = peer;
	}
	return oldest;
}

static void note_member(
	struct triad_fabric_watch *watch, const struct triad_fabric_member *member)
{
	struct triad_fabric_peer *peer = find_peer(watch, member->id);

	if (!peer) {
		peer = find_room(watch);
		if (!peer)
			return;
		*peer = (struct triad_fabric_peer){.id = member->id};
	}
	peer->is_member = true;
	if (member->received_us > peer->received_us) {
		peer->received_us = member->received_us;
		peer->lost.n = 0;
	}
}

void triad_fabric_watch_members(struct triad_fabric_watch *watch,
	const struct triad_fabric_member *members, size_t n, uint64_t master)
{
	for (uint32_t i = 0; i < watch->n_peers; i++)
		watch->peers[i].is_member = false;
	/* First mark the known members, so that a new one replaces none of them. */
	for (size_t i = 0; i < n; i++)
		if (find_peer(watch, members[i].id))
			note_member(watch, &members[i]);
	for (size_t i = 0; i < n; i++)
		if (members[i].id)
			note_member(watch, &members[i]);
	watch->master = master;
}

void triad_fabric_watch_listed(
	struct triad_fabric_watch *watch, uint64_t id, uint64_t now_us)
{
	struct triad_fabric_peer *peer = find_peer(watch, id);

	/* Members come first where there is no room for all. */
	if (!peer && id && watch->n_peers < TRIAD_FABRIC_MAX_PEERS) {
		peer = &watch->peers[watch->n_peers++];
		*peer = (struct triad_fabric_peer){.id = id};
	}
	if (peer)
		peer->listed_us = now_us;
}

static bool is_recent(uint64_t at_us, uint64_t now_us)
{
	return at_us && now_us - at_us < FORGET_US;
}

/* Whether its SM or port has recently answered. */
static bool has_answered(const struct triad_fabric_peer *peer, uint64_t now_us)
{
	return is_recent(peer->answered_us, now_us) ||
		is_recent(peer->port_answered_us, now_us);
}

/* Changes the LID and drops the evidence, which is about the old one. */
static void move_peer(struct triad_fabric_peer *peer, uint16_t lid)
{
	peer->lid = lid;
	peer->refused_us = peer->asked_us = peer->port_asked_us = 0;
	peer->sm.n = peer->port.n = peer->lost.n = 0;
}

void triad_fabric_watch_address(struct triad_fabric_watch *watch, uint64_t id,
	uint16_t lid, uint64_t m_key, uint64_t now_us)
{
	struct triad_fabric_peer *peer = find_peer(watch, id);

	if (!peer)
		return;
	peer->m_key = m_key;
	if (lid && lid != peer->lid && (!peer->lid || !has_answered(peer, now_us)))
		move_peer(peer, lid);
}

void triad_fabric_watch_master_lid(
	struct triad_fabric_watch *watch, uint16_t lid, uint64_t m_key, uint64_t now_us)
{
	watch->master_lid = lid;
	watch->master_m_key = m_key;
	watch->master_lid_us = now_us;
}

/* --- asking --- */

/* When the peer's silence in the election becomes significant. */
static uint64_t late_us(
	const struct triad_fabric_watch *watch, const struct triad_fabric_peer *peer)
{
	return peer->received_us + watch->late_us;
}

static uint64_t fast_us(const struct triad_fabric_watch *watch)
{
	return watch->period_us < FAST_US ? watch->period_us : FAST_US;
}

/* Whether a member has just gone silent: ask all members fast then, because the SM that
 * takes over must know all silent ones. */
static bool is_urgent(const struct triad_fabric_watch *watch, uint64_t now_us)
{
	for (uint32_t i = 0; i < watch->n_peers; i++) {
		uint64_t from_us = late_us(watch, &watch->peers[i]);

		if (now_us >= from_us && now_us < from_us + FAST_FOR_US)
			return true;
	}
	return false;
}

static uint64_t period_of(const struct triad_fabric_watch *watch,
	const struct triad_fabric_peer *peer, uint64_t now_us)
{
	if (now_us >= late_us(watch, peer) && is_urgent(watch, now_us))
		return fast_us(watch);
	if (peer->id == watch->master || watch->period_us > SLOW_US)
		return watch->period_us;
	return SLOW_US;
}

static bool is_period_over(uint64_t asked_us, uint64_t period_us, uint64_t now_us)
{
	return !asked_us || now_us >= asked_us + period_us;
}

/* Whether its SM seems silent or gone, so that its port is asked, too. */
static bool is_unsure(const struct triad_fabric_peer *peer)
{
	return peer->sm.n || peer->refused_us;
}

static void begin_question(struct triad_fabric_watch *watch,
	struct triad_fabric_question *question, uint64_t now_us)
{
	watch->last_tid++;
	if (!watch->last_tid)
		watch->last_tid++;
	question->tid = watch->last_tid;
	question->asked_us = now_us;
	question->is_missed = false;
	watch->questions[question->tid % TRIAD_FABRIC_MAX_QUESTIONS] = *question;
	watch->n_asked++;
}

static bool ask_peer(struct triad_fabric_watch *watch, struct triad_fabric_peer *peer,
	uint64_t now_us, struct triad_fabric_question *question)
{
	uint64_t period_us = period_of(watch, peer, now_us);

	if (!peer->lid)
		return false;
	*question = (struct triad_fabric_question){
		.id = peer->id, .lid = peer->lid, .m_key = peer->m_key};
	if (is_period_over(peer->asked_us, period_us, now_us)) {
		question->attribute = TRIAD_SMP_SM_INFO;
		peer->asked_us = now_us;
	} else if (is_unsure(peer) &&
		is_period_over(peer->port_asked_us, period_us, now_us)) {
		question->attribute = TRIAD_SMP_NODE_INFO;
		peer->port_asked_us = now_us;
	} else {
		return false;
	}
	begin_question(watch, question, now_us);
	return true;
}

/* Asks at the master's LID, which this SM's port knows; the answer names the master's
 * port. Needed because a standby's tables may be older than the fabric's LIDs. */
static bool ask_at_master_lid(struct triad_fabric_watch *watch, uint64_t now_us,
	struct triad_fabric_question *question)
{
	if (!watch->master_lid || !watch->n_peers ||
		!is_period_over(watch->master_asked_us, SLOW_US, now_us))
		return false;
	for (uint32_t i = 0; i < watch->n_peers; i++)
		if (watch->peers[i].lid == watch->master_lid)
			return false;
	watch->master_asked_us = now_us;
	*question = (struct triad_fabric_question){.lid = watch->master_lid,
		.m_key = watch->master_m_key,
		.attribute = TRIAD_SMP_SM_INFO};
	begin_question(watch, question, now_us);
	return true;
}

bool triad_fabric_watch_next(struct triad_fabric_watch *watch, uint64_t now_us,
	struct triad_fabric_question *question)
{
	if (!watch->period_us)
		return false;
	for (uint32_t i = 0; i < watch->n_peers; i++)
		if (ask_peer(watch, &watch->peers[i], now_us, question))
			return true;
	return ask_at_master_lid(watch, now_us, question);
}

static struct triad_fabric_question *find_question(
	struct triad_fabric_watch *watch, uint32_t tid)
{
	struct triad_fabric_question *question =
		&watch->questions[tid % TRIAD_FABRIC_MAX_QUESTIONS];

	return tid && question->tid == tid ? question : NULL;
}

void triad_fabric_watch_unsent(struct triad_fabric_watch *watch, uint32_t tid)
{
	struct triad_fabric_question *question = find_question(watch, tid);

	if (!question)
		return;
	question->tid = 0;
	watch->n_asked--;
}

/* --- answers --- */

/* Another port answered at the LID: the peer has moved, and another peer may be
 * there. */
static void note_other_port(struct triad_fabric_watch *watch,
	struct triad_fabric_peer *peer, uint16_t lid, uint64_t guid)
{
	struct triad_fabric_peer *here = find_peer(watch, guid);

	if (peer && peer->lid == lid)
		move_peer(peer, 0);
	if (here && here->lid != lid)
		move_peer(here, lid);
}

static void note_sm_info(struct triad_fabric_peer *peer,
	const struct triad_fabric_answer *answer, uint64_t now_us)
{
	peer->sm.n = peer->lost.n = 0;
	if (answer->is_refused) {
		peer->refused_us = now_us;
		return;
	}
	peer->refused_us = 0;
	peer->answered_us = now_us;
	peer->is_master = answer->state == TRIAD_SM_STATE_MASTER;
	peer->priority = answer->priority;
}

void triad_fabric_watch_answer(struct triad_fabric_watch *watch,
	const struct triad_fabric_answer *answer, uint64_t now_us)
{
	struct triad_fabric_question *question = find_question(watch, answer->tid);
	struct triad_fabric_peer *peer;
	uint16_t lid;

	if (!question)
		return;
	lid = question->lid;
	peer = find_peer(watch, question->id);
	question->tid = 0;
	/* The peer has moved since it was asked. */
	if (peer && peer->lid != lid)
		return;
	if (!answer->is_refused && (!peer || answer->guid != peer->id)) {
		note_other_port(watch, peer, lid, answer->guid);
		return;
	}
	if (!peer)
		return;
	if (question->attribute == TRIAD_SMP_SM_INFO) {
		note_sm_info(peer, answer, now_us);
	} else if (!answer->is_refused) {
		peer->port.n = 0;
		peer->port_answered_us = now_us;
	}
}

/* --- judging --- */

static void add_missed(struct triad_fabric_silence *silence, uint64_t asked_us)
{
	if (!silence->n)
		silence->since_us = asked_us;
	silence->n++;
}

static void note_missed(
	struct triad_fabric_watch *watch, const struct triad_fabric_question *question)
{
	struct triad_fabric_peer *peer = find_peer(watch, question->id);

	watch->n_missed++;
	if (!peer || peer->lid != question->lid)
		return;
	if (question->attribute == TRIAD_SMP_NODE_INFO) {
		if (question->asked_us > peer->port_answered_us)
			add_missed(&peer->port, question->asked_us);
		return;
	}
	/* A later question was answered already. */
	if (question->asked_us <= peer->answered_us ||
		question->asked_us <= peer->refused_us)
		return;
	add_missed(&peer->sm, question->asked_us);
	if (question->asked_us > peer->received_us)
		add_missed(&peer->lost, question->asked_us);
}

static bool is_silent(const struct triad_fabric_silence *silence, uint64_t now_us)
{
	return silence->n >= N_MISSED && now_us - silence->since_us >= SILENT_US;
}

/* Keeps the verdict if the evidence is recent but not clear. */
static enum triad_fabric_verdict judge_peer(
	const struct triad_fabric_peer *peer, uint64_t now_us)
{
	bool has_port =
		is_recent(peer->port_answered_us, now_us) && peer->port.n < N_MISSED;

	if (!peer->lid || !is_recent(peer->asked_us, now_us))
		return TRIAD_FABRIC_UNKNOWN;
	if (is_silent(&peer->sm, now_us)) {
		if (is_silent(&peer->port, now_us))
			return TRIAD_FABRIC_PORT_SILENT;
		return has_port ? TRIAD_FABRIC_SM_SILENT : peer->verdict;
	}
	if (peer->sm.n)
		return peer->verdict;
	if (peer->refused_us)
		return has_port ? TRIAD_FABRIC_NO_SM : peer->verdict;
	if (!is_recent(peer->answered_us, now_us))
		return TRIAD_FABRIC_UNKNOWN;
	return peer->is_master ? TRIAD_FABRIC_MASTER : TRIAD_FABRIC_STANDBY;
}

static bool is_to_be_kept(const struct triad_fabric_peer *peer, uint64_t now_us)
{
	return peer->is_member || triad_fabric_verdict_is_alive(peer->verdict) ||
		is_recent(peer->listed_us, now_us) ||
		(peer->received_us && now_us < peer->received_us + KEEP_US);
}

void triad_fabric_watch_run(struct triad_fabric_watch *watch, uint64_t now_us)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < TRIAD_FABRIC_MAX_QUESTIONS; i++) {
		struct triad_fabric_question *question = &watch->questions[i];

		if (!question->tid || question->is_missed ||
			now_us < question->asked_us + ANSWER_US)
			continue;
		question->is_missed = true; /* an answer may still come */
		note_missed(watch, question);
	}
	for (uint32_t i = 0; i < watch->n_peers; i++) {
		struct triad_fabric_peer *peer = &watch->peers[i];

		peer->verdict = judge_peer(peer, now_us);
		if (is_to_be_kept(peer, now_us))
			watch->peers[n++] = *peer;
	}
	watch->n_peers = n;
}

/* When to ask the peer next. */
static uint64_t next_of_peer(const struct triad_fabric_watch *watch,
	const struct triad_fabric_peer *peer, uint64_t now_us)
{
	uint64_t period_us = period_of(watch, peer, now_us);
	uint64_t from_us = late_us(watch, peer);
	uint64_t next_us = peer->asked_us ? peer->asked_us + period_us : now_us;

	if (is_unsure(peer))
		next_us = triad_clock_earlier(next_us,
			peer->port_asked_us ? peer->port_asked_us + period_us : now_us);
	/* Ask more often from the moment that its silence is significant. */
	if (from_us > now_us) {
		uint64_t again_us = peer->asked_us + fast_us(watch);

		next_us = triad_clock_earlier(
			next_us, again_us > from_us ? again_us : from_us);
	}
	return next_us;
}

uint64_t triad_fabric_watch_next_us(
	const struct triad_fabric_watch *watch, uint64_t now_us)
{
	uint64_t next_us = UINT64_MAX;

	if (!watch->period_us)
		return next_us;
	for (uint32_t i = 0; i < watch->n_peers; i++)
		if (watch->peers[i].lid)
			next_us = triad_clock_earlier(
				next_us, next_of_peer(watch, &watch->peers[i], now_us));
	for (uint32_t i = 0; i < TRIAD_FABRIC_MAX_QUESTIONS; i++) {
		const struct triad_fabric_question *question = &watch->questions[i];

		if (question->tid && !question->is_missed)
			next_us = triad_clock_earlier(
				next_us, question->asked_us + ANSWER_US);
	}
	return next_us;
}

/* --- dead SMs --- */

static bool is_dead(const struct triad_fabric_peer *peer, uint64_t now_us)
{
	if (now_us - peer->port_answered_us > PROOF_US || peer->port.n)
		return false;
	/* The port answers that it has no SM, since its last message in the
	 * election. */
	if (peer->refused_us && !peer->sm.n)
		return peer->refused_us > peer->received_us + SILENT_US &&
			now_us - peer->refused_us <= PROOF_US;
	return is_silent(&peer->lost, now_us) && now_us - peer->asked_us <= PROOF_US &&
		peer->port_answered_us > peer->lost.since_us;
}

void triad_fabric_watch_dead(const struct triad_fabric_watch *watch, uint64_t now_us,
	struct triad_fabric_dead *dead)
{
	memset(dead, 0, sizeof(*dead));
	for (uint32_t i = 0; i < watch->n_peers; i++) {
		const struct triad_fabric_peer *peer = &watch->peers[i];

		/* An SM that never elected is not known well enough. */
		if (!peer->lid || !triad_fabric_peer_elects(peer) ||
			!is_dead(peer, now_us))
			continue;
		dead->ids[dead->n++] = peer->id;
		if (peer->lid == watch->master_lid &&
			is_recent(watch->master_lid_us, now_us))
			dead->master = peer->id;
	}
}

/* --- words --- */

const char *triad_fabric_verdict_word(enum triad_fabric_verdict verdict)
{
	static const char *const words[TRIAD_FABRIC_N_VERDICTS] = {
		[TRIAD_FABRIC_UNKNOWN] = "unknown",
		[TRIAD_FABRIC_MASTER] = "master",
		[TRIAD_FABRIC_STANDBY] = "standby",
		[TRIAD_FABRIC_NO_SM] = "no_sm",
		[TRIAD_FABRIC_SM_SILENT] = "sm_silent",
		[TRIAD_FABRIC_PORT_SILENT] = "port_silent",
	};

	return words[verdict];
}

const char *triad_fabric_verdict_text(enum triad_fabric_verdict verdict)
{
	static const char *const texts[TRIAD_FABRIC_N_VERDICTS] = {
		[TRIAD_FABRIC_UNKNOWN] = "unknown",
		[TRIAD_FABRIC_MASTER] = "master",
		[TRIAD_FABRIC_STANDBY] = "standby",
		[TRIAD_FABRIC_NO_SM] = "no SM",
		[TRIAD_FABRIC_SM_SILENT] = "SM silent",
		[TRIAD_FABRIC_PORT_SILENT] = "port silent",
	};

	return texts[verdict];
}

bool triad_fabric_peer_elects(const struct triad_fabric_peer *peer)
{
	return peer->is_member || peer->received_us;
}

bool triad_fabric_verdict_is_alive(enum triad_fabric_verdict verdict)
{
	return verdict == TRIAD_FABRIC_MASTER || verdict == TRIAD_FABRIC_STANDBY;
}
