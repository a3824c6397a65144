# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""tests/mutants has patches: each still fits the code."""

import os
import subprocess

import pytest

from labs import SRCDIR

pytestmark = pytest.mark.scripts


def test_mutants_fit_the_code():
    patches = sorted((SRCDIR / "tests" / "mutants").glob("*.patch"))
    assert len(patches) >= 40, "mutants"
    # In a folder of another repository git would pass over all paths.
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(SRCDIR.parent)}
    unfit = [patch.name for patch in patches if subprocess.run(
        ["git", "apply", "--check", patch], cwd=SRCDIR, check=False, env=environment,
        capture_output=True).returncode]
    assert unfit == [], "patches whose code has changed"
