# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Profile files: what is written whatever happens, and the tools that read it.

The writer is driven by profile_driver, on a fabric of 112 ports unless it says
otherwise; what it wrote is read with zstdcat and added up here."""

import collections
import errno
import json
import os
import pty
import random
import re
import resource
import signal
import struct
import subprocess
import time
import xml.etree.ElementTree
from datetime import datetime

import pytest

from checks import failed, mentions, succeeded, wait_until
from labs import BUILDDIR, SRCDIR
from smalldisk import small_disk


DRIVER = BUILDDIR / "tests" / "integration" / "profile_driver"
TRIADCTL = BUILDDIR / "triadctl"
N_PORTS = 112
START_MS = 1767323045678
COLUMNS = "time,node_guid,port,remote_guid,remote_port,gbps,PortXmitData,PortRcvData"
NOBODY = 65534


# --- what the tests stand on ---------------------------------------------------

class Driver:
    """A PerfManager that is played; see profile_driver.c."""

    def __init__(self, scratch, *arguments, **options):
        self._errors = scratch.folder() / "messages"
        # A sanitizer's reports are among the messages; leaks at kill -9 are none.
        self._process = subprocess.Popen(
            [DRIVER, *map(str, arguments)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors.open("w"), text=True,
            **options)
        scratch.callback(self.kill)

    def tell(self, *words):
        self._process.stdin.write(" ".join(map(str, words)) + "\n")
        self._process.stdin.flush()

    def ask(self, *words):
        self.tell(*words)
        answer = self._process.stdout.readline()
        assert answer, f"the driver died: {self.log()}"
        return answer.strip()

    def configure(self, path, counters="data", max_size=10**9, max_age_s=86400, keep=5,
                  min_change=0):
        self.ask("conf", path, counters, max_size, max_age_s, keep, min_change)

    def sweep(self, n=1, step_ms=10000):
        """Returns the last one's errno."""
        return int(self.ask("sweep", n, step_ms))

    def status(self):
        return json.loads(self.ask("status"))

    def log(self):
        return self._errors.read_text(encoding="utf-8")

    def end(self):
        self._process.stdin.close()
        assert self._process.wait() == 0, self.log()

    def kill(self):
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
        self._process.wait()


def run(*arguments, **options):
    return subprocess.run(
        [TRIADCTL, *map(str, arguments)], check=False, timeout=120,
        **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True,
           **options})


def merge(*arguments, **options):
    return run("profile", "merge", *arguments, **options)


def report(*arguments):
    process = run("profile", "report", "--json", "-n", 65535, *arguments)
    assert process.returncode == 0, process.stderr
    return json.loads(process.stdout)


def zstdcat(path):
    """Its text; fails when a frame is not whole."""
    return subprocess.run(["zstdcat", path], stdout=subprocess.PIPE, check=True,
                          text=True).stdout


Row = collections.namedtuple(
    "Row", "time guid port remote_guid remote_port gbps xmit rcv")


def time_of(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Frame:
    def __init__(self, text):
        lines = text.splitlines()
        assert lines[0].startswith("triad-profile version=1 "), lines[0]
        self.text = text
        self.info = dict(word.split("=") for word in lines[0].split()[1:])
        self.header = lines[1]
        self.rows = [Row(*line.split(",")[:8]) for line in lines[2:]]
        self.time = time_of(self.info["time"])
        assert all(row.time == self.info["time"] for row in self.rows)


def frames_of(text):
    return [Frame(part) for part in text.split("# ")[1:]]


def read(path):
    return frames_of(zstdcat(path))


def frame_sizes(path):
    """Octets of its whole frames, by a walk of its own over blocks."""
    data, at, sizes = path.read_bytes(), 0, []
    while at < len(data):
        begin = at
        if len(data) < at + 6:
            break
        magic, flags = struct.unpack_from("<IB", data, at)
        assert magic == 0xFD2FB528, hex(magic)
        single = flags >> 5 & 1
        at += 6 - single + ([0, 2, 4, 8][flags >> 6] or single)
        last = False
        while not last and at + 3 <= len(data):
            header = int.from_bytes(data[at:at + 3], "little")
            last = header & 1
            at += 3 + (1 if header >> 1 & 3 == 1 else header >> 3)
        at += 4
        if not last or at > len(data):
            break
        sizes.append(at - begin)
    return sizes


def put_aside(folder):
    return sorted(folder.glob("profile-*.csv.zst"))


# --- what is written -----------------------------------------------------------

@pytest.mark.threads
@pytest.mark.plain
@pytest.mark.row("M3", "A11")
def test_sweep_written_as_documented(scratch):
    path = scratch.folder() / "profile.csv.zst"
    driver = Driver(scratch, "--sm", "0x2c90300001234")
    driver.configure(path)
    assert driver.sweep(3) == 0, "errno"
    frames = read(path)
    assert len(frames) == 3, "frames"
    assert oct(path.stat().st_mode) == "0o100640", "mode"
    assert frames[0].header == COLUMNS, "header"
    assert frames[0].time == (START_MS + 10000) / 1000, "time"
    assert frames[0].info["sm"] == "0x0002c90300001234", "sm"
    assert frames[0].info["sweep"] == "all", "sweep"
    assert len(frames[0].rows) == N_PORTS, "ports of the first frame"
    # Half of the ports send at a time: a pair of ports that were quiet is left out.
    assert 0 < len(frames[1].rows) < N_PORTS, len(frames[1].rows)
    leaf = [row for row in frames[0].rows if row.guid == "0x0000000000000200"]
    assert [row.port for row in leaf] == [str(i) for i in range(1, 15)], "ports"
    assert leaf[0].remote_guid == "0x0000000000010001", "far end"
    assert leaf[0].gbps == "32", "gbps"
    status = driver.status()
    assert status["rows"] == sum(len(frame.rows) for frame in frames), "rows"
    assert status["octets"] == path.stat().st_size, "octets"


@pytest.mark.row("A11")
def test_sweep_of_all_counters_has_their_columns(scratch):
    path = scratch.folder() / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path, counters="all")
    driver.sweep(2)
    frame = read(path)[0]
    assert COLUMNS + ",SymbolErrorCounter," in frame.header, "header"
    assert frame.header.count(",") == 27, "commas"
    assert ",0,0,0\n" in frame.text, "rows"


def test_port_that_did_not_answer_left_out(scratch):
    path = scratch.folder() / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path)
    driver.ask("busy", 100)
    driver.ask("silent")
    driver.sweep()
    driver.sweep()
    driver.ask("silent")
    driver.sweep()
    driver.ask("part")
    driver.sweep()
    driver.sweep()
    frames = read(path)
    assert [len(frame.rows) for frame in frames] == [56, 112, 56, 38, 112], "rows"
    assert [frame.info["sweep"] for frame in frames] == ["all"] * 3 + ["part", "all"], \
        "sweeps"


@pytest.mark.row("A9")
def test_min_change_loses_no_traffic(scratch):
    folder, sums, rows = scratch.folder(), [], []
    for min_change in (0, 20 * 10**9):
        path = folder / f"profile-{min_change}.csv.zst"
        driver = Driver(scratch, "--seed", 5)
        driver.configure(path, min_change=min_change)
        driver.sweep(50)
        # All that was held back comes when the threshold goes.
        driver.configure(path, min_change=0)
        driver.ask("busy", 0)
        driver.sweep()
        last, total = {}, collections.Counter()
        for frame in read(path):
            for row in frame.rows:
                key, now = (row.guid, row.port), (int(row.xmit), int(row.rcv))
                before = last.get(key, (0, 0))
                change = sum(now) - sum(before)
                if frame.info["min_change"] != "0" and key in last:
                    assert change * 4 > min_change, (row, change)
                total[key] += change
                last[key] = now
        sums.append(total)
        rows.append(driver.status()["rows"])
    assert sums[0] == sums[1], "sum of changes of each port"
    assert rows[1] < rows[0] / 2, rows


def test_file_goes_on_after_restart(scratch):
    path = scratch.folder() / "profile.csv.zst"
    for _ in range(3):
        driver = Driver(scratch)
        driver.configure(path)
        assert driver.sweep(2) == 0, "errno"
        driver.end()
    frames = read(path)
    assert len(frames) == 6, "frames"
    assert [len(frame.rows) for frame in frames[::2]] == [N_PORTS] * 3, "first frames"
    assert put_aside(path.parent) == [], "files put aside"


def test_sweep_that_the_file_has_not_written_twice(scratch):
    """triadd was started again since, and the sweep is still the last one."""
    path = scratch.folder() / "profile.csv.zst"
    for offset_ms in (0, 10000):
        driver = Driver(scratch)
        driver.ask("time", START_MS + offset_ms)
        driver.configure(path)
        driver.sweep(2)
        driver.end()
    frames = read(path)
    assert len(frames) == len({frame.time for frame in frames}) == 3, frames
    assert len(frames[-1].rows) == N_PORTS, "all ports once more"


def test_section_cut_is_left_out_and_the_next_has_all(scratch):
    path = scratch.folder() / "profile.csv.zst"
    driver = Driver(scratch, "--leaves", 60, "--hosts", 200)
    driver.configure(path)
    driver.sweep(2)
    size = path.stat().st_size
    for n_lines in (0, 1, 20000):
        driver.ask("cut", n_lines)
        assert driver.sweep() == errno.ECONNABORTED, "errno"
        assert path.stat().st_size == size, "octets"
    assert driver.status()["dropped"] == 3, driver.status()
    assert "in part" in driver.status()["reason"], driver.status()
    assert driver.log().count("can't be written") == 1, driver.log()
    assert driver.sweep() == 0, "errno"
    frames = read(path)
    assert [len(frame.rows) for frame in frames[::2]] == [24480] * 2, "rows"
    assert "3 sweeps were left out" in driver.log(), driver.log()
    assert driver.status()["skipped"] == 0, "they were dropped"
    result = report(path)
    assert result["totals_gone_down"] == 0 and result["restarts"] == 0, result


def test_sweeps_not_asked_for_are_counted(scratch):
    path = scratch.folder() / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path)
    driver.ask("miss", 5)
    driver.sweep(2)
    assert driver.status()["skipped"] == 0, "before the first one nothing is known"
    driver.ask("miss", 3)
    driver.sweep()
    driver.ask("miss", 1)
    driver.sweep()
    assert driver.status()["skipped"] == 4, driver.status()
    assert driver.log().count("lacks 3 of the sweeps before sweep 11") == 1, driver.log()
    assert "lacks 1" not in driver.log(), "said once"
    # Another process's sweeps have other numbers.
    driver.ask("restart")
    driver.ask("miss", 20)
    driver.sweep()
    assert driver.status()["skipped"] == 4, driver.status()
    frames = read(path)
    assert len({frame.info["started"] for frame in frames}) == 2, "processes"
    assert len(frames[-1].rows) == N_PORTS, "all ports once more"
    assert put_aside(path.parent) == [], "the file goes on"


def test_file_moved_away_begun_anew(scratch):
    path = scratch.folder() / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path)
    driver.sweep(2)
    path.rename(path.with_name("mine"))
    driver.sweep(2)
    path.unlink()
    driver.sweep(1)
    assert len(read(path.with_name("mine"))) == 2, "frames of the one moved"
    assert [len(frame.rows) for frame in read(path)] == [N_PORTS], "rows of the new one"


def test_no_file_configured_nothing_written(scratch):
    folder = scratch.folder()
    driver = Driver(scratch)
    driver.configure(folder / "profile.csv.zst")
    driver.sweep()
    driver.configure("-")
    driver.sweep()
    assert len(read(folder / "profile.csv.zst")) == 1, "frames"
    assert driver.status()["file_octets"] == 0, "octets of the open file"


# --- what goes wrong -----------------------------------------------------------

def test_writer_killed_leaves_whole_frames(scratch):
    path = scratch.folder() / "profile.csv.zst"
    seed = int(time.time())
    print(f"seed {seed}")
    dice, n_kills, n_torn = random.Random(seed), 0, 0
    while n_kills < 10 or (not n_torn and n_kills < 200):
        n_kills += 1
        # 24,960 ports: a frame is some writes.
        driver = Driver(scratch, "--leaves", 60, "--hosts", 200)
        driver.configure(path)
        before = sum(frame_sizes(path)) if path.exists() else 0
        driver.tell("sweep", 100000, 1000)
        wait_until(lambda b=before: path.exists() and path.stat().st_size > b,
                   60, "a first write")
        time.sleep(dice.uniform(0, 0.05))
        driver.kill()
        whole = sum(frame_sizes(path))
        torn = path.stat().st_size - whole
        n_torn += torn > 0
        process = merge(path, "-o", path.with_name("merged.zst"))
        assert process.returncode == (1 if torn else 0), process.stderr
        assert path.with_name("merged.zst").stat().st_size == whole, "octets merged"
        if torn:
            assert mentions(process.stderr, f"offset {whole} ends"), "error"
        if path.stat().st_size > 20 * 10**6:
            path.unlink()
            whole = torn = 0
    assert n_torn, "no kill met the writer within a frame"
    print(f"{n_torn} of {n_kills} within a frame")
    before = path.read_bytes()[:whole] if path.exists() else b""
    driver = Driver(scratch)
    driver.configure(path)
    assert driver.sweep() == 0, "errno"
    assert path.read_bytes()[:len(before)] == before, "what was there"
    assert len(frames_of(zstdcat(path))[-1].rows) == N_PORTS, "rows of the last frame"
    assert ("were cut off" in driver.log()) == bool(torn), driver.log()


def test_first_frame_torn_begun_anew(scratch):
    path = scratch.folder() / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path)
    driver.sweep()
    driver.end()
    whole = path.read_bytes()
    for size in (1, 3, 4, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        driver = Driver(scratch)
        driver.configure(path)
        assert driver.sweep() == 0, f"errno after {size} octets"
        driver.end()
        assert len(read(path)) == 1, f"frames after {size} octets"


def test_damaged_file_put_aside(scratch):
    path = scratch.folder() / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path)
    driver.sweep(3)
    driver.end()
    data = path.read_bytes()
    at = frame_sizes(path)[0]
    path.write_bytes(data[:at] + b"nonsense" + data[at + 8:])
    driver = Driver(scratch)
    driver.configure(path)
    assert driver.sweep() == 0, "errno"
    assert len(read(path)) == 1, "frames of the new file"
    old = put_aside(path.parent)
    assert len(old) == 1, "files put aside"
    assert old[0].stat().st_size == len(data), "octets put aside"
    assert "damaged place" in driver.log(), "log"


def test_disk_full_monitoring_goes_on(scratch):
    disk = small_disk(scratch, 256)
    path = disk.folder / "profile.csv.zst"
    disk.fill(150000)
    driver = Driver(scratch, "--leaves", 20, "--hosts", 30)
    driver.configure(path)
    for _ in range(200):
        if driver.sweep():
            break
    status = driver.status()
    assert status["error"] == errno.ENOSPC, "errno"
    whole = read(path)
    assert len(whole) == status["frames"], "whole frames"
    assert sum(frame_sizes(path)) == path.stat().st_size, "octets of whole frames"
    driver.sweep(10)
    assert driver.status()["dropped"] == status["dropped"] + 10, "dropped frames"
    assert driver.log().count("can't be written: No space left") == 1, "lines of log"
    disk.make_room()
    assert driver.sweep() == 0, "errno with room"
    assert mentions(driver.log(), "written again 11 sweeps"), "log"
    frames = read(path)
    assert len(frames) == len(whole) + 1, "frames"
    assert len(frames[-1].rows) == len(frames[0].rows), "rows after the gap"


def test_what_is_no_file_refused(scratch):
    folder = scratch.folder()
    path = folder / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path)
    (folder / "target").write_text("mine", encoding="utf-8")
    kinds = [(lambda: os.mkfifo(path), "regular file", path.unlink),
             (path.mkdir, "folder", path.rmdir),
             (lambda: path.symlink_to("target"), "symbolic link", path.unlink),
             (lambda: path.symlink_to("nowhere"), "symbolic link", path.unlink)]
    for make, reason, undo in kinds:
        make()
        assert driver.sweep() == errno.EMEDIUMTYPE, f"errno ({reason})"
        assert mentions(driver.status()["reason"], reason), "reason"
        undo()
        assert driver.sweep() == 0, "errno after that"
        path.unlink()
    assert (folder / "target").read_bytes() == b"mine", "the link's target"
    assert (folder / "nowhere").exists() is False, "the other link's target"


def test_what_is_no_profile_left_alone(scratch):
    path = scratch.folder() / "profile.csv.zst"
    small, large, larger = [
        subprocess.run(["zstd", "-c"], input=content, check=True,
                       stdout=subprocess.PIPE).stdout
        for content in (b"a backup\n", os.urandom(140000), os.urandom(300000))]
    driver = Driver(scratch)
    driver.configure(path)
    for content in (b"[important]\nkey = value\n", b"x", small, large, large[:-3],
                    larger[:-3]):
        path.write_bytes(content)
        assert driver.sweep() == errno.EMEDIUMTYPE, "errno"
        assert "no profile" in driver.status()["reason"], "reason"
        assert path.read_bytes() == content, "content"


def test_unwritable_folder_tried_again(scratch):
    if os.geteuid():
        pytest.skip("to be another user needs root")
    folder = scratch.folder()
    path = folder / "profile.csv.zst"
    try:
        driver = Driver(scratch, user=NOBODY, group=NOBODY)
    except PermissionError:
        pytest.skip("the build tree is closed to others")
    driver.configure(path)
    assert driver.sweep(2) == errno.EACCES, "errno"
    assert driver.log().count("Permission denied") == 1, "lines in the log"
    folder.chmod(0o777)
    assert driver.sweep() == 0, "errno with permission"
    driver.configure(folder / "missing" / "profile.csv.zst")
    assert driver.sweep() == errno.ENOENT, "errno without a folder"


def test_second_writer_waits_for_first(scratch):
    path = scratch.folder() / "profile.csv.zst"
    first, second = Driver(scratch, "--sm", 1), Driver(scratch, "--sm", 2)
    for driver in (first, second):
        driver.configure(path)
    assert first.sweep() == 0, "errno of the first"
    assert second.sweep(3) == errno.EBUSY, "errno of the second"
    assert second.log().count("another process writes it") == 1, "lines in the log"
    first.end()
    assert second.sweep() == 0, "errno once the first has gone"
    assert [frame.info["sm"][-1] for frame in read(path)] == ["1", "2"], "writers"


# --- files put aside -----------------------------------------------------------

def test_size_reached_next_file_begun(scratch):
    folder = scratch.folder()
    strangers = ["profile-x.csv.zst", "profile-20260102T030405Z.csv",
                 "profile-20261302T030405Z.csv.zst", "other-20260102T030405Z.csv.zst",
                 "profile-20260102T030405Z-1.csv.zst"]
    for name in strangers:
        (folder / name).write_text(name, encoding="utf-8")
    driver = Driver(scratch)
    driver.configure(folder / "profile.csv.zst", max_size=20000, keep=3)
    # Of one second: names must differ all the same.
    assert driver.sweep(200, 10) == 0, "errno"
    for name in strangers:
        assert (folder / name).read_text(encoding="utf-8") == name, "a stranger's file"
        (folder / name).unlink()
    old = put_aside(folder)
    assert len(old) == 3, "files put aside"
    # 2.0 s of sweeps; names are at most a second further for each file.
    assert {path.name[:20] for path in old} == {"profile-20260102T030"}, "names"
    times = []
    for path in [*old, folder / "profile.csv.zst"]:
        frames = read(path)
        assert path.stat().st_size < 25000, path.stat().st_size
        assert len(frames[0].rows) == N_PORTS, "rows of a first frame"
        times += [frame.time for frame in frames]
    assert times == sorted(times), "times over all files"
    assert round(times[-1] - times[0], 3) == round(0.01 * (len(times) - 1), 3), \
        "time without a gap"
    assert driver.status()["files"] > 4, driver.status()


def test_age_reached_next_file_begun(scratch):
    folder = scratch.folder()
    driver = Driver(scratch)
    driver.configure(folder / "profile.csv.zst", max_age_s=60, keep=100)
    driver.sweep(6)
    driver.end()
    # The age goes on over a restart, by the first frame's time.
    driver = Driver(scratch)
    driver.ask("time", START_MS + 60000 - 5000)
    driver.configure(folder / "profile.csv.zst", max_age_s=60, keep=100)
    driver.sweep(19)
    sizes = [len(read(path)) for path in put_aside(folder)]
    assert sizes == [7, 6, 6], "frames of files put aside"
    assert put_aside(folder)[0].name == "profile-20260102T030520Z.csv.zst", "name"


def test_name_without_suffix_put_aside(scratch):
    folder = scratch.folder()
    time_text = r"-\d{8}T\d{6}Z"
    for name, pattern in (("plain", f"plain{time_text}"), ("a.b", rf"a{time_text}\.b")):
        driver = Driver(scratch)
        driver.configure(folder / name, max_age_s=1)
        driver.sweep(2)
        found = [old for old in folder.iterdir() if re.fullmatch(pattern, old.name)]
        assert len(found) == 1, f"files put aside beside {name}"


def test_clock_back_an_hour_keeps_order(scratch):
    folder = scratch.folder()
    path = folder / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path, max_size=15000, keep=100)
    driver.sweep(20)
    driver.ask("time", START_MS - 3600 * 1000)
    assert driver.sweep(20) == 0, "errno"
    files = [*put_aside(folder), path]
    expected = "".join(zstdcat(file) for file in files)
    assert len(files) > 3, files
    out = folder / "merged.zst"
    # In one file the order stays; of two the one that begins earlier is first.
    one = folder / "one.zst"
    one.write_bytes(b"".join(file.read_bytes() for file in files))
    succeeded(merge(one, "-o", out))
    assert zstdcat(out) == expected, "merged text"
    result = report(one)
    assert result["traffic"]["octets"] > 0 and min(result["traffic"]["gbps"]) >= 0
    check_links(result, frames_of(expected))


# --- merge ---------------------------------------------------------------------

def write_some(scratch, folder, n_collectors, dice):
    """Files of collectors with their own periods, some put aside."""
    for i in range(n_collectors):
        driver = Driver(scratch, "--sm", 100 + i, "--seed", dice.randrange(1000),
                        "--leaves", 2)
        driver.ask("time", START_MS + dice.randrange(100000))
        driver.configure(folder / f"c{i}.csv.zst", max_size=dice.choice([4000, 10**6]),
                         keep=100, counters=dice.choice(["data", "all"]))
        for _ in range(dice.randrange(1, 4)):
            driver.sweep(dice.randrange(1, 15), dice.randrange(1000, 20000))
        driver.end()


@pytest.mark.row("M3")
def test_merge_is_a_sort_of_all_frames(scratch):
    seed = int(time.time())
    print(f"seed {seed}")
    dice = random.Random(seed)
    for _ in range(5):
        folder = scratch.folder()
        write_some(scratch, folder, dice.randrange(1, 6), dice)
        files = list(folder.iterdir())
        dice.shuffle(files)
        frames = [frame for file in files for frame in read(file)]
        frames.sort(key=lambda frame: frame.time)
        out = folder / "merged.zst"
        succeeded(merge(*files, "-o", out))
        assert [frame.text for frame in read(out)] == \
            [frame.text for frame in frames], "frames"
        # And of what was merged in part.
        half = len(files) // 2
        parts = []
        for name, some in (("a.zst", files[:half]), ("b.zst", files[half:])):
            if some:
                succeeded(merge(*some, "-o", folder / name))
                parts.append(folder / name)
        again = merge(*parts, text=False)
        assert again.returncode == 0, "status"
        (folder / "again.zst").write_bytes(again.stdout)
        assert sorted(frame.text for frame in read(folder / "again.zst")) == \
            sorted(frame.text for frame in frames), "frames merged twice"


def test_merge_to_text_has_rows_alone(scratch):
    folder = scratch.folder()
    path = folder / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path)
    driver.sweep(3)
    driver.configure(path, counters="all")
    driver.sweep(2)
    driver.end()
    process = merge(path, "--csv")
    succeeded(process)
    lines = process.stdout.splitlines()
    headers = [i for i, line in enumerate(lines) if line.startswith("time,")]
    frames = read(path)
    n_data = sum(len(frame.rows) for frame in frames[:3])
    assert headers == [0, n_data + 1], "places of headers"
    assert [line for line in lines if not line.startswith("time,")] == \
        [line for frame in frames for line in frame.text.splitlines()[2:]], "rows"


def split(path, folder):
    """A file of each of its frames."""
    data, at, files = path.read_bytes(), 0, []
    for size in frame_sizes(path):
        files.append(folder / f"{at:012}.zst")
        files[-1].write_bytes(data[at:at + size])
        at += size
    return files


def test_merge_many_files_with_few_descriptors(scratch):
    folder = scratch.folder()
    path = folder / "profile.csv.zst"
    driver = Driver(scratch, "--leaves", 1, "--hosts", 2)
    driver.configure(path)
    driver.sweep(1025, 1000)
    driver.end()
    files = split(path, scratch.folder())
    assert len(files) == 1025, "files"
    failed(merge(*files), 2, "FILE... 1024")
    few = files[1:]
    random.Random(1).shuffle(few)
    out = folder / "merged.zst"
    succeeded(merge(*few, "-o", out, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_NOFILE, (80, 80))))
    assert out.read_bytes() == path.read_bytes()[files[0].stat().st_size:], "merged"


def test_merge_damaged_uses_what_is_before(scratch):
    folder = scratch.folder()
    path, other = folder / "profile.csv.zst", folder / "other.csv.zst"
    for file, sm in ((path, 1), (other, 2)):
        driver = Driver(scratch, "--sm", sm)
        driver.configure(file)
        driver.sweep(6)
        driver.end()
    sizes, data = frame_sizes(path), path.read_bytes()
    at = sum(sizes[:3])
    out = folder / "merged.zst"
    text = subprocess.run(["zstd", "-c"], stdout=subprocess.PIPE, check=True,
                          input=(COLUMNS + "\n2026,1\n").encode()).stdout
    cases = [
        (data[:at + sizes[3] // 2] + b"XXXX" + data[at + sizes[3] // 2 + 4:],
         f"offset {at} damaged"),
        (data[:at + sizes[3] // 2], f"offset {at} ends"),
        (data[:at] + b"nonsense", f"offset {at} zstd"),
        (data[:at] + text,
         f"offset {at} line 2 column 1 time"),
    ]
    for content, message in cases:
        path.write_bytes(content)
        process = merge(path, other, "-o", out)
        assert process.returncode == 1, "status"
        assert mentions(process.stderr, f"{path}: {message}"), "message"
        assert process.stderr.count("\n") == 1, "messages"
        writers = [frame.info["sm"][-1] for frame in read(out)]
        assert (writers.count("1"), writers.count("2")) == (3, 6), "frames merged"
        failed(run("profile", "report", path), 1, f"{path}: ")


def test_merge_damaged_late_in_frame_takes_none_of_it(scratch):
    folder = scratch.folder()
    path, out = folder / "profile.csv.zst", folder / "merged.zst"
    driver = Driver(scratch, "--leaves", 60, "--hosts", 200)
    driver.configure(path)
    driver.sweep(3)
    driver.end()
    sizes, data = frame_sizes(path), bytearray(path.read_bytes())
    data[sum(sizes[:2]) - 10] ^= 1
    path.write_bytes(data)
    failed(merge(path, "-o", out), 1, f"offset {sizes[0]} damaged")
    assert out.read_bytes() == bytes(data[:sizes[0]]), "merged"
    assert merge(path, "--csv").stdout.count("\n") == 24480 + 1, "lines of text"


def test_merge_mistakes_reported(scratch):
    folder = scratch.folder()
    path = folder / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path)
    driver.sweep()
    driver.end()
    content = path.read_bytes()
    cases = [
        (["profile"], 2, "profile merge profile report"),
        (["profile", "mrege"], 2, "'profile merge'"),
        (["profile", "merge"], 2, "profile merge: it needs FILE..."),
        (["profile", "merge", "--svg", "x", path], 2, "no option '--svg'; it has -o"),
        (["profile", "merge", path, "-o"], 2, "-o needs a value: OUT"),
        (["profile", "merge", "-o="], 2, "-o name empty"),
        (["profile", "report", path, "-n", "0"], 2, "allowed are whole numbers"),
        (["profile", "report", "--json=1", path], 2, "--json takes no value"),
        (["profile", "merge", folder / "none"], 1, "none No such file"),
        (["profile", "merge", folder], 1, "regular file"),
        (["profile", "merge", path, "-o", folder / "no" / "x"], 1, "No such file"),
        (["profile", "merge", path, "-o", path], 2, "files read"),
        (["profile", "report", path, "--svg", path], 2, "files read"),
    ]
    for words, status, message in cases:
        failed(run(*words), status, message)
    assert path.read_bytes() == content, "the file that was to be overwritten"


def on_terminal(scratch, *words):
    """What a terminal at standard output and error gets, and the status."""
    master, slave = pty.openpty()
    scratch.callback(os.close, master)
    process = subprocess.Popen([TRIADCTL, *map(str, words)], stdout=slave, stderr=slave)
    os.close(slave)
    data = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # EIO: nobody has the other side open
            break
        if not piece:
            break
        data += piece
    return process.wait(), data.decode()


def test_merge_to_terminal_refused(scratch):
    path = scratch.folder() / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path)
    driver.sweep()
    driver.end()
    status, text = on_terminal(scratch, "profile", "merge", path)
    assert status == 2, "status"
    assert "name a file with -o" in text, "terminal"
    status, text = on_terminal(scratch, "profile", "merge", "--csv", path)
    assert status == 0, "status with --csv"
    assert COLUMNS in text, "terminal"


def test_merge_shows_progress_on_terminal(scratch):
    folder = scratch.folder()
    path = folder / "profile.csv.zst"
    driver = Driver(scratch, "--leaves", 60, "--hosts", 200)
    driver.configure(path)
    driver.sweep(10)
    driver.end()
    # As often as it takes for more than a moment.
    for n in (5, 20, 80):
        status, text = on_terminal(scratch, "profile", "merge", *[path] * n, "-o",
                                   folder / "out.zst")
        assert status == 0, "status"
        if "merge: " in text:
            break
    assert re.search(r"\rmerge: \d+ of \d+ MB", text), "terminal"
    assert text.endswith("\r\033[K"), text[-40:]


# --- report --------------------------------------------------------------------

def check_links(result, frames):
    """Means of links against those of a plain sum, for one collector that never began
    anew; 'frames' in their order."""
    words, seen, last = collections.Counter(), {}, {}
    observed = collections.Counter()
    for frame in frames:
        for row in frame.rows:
            key = (row.guid, row.port)
            now = (int(row.xmit), int(row.rcv), frame.time)
            if key in seen:
                for way in range(2):
                    words[key, way] += now[way] - seen[key][way]
                observed[key] += max(0, now[2] - seen[key][2])
            seen[key] = now
            last[key] = row
    for key, now in seen.items():
        observed[key] += max(0, frames[-1].time - now[2])
    for link in result["by_mean"]:
        a = (link["a"]["node_guid"], str(link["a"]["port"]))
        b = (link["b"]["node_guid"], str(link["b"]["port"]))
        assert (last[a].remote_guid, last[a].remote_port) == b, "far end"
        for name, key in (("a_to_b", a), ("b_to_a", b)):
            expected = words[key, 0] * 32 / observed[key] / 1e9
            assert abs(link[name]["mean_gbps"] - expected) <= 1e-6 * expected + 1e-9, \
                (link, expected)
            assert link[name]["peak_gbps"] >= link[name]["mean_gbps"] * 0.999, link
            assert link[name]["peak_percent"] <= 106, link
    assert len(result["by_mean"]) == len(last) // 2, "links"
    octets = 4 * sum(n for (_, way), n in words.items() if way == 0)
    assert abs(result["traffic"]["octets"] - octets) <= 1e-6 * octets, \
        (result["traffic"]["octets"], octets)


def test_report_adds_up(scratch):
    folder = scratch.folder()
    for min_change, step_ms in ((0, 10000), (30 * 10**9, 7000), (0, 3600 * 1000)):
        path = folder / f"p{step_ms}.csv.zst"
        driver = Driver(scratch, "--seed", step_ms)
        driver.ask("busy", 30)
        driver.configure(path, min_change=min_change, max_age_s=10**9)
        driver.sweep(60, step_ms)
        driver.end()
        result, frames = report(path), read(path)
        check_links(result, frames)
        assert (result["sweeps"], result["ports"], result["links"], result["n_gaps"]) == \
            (60, N_PORTS, N_PORTS // 2, 0), "counts"
        means = [max(link["a_to_b"]["mean_gbps"], link["b_to_a"]["mean_gbps"])
                 for link in result["by_mean"]]
        assert means == sorted(means, reverse=True), "order by mean"
        assert len(result["traffic"]["gbps"]) <= 512, len(result["traffic"]["gbps"])
        check_bundles(result)


def check_bundles(result):
    bundles = collections.defaultdict(list)
    for link in result["by_mean"]:
        ends = link["a"]["node_guid"], link["b"]["node_guid"]
        bundles[ends].append(link["a_to_b"]["mean_gbps"])
        bundles[ends[::-1]].append(link["b_to_a"]["mean_gbps"])
    unlike = {ends: max(rates) * len(rates) / sum(rates)
              for ends, rates in bundles.items() if len(rates) > 1}
    assert len(result["parallel_links"]) == len(unlike) // 2, "bundles"
    for bundle in result["parallel_links"]:
        ends = bundle["from"], bundle["to"]
        expected = max(unlike[ends], unlike[ends[::-1]])
        assert abs(bundle["ratio"] - expected) < 1e-6 * expected, (bundle, expected)
        assert bundle["links"] == 2, "links of a bundle"


def test_report_burst_after_quiet_has_its_peak(scratch):
    path = scratch.folder() / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path)
    driver.ask("busy", 0)
    driver.sweep(100)
    driver.ask("busy", 100)
    driver.sweep()
    driver.end()
    frames = read(path)
    assert [len(frame.rows) for frame in frames[1:]] == [0] * 99 + [N_PORTS], "rows"
    most = max(int(row.xmit) for row in frames[-1].rows) * 32 / 10 / 1e9
    peaks = [link[way]["peak_gbps"] for link in report(path)["by_peak"]
             for way in ("a_to_b", "b_to_a")]
    assert abs(max(peaks) - most) < 1e-6, (max(peaks), most)


def test_report_restart_never_negative(scratch):
    path = scratch.folder() / "profile.csv.zst"
    driver = Driver(scratch)
    driver.configure(path)
    driver.ask("busy", 100)
    driver.sweep(5)
    driver.ask("zero")
    driver.sweep(5)
    driver.end()
    result = report(path)
    assert (result["restarts"], result["totals_gone_down"]) == (0, N_PORTS), "restarts"
    driver = Driver(scratch)
    driver.ask("time", START_MS + 200000)
    driver.configure(path)
    driver.sweep(5)
    driver.end()
    result = report(path)
    assert (result["restarts"], result["totals_gone_down"]) == (1, N_PORTS), "restarts"
    assert result["n_gaps"] == 1, "gaps"
    assert result["gaps"][0]["missing"] == 10, "sweeps missing"
    assert all(link[way]["mean_gbps"] > 0 and link[way]["peak_percent"] < 106
               for link in result["by_mean"] for way in ("a_to_b", "b_to_a")), result


@pytest.mark.row("M3")
def test_report_port_of_two_collectors_counted_once(scratch):
    folder, results = scratch.folder(), []
    for sm in (1, 2):
        driver = Driver(scratch, "--sm", sm, "--seed", 7)
        driver.ask("time", START_MS + sm * 1000)
        driver.configure(folder / f"{sm}.zst")
        driver.sweep(30)
        driver.end()
    results = [report(folder / "1.zst"), report(folder / "1.zst", folder / "2.zst")]
    assert len(results[1]["collectors"]) == 2, "collectors"
    assert results[1]["rows_read_twice"] > 1000, results[1]["rows_read_twice"]
    one, both = (result["traffic"]["octets"] for result in results)
    assert abs(one - both) < 0.001 * one, (one, both)
    # One that comes when the first has ended goes on.
    driver = Driver(scratch, "--sm", 3, "--seed", 7)
    driver.ask("time", START_MS + 400000)
    driver.configure(folder / "3.zst")
    driver.sweep(30)
    driver.end()
    result = report(folder / "1.zst", folder / "3.zst")
    assert result["rows_read_twice"] == 0, "rows read twice"
    assert result["traffic"]["octets"] > 1.9 * one, (result["traffic"]["octets"], one)


def test_report_draws_a_picture(scratch):
    folder = scratch.folder()
    path, svg = folder / "profile.csv.zst", folder / "report.svg"
    driver = Driver(scratch)
    driver.configure(path)
    driver.sweep(30)
    driver.end()
    process = run("profile", "report", path, "--svg", svg, "-n", 3)
    succeeded(process)
    assert "Busiest links by mean" in process.stdout, "report"
    root = xml.etree.ElementTree.parse(svg).getroot()
    text = " ".join(root.itertext())
    assert "Traffic of 112 ports, 30 sweeps" in text, "picture"
    assert len(re.findall(r"port \d+ to", text)) == 3, "links drawn"
    for element in root.iter():
        for name, value in element.attrib.items():
            assert "nan" not in value and "inf" not in value, (element.tag, name, value)
            assert not name.endswith("href"), "something from elsewhere"


def test_report_without_traffic_is_one(scratch):
    folder = scratch.folder()
    path, svg = folder / "profile.csv.zst", folder / "report.svg"
    driver = Driver(scratch)
    driver.configure(path)
    driver.ask("busy", 0)
    for n in (0, 1, 3):
        if n:
            driver.sweep(n)
        else:
            path.touch()
        process = run("profile", "report", path, "--svg", svg)
        succeeded(process)
        assert "nan" not in process.stdout and "inf " not in process.stdout
        root = xml.etree.ElementTree.parse(svg).getroot()
        line = root.find("{*}path").get("d")
        heights = {float(y) for y in re.findall(r"[ML]\S+ ([^LZ]+)", line)}
        assert heights == {float(root.find("{*}line").get("y1"))}, "bottom"
        assert not re.search("nan|inf", svg.read_text(encoding="utf-8")), "numbers"
        assert report(path)["traffic"]["octets"] == 0, "octets"
    assert "sweeps            4\n" in process.stdout, "report"


# --- help ----------------------------------------------------------------------

def test_help_lists_what_there_is():
    overview = run("help").stdout
    manual = (SRCDIR / "docs" / "triadctl.1").read_text(encoding="utf-8")
    for verb in ("merge", "report"):
        synopsis = re.search(rf"^  (profile {verb} .*)$", overview, re.MULTILINE)
        assert synopsis, overview
        one = run("help", "profile", verb)
        succeeded(one)
        assert f"Usage: triadctl {synopsis[1]}\n" in one.stdout, "help"
        assert run("profile", verb, "--help").stdout == one.stdout, "--help"
        assert f'"profile {verb}"' in manual, "the manual"
        for option in re.findall(r"\[(-\S+?)[ \]]", synopsis[1]):
            assert f"\n  {option} " in one.stdout, "help"
            section = manual[manual.index(f'"profile {verb}"'):]
            assert option.replace("-", "\\-") in section, "the manual"
    both = run("help", "profile").stdout
    assert both.count("Usage: ") == 2, "commands in help on both"
    assert run("profile", "--help").stdout == both, "profile --help"
    failed(run("help", "profile", "mrege"), 2, "'profile merge'")
