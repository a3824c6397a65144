# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fabrics in the text form that ibsim reads, which is also what ibnetdiscover
prints.

Model: a fabric is a list of nodes in the order of the file; a node has a kind,
an id that is unique in the file (the quoted name), a description (what a
NodeDescription query answers) and links from its ports to ports of others.

    switchguid=0x0200000200000010
    Switch  36 "leaf-01"    # "leaf-01"
    [1]     "host-0001"[1]  # lid 0 4xEDR

Records end with the first line that is neither a port nor a comment, or when
every port was named.  What ibsim does not know, it skips, and so do we.
"""

from __future__ import annotations  # 'int | None' before Python 3.10

import re
from dataclasses import dataclass, field

from .errors import LabError

HCA = "Hca"
SWITCH = "Switch"
ROUTER = "Rt"

# ibsim takes both; ibnetdiscover writes the second.
_KINDS = {"Switch": SWITCH, "Hca": HCA, "Ca": HCA, "Rt": ROUTER}

_NODE = re.compile(r'(Switch|Hca|Ca|Rt)\D*?(\d+)[^"]*"([^"]*)"(.*)')
_PORT = re.compile(r'\[(\d+)\][^"]*"([^"]*)"(?:\[(\d+)\])?')
_PORT_GUID = re.compile(r"\[\d+\]\s*\(([0-9a-fA-F]{1,16})\)")
_LID = re.compile(r"\blid (\d+) lmc (\d)\b")
_RATE = re.compile(r'\blid \d+ +(\d+x[A-Z]+\d*)\b[^"]*$')
_GUID = re.compile(r"(?:switchguid|hcaguids|caguid|rtguid)\s*=\s*(0x[0-9a-fA-F]+)")
_DESCRIPTION = re.compile(
    r'#\s*(?:"([^"]*)|(.*?)(?: enhanced port | base port | lid | lmc |$))')

# Lines that make ibsim rename nodes or read other files.
_UNSUPPORTED = ("module", "include", "@")


@dataclass
class Node:
    """A node; 'guid' is None where the file leaves its choice to ibsim, 'rates' has
    what the file says of links: "4xNDR".  'port_guids' and 'lids' (the first one, and LMC)
    have what the file says of ports, a switch's as port 0; nothing: it does not say."""

    kind: str
    node_id: str
    n_ports: int
    description: str = ""
    guid: int | None = None
    links: dict[int, tuple[str, int]] = field(default_factory=dict)
    rates: dict[int, str] = field(default_factory=dict)
    vendor: int | None = None
    device: int | None = None
    port_guids: dict[int, int] = field(default_factory=dict)
    lids: dict[int, tuple[int, int]] = field(default_factory=dict)

    def set_lid(self, port, lid, lmc):
        """Unless it is one that no port can have."""
        if 0 < lid < 0xC000 and lmc <= 7:
            self.lids[port] = (lid, lmc)


def port_guid(node, port=1):
    """Of a port, as ibsim makes it; of a switch it is the node's."""
    return node.guid + (0 if node.kind == SWITCH else port)


_ANY_GUID = re.compile(r"0x[0-9a-fA-F]{9,16}\b")


def port_guids(fabric):
    """The GUIDs that ports have in ibsim, by those that the file has, where they differ."""
    return {guid: made for node in fabric.nodes.values() if node.guid is not None
            for port, guid in node.port_guids.items()
            if guid != (made := port_guid(node, port))}


def translate(text, guids):
    """The text of a configuration with the GUIDs of ports that ibsim has."""
    def replace(match):
        found = guids.get(int(match[0], 16))
        return match[0] if found is None else f"0x{found:016x}"
    return _ANY_GUID.sub(replace, text) if guids else text


class Fabric:
    """Nodes in the order of the file, with links among them."""

    def __init__(self):
        self.nodes: dict[str, Node] = {}
        # Of a file that has counters and cables, too: what ibsim is told of them.
        self.commands: list[str] = []
        # The text of OpenSM's partitions.conf; "": none.
        self.partitions = ""
        # Whether ibsim can read its file.
        self.is_text_of_ibsim = True
        # What people are told that a lab of it can't have.
        self.notes: list[str] = []

    def add(self, node):
        if node.node_id in self.nodes:
            raise LabError(f'node "{node.node_id}" is there twice')
        self.nodes[node.node_id] = node
        return node

    def link(self, node, port, peer, peer_port):
        """Connects two free ports."""
        node.links[port] = (peer.node_id, peer_port)
        peer.links[peer_port] = (node.node_id, port)

    def complete(self):
        """Gives links that the file has at one end their other end, as ibsim does."""
        for node in self.nodes.values():
            for port, (peer, peer_port) in node.links.items():
                far = self.nodes.get(peer)
                if far and far is not node and 1 <= peer_port <= far.n_ports:
                    far.links.setdefault(peer_port, (node.node_id, port))

    def unlink(self, node, port):
        """Takes a link out, at both of its ends; nothing where there is none."""
        peer, peer_port = node.links.pop(port, (None, 0))
        if peer in self.nodes and self.nodes[peer].links.get(peer_port) \
                == (node.node_id, port):
            del self.nodes[peer].links[peer_port]

    def of_kind(self, kind):
        return [node for node in self.nodes.values() if node.kind == kind]

    def counts(self):
        """How many hosts, switches, ports with a link, and links."""
        ports = sum(len(node.links) for node in self.nodes.values())
        return {"hosts": len(self.of_kind(HCA)),
                "switches": len(self.of_kind(SWITCH)),
                "ports": ports, "links": ports // 2}

    def find(self, name):
        """The node with this id, else the first with this description, else
        None: the order in which ibsim looks."""
        if name in self.nodes:
            return self.nodes[name]
        for node in self.nodes.values():
            if node.description == name:
                return node
        return None


# --- reading -----------------------------------------------------------------

def read(path):
    """The fabric in the file, which may also be an ibdiagnet2.db_csv; LabError when it
    cannot be read or holds none."""
    from . import ibdiagnet  # which needs this module
    try:
        with open(path, encoding="utf-8", errors="replace") as stream:
            is_ibdiagnet = ibdiagnet.is_one(stream.read(65536))
            stream.seek(0)
            fabric = ibdiagnet.parse(stream) if is_ibdiagnet else parse(stream)
    except OSError as error:
        raise LabError(f"net file {path}: {error.strerror}") from error
    except LabError as error:
        raise LabError(f"net file {path}: {error}") from error
    if not fabric.nodes:
        raise LabError(f"net file {path}: there is no Switch or Hca line in it; "
                       "it must be an ibsim file, what ibnetdiscover printed, "
                       "or an ibdiagnet2.db_csv")
    return fabric


def parse(lines):
    """Links are taken as written: whether both ends agree is for ibsim to say."""
    fabric = Fabric()
    node = guid = None
    for number, line in enumerate(lines, 1):
        if line.startswith(_UNSUPPORTED):
            raise LabError(f"line {number}: ibsim's module, include and alias "
                           "lines are not supported; put plain nodes in one file")
        if node is not None and line.startswith("["):
            _parse_port(node, number, line)
            if len(node.links) == node.n_ports:
                node = None
        elif node is None or not line.startswith("#"):
            node = _parse_node(fabric, number, line, guid)
            guid = None if node else _parse_guid(line, guid)
    return fabric


def _parse_guid(line, previous):
    """Base GUIDs stand on a line of their own, before the node's."""
    match = _GUID.match(line)
    return int(match[1], 16) if match else previous


def _parse_node(fabric, number, line, guid):
    match = _NODE.match(line)
    if not match:
        return None
    kind, n_ports, node_id, rest = match.groups()
    described = _DESCRIPTION.search(rest)
    description = described and (described[1] or described[2])
    try:
        node = fabric.add(Node(_KINDS[kind], node_id, int(n_ports),
                               description or node_id, guid))
    except LabError as error:
        raise LabError(f"line {number}: {error}") from error
    lid = _LID.search(rest)
    if lid and node.kind == SWITCH:
        node.set_lid(0, int(lid[1]), int(lid[2]))
    return node


def _parse_port(node, number, line):
    match = _PORT.match(line)
    if not match or not 1 <= int(match[1]) <= node.n_ports:
        raise LabError(f'line {number}: node "{node.node_id}" has ports 1 to '
                       f'{node.n_ports}; a link is [port] "node"[port], not '
                       f"{line.strip()!r}")
    port = int(match[1])
    # ibsim takes port 1 where none is named.
    node.links[port] = (match[2], int(match[3] or 1))
    if node.kind != SWITCH:
        guid, lid = _PORT_GUID.match(line), _LID.search(line)
        if guid:
            node.port_guids[port] = int(guid[1], 16)
        if lid:
            node.set_lid(port, int(lid[1]), int(lid[2]))
    rate = _RATE.search(line)
    if rate:
        node.rates[port] = rate[1]


def add_guids(text, guids):
    """The file's text with GUIDs for the nodes with these IDs, which have none."""
    lines = []
    for line in text.splitlines(keepends=True):
        match = _NODE.match(line)
        if match and match[3] in guids:
            lines.append(f"caguid=0x{guids[match[3]]:016x}\n")
        lines.append(line)
    return "".join(lines)


# --- writing -----------------------------------------------------------------

_GUID_KEYS = {SWITCH: "switchguid", HCA: "caguid", ROUTER: "rtguid"}


def write(fabric, stream, comment, link="4xEDR"):
    """Writes the fabric for ibsim, with 'comment' in the first line.

    Every port line ends with "lid 0" and the link's width and speed, 'link' where it is
    not known: without
    that, ibsim warns once a line and takes 4x at 2.5 Gbit/s."""
    stream.write(f"# {comment}\n")
    for node in fabric.nodes.values():
        stream.write("\n")
        for key, value in ("vendid", node.vendor), ("devid", node.device):
            if value is not None:
                stream.write(f"{key}=0x{value:x}\n")
        if node.guid is not None:
            stream.write(f"{_GUID_KEYS[node.kind]}=0x{node.guid:016x}\n")
        stream.write(f'{node.kind}\t{node.n_ports} "{node.node_id}"'
                     f'\t# "{node.description}"\n')
        for port, (peer, peer_port) in sorted(node.links.items()):
            stream.write(f'[{port}]\t"{peer}"[{peer_port}]\t'
                         f'# lid 0 {node.rates.get(port, link)}\n')
