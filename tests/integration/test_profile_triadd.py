# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Profile files as triadd writes them: beside an OpenSM with Triad, and beside a process that
is played, whose sections end in the middle."""

import contextlib
import os
import random
import re
import signal
import socket
import struct
import subprocess
import threading
import time

from checks import succeeded, wait_until
from labs import BUILDDIR, TRIADD, need, sanitizer, sanitizer_options
from test_profile import frame_sizes, report, zstdcat
from triadlab import triadd
from triadlib import QUICK, ask, health_findings, status, triad_lab, wait_for_sweep

PROGRAM = BUILDDIR / "triadd"
# A report is missed after this (service/served.h), and some more.
SILENT_S = 25
N_PORTS = 20  # of the lab, that are read
_HEADER = struct.Struct(">cBHI")


def sections(path):
    """Their comments' words, and how many rows each has."""
    found = []
    for part in zstdcat(path).split("# triad-profile ")[1:]:
        words, *lines = part.splitlines()
        rows = [line for line in lines if line[0].isdigit()]
        found.append((dict(word.split("=") for word in words.split()), rows))
    return found


def frames(lab):
    return status(lab)["profile"]["frames"]


# --- beside OpenSM -----------------------------------------------------------------

def test_opensm_has_neither_the_file_nor_its_thread(scratch):
    path = scratch.folder() / "profile.csv.zst"
    with triad_lab(f"{QUICK}[profile]\nfile = {path}\n") as lab:
        wait_until(lambda: frames(lab) > 2, 30, "sweeps written")
        pid = lab.status()["sms"][0]["pid"]
        names = []
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), \
                    open(f"/proc/{pid}/task/{thread}/comm", encoding="ascii") as comm:
                names.append(comm.read().strip())
        assert "triad-perf" in names and "triad-profile" not in names, names
        opened = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")
                  if os.path.islink(f"/proc/{pid}/fd/{fd}")}
        assert str(path) not in opened, opened
        assert status(lab)["profile"]["state"] == "written", status(lab)["profile"]
        first, *others = sections(path)
        assert len(first[1]) == N_PORTS and all(len(rows) <= N_PORTS for _, rows in others)


def test_triadd_killed_stopped_and_opensm_started_again(scratch):
    path = scratch.folder() / "profile.csv.zst"
    with triad_lab(f"{QUICK}[profile]\nfile = {path}\n") as lab:
        it = lab.state().triadds[0]
        wait_until(lambda: frames(lab) > 2, 30, "sweeps written")

        # Stopped: sweeps go on, and are counted as left out.
        os.kill(it.process.pid, signal.SIGSTOP)
        try:
            before = status(lab)["perfmgr"]["sweeps"]
            wait_until(lambda: status(lab)["perfmgr"]["sweeps"] > before + 3, 20, "sweeps")
            succeeded(lab.run("saquery", "-N", node="Hca2"))
            wait_until(lambda: health_findings(lab, "triadd heard"), SILENT_S, "a finding")
            assert status(lab)["profile"]["state"] == "not known", "status"
        finally:
            os.kill(it.process.pid, signal.SIGCONT)
        profile = wait_until(lambda: (found := status(lab)["profile"])["skipped"] and found,
                             20, "sweeps left out")
        assert profile["skipped"] >= 3 and not profile["dropped"], profile
        with open(it.log, encoding="utf-8") as log:
            assert re.search(r"lacks \d+ of the sweeps before sweep", log.read()), "said"

        # Killed and started again: the file goes on with all ports.
        os.kill(it.process.pid, signal.SIGKILL)
        n = len(sections(path))
        other = triadd.start(lab.state(), it, {})
        scratch.callback(other.wait, 20)
        scratch.callback(other.terminate)
        wait_until(lambda: len(sections(path)) > n + 1, 20, "it goes on")
        found = sections(path)
        assert len(found[n][1]) == N_PORTS, "all ports"
        times = [info["time"] for info, _ in found]
        assert len(times) == len(set(times)), "no sweep is there twice"

        # OpenSM is started again.
        lab.host("kill", 0)
        lab.host("start", 0)
        wait_until(lambda: len({info["started"] for info, _ in sections(path)}) == 2, 60,
                   "sections of the other process")
        wait_until(lambda: status(lab)["profile"]["state"] == "written", 20, "its report")
        result = report(path)
        assert result["restarts"] == 1, result
        ask(lab, "set", "profile.file", "")
        assert status(lab)["profile"]["state"] == "off", "status"


def test_file_that_its_user_may_not_write(scratch):
    need(TRIADD)
    folder = scratch.folder()
    folder.chmod(0o755)
    path = folder / "profile.csv.zst"
    with Played(scratch, path) as played, played.triadd(user=65534, group=65534) as log:
        wait_until(lambda: "can't be written" in log(), 20, "an error")
        assert re.search(r"triadd, as user 65534, may not write it: Permission denied; "
                         r"name a file in /var/lib/triadd, or see profile.file in", log()), log()
        wait_until(lambda: "profile.reason=triadd" in played.report, 20, "a report")
        assert not path.exists(), "a file"


# --- beside a process that is played ------------------------------------------------

class Played:
    """A process that reads counters, as triadd sees it (service/outside.h): one sweep after
    the other ends; 'cut' has a section stop in the middle until it is cleared."""

    def __init__(self, scratch, path, old=False):
        self.scratch = scratch
        self.path, self.old = path, old
        self.folder = scratch.folder()
        self.folder.chmod(0o755)
        self.socket = self.folder / "x.triadd"
        self.n_sweeps = 0
        self.cut = threading.Event()
        self.held = threading.Event()  # a section has stopped in the middle
        self.refuses = threading.Event()
        self.asked = []
        self.report = ""
        self.is_ending = False
        self._listener = socket.socket(socket.AF_UNIX)

    def __enter__(self):
        self._listener.bind(str(self.socket))
        self.socket.chmod(0o666)
        self._listener.listen(16)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.is_ending = True
        self._listener.close()

    @contextlib.contextmanager
    def triadd(self, **options):
        """Runs one; gives what reads its log."""
        path = self.folder / f"log-{time.monotonic_ns()}"
        with open(path, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen([PROGRAM, "--socket", self.socket],
                                            stderr=errors, **options)
        try:
            yield lambda: path.read_text(encoding="utf-8")
        finally:
            self.process.terminate()
            self.process.wait(20)

    def _accept(self):
        while not self.is_ending:
            with contextlib.suppress(OSError):
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as stream:
            _, _, _, size = _HEADER.unpack(stream.read(_HEADER.size))
            words = stream.read(size).decode().split("\0")[:-1]
            if words[0] == "report":
                words += self._uploaded(stream)
            verb = {"changes": self._changes, "profile": self._profile,
                    "report": self._report}[words[0]]
            verb(connection, words)
            is_refused = verb == self._profile and self.refuses.is_set()
            connection.sendall(_HEADER.pack(b"X", 1, 0, 1) + bytes([is_refused]))

    @staticmethod
    def _uploaded(stream):
        """Frames until an empty one."""
        while True:
            _, _, _, size = _HEADER.unpack(stream.read(_HEADER.size))
            if not size:
                return
            yield stream.read(size).decode()

    @staticmethod
    def _put(connection, text):
        data = text.encode()
        for at in range(0, len(data), 8192):
            piece = data[at:at + 8192]
            connection.sendall(_HEADER.pack(b"O", 1, 0, len(piece)) + piece)

    def _changes(self, connection, _):
        profile = "" if self.old else f"conf [profile]\nconf file = {self.path}\n"
        self._put(connection, f"start 7\nversion 0.1.0\nport 0x1\n{profile}configured 1\n")
        while not self.is_ending:
            self.n_sweeps += 1
            self._put(connection, f"numbers {self.n_sweeps} 0 0 0\n")
            time.sleep(0.1)

    def _profile(self, connection, words):
        self.asked.append(words)
        n = self.n_sweeps
        if self.refuses.is_set():
            connection.sendall(_HEADER.pack(b"E", 1, 0, 5) + b"busy\n")
            return
        if int(words[2]) == (1767323045 + n) * 10**6:
            return
        now = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1767323045 + n))
        self._put(connection, f"= profile {(1767323045 + n) * 10**6} 7.{n} {n}\n"
                  f"# triad-profile version=1 time={now}.000Z sm=0x{1:016x}\n"
                  "time,node_guid,port,remote_guid,remote_port,gbps,PortXmitData,PortRcvData\n")
        for i in range(100):
            self._put(connection, "".join(
                f"{now}.000Z,0x{j + 1:016x},1,,,,{random.getrandbits(50)},0\n"
                for j in range(i * 200, i * 200 + 200)))
            if i == 80 and self.cut.is_set():
                self.held.set()
                while self.cut.is_set() and not self.is_ending:
                    time.sleep(0.02)

    def _report(self, _, words):
        self.report = words[1]


def test_killed_in_the_middle_of_a_section(scratch):
    need(TRIADD)
    path = scratch.folder() / "profile.csv.zst"
    with Played(scratch, path) as played:
        with played.triadd():
            wait_until(lambda: path.exists() and len(frame_sizes(path)) > 2, 20, "sections")
            played.cut.set()
            assert played.held.wait(20), "a section that stops"
            whole = sum(frame_sizes(path))
            wait_until(lambda: path.stat().st_size > whole, 20, "a part of it in the file")
            played.process.kill()
            played.process.wait(20)
        n = len(frame_sizes(path))
        assert path.stat().st_size > sum(frame_sizes(path)), "a torn frame"
        n_asked = len(played.asked)
        played.cut.clear()
        with played.triadd() as log:
            wait_until(lambda: len(frame_sizes(path)) > n + 1, 20, "it goes on")
            assert "were cut off" in log(), log()
        found = sections(path)
        assert {len(rows) for _, rows in found} == {20000}, "whole sections"
        # All ports are asked for, and no sweep that the file has.
        _, key, after = played.asked[n_asked]
        assert key == "0" and int(after) > 0, played.asked[n_asked]
        times = [info["time"] for info, _ in found]
        assert times == sorted(set(times)), times


def test_section_that_is_refused_is_said(scratch):
    """As while another program is given one, and reads slowly."""
    need(TRIADD)
    path = scratch.folder() / "profile.csv.zst"
    with Played(scratch, path) as played, played.triadd() as log:
        wait_until(lambda: path.exists() and len(frame_sizes(path)) > 1, 20, "sections")
        played.refuses.set()
        wait_until(lambda: re.search("^profile.reason=.*busy", played.report, re.M), 20,
                   "a report")
        assert "busy" in log(), log()
        played.refuses.clear()
        wait_until(lambda: "profile.reason" not in played.report, 20, "its end")
        assert re.search("^profile.skipped=", played.report, re.M), played.report


def test_section_whose_sender_dies_is_dropped(scratch):
    need(TRIADD)
    path = scratch.folder() / "profile.csv.zst"
    with Played(scratch, path) as played, played.triadd():
        wait_until(lambda: path.exists() and len(frame_sizes(path)) > 1, 20, "sections")
        assert played.asked[-1][1] != "0", "what is stored is known"
        played.cut.set()
        assert played.held.wait(20), "a section that stops"
        n = len(frame_sizes(path))
        n_asked = len(played.asked)
        # It ends although a section is under way, and the file is whole.
        begun = time.monotonic()
        played.process.terminate()
        assert played.process.wait(10) == 0, "its end"
        assert time.monotonic() - begun < 5, "soon"
        assert sum(frame_sizes(path)) == path.stat().st_size, "whole frames"
        assert len(frame_sizes(path)) == n and len(played.asked) == n_asked, "no more"


def test_disk_that_hangs_is_said_and_ends_with_triadd(scratch):
    need(TRIADD)
    path, flag = scratch.folder() / "profile.csv.zst", scratch.folder() / "hung"
    libraries = [BUILDDIR / "tests/lab/.libs/libhungdisk.so", *sanitizer()]
    variables = os.environ | sanitizer_options(flag.parent) | {
        "LD_PRELOAD": ":".join(map(str, libraries)), "TRIAD_HUNG_DISK": str(flag),
        "TRIAD_HUNG_WRITES": "1"}
    with Played(scratch, path) as played:
        with played.triadd(env=variables):
            wait_until(lambda: path.exists() and len(frame_sizes(path)) > 1, 20, "sections")
            flag.write_text("profile.csv")
            wait_until(lambda: "profile.reason=the disk of its file does not answer"
                       in played.report, 30, "a report")
            # Nothing else waits for it, and neither does the end.
            begun = time.monotonic()
            played.process.terminate()
            assert played.process.wait(10) == 0, "its end"
            assert time.monotonic() - begun < 5, "soon"
        flag.unlink()
        n = len(frame_sizes(path))
        with played.triadd():
            wait_until(lambda: len(frame_sizes(path)) > n + 1, 20, "it goes on")


def test_process_that_writes_by_itself_is_left_to_it(scratch):
    """As a plugin of an earlier release: it does not tell [profile]."""
    need(TRIADD)
    path = scratch.folder() / "profile.csv.zst"
    with Played(scratch, path, old=True) as played, played.triadd():
        wait_until(lambda: "configured=1" in played.report, 20, "a report")
        n = played.n_sweeps
        wait_until(lambda: played.n_sweeps > n + 10, 20, "sweeps")
        assert not path.exists() and not played.asked, played.asked
        assert "profile" not in played.report, played.report
