# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""triadd keeps the images of the fabric: what is kept and shown when it, or OpenSM, hangs,
ends or is not there."""

import os
import random
import re
import signal
import socket
import struct
import subprocess
import time

import pytest

from checks import failed, mentions, wait_until
from labs import BUILDDIR, sanitizer, sanitizer_options
from test_images import (CONF, check_files, images, symbol_errors, wait_for_images)
from test_lifecycle import end
from test_restored import FIRST, alerts, are_alike, known_since, lose, wait_for_image
from triadlib import ask, health_findings, status, triad_lab, wait_for_sweep

pytestmark = pytest.mark.row("N15")

SILENT_S = 40


def triadd_of(lab):
    return lab.state().triadds[0]


def known(lab):
    """What triadd, which was just started, says of its images."""
    def report():
        found = images(lab)
        return found if found["first"] and found["last"] and not found["error"] else None

    return wait_until(report, 30, "a report")


def sweeps(lab):
    return status(lab)["perfmgr"]["sweeps"]


@pytest.mark.row("N10")
def test_triadd_killed_again_and_again(scratch):
    """Whatever it was doing, each image that there is is whole, and later ones follow."""
    folder = scratch.folder()
    with triad_lab(CONF.format(folder=folder)) as lab:
        wait_for_images(lab, 3)
        first = images(lab)["first"][:19]
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=7')
        wait_until(lambda: symbol_errors(lab) == 7, 30, "a total")
        for _ in range(6):
            time.sleep(random.uniform(0, 1.5))
            lab.kill_triadd()
            lab.start_triadd()
        last = known(lab)["last"]
        wait_until(lambda: known(lab)["last"] > last, 20, "later ones")
        assert known(lab)["first"][:19] == first, "those of before are there"
        assert symbol_errors(lab, "--at", known(lab)["last"][:19]) == 7, "the last one"
        assert symbol_errors(lab, "--at", first) == 0, "the first one"
    check_files(folder)


@pytest.mark.row("N10")
def test_sweeps_of_which_there_is_no_image_are_counted(scratch):
    with triad_lab(CONF.format(folder=scratch.folder())) as lab:
        wait_for_images(lab, 3)
        before = images(lab)
        pid = triadd_of(lab).process.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            swept = sweeps(lab)
            wait_until(lambda: sweeps(lab) >= swept + 4, 30, "sweeps go on")
            started = time.monotonic()
            process = lab.triad("nodes", "--at", before["last"][:19])
            failed(process, 1, "has not answered for long")
            assert time.monotonic() - started < 30, "a command that waits"
            wait_until(lambda: health_findings(lab, "triadd has not been heard"), SILENT_S,
                       "a finding")
            assert "not known" in images(lab)["error"], "what it did is old"
        finally:
            os.kill(pid, signal.SIGCONT)
        wait_until(lambda: images(lab)["written"] > before["written"] + 1, 30, "images")
        assert images(lab)["dropped"] >= before["dropped"] + 4, "those between"
        wait_until(lambda: not health_findings(lab, "triadd has not been heard"), 20, "its end")
        ask(lab, "nodes", "--at", before["last"][:19])


@pytest.mark.row("N10")
def test_without_triadd_the_past_is_not_shown_and_nothing_waits(scratch):
    folder = scratch.folder()
    with triad_lab(CONF.format(folder=folder)) as lab:
        wait_for_images(lab, 3)
        then = images(lab)["last"][:19]
        lab.kill_triadd()
        for words in (("nodes", "--at", then), ("diff", then), ("health", "--at", then),
                      ("perf", "history", "Hca1:1", "PortXmitData")):
            started = time.monotonic()
            # Of health it is a verdict: unknown.
            failed(lab.triad(*words), 3 if words[0] == "health" else 1,
                   "systemctl restart triadd")
            assert time.monotonic() - started < 5, "at once"
        ask(lab, "nodes")
        # At another time than its first start: the role was known long before.
        wait_for_sweep(lab)
        lab.start_triadd()
        wait_until(lambda: lab.triad("nodes", "--at", then).returncode == 0, 20, "the past")
        wait_until(lambda: known(lab)["last"][:19] > then, 20, "an image")


@pytest.mark.row("N10")
def test_triadd_that_was_never_there_is_said(scratch):
    with triad_lab(CONF.format(folder=scratch.folder())) as lab:
        wait_for_images(lab, 1)
        lab.kill_triadd()
        end(lab, signal.SIGKILL)
        lab.host("start", 0, "opensm")
        wait_for_sweep(lab)
        line = re.search(r"Images +(.*)", lab.triad("health").stdout)[1]
        assert re.fullmatch(r"- +not known yet: triadd has not been heard of yet", line), line
        section = ask(lab, "status", "--all").partition("Images of the fabric")[2]
        section = section.partition("sFlow")[0]
        assert "heard of yet" in section and not re.search(r" 0\b", section), section
        found = wait_until(lambda: health_findings(lab, "triadd has not been heard"), SILENT_S,
                           "a finding")
        assert "since this program started" in found[0]["what"], found
        assert mentions(found[0]["advice"], "install it triadd"), found
        # What has a line of its own is not said of the others, too.
        assert re.search(r"Exports +ok", lab.triad("health").stdout), "exports"
        lab.start_triadd()
        known(lab)


@pytest.mark.row("N10")
def test_opensm_killed_and_started_while_triadd_stays(scratch):
    folder = scratch.folder()
    with triad_lab(CONF.format(folder=folder)) as lab:
        wait_for_images(lab, 3)
        pid = triadd_of(lab).process.pid
        then = images(lab)["last"][:19]
        for number in (signal.SIGKILL, signal.SIGTERM):
            written = images(lab)["written"]
            end(lab, number)
            lab.host("start", 0, "opensm")
            wait_until(lambda: lab.triad("status").returncode == 0, 20, "opensm")
            wait_until(lambda: images(lab)["written"] > written + 2, 30, "images go on")
        assert triadd_of(lab).process.pid == pid and triadd_of(lab).process.is_alive(), "triadd"
        ask(lab, "nodes", "--at", then)
        assert images(lab)["dropped"] == 0, "no sweep was missed"
    check_files(folder)


@pytest.mark.row("N10")
def test_folder_that_triadd_may_not_write(scratch):
    """Its user has no right of root: here root without capabilities."""
    folder = scratch.folder()
    with triad_lab(CONF.format(folder=folder)) as lab:
        wait_for_images(lab, 2)
        lab.kill_triadd()
        os.chown(folder / "images", 65534, 65534)
        os.chmod(folder / "images", 0o755)
        with subprocess.Popen(["setpriv", "--inh-caps=-all", "--bounding-set=-all",
                               BUILDDIR / "triadd", "--socket", triadd_of(lab).socket],
                              stderr=subprocess.DEVNULL) as process:
            try:
                wait_until(lambda: "user 65534" in (images(lab)["error"] or ""), 30, "why")
                assert health_findings(lab, "user 65534"), "a finding"
                os.chown(folder / "images", 0, 0)
                wait_until(lambda: images(lab)["written"], 30, "images again")
                wait_until(lambda: not health_findings(lab, "user 65534"), 20, "its end")
            finally:
                process.terminate()
        lab.start_triadd()


@pytest.mark.row("N10")
def test_what_was_lost_is_known_once_triadd_comes(scratch):
    with triad_lab(CONF.format(folder=scratch.folder())) as lab:
        lose(lab, FIRST)
        wait_for_image(lab)
        before = alerts(lab)
        lab.kill_triadd()
        end(lab, signal.SIGKILL)
        lab.host("start", 0, "opensm")
        wait_until(lambda: lab.triad("perf", "sweep").returncode == 0, 20, "a sweep")
        assert not alerts(lab) and known_since(lab), "nobody has told it"
        lab.start_triadd()
        wait_until(lambda: FIRST in alerts(lab), 20, "what was lost")
        assert are_alike(alerts(lab)[FIRST], before[FIRST]), before
        assert known_since(lab) is None


def ask_for_an_image(path):
    """As triadd does, but without following what changes."""
    words = b"image\0" + 7 * b"0\0"
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        connection.sendall(struct.pack(">cBHI", b"R", 1, 0, len(words)) + words)
        with connection.makefile("rb") as answer:
            return answer.read()


def say(path, *parts):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(str(path))
    for kind, octets in parts:
        connection.sendall(struct.pack(">cBHI", kind, 1, 0, len(octets)) + octets)
    return connection


def report(path, start):
    """As triadd does, but without following what changes; returns the status."""
    text = f"version=of then\nstart={start}\nconfigured=1\n"
    with say(path, (b"R", b"report\0"), (b"O", text.encode())) as connection, \
            connection.makefile("rb") as answer:
        return answer.read()[-1]


def start_of(path):
    """Of the process that is there."""
    with say(path, (b"R", b"changes\0")) as connection, connection.makefile("rb") as answer:
        return int(re.search(rb"start (\d+)", answer.readline())[1])


@pytest.mark.row("N10")
def test_report_of_a_triadd_that_follows_an_earlier_process_is_none(scratch):
    with triad_lab(CONF.format(folder=scratch.folder())) as lab:
        lab.kill_triadd()
        path = triadd_of(lab).socket
        before, start = status(lab)["triadd"]["version"], start_of(path)
        assert report(path, start - 1) != 0
        assert status(lab)["triadd"]["version"] == before
        assert report(path, start) == 0
        assert status(lab)["triadd"]["version"] == "of then"


@pytest.mark.row("N10")
def test_what_was_lost_is_known_although_nobody_answered_first(scratch):
    with triad_lab(CONF.format(folder=scratch.folder())) as lab:
        lose(lab, FIRST)
        wait_for_image(lab)
        path = triadd_of(lab).socket
        lab.kill_triadd()
        end(lab, signal.SIGKILL)
        lab.host("start", 0, "opensm")
        wait_until(lambda: lab.triad("perf", "sweep").returncode == 0, 20, "a sweep")
        assert b"# triad-image" not in ask_for_an_image(path), "one that lacks what was known"
        lab.start_triadd()
        wait_until(lambda: FIRST in alerts(lab), 20, "what was lost")


@pytest.mark.row("N10")
def test_disk_that_hangs_is_said(scratch):
    flag = scratch.folder() / "hung"
    libraries = [BUILDDIR / "tests/lab/.libs/libhungdisk.so", *sanitizer()]
    with triad_lab(CONF.format(folder=scratch.folder())) as lab:
        wait_for_images(lab, 2)
        lab.kill_triadd()
        variables = os.environ | sanitizer_options(flag.parent) | {
            "LD_PRELOAD": ":".join(map(str, libraries)), "TRIAD_HUNG_DISK": str(flag),
            "TRIAD_HUNG_WRITES": "1"}
        with subprocess.Popen([BUILDDIR / "triadd", "--socket", triadd_of(lab).socket],
                              stderr=subprocess.DEVNULL, env=variables) as process:
            try:
                before = known(lab)["written"]
                wait_until(lambda: images(lab)["written"] > before, 20, "an image")
                flag.write_text("csv.zst")
                wait_until(lambda: health_findings(lab, "does not answer"), SILENT_S, "a finding")
                swept = sweeps(lab)
                wait_until(lambda: sweeps(lab) > swept + 1, 20, "sweeps")
                flag.unlink()
                wait_until(lambda: not health_findings(lab, "does not answer"), 20, "its end")
                before = images(lab)
                wait_until(lambda: images(lab)["written"] > before["written"], 20, "images")
                assert images(lab)["dropped"] >= 10, "those of that time"
            finally:
                flag.unlink(missing_ok=True)
                process.terminate()
        lab.start_triadd()
