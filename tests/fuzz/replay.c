/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs a fuzz target with stored inputs where there is no libFuzzer: the empty input,
 * with which libFuzzer begins, too, and those in the files and folders named as
 * arguments, by default the corpus that has the program's name.  Prints TAP: one test,
 * whose line is missing after an abort. */
#include "config.h"

#include <ftw.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned n_replayed;
static uint8_t *buffer;

/* Runs the target with the first 'size' octets of 'buffer', in a block of exactly that
 * size: a sanitizer then detects a read past their end. */
static bool replay_buffer(const char *name, size_t size)
{
	uint8_t *exact = malloc(size ? size : 1);

	if (!exact)
		return false;
	memcpy(exact, buffer, size);
	printf("# %s\n", name);
	fflush(stdout);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	return true;
}

static bool replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	size_t size;

	if (!file)
		return false;
	size = fread(buffer, 1, MAX_SIZE, file);
	fclose(file);
	n_replayed++;
	return replay_buffer(path, size);
}

static int visit(const char *path, const struct stat *status, int kind, struct FTW *ftw)
{
	(void)status;
	(void)ftw;
	if (kind == FTW_F && !replay_file(path))
		kind = FTW_NS;
	return kind == FTW_NS || kind == FTW_DNR;
}

static bool replay(const char *path)
{
	return nftw(path, visit, 16, FTW_PHYS) == 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	path = slash ? slash + 1 : path;
	return strncmp(path, "lt-", 3) ? path : path + 3;
}

int main(int argc, char **argv)
{
	const char *name = base_name(argv[0]), *source = getenv("TRIAD_SRCDIR");
	char corpus[4096];
	bool done;

	buffer = malloc(MAX_SIZE);
	if (!buffer)
		return EXIT_FAILURE;
	puts("1..1");
	done = replay_buffer("(empty)", 0);
	snprintf(corpus, sizeof(corpus), "%s/tests/fuzz/corpus/%s",
		source ? source : ".", name);
	if (argc < 2)
		done = replay(corpus) && done;
	for (int i = 1; i < argc; i++)
		done = replay(argv[i]) && done;
	printf("%s 1 - %s: %u inputs\n", done && n_replayed ? "ok" : "not ok", name,
		n_replayed);
	free(buffer);
	return 0;
}
