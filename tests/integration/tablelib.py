# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What tests of QoS tables share: policies and what they mean, worked out from
triad-qos-policy(5) alone; the tables that ports have; SMPs that an opensm sent."""

import dataclasses
import json
import os
import random
import re
import signal

from checks import succeeded, wait_until
from labs import BUILDDIR, Lab
from triadlab import netfile
from triadlib import ask_json, status, sweep_heavily

RECORD = BUILDDIR / "tests/lab/.libs/librecord.so"
CONF = "[perfmgr]\nenabled = false\n[qos]\ntables_enabled = {enabled}\npolicy_file = {file}\n"
# No sweeps but those that are asked for.
QOS = "qos TRUE\nsweep_interval 0\n"
LEVELS = ("qos-levels\n qos-level\n  name: DEFAULT\n  sl: 0\n end-qos-level\n"
          "end-qos-levels\n")
NO_VL = 15
NO_SETUP = "OpenSM's: there is no policy with a qos-setup"
DIFFERENT = "some ports have others than they should"
REFUSED = "refused: they would cut the SM off from hosts"
ENGINE = "in force, as far as the routing engine lets them"
N_VLS = 8  # of ibsim's ports
CAP = 8    # entries of each of their arbitration tables

# --- policies ------------------------------------------------------------------


def policy(groups=None, sl2vl=(), vlarb=(), more="", levels=LEVELS):
    """The text of a policy.  'groups' has lists of "key: value" by name; a scope is a
    dictionary by key, with lists of names, numbers, or (VL, weight)."""
    lines = []
    for name, keys in (groups or {}).items():
        lines += [" port-group", f"  name: {name}", *(f"  {key}" for key in keys),
                  " end-port-group"]
    if lines:
        lines = ["port-groups", *lines, "end-port-groups"]
    setup = _scopes("sl2vl", sl2vl) + _scopes("vlarb", vlarb)
    if setup:
        lines += ["qos-setup", *setup, "end-qos-setup"]
    return "\n".join([*lines, ""]) + levels + more


def _scopes(kind, scopes):
    lines = []
    for scope in scopes:
        lines += [f"  {kind}-scope",
                  *(f"   {key}: {_value(value)}" for key, value in scope.items()),
                  f"  end-{kind}-scope"]
    return [f" {kind}-tables", *lines, f" end-{kind}-tables"] if lines else []


def _value(value):
    if isinstance(value, (list, tuple)):
        return ",".join(f"{item[0]}:{item[1]}" if isinstance(item, tuple) else str(item)
                        for item in value)
    return str(value)


def replace(path, text):
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.rename(path)


# --- the fabric ----------------------------------------------------------------

@dataclasses.dataclass
class Node:
    name: str
    node_id: str
    is_switch: bool
    n_ports: int
    guid: int
    port_guid: int  # of port 1; a switch's: of port 0
    lid: int
    links: dict     # number: (node's id, number)


class World:
    """Nodes by id, as the net's file and the SA have them."""

    def __init__(self, lab, net):
        fabric = netfile.read(net)
        process = lab.run("saquery", "NR")
        succeeded(process)
        known = {}
        for record in process.stdout.split("NodeRecord dump")[1:]:
            fields = dict(re.findall(r"^\t\t(\w+)\.+(.+)$", record, re.MULTILINE))
            known[fields["NodeDescription"]] = fields
        self.nodes = {}
        for node in fabric.nodes.values():
            name = node.description or node.node_id
            fields = known[name]
            self.nodes[node.node_id] = Node(
                name, node.node_id, node.kind == netfile.SWITCH, node.n_ports,
                int(fields["node_guid"], 16), int(fields["port_guid"], 16),
                int(fields["lid"]), node.links)
        self.sm = ask_sm(lab)

    def hosts(self):
        return [node for node in self.nodes.values() if not node.is_switch]

    def switches(self):
        return [node for node in self.nodes.values() if node.is_switch]

    def ports(self):
        """(node, number) of ports that are up; no switch here has an enhanced port 0."""
        return [(node, number) for node in self.nodes.values()
                for number in sorted(node.links)]

    def at(self, path):
        """The node at the end of a directed route."""
        node = next(node for node in self.hosts() if node.port_guid == self.sm)
        for number in path:
            node = self.nodes[node.links[number][0]]
        return node


def ask_sm(lab):
    return int(re.search(r"guid (0x\w+)", lab.run("sminfo").stdout)[1], 16)


# --- what a policy means -------------------------------------------------------

class Meaning:
    """Tables by triad-qos-policy(5), TABLES; 'stock' has OpenSM's own."""

    def __init__(self, world, stock, groups, sl2vl=(), vlarb=(), members=None,
                 n_vls=N_VLS):
        self._world, self._stock, self._groups = world, stock, groups
        self._sl2vl, self._vlarb = sl2vl, vlarb
        self._members = members or {}  # port GUIDs by P_Key
        self._n_vls = n_vls

    def tables(self):
        return {key: {"sl2vl": self._sl2vl_of(node, number, table["sl2vl"]),
                      **self._vlarb_of(node, number, table)}
                for node, number in self._world.ports()
                for key, table in [((node.name, number),
                                    self._stock[node.name, number])]}

    def _is_in(self, node, number, names):
        return any(self._has(key, node, number) for name in names
                   for key in self._groups[name])

    def _has(self, key, node, number):
        word, value = key.split(": ")
        values = value.split(",")
        if word == "port-guid":
            return node.port_guid in [int(one, 16) for one in values]
        if word == "port-name":
            names = [f"{node.name}/P{number}"]
            return bool(set(names + [f"{node.name}/P0"] * node.is_switch) & set(values))
        if word == "pkey":
            return any(node.port_guid in self._members[one] for one in values)
        types = {"SWITCH"} if node.is_switch else {"CA"}
        types |= {"SELF"} if node.port_guid == self._world.sm else set()
        return bool(types & set(values)) or "ALL" in values

    def _is_across(self, node, number, names):
        if number not in node.links:
            return False
        peer, peer_number = node.links[number]
        return self._is_in(self._world.nodes[peer], peer_number, names)

    def _fits_out(self, scope, node, number):
        if number not in scope.get("to", [number]):
            return False
        across = [*scope.get("across", []), *scope.get("across-to", [])]
        if not across and "group" not in scope:
            return True
        return self._is_in(node, number, scope.get("group", [])) or \
            self._is_across(node, number, across)

    def _fits_in(self, scope, node, number):
        if not node.is_switch:
            return "across-from" not in scope
        return number in scope.get("from", [number]) and (
            "across-from" not in scope or
            self._is_across(node, number, scope["across-from"]))

    def _sl2vl_of(self, node, number, tables):
        found = dict(tables)
        for scope in self._sl2vl:
            for in_number in tables:
                if self._fits_out(scope, node, number) and \
                        self._fits_in(scope, node, in_number):
                    found[in_number] = [vl if vl < self._n_vls else NO_VL
                                        for vl in scope["sl2vl-table"]]
        return found

    def _vlarb_of(self, node, number, stock):
        found = {"low": stock["low"], "high": stock["high"]}
        for scope in self._vlarb:
            if not self._fits_out(scope, node, number):
                continue
            for name in found:
                entries = scope.get(f"vlarb-{name}")
                found[name] = stock[name]
                if entries is not None and len(entries) <= CAP:
                    found[name] = [entry if entry[0] < self._n_vls else (0, 0)
                                   for entry in entries]
                    found[name] += [(0, 0)] * (CAP - len(entries))
        return found


def random_policy(seed, world):
    """(groups, SL2VL scopes, VLArb scopes) with everything that scopes may have."""
    chance = random.Random(seed)
    groups = {f"H{i}": ["port-guid: " + ",".join(
        f"{node.port_guid:#x}" for node in _some(chance, world.hosts()))] for i in range(3)}
    groups |= {f"S{i}": ["port-guid: " + ",".join(
        f"{node.port_guid:#x}" for node in _some(chance, world.switches()))]
        for i in range(2)}
    groups["Ports"] = ["port-name: " + ",".join(
        f"{node.name}/P{chance.randrange(4)}" for node in _some(chance, world.switches()))]
    groups |= {"Switches": ["node-type: SWITCH"], "CAs": ["node-type: CA"],
               "Self": ["node-type: SELF"]}
    sl2vl = [_where(chance, groups, True) | {
        "sl2vl-table": [chance.randrange(N_VLS)] +
                       [chance.choice([*range(10), NO_VL]) for _ in range(15)]}
             for _ in range(chance.randrange(1, 9))]
    vlarb = [_where(chance, groups, False) | {
        f"vlarb-{name}": [(chance.randrange(10), chance.randrange(256))
                          for _ in range(chance.randrange(1, CAP + 2))]
        for name in chance.choice((("low",), ("high",), ("low", "high")))}
        for _ in range(chance.randrange(1, 6))]
    return groups, sl2vl, vlarb


def _some(chance, items):
    return chance.sample(items, chance.randrange(1, max(2, len(items) // 2)))


def _where(chance, groups, is_sl2vl):
    keys = ["group", "across", *(["across-to", "across-from"] if is_sl2vl else [])]
    scope = {key: chance.sample(sorted(groups), chance.randrange(1, 3))
             for key in chance.sample(keys, chance.randrange(1, 1 + len(keys)))}
    for key in ["to", *(["from"] if is_sl2vl else [])]:
        if chance.random() < 0.3:
            scope[key] = chance.sample(range(6), chance.randrange(1, 5))
    return scope


# --- what ports have -----------------------------------------------------------

SMP_ASK = BUILDDIR / "tests/integration/smp_ask"
_LOW, _HIGH = 1 << 16, 3 << 16  # the modifier's block, in front of the port


def read_tables(lab, world, ports=None):
    """What nodes answer, by node's name and port; of all ports that are up, or of some
    (node, number)."""
    ports = ports or world.ports()
    questions = [_questions(node, number) for node, number in ports]
    lines = [" ".join(map(str, question)) for each in questions for question in each]
    process = succeeded(lab.run(SMP_ASK, input="\n".join(lines) + "\n", stdin=None))
    answers = iter([bytes.fromhex(line) for line in process.stdout.split()])
    found = {}
    for (node, number), each in zip(ports, questions):
        *sl2vls, low, high = [next(answers) for _ in each]
        found[node.name, number] = {
            "sl2vl": {in_number: _vls(data) for in_number, data in enumerate(sl2vls)},
            "low": _entries(low), "high": _entries(high)}
    return found


def _questions(node, number):
    """(LID, attribute, modifier) of the SL2VL tables of all in-ports, and the two of VL
    arbitration."""
    out = number * node.is_switch
    ins = range(node.n_ports + 1) if node.is_switch else [0]
    return [*((node.lid, SL2VL, in_number << 8 | out) for in_number in ins),
            (node.lid, VLARB, _LOW | out), (node.lid, VLARB, _HIGH | out)]


def _vls(data):
    return [vl for octet in data[:8] for vl in (octet >> 4, octet & 15)]


def _entries(data):
    return [(data[at] & 15, data[at + 1]) for at in range(0, 2 * CAP, 2)]


def check_tables(lab, world, expected, what):
    found = read_tables(lab, world)
    assert sorted(found) == sorted(expected), "ports"
    wrong = [(key, found[key], expected[key]) for key in found
             if found[key] != expected[key]]
    for key, is_, should in wrong[:3]:
        print(f"{key}\n  is     {is_}\n  should {should}")
    assert [key for key, _, _ in wrong] == [], f"ports that are wrong: {what}"


# --- labs ----------------------------------------------------------------------

def table_lab(scratch, net, text, conf=QOS, enabled="true", more="", **options):
    """A lab with a policy, and the policy's file."""
    path = scratch.folder() / "policy.conf"
    path.write_text(text, encoding="utf-8")
    return Lab(net, triad_conf=CONF.format(enabled=enabled, file=path) + more,
               opensm_conf=conf, **options), path


def stock_tables(net, conf=QOS):
    """Those of opensm alone, after a second sweep: in the first it doesn't know yet how
    many VLs ports are to have."""
    with Lab(net, plugin="no", opensm_conf=conf) as lab:
        sweep_without_triad(lab)
        return read_tables(lab, World(lab, net))


def tables(lab):
    return status(lab)["qos_tables"]


def wait_for(lab, state="in force", passes=0):
    """Until the tables' state is that, and there have been so many passes."""
    def reached():
        report = tables(lab)
        return report if report["state"] == state and report["passes"] >= passes else None
    try:
        return wait_until(reached, 30, f"tables {state}")
    except AssertionError as error:
        raise AssertionError(f"{error}; there is {tables(lab)}") from None


def n_sweeps(lab):
    return lab.log().count("SUBNET UP")


def hang_up(lab):
    """Has opensm begin a heavy sweep."""
    os.kill(lab.status()["sms"][0]["pid"], signal.SIGHUP)


def sweep_without_triad(lab):
    before = n_sweeps(lab)
    sweep_heavily(lab, lambda: n_sweeps(lab) > before)


def sweep(lab, n=1):
    """Heavy sweeps, to the end of what Triad says of them."""
    for _ in range(n):
        generation = status(lab)["topology"]["sm_sweeps"]
        sweep_heavily(lab, lambda: status(lab)["topology"]["sm_sweeps"] > generation)


def plan(lab, *words):
    """(exit status, the plan)."""
    process = lab.triad("qos", "plan", *words, "--json")
    assert process.returncode in (0, 3), process.stderr
    return process.returncode, json.loads(process.stdout)


def load(lab, path, text, state="in force"):
    """Another policy; returns the plan for it, once it has taken effect."""
    replace(path, text)
    code, planned = plan(lab, path)
    before = tables(lab)["passes"]
    succeeded(lab.run("triadctl", "reload"))
    wait_for(lab, state, before + (planned["changed"] > 0))
    return code, planned


def rows(lab, *words):
    return ask_json(lab, "qos", "tables", *words)


# --- what was sent -------------------------------------------------------------

SET, SL2VL, VLARB, PORT_INFO = 2, 0x17, 0x18, 0x15


@dataclasses.dataclass(frozen=True)
class Smp:
    attribute: int
    modifier: int
    m_key: int
    path: tuple
    data: bytes


class Record:
    """Set() of SMPs that opensms started meanwhile send (tests/lab/record.c)."""

    def __init__(self, scratch, **environment):
        self.path = scratch.folder() / "record"
        for name, value in {"TRIAD_RECORD": str(self.path), **environment}.items():
            os.environ[name] = value
            scratch.callback(os.environ.pop, name, None)

    def mark(self):
        return self.path.stat().st_size

    def sets(self, mark=0, attributes=(SL2VL, VLARB)):
        found = []
        for line in self.path.read_bytes()[mark:].decode().splitlines():
            words = line.split()
            mad_class, method, attribute = (int(word, 16) for word in words[:3])
            if mad_class in (1, 0x81) and method == SET and attribute in attributes:
                found.append(Smp(
                    attribute, int(words[6], 16), int(words[7], 16),
                    tuple(int(hop, 16) for hop in words[8].split(",") if hop not in "-"),
                    bytes.fromhex(words[9])))
        return found
