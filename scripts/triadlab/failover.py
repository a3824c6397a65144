# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Harms the master of a lab and tells when there is another: when a client has its first
answer, and when one of the others may enforce.

All moments are microseconds of CLOCK_BOOTTIME, which is the same for this process, the
clients and the SMs, on hosts of their own as well."""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from . import environment, hosts, netfile, opensm, process
from .errors import LabError
from .plugin import triadctl, triadctl_json

N_SMS = 3

_LAB = Path(__file__).resolve().parent.parent / "lab"
_STREAM = "tests/bench/path_stream"
_POLL_S = 0.01
# Between two questions of the client.
ASK_US = 1000
# As long as a client waits for its answer, and some more.
_GIVEN_UP_US = 1_500_000
# Longer than a lease: for so long a member that has just started promises nothing.
_REST_S = 1.0


def now_us():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def wait_until(condition, timeout_s, what, poll_s=_POLL_S):
    """Returns what the condition returned, when it is not None or False."""
    deadline = time.monotonic() + timeout_s
    while True:
        found = condition()
        if found is not None and found is not False:
            return found
        if time.monotonic() > deadline:
            raise LabError(f"not within {timeout_s} s: {what}")
        time.sleep(poll_s)


def places(net):
    """Hosts for the SMs, in different places, and one for the client."""
    nodes = netfile.read(net).of_kind(netfile.HCA)
    if len(nodes) < N_SMS + 1:
        raise LabError(f"{net}: {N_SMS} SMs and a client want {N_SMS + 1} hosts, there are "
                       f"{len(nodes)}")
    step = (len(nodes) - 1) // N_SMS
    names = [node.description for node in nodes]
    return names[:N_SMS * step:step], names[-1]


def bystander(net):
    """The port GUID of a host with neither an SM nor the client, which stays when an SM's host
    goes; in a net that has the nodes' GUIDs in it."""
    names, client = places(net)
    node = next((node for node in netfile.read(net).of_kind(netfile.HCA)
                 if node.description not in [*names, client]), None)
    if node is None:
        raise LabError(f"{net}: has no host besides those of SMs and of the client")
    return f"{netfile.port_guid(node):#018x}"


# --- the client --------------------------------------------------------------

@dataclass(frozen=True)
class Answer:
    """The first one from an SM's LID, after those from another."""

    lid: int
    sent_us: int
    answered_us: int


@dataclass(frozen=True)
class Lost:
    """A request that got no path, of who was asked."""

    lid: int
    sent_us: int
    why: str


class Stream:
    """A client on a host without an SM that asks every millisecond for the path to a port by
    its GUID: that of an SM's host, which stays there when the SM is dead but not when its
    host is, or another."""

    def __init__(self, lab, node, to=None):
        program = environment.find_built(lab.builddir, _STREAM)
        if not program:
            raise LabError(f"{_STREAM} is not in the build tree: run make or scripts/build")
        self._answers, self._lost = [], []
        self._child = subprocess.Popen(
            [sys.executable, str(_LAB), "run", "--dir", lab.folder, "--node", node, "--",
             program, "--to", to or lab.sms[-1].port_guid, "--every-us", str(ASK_US)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._thread = threading.Thread(target=self._read, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_exception):
        # The end of its input is its end.
        self._child.stdin.close()
        try:
            self._child.wait(10)
        except subprocess.TimeoutExpired:
            self._child.terminate()
            self._child.wait(10)
        self._thread.join(10)
        self._child.stdout.close()

    def _read(self):
        for line in self._child.stdout:
            words = line.split()
            if words[0] == "lost":
                self._lost.append(Lost(int(words[1]), int(words[2]), words[3]))
            else:
                self._answers.append(Answer(*map(int, words)))

    def last(self):
        """From the SM that answers now, or None."""
        if self._child.poll() is not None:
            raise LabError(f"{_STREAM} ended with status {self._child.returncode}")
        return self._answers[-1] if self._answers else None

    def first_after(self, moment_us, dead_lid):
        """To a question that was asked after that moment, by another than the dead SM;
        or None."""
        self.last()
        return next((it for it in self._answers
                     if it.sent_us > moment_us and it.lid != dead_lid), None)

    def lost_between(self, from_us, to_us):
        """The requests of that time that got no path; waits until the last one was answered
        or given up."""
        time.sleep(max(0, to_us + _GIVEN_UP_US - now_us()) / 1e6)
        self.last()
        return [it for it in self._lost if from_us < it.sent_us <= to_us]


# --- permission --------------------------------------------------------------

class Traces:
    """What SMs write into election.trace_file: who may enforce, and until when."""

    def __init__(self, folder, lab):
        self._files = [Path(folder, f"{sm.port_guid}.trace") for sm in lab.sms]

    @staticmethod
    def conf(folder):
        return f"[election]\ntrace_file = {folder}/%g.trace\n"

    def _lines(self, sm):
        with contextlib.suppress(FileNotFoundError):
            text = self._files[sm].read_text(encoding="ascii")
            return [line.split() for line in text[:text.rfind("\n") + 1].splitlines()]
        return []

    def holder(self):
        """Who may enforce now, or None."""
        for sm in range(len(self._files)):
            last = (self._lines(sm) or [["0", "refused"]])[-1]
            if last[1] == "given" and now_us() < int(last[3]):
                return sm
        return None

    def refused_after(self, moment_us, sm):
        """When the SM said first that it may not enforce, after that moment; or None."""
        return next((int(words[0]) for words in self._lines(sm)
                     if words[1] == "refused" and int(words[0]) > moment_us), None)

    def first_given(self, moment_us, dead):
        """When one of the others may enforce, after that moment; or None."""
        given = [int(words[0]) for sm in range(len(self._files)) if sm != dead
                 for words in self._lines(sm)
                 if words[1] == "given" and int(words[0]) > moment_us]
        return min(given, default=None)


# --- SMs ---------------------------------------------------------------------

class Sms:
    """What the logs of the SMs say; 'traces' is None where there is no plugin."""

    def __init__(self, lab, traces=None):
        self.lab = lab
        self.traces = traces
        self._logs = [opensm.Log(sm.log) for sm in lab.sms]

    def masters(self):
        return [index for index, log in enumerate(self._logs)
                if self.lab.sms[index].process.is_alive() and log.update().is_master]

    def state(self, index):
        return self._logs[index].update().state

    def _seen(self):
        """The master, if all is as it should be: the others are standby, and with the
        plugin it may enforce and all are in the cluster; else None."""
        states = [self.state(index) for index in range(len(self._logs))]
        masters = self.masters()
        if len(masters) != 1 or states.count("standby") != len(states) - 1:
            return None
        if self.traces and self.traces.holder() != masters[0]:
            return None
        return masters[0]

    def one_master_after(self, moment_us, timeout_s=180):
        """The last moment since then at which the logs did not say that exactly one SM is
        master, once that has been so for a while."""
        seen = {"last_us": moment_us}

        def has_settled():
            if len(self.masters()) != 1:
                seen["last_us"] = now_us()
            return now_us() - seen["last_us"] > _REST_S * 1e6
        wait_until(has_settled, timeout_s, "exactly one SM was master")
        return seen["last_us"]

    def rest(self, more_s=0.0, timeout_s=180):
        """Waits until all is as it should be and stays so, so much longer than it must;
        returns the master."""
        since = {"master": None, "at": 0.0}

        def is_at_rest():
            master = self._seen()
            if master is None or master != since["master"]:
                since.update(master=master, at=time.monotonic())
            elif time.monotonic() - since["at"] > _REST_S + more_s and self._is_whole(master):
                return master
            return None
        return wait_until(is_at_rest, timeout_s, "the SMs were at rest")

    def _is_whole(self, master):
        return not self.traces or triadctl_json(
            self.lab, "election", sm=master)["members_here"] == len(self._logs)


@contextlib.contextmanager
def killed(lab, index):
    """Gives the moment right before SIGKILL; in the end opensm runs again."""
    record = lab.sms[index].process.record()
    if not process.is_alive(record):
        raise LabError(f"opensm of host {index} is dead")
    # One of them says to ibsim what the killed one can't any more.
    helpers = process.children_of(record)
    at_us = now_us()
    os.kill(record.pid, signal.SIGKILL)
    yield at_us
    if not process.wait_for_end([record, *helpers], 30):
        raise LabError(f"opensm of host {index} lives after SIGKILL")
    hosts.start_opensm(lab, index)


# --- other faults --------------------------------------------------------------

@contextlib.contextmanager
def _lasting(harm, mend):
    at_us = now_us()
    harm()
    yield at_us
    mend()


def _stopped(lab, index, what):
    return _lasting(lambda: hosts.signal_program(lab, index, what, signal.SIGSTOP),
                    lambda: hosts.resume(lab, index, what))


def _ended(lab, index, what):
    return _lasting(lambda: hosts.kill(lab, index, what),
                    lambda: hosts.start(lab, index, what))


def _down(link, lab, index):
    return _lasting(lambda: link(lab, index, False), lambda: link(lab, index, True))


def _preferred(lab, index):
    other = (index + 1) % len(lab.sms)
    return _lasting(lambda: triadctl(lab, "port", "priority", "12", sm=other),
                    lambda: triadctl(lab, "port", "priority", "8", sm=other))


KILL, HAND_OVER = "kill", "hand-over"
# What happens to the master, and later ends; each gives the moment right before.
FAULTS = {
    KILL: killed,
    "stop": lambda lab, index: _stopped(lab, index, hosts.OPENSM),
    "host-kill": lambda lab, index: _ended(lab, index, hosts.ALL),
    "host-stop": lambda lab, index: _stopped(lab, index, hosts.ALL),
    "corosync-kill": lambda lab, index: _ended(lab, index, hosts.COROSYNC),
    "net-cut": lambda lab, index: _down(hosts.link, lab, index),
    "port-down": lambda lab, index: _down(hosts.hca_link, lab, index),
    HAND_OVER: _preferred,
}
