# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A plugin that can't work in this opensm: OpenSM goes on, and its log says why Triad does
not.  test_conf.py has a broken configuration, which refuses no load."""

import pytest

from checks import mentions
from labs import BUILDDIR
from triadlib import Lab, NET, log_has, triad_lab, triad_lines

LIBRARIES = BUILDDIR / "tests/lab/.libs"


def check_refusal(lab, *texts):
    """These stand in opensm.log before OpenSM's own line, and OpenSM is master."""
    before, found, _ = lab.log(0).partition("ERR 1000: cannot load plugin 'osmtriad'")
    assert found, "OpenSM's line"
    for words in texts:
        assert mentions(before, words), f"{words!r} in {before}"
    log_has(lab, "SUBNET UP")
    assert lab.status()["alive"] is True, "whether opensm lives"


@pytest.mark.plain
@pytest.mark.row("N3")
def test_opensm_configured_in_another_way_refused():
    with Lab(NET, plugin=LIBRARIES / "libotherlayout.so") as lab:
        check_refusal(lab, "triad: error: opensm configured", "libosmtriad.so configured",
                      "--disable-perf-mgr", "without", "build headers")


@pytest.mark.plain
@pytest.mark.row("N3")
def test_opensm_of_another_version_refuses():
    """These are OpenSM's words: it does not call the plugin."""
    with Lab(NET, plugin=LIBRARIES / "libotherversion.so") as lab:
        check_refusal(lab, "OpenSM version mismatch", "OpenSM 3.2.1")


def test_library_that_lacks_refused(tmp_path):
    """Again OpenSM's words, of what the dynamic linker says."""
    other = tmp_path / "libosmtriad.so"
    text = (LIBRARIES / "libotherversion.so").read_bytes()
    assert b"libglib-2.0.so.0\0" in text, "a library to be missed"
    other.write_bytes(text.replace(b"libglib-2.0.so.0\0", b"libglib-9.9.so.0\0"))
    with Lab(NET, plugin=other) as lab:
        check_refusal(lab, "Failed to open event plugin", "libglib-9.9.so.0")


@pytest.mark.parametrize("n_left", range(6))
def test_host_without_threads_reported(n_left, monkeypatch):
    monkeypatch.setenv("TRIAD_THREADS_LEFT", str(n_left))
    with Lab(NET, plugin="yes", preload=[LIBRARIES / "libnothreads.so"]) as lab:
        check_refusal(lab, "memory threads Triad off", "limits opensm")


def test_host_with_threads_loads(monkeypatch):
    """So that it is the lack of threads that refuses."""
    monkeypatch.setenv("TRIAD_THREADS_LEFT", "1000")
    with triad_lab(preload=[LIBRARIES / "libnothreads.so"]) as lab:
        assert not [line for line in triad_lines(lab.log(0)) if "error" in line], "errors"
