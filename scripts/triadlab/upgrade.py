# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""In which order switches can be restarted, and which together, so that no pair of hosts that
has another way is ever lost.

Model: a step is a set of switches that are away at the same time; those of the steps before
are back.  In each step:

    - each host that some other switch reaches stays connected with all the others
    - between each two levels, the wanted part of the links stays, and of each switch's links
      to a level, too (rounded down)

A switch whose absence alone cuts hosts off, as a leaf of hosts with one link, costs these
whatever the order is.  Such switches are listed apart, last, and alone: when is for people to
choose.

Steps are made greedily by the graph of links, which proves that there is a way; whether
OpenSM finds it, with the engine of the site, the copy says: the largest steps are computed
there.  A step of which it says that something is lost is divided in two; a switch that loses
something by itself is listed apart, too.  Parts that are not computed again are not proven."""

from __future__ import annotations  # 'int | None' before Python 3.10

import collections
import copy
import json
from dataclasses import dataclass, field

from . import changes, netfile, nodes, whatif
from .errors import LabError, UsageError

_N_SHOWN = 6


@dataclass
class Wish:
    """'names' of switches, [] for all; 'keep' of links, 0 to 1; 'checks': how many steps
    OpenSM computes."""

    names: list[str]
    keep: float = 0.5
    checks: int = 8


@dataclass
class Step:
    """'proof' is "graph", "OpenSM" where it computed that nothing is lost, or None: what is
    known of a larger step speaks against it, or OpenSM's routes could not be judged wholly.
    'is_below' is of a switch that by itself has more of some links than may go, and therefore
    goes alone."""

    switches: list[str]
    proof: str | None = "graph"
    is_below: bool = False


@dataclass
class Order:
    """'costly' has, by switch, the hosts that it takes along; 'lossy', what OpenSM loses
    without it, as words; ids of 'fabric'."""

    fabric: netfile.Fabric
    steps: list[Step]
    costly: dict[str, list[str]]
    keep: float
    seconds: float = 0
    notes: list[str] = field(default_factory=list)
    lossy: dict[str, str] = field(default_factory=dict)

    @property
    def exit_status(self):
        if self.costly or self.lossy:
            return whatif.LOST
        return whatif.SAME if all(step.proof for step in self.steps) else whatif.UNKNOWN


class Graph:
    """Switches of a fabric, their links among each other and their hosts."""

    def __init__(self, fabric):
        switches = {node.node_id: node for node in fabric.of_kind(netfile.SWITCH)}
        self.links = {it: collections.Counter(
            peer for peer, _ in node.links.values() if peer in switches and peer != it)
            for it, node in switches.items()}
        self.at = {node.node_id: {peer for peer, _ in node.links.values() if peer in switches}
                   for node in fabric.nodes.values()
                   if node.kind != netfile.SWITCH and not nodes.is_in_switch(node)}
        self.hosts = collections.defaultdict(set)
        for host, where in self.at.items():
            for it in where:
                self.hosts[it].add(host)
        self.levels = self._find_levels()
        self._tiers = collections.Counter()
        for it, peers in self.links.items():
            for peer, count in peers.items():
                self._tiers[self._tier(it, peer)] += count
        self._served = self._biggest(frozenset())

    def _find_levels(self):
        levels = {it: 1 for it in self.links if self.hosts[it]}
        todo = collections.deque(levels)
        while todo:
            it = todo.popleft()
            for peer in self.links[it]:
                if peer not in levels:
                    levels[peer] = levels[it] + 1
                    todo.append(peer)
        return levels

    def _tier(self, one, other):
        return tuple(sorted((self.levels.get(one, 0), self.levels.get(other, 0))))

    def _biggest(self, away):
        """The hosts that reach each other, of the largest part."""
        left, best = set(self.links) - away, set()
        while left:
            start = left.pop()
            hosts, todo = set(self.hosts[start]), [start]
            while todo:
                for peer in self.links[todo.pop()].keys() & left:
                    left.remove(peer)
                    hosts |= self.hosts[peer]
                    todo.append(peer)
            if len(hosts) > len(best):
                best = hosts
        return best

    def lost(self, away):
        """Hosts that are cut off from the others while these switches are away."""
        return self._served - self._biggest(frozenset(away))

    def keeps(self, away, fraction):
        """Whether enough links between levels stay."""
        gone = collections.Counter()
        for it in away:
            for peer, count in self.links[it].items():
                # Both directions were counted; among two that are away, each sees one.
                gone[self._tier(it, peer)] += count if peer in away else 2 * count
        if any(self._tiers[tier] - count < fraction * self._tiers[tier]
               for tier, count in gone.items()):
            return False
        neighbours = {peer for it in away for peer in self.links[it]} - away
        return all(self._switch_keeps(it, away, fraction) for it in neighbours)

    def _switch_keeps(self, switch, away, fraction):
        total, left = collections.Counter(), collections.Counter()
        for peer, count in self.links[switch].items():
            total[self.levels.get(peer, 0)] += count
            left[self.levels.get(peer, 0)] += count * (peer not in away)
        return all(left[level] >= int(fraction * count) for level, count in total.items())


def plan(fabric, wanted, keep):
    """Steps for these ids of switches, by the graph alone, and what is costly."""
    graph = Graph(fabric)
    costly = {it: lost for it in wanted if (lost := sorted(graph.lost({it})))}
    left = sorted((it for it in wanted if it not in costly),
                  key=lambda it: (-graph.levels.get(it, 0), it))
    steps = []
    while left:
        step = set()
        for it in left:
            if graph.keeps(step | {it}, keep) and not graph.lost(step | {it}):
                step.add(it)
        is_below = not step
        step = step or {left[0]}
        steps.append(Step([it for it in left if it in step], is_below=is_below))
        left = [it for it in left if it not in step]
    return steps, costly


# --- the copy ----------------------------------------------------------------

class _Checker:
    """Has OpenSM compute steps: a copy loses the switches."""

    def __init__(self, original, tell):
        self._original, self._tell = original, tell
        self._sm, _ = whatif.choose_sm(original.fabric, original.sm)
        self._before = None
        self.seconds = 0

    def loses(self, step):
        """What OpenSM loses in this step, as words, "" for nothing; and what was not computed,
        [] for nothing."""
        self._tell(f"{len(step.switches)} switches away")
        fabric = copy.deepcopy(self._original.fabric)
        for it in step.switches:
            changes.remove(fabric, fabric.nodes[it])
        sm, _ = whatif.choose_sm(fabric, self._sm)
        with whatif.Copy(self._original.fabric, self._original.site, sm, "step") as copied:
            self._before = copied.picture()
            copied.lose(fabric)
            after = copied.picture()
        self.seconds += sum(self._before.seconds.values()) + sum(after.seconds.values())
        found = whatif.compare(self._original.fabric, fabric, self._before, after, [],
                               (None, None), [])
        losses = [f"{len(lost)} {what}" for lost, what in (
            (found.lost_hosts, "hosts"), (found.lost_ports, "ports of hosts")) if lost]
        return ", ".join(losses or [
            f"{more} {whatif.FAULTS[it]}" for it, more in found.harm.items()]), found.unknown


def _verify(order, checker, count):
    """Computes the largest steps; divides those that lose something, and takes out a switch
    that does by itself."""
    steps = order.steps
    todo = sorted(steps, key=lambda it: -len(it.switches))[:count]
    budget, doubts = 4 * count, set()
    while todo and budget:
        step, budget = todo.pop(0), budget - 1
        found, unknown = checker.loses(step)
        if not found:
            step.proof = None if unknown else "OpenSM"
            doubts.update(unknown)
            continue
        at, n = steps.index(step), len(step.switches)
        if n == 1:
            order.lossy[step.switches[0]] = found
            del steps[at]
            continue
        order.notes.append(f"a step of {n} switches would have lost {found}")
        parts = [Step(step.switches[:n // 2], proof=None),
                 Step(step.switches[n // 2:], proof=None)]
        steps[at:at + 1] = parts
        todo = parts + todo
    if doubts:
        order.notes.append("not computed, so that steps are not proven: "
                           + ", ".join(sorted(doubts)))


def order(original, wish, tell):
    """The Order for a Replica."""
    if not 0 <= wish.keep < 1:
        raise UsageError("--keep is a part of the links: from 0 to less than 1")
    fabric = original.fabric
    fabric.commands = []
    names = changes.Names(fabric)
    wanted = list(dict.fromkeys(names.find_switch(it).node_id for it in wish.names)) \
        or [node.node_id for node in fabric.of_kind(netfile.SWITCH)]
    if not wanted:
        raise LabError("the fabric has no switch")
    tell(f"an order of {len(wanted)} switches")
    clock = whatif.Clock()
    steps, costly = plan(fabric, wanted, wish.keep)
    clock.lap("graph")
    result = Order(fabric, steps, costly, wish.keep, clock.seconds["graph"],
                   list(original.notes))
    if wish.checks > 0 and steps:
        checker = _Checker(original, tell)
        _verify(result, checker, wish.checks)
        result.seconds += checker.seconds
    return result


# --- how it is said ----------------------------------------------------------

def to_json(found):
    def node(it):
        return {"name": changes.label(found.fabric.nodes[it]),
                "guid": changes.guid_text(found.fabric.nodes[it])}
    return {"keep": found.keep, "seconds": round(found.seconds, 2),
            "steps": [{"switches": [node(it) for it in step.switches], "proof": step.proof,
                       "keeps": not step.is_below}
                      for step in found.steps],
            "costly": [{**node(it), "hosts": [node(host) for host in hosts]}
                       for it, hosts in found.costly.items()],
            "lossy": [{**node(it), "loses": words} for it, words in found.lossy.items()],
            "exit_status": found.exit_status,
            "notes": found.notes}


def to_text(found):
    def names(ids):
        return whatif.some([changes.label(found.fabric.nodes[it]) for it in ids], _N_SHOWN)
    def n_switches(steps):
        return sum(len(step.switches) for step in steps)
    doubtful = [step for step in found.steps if not step.proof]
    lines = whatif.fold(
        f"{n_switches(found.steps) - n_switches(doubtful)} switches can be restarted in "
        f"{len(found.steps) - len(doubtful)} steps without losing a pair of hosts; "
        + (f"of {n_switches(doubtful)} in {len(doubtful)} more steps that is not known; "
           if doubtful else "")
        + f"{found.keep:.0%} of links stay between levels. "
        f"Computed in {found.seconds:.0f} s.")
    for number, step in enumerate(found.steps, 1):
        below = ", fewer links stay" if step.is_below else ""
        proof = f"proven by {step.proof}" if step.proof else "NOT PROVEN"
        lines += whatif.fold(f"{number:3}. {len(step.switches)} switches, {proof}{below}: "
                             f"{names(step.switches)}")
    if found.lossy:
        lines += ["", *whatif.fold(
            f"{len(found.lossy)} switches have another way for all hosts, which OpenSM does not "
            "find or which loops; without one of them it loses:")]
        lines += whatif.shorten([f"{changes.label(found.fabric.nodes[it])}: {words}"
                                 for it, words in found.lossy.items()], 10)
    if found.costly:
        lines += ["", *whatif.fold(
            f"{len(found.costly)} switches take hosts along that have no other way; restart "
            "them one at a time, when their hosts can be away:")]
        lines += whatif.shorten([f"{changes.label(found.fabric.nodes[it])}: {len(hosts)} hosts "
                                 f"({names(hosts[:3])})" for it, hosts in found.costly.items()],
                                10)
    for note in found.notes:
        lines += whatif.fold(f"- {note}")
    return "\n".join(lines)


def say(found, is_json):
    """Prints it; returns the exit status: 1 where some switches lose something, UNKNOWN where
    steps are not proven."""
    print(json.dumps(to_json(found), indent=1) if is_json else to_text(found))
    return found.exit_status
