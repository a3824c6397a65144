# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Files about a site's fabric: a bundle that 'triadctl bundle' wrote, unpacked or not, or a
folder with what ibdiagnet wrote.

Model: a bundle is a dictionary of octets by path, such as "fabric/ibdiagnet2.db_csv", and
forwarding tables, which are parsed as they are read.  A bundle comes from somebody else, so
nothing of it is written to disk under a name that it chose: what is wanted is read into
memory, and the rest only counted.  Links, devices, paths
that lead out of the bundle, one path twice, and more octets than the limits are no bundle."""

from __future__ import annotations  # 'int | None' before Python 3.10

import contextlib
import io
import json
import os
import shutil
import stat
import subprocess
import tarfile
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from . import forwarding
from .errors import LabError

TOP = "triad-bundle"
DB_CSV, FDBS, MCFDBS = (f"fabric/ibdiagnet2.{kind}" for kind in ("db_csv", "fdbs", "mcfdbs"))

MAX_MEMBERS = 100_000
MAX_OCTETS = 64 << 30
# Of one file that is read into memory, and of all of these.
MAX_FILE_OCTETS = 1 << 30
MAX_WANTED_OCTETS = 2 << 30
# Of what tar says about a member beside its header, and behind the last one.
_MAX_EXTRA_OCTETS = 1 << 20
# Of what tar says about all members.
_MAX_EXTRA_SUM_OCTETS = 16 << 20
_MAX_WINDOW = "128MB"

_TABLES = {FDBS: forwarding.read_unicast, MCFDBS: forwarding.read_multicast}
_WANTED_FOLDERS = ("fabric", "conf")
_WANTED_FILES = ("MANIFEST.json", "answers/status.json")


@dataclass
class Bundle:
    """'name' is where it is from, for people; of 'tables', those of the paths FDBS and
    MCFDBS."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    tables: dict[str, dict] = field(default_factory=dict)

    def text(self, path):
        """A file's text; "" where there is none."""
        return self.files.get(path, b"").decode("utf-8", "replace")

    def lines(self, path):
        return io.TextIOWrapper(io.BytesIO(self.files[path]), "utf-8", "replace")

    def conf(self, name):
        """A configuration file, or None."""
        return self.text(f"conf/{name}") if f"conf/{name}" in self.files else None

    def answer(self, name):
        """What triadctl answered with --json, or None."""
        return self._object(f"answers/{name}.json")

    def _object(self, path):
        try:
            found = json.loads(self.files[path])
        except (KeyError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


def read(path):
    """The bundle in a file or folder; LabError where it is none."""
    path = Path(path)
    try:
        if path.is_dir():
            found = _read_folder(path)
        else:
            found = _read_archive(path)
    except OSError as error:
        raise LabError(f"{path}: {error.strerror or error}") from error
    if DB_CSV not in found.files:
        raise LabError(f"{path}: there is no {DB_CSV.split('/')[1]} in it; it must be a bundle "
                       "that triadctl bundle wrote, or a folder with ibdiagnet2's files")
    return found


def is_wanted(path):
    return path in _WANTED_FILES or path.split("/")[0] in _WANTED_FOLDERS


# --- folders -----------------------------------------------------------------

def _read_folder(path):
    """An unpacked bundle, or what ibdiagnet leaves in its folder."""
    top = path / TOP if (path / TOP).is_dir() else path
    bundle, budget = Bundle(str(path)), _Budget(path)
    if not (top / DB_CSV).exists():
        for name in (DB_CSV, FDBS, MCFDBS):
            beside = top / name.split("/")[1]
            if beside.exists():
                _add_file(bundle, budget, name, beside)
        return bundle
    for folder in _WANTED_FOLDERS:
        for found in sorted((top / folder).iterdir() if (top / folder).is_dir() else ()):
            if stat.S_ISREG(found.lstat().st_mode):
                _add_file(bundle, budget, f"{folder}/{found.name}", found)
    for name in _WANTED_FILES:
        if (top / name).exists():
            _add_file(bundle, budget, name, top / name)
    return bundle


def _add_file(bundle, budget, name, path):
    with open(path, "rb") as stream:
        _add(bundle, budget, name, os.fstat(stream.fileno()).st_size, stream)


def _add(bundle, budget, name, size, stream):
    if name in _TABLES:
        bundle.tables[name] = _TABLES[name](stream)
        return
    budget.take(name, size)
    # A file may grow meanwhile.
    bundle.files[name] = stream.read(size)


class _Budget:
    """What may still be read into memory."""

    def __init__(self, path):
        self._path = path
        self._left = MAX_WANTED_OCTETS

    def take(self, name, size):
        self._left -= size
        if size > MAX_FILE_OCTETS or self._left < 0:
            raise LabError(f"{self._path}: {name} is larger than a lab reads "
                           f"({MAX_FILE_OCTETS >> 30} GiB a file, {MAX_WANTED_OCTETS >> 30} "
                           "GiB in all)")


# --- archives ----------------------------------------------------------------

class _Bounded(io.RawIOBase):
    """A stream that ends in an error when it is too long."""

    def __init__(self, stream, path):
        super().__init__()
        self._stream, self._path, self._left = stream, path, MAX_OCTETS

    def readable(self):
        return True

    def readinto(self, room):
        octets = self._stream.read(len(room))
        self._left -= len(octets)
        if self._left < 0:
            raise LabError(f"{self._path}: it is larger than {MAX_OCTETS >> 30} GiB unpacked: "
                           "not a bundle")
        room[:len(octets)] = octets
        return len(octets)


@contextlib.contextmanager
def _unpacked(path):
    """The archive's octets, decompressed by zstd, which is a package everywhere."""
    with open(path, "rb") as packed:
        if packed.read(4) != b"\x28\xb5\x2f\xfd":
            packed.seek(0)
            yield packed
            return
        # The program has the descriptor, not what was read of it ahead.
        os.lseek(packed.fileno(), 0, os.SEEK_SET)
        program = shutil.which("zstd")
        if not program:
            raise LabError(f"{path}: zstd is needed to read it: install the package zstd")
        with subprocess.Popen([program, "-dcq", f"--memory={_MAX_WINDOW}"], stdin=packed,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
            try:
                yield process.stdout
                # What tar pads its file with; only then zstd has judged it all.
                if len(process.stdout.read(_MAX_EXTRA_OCTETS)) == _MAX_EXTRA_OCTETS \
                        or process.wait():
                    raise LabError(f"{path}: zstd can't unpack it: it is cut or damaged")
            finally:
                process.kill()


class _Archive(tarfile.TarFile):
    """With what was read of headers so far."""

    extra_octets = 0


class _Member(tarfile.TarInfo):
    """tarfile reads long names and extended headers into memory, however long."""

    def _proc_member(self, archive):
        if self.type not in tarfile.REGULAR_TYPES:
            archive.extra_octets += self.size
            if self.size > _MAX_EXTRA_OCTETS or archive.extra_octets > _MAX_EXTRA_SUM_OCTETS:
                raise tarfile.ReadError(f"headers of {archive.extra_octets} octets")
        return super()._proc_member(archive)


def _read_archive(path):
    bundle, budget, seen = Bundle(str(path)), _Budget(path), set()
    with _unpacked(path) as octets:
        try:
            with _Archive.open(fileobj=io.BufferedReader(_Bounded(octets, path)),
                              mode="r|", tarinfo=_Member) as archive:
                while (member := archive.next()):
                    # It keeps them all, and what their headers say.
                    archive.members.clear()
                    name = _name_of(path, member)
                    if name in seen or len(seen) >= MAX_MEMBERS:
                        raise LabError(f"{path}: {member.name[:100]!r} is in it twice, or it has "
                                       f"more than {MAX_MEMBERS} files: not a bundle")
                    seen.add(name)
                    if member.isreg() and is_wanted(name):
                        _add(bundle, budget, name, member.size, archive.extractfile(member))
        except (tarfile.TarError, EOFError, ValueError, RecursionError) as error:
            raise LabError(f"{path}: it can't be read as a bundle: {error}") from error
    return bundle


def _name_of(path, member):
    """The member's path in the bundle."""
    parts = PurePosixPath(member.name).parts
    if not (member.isreg() or member.isdir()) or not parts or parts[0] != TOP \
            or ".." in parts or "\0" in member.name or os.path.isabs(member.name):
        raise LabError(f"{path}: {member.name[:100]!r} is no file below {TOP}/: not a bundle")
    return "/".join(parts[1:])
