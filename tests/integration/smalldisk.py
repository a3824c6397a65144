# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A disk of some KiB in a folder's place, to be filled and to have room again."""

import contextlib
import os
import subprocess

import pytest


class SmallDisk:
    """Mounted at the folder, which loses its files from sight, until unmount()."""

    def __init__(self, folder, kib):
        self.folder = folder
        self._filler = folder / "filler"
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=0700,size={kib}k", "tmpfs",
                               folder], capture_output=True, text=True, check=False)
        if made.returncode and os.geteuid():
            pytest.skip(f"no small disk can be mounted: {made.stderr}")
        assert not made.returncode, made.stderr

    def fill(self, octets=None):
        """With so many octets, or to the last one."""
        if octets is not None:
            self._filler.write_bytes(bytes(octets))
            return
        with contextlib.suppress(OSError), self._filler.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(512))

    def make_room(self):
        self._filler.unlink()

    def unmount(self):
        subprocess.run(["umount", "-l", self.folder], check=True)


def small_disk(scratch, kib):
    """One of the scratch, at a new folder."""
    disk = SmallDisk(scratch.folder(), kib)
    scratch.callback(disk.unmount)
    return disk
