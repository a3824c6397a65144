# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""docs/first-change.md: its pieces fit the code, build, and their test passes."""

import re
import shutil
import subprocess

import pytest

from checks import succeeded
from labs import BUILDDIR, SRCDIR

pytestmark = pytest.mark.scripts

PIECE = re.compile(r"```diff\n--- (?P<path>\S+)\n(?P<lines>.*?)```", re.DOTALL)
PROGRAMS = ["tests/unit/perfmgr/test_modes", "tests/unit/service/test_facts"]


def pieces():
    """(path, text that is there, text in its place)"""
    text = (SRCDIR / "docs" / "first-change.md").read_text(encoding="utf-8")
    for piece in PIECE.finditer(text):
        lines = piece["lines"].splitlines()
        yield (piece["path"],
               "".join(line[1:] + "\n" for line in lines if line[0] in " -"),
               "".join(line[1:] + "\n" for line in lines if line[0] in " +"))


def test_pieces_fit_the_code():
    found = list(pieces())
    assert len({path for path, _, _ in found}) == 5, "files"
    for path, before, _ in found:
        assert (SRCDIR / path).read_text(encoding="utf-8").count(before) == 1, \
            f"in {path}: {before}"


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


def test_counter_is_built_and_its_test_passes(tmp_path):
    copy_tree(tmp_path)
    for path, before, after in pieces():
        file = tmp_path / path
        file.write_text(file.read_text(encoding="utf-8").replace(before, after),
                        encoding="utf-8")
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
