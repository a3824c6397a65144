# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Disks that are full or stuck under what Triad writes: sweeps and the SM go on."""

import contextlib
import http.client
import itertools
import json
import os
import subprocess
import threading
import urllib.request
from pathlib import Path

import pytest

from checks import succeeded, wait_until
from smalldisk import small_disk
from triadlab.tcp_ports import free_port
from triadlib import ask, log_has, status, triad_lab, wait_for_sweep

CONF = """\
[perfmgr]
sweep_period = 1
[profile]
file = {folder}/profile.csv.zst
counters = all
[alerts]
file = {folder}/alerts.json
clear_after = 0
"""


def raise_alert(lab, count):
    lab.sim(f'PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter={count}')
    ask(lab, "perf", "sweep")


def check_sweeps_go_on(lab, n=3):
    """Nobody asks for them; SA queries are answered."""
    before = status(lab)["perfmgr"]["sweeps"]
    wait_until(lambda: status(lab)["perfmgr"]["sweeps"] >= before + n, 30, f"{n} sweeps")
    succeeded(lab.run("saquery", "-N", node="Hca2"))


def test_full_disk_is_reported_and_sweeps_go_on(scratch):
    disk = small_disk(scratch, 24)
    folder = disk.folder
    with triad_lab(CONF.format(folder=folder)) as lab:
        wait_for_sweep(lab, 2)
        disk.fill(12288)
        filled = status(lab)["profile"]["frames"]

        def is_dropped():
            ask(lab, "perf", "sweep")
            return status(lab)["profile"]["dropped"]
        wait_until(is_dropped, 60, "a frame that is lost")
        assert "No space left on device" in status(lab)["profile"]["error"], "why"
        check_sweeps_go_on(lab)
        # For a moment of each sweep, the part is there that the disk has room for.
        wait_until(lambda: subprocess.run(["zstd", "-tq", folder / "profile.csv.zst"],
                                          capture_output=True, check=False).returncode == 0,
                   20, "a file of whole frames")
        disk.make_room()
        frames = status(lab)["profile"]["frames"]
        assert frames >= filled, (frames, filled)
        wait_until(lambda: status(lab)["profile"]["frames"] > frames, 30,
                   "a frame, again")


def opened_in(lab, folder):
    """Files of the folder that opensm or its triadd has open."""
    opened = []
    pids = [lab.status()["sms"][0]["pid"], lab.state().triadds[0].process.pid]
    for path in itertools.chain(*(Path(f"/proc/{pid}/fd").iterdir() for pid in pids)):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            opened.append(os.readlink(path))
    return [path for path in opened if path.startswith(str(folder))]


def test_outputs_that_are_switched_off_have_no_trouble(scratch):
    disk = small_disk(scratch, 24)
    folder = disk.folder
    with triad_lab(CONF.format(folder=folder)) as lab:
        wait_for_sweep(lab, 2)
        disk.fill()

        def failing():
            findings = json.loads(lab.triad("health", "--json").stdout)["findings"]
            return {key for key in ("profile.file", "alerts.file")
                    if any(key in finding["advice"] for finding in findings)}
        counts = itertools.count(60, 60)

        def are_both_failing():
            raise_alert(lab, next(counts))
            ask(lab, "perf", "sweep")
            return len(failing()) == 2
        wait_until(are_both_failing, 60, "both in trouble")
        for key in "profile.file", "alerts.file":
            ask(lab, "set", key, "")
        wait_until(lambda: not failing(), 20, "no trouble")
        wait_until(lambda: not opened_in(lab, folder), 20,
                   lambda: f"open: {opened_in(lab, folder)}")


def test_alert_that_found_a_full_disk_is_written_later(scratch):
    disk = small_disk(scratch, 8)
    path = disk.folder / "alerts.json"
    with triad_lab(f"[alerts]\nfile = {path}\n") as lab:
        wait_for_sweep(lab, 1)
        disk.fill()
        raise_alert(lab, 60)
        raise_alert(lab, 120)
        log_has(lab, "can't be written")
        assert status(lab)["alerts"]["file_error"], "an error"
        disk.make_room()
        wait_until(lambda: status(lab)["alerts"]["file_error"] is None, 30, "no error")
        assert status(lab)["alerts"]["file_dropped"] == 0, "lines not written"
        assert '"raised"' in path.read_text(encoding="utf-8"), "the alert"


@pytest.mark.threads
def test_scrapes_while_addresses_change_stop_nobody():
    """A server waits for its thread when it ends."""
    ports = [free_port(), free_port()]
    with triad_lab(f"[prometheus]\nlisten = 127.0.0.1:{ports[0]}\n") as lab:
        ended = threading.Event()

        def scrape(port):
            while not ended.is_set():
                with contextlib.suppress(OSError, http.client.HTTPException):
                    urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read()
        threads = [threading.Thread(target=scrape, args=(port,)) for port in ports * 3]
        for thread in threads:
            thread.start()
        try:
            for i in range(60):
                succeeded(lab.run("triadctl", "--timeout", "10", "set",
                                  "prometheus.listen", f"127.0.0.1:{ports[(i + 1) % 2]}"))
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        assert status(lab)["prometheus"]["answers"] > 0, "answers"


def frozen_disk(scratch):
    """A file system that can be frozen: writes to it then wait."""
    folder = scratch.folder()
    image, mount = folder / "image", folder / "mount"
    mount.mkdir()
    image.write_bytes(b"\0" * (16 << 20))
    for command in (["mkfs.ext4", "-q", image], ["mount", "-o", "loop", image, mount]):
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode:
            pytest.skip(f"no file system to freeze: {process.stderr.strip()}")
    scratch.callback(subprocess.run, ["umount", mount])
    scratch.callback(lambda: subprocess.run(["fsfreeze", "-u", mount], check=False,
                                            capture_output=True))
    return mount


@pytest.mark.plain
def test_stuck_disk_stops_neither_sweeps_nor_the_log(scratch):
    mount = frozen_disk(scratch)
    with triad_lab(CONF.format(folder=mount)) as lab:
        wait_for_sweep(lab, 2)
        subprocess.run(["fsfreeze", "-f", mount], check=True)
        try:
            for count in (60, 120, 180):
                raise_alert(lab, count)
                ask(lab, "perf", "sweep")
            # A sweep that waited for the disk would wait until the end of this block.
            check_sweeps_go_on(lab)
            log_has(lab, "alert 3 raised")
        finally:
            subprocess.run(["fsfreeze", "-u", mount], check=True)
        frames = status(lab)["profile"]["frames"]
        wait_until(lambda: status(lab)["profile"]["frames"] > frames, 30, "a frame")
        wait_until(lambda: status(lab)["alerts"]["file_lines"] >= 5, 30, "lines")
