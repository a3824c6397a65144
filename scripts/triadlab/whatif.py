# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What OpenSM would do if a fabric were changed.

Model: a copy of the fabric as it is runs in ibsim with stock opensm and Triad.  It loses what
is removed: then its SM does what the fabric's would, which keeps routes that are still among
the shortest.  Where something is new, or the SM has other options, routes are made anew: by an
SM that starts, in a second copy whose ports have the same LIDs.  Triad in the copies says what
routes are and what is wrong with them; here these are compared.  The fabric and its SM are only
read.

    Replica ── Copy ──> Picture (as it is) ──┐
       └─ changes ── Copy ──> Picture (changed) ──> Answer: text, JSON, exit status

All runs in a sandbox (sandbox.py)."""

from __future__ import annotations  # 'int | None' before Python 3.10

import collections
import copy
import datetime
import json
import re
import signal
import sys
import textwrap
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import changes, down, forwarding, netfile, nodes, plugin, process, replica, sandbox, \
    simulator, up
from .errors import LabError

LOST, SAME, UNKNOWN = 1, 0, sandbox.FAILED

# Triad in a copy only judges routes.
_TRIAD_CONF = """\
[perfmgr]
enabled = false
[history]
dir =
"""
_CHECK_S = 600
_ROUNDED = datetime.timedelta(milliseconds=1)
_N_SHOWN = 5
_MAX_KINDS = 2000
_NAME_WIDTH = 23
# Numbers of 'routes check' that are faults, with what people call them.
FAULTS = {
    "unreachable_pairs": "pairs that don't", "credit_loops": "credit loops",
    "forwarding_loops": "forwarding loops", "down_up_turns": "turns from down to up",
    "longer_paths": "paths longer than the shortest",
    "unreachable_switches": "ways to switches lost", "multicast_loops": "multicast loops",
}
# Those of which one more is harm.
HARM = ("unreachable_pairs", "credit_loops", "forwarding_loops", "multicast_loops",
         "unreachable_switches")
# What says whether a number is known, and why it isn't.
_CHECKED = {
    "credit_loops": ("credit_loops_checked", None),
    "down_up_turns": ("down_up_turns_checked", "the fabric is no tree"),
    "multicast_loops": ("multicast_all_checked", "only the first 1,024 multicast LIDs are "
                                                 "looked at"),
}


@dataclass
class Picture:
    """A copy's routes; in 'check' a number that is not known is None; 'served' are the ports of
    its hosts that the SM reaches, each (id, number), 'members' those of partitions, by P_Key;
    'lids' is the text of its SM's file of LIDs, 'seconds' by what took them."""

    routes: dict
    check: dict
    unicast: dict
    multicast: dict
    served: set[tuple[str, int]]
    members: dict
    lids: str
    seconds: dict[str, float] = field(default_factory=dict)


class Clock:
    """Adds up what takes how long."""

    def __init__(self):
        self.seconds = {}
        self._begin = time.monotonic()

    def lap(self, what):
        now = time.monotonic()
        self.seconds[what] = round(self.seconds.get(what, 0) + now - self._begin, 2)
        self._begin = now


# --- copies ------------------------------------------------------------------

def reached(fabric, start):
    """The ids of the nodes that an SM on the node 'start' finds: packets don't pass hosts."""
    found, todo = {start}, [start]
    while todo:
        node = fabric.nodes[todo.pop()]
        if node.kind != netfile.SWITCH and node.node_id != start:
            continue
        for peer, _ in node.links.values():
            if peer in fabric.nodes and peer not in found:
                found.add(peer)
                todo.append(peer)
    return found


def hosts_among(fabric, ids):
    """Those that people would miss."""
    return {it for it in ids if fabric.nodes[it].kind != netfile.SWITCH
            and not nodes.is_in_switch(fabric.nodes[it])}


def ports_among(fabric, ids):
    """Ports of hosts that have a link to one of these nodes."""
    return {(it, port) for it in hosts_among(fabric, ids)
            for port, (peer, _) in fabric.nodes[it].links.items() if peer in ids}


def choose_sm(fabric, wanted):
    """Where the SM is: the node wanted, unless more hosts are reached from another one.
    Returns its id and what it reaches."""
    best, left = (None, set()), {node.node_id for node in nodes.usable_hosts(fabric)}
    for candidate in [wanted, *sorted(left)] if wanted in left else sorted(left):
        if candidate not in left:
            continue
        found = reached(fabric, candidate)
        left -= found
        if best[0] is None or len(hosts_among(fabric, found)) > \
                len(hosts_among(fabric, best[1])):
            best = candidate, found
    if best[0] is None:
        raise LabError("no host is left for an SM to be on")
    return best


def needs_restart(fabric, changed, sm, new_sm):
    """Whether routes after the change are made without regard to those before: by an SM that
    starts, or because something is new.  An SM that only loses something keeps routes that
    are still among the shortest."""
    return sm != new_sm or not all(
        it in fabric.nodes and node.links.items() <= fabric.nodes[it].links.items()
        for it, node in changed.nodes.items())


def cuts(fabric, changed):
    """What ibsim is told so that one fabric becomes the other, which has less."""
    commands = [f'Unlink "{it}"' for it in fabric.nodes if it not in changed.nodes]
    for node_id, node in changed.nodes.items():
        commands += [f'Unlink "{node_id}"[{port}]'
                     for port, (peer, peer_port) in fabric.nodes[node_id].links.items()
                     if port not in node.links and peer in changed.nodes
                     and (node_id, port) <= (peer, peer_port)]
    return commands


class Copy:
    """A fabric in ibsim with an SM; ended when it is left."""

    def __init__(self, fabric, wanted, sm, name, triad_conf=None):
        self._fabric, self._sm, self._clock = fabric, sm, Clock()
        self._folder = Path(sandbox.FOLDER, name)
        self._lab, (self._log,) = up.up(up.Wishes(
            folder=self._folder, net=name, fabric=fabric, site=wanted, sms=[sm], quiet=True,
            triad_conf=triad_conf or _TRIAD_CONF))
        self._outdated = None
        self._clock.lap("OpenSM")

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        down.down(self._folder)

    def picture(self):
        """Of the fabric as it is now."""
        n_links = _links_of_tiers(self._fabric, reached(self._fabric, self._sm))
        routes, check = plugin.wait(lambda: self._checked(n_links),
                                    "a check of the copy's routes", _CHECK_S)
        self._clock.lap("checks")
        unicast, multicast = replica.tables_of(self._lab)
        self._clock.lap("tables")
        seconds, self._clock = self._clock.seconds, Clock()
        return Picture(routes, without_unknown(check), unicast, multicast,
                       ports_among(self._fabric, reached(self._fabric, self._sm)),
                       replica.members_of(self._lab),
                       replica.lids_of(self._lab), seconds)

    def _checked(self, n_links):
        """Routes and what is wrong with them by one and the same check, of all that there is
        now, or None."""
        routes = self._ask_routes()
        if not routes or _is_of_check(routes, self._outdated) \
                or sum(tier["links"] for tier in routes["tiers"]) != n_links:
            return None
        check = self._ask("routes", "check")
        again = check and self._ask_routes()
        if not again or not _is_of_check(again, routes):
            return None
        return routes, check

    def _ask_routes(self):
        return self._ask("routes", "-n", str(_N_SHOWN))

    def _ask(self, *words):
        """None as long as it is not known."""
        return json.loads(plugin.triadctl(self._lab, *words, "--json", allowed=(0, 1, 3))
                          or "null")

    def lose(self, changed):
        """Makes it a fabric that has less, at once for its SM."""
        record = self._lab.sms[0].process.record()
        self._outdated = self._ask_routes()
        n_up = self._log.update().n_up
        process.signal_record(record, signal.SIGSTOP)
        try:
            for command, answer, is_refused in simulator.Console(self._lab, _CHECK_S).ask(
                    cuts(self._fabric, changed)):
                if is_refused:
                    raise LabError(f"ibsim refused {command}: {answer}")
        finally:
            process.signal_record(record, signal.SIGCONT)
        self._fabric = changed
        process.signal_record(record, signal.SIGHUP)
        plugin.wait(lambda: self._log.update().n_up > n_up, "a sweep of the copy", _CHECK_S)
        self._clock.lap("OpenSM")


def without_unknown(check):
    """The answer of 'routes check' with None in place of numbers that were not computed."""
    return {**check, **{fault: None for fault, (is_checked, _) in _CHECKED.items()
                        if not check[is_checked]}}


def _is_of_check(routes, others):
    """Whether these are routes of the check that the others, or None, are of.  Its time is
    converted anew for each answer, which may round it otherwise."""
    return others is not None and routes["took_ms"] == others["took_ms"] \
        and abs(_time_of(routes) - _time_of(others)) <= _ROUNDED


def _time_of(routes):
    return datetime.datetime.fromisoformat(routes["checked"].rstrip("Z"))


def _links_of_tiers(fabric, found):
    """How many links, each direction for itself, Triad counts there: not those out of HCAs
    inside of switches."""
    return sum(peer in found for it in found if not nodes.is_in_switch(fabric.nodes[it])
               for peer, _ in fabric.nodes[it].links.values())


# --- comparison --------------------------------------------------------------

@dataclass
class Answer:
    """What is different once the changes are made."""

    done: list[str]
    fabric: netfile.Fabric
    before: Picture
    after: Picture
    # The copy's tables as it is against the fabric's, unicast and multicast; None: not known.
    copy_is_site: forwarding.Difference | None
    groups_are_site: forwarding.Difference | None
    lost_hosts: list[str]
    # Of hosts that keep others.
    lost_ports: list[tuple[str, int]]
    new_hosts: list[str]
    tables: forwarding.Difference
    multicast: forwarding.Difference
    notes: list[str]
    # Pairs of hosts' ports that are in both and share a partition: before, after, and those
    # that share one before and none after.  None: there are too many kinds of ports to tell.
    shared: tuple[int, int] | None
    parted: int | None

    @property
    def lost_pairs(self):
        """Ordered pairs of hosts' ports as they are that no longer arrive; at least so many,
        where 'is_lower_bound'."""
        n, kept = len(self.before.served), len(self.before.served & self.after.served)
        new = len(self.after.served) - kept
        of_new = new * (new - 1) + 2 * new * kept
        # Pairs that did not arrive before may be among those that go.
        return max(0, n * (n - 1) - kept * (kept - 1) - self.before.check["unreachable_pairs"]
                   + max(0, self.after.check["unreachable_pairs"] - of_new))

    @property
    def is_lower_bound(self):
        return bool(self.before.check["unreachable_pairs"]
                    or (self.after.check["unreachable_pairs"]
                        and self.after.served - self.before.served))

    def grown(self, fault):
        """How many more there are; None: not known."""
        counts = [it.check[fault] for it in (self.before, self.after)]
        return None if None in counts else counts[1] - counts[0]

    @property
    def harm(self):
        """Faults that there are more of, with how many."""
        return {it: more for it in HARM if (more := self.grown(it)) and more > 0}

    @property
    def unknown(self):
        """What was not looked at, so that it may be lost, as words."""
        return [FAULTS[it] for it in HARM if self.grown(it) is None] + (
            ["pairs that share a partition"] if self.parted is None else [])

    @property
    def exit_status(self):
        if self.lost_hosts or self.lost_ports or self.parted or self.harm:
            return LOST
        return UNKNOWN if self.unknown else SAME


def compare(fabric, changed, before, after, done, site, notes):
    """The Answer; 'site' has the tables of the fabric itself, unicast and multicast, or None
    for those that are not known."""
    hosts, still = ({it for it, _ in picture.served} for picture in (before, after))
    ports = sorted(it for it in before.served - after.served if it[0] in still)
    new = sorted(still - hosts)
    return Answer(
        done, fabric, before, after,
        site[0] and forwarding.compare_unicast(site[0], before.unicast),
        site[1] and forwarding.compare_multicast(site[1], before.multicast),
        sorted(hosts - still), ports, [changes.label(changed.nodes[it]) for it in new],
        forwarding.compare_unicast(before.unicast, after.unicast),
        forwarding.compare_multicast(before.multicast, after.multicast),
        notes + _why_unknown(before, after), *_shared(fabric, before, after))


def _why_unknown(before, after):
    """A sentence for each number that is not known of one of the pictures."""
    notes = []
    for fault, (_, why) in _CHECKED.items():
        lacking = [it.check for it in (before, after) if it.check[fault] is None]
        if lacking:
            why = why or lacking[-1].get("credit_loops_not_checked_because") or "Triad can't say"
            notes.append(f"how many {FAULTS[fault]} there are is not known: {why}")
    return notes


def _shared(fabric, before, after):
    """Answer.shared and Answer.parted."""
    ports = {netfile.port_guid(fabric.nodes[it], port)
             for it, port in before.served & after.served}
    counts = pairs_in_partitions(before.members, after.members, ports)
    if counts:
        return counts[:2], counts[2]
    return None, 0 if _only(before.members, ports) == _only(after.members, ports) else None


def _only(members, ports):
    """Those of partitions that are among these ports."""
    found = {key: {guid: is_full for guid, is_full in of_key.items() if guid in ports}
             for key, of_key in members.items()}
    return {key: of_key for key, of_key in found.items() if of_key}


def _masks(members, ports):
    """Of each port the partitions that it is a member of, and a full one, a bit each."""
    masks = {port: [0, 0] for port in ports}
    for bit, of_key in enumerate(members.values()):
        for guid, is_full in of_key.items():
            if guid in masks:
                masks[guid][0] |= 1 << bit
                masks[guid][1] |= is_full << bit
    return masks


def pairs_in_partitions(before, after, ports):
    """How many ordered pairs of these ports have a P_Key in common, of which one at least is
    that of a full member, by members before, by those after, and before but not after.  None:
    more than _MAX_KINDS different sets of P_Keys."""
    was, will = _masks(before, ports), _masks(after, ports)
    kinds = collections.Counter((*was[it], *will[it]) for it in ports)
    if len(kinds) > _MAX_KINDS:
        return None
    counts = [0, 0, 0]
    for one, count in kinds.items():
        for other, n_others in kinds.items():
            pairs = count * (n_others - (one == other))
            shared = one[0] & other[1] or one[1] & other[0]
            shares = one[2] & other[3] or one[3] & other[2]
            counts[0] += pairs if shared else 0
            counts[1] += pairs if shares else 0
            counts[2] += pairs if shared and not shares else 0
    return tuple(counts)


# --- what is asked -----------------------------------------------------------

@dataclass
class Question:
    changes: changes.Changes
    routing_engine: str | None = None
    partitions: str | None = None
    policy: str | None = None
    triad_conf: str | None = None


def changed_site(site, question, fabric):
    """A copy of the options and files, changed, and sentences about that."""
    wanted, done = copy.deepcopy(site), []
    guids = netfile.port_guids(fabric)
    if question.routing_engine:
        wanted.keys["routing_engine"] = question.routing_engine
        done.append(f"routing engine {question.routing_engine}")
    if question.partitions is not None:
        wanted.set_file("partition_config_file", netfile.translate(question.partitions, guids))
        done.append("other partitions")
    if question.policy is not None:
        wanted.set_file("qos_policy_file", netfile.translate(question.policy, guids))
        wanted.keys["qos"] = "TRUE"
        done.append("another QoS policy")
    return wanted, done


def answer(original, question, tell):
    """The Answer to a Question about a Replica; tell(text) says what is being done."""
    fabric = original.fabric
    fabric.commands = []
    notes = list(original.notes)
    changed, done = changes.apply(fabric, question.changes)
    wanted, more = changed_site(original.site, question, fabric)
    sm, _ = choose_sm(fabric, original.sm)
    new_sm, _ = choose_sm(changed, sm)
    if new_sm != sm:
        notes.append(f"the SM is on {changes.label(fabric.nodes[sm])}, which is cut off: another "
                     f"takes over, here on {changes.label(changed.nodes[new_sm])}")
    starts = bool(more) or needs_restart(fabric, changed, sm, new_sm)
    tell("the fabric as it is")
    with Copy(fabric, original.site, sm, "as-it-is", question.triad_conf) as copied:
        before = copied.picture()
        if not starts:
            tell("the changed fabric")
            copied.lose(changed)
            after = copied.picture()
    if starts:
        tell("the changed fabric")
        replica.set_lids(wanted, before.lids)
        with Copy(changed, wanted, new_sm, "changed", question.triad_conf) as copied:
            after = copied.picture()
    wished = (question.routing_engine or "").replace(",", " ").split()
    if wished and after.routes["engine"] != wished[0]:
        notes.insert(0, f"OpenSM could not route by {wished[0]} and took "
                        f"{after.routes['engine']}")
    return compare(fabric, changed, before, after, done + more,
                   (original.unicast, original.multicast), notes)


# --- how it is said ----------------------------------------------------------

def to_json(found):
    names = replica.names_of(found.fabric)

    def tables(difference):
        return {"entries": difference.entries, "blocks": difference.blocks,
                "switches": [{"name": names.get(guid), "guid": f"0x{guid:016x}", "entries": n}
                             for guid, n in difference.switches.items()],
                "equal_entries": difference.n_equal,
                "gone": [f"0x{guid:016x}" for guid in difference.missing],
                "new": [f"0x{guid:016x}" for guid in difference.more]}

    def picture(it):
        return {"hosts": n_hosts(it), "host_ports": len(it.served),
                "routes": it.routes, "check": it.check,
                "partitions": {f"0x{key:04x}": len(of_key)
                               for key, of_key in sorted(it.members.items())},
                "seconds": it.seconds}
    return {
        "changes": found.done, "exit_status": found.exit_status,
        "copy_as_site": found.copy_is_site and {
            "equal": found.copy_is_site.is_none, **tables(found.copy_is_site)},
        "multicast_as_site": found.groups_are_site and {
            "equal": found.groups_are_site.is_none, **tables(found.groups_are_site)},
        "lost_hosts": [_node_json(found.fabric.nodes[it]) for it in found.lost_hosts],
        "lost_ports": [{**_node_json(found.fabric.nodes[it]), "port": port}
                       for it, port in found.lost_ports],
        "new_hosts": found.new_hosts, "lost_pairs": found.lost_pairs,
        "lost_pairs_are_a_lower_bound": found.is_lower_bound,
        "pairs_in_partitions": found.shared, "parted_pairs": found.parted,
        "before": picture(found.before), "after": picture(found.after),
        "tables": tables(found.tables), "multicast": tables(found.multicast),
        "notes": found.notes}


def n_hosts(picture):
    return len({it for it, _ in picture.served})


def _node_json(node):
    return {"name": changes.label(node), "guid": changes.guid_text(node)}


def fold(words):
    """A sentence as lines of a terminal; those after the first stand below a "- " or number."""
    indent = " " * re.match(r"(\s*\d+\. |- )?", words).end()
    return textwrap.wrap(words, 79, subsequent_indent=indent, break_on_hyphens=False)


def shorten(lines, count):
    """The first lines, cut to a terminal, and how many more there are."""
    return [line[:79] for line in lines[:count]] + (
        [f"and {len(lines) - count} more (--json has all)"] if len(lines) > count else [])


def some(names, count=_N_SHOWN):
    """The first names, and how many more there are."""
    return ", ".join(names[:count]) + (f" and {len(names) - count} more"
                                       if len(names) > count else "")


def to_text(found):
    """Lines of at most 80 columns."""
    before, after = found.before, found.after
    lines = fold("What if: " + "; ".join(found.done or ["nothing is changed"]))
    lines += fold(_copy_text(found))
    lines.append("")
    lines += fold(_lost_text(found))
    lines += ["", f"{'':34}{'NOW':>14}{'THEN':>14}"]

    def row(what, one, other):
        text = ["?" if it is None else str(it) for it in (one, other)]
        lines.append(f"{what:34}{text[0]:>14}{text[1]:>14}"
                     + ("" if one == other else "  *"))
    row("routing engine", before.routes["engine"], after.routes["engine"])
    row("hosts", n_hosts(before), n_hosts(after))
    if n_hosts(before) != len(before.served) or n_hosts(after) != len(after.served):
        row("ports of hosts", len(before.served), len(after.served))
    row("pairs that arrive", before.routes["arriving_pairs"], after.routes["arriving_pairs"])
    for fault, words in FAULTS.items():
        if any(it.check[fault] != 0 for it in (before, after)) or fault in HARM[:2]:
            row(words, before.check[fault], after.check[fault])
    row("links of a path, mean", _round(before.routes["mean_links"]),
        _round(after.routes["mean_links"]))
    row("SLs", *(" ".join(map(str, it.check["sls"])) or "of engine" for it in (before, after)))
    row("partitions", len(before.members), len(after.members))
    if found.shared is None or found.parted or found.shared[0] != found.shared[1]:
        row("pairs that share a partition", *(found.shared or (None, None)))
    lines += ["", *_tier_lines(before.routes["tiers"], after.routes["tiers"]), ""]
    lines += fold(_tables_text(found))
    for note in found.notes:
        lines += fold(f"- {note}")
    return "\n".join(lines)


def _round(number):
    return None if number is None else round(number, 2)


def _copy_text(found):
    n_nodes = len(found.fabric.nodes)
    seconds = sum(sum(it.seconds.values()) for it in (found.before, found.after))
    text = f"Computed by OpenSM in a copy of the fabric's {n_nodes} nodes, {seconds:.0f} s."
    same, groups = found.copy_is_site, found.groups_are_site
    more = f" Of multicast, {groups.entries} entries differ, {groups.n_equal} are equal." \
        if groups and (groups.entries or groups.n_equal) else ""
    if same is None:
        return text + " The fabric's own tables are not known: whether the copy routes as it " \
                      "does can't be said."
    if same.is_none:
        return text + f" The copy is as the fabric: {same.n_equal} entries of tables at " \
                      f"{same.n_compared} switches are equal." + more
    return text + f" THE COPY IS NOT AS THE FABRIC: {same.entries} entries of tables at " \
                  f"{len(same.switches)} switches differ, {same.n_equal} are equal" \
        + (f"; tables of {len(same.missing) + len(same.more)} switches can't be compared."
           if same.missing or same.more else ".") + more


def _lost_text(found):
    if found.exit_status == SAME:
        text = "Nothing is lost."
    elif found.exit_status == UNKNOWN:
        text = f"WHETHER SOMETHING IS LOST IS NOT KNOWN: not computed: {', '.join(found.unknown)}."
    else:
        names = [changes.label(found.fabric.nodes[it]) for it in found.lost_hosts]
        ports = [f"{changes.label(found.fabric.nodes[it])}:{port}"
                 for it, port in found.lost_ports]
        text = f"LOST: {len(names)} hosts" + (f" ({some(names)})" if names else "") \
            + (f", {len(found.lost_ports)} ports of others ({some(ports)})" if ports else "") \
            + f", {'at least ' * found.is_lower_bound}{found.lost_pairs} pairs."
        pairs = found.after.check["evidence"]["unreachable_pairs"]
        if found.grown("unreachable_pairs") > 0 and pairs:
            text += " For example " + some([
                f"{it.get('source_node_name')} to {it.get('destination_node_name')}"
                for it in pairs], 2) + "."
        if found.parted:
            text += f" {found.parted} pairs of ports no longer share a partition."
        if "credit_loops" in found.harm:
            text += " Credits may loop."
        if found.unknown:
            text += f" Not computed: {', '.join(found.unknown)}."
    if found.new_hosts:
        text += f" New: {len(found.new_hosts)} hosts ({some(found.new_hosts)})."
    return text


def _tier_lines(before, after):
    lines = ["LEVELS  LINKS  THEN     MOST     THEN IMBALANCE  THEN  BUSIEST THEN"]
    tiers = {(it["from"], it["to"]): it for it in before}
    then = {(it["from"], it["to"]): it for it in after}
    for key in sorted(tiers.keys() | then.keys()):
        one, other = tiers.get(key, {}), then.get(key, {})
        # Tiers that nothing crosses say nothing.
        if not (one.get("most") or other.get("most")) or 0 in key:
            continue
        cells = [it.get(what, "-") for what in ("links", "most") for it in (one, other)]
        cells += [f"{it['imbalance']:.2f}" if it.get("imbalance") else "-"
                  for it in (one, other)]
        busiest = f"{other['worst_node_name'].strip()}:{other['worst_port']}" \
            if other.get("worst_node_name") else ""
        # The end of a name tells more than its beginning.
        if len(busiest) > _NAME_WIDTH:
            busiest = f"..{busiest[2 - _NAME_WIDTH:]}"
        lines.append("{:7}{:>6}{:>6}{:>9}{:>9}{:>10}{:>6}  {}".format(
            f"{key[0]}-{key[1]}", *cells, busiest).rstrip())
    return lines


def _tables_text(found):
    names = replica.names_of(found.fabric)
    most = sorted(found.tables.switches.items(), key=lambda it: -it[1])
    text = f"Tables: {found.tables.entries} entries in {found.tables.blocks} blocks change at " \
           f"{len(most)} of {found.tables.n_compared} switches"
    if most:
        text += f", most at {names.get(most[0][0])} ({most[0][1]})"
    if found.multicast.entries:
        text += f"; multicast: {found.multicast.entries} entries at " \
                f"{len(found.multicast.switches)} switches"
    return text + "."


def tell(text):
    if sys.stderr.isatty():
        print(f"what-if: computing {text} ...", file=sys.stderr, flush=True)


def say(found, is_json):
    """Prints it; returns the exit status."""
    print(json.dumps(to_json(found), indent=1) if is_json else to_text(found))
    return found.exit_status
