# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fabrics in the file ibdiagnet2.db_csv, which ibdiagnet writes.

Model: the file has sections, each with a line of column names and a row a node, port or
link. Columns are taken by their names, because each release has more of them; sections and
columns that are not known are skipped. A row is handled as it is read: a large fabric has
millions of them. Those of sections that stand before NODES wait for it.

    START_NODES
    NodeDesc,NumPorts,NodeType,...,NodeGUID,PortGUID,...
    "leaf-01",36,2,...
    END_NODES

NODES and LINKS are the fabric, PORTS has what links run at, LIDs and states, PM_INFO the
counters, CABLE_INFO what is plugged in, PKEY the partitions. A port's speed is a bit: 1, 2, 4 for SDR,
DDR, QDR; 256 and so on for FDR to XDR; 65536 for FDR10."""

import collections
import csv
import itertools
import re

from . import modules, netfile
from .errors import LabError

FIRST_SECTION = re.compile(r"^START_[A-Z_]+\s*$", re.MULTILINE)
_KINDS = {1: netfile.HCA, 2: netfile.SWITCH, 3: netfile.ROUTER}
_LETTERS = {netfile.HCA: "H", netfile.SWITCH: "S", netfile.ROUTER: "R"}
_WIDTHS = {1: "1x", 2: "4x", 4: "8x", 8: "12x", 16: "2x"}
_SPEEDS = {1: "SDR", 2: "DDR", 4: "QDR", 256: "FDR", 512: "EDR", 1024: "HDR", 2048: "NDR",
           4096: "XDR", 65536: "FDR10"}
# States of ports.
INIT, ARMED = 2, 3
# Of PM_INFO: what ibsim's PortCounters has.
COUNTERS = ["SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter",
            "PortRcvErrors", "PortRcvRemotePhysicalErrors", "PortRcvSwitchRelayErrors",
            "PortXmitDiscards", "PortXmitConstraintErrors", "PortRcvConstraintErrors",
            "LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors", "VL15Dropped",
            "PortXmitWait"]


def is_one(text):
    """Whether the beginning of a file is that of such a file."""
    return FIRST_SECTION.search(text) is not None


def _read_sections(lines, wanted):
    """Yields (name, rows) of each section that is wanted; rows are dictionaries, to be taken
    before the next section is."""
    lines = iter(lines)
    for line in lines:
        if not (begun := re.match(r"START_(\w+)\s*$", line)):
            continue
        end = f"END_{begun[1]}"
        inside = itertools.takewhile(lambda line, end=end: line.strip() != end, lines)
        if begun[1] in wanted:
            yield begun[1], csv.DictReader(inside, skipinitialspace=True)
        # What nobody took.
        collections.deque(inside, 0)


def _number(row, *names):
    """A number of the row by one of its names; None where it has none of them."""
    for name in names:
        text = row.get(name) or ""
        try:
            return int(text, 0)
        except ValueError:
            continue
    return None


def _add_node(fabric, by_guid, row):
    guid, kind = _number(row, "NodeGUID", "NodeGuid"), _KINDS.get(_number(row, "NodeType"))
    n_ports = _number(row, "NumPorts")
    if guid is None or not kind or not n_ports:
        raise LabError(f"a node without NodeGUID, NodeType or NumPorts: {dict(row)}")
    # An HCA has a row for each port.
    if guid not in by_guid:
        by_guid[guid] = fabric.add(netfile.Node(
            kind, f"{_LETTERS[kind]}-{guid:016x}", n_ports,
            (row.get("NodeDesc") or "").replace('"', "'"), guid,
            vendor=_number(row, "VendorID"), device=_number(row, "DeviceID")))
    port, port_guid = _number(row, "LocalPortNum"), _number(row, "PortGUID", "PortGuid")
    if kind != netfile.SWITCH and port and port_guid:
        by_guid[guid].port_guids[port] = port_guid


def _rate(row):
    width = _WIDTHS.get(_number(row, "LinkWidthActv"))
    speed = _SPEEDS.get(_number(row, "LinkSpeedActv"))
    return f"{width}{speed}" if width and speed else None


def _add_port(by_guid, row, held):
    """Adds to 'held' a port that does not carry data; which ports have links may not be known
    yet."""
    node, port = by_guid.get(_number(row, "NodeGuid", "NodeGUID")), _number(row, "PortNum")
    if not node or port is None:
        return
    lid, lmc = _number(row, "LID"), _number(row, "LMC") or 0
    if lid:
        node.set_lid(0 if node.kind == netfile.SWITCH else port, lid, lmc)
    guid = _number(row, "PortGuid", "PortGUID")
    if node.kind != netfile.SWITCH and guid and port:
        node.port_guids[port] = guid
    rate = _rate(row)
    if rate:
        node.rates[port] = rate
    if _number(row, "PortState", "PortLogicalState") in (INIT, ARMED):
        held.append((node, port))


def _leave_out(fabric, held):
    """Takes the links of ports that don't carry data out: a lab's OpenSM would make them
    active, and route over them."""
    for node, port in held:
        fabric.unlink(node, port)
    if held:
        names = ", ".join(f"{node.description}:{port}" for node, port in held[:5])
        fabric.notes.append(f"ports in INIT or ARMED, which a copy does not hold: their links "
                            f"are left out ({len(held)}: {names}"
                            + (", ..." if len(held) > 5 else "") + ")")


def _add_link(by_guid, row):
    ends = [(by_guid.get(_number(row, f"NodeGuid{n}", f"NodeGUID{n}")),
             _number(row, f"PortNum{n}")) for n in (1, 2)]
    for node, port in ends:
        if not node or not port or port > node.n_ports:
            raise LabError(f"a link to a node or port that is not there: {dict(row)}")
    (one, port), (other, other_port) = ends
    one.links[port] = (other.node_id, other_port)
    other.links[other_port] = (one.node_id, port)


def _add_counters(by_guid, row, commands):
    """Adds to 'commands', by node and port."""
    node = by_guid.get(_number(row, "NodeGUID", "NodeGuid"))
    port = _number(row, "PortNumber", "PortNum")
    if node and port and (found := [
            f'PerformanceSet "{node.node_id}"[{port}] PortCounters.{name}={value}'
            for name in COUNTERS if (value := _number(row, name))]):
        commands.append((node, port, found))


def _first_number(text):
    """Of "20 m" or "35C"; None where there is none."""
    found = re.search(r"-?\d+(\.\d+)?", text or "")
    return float(found[0]) if found else None


def _add_cable(by_guid, row, commands):
    """The same."""
    node = by_guid.get(_number(row, "NodeGuid", "NodeGUID"))
    port = _number(row, "PortNum", "PortNumber")
    serial = (row.get("SN") or "").strip()
    if not node or not port or serial in ("", "N/A", "NA"):
        return
    length_m = next((length for name in ("LengthCopperOrActive", "LengthSMFiber")
                     if (length := _first_number(row.get(name)))), 0)
    module = modules.cable(
        _number(row, "Identifier") or modules.QSFP28, vendor=row.get("Vendor") or "",
        part=row.get("PN") or "", serial=serial, revision=row.get("Rev") or "",
        oui=_number(row, "OUI") or 0, length_m=length_m,
        is_optical="optic" in (row.get("TypeDesc") or "").lower(),
        temperature_c=_first_number(row.get("Temperature")))
    commands.append((node, port, module.commands(node.node_id, port)))


def _add_member(members, row):
    guid, key = _number(row, "PortGUID", "PortGuid"), _number(row, "PKey", "Pkey")
    if not guid or not key or not key & 0x7fff:
        return
    is_full = key & 0x8000 or (row.get("Membership") or "").lower().startswith("full")
    partition = members.setdefault(key & 0x7fff, {})
    partition[guid] = bool(is_full) or partition.get(guid, False)


def read_members(lines):
    """By P_Key, without the bit of membership: GUIDs of ports, and whether they are full
    members."""
    members: dict[int, dict[int, bool]] = {}
    for _, rows in _read_sections(lines, ("PKEY",)):
        for row in rows:
            _add_member(members, row)
    return members


def _partitions(members):
    """The text of partitions.conf; "" where ports are in the default partition alone, as
    full members."""
    default = members.pop(0x7fff, {})
    if not members and all(default.values()):
        return ""
    limited = [guid for guid, is_full in default.items() if not is_full]
    lines = ["Default=0x7fff, ipoib: ALL=full, SELF=full"
             + "".join(f", 0x{guid:016x}=limited" for guid in limited) + ";"]
    lines += [f"p{key:04x}=0x{key:04x}: " + ", ".join(
        f"0x{guid:016x}={'full' if is_full else 'limited'}"
        for guid, is_full in sorted(of_key.items())) + ";"
        for key, of_key in sorted(members.items())]
    return "\n".join(lines) + "\n"


def parse(lines):
    """The fabric, with the counters that are not 0, cables and partitions; LabError where
    it does not hold together."""
    fabric, by_guid = netfile.Fabric(), {}
    fabric.is_text_of_ibsim = False
    members, held, counters, cables = {}, [], [], []
    handlers = {
        "NODES": lambda row: _add_node(fabric, by_guid, row),
        "LINKS": lambda row: _add_link(by_guid, row),
        "PORTS": lambda row: _add_port(by_guid, row, held),
        "PM_INFO": lambda row: _add_counters(by_guid, row, counters),
        "CABLE_INFO": lambda row: _add_cable(by_guid, row, cables),
        "PKEY": lambda row: _add_member(members, row)}
    found = _handle_rows(lines, handlers)
    for name in "NODES", "LINKS":
        if name not in found:
            raise LabError(f"it has no section {name}")
    for node in fabric.nodes.values():
        node.rates = {port: rate for port, rate in node.rates.items() if port in node.links}
    _leave_out(fabric, [(node, port) for node, port in held if port in node.links])
    fabric.commands += [command for node, port, commands in counters + cables
                        if port in node.links for command in commands]
    fabric.partitions = netfile.translate(_partitions(members), netfile.port_guids(fabric))
    return fabric


def _handle_rows(lines, handlers):
    """Calls each section's handler with its rows, those of NODES first; returns the names of
    sections that there are."""
    found, waiting = set(), []
    for name, rows in _read_sections(lines, handlers):
        found.add(name)
        if name != "NODES" and "NODES" not in found:
            waiting.append((name, list(rows)))
            continue
        for row in rows:
            handlers[name](row)
    for name, rows in waiting:
        for row in rows:
            handlers[name](row)
    return found
