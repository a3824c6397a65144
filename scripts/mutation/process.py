# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Programs with a time limit, and the end of everything they started.

Tests start daemons in sessions of their own, and libcheck gives each case a process
group. Killing a group or a session would miss those. So orphans become children of this
process (Linux's child subreaper), and all that descends from it is killed after each
program.
"""

import ctypes
import dataclasses
import os
import re
import resource
import signal
import subprocess
import time
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36
_POLL_S = 0.02
# A mutant may allocate or print without end. Sanitizers need the address space.
_MAX_MEMORY_OCTETS = 8 << 30
_MAX_LOG_OCTETS = 64 << 20


@dataclasses.dataclass
class Result:
    status: int
    seconds: float
    output: str
    timed_out: bool


def adopt_orphans():
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def run(command, log, limit_s, cwd, env, limit_memory=True):
    """Runs a program with its output in the file 'log', for at most 'limit_s' seconds.
    Nothing that it started is left."""
    begin = time.monotonic()
    with open(log, "wb") as output:
        process = subprocess.Popen(
            list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, cwd=cwd, env=env, start_new_session=True,
            preexec_fn=_limit_memory if limit_memory else None)
    try:
        ended = _wait(process, begin + limit_s, log)
    finally:
        end_descendants(process)
    text = Path(log).read_text(encoding="utf-8", errors="replace")
    return Result(process.returncode, time.monotonic() - begin, text, not ended)


def _limit_memory():
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_MEMORY_OCTETS, hard))


def _wait(process, deadline, log):
    """Whether the program ended by itself before the deadline. Orphans are reaped
    meanwhile, because tests wait until a process is gone."""
    look_again = 0
    while time.monotonic() < deadline:
        _reap(process)
        if process.returncode is not None:
            return True
        if time.monotonic() > look_again:
            look_again = time.monotonic() + 0.5
            if Path(log).stat().st_size > _MAX_LOG_OCTETS:
                return False
        time.sleep(_POLL_S)
    return False


def _reap(process):
    """Reaps children that are dead, the program among them."""
    try:
        while dead := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if dead.si_pid == process.pid:
                process.wait()
            else:
                os.waitpid(dead.si_pid, 0)
    except ChildProcessError:
        pass


def end_descendants(process):
    """Kills all that descends from this process, again until nothing is left: what is
    being killed may still be forking."""
    _reap(process)
    while found := _descendants(os.getpid()):
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(_POLL_S)
        _reap(process)


def _descendants(root):
    children = _children()
    found, ahead = [], list(children.get(root, []))
    while ahead:
        pid = ahead.pop()
        found.append(pid)
        ahead += children.get(pid, [])
    return found


def _children():
    """The children of each process, from /proc."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdecimal():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text(errors="replace")
            except OSError:
                continue
            parent = int(re.match(r".*\) \S (\d+)", stat, re.DOTALL)[1])
            children.setdefault(parent, []).append(int(entry))
    return children
