/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "cli/config_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "triad/conf.h"
#include "triad/control.h"
#include "triad/diag.h"
#include "triad/file.h"

#define DEFAULT_FILE TRIAD_SYSCONFDIR "/triad.conf"

/* Sections of ports are for some port; which one does not matter here. */
#define ANY_PORT 1

static const struct triad_verb verbs[] = {
	{.name = "config check",
		.group = TRIAD_VERB_CONFIGURE,
		.help = "Checks a triad.conf [" DEFAULT_FILE
			"] and shows all its mistakes, "
			"without asking Triad.",
		.arguments = "[FILE]",
		.n_arguments_max = 1},
};

const struct triad_verb_table triad_config_verbs = TRIAD_VERB_TABLE(verbs, NULL, 0);

int triad_config_check_read(struct triad_parser *parser, const char **file)
{
	unsigned n;

	*file = NULL;
	return triad_parser_read_rest(parser, NULL, file, &n);
}

static int check_file(const char *file, struct triad_conf *conf)
{
	char text[2 * TRIAD_DIAG_TEXT_SIZE + 32], reason[TRIAD_FILE_REASON_SIZE];
	static struct triad_diags diags;
	int error = triad_conf_load(file, ANY_PORT, conf, &diags);

	for (size_t i = 0; i < diags.n; i++) {
		triad_diags_format(&diags, i, text, sizeof(text));
		fprintf(stderr, "%s\n", text);
	}
	/* A file that is read with mistakes has keys, too. */
	if (*conf->gone)
		fprintf(stderr, "%s: no longer does anything, and can be removed: %s\n",
			file, conf->gone);
	if (!error && triad_file_check_trusted(file, false, reason)) {
		fprintf(stderr, "%s: others can change it: %s\n", file, reason);
		error = EPERM;
	}
	if (error)
		return TRIAD_CONTROL_FAILED;
	printf("%s: no mistakes\n", file);
	return TRIAD_CONTROL_DONE;
}

int triad_config_check(const char *file)
{
	struct triad_conf *conf = triad_conf_new(ANY_PORT);
	int status = TRIAD_CONTROL_FAILED;

	if (!conf) {
		fprintf(stderr, "triadctl: memory is short\n");
	} else if (!file && access(DEFAULT_FILE, F_OK) && errno == ENOENT) {
		printf("%s is not there: Triad takes its defaults\n", DEFAULT_FILE);
		status = TRIAD_CONTROL_DONE;
	} else {
		status = check_file(file ? file : DEFAULT_FILE, conf);
	}
	triad_conf_unref(conf);
	return status;
}
