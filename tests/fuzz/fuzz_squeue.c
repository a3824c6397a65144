/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What squeue prints of a job: whatever comes, all texts end and drive no terminal, and there
 * are hosts or a reason.
 *
 * Input: standard output. */
#include <stdlib.h>
#include <string.h>

#include "cli/slurm_job.h"
#include "tests/fuzz/fuzz.h"

static void check_text(const char *text, size_t size)
{
	require(memchr(text, '\0', size), "a text ends");
	for (; *text; text++)
		require((unsigned char)*text >= 0x20 && *text != 0x7f, "no control");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct triad_slurm_job job = {.id = "17"};
	char *text = malloc(size + 1);
	bool has_hosts;

	require(text, "memory");
	memcpy(text, data, size);
	text[size] = '\0';
	has_hosts = triad_slurm_job_read(text, &job);
	free(text);
	check_text(job.state, sizeof(job.state));
	check_text(job.hosts, sizeof(job.hosts));
	check_text(job.why, sizeof(job.why));
	require(has_hosts ? job.hosts[0] && !job.why[0] : job.why[0],
		"hosts or a reason");
	require(!has_hosts || !strpbrk(job.hosts, " \n"), "hosts are one word");
	return 0;
}
