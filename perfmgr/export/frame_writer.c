/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perfmgr/export/frame_writer.h"

#include <errno.h>
#include <stdlib.h>

#include <zstd.h>

#include "perfmgr/formats/profile.h"

/* Rows resemble those a few lines before: a small window finds that, and a reader needs
 * memory for the window. */
#define LEVEL 1
#define WINDOW_LOG 17

#define TEXT_SIZE (64u << 10)
#define OCTETS_SIZE (128u << 10)

struct triad_frame_writer {
	ZSTD_CCtx *zstd;
	struct triad_profile_file *file;
	uint64_t n_text_octets, n_octets;
	int error;
	size_t n_text;
	char text[TEXT_SIZE];
	char octets[OCTETS_SIZE];
};

struct triad_frame_writer *triad_frame_writer_new(void)
{
	struct triad_frame_writer *writer = calloc(1, sizeof(*writer));

	if (!writer)
		return NULL;
	writer->zstd = ZSTD_createCCtx();
	if (writer->zstd)
		return writer;
	free(writer);
	return NULL;
}

void triad_frame_writer_free(struct triad_frame_writer *writer)
{
	if (!writer)
		return;
	ZSTD_freeCCtx(writer->zstd);
	free(writer);
}

void triad_frame_writer_begin(
	struct triad_frame_writer *writer, struct triad_profile_file *file)
{
	writer->file = file;
	writer->n_text_octets = writer->n_octets = 0;
	writer->n_text = 0;
	writer->error = 0;
	ZSTD_CCtx_reset(writer->zstd, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_windowLog, WINDOW_LOG);
	ZSTD_CCtx_setParameter(writer->zstd, ZSTD_c_checksumFlag, 1);
}

/* Compresses the text so far, or with ZSTD_e_end to the frame's end. */
static void compress(struct triad_frame_writer *writer, ZSTD_EndDirective directive)
{
	ZSTD_inBuffer in = {.src = writer->text, .size = writer->n_text};
	size_t left;

	do {
		ZSTD_outBuffer out = {.dst = writer->octets, .size = OCTETS_SIZE};

		if (writer->error)
			break;
		left = ZSTD_compressStream2(writer->zstd, &out, &in, directive);
		if (ZSTD_isError(left))
			writer->error = ENOMEM; /* nothing else can go wrong there */
		else
			writer->error = triad_profile_file_append(
				writer->file, writer->octets, out.pos);
		writer->n_octets += out.pos;
	} while (in.pos < in.size || (directive == ZSTD_e_end && left));
	writer->n_text_octets += writer->n_text;
	writer->n_text = 0;
}

char *triad_frame_writer_line(struct triad_frame_writer *writer)
{
	if (writer->n_text > TEXT_SIZE - TRIAD_PROFILE_LINE_SIZE)
		compress(writer, ZSTD_e_continue);
	return writer->text + writer->n_text;
}

void triad_frame_writer_add(struct triad_frame_writer *writer, size_t length)
{
	writer->n_text += length;
}

int triad_frame_writer_error(const struct triad_frame_writer *writer)
{
	return writer->error;
}

int triad_frame_writer_end(struct triad_frame_writer *writer)
{
	compress(writer, ZSTD_e_end);
	return writer->error;
}

uint64_t triad_frame_writer_text_octets(const struct triad_frame_writer *writer)
{
	return writer->n_text_octets;
}

uint64_t triad_frame_writer_octets(const struct triad_frame_writer *writer)
{
	return writer->n_octets;
}
