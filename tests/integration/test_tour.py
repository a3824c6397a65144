# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""docs/tour.md and docs/glossary.md name files and functions: they are there."""

import re
import subprocess

import pytest

from labs import SRCDIR

# `path/file.c`, or `function()`, in the order of the text.
NAMED = re.compile(r"`(?:(?P<path>[\w/]+\.[ch])|(?P<function>\w+)\(\))`")
PATH = re.compile(r"\b[\w]+(?:/\w+)+\.[ch]\b")


def named(text):
    """(path, function) pairs: a function stands behind the file that has it."""
    path = None
    for match in NAMED.finditer(text):
        if match["path"]:
            path = match["path"]
        else:
            yield path, match["function"]


@pytest.mark.plain
def test_tour_names_functions_where_they_are():
    text = (SRCDIR / "docs" / "tour.md").read_text(encoding="utf-8")
    pairs = list(named(text))
    assert len(pairs) > 40, "functions named"
    lost = [f"{path}: {function}()" for path, function in pairs
            if not re.search(rf"\b{function}\(", (SRCDIR / path).read_text("utf-8"))]
    assert not lost, "named, and not there"


@pytest.mark.plain
def test_tour_names_files_that_exist():
    text = (SRCDIR / "docs" / "tour.md").read_text(encoding="utf-8")
    lost = {path for path in PATH.findall(text) if not (SRCDIR / path).exists()}
    assert not lost, "named, and not there"


@pytest.mark.plain
def test_glossary_is_short_and_names_files_that_exist():
    rows = [line for line in
            (SRCDIR / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()
            if line.startswith("| ")][1:]
    assert 10 < len(rows) <= 30, "words of our own"
    words = [row.split("|")[1].strip() for row in rows]
    assert words == sorted(words, key=str.lower), "in alphabetical order"
    lost = {path for path in re.findall(r"\b[\w/]+\.h\b", "\n".join(rows))
            if not (SRCDIR / path).exists()}
    assert not lost, "named, and not there"


@pytest.mark.plain
def test_picture_of_modules_is_as_the_code_is():
    process = subprocess.run([SRCDIR / "scripts" / "draw-architecture", "--check"],
                             capture_output=True, text=True, check=False)
    assert (process.returncode, process.stderr) == (0, ""), "docs/architecture.svg"
