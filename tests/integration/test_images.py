# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Images of the fabric, written by the plugin in stock opensm and read again."""

import signal
import subprocess

import pytest

from checks import succeeded, wait_until
from test_lifecycle import end
from triadlib import ask, log_has, status, triad_lab

CONF = """\
[perfmgr]
sweep_period = 1
[history]
dir = {folder}/images
"""


def images(lab):
    return status(lab)["images"]


def wait_for_images(lab, n):
    wait_until(lambda: images(lab)["written"] >= n, 40, f"{n} images")


def check_files(folder):
    """Each is whole, and a profile."""
    files = sorted((folder / "images").glob("*.zst"))
    assert files, "no file"
    for file in files:
        succeeded(subprocess.run(["zstd", "-tq", file], capture_output=True, text=True,
                                 check=False))
    return files


@pytest.mark.plain
@pytest.mark.row("N10")
def test_images_outlive_a_kill_and_are_profiles(scratch):
    folder = scratch.folder()
    with triad_lab(CONF.format(folder=folder)) as lab:
        wait_for_images(lab, 6)
        kept = images(lab)["kept"]
        end(lab, signal.SIGKILL)
        lab.down()
        lab.up()
        wait_for_images(lab, 3)
        assert images(lab)["kept"] >= kept - 1 + 3
        files = check_files(folder)
        succeeded(lab.run("triadctl", "profile", "report", "--json", *files))


@pytest.mark.row("N10")
def test_full_disk_costs_images_alone(scratch):
    folder = scratch.folder()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], check=True)
    scratch.callback(subprocess.run, ["umount", folder])
    with triad_lab(CONF.format(folder=folder)) as lab:
        wait_for_images(lab, 3)
        filler = folder / "filler"
        with filler.open("wb", buffering=0) as file, pytest.raises(OSError):
            while True:
                file.write(b"x" * 1024)
        wait_until(lambda: images(lab)["dropped"], 60, "an image that is lost")
        log_has(lab, "No space left on device")
        assert "No space" in images(lab)["error"]
        sweeps = status(lab)["perfmgr"]["sweeps"]
        wait_until(lambda: status(lab)["perfmgr"]["sweeps"] >= sweeps + 2, 30, "sweeps")
        filler.unlink()
        written = images(lab)["written"]
        wait_for_images(lab, written + 2)
        assert images(lab)["error"] is None
        ask(lab, "set", "history.dir", "")
        check_files(folder)
