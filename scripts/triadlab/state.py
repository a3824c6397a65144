# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a lab's folder holds, and lab.json, which says what runs there.

lab.json is replaced as a whole before and after each process is started, so
that whoever comes later can end everything, also after its writer was killed
at any point."""

from __future__ import annotations  # 'int | None' before Python 3.10

import contextlib
import dataclasses
import fcntl
import json
import os
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from . import process
from .errors import LabError, UsageError

STARTING, UP, FAILED, DOWN = "starting", "up", "failed", "down"

# Everything a lab puts into its folder, and what therefore may be removed before
# another one; lab.json last, because without it the rest is nobody's.
_CONTENT = ("fabric.net", "sim.*", "sm-[0-9]*", "agent-[0-9]*", "broker.log", "plugin", "run-*", "faults",
            "peers.key", "lab.json*")


@dataclass
class Started:
    """A process that was, or was about to be, started."""

    mark: str
    pid: int | None = None
    start_time: int | None = None

    def record(self):
        """The process, if it is known or can be found by its mark."""
        if self.pid is None:
            return process.find_marked(self.mark)
        return process.Record(self.pid, self.start_time)

    def is_alive(self):
        return process.is_alive(self.record())


@dataclass
class Host:
    """Where the SM with the same index runs, in a lab with a cluster: a network
    namespace and, with Corosync, more of them, which 'holder' keeps."""

    index: int
    namespace: str
    address: str
    folder: str
    holder: Started | None = None
    corosync: Started | None = None


@dataclass
class Sm:
    """One opensm."""

    index: int
    node: str
    folder: str
    log: str
    control_socket: str
    console: str
    console_port: int | None = None
    port_guid: str | None = None
    process: Started | None = None
    is_unlinked: bool = False

    @property
    def name(self):
        return f"sm-{self.index}"

    @property
    def output(self):
        return f"{self.folder}/opensm.out"


@dataclass
class Agent:
    """One triad-agent."""

    index: int
    node: str
    folder: str
    control_socket: str
    process: Started | None = None

    @property
    def name(self):
        return f"agent-{self.index}"


@dataclass
class Triadd:
    """The triadd beside an SM or an agent, 'owner'."""

    owner: str
    socket: str
    log: str
    process: Started | None = None

    @property
    def name(self):
        return f"triadd-{self.owner}"


@dataclass
class Lab:
    """lab.json.  'token' is unique to this lab; 'run_node' is where commands
    are attached unless they ask for another node; 'port_library' is what leads
    programs to ibsim, 'preload' what opensm loads before it, 'library_path' where
    its plugin is, and 'variables' what it found in its environment that concerns us.
    'cluster' is "none", "corosync", "peers" or "fabric"; 'retrain' is whether ports that are
    enabled again get their links back, 'withhold' whether ports tell an extended speed
    only to who asks with bit 31 of the attribute modifier."""

    folder: str
    token: str
    net: str
    n_nodes: int
    run_node: str
    builddir: str | None
    port_library: str
    phase: str = STARTING
    simulator: Started | None = None
    sms: list[Sm] = field(default_factory=list)
    preload: list[str] = field(default_factory=list)
    library_path: str | None = None
    variables: dict[str, str] = field(default_factory=dict)
    cluster: str = "none"
    retrain: bool = False
    withhold: bool = False
    hosts: list[Host] = field(default_factory=list)
    broker: Started | None = None
    broker_port: int | None = None
    agents: list[Agent] = field(default_factory=list)
    triadds: list[Triadd] = field(default_factory=list)

    @property
    def socket_name(self):
        """IBSIM_SOCKNAME: the abstract sockets of ibsim begin with it."""
        return f"triad-lab-{self.token}"

    def path(self, name):
        return Path(self.folder, name)

    def processes(self):
        """Those started so far, by name, in the order in which they are ended."""
        started = {triadd.name: triadd.process for triadd in self.triadds}
        started |= {sm.name: sm.process for sm in self.sms}
        started |= {agent.name: agent.process for agent in self.agents}
        started |= {f"corosync-{host.index}": host.corosync for host in self.hosts}
        started |= {f"host-{host.index}": host.holder for host in self.hosts}
        started["broker"] = self.broker
        started["ibsim"] = self.simulator
        return {name: it for name, it in started.items() if it is not None}

    def save(self):
        temporary = self.path("lab.json.new")
        temporary.write_text(json.dumps(dataclasses.asdict(self), indent=1) + "\n",
                             encoding="utf-8")
        os.replace(temporary, self.path("lab.json"))


def load(folder):
    """The lab in the folder, or None."""
    path = Path(folder, "lab.json")
    try:
        fields = json.loads(path.read_text(encoding="utf-8"))
        fields["folder"] = str(folder)
        fields["simulator"] = _load_started(fields["simulator"])
        fields["sms"] = [Sm(**{**sm, "process": _load_started(sm["process"])})
                         for sm in fields["sms"]]
        fields["hosts"] = [Host(**{**host, "holder": _load_started(host["holder"]),
                                   "corosync": _load_started(host["corosync"])})
                           for host in fields.get("hosts", ())]
        fields["broker"] = _load_started(fields.get("broker"))
        fields["agents"] = [Agent(**{**agent, "process": _load_started(agent["process"])})
                            for agent in fields.get("agents", ())]
        fields["triadds"] = [
            Triadd(**{**triadd, "process": _load_started(triadd["process"])})
            for triadd in fields.get("triadds", ())]
        return Lab(**fields)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LabError(f"{path} cannot be read: {error}; if nothing of this lab "
                       "runs any more, remove the folder") from error


def _load_started(fields):
    return fields and Started(**fields)


def load_required(folder):
    lab = load(folder)
    if lab is None:
        raise LabError(f"{folder}: there is no lab here; start one with "
                       f"lab up --dir {folder} --net FILE")
    return lab


# --- the folder --------------------------------------------------------------

def check_folder(text):
    """The folder's absolute path.  It ends up in opensm.conf, in triad.conf and
    in lists of paths, which know no way to quote."""
    folder = os.path.abspath(text)
    if re.search(r'[\s#":]', folder):
        raise UsageError(f"--dir {folder}: blanks, '#', '\"' and ':' are not "
                         "possible in the path of a lab")
    return Path(folder)


@contextlib.contextmanager
def locked(folder, must_wait=False):
    """Keeps other 'up', 'down' and 'host' out, or waits for them.  The lock ends with
    the process."""
    with open(Path(folder, "lab.lock"), "w", encoding="utf-8") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | (0 if must_wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            raise LabError(f"{folder}: another lab up, down or host is at work "
                           "here; wait for it or end it") from error
        yield


def clean(folder):
    """Makes room for a new lab: removes what a dead one left."""
    remains = [path for pattern in _CONTENT for path in sorted(folder.glob(pattern))]
    if remains and load(folder) is None:
        raise LabError(f"{folder} has a {remains[0].name} that is not a lab's; "
                       "take another folder")
    for path in remains:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
