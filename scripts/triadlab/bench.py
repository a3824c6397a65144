# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What benchmarks share: the fabric that they measure on, and a lab that ends."""

import argparse
import contextlib
import datetime
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

from . import down, up
from .errors import LabError

_POLL_S = 0.05
SWEEP_S = 300
_GEN_FABRIC = Path(__file__).resolve().parent.parent / "gen-fabric"


def make_net(folder, hosts):
    """A fat tree of 36-port switches, the smallest that holds the hosts."""
    path = folder / f"{hosts}.net"
    levels = "2" if hosts <= 648 else "3"
    subprocess.run([sys.executable, str(_GEN_FABRIC), "fat-tree", "--levels", levels,
                    "--radix", "36", "--hosts", str(hosts), "-o", str(path)],
                   check=True)
    return str(path)


@contextlib.contextmanager
def lab(folder, net, builddir, **wishes):
    running, _ = up.up(up.Wishes(folder=folder, net=net, builddir=builddir, **wishes))
    try:
        yield running
    finally:
        down.down(folder)


# --- what is measured ----------------------------------------------------------

_SUBNET_UP = re.compile(r"^(\w+ \d+ \d+:\d+:\d+) (\d+) .*\bSUBNET UP$", re.MULTILINE)


def _times_up(running):
    """When the subnet was up, by opensm's log, which has microseconds."""
    year = datetime.datetime.now().year
    log = Path(running.sms[0].log).read_text(encoding="utf-8", errors="replace")
    return [datetime.datetime.strptime(f"{year} {at}", "%Y %b %d %H:%M:%S")
            .replace(microsecond=int(us)).timestamp()
            for at, us in _SUBNET_UP.findall(log)]


def heavy_sweep(running):
    """Milliseconds from the signal to the line in the log."""
    n = len(_times_up(running))
    begun = time.time()
    deadline = time.monotonic() + SWEEP_S
    os.kill(running.sms[0].process.pid, signal.SIGHUP)
    while len(up_at := _times_up(running)) == n:
        if time.monotonic() > deadline:
            raise LabError(f"no heavy sweep within {SWEEP_S} s; see "
                           f"{running.sms[0].log}")
        time.sleep(_POLL_S)
    return (up_at[n] - begun) * 1000


def cpu_s(pid):
    """Of a process, since it was started."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    user, system = fields.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def most_memory(pid):
    """Octets that a process had resident at most."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) * 1024


# --- types of arguments --------------------------------------------------------

def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 at least")
    return value


def some_of(known):
    def words(text):
        found = text.split(",")
        if not set(found) <= set(known):
            raise argparse.ArgumentTypeError(f"known are {', '.join(known)}")
        return found
    return words


# --- the plugin that measures --------------------------------------------------

class PathBench:
    """The plugin 'pathbench' of a lab's opensm, told by a file; to be made before the
    lab is."""

    def __init__(self, folder):
        self._trigger = folder / "pathbench"
        self._out = folder / "pathbench.out"
        os.environ["TRIAD_PATHBENCH"] = str(self._trigger)

    def do(self, *words, timeout_s=600):
        self._out.unlink(missing_ok=True)
        partial = self._trigger.with_suffix(".new")
        partial.write_text(" ".join(map(str, [*words, self._out])) + "\n",
                           encoding="utf-8")
        partial.rename(self._trigger)
        deadline = time.monotonic() + timeout_s
        while self._trigger.exists():
            if time.monotonic() > deadline:
                raise LabError(f"pathbench: '{words[0]}' takes over {timeout_s} s")
            time.sleep(_POLL_S)
        report = json.loads(self._out.read_text(encoding="utf-8"))
        if "error" in report:
            raise LabError(f"pathbench: {report['error']}")
        return report


PATHBENCH_LIBRARY = "tests/bench/libpathbench.la"


def make_programs(builddir, *programs):
    """'make' alone does not make what benchmarks run, or leaves old ones."""
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    made = subprocess.run(["make", "-s", "-C", builddir, *programs],
                          env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if made.returncode:
        raise LabError(f"what it needs can't be made in {builddir}:\n{made.stdout.strip()}"
                       "\nrun scripts/build first, or name the build tree: --builddir")
