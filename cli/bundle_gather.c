/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/bundle_gather.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/client.h"
#include "lib/text.h"

#define ANSWER_MAX (UINT64_C(1) << 30)
#define TABLES_MAX (UINT64_C(5) << 30)
#define MAX_SILENT 2 /* then nothing more is asked */
#define MAX_ATTEMPTS 3
#define N_WORDS 8
#define BIT(option) TRIAD_OPTION_BIT(TRIAD_OPTION_##option)

void triad_bundle_show_progress(const struct triad_bundle *bundle, const char *what)
{
	if (bundle->has_progress && what)
		fprintf(stderr, "\r\033[Kbundle: %u files, %.48s",
			bundle->spool.entries->len, what);
	else if (bundle->has_progress)
		fprintf(stderr, "\r\033[K");
}

/* --- asking --- */

struct answer {
	struct triad_bundle *bundle;
	struct triad_json_rows *rows; /* NULL: it goes into the spool */
	char message[256];
};

static int take_answer(
	void *context, enum triad_frame_type type, const char *piece, size_t size)
{
	struct answer *answer = context;

	if (type == TRIAD_FRAME_MESSAGE)
		triad_text_append(
			answer->message, sizeof(answer->message), "%s", piece);
	else if (type == TRIAD_FRAME_OUTPUT && answer->rows)
		triad_json_rows_take(answer->rows, piece, size);
	else if (type == TRIAD_FRAME_OUTPUT &&
		!triad_bundle_spool_add(&answer->bundle->spool, piece, size))
		return ECANCELED;
	return 0;
}

static int ask_words(const struct answer *answer, int n_words, const char *const *words)
{
	const struct triad_bundle_asker *asker = answer->bundle->asker;
	const struct triad_client_sink sink = {take_answer, (void *)answer};
	const struct triad_client client = {.path = asker->path,
		.program = "triadctl",
		.may = TRIAD_CLIENT_MAY,
		.is_agent = asker->is_agent,
		.timeout_s = asker->timeout_s,
		.sink = &sink,
		.hides_progress = true,
		.pid = &answer->bundle->pid};
	char request[TRIAD_CONTROL_REQUEST_SIZE];
	size_t size = triad_request_encode(request, sizeof(request), n_words, words);

	return triad_client_ask(&client, request, size);
}

/* The last line of a message, without the newline. */
static char *dup_message(const char *message)
{
	char *text = g_strchomp(g_strdup(message));

	triad_text_clean(text);
	return text;
}

/* Takes the name. */
static void ask_into_entry(struct triad_bundle *bundle, char *name, uint64_t limit,
	enum triad_bundle_form form, int n_words, const char *const *words)
{
	struct triad_bundle_entry *entry =
		triad_bundle_spool_begin(&bundle->spool, name, limit);
	struct answer answer = {.bundle = bundle};

	entry->form = form;
	triad_bundle_show_progress(bundle, entry->name);
	if (bundle->n_silent >= MAX_SILENT || bundle->spool.error) {
		triad_bundle_entry_say(entry, TRIAD_BUNDLE_FAILED,
			g_strdup("not asked, after what failed before"));
		return;
	}
	entry->status = ask_words(&answer, n_words, words);
	if (entry->status == TRIAD_CLIENT_NO_ANSWER) {
		bundle->n_silent++;
		triad_bundle_entry_say(
			entry, TRIAD_BUNDLE_FAILED, dup_message(answer.message));
		return;
	}
	bundle->n_silent = 0;
	/* What is off has no answer but a sentence. */
	if (!entry->size)
		triad_bundle_entry_say(entry,
			entry->status ? TRIAD_BUNDLE_ABSENT : TRIAD_BUNDLE_WHOLE,
			dup_message(answer.message));
	else if (answer.message[0] && !entry->why)
		entry->why = dup_message(answer.message);
}

/* --- the view --- */

/* Files that the configuration in force names. */
static void take_path(struct triad_bundle *bundle, const char *name, const char *value)
{
	const struct {
		const char *name;
		char **path;
	} paths[] = {
		{"qos.policy_file", &bundle->policy},
		{"port.expected_file", &bundle->expected},
		{"alerts.file", &bundle->alerts},
		{"dir", &bundle->images},
	};

	/* The configuration's own file stands before its values. */
	if (!strcmp(name, "file") && !bundle->has_values) {
		g_free(bundle->triad_conf);
		bundle->triad_conf = g_strdup(value);
	}
	bundle->has_values |= strchr(name, '.') != NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(paths); i++)
		if (value && !strcmp(name, paths[i].name) && !*paths[i].path)
			*paths[i].path = g_strdup(value);
}

static void take_view_member(void *context, const char *name, const char *value)
{
	struct triad_bundle *bundle = context;
	struct triad_bundle_view *view = &bundle->ended;
	uint64_t number = value ? g_ascii_strtoull(value, NULL, 10) : 0;

	view->is_known = true;
	take_path(bundle, name, value);
	/* The SM's stands first. */
	if (!strcmp(name, "state") && !bundle->has_state) {
		bundle->has_state = true;
		bundle->is_standby = value && !strcmp(value, "standby");
	}
	if (!strcmp(name, "sm_sweeps"))
		view->sm_sweeps = number;
	else if (!strcmp(name, "snapshots"))
		view->snapshots = number;
	else if (!strcmp(name, "sweeps") && !view->sweeps)
		view->sweeps = number;
}

static void read_view(struct triad_bundle *bundle, struct triad_bundle_view *view)
{
	static const char *const words[] = {"status", "--json"};
	struct triad_json_rows rows = {
		.member = take_view_member, .context = bundle, .at_any_depth = true};
	struct answer answer = {.bundle = bundle, .rows = &rows};

	bundle->ended = (struct triad_bundle_view){0};
	if (bundle->n_silent < MAX_SILENT)
		(void)ask_words(&answer, 2, words);
	*view = bundle->ended;
}

static bool is_one_view(const struct triad_bundle *bundle)
{
	return bundle->begun.sm_sweeps == bundle->ended.sm_sweeps &&
		bundle->begun.snapshots == bundle->ended.snapshots;
}

/* --- the table of commands --- */

/* The words of a command with all that it has to tell.  Returns how many; 0: it has no answer
 * without words of the user's. */
static int words_of(const struct triad_bundle *bundle, const struct triad_verb *verb,
	char **name, const char *words[N_WORDS])
{
	struct triad_command command;
	char message[512];
	int n = 0;

	if (verb->access != TRIAD_VERB_READS || !(verb->options & BIT(JSON)))
		return 0;
	for (; name[n]; n++)
		words[n] = name[n];
	words[n++] = "--json";
	if (verb->options & (BIT(ALL) | BIT(SECTIONS) | BIT(LINKS_ALL)))
		words[n++] = "--all";
	if (verb->options & BIT(LIMIT))
		words[n++] = "-n65535";
	if (bundle->command->since && (verb->options & BIT(SINCE))) {
		words[n++] = "--since";
		words[n++] = bundle->command->since;
	}
	return triad_command_parse(n, words, &command, message, sizeof(message)) ? 0
										 : n;
}

static void ask_verb(struct triad_bundle *bundle, const struct triad_verb *verb)
{
	g_auto(GStrv) name = g_strsplit(verb->name, " ", 0);
	g_autofree char *joined = g_strjoinv("-", name);
	const char *words[N_WORDS];
	int n = words_of(bundle, verb, name, words);

	if (n)
		ask_into_entry(bundle, g_strdup_printf("answers/%s.json", joined),
			ANSWER_MAX, TRIAD_BUNDLE_FORM_JSON, n, words);
}

/* 'option' is of 'topology'. */
static void ask_fabric(struct triad_bundle *bundle, const char *option,
	const char *name, enum triad_bundle_form form)
{
	const char *words[] = {"topology", option};
	struct triad_bundle_entry *entry;

	ask_into_entry(bundle, g_strdup_printf("fabric/ibdiagnet2.%s", name),
		TABLES_MAX, form, 2, words);
	entry = g_ptr_array_index(
		bundle->spool.entries, bundle->spool.entries->len - 1);
	/* A standby may have no fabric. */
	if (entry->state == TRIAD_BUNDLE_ABSENT && !bundle->is_standby)
		entry->state = TRIAD_BUNDLE_FAILED;
}

void triad_bundle_gather_names(struct triad_bundle *bundle)
{
	ask_fabric(bundle, "--db-csv", "db_csv", TRIAD_BUNDLE_FORM_DB_CSV);
	for (size_t i = 0; i < TRIAD_N_COMMANDS; i++)
		ask_verb(bundle, &triad_verbs[i]);
}

void triad_bundle_gather_answers(struct triad_bundle *bundle)
{
	do {
		triad_bundle_spool_rewind(&bundle->spool, 0);
		read_view(bundle, &bundle->begun);
		ask_fabric(bundle, "--fdbs", "fdbs", TRIAD_BUNDLE_FORM_OTHER);
		ask_fabric(bundle, "--mcfdbs", "mcfdbs", TRIAD_BUNDLE_FORM_OTHER);
		triad_bundle_gather_names(bundle);
		read_view(bundle, &bundle->ended);
	} while (++bundle->n_attempts < MAX_ATTEMPTS && !is_one_view(bundle) &&
		!bundle->spool.error && bundle->n_silent < MAX_SILENT);
}

/* --- originals --- */

static void read_names_of(const struct triad_bundle_spool *spool,
	const struct triad_bundle_entry *entry, struct triad_anonym *anonym)
{
	struct triad_bundle_names names;
	char piece[8192];
	uint64_t at = 0;
	size_t n;

	triad_bundle_names_begin(&names, anonym, entry->form);
	while ((n = triad_bundle_spool_read(spool, entry, at, piece, sizeof(piece)))) {
		triad_bundle_names_take(&names, piece, n);
		at += n;
	}
	triad_bundle_names_end(&names);
}

void triad_bundle_read_names(
	const struct triad_bundle_spool *spool, struct triad_anonym *anonym)
{
	/* In the order of forms: the first one knows which nodes are switches. */
	for (unsigned form = TRIAD_BUNDLE_FORM_DB_CSV;
		form <= TRIAD_BUNDLE_FORM_NODE_MAP; form++)
		for (guint i = 0; i < spool->entries->len; i++) {
			const struct triad_bundle_entry *entry =
				g_ptr_array_index(spool->entries, i);

			if (entry->form == form)
				read_names_of(spool, entry, anonym);
		}
	triad_bundle_names_of_host(anonym);
}
