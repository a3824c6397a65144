# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Processes that outlive the one that started them.

Model: a process is known by its pid together with its start time, which the
kernel never gives to two processes with the same pid.  So a record that was
written to a file can be acted upon later: a pid that was handed to another
process in between does not match, and is left alone.

A process is also marked in its environment, before it exists: should its
starter be killed between starting it and writing down its pid, find_marked()
finds it."""

import contextlib
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

MARK = "TRIAD_LAB_PROCESS"

_POLL_S = 0.02


@dataclass(frozen=True)
class Record:
    """A process, dead or alive; 'start_time' is in clock ticks since boot."""

    pid: int
    start_time: int


def _stat_of(pid):
    """The fields in proc_pid_stat(5) from the 3rd on, which is the state; None when
    there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    # The name, in parentheses, may contain anything; the rest is numbers.
    return stat[stat.rindex(")") + 2:].split()


def record_of(pid):
    """The process that has this pid now; None when there is none, or when it
    has ended and only waits for its parent to notice."""
    fields = _stat_of(pid)
    if fields is None or fields[0] in "ZX":
        return None
    # The 22nd is the start time.
    return Record(pid, int(fields[19]))


def children_of(record):
    """The processes that it made and that live."""
    found = []
    for path in Path(f"/proc/{record.pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(record_of, map(int, path.read_text(encoding="ascii").split()))
    return [child for child in found if child]


def is_stopped(record):
    """Whether it lives and a signal stopped it.  After SIGSTOP its threads go on until one
    of them has run and taken the signal, so each is looked at."""
    tasks = [_stat_of(f"{record.pid}/task/{path.name}")
             for path in Path(f"/proc/{record.pid}/task").glob("*")]
    return is_alive(record) and all(fields[0] in "TZX" for fields in tasks if fields)


def is_alive(record):
    return record is not None and record_of(record.pid) == record


def find_marked(mark):
    """A process that carries this mark, or None."""
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                return record_of(int(folder.name))
    return None


def signal_record(record, number):
    """Sends a signal to exactly this process; False when it is not there."""
    try:
        fd = os.pidfd_open(record.pid)
    except ProcessLookupError:
        return False
    try:
        # Checked with the descriptor open: it cannot become another process.
        if not is_alive(record):
            return False
        signal.pidfd_send_signal(fd, number)
        return True
    except ProcessLookupError:
        return False
    finally:
        os.close(fd)


def end(records, grace_s):
    """Asks the processes to end, kills those that have not within the grace.
    Returns when all are gone."""
    for record in records:
        signal_record(record, signal.SIGTERM)
        # One that is stopped would not notice.
        signal_record(record, signal.SIGCONT)
    if not wait_for_end(records, grace_s):
        for record in records:
            signal_record(record, signal.SIGKILL)
        wait_for_end(records, grace_s)


def wait_for_end(records, seconds):
    """Whether all are gone within that time."""
    deadline = time.monotonic() + seconds
    while any(map(is_alive, records)):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_S)
    return True
