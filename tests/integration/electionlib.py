# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What tests of elections on real SMs share: the lab, and who held permission when.

Each SM writes a trace (election.trace_file): a line when its permission to enforce
begins, one whenever its deadline moves, one when it ends, all in CLOCK_BOOTTIME, which
is the same for all hosts of a lab.  A permission counts until its deadline, also of an
SM that was killed or stopped meanwhile: it might have acted until then."""

import contextlib
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from checks import wait_until
from labs import EXAMPLE_NETS, Lab
from triadlib import ask_json


NET = EXAMPLE_NETS / "net.2sw2path4hca"
SMS = ("Hca1", "Hca2", "Hca3")

LEASE_S = 0.3
# A busy machine may let a member be silent for longer than half a second.
LEASE_S = 3
PATIENT = f"lease = {LEASE_S}000\n"


def others(one, sms=SMS):
    """The SMs but for one, by their numbers in the lab."""
    return [sm for sm in range(len(sms)) if sm != one]


def now_s():
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True)
class Held:
    """Permission of one SM, from 'begin' to 'end', seconds of CLOCK_BOOTTIME."""

    sm: int
    term: int
    begin: float
    end: float


class Cluster:
    """A lab of SMs that elect, and their traces."""

    def __init__(self, lab, traces, guids):
        self.lab = lab
        self._traces = traces
        self._guids = guids

    def lines(self, sm):
        path = self._traces / f"{self._guids[sm]}.trace"
        if not path.exists():
            return []
        text = path.read_text(encoding="ascii")
        return [line.split() for line in text[:text.rfind("\n") + 1].splitlines()]

    def held(self, sm):
        """Its permissions, in their order."""
        result, last = [], None
        for words in self.lines(sm):
            at = int(words[0]) / 1e6
            if last:
                result.append(Held(sm, last[1], last[0], min(last[2], at)))
            last = None
            if words[1] == "given":
                last = (at, int(words[2]), int(words[3]) / 1e6)
        if last:
            result.append(Held(sm, last[1], last[0], last[2]))
        return [one for one in result if one.end > one.begin]

    def all_held(self):
        everything = [one for sm in range(len(self._guids)) for one in self.held(sm)]
        return sorted(everything, key=lambda one: one.begin)

    def holder(self):
        """Who has permission now, or None."""
        now = now_s()
        for one in self.all_held():
            if one.begin <= now < one.end:
                return one.sm
        return None

    def wait_for_holder(self, among=None, timeout_s=60):
        """Until somebody has permission, one of 'among' if given; returns who."""
        def found():
            holder = self.holder()
            fits = holder is not None and (among is None or holder in among)
            return (holder,) if fits else None
        return wait_until(found, timeout_s, "somebody who may enforce")[0]

    def first_held(self, sm, after):
        """When the SM first had permission after that moment, or None."""
        return min((one.begin for one in self.held(sm) if one.begin > after),
                   default=None)

    def check(self):
        """Never two at once, and terms grow."""
        latest = None
        for one in self.all_held():
            if latest and one.sm != latest.sm:
                assert one.begin >= latest.end, \
                    f"two at once: {latest} and {one}"
                assert one.term > latest.term, f"an old term: {one} after {latest}"
            if not latest or one.end > latest.end:
                latest = one
        n = len({(one.sm, one.term) for one in self.all_held()})
        print(f"{n} permissions, never two at once")

    def masters(self):
        """The SMs that are master by their OpenSM's own word, the stopped ones too."""
        return [index for index, sm in enumerate(self.lab.status()["sms"])
                if sm["alive"] and sm["state"] == "master"]

    def wait_for_master(self, sm, timeout_s=60):
        wait_until(lambda: sm in self.masters(), timeout_s, f"SM {sm} is master")


@contextlib.contextmanager
def cluster(kind, sms=SMS, election="", opensm_conf="", **options):
    """SMs on hosts of their own that elect; ends with a look at the traces."""
    with tempfile.TemporaryDirectory(prefix="triad-test-traces-") as folder:
        conf = f"[election]\ntrace_file = {folder}/%g.trace\n{election}"
        with Lab(NET, sms=sms, cluster=kind, triad_conf=conf,
                 opensm_conf=opensm_conf, **options) as lab:
            guids = [sm["port_guid"] for sm in lab.status()["sms"]]
            yield Cluster(lab, Path(folder), guids)


def report(running, sm):
    return ask_json(running.lab, "election", sm=sm)


def is_whole(running, sm):
    return len(report(running, sm)["members"]) == len(SMS)


def wait_for_votes(running, holder):
    """Until all vote for the holder: a member doesn't for the length of a lease after its
    start, and a claim that a member refused is made again with a higher term.  One that has
    just started may know the holder before the holder knows it.  Votes of a round are shown
    until the next one, a quarter of a lease later, and nothing says which round it is."""
    time.sleep(LEASE_S / 4)
    wait_until(lambda: [member["vote"] for member in report(running, holder)["members"]] ==
               [True] * len(SMS), 30, "all vote")


def at_rest(running):
    """Who may enforce and is master, when all know each other and vote for it."""
    holder = running.wait_for_holder()
    running.wait_for_master(holder)
    for sm in range(len(SMS)):
        wait_until(lambda sm=sm: is_whole(running, sm), 30, f"SM {sm} knows all")
    wait_for_votes(running, holder)
    return holder
