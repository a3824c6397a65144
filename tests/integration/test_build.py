# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""scripts/build chooses where to build, in a copy of the scripts with a Makefile of
its own."""

import shutil
import subprocess

import pytest

from labs import SRCDIR


@pytest.fixture(name="checkout")
def configured_checkout(tmp_path):
    shutil.copytree(SRCDIR / "scripts", tmp_path / "scripts")
    for name in ("configure", "config.status"):
        (tmp_path / name).write_text("#!/bin/sh\n", encoding="ascii")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "Makefile").write_text("all:\n\t@echo made here\n", encoding="ascii")
    return tmp_path


def build(checkout, *words):
    return subprocess.run([checkout / "scripts" / "build", *words], check=False,
                          text=True, capture_output=True, cwd=checkout)


def test_checkout_configured_in_place_is_built_in_place(checkout):
    process = build(checkout)
    assert process.returncode == 0, process.stderr
    assert f"done in {checkout}\n" in process.stderr, process.stderr
    assert "made here" in (checkout / "build.log").read_text(encoding="utf-8"), "log"
    find = ("import sys; sys.path.insert(0, 'scripts'); "
            "from triadlab import environment; print(environment.find_builddir(None))")
    (checkout / ".libs").mkdir()
    (checkout / ".libs" / "libosmtriad.so").touch()
    (checkout / "build" / ".libs").mkdir(parents=True)
    (checkout / "build" / ".libs" / "libosmtriad.so").touch()
    found = subprocess.run(["/usr/bin/python3", "-c", find], check=True, text=True,
                           capture_output=True, cwd=checkout,
                           env={"PATH": "/usr/bin:/bin"})
    assert found.stdout == f"{checkout}\n", "where labs look"


def test_other_place_of_a_checkout_configured_in_place_is_refused(checkout):
    process = build(checkout, "--dir", checkout / "elsewhere")
    assert process.returncode == 1, "exit status"
    assert "run 'make distclean' in" in process.stderr, process.stderr
