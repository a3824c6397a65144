# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""docs/first-change.md: its places are there, its pieces build, and their test passes."""

import os
import re
import shutil
import subprocess

import pytest

from checks import succeeded
from labs import BUILDDIR, SRCDIR

pytestmark = pytest.mark.scripts

PIECE = re.compile(r"^## [^\n]*: (?P<path>\S+)\n(?:(?!^## ).)*?"
                   r"In\s`(?P<name>\w+)`, below `(?P<code>[^`\n]+)`:\n\n"
                   r"```c\n(?P<lines>.*?)```", re.DOTALL | re.MULTILINE)
PROGRAMS = ["tests/unit/perfmgr/test_modes", "tests/unit/service/test_facts"]


def changed_files():
    """(path, its text with the piece): the piece stands below the one line of a
    function, structure or table that has this code."""
    text = (SRCDIR / "docs" / "first-change.md").read_text(encoding="utf-8")
    for path, name, code, lines in PIECE.findall(text):
        before = (SRCDIR / path).read_text(encoding="utf-8")
        places = re.findall(rf"^\S[^\n]*\b{name}\b(?:(?!^\}}).)*", before,
                            re.DOTALL | re.MULTILINE)
        line = re.compile(rf"^.*{re.escape(code)}.*\n", re.MULTILINE)
        fit = [place for place in places if len(line.findall(place)) == 1]
        assert len(fit) == 1, f"{path}: {name} with one line {code}"
        place = line.sub(lambda match, lines=lines: match[0] + lines, fit[0])
        yield path, before.replace(fit[0], place)


def test_places_are_in_the_code():
    assert len(list(changed_files())) == 4


def copy_tree(to):
    """The sources as they are, and the build tree, so that little is compiled anew."""
    if not (SRCDIR / ".git").exists() or BUILDDIR.parent != SRCDIR:
        pytest.skip("not a checkout with a build tree in it")
    paths = subprocess.run(["git", "-C", SRCDIR, "ls-files", "-co", "--exclude-standard"],
                           capture_output=True, text=True, check=True).stdout.split()
    for path in [*paths, "configure", "aclocal.m4", "Makefile.in", "config.h.in"]:
        if (SRCDIR / path).is_file():
            (to / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(SRCDIR / path, to / path)
    shutil.copytree(SRCDIR / "build-aux", to / "build-aux", symlinks=True,
                    dirs_exist_ok=True)
    shutil.copytree(BUILDDIR, to / "build", symlinks=True,
                    ignore=shutil.ignore_patterns("check-*"))


@pytest.mark.skipif("TRIAD_FULL" not in os.environ, reason="copies the build tree")
def test_counter_is_built_and_its_test_passes(tmp_path):
    copy_tree(tmp_path)
    for path, text in changed_files():
        (tmp_path / path).write_text(text, encoding="utf-8")
    succeeded(subprocess.run(["make", "-s", "-C", tmp_path / "build", *PROGRAMS],
                             capture_output=True, text=True, check=False))
    for program in PROGRAMS:
        process = subprocess.run([tmp_path / "build" / program], capture_output=True,
                                 text=True, check=False)
        succeeded(process)
        # The programs speak TAP, and exit with 0 whatever failed.
        wrong = [line for line in process.stdout.splitlines() if line.startswith("not ok")]
        assert not wrong, "\n".join(wrong)
        assert process.stdout.count("\nok ") > 1, "cases"
