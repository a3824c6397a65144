# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""docs/picture.svg: drawn anew from a lab, it shows what triadctl prints today."""

import os
import re
import subprocess
import xml.etree.ElementTree as ElementTree

import pytest

from checks import failed, succeeded
from labs import BUILDDIR, SRCDIR
from triadlab import terminal

pytestmark = [pytest.mark.scripts, pytest.mark.full]

SCRIPT = SRCDIR / "scripts" / "picture"
COMMITTED = SRCDIR / "docs" / "picture.svg"
MOST_OCTETS = 32 * 1024


class Picture:
    """The texts of a picture, line by line: [(class, text)]."""

    def __init__(self, path):
        self.octets = path.read_bytes()
        root = ElementTree.fromstring(self.octets)
        self.tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        lines = {}
        for text in root.iter("{http://www.w3.org/2000/svg}text"):
            lines.setdefault(int(text.get("y")), []).append(
                (text.get("class", ""), text.text))
        self.lines = [lines[y] for y in sorted(lines)][1:]  # without the window's title
        self.text = "\n".join(" ".join(text for _, text in line) for line in self.lines)

    def commands(self):
        return [line[1][1] for line in self.lines if line[0] == ("t", "$")]

    def headings(self):
        return [[text for _, text in line] for line in self.lines
                if all(names == "b" for names, _ in line)]

    def parts(self):
        """Names of what 'health' has a line for."""
        return [line[0][1] for line in self.lines
                if len(line) > 1 and line[1][1] in ("-", "ok", "WARN", "CRIT", "?")
                or len(line) > 1 and line[1][1].startswith("WARN ")]


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """What the script draws today."""
    path = tmp_path_factory.mktemp("picture") / "picture.svg"
    succeeded(subprocess.run([SCRIPT, "-o", path], capture_output=True, text=True,
                             check=False, env=environment()))
    return Picture(path)


def environment():
    return {**os.environ, "TRIAD_BUILDDIR": str(BUILDDIR)}


def test_picture_has_commands_and_findings(drawn):
    assert drawn.commands() == ["triadctl health", "triadctl links --down --slow --errors",
                                "triadctl perf top -n 5"], "commands"
    for finding in ("leaf-03:4", "link down", "PortXmitWait", "LinkDownedCounter",
                    "slow link", "WARNING 4 findings"):
        assert finding in drawn.text, f"{finding}: {drawn.text}"
    assert re.search(r"host-0003 HCA-1:1 leaf-02:1 active 4x EDR 12x HDR", drawn.text), \
        drawn.text
    colors = {names for line in drawn.lines for names, _ in line}
    assert {"r", "y", "g", "b"} <= colors, colors
    assert "\033" not in drawn.text, "escape sequences"


def test_committed_picture_shows_what_the_commands_print_today(drawn):
    committed = Picture(COMMITTED)
    how = "; draw it anew: scripts/picture"
    assert committed.commands() == drawn.commands(), f"commands{how}"
    assert committed.headings() == drawn.headings() != [], f"columns{how}"
    assert committed.parts() == drawn.parts() != [], f"lines of health{how}"


def test_committed_picture_is_small_and_needs_nothing_else():
    picture = Picture(COMMITTED)
    assert picture.tags <= {"svg", "title", "style", "rect", "path", "circle", "text"}, \
        picture.tags
    assert len(picture.octets) <= MOST_OCTETS, "octets"
    text = picture.octets.decode()
    assert "prefers-color-scheme:dark" in text, "a dark mode"
    for word in ("@import", "url(", "href", "<script"):
        assert word not in text, word


def test_terminal_text_is_cut_where_columns_or_colors_begin():
    assert terminal.pieces("a b  c\033[1mD\033[31mE\033[0m\n\n\033[33m<x>") == [
        [(0, "a b", ""), (5, "c", ""), (6, "D", "b"), (7, "E", "b r")], [],
        [(0, "<x>", "y")]]
    assert "&lt;x&gt;" in terminal.draw("title", [("command", "<x>")], 80), "escaped"


def test_picture_that_cannot_be_written_says_where(tmp_path):
    process = subprocess.run([SCRIPT, "-o", tmp_path / "no" / "picture.svg"],
                             capture_output=True, text=True, check=False,
                             env=environment())
    failed(process, 1, "no/picture.svg")
