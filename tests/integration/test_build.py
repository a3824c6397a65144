# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""scripts/build chooses where to build, in a copy of the scripts with a Makefile of
its own."""

import os
import pty
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


# Two files, of which the second waits 10 s until somebody has seen the first one counted.
MAKEFILE = """\
all:
\t@echo "  CC       one.o"
\t@echo "  CC       two.o"; for i in $$(seq 200); do [ -e seen ] || sleep 0.05; done; \
\texit $$(cat seen)
"""


def on_terminal(checkout, status):
    """What the build writes to a terminal, until it ends with that exit status of make's
    last step."""
    (checkout / "Makefile").write_text(MAKEFILE, encoding="ascii")
    near, far = pty.openpty()
    with subprocess.Popen([checkout / "scripts" / "build"], cwd=checkout, stderr=far,
                          stdout=far) as process:
        os.close(far)
        text = ""
        try:
            while octets := os.read(near, 4096):
                text += octets.decode()
                if "2 of 2 files" in text:
                    (checkout / "seen").write_text(status, encoding="ascii")
        except OSError:
            pass  # so ends a terminal that nobody writes to any longer
        os.close(near)
    return process.returncode, text


def test_terminal_shows_how_many_files_are_compiled(checkout):
    code, text = on_terminal(checkout, "0")
    assert code == 0 and "build: compilation of 2 files" in text, text
    assert "\r\033[Kbuild: 2 of 2 files   CC       two.o" in text, text
    assert text.endswith(f"\r\033[Kbuild: done in {checkout}\r\n"), text


def test_failed_compilation_shows_what_the_compiler_printed(checkout):
    code, text = on_terminal(checkout, "3")
    assert code == 1 and "build: failed after 2 of 2" in text, text
    assert "Error 3" in text, text
    (checkout / "Makefile").write_text("all:\n\t@echo said by the compiler; false\n",
                                       encoding="ascii")
    process = build(checkout)
    assert process.returncode == 1 and "said by the compiler" in process.stderr, \
        process.stderr
    assert "\r" not in process.stderr, process.stderr
