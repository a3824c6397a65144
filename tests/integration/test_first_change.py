# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""docs/first-change.md: its places are there, its pieces build, and their test passes."""

import os
import re
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


@pytest.mark.skipif("TRIAD_FULL" not in os.environ, reason="compiles for a minute")
def test_counter_is_built_and_its_test_passes(tmp_path):
    if SRCDIR not in BUILDDIR.parents:
        pytest.skip("the build tree is not in the checkout")
    upper, work = tmp_path / "upper", tmp_path / "work"
    work.mkdir()
    for path, text in changed_files():
        (upper / path).parent.mkdir(parents=True, exist_ok=True)
        (upper / path).write_text(text, encoding="utf-8")
    # make sees the changed files in the checkout's place; what it writes goes to 'upper'.
    options = f"lowerdir={SRCDIR},upperdir={upper},workdir={work}"
    succeeded(subprocess.run(
        ["unshare", "--mount", "sh", "-ec",
         'mount -t overlay -o "$1" first-change "$2"; shift 2; exec make -s -C "$@"', "sh",
         options, SRCDIR, BUILDDIR, *PROGRAMS], capture_output=True, text=True, check=False))
    for program in PROGRAMS:
        process = subprocess.run([upper / BUILDDIR.relative_to(SRCDIR) / program],
                                 capture_output=True, text=True, check=False)
        succeeded(process)
        # The programs speak TAP, and exit with 0 whatever failed.
        wrong = [line for line in process.stdout.splitlines() if line.startswith("not ok")]
        assert not wrong, "\n".join(wrong)
        assert process.stdout.count("\nok ") > 1, "cases"
