/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The RFC's XML, by libxml2's SAX2 interface: only what the builder takes is kept of a
 * document.
 *
 * A policy is elements and text.  All else in XML is refused: a document type (and so
 * entities that the document could define), processing instructions, namespaces (and so
 * XInclude), attributes. libxml2 is given no way to open anything: the handlers that
 * would load or define an entity aren't there, and XML_PARSE_NONET is set.
 *
 * libxml2 continues after a mistake (XML_PARSE_RECOVER), but treats a wrong end tag as
 * that of the element which it believes is open.  The builder can guess better what was
 * meant, so it gets the name in the file, which libxml2's message has. */
#include <libxml/parser.h>
#include <libxml/xmlerror.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/grow.h"
#include "lib/text.h"
#include "qos/policy/policy_build.h"

#define NAME_SIZE 80
#define SHOWN 40

struct reader {
	struct triad_policy_builder *builder;
	xmlParserCtxt *context;
	size_t tag_at;          /* where the last tag begins */
	unsigned n_passed_over; /* elements open within an unknown one */
	const struct triad_policy_key
		*key;             /* the key whose element is open; NULL: none */
	char key_name[NAME_SIZE]; /* as it is written */
	struct triad_source_location key_location;
	size_t value_at; /* where its text begins */
	char *value;     /* the text, as far as it was read */
	size_t n_value, value_room;
	char end_name[NAME_SIZE]; /* name in a wrong end tag; "": it was right */
	bool has_text;            /* reported text outside of elements with values */
	bool has_mismatch;
	struct triad_source_location mismatch;
};

static void end_early(struct reader *reader)
{
	reader->builder->stopped = true;
	xmlStopParser(reader->context);
}

/* Stops the parser if the builder has stopped. */
static void look_whether_stopped(struct reader *reader)
{
	if (reader->builder->stopped)
		xmlStopParser(reader->context);
}

/* --- places ------------------------------------------------------------ */

/* How far the document has been read: after an end tag, or at the '>' of a start
 * tag. */
static size_t position(const struct reader *reader)
{
	const xmlParserInput *input = reader->context->input;
	size_t at = input ? (size_t)(input->cur - input->base) + input->consumed : 0;

	return at < reader->builder->size ? at : reader->builder->size;
}

/* Where the last tag begins. */
static struct triad_source_location tag_location(struct reader *reader)
{
	const char *last = reader->builder->text + reader->tag_at;
	size_t end = position(reader);
	/* libxml2 has read the tag's name: search back for its beginning. */
	const char *tag =
		end > reader->tag_at ? memrchr(last, '<', end - reader->tag_at) : NULL;

	if (tag)
		reader->tag_at += (size_t)(tag - last);
	return triad_policy_location(reader->builder, reader->tag_at);
}

/* --- values ------------------------------------------------------------ */

static void add_text(struct reader *reader, const char *text, size_t size)
{
	/* No value is longer than the file. */
	if (triad_grow(&reader->value, &reader->value_room, reader->n_value + size, 1,
		    64)) {
		triad_policy_out_of_memory(reader->builder);
		return;
	}
	memcpy(reader->value + reader->n_value, text, size);
	reader->n_value += size;
}

static void set_value(struct reader *reader)
{
	struct triad_policy_builder *builder = reader->builder;
	size_t at = reader->value_at;
	struct triad_policy_value value = {
		.text = reader->n_value ? reader->value : "",
		.size = reader->n_value,
	};

	/* Comments, references and CDATA sections are only in the file, not in the
	 * value. */
	value.is_verbatim = at + value.size <= builder->size &&
		!memcmp(builder->text + at, value.text, value.size);
	if (value.is_verbatim)
		value.text = builder->text + at;
	else
		while (at < builder->size && strchr(" \t\n", builder->text[at]))
			at++;
	value.location = triad_policy_location(builder, at);
	triad_policy_set(builder, reader->key, reader->key_location, &value);
}

/* --- elements ---------------------------------------------------------- */

static void report_key_open(struct reader *reader,
	struct triad_source_location location, const char *name, const char *slash)
{
	triad_policy_report(reader->builder, location,
		"</%s> is missing before <%s%s>: <%s> begins on line %u",
		reader->key_name, slash, name, reader->key_name,
		reader->key_location.line);
	reader->key = NULL;
}

static void begin_key(
	struct reader *reader, const char *name, struct triad_source_location location)
{
	struct triad_policy_builder *builder = reader->builder;
	size_t at = position(reader);

	reader->key = triad_policy_key(builder, name, strlen(name), location);
	if (!reader->key) {
		reader->n_passed_over = 1;
		return;
	}
	snprintf(reader->key_name, sizeof(reader->key_name), "%s", name);
	reader->key_location = location;
	reader->n_value = 0;
	/* An empty element has no '>' here, and no text. */
	reader->value_at = at < builder->size && builder->text[at] == '>' ? at + 1 : at;
}

static void begin_element(
	struct reader *reader, const char *name, struct triad_source_location location)
{
	enum triad_policy_block_kind kind = triad_policy_block_find(name, strlen(name));
	struct triad_policy_builder *builder = reader->builder;

	if (reader->key)
		report_key_open(reader, location, name, "");
	if (kind != TRIAD_N_BLOCKS && !triad_policy_blocks[kind].text_alone) {
		triad_policy_begin(builder, kind, location);
	} else if (triad_policy_present(builder) != TRIAD_N_BLOCKS) {
		begin_key(reader, name, location);
	} else {
		triad_policy_report(builder, location,
			"<%.*s> is no QoS policy: that is in <qos-policy>", NAME_SIZE,
			name);
		end_early(reader);
	}
}

static bool is_plain(struct reader *reader, const xmlChar *name, const xmlChar *prefix,
	int n_namespaces, int n_attributes, struct triad_source_location location)
{
	if (prefix) {
		triad_policy_report(reader->builder, location,
			"<%.*s:%.*s>: nothing of another namespace is allowed, nor any "
			"inclusion",
			SHOWN, (const char *)prefix, SHOWN, (const char *)name);
		return false;
	}
	if (n_namespaces || n_attributes)
		triad_policy_report(reader->builder, location,
			"<%.*s> has %s, which no element of a policy has", SHOWN,
			(const char *)name,
			n_attributes ? "attributes" : "a namespace");
	return true;
}

static void on_start(void *data, const xmlChar *name, const xmlChar *prefix,
	const xmlChar *uri, int n_namespaces, const xmlChar **namespaces,
	int n_attributes, int n_defaulted, const xmlChar **attributes)
{
	struct reader *reader = data;
	struct triad_source_location location;

	(void)uri;
	(void)namespaces;
	(void)n_defaulted;
	(void)attributes;
	reader->has_text = false;
	reader->end_name[0] = '\0';
	/* Skip what an unknown element contains: it was reported, and this would only
	 * add messages. */
	if (reader->n_passed_over) {
		reader->n_passed_over++;
		return;
	}
	location = tag_location(reader);
	if (is_plain(reader, name, prefix, n_namespaces, n_attributes, location))
		begin_element(reader, (const char *)name, location);
	else
		reader->n_passed_over = 1;
	look_whether_stopped(reader);
}

static void end_key(
	struct reader *reader, const char *name, struct triad_source_location location)
{
	enum triad_policy_block_kind kind = triad_policy_block_find(name, strlen(name));

	if (strcmp(name, reader->key_name) != 0) {
		/* A block ends here, so the key's own end tag is missing.  Any other
		 * name is a misspelt end of the key. */
		if (kind != TRIAD_N_BLOCKS) {
			report_key_open(reader, location, name, "/");
			triad_policy_end(reader->builder, kind, location);
			return;
		}
		triad_policy_report(reader->builder, location,
			"</%s> should be </%s>, to end what begins on line %u", name,
			reader->key_name, reader->key_location.line);
	}
	set_value(reader);
	reader->key = NULL;
}

static void on_end(
	void *data, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
	struct reader *reader = data;
	char end_name[NAME_SIZE];
	enum triad_policy_block_kind kind;
	struct triad_source_location location;

	(void)prefix;
	(void)uri;
	reader->has_text = false;
	snprintf(end_name, sizeof(end_name), "%s",
		reader->end_name[0] ? reader->end_name : (const char *)name);
	reader->end_name[0] = '\0';
	if (reader->n_passed_over) {
		reader->n_passed_over--;
		return;
	}
	location = tag_location(reader);
	kind = triad_policy_block_find(end_name, strlen(end_name));
	if (reader->key)
		end_key(reader, end_name, location);
	else if (kind != TRIAD_N_BLOCKS)
		triad_policy_end(reader->builder, kind, location);
	else
		triad_policy_report(reader->builder, location,
			"</%s> ends nothing: no <%s> is open", end_name, end_name);
	look_whether_stopped(reader);
}

/* --- text -------------------------------------------------------------- */

/* 'text' is a piece of the document in the common case, or else a copy of one. */
static struct triad_source_location text_location(
	struct reader *reader, const char *text)
{
	const xmlParserInput *input = reader->context->input;
	size_t at = position(reader);

	if (text >= (const char *)input->base && text < (const char *)input->end)
		at = (size_t)(text - (const char *)input->base) + input->consumed;
	return triad_policy_location(
		reader->builder, at < reader->builder->size ? at : 0);
}

static void on_text(void *data, const xmlChar *text, int length)
{
	struct reader *reader = data;
	const char *start = (const char *)text, *end = start + length;

	if (reader->n_passed_over)
		return;
	if (reader->key) {
		add_text(reader, start, (size_t)length);
		look_whether_stopped(reader);
		return;
	}
	/* Ignore blanks between elements.  Report the first piece of other text, which
	 * libxml2 may pass in pieces. */
	while (start < end && strchr(" \t\n", *start))
		start++;
	if (start == end || reader->has_text)
		return;
	reader->has_text = true;
	length = (int)(end - start);
	if (memchr(start, '\n', (size_t)length))
		length = (int)((const char *)memchr(start, '\n', (size_t)length) -
			start);
	triad_policy_report(reader->builder, text_location(reader, start),
		"'%.*s' stands between elements, where no text is allowed",
		length < SHOWN ? length : SHOWN, start);
}

/* --- refused XML --- */

static void on_document_type(
	void *data, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
	struct reader *reader = data;

	(void)name;
	(void)external;
	(void)system;
	triad_policy_report(reader->builder, tag_location(reader),
		"<!DOCTYPE> isn't allowed, nor what it could define or load; what is "
		"behind it isn't looked at");
	end_early(reader);
}

static void on_instruction(void *data, const xmlChar *target, const xmlChar *text)
{
	struct reader *reader = data;

	(void)text;
	triad_policy_report(reader->builder, tag_location(reader),
		"<?%.*s?>: processing instructions aren't allowed", SHOWN,
		(const char *)target);
}

#if LIBXML_VERSION >= 21200
static void on_error(void *data, const xmlError *error)
#else
static void on_error(void *data, xmlError *error)
#endif
{
	/* libxml2 passes the reader here, or its own context. */
	struct reader *reader = data;
	const char *text = error->message ? error->message : "";

	switch (error->code) {
	case XML_ERR_TAG_NAME_MISMATCH:
		/* libxml2 calls on_end() next with the name that it expected: keep the
		 * name in the file for it. */
		if (error->str2)
			snprintf(reader->end_name, sizeof(reader->end_name), "%s",
				error->str2);
		if (!reader->has_mismatch)
			reader->mismatch = tag_location(reader);
		reader->has_mismatch = true;
		return;
	/* At the end of the file; the builder reports which end is missing.  Until
	 * 2.9.10 libxml2 has the second for it. */
	case XML_ERR_TAG_NOT_FINISHED:
	case XML_ERR_LTSLASH_REQUIRED:
	case XML_ERR_USER_STOP:
		return;
	case XML_ERR_NO_MEMORY:
		triad_policy_out_of_memory(reader->builder);
		return;
	default:
		triad_policy_report(reader->builder,
			(struct triad_source_location){(uint32_t)error->line,
				error->int2 > 0 ? (uint32_t)error->int2 : 0},
			"this isn't well-formed XML: %.*s", (int)strcspn(text, "\n"),
			text);
	}
}

/* --- all --------------------------------------------------------------- */

static const xmlSAXHandler handler = {
	.initialized = XML_SAX2_MAGIC,
	.internalSubset = on_document_type,
	.startElementNs = on_start,
	.endElementNs = on_end,
	.characters = on_text,
	.ignorableWhitespace = on_text,
	.cdataBlock = on_text,
	.processingInstruction = on_instruction,
	.serror = on_error,
};

static void read_document(struct reader *reader)
{
	struct triad_policy_builder *builder = reader->builder;
	xmlDoc *document = xmlCtxtReadMemory(reader->context, builder->text,
		(int)builder->size, NULL, NULL,
		XML_PARSE_RECOVER | XML_PARSE_NONET | XML_PARSE_IGNORE_ENC);

	/* The handlers build no document; libxml2 may return an empty one. */
	if (document)
		xmlFreeDoc(document);
	if (reader->key && !builder->stopped)
		triad_policy_report(builder,
			triad_policy_location(builder, builder->size),
			"</%s> is missing at the end of the file: <%s> begins on line "
			"%u",
			reader->key_name, reader->key_name, reader->key_location.line);
	triad_policy_end_all(builder);
	/* The builder accepts an end tag with '_' instead of '-', but libxml2 does not:
	 * this is the only message then. */
	if (!reader->context->wellFormed && !builder->diags->n_total)
		triad_policy_report(builder, reader->mismatch,
			"this isn't well-formed XML: an end tag isn't written as its "
			"start tag");
}

void triad_policy_xml_read(struct triad_policy_builder *builder)
{
	struct reader reader = {.builder = builder};

	xmlInitParser();
	reader.context = xmlNewParserCtxt();
	if (!reader.context) {
		triad_policy_out_of_memory(builder);
		return;
	}
	*reader.context->sax = handler;
	reader.context->userData = &reader;
	read_document(&reader);
	xmlFreeParserCtxt(reader.context);
	free(reader.value);
}
