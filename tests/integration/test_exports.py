# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Disks that are full or stuck under what Triad writes: sweeps and the SM go on."""

import subprocess

import pytest

from checks import succeeded, wait_until
from triadlib import ask, log_has, status, triad_lab, wait_for_sweep

CONF = """\
[perfmgr]
sweep_period = 1
[profile]
file = {folder}/profile.csv.zst
min_change = 0
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


def test_full_disk_is_said_and_sweeps_go_on(scratch):
    folder = scratch.folder()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24k", "tmpfs", folder], check=True)
    scratch.callback(subprocess.run, ["umount", folder])
    with triad_lab(CONF.format(folder=folder)) as lab:
        wait_for_sweep(lab, 2)
        (folder / "filler").write_bytes(b"x" * 12288)
        filled = status(lab)["profile"]["frames"]

        def is_dropped():
            ask(lab, "perf", "sweep")
            return status(lab)["profile"]["dropped"]
        wait_until(is_dropped, 60, "a frame that is lost")
        log_has(lab, "No space left on device")
        check_sweeps_go_on(lab)
        succeeded(subprocess.run(["zstd", "-tq", folder / "profile.csv.zst"],
                                 capture_output=True, text=True, check=False))
        (folder / "filler").unlink()
        frames = status(lab)["profile"]["frames"]
        assert frames >= filled, (frames, filled)
        wait_until(lambda: status(lab)["profile"]["frames"] > frames, 30,
                   "a frame, again")


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
