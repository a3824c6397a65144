# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What tests of the port manager share: a fabric, what is expected of it, and a look at
everything that was sent.

Each opensm records what it sends (tests/lab/record.c), traces when it had permission
(election.trace_file) and keeps a journal.  Every Set of a port's physical state must have
been sent while its SM had permission, in the term of an intent that was in the journal
before."""

import calendar
import contextlib
import csv
import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from checks import wait_until
from electionlib import Cluster, now_s
from labs import BUILDDIR, SRCDIR, Lab
from triadlib import ask, ask_json, sweep_heavily

RECORD = BUILDDIR / "tests/lab/.libs/librecord.so"
SET, PORT_INFO = 2, 0x15
AT_PHYS_STATE = 33  # in PortInfo, the high half of the octet [IBA 14.2.5.6]
POLLING, DISABLED = 2, 3
# A wall clock and one that doesn't stop are read one after the other.
CLOCKS_S = 0.05

LEAF, SPINE = "leaf-0{}".format, "spine-0{}".format

# 12 hosts on three leaves of four, two spines, two links from each leaf to each spine.
FABRIC = ("fat-tree", "--hosts", "12", "--radix", "8")
SMS = ("host-0001", "host-0005", "host-0009")


def switch_guid(number):
    """Of leaf-01 to leaf-03, then spine-01 and spine-02, numbered from 1."""
    return 0x0200000200000000 + 0x10 * number


@dataclass(frozen=True)
class PortSet:
    """A Set of a port's physical state, as it went out."""

    node: str
    at: float
    port: int
    phys_state: int
    path: str
    m_key: int


@dataclass(frozen=True)
class JournalRecord:
    term: int
    number: int
    at: float
    node_guid: int
    port: int
    deed: str
    outcome: str
    reason: str


class Expected:
    """The rows of an expected configuration, and its file."""

    def __init__(self, path):
        self.path = path
        self.generation = 0
        self.rows = {}

    def take(self, text):
        lines = text.splitlines()
        self.generation = int(lines[0].split()[1])
        for row in csv.reader(lines[2:]):
            self.rows[(int(row[0], 16), int(row[1]))] = row

    def change(self, node_guid, port, state=None, remote=None, check=None, width=None):
        row = self.rows[(node_guid, port)]
        for at, value in ((2, state), (3, remote), (4, width), (6, check)):
            if value is not None:
                row[at] = value
        if row[2] == "disabled":
            row[3:7] = [""] * 4

    def write(self, path=None):
        """The next generation, put in the file's place whole."""
        self.generation += 1
        path = path or self.path
        new = path.with_suffix(".new")
        with new.open("w", encoding="utf-8", newline="") as file:
            file.write(f"generation {self.generation}\n")
            csv.writer(file, lineterminator="\n").writerows(self.rows.values())
        new.rename(path)
        return self.generation


class Ports:
    """A lab whose SMs manage ports."""

    def __init__(self, lab, folder):
        self.lab = lab
        self.folder = folder
        self.guids = [sm["port_guid"] for sm in lab.status()["sms"]]
        self.cluster = Cluster(lab, folder, self.guids)
        self.expected = Expected(self.file_of(0))

    def file_of(self, sm):
        return self.folder / f"expected-{self.guids[sm]}.csv"

    def begin(self, state="enforcing"):
        """What there is is what is expected, on all of them."""
        self.master = self.cluster.wait_for_holder()
        wait_until(lambda: self.ask_ok("port", "snapshot", sm=self.master), 30,
                   "a fabric to be described")
        self.snapshot(self.master)
        generation = self.load(self.master)
        for sm in range(len(self.guids)):
            self.wait_for_generation(generation, sm)
        self.wait_for_state(state, self.master)

    def ask_ok(self, *words, sm=0):
        return self.lab.triad(*words, sm=sm).returncode == 0

    # --- what SMs say ---

    def ask(self, *words, sm=0):
        return ask(self.lab, *words, sm=sm)

    def status(self, sm=0):
        return ask_json(self.lab, "status", sm=sm)["ports"]

    def wait_for_state(self, state, sm=0, timeout_s=30):
        wait_until(lambda: self.status(sm)["state"] == state, timeout_s,
                   f"SM {sm}'s port manager {state}")

    def wait_for_generation(self, generation, sm=0, timeout_s=30):
        wait_until(lambda: self.status(sm)["generation"] == generation, timeout_s,
                   f"generation {generation} on SM {sm}")

    def row(self, node, port, sm=0):
        process = self.lab.triad("port", "list", "--node", str(node), "--port",
                                 str(port), "--json", sm=sm)
        if process.returncode:
            return None
        rows = json.loads(process.stdout)["ports"]
        return rows[0] if rows else None

    def wait_for(self, node, port, found, sm=0, timeout_s=40):
        """Until the port is found so; returns its row."""
        def is_so():
            row = self.row(node, port, sm)
            return row if row and row["found"] == found else None
        return wait_until(is_so, timeout_s, f"{node} port {port} {found}")

    def sweep(self, n=3, sm=0):
        """Until OpenSM, the master, has swept the whole fabric so often again, and what
        came of that is known."""
        for _ in range(n):
            before = self._n_sweeps(sm)
            sweep_heavily(self.lab, lambda: self._n_sweeps(sm) > before, sm)

    def _n_sweeps(self, sm):
        return ask_json(self.lab, "status", sm=sm)["topology"]["snapshots"]

    def history(self, *words, sm=0):
        return ask_json(self.lab, "port", "history", "-n", "1000", *words, sm=sm)

    def deeds(self, node_guid, port, sm=0):
        """(deed, outcome, reason) of a port, the first one first."""
        return [(one["deed"], one["outcome"], one["reason"])
                for one in reversed(self.history(sm=sm))
                if int(one["node_guid"], 16) == node_guid and one["port"] == port]

    # --- what is expected ---

    def snapshot(self, sm=0):
        """What is expected is what there is."""
        self.expected.take(self.ask("port", "snapshot", sm=sm))

    def load(self, sm=0):
        """Writes the next generation on one SM, and waits until it is in force there."""
        generation = self.expected.write(self.file_of(sm))
        self.wait_for_generation(generation, sm)
        return generation

    def is_agreed(self):
        """The master may enforce what is expected now, and as all members know it, will
        not lose permission for a moment because one of them says so only now."""
        election = ask_json(self.lab, "election", sm=self.master)
        return election["may_enforce"] and all(
            member["generation"] == self.expected.generation
            for member in election["members"])

    def plug_in(self, *places):
        """Gives '"node"[port]' their links again.  Ports that are to be tested are held by
        then: the plan for what is expected now has been made."""
        wait_until(self.is_agreed, 30, "all SMs have what is expected")
        self.sweep(2, self.master)
        self.lab.sim(*(f"ReLink {place}" for place in places))

    # --- what was done ---

    def sets(self):
        found = []
        path = self.folder / "record"
        text = path.read_text(encoding="ascii") if path.exists() else ""
        for line in text[:text.rfind("\n") + 1].splitlines():
            words = line.split()
            if int(words[1], 16) != SET or int(words[2], 16) != PORT_INFO or \
                    int(words[0], 16) not in (1, 0x81):
                continue
            state = bytes.fromhex(words[9])[AT_PHYS_STATE] >> 4
            if state:
                found.append(PortSet(words[11], int(words[10]) / 1e6,
                                     int(words[6], 16), state, words[8],
                                     int(words[7], 16)))
        return found

    def journal(self, sm):
        path = self.folder / f"state-{self.guids[sm]}" / f"ports-{self.guids[sm]}.journal"
        records = []
        text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        for line in text.splitlines():
            words = line.split(" ")
            if len(words) > 9 and words[0].isdigit():
                at = time.strptime(words[2].split(".")[0], "%Y-%m-%dT%H:%M:%S")
                micro = int(words[2].split(".")[1].rstrip("Z")) / 1e6
                records.append(JournalRecord(
                    int(words[0]), int(words[1]), calendar.timegm(at) + micro,
                    int(words[4], 16), int(words[5]), words[6], words[7], words[8]))
        return records

    def check(self, expected_sets=None):
        """Every Set was permitted, in its term, and in a journal before."""
        offset = time.time() - now_s()
        nodes = [sm["node"] for sm in self.lab.status()["sms"]]
        sets = self.sets()
        for one in sets:
            sm = nodes.index(one.node)
            held = [held for held in self.cluster.held(sm)
                    if held.begin <= one.at < held.end]
            assert held, f"sent without permission: {one}; {self.cluster.held(sm)}"
            intents = [record for record in self.journal(sm)
                       if record.port == one.port and record.outcome == "intended" and
                       record.term == held[0].term and
                       record.at - offset <= one.at + CLOCKS_S]
            assert intents, f"in no journal, in term {held[0].term}: {one}"
        if expected_sets is not None:
            assert len(sets) == expected_sets, "Sets of a port's physical state"
        self.cluster.check()
        print(f"{len(sets)} Sets, each permitted, within its term, and in a journal")
        return sets


# On a loaded machine an answer may take longer than the 0.1 s after which it is lost.
_PORT = {"enabled": "true", "mode": "enforce", "grace": 1, "drain": 5, "name_grace": 2,
         "test_time": 1, "test_timeout": 30, "test_max_lost": 10}


def _conf(folder, cluster, port, perfmgr):
    keys = {**_PORT, "expected_file": f"{folder}/expected-%g.csv", **(port or {})}
    # Longer than by default: a loaded machine may stop an SM for some tenths of a second.
    alone = "enabled = true\ncluster = none\nlease = 5000\n" if cluster == "none" else \
        "lease = 1000\n"
    return (f"[perfmgr]\n{perfmgr}[election]\n{alone}"
            f"state_dir = {folder}/state-%g\ntrace_file = {folder}/%g.trace\n"
            "[port]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items()))


def make_net(folder, fabric=FABRIC, edit=None):
    path = Path(folder, "fabric.net")
    subprocess.run([str(SRCDIR / "scripts/gen-fabric"), *fabric, "-o", str(path)],
                   check=True, capture_output=True)
    if edit:
        path.write_text(edit(path.read_text(encoding="utf-8")), encoding="utf-8")
    return path


@contextlib.contextmanager
def managed(cluster="none", port=None, sms=None, fabric=FABRIC, expected=True,
            opensm_conf="sweep_interval 1\n", preload=(), more="", edit=None,
            prepare=None, state="enforcing", retrain=False, perfmgr="enabled = false\n", console="off"):
    """A lab whose SMs manage ports, with what there is as what is expected, in force on
    all of them, unless 'expected' is false; 'port' has keys of [port], 'perfmgr' is that
    section, 'more' more of triad.conf.  In labs that 'retrain' a bounced port has its link back.  'edit' changes
    the text of the fabric, 'prepare' the folder."""
    with tempfile.TemporaryDirectory(prefix="triad-test-ports-") as name, \
            contextlib.ExitStack() as stack:
        folder = Path(name)
        if prepare:
            stack.callback(prepare(folder))
        os.environ["TRIAD_RECORD"] = str(folder / "record")
        stack.callback(os.environ.pop, "TRIAD_RECORD", None)
        lab = stack.enter_context(Lab(
            make_net(folder, fabric, edit), sms=sms or (SMS[:1] if cluster == "none" else SMS),
            cluster=cluster, triad_conf=_conf(folder, cluster, port, perfmgr) + more,
            opensm_conf=opensm_conf, preload=[RECORD, *preload], retrain=retrain,
            console=console))
        ports = Ports(lab, folder)
        if expected:
            ports.begin(state)
        yield ports
