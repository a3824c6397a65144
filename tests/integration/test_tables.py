# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tables of triadctl: columns, sorting, widths, watches; the plugin is played here."""

import grp
import json
import os
import re
import shutil
import signal
import subprocess

import pytest

from checks import failed, mentions, succeeded, wait_until
from ctllib import (DONE, LONG, MESSAGE, NUMBER, OUTPUT, RED, SPARE, TRIADCTL, YELLOW,
                    Plugin, Terminal, ask, ask_on_terminal, begin, environment,
                    exit_frame, frame, note, row, table)
from triadlib import QUICK, triad_lab, wait_for_sweep

NOBODY = 65534
NOGROUP = grp.getgrgid(NOBODY).gr_name

HEAD = begin(("NODE", LONG, "node_name"), ("GUID", SPARE, "node_guid"),
             ("PORT", NUMBER, "port"), ("DATA", NUMBER, "PortXmitData"),
             ("REMARK", LONG))
MILLION = 1_000_000
ROWS = [row("host-10", "0x10", ("1", "1"), ("1.5 GB", "1500000000"), ""),
        row("host-2", "0x2", ("12", "12"), ("900 MB", "900000000"),
            ("SymbolErrorCounter 5", "", YELLOW)),
        row("höst-1", "0x1", ("3", "3"), "-", ("unanswered", "", RED))]
WHOLE = [
    "NODE     GUID  PORT    DATA  REMARK",
    "host-10  0x10     1  1.5 GB",
    "host-2   0x2     12  900 MB  SymbolErrorCounter 5",
    "höst-1   0x1      3       -  unanswered"]


@pytest.fixture
def plugin(scratch):
    return Plugin(scratch, table(HEAD, *ROWS) + DONE)


def lines(plugin, *words, **options):
    return succeeded(ask(plugin, *words, **options)).stdout.splitlines()


# --- columns, rows and notes -------------------------------------------------

@pytest.mark.plain
def test_table_is_aligned_and_asked_for(plugin):
    assert lines(plugin, "perf", "show") == WHOLE, "table"
    assert plugin.requests == [["perf", "show", "--table"]], "request"


def test_table_not_asked_for_where_there_is_none(plugin):
    for words in (["status"], ["perf", "show", "--json"], ["reload"]):
        ask(plugin, *words)
        assert "--table" not in plugin.requests.pop(), words


def test_text_and_tables_keep_their_order(scratch):
    answer = (frame(OUTPUT, b"before\n") +
              table(begin(("A", NUMBER), indent="  "), row(("1", "1")),
                    note("    because")) +
              frame(OUTPUT, b"between\n") + table(begin(("B", 0))) +
              frame(OUTPUT, b"behind\n") +
              table(begin(("C", 0)), row("c"), begin(("", 0), ("D", 0)), row("", "d")))
    assert lines(Plugin(scratch, answer + DONE), "perf", "show") == \
        ["before", "  A", "  1", "    because", "between", "B", "behind", "C", "c", "   D",
         "   d"], "order"


def test_records_in_any_number_of_frames(scratch):
    octets = HEAD + b"".join(ROWS)
    answer = b"".join(frame(b"T", octets[i:i + 1]) for i in range(len(octets)))
    assert lines(Plugin(scratch, answer + DONE), "perf", "show") == WHOLE, "table"


def test_answer_cut_in_a_table_shows_what_came(scratch):
    process = ask(Plugin(scratch, table(HEAD, *ROWS)), "perf", "show")
    failed(process, 1, "the connection was cut")
    assert process.stdout.splitlines() == WHOLE, "table"


def test_table_that_is_none_refused(scratch):
    for octets in (b"x\0\0", b"R\0\0", HEAD + b"R\0\0", HEAD + b"T\0\0", b"T\0\x02\0\0",
                   HEAD + row("host-1"), HEAD + row(*(["\033[2J"] * 5)),
                   b"T\xff\xff" + bytes(70000)):
        failed(ask(Plugin(scratch, table(octets) + DONE), "perf", "show"), 1,
               "protocol")


def test_columns_chosen_by_title_or_name(plugin):
    assert lines(plugin, "perf", "show", "--columns", "port,NODE_name,Data") == \
        ["PORT  NODE       DATA", "   1  host-10  1.5 GB", "  12  host-2   900 MB",
         "   3  höst-1        -"], "columns"
    assert lines(plugin, "perf", "show", "--columns=node", "--no-headings") == \
        ["host-10", "host-2", "höst-1"], "one column"


def test_column_unknown_reported_with_those_there_are(plugin):
    for words in (["--columns", "node,nose"], ["--sort", "nose"], ["--sort", "-nose"]):
        process = ask(plugin, "perf", "show", *words)
        failed(process, 2, f"perf show: {words[0]}: 'nose' node node_name guid node_guid port "
               "data PortXmitData remark")
        # What there is, is shown.
        assert process.stdout.splitlines() == \
            (["NODE", "host-10", "host-2", "höst-1"] if "," in words[1] else WHOLE), words


@pytest.fixture
def two_tables(scratch):
    return Plugin(scratch, table(
        begin(("A", NUMBER), ("B", 0)), row(("2", "2"), "x"), row(("1", "1"), "y"),
        begin(("C", NUMBER), ("B", 0)), row(("3", "3"), "z"), row(("4", "4"), "u")) + DONE)


def test_columns_count_for_the_tables_that_have_them(two_tables):
    for columns, shown in (("b", ["B", "x", "y", "B", "z", "u"]),
                           ("b,c", ["B", "x", "y", "B  C", "z  3", "u  4"]),
                           ("a", ["A", "2", "1", "C  B", "3  z", "4  u"])):
        assert lines(two_tables, "perf", "show", "--columns", columns) == shown, columns
    process = ask(two_tables, "perf", "show", "--columns", "a,nose,c")
    failed(process, 2, "perf show: --columns 'nose' a, b, c")
    assert process.stdout.splitlines() == ["A", "2", "1", "C", "3", "4"], "all the same"


def test_sort_counts_for_the_tables_that_have_the_column(two_tables):
    assert lines(two_tables, "perf", "show", "--sort", "-c") == \
        ["A  B", "2  x", "1  y", "C  B", "4  u", "3  z"], "one table"
    assert lines(two_tables, "perf", "show", "--sort", "b") == \
        ["A  B", "2  x", "1  y", "C  B", "4  u", "3  z"], "both"
    process = ask(two_tables, "perf", "show", "--sort", "-nose")
    failed(process, 2, "--sort 'nose' a, b, c")
    assert process.stdout.splitlines() == \
        ["A  B", "2  x", "1  y", "C  B", "3  z", "4  u"], "in their order"


def test_sort_numbers_by_value_names_by_version(plugin):
    def names(*words):
        return lines(plugin, "perf", "show", "--columns", "node", "--no-headings",
                     *words)

    assert names("--sort", "node") == ["host-2", "host-10", "höst-1"], "names"
    assert names("--sort", "-node") == ["höst-1", "host-10", "host-2"], "from behind"
    assert names("--sort", "port") == ["host-10", "höst-1", "host-2"], "numbers"
    assert names("--sort=-PORT") == ["host-2", "höst-1", "host-10"], "the greatest first"
    # 900 MB are less than 1.5 GB, and what is not known is last, both ways.
    assert names("--sort", "data") == ["host-2", "host-10", "höst-1"], "values"
    assert names("--sort", "-data") == ["host-10", "host-2", "höst-1"], "values"


def test_sort_keeps_notes_with_their_rows(scratch):
    plugin = Plugin(scratch, table(begin(("N", NUMBER)), row(("2", "2")), note("  two"),
                                   row(("1", "1")), note("  one"), note("  and more")) +
                    DONE)
    assert lines(plugin, "port", "list", "--sort", "n") == \
        ["N", "1", "  one", "  and more", "2", "  two"], "order"


def test_raw_has_tabs_and_values(plugin):
    assert lines(plugin, "perf", "show", "--raw") == \
        ["NODE\tGUID\tPORT\tDATA\tREMARK", "host-10\t0x10\t1\t1500000000\t",
         "host-2\t0x2\t12\t900000000\tSymbolErrorCounter 5",
         "höst-1\t0x1\t3\t\tunanswered"], "raw"
    assert lines(plugin, "perf", "show", "--raw", "--no-headings", "--sort", "port",
                 "--columns", "port,data") == ["1\t1500000000", "3\t", "12\t900000000"], \
        "raw and sorted"


def test_rows_for_programs_have_no_sentences_between(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"before\n") + table(HEAD, ROWS[0]) +
                    frame(OUTPUT, b"by rate\n") + DONE)
    for option in ("--raw", "--no-headings"):
        process = succeeded(ask(plugin, "perf", "top", option, "--columns", "port"))
        assert process.stdout.split() == (["PORT"] if option == "--raw" else []) + ["1"]
        assert process.stderr == "before\nby rate\n", option


def test_layout_with_json_refused(plugin):
    for words in (["--columns", "node"], ["--sort", "node"], ["--no-headings"], ["--raw"]):
        failed(ask(plugin, "perf", "show", "--json", *words), 2,
               "perf show: --columns --sort --no-headings --raw --json")
    failed(ask(plugin, "perf", "show", "--columns="), 2, "--columns needs a value")
    failed(ask(plugin, "status", "--raw"), 2, "no option '--raw'")
    assert plugin.requests == [], "requests"


def test_color_always_and_never(scratch, plugin):
    shown = ask(plugin, "--color=always", "perf", "show").stdout
    assert shown.startswith("\033[1mNODE "), "headings"
    assert "\033[33mSymbolErrorCounter 5\033[0m\n" in shown, "errors"
    assert "\033[31munanswered\033[0m\n" in shown, "unanswered"
    assert plugin.requests == [["perf", "show", "--color", "--table"]], "request"
    _, shown = ask_on_terminal(scratch, plugin, "--color", "never", "perf", "show")
    assert b"\033" not in shown, "never"
    env = environment(NO_COLOR="1")
    _, shown = ask_on_terminal(scratch, plugin, "perf", "show", env=env)
    assert b"\033" not in shown, "NO_COLOR"
    assert "\033" in ask(plugin, "--color=always", "perf", "show", env=env).stdout, "both"
    failed(ask(plugin, "--color=sometimes", "status"), 2,
           "--color auto always never")


def test_terminal_shows_local_times(scratch):
    utc, local = "2026-01-02T23:30:00Z", "2026-01-03T05:00:00+05:30"
    answer = frame(OUTPUT, f"before {utc[:9]}".encode()) + \
        frame(OUTPUT, f"{utc[9:]}, then\n".encode()) + \
        table(begin(("SINCE", 0), ("N", NUMBER)), row(utc, ("1", "1")),
              note(f"  until {utc}")) + frame(MESSAGE, f"at {utc}\n".encode()) + DONE
    plugin = Plugin(scratch, answer)
    env = environment(TZ="XXX-05:30")
    process, shown = ask_on_terminal(scratch, plugin, "--color=never", "perf", "show", env=env)
    assert shown.decode().split() == \
        ["before", local + ",", "then", "SINCE", "N", local, "1", "until", local], "output"
    assert process.stderr == f"at {local}\n", "message"
    whole = ask(plugin, "perf", "show", env=env)
    assert whole.stdout.count(utc) == 3 and local not in whole.stdout, "not a terminal"
    _, raw = ask_on_terminal(scratch, plugin, "perf", "show", "--raw", env=env)
    assert local not in raw.decode() and utc in raw.decode(), "for programs"
    plugin = Plugin(scratch, frame(OUTPUT, f'{{"at":"{utc}"}}\n'.encode()) + DONE)
    _, shown = ask_on_terminal(scratch, plugin, "perf", "show", "--json", env=env)
    assert json.loads(shown) == {"at": utc}, "JSON"


def test_pipe_gets_columns_whole(scratch):
    name = "n" * 300
    sentence = "    because of this, " * 20
    plugin = Plugin(scratch, table(HEAD, row(name, "0x1", ("1", "1"), "-", name),
                                   note(sentence)) + DONE)
    for env in (environment(), environment(COLUMNS="40"), environment(LC_ALL="C")):
        shown = lines(plugin, "perf", "show", env=env)
        assert shown[1].split() == [name, "0x1", "1", "-", name], "cells"
        assert shown[2:] == [sentence], "note"


def ask_million_rows(scratch, megabytes, *words):
    """Asks for a million rows, in so much memory; their number and the sum of the fourth
    column are printed."""
    def answer(connection):
        connection.sendall(table(HEAD))
        for at in range(0, MILLION, 100):
            connection.sendall(frame(b"T", b"".join(
                row(f"host-{i:07}", "0x1", ("1", "1"), (f"{i} B", str(i)), "")
                for i in range(at, at + 100))))
        connection.sendall(DONE)

    plugin = Plugin(scratch, answer)
    script = 'set -o pipefail; "$0" --socket "$1" perf show "${@:2}" | ' \
        "awk '{n++; s += $4} END {print n, s}'"
    limit = f"ulimit -v {megabytes}000; "
    return subprocess.run(
        ["bash", "-c", limit + script, TRIADCTL, plugin.path, *words],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        check=False, timeout=500)


@pytest.mark.scripts  # a sanitizer needs much more memory
@pytest.mark.full
def test_million_rows_in_little_memory(scratch):
    process = succeeded(ask_million_rows(scratch, 150))
    # The heading is a line, too, and a number for awk: 0.
    assert process.stdout.split() == \
        [str(MILLION + 1), str(MILLION * (MILLION - 1) // 2)], process.stderr


@pytest.mark.scripts  # a sanitizer needs much more memory
@pytest.mark.full
def test_million_rows_sorted_in_too_little_memory_reported(scratch):
    process = ask_million_rows(scratch, 150, "--sort", "node")
    failed(process, 1, "triadctl: perf show: memory")
    assert process.stdout.split() in ([], ["0"]), "no row of a table that isn't sorted"


def test_reader_gone_amid_a_table_ends_quietly(scratch):
    plugin = Plugin(scratch, table(HEAD, *(ROWS * 20000)) + DONE)
    process = subprocess.Popen([TRIADCTL, "--socket", plugin.path, "perf", "show"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=environment())
    assert process.stdout.readline(), "headings"
    process.stdout.close()
    assert process.stderr.read() == b"", "standard error"
    process.stderr.close()
    assert process.wait(60) == 0, "status"


# --- terminals ---------------------------------------------------------------

SIZES = [(80, 24), (120, 30), (200, 50)]
LONG_ROW = row("rack-17-chassis-04-leaf-switch-02", "0x0002c90300001234", ("36", "36"),
               ("1.23 GB", "1230000000"),
               "SymbolErrorCounter 4711, LinkErrorRecoveryCounter 12, PortRcvErrors 3")


def typed(terminal, plugin, *words):
    """Types a command; what the terminal has had when that has ended."""
    terminal.type(TRIADCTL, "--socket", plugin.path, *words, then="; echo 'the' end")
    return wait_until(
        lambda: "\nthe end" in (text := terminal.shown(history=True)) and text, 30,
        "the end")


@pytest.mark.parametrize("columns,rows", SIZES)
def test_terminal_of_any_width_wraps_nothing(scratch, columns, rows):
    plugin = Plugin(scratch, table(HEAD, LONG_ROW, LONG_ROW) + DONE)
    shown = typed(Terminal(scratch, columns, rows), plugin, "perf", "show")
    found = [line for line in shown.splitlines() if line.startswith("rack-17")]
    assert len(found) == 2, shown
    assert all(len(line) <= columns and "1.23 GB" in line for line in found), shown
    assert found[0] == found[1], shown
    for part, width in (("0x0002c90300001234", 120), ("rack-17-chassis-04-leaf-", 80),
                        ("rack-17-chassis-04-leaf-switch-02", 120),
                        ("PortRcvErrors 3", 200)):
        assert part in found[0] or columns < width, (part, shown)
    # Nothing of a row stands in lines of its own.
    lines_between = shown[shown.index("NODE"):shown.index("the end")].splitlines()
    assert [line[:7] for line in lines_between[:3]] == \
        [lines_between[0][:7], "rack-17", "rack-17"], shown


def test_terminal_narrow_cuts_the_name_of_a_place_and_not_its_port(scratch):
    plugin = Plugin(scratch, table(HEAD, *(
        row(f"rack-17-chassis-04-leaf-switch-02{port}", "0x1", ("36", "36"),
            ("1.23 GB", "1230000000"), "SymbolErrorCounter 4711, PortRcvErrors 3")
        for port in ("/P3", ":127", "/Pipe", ""))) + DONE)
    shown = typed(Terminal(scratch, 60, 24), plugin, "perf", "show")
    found = [line[:line.index("  ")] for line in shown.splitlines()
             if line.startswith("rack-17")]
    assert len(found) == 4 and len(set(map(len, found))) == 1, shown
    assert found[0].endswith("~/P3") and found[1].endswith("~:127"), shown
    assert "rack-17-chassis-04-leaf-switch-02".startswith(found[3]) and \
        found[2] == found[3], shown


def test_terminal_narrow_cuts_no_guid_that_stands_for_a_name(scratch):
    guid = "0x0002c90300001234"
    plugin = Plugin(scratch, table(HEAD, *(
        row(name, "", ("36", "36"), ("1.23 GB", "1230000000"), "SymbolErrorCounter 4711, " * 3)
        for name in (guid, guid + "/P3"))) + DONE)
    shown = typed(Terminal(scratch, 55, 24), plugin, "perf", "show")
    assert f"{guid}  " in shown and f"{guid}/P3  " in shown, shown


def test_terminal_narrow_leaves_spare_columns_out_and_says_so(scratch):
    plugin = Plugin(scratch, table(HEAD, LONG_ROW) + DONE)
    shown = typed(Terminal(scratch, 60, 24), plugin, "perf", "show")
    assert mentions(shown, "GUID --columns"), shown
    assert "0x0002c9" not in shown and "1.23 GB" in shown, shown


def test_terminal_notes_broken_between_words(scratch):
    sentence = "the cable of this port leads to spine-03 port 7 and should lead to " \
        "spine-04 port 7: swap the two cables"
    plugin = Plugin(scratch, table(HEAD, LONG_ROW, note("    " + sentence)) + DONE)
    shown = typed(Terminal(scratch, 80, 24), plugin, "port", "list")
    found = re.findall(r"^    (\S.*)$", shown, re.MULTILINE)
    assert len(found) == 2 and " ".join(found) == sentence, shown


def test_terminal_long_answer_ends_with_advice(scratch):
    terminal = Terminal(scratch, 80, 24)
    plugin = Plugin(scratch, table(HEAD, *(ROWS * 67)) + DONE)
    shown = typed(terminal, plugin, "perf", "show")
    assert mentions(shown, "201 --node --port --type --errors"), shown
    assert "201 rows" not in ask(plugin, "perf", "show").stdout, "a pipe"
    plugin = Plugin(scratch, table(HEAD, *(ROWS * 8)) + DONE)
    _, shown = ask_on_terminal(scratch, plugin, "perf", "show")
    assert b"24 rows;" in shown, "the first one has left"
    plugin = Plugin(scratch, table(HEAD, *(ROWS * 7)) + DONE)
    _, shown = ask_on_terminal(scratch, plugin, "perf", "show")
    assert b"rows;" not in shown, "21 rows"


# --- watches -----------------------------------------------------------------

def watch(scratch, plugin, *words, size=(80, 24)):
    terminal = Terminal(scratch, *size)
    terminal.type(TRIADCTL, "--socket", plugin.path, *words, "--watch", "--interval", "1")
    return terminal


@pytest.mark.parametrize("size", SIZES)
def test_watch_fits_on_screen_and_counts_the_rest(scratch, size):
    columns, rows = size
    plugin = Plugin(scratch, table(HEAD, *([ROWS[0]] * 100), ROWS[2], ROWS[1]) + DONE)
    terminal = watch(scratch, plugin, "perf", "show", size=size)
    # The headings and the last row take two; what is wrong stands on top.
    shown = wait_until(
        lambda: f"{102 - (rows - 2)} more lines" in (text := terminal.shown()) and text,
        30, "the picture").splitlines()
    assert shown[0].startswith("NODE"), shown
    assert "unanswered" in shown[1] and "SymbolErrorCounter" in shown[2], shown
    assert shown[3].startswith("host-10"), shown
    assert len(shown) == rows and "more lines" in shown[-1], shown
    assert all(len(line) < columns for line in shown), shown


def test_watch_follows_a_resize_and_restores_the_cursor(scratch):
    plugin = Plugin(scratch, table(HEAD, *(ROWS * 30)) + DONE)
    terminal = watch(scratch, plugin, "perf", "show")
    wait_until(lambda: "68 more lines" in terminal.shown(), 30, "the picture")
    assert not terminal.cursor()[1], "the cursor is hidden"
    terminal.resize(100, 40)
    wait_until(lambda: "52 more lines" in terminal.shown(), 30, "the larger picture")
    assert len(terminal.shown().splitlines()) == 40, "rows"
    terminal.press("C-c")
    wait_until(lambda: terminal.cursor()[1], 30, "the cursor is back")
    wait_until(lambda: terminal.shown().rstrip().endswith("$"), 30, "a prompt")


def test_watch_sorted_as_asked(scratch, plugin):
    terminal = watch(scratch, plugin, "perf", "show", "--sort", "-port")
    shown = wait_until(
        lambda: "every 1 s" in (text := terminal.shown()) and text, 30, "the picture")
    assert [line.split()[0] for line in shown.splitlines()[1:4]] == \
        ["host-2", "höst-1", "host-10"], shown


def test_watch_of_any_reading_command(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"one\ntwo\n") + exit_frame(3))
    terminal = watch(scratch, plugin, "port", "plan")
    wait_until(lambda: len(plugin.requests) > 2, 30, "questions")
    assert terminal.shown().splitlines()[:2] == ["one", "two"], "picture"
    for words in (["status"], ["agents"], ["election"], ["config", "diff"]):
        process = subprocess.Popen(
            [TRIADCTL, "--socket", plugin.path, *words, "--watch"], env=environment(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        scratch.callback(process.wait)
        scratch.callback(process.kill)
        assert process.stdout.readline() == b"one\n", words
    failed(ask(plugin, "reload", "--watch"), 2, "no option '--watch'")


def test_watch_plugin_gone_reported_and_waited_for(scratch):
    plugin = Plugin(scratch, table(HEAD, *ROWS) + DONE)
    terminal = watch(scratch, plugin, "perf", "show")
    wait_until(lambda: "every 1 s" in terminal.shown(), 30, "the picture")
    plugin.stop()
    shown = wait_until(
        lambda: "trying again" in (text := terminal.shown()) and text, 30, "the message")
    assert mentions(shown, "OpenSM Triad"), shown
    assert "host-10" in shown, "the picture before it"
    os.unlink(plugin.path)
    Plugin(scratch, frame(OUTPUT, b"here again\n") + DONE, path=plugin.path)
    shown = wait_until(
        lambda: "here again" in (text := terminal.shown()) and text, 30, "an answer")
    assert "trying again" not in shown and "host-10" not in shown, shown


def test_watch_message_stands_in_the_last_row(scratch):
    plugin = Plugin(scratch, frame(MESSAGE, b"these counters are old\n") +
                    table(HEAD, *ROWS) + DONE)
    terminal = watch(scratch, plugin, "perf", "show")
    shown = wait_until(
        lambda: "counters are old" in (text := terminal.shown()) and text, 30,
        "the message").splitlines()
    assert "counters are old" in shown[23] and shown[0].startswith("NODE"), shown


def test_watch_in_a_pipe_goes_on_after_a_failure(scratch):
    plugin = Plugin(scratch, frame(OUTPUT, b"[]\n") + DONE)
    process = subprocess.Popen(
        [TRIADCTL, "--socket", plugin.path, "status", "--watch", "--interval", "1"],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    scratch.callback(process.wait)
    scratch.callback(process.kill)
    assert process.stdout.readline() == b"[]\n", "an answer"
    plugin.stop()
    assert b"isn't running here" in process.stderr.readline(), "message"
    os.unlink(plugin.path)
    Plugin(scratch, frame(OUTPUT, b"again\n") + DONE, path=plugin.path)
    assert wait_until(process.stdout.readline, 30) in (b"again\n", b"[]\n"), "answer"
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0, "status"


# --- a real plugin -----------------------------------------------------------

def test_tables_of_the_plugin_have_the_names_of_json(scratch):
    with triad_lab(f"{QUICK}[control]\ngroup = {NOGROUP}\n") as lab:
        wait_for_sweep(lab)
        path = lab.state().sms[0].control_socket
        for on_the_way in (lab.folder, lab.folder / "sm-0"):
            on_the_way.chmod(0o755)
        folder = scratch.folder()
        folder.chmod(0o755)
        program = shutil.copy(TRIADCTL, folder)

        def told(*words, user=0):
            return succeeded(subprocess.run(
                [program, "--socket", path, *words], stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, text=True, check=False, timeout=60,
                user=user, group=user, extra_groups=[])).stdout

        rows = json.loads(told("perf", "show", "--json"))
        columns = ["node_guid", "node_name", "port", "state", "remote_name",
                   "PortXmitPkts"]
        shown = [line.split("\t") for line in told(
            "perf", "show", "--raw", "--no-headings", "--columns", ",".join(columns),
            user=NOBODY).splitlines()]
        assert [line[:4] for line in shown] == [
            [str(row[name]) for name in columns[:4]] for row in rows], "cells"
        assert all(line[4].startswith(row["remote_name"] or "-") and
                   int(line[5]) >= row["counters"]["PortXmitPkts"]
                   for line, row in zip(shown, rows)), "cells"
        ports = told("perf", "show", "--raw", "--no-headings", "--columns", "port",
                     "--sort", "-port").split()
        assert [int(port) for port in ports] == \
            sorted((row["port"] for row in rows), reverse=True), "sorted"
        for words in (["perf", "top"], ["perf", "show", "--errors"], ["perf", "resets"],
                      ["election"], ["status"]):
            assert told(*words).strip(), words
            assert "\033" not in told(*words), words
        # The same lines as for those who ask for no tables, but for their widths.
        plain = succeeded(lab.triad("perf", "show")).stdout.splitlines()
        assert len(plain) == len(told("perf", "show").splitlines()), "lines"
        assert plain[0].split() == told("perf", "show").splitlines()[0].split(), "titles"
