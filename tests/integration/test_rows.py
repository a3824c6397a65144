# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""scripts/rows: on small trees that are made up here, and on the real one."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from checks import lines_mention, mentions

pytestmark = pytest.mark.scripts

SRCDIR = Path(os.environ.get("TRIAD_SRCDIR", Path(__file__).resolve().parents[2]))

REQUIREMENTS = """\
# What it must do

| name in the code | document |
|---|---|
| some-rfc | *Some RFC* |

## A  Counters

| row | requirement |
|---|---|
| A1 | Counters are read. |
| A2 | Counters are shown, in a table that is too long for a line of eighty columns. |

## B  Simulated

| row | requirement |
|---|---|
| B1 | Storms end. |

## N  Later (planned)

| row | requirement |
|---|---|
| N1 | Counters are sung. |
"""

UNIT_TEST = """\
/* Reads. */
/* Row: A1 */
START_TEST(test_counter_read_total_right)
{
}
END_TEST

START_TEST(test_counter_not_read_absent)
{
}
END_TEST
"""

STORM = "/* Storms. */\n/* Row: A1, B1 */\nint main(void)\n{\n}\n"

PYTHON_TEST = """\
import pytest

@pytest.mark.parametrize("name", ["a", "b"])
@pytest.mark.row("A2", "A1")
def test_counter_shown(name):
    pass

def test_nothing():
    pass
"""


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    """All rows but the planned one have tests."""
    for path, text in (("docs/requirements.md", REQUIREMENTS),
                       ("tests/unit/test_counter.c", UNIT_TEST),
                       ("tests/sim/storm.c", STORM),
                       ("tests/integration/test_show.py", PYTHON_TEST)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    return tmp_path


def rows(*words):
    return subprocess.run([sys.executable, SRCDIR / "scripts" / "rows", *map(str, words)],
                          capture_output=True, text=True, check=False)


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def refused(tree, *messages):
    """The tree is refused for these reasons alone, of which each is mentioned in a line."""
    process = rows("--tree", tree)
    assert lines_mention(process.stderr, *(f"rows: {message}" for message in messages))
    assert process.returncode == 1


# --- what is printed -------------------------------------------------------------

def test_rows_all_proven_listed_with_their_tests(tree):
    process = rows("--tree", tree)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout == """\
A  Counters

A1   Counters are read.
  tests/sim/storm.c
  tests/unit/test_counter.c
    test_counter_read_total_right
  tests/integration/test_show.py
    test_counter_shown

A2   Counters are shown, in a table that is too long for a line of eighty
     columns.
  tests/integration/test_show.py
    test_counter_shown

B  Simulated

B1   Storms end.
  tests/sim/storm.c

N  Later

N1   Counters are sung.
  planned

3 of 3 rows have tests, 1 planned
"""


def test_rows_selected_shown_alone(tree):
    change(tree / "tests/integration/test_show.py", '"A2", ', "")
    process = rows("--tree", tree, "N1", "A1")
    assert process.returncode == 0
    lines = process.stdout.splitlines()
    assert [line.split()[0] for line in lines if line[:2] in ("A1", "A2", "B1", "N1")] == \
        ["A1", "N1"]
    assert rows("--tree", tree, "A2").returncode == 1


def test_rows_as_json_have_all_members(tree):
    process = rows("--tree", tree, "--json")
    assert process.returncode == 0
    document = json.loads(process.stdout)
    assert document["mistakes"] == []
    assert [row["row"] for row in document["rows"]] == ["A1", "A2", "B1", "N1"]
    assert document["rows"][1] == {
        "row": "A2", "section": "A  Counters", "planned": False,
        "text": "Counters are shown, in a table that is too long for a line of eighty "
                "columns.",
        "tests": [{"file": "tests/integration/test_show.py", "line": 4,
                   "test": "test_counter_shown"}]}
    assert document["rows"][2]["tests"] == [
        {"file": "tests/sim/storm.c", "line": 2, "test": None}]
    assert (document["rows"][3]["planned"], document["rows"][3]["tests"]) == (True, [])


def test_rows_of_pytestmark_are_proven_by_the_file(tree):
    path = tree / "tests/integration/test_show.py"
    change(path, '@pytest.mark.row("A2", "A1")\n', "")
    for mark in ('pytest.mark.row("A2")',
                 '[pytest.mark.slow, pytest.mark.row("A2", "B1")]'):
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text}\npytestmark = {mark}\n", encoding="utf-8")
        process = rows("--tree", tree, "--json", "A2")
        assert process.returncode == 0
        row, = json.loads(process.stdout)["rows"]
        assert {(it["file"], it["test"]) for it in row["tests"]} == \
            {("tests/integration/test_show.py", None)}
        path.write_text(text, encoding="utf-8")


# --- what is refused -------------------------------------------------------------

def test_row_without_test_fails(tree):
    change(tree / "tests/integration/test_show.py", '"A2", ', "")
    refused(tree, "docs/requirements.md:12: row A2 has no test")
    assert "  NO TEST\n" in rows("--tree", tree).stdout


def test_row_no_longer_planned_fails(tree):
    change(tree / "docs/requirements.md", " (planned)", "")
    refused(tree, "docs/requirements.md:24: N1 no test")


def test_row_unknown_fails_with_its_place(tree):
    change(tree / "tests/unit/test_counter.c", "Row: A1", "Row: A1, A9")
    change(tree / "tests/integration/test_show.py", '"A2", "A1"', '"A2", "Z1"')
    refused(tree,
            "tests/unit/test_counter.c:2: A9", "tests/integration/test_show.py:4: Z1")
    process = rows("--tree", tree, "--json")
    assert process.returncode == 1
    mistake = json.loads(process.stdout)["mistakes"][0]
    assert mentions(mistake.pop("text"), "row A9")
    assert mistake == {"file": "tests/unit/test_counter.c", "line": 2}


def test_row_twice_in_the_table_fails(tree):
    change(tree / "docs/requirements.md", "| B1 |", "| A1 |")
    change(tree / "tests/sim/storm.c", ", B1", "")
    refused(tree, "docs/requirements.md:18: A1 line 11")


@pytest.mark.parametrize("marker, message", [
    ("/* Row: */", "marker /* Row: A4, S7 */"),
    ("/* Rows: A1 */", "marker /* Row: A4, S7 */"),
    ("/*Row: A1*/", "marker /* Row: A4, S7 */"),
    ("/* Row: A1 S7 */", "'A1 S7'"),
    ("/* Row: A1,A2 */", "'A1,A2'"),
    ("/* Row: a1 */", "'a1'"),
    ("/* Row: A1 */\n", "no test marker")])
def test_marker_wrong_in_c_fails(tree, marker, message):
    change(tree / "tests/unit/test_counter.c", "/* Row: A1 */", marker)
    refused(tree, f"tests/unit/test_counter.c:2: {message}")


@pytest.mark.parametrize("old, new, message", [
    ('row("A2", "A1")\n', 'row("A2")\n@pytest.mark.row()\n',
     '5: marker pytest.mark.row("A4", "S7")'),
    ('row("A2", "A1")\n', 'row("A2")\n@pytest.mark.row\n',
     '5: marker pytest.mark.row("A4", "S7")'),
    ('row("A2", "A1")', 'row("A2", 1)',
     '4: marker pytest.mark.row("A4", "S7")'),
    ("def test_nothing", '@pytest.mark.row("A1")\ndef helper',
     "8: helper no test"),
    ("def test_nothing():", "def test_nothing()", "8: expected ':'")])
def test_marker_wrong_in_python_fails(tree, old, new, message):
    path = tree / "tests/integration/test_show.py"
    change(path, old, new)
    process = rows("--tree", tree)
    assert process.returncode == 1
    assert mentions(process.stderr, f"rows: tests/integration/test_show.py:{message}")


def test_arguments_wrong_are_usage(tree):
    for words, part in ((("Z9",), "'Z9'"), (("--xml",), "--xml"),
                        (("--tree", tree / "nowhere"), "requirements.md")):
        process = rows("--tree", tree, *words)
        assert process.returncode == 2
        assert mentions(process.stderr, part)
    (tree / "docs/requirements.md").write_text("# Nothing\n", encoding="utf-8")
    process = rows("--tree", tree)
    assert (process.returncode, process.stdout) == (2, "")
    assert mentions(process.stderr, "no row")


def test_help_has_example_and_exit_status():
    process = rows("--help")
    assert process.returncode == 0
    for part in ("Example: rows", "Exit status: 0", "/* Row: A4, S7 */", "--json",
                 '@pytest.mark.row("A4", "S7")', "(planned)"):
        assert part in process.stdout


# --- the real tree ---------------------------------------------------------------

def test_rows_of_triad_all_proven():
    process = rows()
    assert process.returncode == 0, process.stderr
