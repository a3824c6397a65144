# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fabrics in the file ibdiagnet2.db_csv, which ibdiagnet writes.

Model: the file has sections, each with a line of column names and a row a node, port or
link. Columns are taken by their names, because each release has more of them; sections and
columns that are not known are skipped.

    START_NODES
    NodeDesc,NumPorts,NodeType,...,NodeGUID,PortGUID,...
    "leaf-01",36,2,...
    END_NODES

NODES and LINKS are the fabric, PORTS has what links run at, LIDs and states, PM_INFO the
counters, CABLE_INFO what is plugged in, PKEY the partitions. A port's speed is a bit: 1, 2, 4 for SDR,
DDR, QDR; 256 and so on for FDR to XDR; 65536 for FDR10."""

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


def _sections(lines):
    """Yields (name, rows) of each section; a row is a dictionary."""
    lines = iter(lines)
    for line in lines:
        if not (begun := re.match(r"START_(\w+)\s*$", line)):
            continue
        end = f"END_{begun[1]}"
        inside = itertools.takewhile(lambda line, end=end: line.strip() != end, lines)
        yield begun[1], list(csv.DictReader(inside, skipinitialspace=True))


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
    """Adds to 'held' a port that has a link and does not carry data."""
    node, port = by_guid.get(_number(row, "NodeGuid", "NodeGUID")), _number(row, "PortNum")
    if not node or port is None:
        return
    lid, lmc = _number(row, "LID"), _number(row, "LMC") or 0
    if lid:
        node.set_lid(0 if node.kind == netfile.SWITCH else port, lid, lmc)
    guid = _number(row, "PortGuid", "PortGUID")
    if node.kind != netfile.SWITCH and guid and port:
        node.port_guids[port] = guid
    if port in node.links:
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


def _add_counters(fabric, by_guid, row):
    node = by_guid.get(_number(row, "NodeGUID", "NodeGuid"))
    port = _number(row, "PortNumber", "PortNum")
    if node and port in node.links:
        fabric.commands += [
            f'PerformanceSet "{node.node_id}"[{port}] PortCounters.{name}={value}'
            for name in COUNTERS if (value := _number(row, name))]


def _first_number(text):
    """Of "20 m" or "35C"; None where there is none."""
    found = re.search(r"-?\d+(\.\d+)?", text or "")
    return float(found[0]) if found else None


def _add_cable(fabric, by_guid, row):
    node = by_guid.get(_number(row, "NodeGuid", "NodeGUID"))
    port = _number(row, "PortNum", "PortNumber")
    serial = (row.get("SN") or "").strip()
    if not node or port not in node.links or serial in ("", "N/A", "NA"):
        return
    length_m = next((length for name in ("LengthCopperOrActive", "LengthSMFiber")
                     if (length := _first_number(row.get(name)))), 0)
    module = modules.cable(
        _number(row, "Identifier") or modules.QSFP28, vendor=row.get("Vendor") or "",
        part=row.get("PN") or "", serial=serial, revision=row.get("Rev") or "",
        oui=_number(row, "OUI") or 0, length_m=length_m,
        is_optical="optic" in (row.get("TypeDesc") or "").lower(),
        temperature_c=_first_number(row.get("Temperature")))
    fabric.commands += module.commands(node.node_id, port)


def _members(rows):
    """By P_Key, without the bit of membership: GUIDs of ports, and whether they are full
    members."""
    members: dict[int, dict[int, bool]] = {}
    for row in rows:
        guid, key = _number(row, "PortGUID", "PortGuid"), _number(row, "PKey", "Pkey")
        if not guid or not key or not key & 0x7fff:
            continue
        is_full = key & 0x8000 or (row.get("Membership") or "").lower().startswith("full")
        partition = members.setdefault(key & 0x7fff, {})
        partition[guid] = bool(is_full) or partition.get(guid, False)
    return members


def read_members(lines):
    """The same of a whole file."""
    return _members(dict(_sections(lines)).get("PKEY", []))


def _partitions(rows):
    """The text of partitions.conf; "" where ports are in the default partition alone, as
    full members."""
    members = _members(rows)
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
    sections = dict(_sections(lines))
    for name in "NODES", "LINKS":
        if name not in sections:
            raise LabError(f"it has no section {name}")
    for row in sections["NODES"]:
        _add_node(fabric, by_guid, row)
    for row in sections["LINKS"]:
        _add_link(by_guid, row)
    held = []
    for row in sections.get("PORTS", []):
        _add_port(by_guid, row, held)
    _leave_out(fabric, held)
    for row in sections.get("PM_INFO", []):
        _add_counters(fabric, by_guid, row)
    for row in sections.get("CABLE_INFO", []):
        _add_cable(fabric, by_guid, row)
    fabric.partitions = netfile.translate(_partitions(sections.get("PKEY", [])),
                                          netfile.port_guids(fabric))
    return fabric
