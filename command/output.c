/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "triad/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void triad_output_init(struct triad_output *output,
	bool (*write)(void *, enum triad_frame_type, const char *, size_t),
	void *context)
{
	output->write = write;
	output->context = context;
	output->color = false;
	output->tables = false;
	output->type = TRIAD_FRAME_OUTPUT;
	output->failed = false;
	output->used = 0;
}

void triad_output_flush(struct triad_output *output)
{
	if (output->used && !output->failed)
		output->failed = !output->write(
			output->context, output->type, output->buffer, output->used);
	output->used = 0;
}

static void put_frame_octets(struct triad_output *output, enum triad_frame_type type,
	const char *data, size_t size)
{
	/* Flush first, so that text and tables keep their order. */
	if (output->type != type)
		triad_output_flush(output);
	output->type = type;
	/* Once a write has failed, the rest is dropped: the client is gone. */
	while (size && !output->failed) {
		size_t room = sizeof(output->buffer) - output->used;
		size_t n = size < room ? size : room;

		memcpy(output->buffer + output->used, data, n);
		output->used += n;
		data += n;
		size -= n;
		if (output->used == sizeof(output->buffer))
			triad_output_flush(output);
	}
}

void triad_output_put(struct triad_output *output, const char *data, size_t size)
{
	put_frame_octets(output, TRIAD_FRAME_OUTPUT, data, size);
}

void triad_output_put_csv(struct triad_output *output, const char *text)
{
	triad_output_put(output, "\"", 1);
	for (size_t n; *text; text += n) {
		n = strcspn(text, "\"");
		triad_output_put(output, text, n);
		if (text[n] == '"') {
			triad_output_put(output, "\"\"", 2);
			n++;
		}
	}
	triad_output_put(output, "\"", 1);
}

void triad_output_put_table(
	struct triad_output *output, const void *records, size_t size)
{
	put_frame_octets(output, TRIAD_FRAME_TABLE, records, size);
}

static size_t __attribute__((format(printf, 3, 0)))
print(char *text, size_t size, const char *format, va_list arguments)
{
	int length = vsnprintf(text, size, format, arguments);

	/* vsnprintf() cuts the text, but returns its whole length. */
	if (length < 0)
		return 0;
	return (size_t)length < size ? (size_t)length : size - 1;
}

void triad_output_printf(struct triad_output *output, const char *format, ...)
{
	char text[1024];
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	length = print(text, sizeof(text), format, arguments);
	va_end(arguments);
	triad_output_put(output, text, length);
}

void triad_output_message(struct triad_output *output, enum triad_frame_type type,
	const char *format, ...)
{
	char text[1024];
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	length = print(text, sizeof(text), format, arguments);
	va_end(arguments);
	/* Flush first, so that output and messages keep their order. */
	triad_output_flush(output);
	if (!output->failed)
		output->failed = !output->write(output->context, type, text, length);
}
