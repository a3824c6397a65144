# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Forwarding tables as OpenSM writes them into opensm.fdbs and opensm.mcfdbs, which
'triadctl topology --fdbs' and ibdiagnet2's files have, too.

    dump_ucast_routes: Switch 0x0002c98b5c210d00
    LID    : Port : Hops : Optimal
    0x0001 : 025  : 04   : yes
    0x0002 : UNREACHABLE

    Switch 0x0002c98b5c210d00
    LID    : Out Port(s)
    0xC000 : 0x001 0x005

Model: of a switch, a table has a port for each LID; NO_PORT: packets to it are dropped.  A
switch that the file doesn't have is one whose table is not known.

Memory: 48 KiB a switch, of MAX_SWITCHES; the file is read in pieces, and a switch with more than
MAX_SECTION octets is none."""

from __future__ import annotations  # 'int | None' before Python 3.10

import re
from dataclasses import dataclass, field

from .errors import LabError

NO_PORT = 255
N_LIDS = 0xC000
_LAST_MLID = 0xFFFE
BLOCK = 64
N_FIRST = 10
MAX_SWITCHES = 16384
MAX_SECTION = 32 << 20

_HEADER = re.compile(rb"^.*?Switch 0x([0-9A-Fa-f]+)", re.MULTILINE)
_ENTRY = re.compile(rb"^0x([0-9A-Fa-f]+)\s*:\s*(\d+|UNREACHABLE)", re.MULTILINE)
_PORT = re.compile(rb"^0x[0-9A-Fa-f]+\s*:\s*(\d+|U)", re.MULTILINE)
_GROUP = re.compile(rb"^0x([0-9A-Fa-f]+)\s*:((?:[ \t]+0x[0-9A-Fa-f]+)*)", re.MULTILINE)
_LID = re.compile(rb"0x([0-9A-Fa-f]+)\s*:")
_CHUNK_OCTETS = 8 << 20

_PORTS = {b"%03d" % port: port for port in range(256)} | {b"U": NO_PORT}


def _sections(stream):
    """Yields (GUID of a switch, the lines about it) from a binary stream."""
    guid, rest = None, b""
    while True:
        chunk = stream.read(_CHUNK_OCTETS)
        rest += chunk
        begins = list(_HEADER.finditer(rest))
        # The last one may go on in the next piece, and so may a line with a header.
        for match, following in zip([None, *begins], begins):
            if guid is not None:
                yield guid, rest[match.end() if match else 0:following.start()]
            guid = int(following[1], 16)
        if begins:
            # A number that is cut is not taken for the whole.
            if chunk and begins[-1].end() == len(rest):
                # What is before it has been yielded.
                guid = None
                rest = rest[begins[-1].start():]
            else:
                rest = rest[begins[-1].end():]
        if len(rest) > MAX_SECTION + _CHUNK_OCTETS:
            raise LabError("it is no file of forwarding tables: too much text about one switch")
        if not chunk:
            if guid is not None:
                yield guid, rest
            return


def _unicast(lines):
    """One table.  Nearly always LIDs follow each other, which is read faster."""
    ports = _PORT.findall(lines)
    if not ports:
        return bytes([NO_PORT]) * N_LIDS
    first = int(_LID.search(lines)[1], 16)
    end = _LID.search(lines, lines.rstrip().rfind(b"\n") + 1)
    last = int(end[1], 16) if end else -1
    table = bytearray([NO_PORT]) * N_LIDS
    if last - first + 1 == len(ports) and last < N_LIDS:
        table[first:last + 1] = bytes(_PORTS.get(port, NO_PORT) for port in ports)
        return bytes(table)
    for lid, port in _ENTRY.findall(lines):
        if port != b"UNREACHABLE" and int(lid, 16) < N_LIDS:
            table[int(lid, 16)] = min(int(port), NO_PORT)
    return bytes(table)


def _multicast(lines):
    return {number: frozenset(it for port in ports.split() if (it := int(port, 16)) < NO_PORT)
            for lid, ports in _GROUP.findall(lines)
            if N_LIDS <= (number := int(lid, 16)) <= _LAST_MLID}


def _read(stream, parse):
    tables = {}
    for guid, lines in _sections(stream):
        if len(tables) >= MAX_SWITCHES:
            raise LabError(f"it has tables of more than {MAX_SWITCHES} switches")
        tables[guid] = parse(lines)
    return tables


def read_unicast(stream):
    """Tables by the switch's GUID, each N_LIDS octets; LabError where there are too many."""
    return _read(stream, _unicast)


def read_multicast(stream):
    """By the switch's GUID: the ports, a frozenset, by the multicast LID."""
    return _read(stream, _multicast)


@dataclass
class Difference:
    """Between two fabrics' tables: of 'switches' those that differ, by GUID with the number
    of entries; 'n_equal' entries are the same, and in 'blocks' of 64 some are not; 'first'
    are examples (GUID, LID, port, other port).  'missing' are in the first only, 'more' in
    the second only."""

    switches: dict[int, int] = field(default_factory=dict)
    n_compared: int = 0
    entries: int = 0
    n_equal: int = 0
    blocks: int = 0
    first: list[tuple] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)
    more: list[int] = field(default_factory=list)

    @property
    def is_none(self):
        return not (self.entries or self.missing or self.more)

    def _add(self, guid, found, blocks):
        if found:
            self.switches[guid] = len(found)
            self.entries += len(found)
            self.blocks += blocks
            self.first += [(guid, *it) for it in found[:N_FIRST - len(self.first)]]


def _begin(one, other):
    return Difference(missing=sorted(one.keys() - other.keys()),
                      more=sorted(other.keys() - one.keys()),
                      n_compared=len(one.keys() & other.keys()))


def compare_unicast(one, other):
    """Entries that lead somewhere in either; a LID that neither knows is not counted."""
    result = _begin(one, other)
    for guid in sorted(one.keys() & other.keys()):
        table, than = one[guid], other[guid]
        found, blocks = [], 0
        if table != than:
            for at in range(0, N_LIDS, BLOCK):
                if table[at:at + BLOCK] != than[at:at + BLOCK]:
                    blocks += 1
                    found += [(lid, table[lid], than[lid]) for lid in range(at, at + BLOCK)
                              if table[lid] != than[lid]]
        result.n_equal += N_LIDS - table.count(NO_PORT) - sum(
            port != NO_PORT for _, port, _ in found)
        result._add(guid, found, blocks)
    return result


def compare_multicast(one, other):
    """A group's ports at a switch are one entry; 'blocks' is 0.  A switch of which there is
    nothing to say is one without groups."""
    result = Difference(n_compared=len(one.keys() | other.keys()))
    for guid in sorted(one.keys() | other.keys()):
        table, than = one.get(guid, {}), other.get(guid, {})
        found = [(lid, table.get(lid, frozenset()), than.get(lid, frozenset()))
                 for lid in sorted(table.keys() | than.keys())
                 if table.get(lid, frozenset()) != than.get(lid, frozenset())]
        result.n_equal += len(table.keys() | than.keys()) - len(found)
        result._add(guid, found, 0)
    return result
