# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Changes of a fabric that somebody thinks of: links, switches and racks that go, cables and
nodes that come.

Nodes are named as in triadctl: by GUID, by the whole name, by the name up to a blank, by the
name with '#' and the last digits of the GUID, or by the id in an ibsim file.  A name that
several nodes have is refused."""

from __future__ import annotations  # 'int | None' before Python 3.10

import collections
import copy
import csv
import fnmatch
import re
from dataclasses import dataclass, field

from . import netfile
from .errors import UsageError
from .netfile import HCA, SWITCH

# More cables than an adapter has make a new device a switch.
_MAX_HOST_PORTS = 2
_N_SHOWN = 8
_NEW_GUIDS = 0x0200_00FF_0000_0000
_GUID_STRIDE = 0x100


def label(node):
    """What people call a node."""
    return node.description.strip() or node.node_id


def guid_text(node):
    return f"0x{node.guid:016x}" if node.guid is not None else node.node_id


class Names:
    """Finds the nodes that people mean."""

    def __init__(self, fabric):
        self._nodes = fabric.nodes
        self._by_guid, self._by_name = {}, collections.defaultdict(list)
        begins = collections.defaultdict(list)
        for node in fabric.nodes.values():
            if node.guid is not None:
                self._by_guid[node.guid] = node
            self._by_guid.update(dict.fromkeys(node.port_guids.values(), node))
            self._by_name[label(node)].append(node)
            begins[label(node).split(None, 1)[0]].append(node)
        for name, nodes in begins.items():
            self._by_name.setdefault(name, nodes)

    def find_all(self, text):
        """The nodes that have that name, GUID or id."""
        if text in self._nodes:
            return [self._nodes[text]]
        if re.fullmatch(r"(0x)?[0-9a-fA-F]{9,16}", text) and int(text, 16) in self._by_guid:
            return [self._by_guid[int(text, 16)]]
        if text.strip() in self._by_name:
            return self._by_name[text.strip()]
        name, mark, digits = text.rpartition("#")
        return [node for node in self._by_name.get(name.strip(), ()) if mark and digits
                and guid_text(node).endswith(digits.lower())]

    def find(self, text):
        found = self.find_all(text)
        if not found:
            raise UsageError(f"there is no node {text!r} in the fabric")
        if len(found) > 1:
            guids = "".join(f"\n  {guid_text(node)}" for node in found[:_N_SHOWN])
            more = f"\n  and {len(found) - _N_SHOWN} more" if len(found) > _N_SHOWN else ""
            raise UsageError(f"{len(found)} nodes are called {text!r}: name one by its "
                             f"GUID:{guids}{more}")
        return found[0]

    def find_switch(self, text):
        node = self.find(text)
        if node.kind != SWITCH:
            raise UsageError(f"{text!r} is no switch")
        return node

    def find_many(self, pattern):
        """Those whose names begin so, or match a pattern with * and ?; and those that have
        that name alone, if there are any."""
        if found := self.find_all(pattern):
            return found
        if not any(it in pattern for it in "*?"):
            pattern += "*"
        pattern = pattern.replace("[", "[[]")
        found = [node for node in self._nodes.values()
                 if fnmatch.fnmatchcase(label(node), pattern)]
        if not found:
            raise UsageError(f"no node's name is or begins like {pattern!r}")
        return found


def split_port(text):
    """"leaf-01:5" -> "leaf-01", 5."""
    name, _, port = text.rpartition(":")
    if not name or not port.isdecimal():
        raise UsageError(f"{text!r} is no NODE:PORT")
    return name, int(port)


@dataclass
class Changes:
    """As they were asked for, by people's words."""

    links: list[str] = field(default_factory=list)
    switches: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    plans: list[str] = field(default_factory=list)


def apply(fabric, changes):
    """A changed copy of the fabric, and sentences about what was done."""
    changed, done = copy.deepcopy(fabric), []
    changed.is_text_of_ibsim = False
    # All names are those of the fabric as it is.
    names = Names(changed)
    ends = [(names.find(name), port, text) for text in changes.links
            for name, port in [split_port(text)]]
    leaving = [names.find_switch(text) for text in changes.switches]
    for pattern in changes.names:
        found = names.find_many(pattern)
        leaving += found
        done.append(f"without {len(found)} nodes {pattern}")
    for node, port, text in ends:
        if port not in node.links:
            raise UsageError(f"{text!r} has no link")
        peer, peer_port = node.links[port]
        done.append(f"without link {text} - {label(changed.nodes[peer])}:{peer_port}")
    done += [f"without switch {label(node)}" for node in leaving[:len(changes.switches)]]
    for node, port, _ in ends:
        changed.unlink(node, port)
    for node in leaving:
        remove(changed, node)
    for path in changes.plans:
        done += _add_plan(changed, path)
    return changed, done


def remove(fabric, node):
    """Takes out a node, if it is still there."""
    for port in list(node.links):
        fabric.unlink(node, port)
    fabric.nodes.pop(node.node_id, None)


# --- plans -------------------------------------------------------------------

@dataclass
class _Cable:
    """Between two (name or GUID, port), with its rate; 'line' of the plan."""

    ends: list[tuple[str, int]]
    rate: str | None
    line: int


def _add_plan(fabric, path):
    """Adds the cables of a plan that the fabric lacks; nodes that it lacks, too."""
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as stream:
            text = stream.read(64 << 20)
    except OSError as error:
        raise UsageError(f"plan {path}: {error.strerror}") from error
    wanted = netfile.Fabric()
    if re.search(r'^(Switch|Ca|Hca|Rt)\b.*"', text, re.MULTILINE):
        wanted = netfile.parse(text.splitlines())
        cables = _cables_of(wanted)
    else:
        cables = _cables_of_csv(path, text)
    if not cables:
        raise UsageError(f"plan {path}: there is no cable in it with both of its ends; it is an "
                         "expected configuration, an NDT or topoconfig file, or the output of "
                         "ibnetdiscover")
    return _Adder(fabric, wanted, path).add(cables)


def _cables_of(wanted):
    def end(node, port):
        return (guid_text(node) if node.guid is not None else label(node)), port
    return [_Cable([end(node, port), end(wanted.nodes[peer], peer_port)],
                   node.rates.get(port), 0)
            for node in wanted.nodes.values() for port, (peer, peer_port) in node.links.items()
            if peer in wanted.nodes and (node.node_id, port) <= (peer, peer_port)]


def _number(text):
    """The number of a port that is written as "5" or "Port 5"."""
    found = re.fullmatch(r"\s*(?:port\s+)?(\d+)\s*", text or "", re.IGNORECASE)
    return int(found[1]) if found else 0


def _cables_of_csv(path, text):
    rows = [(number, [it.strip() for it in row]) for number, row in
            enumerate(csv.reader(text.splitlines(), skipinitialspace=True), 1)
            if row and row[0].strip()]
    for index, (_, row) in enumerate(rows):
        columns = [re.sub(r"^#?\s*(fields:)?\s*", "", it, flags=re.IGNORECASE).lower()
                   for it in row]
        if {"startdevice", "startport", "enddevice", "endport"} <= set(columns):
            return _ndt_cables(columns, rows[index + 1:])
    rows = [it for it in rows if not it[1][0].startswith("#")]
    if rows and all(re.fullmatch(r"(0x)?[0-9a-fA-F]{1,16}", row[0]) and len(row) > 3
                    and re.fullmatch(r"-|(0x)?[0-9a-fA-F]{1,16}", row[2]) for _, row in rows):
        return [_Cable([(row[0], _number(row[1])), (row[2], _number(row[3]))], None, number)
                for number, row in rows if row[2] != "-"]
    return _expected_cables(path, rows)


def _ndt_cables(columns, rows):
    cables = []
    for number, row in rows:
        of = dict(zip(columns, row))
        ends = [(of.get(f"{side}device", ""), _number(of.get(f"{side}port")))
                for side in ("start", "end")]
        if of.get("linktype", "data").lower() in ("", "data") \
                and all(name and port for name, port in ends):
            cables.append(_Cable(ends, None, number))
    return cables


def _expected_cables(path, rows):
    """An expected configuration: node, port, state, remote, width, speed."""
    cables = []
    for number, row in rows:
        row = [*row, "", "", "", ""]
        remote = dict(part.partition("=")[::2] for part in row[3].split(";") if "=" in part)
        far = remote.get("node_guid") or remote.get("port_guid") \
            or remote.get("name", "").rstrip("*").strip()
        port, far_port = _number(row[1]), _number(remote.get("port"))
        if port and far and far_port and row[2].lower() != "disabled":
            if re.search(r"[*?]", far):
                raise UsageError(f"plan {path}:{number}: {far!r} names more than one node")
            rate = row[4] + row[5] if row[4] and row[5] else None
            cables.append(_Cable([(row[0], port), (far, far_port)], rate, number))
    return cables


class _Adder:
    """Puts cables into a fabric."""

    def __init__(self, fabric, wanted, path):
        self._fabric, self._wanted, self._path = fabric, wanted, path
        self._names = Names(fabric)
        self._new = {}
        self._done = []

    def add(self, cables):
        ports = collections.defaultdict(set)
        for cable in cables:
            for name, port in cable.ends:
                ports[name].add(port)
        n_added = 0
        for cable in cables:
            (node, port), (peer, peer_port) = [
                (self._node(name, ports[name]), port) for name, port in cable.ends]
            if node.links.get(port) == (peer.node_id, peer_port):
                continue
            for end, number in (node, port), (peer, peer_port):
                self._check_free(end, number, cable)
            self._fabric.link(node, port, peer, peer_port)
            if cable.rate:
                node.rates[port] = peer.rates[peer_port] = cable.rate
            n_added += 1
        return [f"with {n_added} cables of {self._path}", *self._done]

    def _check_free(self, node, port, cable):
        where = f"plan {self._path}" + (f":{cable.line}" if cable.line else "")
        if not 1 <= port <= node.n_ports:
            raise UsageError(f"{where}: {label(node)} has ports 1 to {node.n_ports}, not {port}")
        if port in node.links:
            peer, peer_port = node.links[port]
            raise UsageError(f"{where}: {label(node)}:{port} has a cable to "
                             f"{label(self._fabric.nodes[peer])}:{peer_port}; take it out by "
                             "--remove-link")

    def _node(self, name, ports):
        if name in self._new:
            return self._new[name]
        if self._names.find_all(name):
            return self._names.find(name)
        model = Names(self._wanted).find_all(name)
        node = self._make(name, ports, model[0] if model else None)
        self._new[name] = self._fabric.add(node)
        kind = "switch" if node.kind == SWITCH else "host"
        self._done.append(f"with new {kind} {label(node)} of {node.n_ports} ports")
        return node

    def _make(self, name, ports, model):
        """A node that the fabric doesn't have; what the plan doesn't say of it is taken from
        most of the others."""
        if model:
            kind, n_ports, guid, name = model.kind, model.n_ports, model.guid, label(model)
        else:
            kind = SWITCH if max(len(ports), max(ports)) > _MAX_HOST_PORTS else HCA
            usual = collections.Counter(
                node.n_ports for node in self._fabric.of_kind(kind)).most_common(1)
            n_ports = max([max(ports), *(size for size, _ in usual)])
            guid = int(name, 16) if re.fullmatch(r"(0x)?[0-9a-fA-F]{16}", name) else None
        if guid is None:
            guid = _NEW_GUIDS + _GUID_STRIDE * (len(self._new) + 1)
            while any(node.guid == guid for node in self._fabric.nodes.values()):
                guid += _GUID_STRIDE
        return netfile.Node(kind, f"{'S' if kind == SWITCH else 'H'}-{guid:016x}", n_ports,
                            name, guid)
