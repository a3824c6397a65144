/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Input to OpenSM's console.  Each octet goes to OpenSM, unchanged and in order, or
 * belongs to a line for Triad.  The target finds these lines once more, as a whole, by
 * the rules in console_lines.h.
 *
 * Input: the octets that a user types. */
#include "plugin/console_lines.h"
#include "tests/fuzz/fuzz.h"

#define MOST ((size_t)64 << 10)

struct outcome {
	char passed[MOST];
	size_t n_passed;
	char ours[MOST];
	size_t n_ours; /* commands, each with a 0 at its end */
};

static void put(char *to, size_t *n, const char *octets, size_t size)
{
	require(size <= MOST - *n, "no more than was typed");
	memcpy(to + *n, octets, size);
	*n += size;
}

/* --- octet by octet --- */

static void run_lines(struct outcome *outcome, const char *typed, size_t size)
{
	struct triad_console_lines lines = {.used = 0};

	for (size_t i = 0; i < size; i++) {
		switch (triad_console_lines_take(&lines, typed[i])) {
		case TRIAD_CONSOLE_OURS:
			put(outcome->ours, &outcome->n_ours, lines.line,
				strlen(lines.line) + 1);
			break;
		case TRIAD_CONSOLE_PASS:
			put(outcome->passed, &outcome->n_passed, lines.line,
				lines.used);
			break;
		case TRIAD_CONSOLE_MORE:
			break;
		}
	}
	if (triad_console_lines_end(&lines))
		put(outcome->passed, &outcome->n_passed, lines.line, lines.used);
	require(!triad_console_lines_end(&lines), "the end comes once");
}

/* --- line by line --- */

static bool is_ours(const char *line, size_t size)
{
	size_t at = 0;

	if (size >= TRIAD_CONSOLE_LINE_SIZE || memchr(line, '\0', size))
		return false;
	while (at < size && (line[at] == ' ' || line[at] == '\t'))
		at++;
	return size - at > 5 && !memcmp(line + at, "triad", 5) &&
		memchr(" \t\r\n", line[at + 5], 4);
}

static void judge_lines(struct outcome *outcome, const char *typed, size_t size)
{
	const char *end = typed + size, *newline;

	while (typed < end && (newline = memchr(typed, '\n', (size_t)(end - typed)))) {
		size_t n = (size_t)(newline + 1 - typed);

		if (is_ours(typed, n)) {
			put(outcome->ours, &outcome->n_ours, typed, n);
			outcome->ours[outcome->n_ours - 1] = '\0';
		} else {
			put(outcome->passed, &outcome->n_passed, typed, n);
		}
		typed += n;
	}
	put(outcome->passed, &outcome->n_passed, typed, (size_t)(end - typed));
}

/* A carriage return also ends a command. */
static void cut_returns(struct outcome *outcome)
{
	size_t kept = 0;

	for (size_t at = 0, n; at < outcome->n_ours; at += n) {
		char *line = outcome->ours + at;
		size_t length = strcspn(line, "\r");

		n = strlen(line) + 1;
		memmove(outcome->ours + kept, line, length);
		outcome->ours[kept + length] = '\0';
		kept += length + 1;
	}
	outcome->n_ours = kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct outcome found, expected;

	if (size > MOST)
		return 0;
	found.n_passed = found.n_ours = expected.n_passed = expected.n_ours = 0;
	run_lines(&found, (const char *)data, size);
	judge_lines(&expected, (const char *)data, size);
	cut_returns(&expected);
	require(found.n_passed == expected.n_passed &&
			!memcmp(found.passed, expected.passed, found.n_passed),
		"what OpenSM gets");
	require(found.n_ours == expected.n_ours &&
			!memcmp(found.ours, expected.ours, found.n_ours),
		"what is run");
	return 0;
}
