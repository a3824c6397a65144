/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* service/command/list.h: one description gives a table and JSON. */
#include <string.h>

#include "lib/text.h"
#include "service/command/list.h"
#include "tests/unit/run.h"

struct door {
	const char *name;
	uint64_t guid;
	unsigned n_opened;
	bool is_open;
	double load;
};

static const struct door doors[] = {
	{"b\303\244ck", 0x12, 7, true, 0.25},
	{"front door", 0, 4711, false, 1},
};

static char text[2048];
static struct triad_output output;
static bool has_tables;

/* --- a receiver of tables, which writes what it gets as text --- */

static struct triad_table_reader reader;

static int note_begin(void *context, const char *indent, unsigned n_columns,
	const struct triad_table_column *columns)
{
	triad_text_append(text, sizeof(text), "table '%s'", indent);
	for (unsigned i = 0; i < n_columns; i++)
		triad_text_append(text, sizeof(text), " %s=%s%s%s%s", columns[i].name,
			columns[i].title,
			columns[i].flags & TRIAD_TABLE_NUMBER ? "#" : "",
			columns[i].flags & TRIAD_TABLE_LONG ? "~" : "",
			columns[i].flags & TRIAD_TABLE_SPARE ? "?" : "");
	strcat(text, "\n");
	return 0;
}

static int note_row(void *context, const uint8_t *rest, size_t size)
{
	struct triad_table_cell cells[TRIAD_TABLE_MAX_COLUMNS];

	ck_assert(triad_table_row_read(rest, size, reader.n_columns, cells));
	for (unsigned i = 0; i < reader.n_columns; i++)
		triad_text_append(text, sizeof(text), "%s%s|%s%s%s", i ? " " : "",
			cells[i].text, cells[i].value, cells[i].color ? "!" : "",
			i + 1 == reader.n_columns ? "\n" : "");
	return 0;
}

static int note_note(void *context, const char *line)
{
	triad_text_append(text, sizeof(text), "note '%s'\n", line);
	return 0;
}

static const struct triad_table_sink sink = {note_begin, note_row, note_note, NULL};

static bool collect(
	void *context, enum triad_frame_type type, const char *data, size_t size)
{
	if (type == TRIAD_FRAME_TABLE)
		return !triad_table_reader_take(&reader, data, size, &sink);
	strncat(text, data, size);
	return true;
}

static void put_door(struct triad_list *list, const struct door *door)
{
	triad_list_row(list);
	triad_list_text(list, "name", "Door", TRIAD_LIST_MEASURED, door->name);
	triad_list_guid(list, "guid", "GUID", door->guid);
	triad_list_uint(list, "opened", NULL, 0, door->n_opened);
	triad_list_uint(list, NULL, "Times", 6, door->n_opened);
	triad_list_blank(list);
	triad_list_bool(list, "is_open", "Open", -5, door->is_open);
	triad_list_double(list, "load", door->load);
	triad_list_format(list, "Load", 4, "%.0f %%", 100 * door->load);
	list->next = (struct triad_list_next){.name = "owner_name", .is_spare = true};
	triad_list_text(list, NULL, "Owner", -5, NULL);
	if (door->is_open)
		list->next.color = TRIAD_TABLE_RED;
	triad_list_text(list, NULL, "Remarks", 0, door->is_open ? "draughty" : "");
	if (door->is_open)
		triad_list_note(list, "    open since %d", 2026);
	triad_list_row_end(list);
}

static const char *put_list(struct triad_list *list, bool as_json, bool color)
{
	struct triad_report report = {.output = &output, .as_json = as_json};

	text[0] = 0;
	triad_output_init(&output, collect, NULL);
	output.color = color;
	output.tables = has_tables;
	list->report = &report;
	triad_report_array(&report, NULL);
	list->phase = TRIAD_LIST_WIDTHS;
	for (unsigned i = 0; i < 2; i++)
		put_door(list, &doors[i]);
	list->phase = TRIAD_LIST_ROWS;
	for (unsigned i = 0; i < 2; i++)
		put_door(list, &doors[i]);
	triad_report_array_end(&report);
	triad_output_flush(&output);
	return text;
}

START_TEST(test_list_for_people_is_aligned)
{
	struct triad_list list = {.gap = NULL};

	ck_assert_str_eq(put_list(&list, false, false),
		"DOOR       GUID                TIMES  OPEN  LOAD OWNER REMARKS\n"
		"b\303\244ck       0x0000000000000012      7  yes   25 % -     draughty\n"
		"    open since 2026\n"
		"front door 0x0000000000000000   4711  -     100 % -\n");
}
END_TEST

START_TEST(test_list_has_indent_gap_and_bold_titles)
{
	struct triad_list list = {.indent = "> ", .gap = "|"};
	const char *shown = put_list(&list, false, true);

	ck_assert_ptr_eq(
		strstr(shown, "\033[1m> DOOR      |GUID              | TIMES |OPEN "),
		shown);
	ck_assert_ptr_nonnull(strstr(shown, "|OWNER|REMARKS\033[0m\n> b"));
	ck_assert_ptr_nonnull(strstr(shown, "|\033[31mdraughty\033[0m\n"));
}
END_TEST

START_TEST(test_list_in_json_has_rows_alone)
{
	struct triad_list list = {.gap = NULL};

	ck_assert_str_eq(put_list(&list, true, true),
		"[{\"name\":\"b\303\244ck\",\"guid\":\"0x0000000000000012\","
		"\"opened\":7,\"is_open\":true,\"load\":0.25},"
		"{\"name\":\"front door\",\"guid\":null,\"opened\":4711,"
		"\"is_open\":false,\"load\":1}]\n");
}
END_TEST

START_TEST(test_list_with_too_many_columns_leaves_them_out)
{
	struct triad_report report = {.output = &output};
	struct triad_list list = {.report = &report};

	text[0] = 0;
	triad_output_init(&output, collect, NULL);
	triad_list_row(&list);
	for (unsigned i = 0; i < TRIAD_LIST_MAX_COLUMNS + 2; i++)
		triad_list_uint(&list, NULL, "x", 0, 1);
	triad_list_row_end(&list);
	triad_output_flush(&output);
	ck_assert_uint_eq(strlen(strchr(text, '\n')), 2 * TRIAD_LIST_MAX_COLUMNS + 1);
}
END_TEST

START_TEST(test_list_without_rows_can_have_titles)
{
	struct triad_report report = {.output = &output};
	struct triad_list list = {.report = &report, .phase = TRIAD_LIST_TITLES};

	text[0] = 0;
	triad_output_init(&output, collect, NULL);
	put_door(&list, &(struct door){.name = "?"});
	triad_output_flush(&output);
	ck_assert_str_eq(
		text, "DOOR GUID                TIMES  OPEN  LOAD OWNER REMARKS\n");
}
END_TEST

START_TEST(test_list_without_titles_has_rows_alone)
{
	struct triad_report report = {.output = &output};
	struct triad_list list = {.report = &report, .indent = "  "};

	text[0] = 0;
	triad_output_init(&output, collect, NULL);
	triad_list_row(&list);
	triad_list_text(&list, "name", "", -4, "a");
	triad_list_text(&list, "is", "", 0, "b");
	triad_list_row_end(&list);
	triad_output_flush(&output);
	ck_assert_str_eq(text, "  a    b\n");
}
END_TEST

START_TEST(test_list_for_receiver_of_tables_is_columns_and_cells)
{
	struct triad_list list = {.indent = "  "};

	has_tables = true;
	triad_table_reader_init(&reader);
	ck_assert_str_eq(put_list(&list, false, false),
		"table '  ' name=DOOR~ guid=GUID =TIMES# is_open=OPEN =LOAD# "
		"owner_name=OWNER? =REMARKS~\n"
		"b\303\244ck| 0x0000000000000012| 7|7 yes| 25 %| -| draughty|!\n"
		"note '    open since 2026'\n"
		"front door| 0x0000000000000000| 4711|4711 -| 100 %| -| |\n");
	ck_assert(!triad_table_reader_is_amid(&reader));
	has_tables = false;
}
END_TEST

START_TEST(test_list_without_titles_is_lines_for_all)
{
	struct triad_report report = {.output = &output};
	struct triad_list list = {.report = &report};

	text[0] = 0;
	triad_output_init(&output, collect, NULL);
	output.tables = true;
	triad_list_row(&list);
	triad_list_text(&list, "is", "", 0, "b");
	triad_list_row_end(&list);
	triad_output_flush(&output);
	ck_assert_str_eq(text, "b\n");
}
END_TEST

/* A time has 20 characters; it isn't a name that may be cut. */
START_TEST(test_list_width_of_twenty_is_no_name_to_be_cut)
{
	struct triad_report report = {.output = &output};
	struct triad_list list = {.report = &report};

	text[0] = 0;
	triad_table_reader_init(&reader);
	triad_output_init(&output, collect, NULL);
	output.tables = true;
	triad_list_row(&list);
	triad_list_text(&list, "time", "time", -20, "2026-11-26T04:05:06Z");
	triad_list_text(&list, "node", "node", TRIAD_LIST_LONG, "leaf-01");
	triad_list_row_end(&list);
	triad_output_flush(&output);
	ck_assert_str_eq(text,
		"table '' time=TIME node=NODE~\n2026-11-26T04:05:06Z| leaf-01|\n");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("lists");

	tcase_add_test(cases, test_list_for_people_is_aligned);
	tcase_add_test(cases, test_list_has_indent_gap_and_bold_titles);
	tcase_add_test(cases, test_list_in_json_has_rows_alone);
	tcase_add_test(cases, test_list_with_too_many_columns_leaves_them_out);
	tcase_add_test(cases, test_list_without_rows_can_have_titles);
	tcase_add_test(cases, test_list_without_titles_has_rows_alone);
	tcase_add_test(cases, test_list_for_receiver_of_tables_is_columns_and_cells);
	tcase_add_test(cases, test_list_without_titles_is_lines_for_all);
	tcase_add_test(cases, test_list_width_of_twenty_is_no_name_to_be_cut);
	return run_cases(cases);
}
