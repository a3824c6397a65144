# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What devices have of what OpenSM wrote, compared with what it wants ('audit').

Devices are changed under OpenSM by SMPs from another host."""

import concurrent.futures
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import time
import urllib.request

import pytest

import pagelib
import tablelib
from checks import failed, mentions, succeeded, wait_until
from labs import BUILDDIR, SRCDIR
from portlib import RECORD
from triadlab.tcp_ports import free_address, free_port
from triadlib import QUICK, ask, ask_json, health_findings, sweep_heavily, triad_lab, \
    wait_for_sweep
from weblib import check_schema, get_json

pytestmark = pytest.mark.row("N21")

SMP_ASK = BUILDDIR / "tests/integration/smp_ask"
SWITCH_INFO, PORT_INFO, PKEYS, SL2VL, VLARB, LFT, MFT = \
    0x12, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1b
JOIN = SRCDIR / "tests" / "integration" / "join_group.py"
PATH_ASK = BUILDDIR / "tests/integration/path_ask"
NO_ROUTE = 255
OWN_GROUPS = ["ff12a01cfe8000000000000012345678", "ff12a01cfe8000000000000012345679"]
PARTITIONS = """Default=0x7fff, ipoib: ALL=full;
red=0x11: 0x100004=full, 0x100007, 0x100001=full;
blue=0x12: 0x100004, 0x10000a=full;
"""
MEMBERS = {"Hca1": "0x100001", "Hca2": "0x100004", "Hca4": "0x10000a"}
# Fields of PortInfo that ibsim takes, for end ports and for ports of switches: octet, bits.
FIELDS = {"GidPrefix": (15, 0xff), "MasterSMLID": (19, 0xff), "LMC": (34, 0x01)}
LINK_FIELDS = {"HOQLife": (42, 0x1f)}


def smp(lab, *words):
    process = succeeded(lab.run(SMP_ASK, input=" ".join(map(str, words)) + "\n", stdin=None,
                                node="Hca2"))
    return bytes.fromhex(process.stdout)


def change(lab, lid, entries):
    """Sets entries {LID: port} of the switch with this LID."""
    for block in {to // 64 for to in entries}:
        octets = bytearray(smp(lab, lid, LFT, block))
        for to, port in entries.items():
            if to // 64 == block:
                octets[to % 64] = port
        smp(lab, lid, LFT, block, octets.hex())


def audit(lab, *words):
    """(exit status, differences, messages)"""
    process = lab.triad("audit", "--json", *words)
    answer = json.loads(process.stdout or "{}")
    return process.returncode, answer.get("differences"), process.stderr


def places(rows):
    return sorted((row["node_name"], row["port"], row["table"], row["object"])
                  for row in rows)


def is_good(lab):
    return audit(lab) == (0, [], "")


def lids(lab):
    return {row["name"]: row["lid"] for row in ask_json(lab, "nodes")}


@pytest.fixture(scope="module", name="lab")
def shared_lab(tmp_path_factory):
    """Each case leaves devices as OpenSM wants them."""
    partitions = tmp_path_factory.mktemp("partitions") / "partitions.conf"
    partitions.write_text(PARTITIONS)
    with triad_lab(opensm_conf=f"lmc 1\npartition_config_file {partitions}\n") as made:
        wait_for_sweep(made)
        sm_lid = lids(made)["Hca1"]
        made.mlid = {int(succeeded(made.run(JOIN, guid, str(sm_lid), node=name)).stdout)
                     for name, guid in MEMBERS.items()}.pop()
        wait_until(lambda: is_good(made), 10, "tables for the group")
        yield made


def test_entries_that_differ_are_named_until_they_are_mended(lab):
    assert is_good(lab)
    at = lids(lab)
    before = smp(lab, at["Switch2"], LFT, 0)
    # Not those by which the lab itself asks.
    to, other = at["Hca4"], at["Hca3"]
    change(lab, at["Switch2"], {to: NO_ROUTE, other: 7})
    code, rows, messages = audit(lab)
    assert code == 1
    # The SM's own packets to it are lost, too.
    assert mentions(messages, "directed route table wrong Hca4")
    assert {(row["node_name"], row["table"], row["object"], row["wanted"], row["found"])
            for row in rows} == {
        ("Switch2", "LFT", f"LID {to} (Hca4)", str(before[to]), str(NO_ROUTE)),
        ("Switch2", "LFT", f"LID {other} (Hca3)", str(before[other]), "7")}
    assert all(row["hosts"] > 0 for row in rows), rows
    assert mentions(lab.triad("audit").stdout, "2 differ")
    assert audit(lab, "--node", "Switch1") == (0, [], "")
    # What lasts is as old as when it was seen first.
    again = audit(lab)[1]
    assert [row["since"] for row in again] == [row["since"] for row in rows]
    change(lab, at["Switch2"], {to: before[to], other: before[other]})
    assert is_good(lab)


def ask_silent(lab):
    answer = json.loads(lab.triad("audit", "--json").stdout)
    return answer["silent"], answer["silent_at_their_lids_only"]


def test_switch_that_does_not_answer_is_not_known(lab):
    lid = lids(lab)["Switch2"]
    lab.harm_mads(f"lose class 0x01 lid {lid} direction in")
    code, rows, messages = audit(lab)
    assert (code, rows) == (3, [])
    assert mentions(messages, "directed route table wrong Switch2"), messages
    assert ask_silent(lab) == ([row["guid"] for row in ask_json(lab, "nodes")
                                if row["name"] == "Switch2"],) * 2
    # Nor by directed route.
    lab.harm_mads(f"lose class 0x01 lid {lid} direction in\n"
                  "lose class 0x81 attribute 0x11 direction in")
    messages = audit(lab)[2]
    assert mentions(messages, "neither Switch2"), messages
    assert ask_silent(lab)[1] == []
    lab.heal_mads()
    wait_until(lambda: is_good(lab), 10, "its answers")


# --- random ---

class Flips:
    """Changes fields at random places.  A method for each kind gives what is to be named, and
    (LID, attribute, modifier, octets) of the Set."""

    def __init__(self, lab, chance):
        self.lab, self.chance, self.lids = lab, chance, lids(lab)
        self.expected, self.old = set(), []

    def flip(self, kind):
        """Not twice at a place: that might undo the first."""
        place, lid, attribute, modifier, octets = getattr(self, kind)()
        if place in self.expected:
            return
        print(place)
        self.expected.add(place)
        self.old.append((lid, attribute, modifier, smp(self.lab, lid, attribute, modifier)))
        smp(self.lab, lid, attribute, modifier, bytes(octets).hex())

    def mend(self):
        for lid, attribute, modifier, octets in reversed(self.old):
            if attribute == PORT_INFO:
                octets = unchanged(octets)
            smp(self.lab, lid, attribute, modifier, bytes(octets).hex())
        self.expected, self.old = set(), []

    def read(self, name, attribute, modifier=0):
        return bytearray(smp(self.lab, self.lids[name], attribute, modifier))

    def node(self, *kinds):
        kind = self.chance.choice(kinds)
        return self.chance.choice([name for name in sorted(self.lids)
                                   if name.startswith(kind)])

    def pkey(self):
        name, index = self.node("Hca", "Switch"), self.chance.randrange(32)
        # A switch's port that has an adapter behind it enforces its keys.
        port = 1 if name.startswith("Hca") else self.chance.choice([1, 2])
        modifier = port << 16 if name.startswith("Switch") else 0
        octets = self.read(name, PKEYS, modifier)
        octets[2 * index + 1] ^= self.chance.randrange(1, 256)
        return ((name, port, "P_Keys", f"P_Key index {index}"),
                self.lids[name], PKEYS, modifier, octets)

    def lft(self):
        # The second LID of an adapter: by the first ones it is asked.
        name, owner = self.node("Switch"), self.node("Hca")
        to = self.lids[owner] + 1
        octets = self.read(name, LFT)
        octets[to] ^= self.chance.randrange(1, 256)
        return (name, 0, "LFT", f"LID {to} ({owner})"), self.lids[name], LFT, 0, octets

    def mft(self):
        name = self.node("Switch")
        octets, entry = self.read(name, MFT), self.chance.randrange(32)
        at = 2 * entry + self.chance.randrange(2)
        octets[at] ^= self.chance.randrange(1, 256)
        return ((name, 0, "MFT", f"MLID {0xc000 + entry:#x}"), self.lids[name], MFT, 0,
                octets)

    def switch_info(self):
        name = self.node("Switch")
        octets = self.read(name, SWITCH_INFO)
        field = self.chance.choice(["LinearFDBTop", "LifeTimeValue"])
        # A top above it: packets pass all the same.
        if field == "LinearFDBTop":
            octets[7] += self.chance.randrange(1, 100)
        else:
            octets[11] ^= self.chance.randrange(1, 32) << 3
        return (name, 0, "SwitchInfo", field), self.lids[name], SWITCH_INFO, 0, octets

    def place(self):
        """A node, a port of it with a link, and its number as SMPs have it."""
        name = self.node("Hca", "Switch")
        if name.startswith("Hca"):
            return name, 1, 0
        port = self.chance.choice([1, 2, 3, 5])
        return name, port, port

    def sl2vl(self):
        name, port, number = self.place()
        in_port = self.chance.randrange(6) if number else 0
        sl = self.chance.randrange(16)
        octets = self.read(name, SL2VL, in_port << 8 | number)
        octets[sl // 2] ^= self.chance.randrange(1, 16) << (0 if sl % 2 else 4)
        return ((name, port, "SL2VL", f"in-port {in_port}, SL {sl}"), self.lids[name], SL2VL,
                in_port << 8 | number, octets)

    def vlarb(self):
        name, port, number = self.place()
        high, entry = self.chance.randrange(2), self.chance.randrange(tablelib.CAP)
        modifier = (1 + 2 * high) << 16 | number
        octets = self.read(name, VLARB, modifier)
        octets[2 * entry + 1] ^= self.chance.randrange(1, 256)
        return ((name, port, "VLArb", f"{'high' if high else 'low'} entry {entry}"),
                self.lids[name], VLARB, modifier, octets)

    def port_info(self):
        name = self.node("Hca", "Switch")
        is_link = name.startswith("Switch")
        field = self.chance.choice(sorted(LINK_FIELDS if is_link else FIELDS))
        at, bits = (LINK_FIELDS if is_link else FIELDS)[field]
        port = self.chance.choice([1, 2]) if is_link else 1
        octets = unchanged(self.read(name, PORT_INFO, port if is_link else 0))
        low = bits & -bits
        octets[at] ^= self.chance.randrange(1, bits // low + 1) * low
        return ((name, port, "PortInfo", field), self.lids[name], PORT_INFO,
                port if is_link else 0, octets)


def unchanged(octets):
    """PortInfo as it is to be set: no change of states."""
    octets = bytearray(octets)
    octets[32] &= 0xf0
    octets[33] &= 0x0f
    return octets


def check_flips(lab, kinds, rounds=5):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    flips = Flips(lab, random.Random(seed))
    for _ in range(rounds):
        for _ in range(flips.chance.randrange(1, 6)):
            flips.flip(flips.chance.choice(kinds))
        code, rows, messages = audit(lab)
        assert places(rows) == sorted(flips.expected)
        assert (code, messages) == (1, "")
        flips.mend()
        assert is_good(lab)


def test_each_change_is_named_and_nothing_else(lab):
    check_flips(lab, ["pkey", "lft", "mft", "switch_info", "port_info"])


POLICY = tablelib.policy(
    groups={"All": ["node-type: ALL"]},
    sl2vl=[{"group": ["All"], "sl2vl-table": [sl % 4 for sl in range(16)]}],
    vlarb=[{"group": ["All"], "vlarb-high": [(0, 10), (1, 20)],
            "vlarb-low": [(2, 30), (3, 5)]}])


@pytest.mark.parametrize("has_policy", (False, True), ids=("opensm's", "a policy's"))
def test_each_change_of_qos_tables_is_named(tmp_path, has_policy):
    (tmp_path / "policy").write_text(POLICY)
    conf = QUICK + (f"[qos]\ntables_enabled = true\npolicy_file = {tmp_path}/policy\n"
                    if has_policy else "")
    with triad_lab(conf, opensm_conf="qos TRUE\n") as lab:
        if has_policy:
            tablelib.wait_for(lab)
        wait_until(lambda: is_good(lab), 10, "tables as they are wanted")
        answer = ask_json(lab, "audit")
        assert answer["qos_tables_not_looked_at"] is None, answer
        check_flips(lab, ["sl2vl", "vlarb"])


def test_pkey_says_who_can_and_cannot_talk(lab):
    lid = lids(lab)["Hca4"]
    old = smp(lab, lid, PKEYS, 0)
    keys = [int.from_bytes(old[2 * i:2 * i + 2], "big") for i in range(32)]
    index = keys.index(0x8012)
    octets = bytearray(old)
    octets[2 * index:2 * index + 2] = (0x8011).to_bytes(2, "big")
    smp(lab, lid, PKEYS, 0, octets.hex())
    (row,) = audit(lab)[1]
    assert (row["wanted"], row["found"]) == ("0x8012", "0x8011")
    # One other in blue; three in red.
    assert mentions(row["touches"], "can't 1 0x8012 can 3 more 0x8011"), row
    smp(lab, lid, PKEYS, 0, old.hex())
    assert is_good(lab)


def test_member_that_its_switch_leaves_out_is_named(lab):
    at = lids(lab)["Switch2"]
    old = smp(lab, at, MFT, 0)
    entry = 2 * (lab.mlid - 0xc000)
    mask = int.from_bytes(old[entry:entry + 2], "big")
    # Hca2 and Hca4 are at ports 1 and 2; another port, without a link, is too many.
    assert mask & 6 == 6
    octets = bytearray(old)
    octets[entry:entry + 2] = (mask & ~4 | 1 << 9).to_bytes(2, "big")
    smp(lab, at, MFT, 0, octets.hex())
    (row,) = audit(lab)[1]
    assert row["node_name"] == "Switch2"
    ports = [set(row[name].split(",")) for name in ("wanted", "found")]
    assert (ports[0] - ports[1], ports[1] - ports[0]) == ({"2"}, {"9"})
    assert mentions(row["touches"], "2 9"), row
    smp(lab, at, MFT, 0, old.hex())
    assert is_good(lab)


def test_entries_of_no_group_are_named_in_all_of_the_table(lab):
    at = lids(lab)["Switch2"]
    cap = int.from_bytes(smp(lab, at, SWITCH_INFO, 0)[4:6], "big")
    for block in 1, cap // 32 - 1:
        old = smp(lab, at, MFT, block)
        assert not any(old)
        smp(lab, at, MFT, block, (bytes(12) + b"\0\6" + bytes(50)).hex())
        code, rows, _ = audit(lab)
        smp(lab, at, MFT, block, old.hex())
        assert [(row["node_name"], row["object"], row["wanted"], row["found"]) for row in rows] \
            == [("Switch2", f"MLID {0xc000 + 32 * block + 6:#x}", "-", "1,2")]
        assert code == 1
    assert is_good(lab)


def test_what_is_not_looked_at_is_counted(lab):
    answer = ask_json(lab, "audit")
    counts = {row["what"].split(":")[0]: row["count"] for row in answer["not_looked_at"]}
    # OpenSM runs without QoS, and has given few keys and no aliases.
    assert {"ports' SL2VL and VLArb tables", "blocks of P_Keys", "blocks of GUIDInfo",
            "ports without a link"} <= set(counts), counts
    assert all(count > 0 for count in counts.values())
    text = lab.triad("audit").stdout
    for what, count in counts.items():
        assert f"{count} {what}" in text


def test_alias_that_the_device_does_not_have_is_named(lab):
    # ibsim's devices take none.
    lid = lids(lab)["Hca4"]
    for guid in 0xaaaa0001, 0:
        succeeded(lab.run(PATH_ASK, "--alias", f"{lid}:3:{guid:#x}", node="Hca4"))
        code, rows, _ = audit(lab)
        assert code == (1 if guid else 0)
        assert [(row["node_name"], row["port"], row["table"], row["object"], row["wanted"])
                for row in rows] == \
            [("Hca4", 1, "GUIDInfo", "GUID index 3", f"{guid:#018x}")] * (guid > 0)


def test_what_a_sweep_mends_is_no_difference(lab):
    lid = lids(lab)["Hca4"]
    octets = unchanged(smp(lab, lid, PORT_INFO, 0))
    octets[19] ^= 5
    smp(lab, lid, PORT_INFO, 0, octets.hex())
    (row,) = audit(lab)[1]
    assert (row["node_name"], row["object"]) == ("Hca4", "MasterSMLID")
    sweep_heavily(lab, lambda: is_good(lab), what="MasterSMLID mended")


def repair(lab, *words, code=0):
    process = lab.triad("audit", "repair", *words)
    assert process.returncode == code, (process.stdout, process.stderr)
    return process.stdout + process.stderr


@pytest.fixture(name="mending")
def lab_that_may_repair(lab):
    ask(lab, "set", "audit.repair", "true")
    yield lab
    ask(lab, "set", "audit.repair", "false")


def test_repair_writes_what_is_wanted_and_no_more(mending):
    lab, at = mending, lids(mending)
    lft, keys, mft = (smp(lab, at["Switch2"], LFT, 0), smp(lab, at["Hca4"], PKEYS, 0),
                      smp(lab, at["Switch2"], MFT, 1))
    # By this entry the device is asked, so that it is asked by directed route alone.
    change(lab, at["Switch2"], {at["Hca4"]: NO_ROUTE, at["Hca3"]: 7})
    smp(lab, at["Switch2"], MFT, 1, (bytes(3) + b"\6" + bytes(60)).hex())
    rows = {row["object"]: row for row in audit(lab)[1]}
    assert len(rows) == 3
    ask(lab, "set", "audit.repair", "false")
    assert mentions(repair(lab, "--all", code=1), "nothing audit.repair")
    ask(lab, "set", "audit.repair", "true")
    row = rows[f"LID {at['Hca3']} (Hca3)"]
    assert mentions(repair(lab, row["id"]), f"Switch2 LFT {row['wanted']} written 7 was")
    assert smp(lab, at["Switch2"], LFT, 0)[at["Hca3"]] == lft[at["Hca3"]]
    # The other one in the same block stays.
    assert smp(lab, at["Switch2"], LFT, 0)[at["Hca4"]] == NO_ROUTE
    assert mentions(repair(lab, row["id"], code=1), "nothing")
    repair(lab, "--all", "--node", "Switch2")
    assert smp(lab, at["Switch2"], LFT, 0) == lft
    assert smp(lab, at["Switch2"], MFT, 1) == mft
    octets = bytearray(keys)
    octets[5] = 0x77
    smp(lab, at["Hca4"], PKEYS, 0, octets.hex())
    repair(lab, "--all")
    assert smp(lab, at["Hca4"], PKEYS, 0) == keys
    assert is_good(lab)
    events = [row["text"] for row in ask_json(lab, "history") if row["event"] == "repair"]
    assert len([text for text in events if "to be" in text]) == 4, events
    assert len(events) == 8


def test_repair_leaves_to_opensm_what_its_sweep_writes(mending):
    lab = mending
    lid = lids(lab)["Hca4"]
    octets = unchanged(smp(lab, lid, PORT_INFO, 0))
    octets[19] ^= 5
    smp(lab, lid, PORT_INFO, 0, octets.hex())
    assert mentions(repair(lab, "--all", code=1), "MasterSMLID not sweep")
    sweep_heavily(lab, lambda: is_good(lab), what="MasterSMLID mended")


def test_device_that_does_not_answer_is_not_repaired(mending):
    lab = mending
    at = lids(lab)
    old = smp(lab, at["Hca4"], PKEYS, 0)
    octets = bytearray(old)
    octets[5] = 0x77
    smp(lab, at["Hca4"], PKEYS, 0, octets.hex())
    lab.harm_mads("lose class 0x81 attribute 0x16 direction in")
    assert mentions(repair(lab, "--all", code=1), "not answer")
    lab.heal_mads()
    repair(lab, "--all")
    assert is_good(lab)


def test_device_that_refuses_is_not_said_to_be_repaired(mending):
    lab = mending
    lid = lids(lab)["Hca4"]
    succeeded(lab.run(PATH_ASK, "--alias", f"{lid}:3:0xaaaa0001", node="Hca4"))
    # ibsim's devices take no alias.
    assert mentions(repair(lab, "--all", code=1), "GUIDInfo not written")
    succeeded(lab.run(PATH_ASK, "--alias", f"{lid}:3:0", node="Hca4"))


class Held:
    """A lab in which the Set of a repair waits until a block of the test ends."""

    def __init__(self, lab, trigger):
        self.lab, self.trigger = lab, trigger

    @contextlib.contextmanager
    def repair(self):
        held = self.trigger.with_name(f"{self.trigger.name}.held")
        self.trigger.touch()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            repaired = pool.submit(repair, self.lab, "--all")
            try:
                wait_until(held.exists, 20, "a Set")
                yield
            finally:
                held.unlink()
            repaired.result()


@pytest.fixture(name="held")
def lab_that_holds_sets(tmp_path, monkeypatch):
    monkeypatch.setenv("TRIAD_RECORD_HOLD", str(tmp_path / "hold"))
    with triad_lab(f"{QUICK}[audit]\nrepair = true\n", opensm_conf="lmc 1\n",
                   preload=[RECORD]) as lab:
        wait_for_sweep(lab)
        wait_until(lambda: is_good(lab), 10, "tables")
        yield Held(lab, tmp_path / "hold")


# A Set has all of its block, as it was read before.

def test_what_a_sweep_writes_before_a_set_stays(held):
    lab, at = held.lab, lids(held.lab)

    def routes():
        return smp(lab, at["Switch2"], LFT, 0)[1:]

    # The switches have two links; by the first one the repair's SMPs go.
    lost = max(routes()[at["Hca1"] - 1:at["Hca1"] + 1])
    change(lab, at["Switch2"], {at["Hca4"] + 1: NO_ROUTE})
    with held.repair():
        lab.sim(f'Unlink "Switch2"[{lost}]')
        sweep_heavily(lab, lambda: lost not in routes(), what="a way around it")
    assert lost not in routes()
    wait_until(lambda: is_good(lab), 10, lambda: str(audit(lab)))


def test_what_a_join_writes_before_a_set_stays(held):
    lab, at = held.lab, lids(held.lab)

    def join(name, group):
        return int(succeeded(lab.run(JOIN, MEMBERS[name], str(at["Hca1"]), group,
                                     node=name)).stdout)

    # Both in one block, which has no row before two are members.
    assert {join("Hca2", group) // 32 for group in OWN_GROUPS} == {0xc000 // 32}
    assert not any(smp(lab, at["Switch2"], MFT, 0))
    smp(lab, at["Switch2"], MFT, 0, (bytes(63) + b"\2").hex())
    with held.repair():
        join("Hca4", OWN_GROUPS[0])
        wait_until(lambda: any(smp(lab, at["Switch2"], MFT, 0)[:62]), 10, "the group's row")
        rows = smp(lab, at["Switch2"], MFT, 0)[:62]
    assert smp(lab, at["Switch2"], MFT, 0) == rows + bytes(2)
    wait_until(lambda: is_good(lab), 10, lambda: str(audit(lab)))


def test_repair_by_a_standby_is_refused():
    with triad_lab(f"{QUICK}[audit]\nrepair = true\n", sms=["Hca1", "Hca3"]) as lab:
        repair(lab, "--all")
        process = lab.triad("audit", "repair", "--all", sm=1)
        assert (process.returncode, mentions(process.stderr, "not the master")) == (1, True)


def test_other_sms_are_named():
    with triad_lab(sms=["Hca1", "Hca3"]) as lab:
        def others():
            return [(sm["node_name"], sm["state"])
                    for sm in ask_json(lab, "audit")["other_sms"]]

        assert is_good(lab)
        wait_until(lambda: others() == [("Hca3", "standby")], 20, "the standby")
        assert mentions(ask(lab, "audit"), "SM Hca3 standby")
        # What is not known is no difference.
        assert lab.triad("audit", sm=1).returncode == 3
        assert lab.triad("audit", "--nothing-of-the-kind").returncode == 2
        assert subprocess.run([BUILDDIR / "triadctl", "--socket", "/dev/null/none",
                               "audit"], check=False).returncode == 3


# --- by itself ---

def metrics(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return answer.read().decode()


def alerts(lab):
    return [alert for alert in ask_json(lab, "alerts")["alerts"]
            if any("SM wants" in finding["what"] or "routes" in finding["what"]
                   for finding in alert["findings"])]


def audit_line(lab):
    """What 'health' says of it; None: nothing."""
    return next((part["text"] for part in json.loads(
        lab.triad("health", "--json").stdout)["parts"] if part["part"] == "audit"), None)


@pytest.mark.threads
def test_differences_are_found_without_being_asked_for():
    port = free_port()
    with triad_lab(f"{QUICK}[audit]\nperiod = 1\n[prometheus]\nlisten = 127.0.0.1:{port}\n",
                   triadd=True) as lab:
        def n_found(table):
            lines = re.findall(rf'triad_audit_differences{{table="{table}"}} (\d+)',
                               metrics(port))
            return int(lines[0]) if lines else None

        wait_until(lambda: n_found("LFT") == 0, 30, "a first audit")
        lid = lids(lab)["Hca4"]
        old = smp(lab, lid, PKEYS, 0)
        octets = bytearray(old)
        octets[5] = 0x77
        smp(lab, lid, PKEYS, 0, octets.hex())
        wait_until(lambda: n_found("P_Keys") == 1, 30, "the P_Key")
        assert n_found("LFT") == 0
        (alert,) = wait_until(lambda: alerts(lab), 30, "its alert")
        assert alert["at"]["node_name"] == "Hca4", alert
        [finding] = health_findings(lab, "1 SM wants")
        assert mentions(finding["at"], "Hca4"), finding
        # Who asks by hand does not wait for it, and sees the same.
        (row,) = audit(lab)[1]
        assert (row["node_name"], row["found"]) == ("Hca4", "0x0077")
        smp(lab, lid, PKEYS, 0, old.hex())
        wait_until(lambda: n_found("P_Keys") == 0, 30, "the P_Key mended")
        wait_until(lambda: not alerts(lab), 30, "the end of its alert")
        ask(lab, "set", "audit.period", "0")
        assert not audit_line(lab)


def hand_over(lab, index, priority):
    conf = lab.folder / f"sm-{index}" / "opensm.conf"
    conf.write_text(conf.read_text() + f"sm_priority {priority}\n")
    os.kill(lab.status()["sms"][index]["pid"], signal.SIGHUP)
    states = ["master" if sm == index else "standby" for sm in range(2)]
    wait_until(lambda: [sm["state"] for sm in lab.status()["sms"]] == states, 60,
               "another master")


@pytest.mark.parametrize("period", (0, 1))
def test_what_was_found_is_known_in_one_mastership_alone(period):
    port = free_port()
    with triad_lab(f"{QUICK}[audit]\nperiod = {period}\n"
                   f"[prometheus]\nlisten = 127.0.0.1:{port}\n",
                   opensm_conf="sweep_interval 1\n", sms=["Hca1", "Hca3"], triadd=True) as lab:
        if not period:
            wait_for_sweep(lab, 1)
            audit(lab)
        wait_until(lambda: "triad_audit_differences{" in metrics(port), 30, "an audit")
        assert ask_json(lab, "audit", "last")["ended"]
        hand_over(lab, 1, 5)
        wait_until(lambda: "triad_audit_differences{" not in metrics(port), 30, "no figures")
        wait_until(lambda: lab.triad("audit", "last").returncode == 1, 30, "no fabric")
        if period:
            assert "master" in audit_line(lab), "who does it"
            return
        # Master again, it does not know what the other one has changed meanwhile.
        hand_over(lab, 0, 6)
        wait_until(lambda: lab.triad("audit", "last").returncode == 0, 30, "its fabric")
        last = ask_json(lab, "audit", "last")
        assert last["ended"] is None and last["differ"] is None, last
        assert "triad_audit_differences{" not in metrics(port)
        wait_until(lambda: audit(lab) and ask_json(lab, "audit", "last")["ended"], 30,
                   "an audit in this mastership")


def test_audit_by_itself_is_spread_over_its_period():
    with triad_lab(f"{QUICK}[audit]\nperiod = 20\n") as lab:
        assert mentions(audit_line(lab), "none ended")
        # One that is asked for does not wait for it.
        began = time.monotonic()
        assert is_good(lab)
        assert time.monotonic() - began < 10
        assert mentions(audit_line(lab), "0 differences")


def test_last_audit_is_shown_without_another_one():
    listen = free_address()
    with triad_lab(f"{QUICK}[web]\nlisten = {listen}\n", triadd=True) as lab, \
            pagelib.browser(f"http://{listen}") as page:
        wait_for_sweep(lab, 1)
        last = ask_json(lab, "audit", "last")
        assert (last["ended"], last["differ"], last["blocks_unknown"]) == (None,) * 3, last
        assert not last["differences"] and last["partial"], last
        assert mentions(ask(lab, "audit", "last").splitlines()[0], "not known"), last
        page.open("/guards")
        page.wait_for_text("Not known: no audit")
        lid = lids(lab)["Hca4"]
        old = smp(lab, lid, PKEYS, 0)
        octets = bytearray(old)
        octets[5] = 0x77
        smp(lab, lid, PKEYS, 0, octets.hex())
        rows = audit(lab)[1]
        last = ask_json(lab, "audit", "last")
        assert last["differ"] == len(rows) == 1 and last["ended"], last
        assert not last["partial"] and last["by"] == "root", last
        [row] = last["differences"]
        assert {name: rows[0][name] for name in row} == row, (row, rows)
        check_schema(get_json(listen, "/api/v1/openapi.json"), "#/components/schemas/audit_last",
                     last, "the last audit")
        page.open("/guards")
        page.wait_for_text("0x0077")
        assert "1 difference" in page.text, page.text
        page.screenshot("audit")
        # One of a single device says nothing of all.
        smp(lab, lid, PKEYS, 0, old.hex())
        succeeded(lab.triad("audit", "--node", "Hca4"))
        assert ask_json(lab, "audit", "last") == last
        # What was not read is not known, and no 0.
        lab.harm_mads(f"lose class 0x01 lid {lids(lab)['Switch2']} direction in")
        lab.triad("audit")
        last = ask_json(lab, "audit", "last")
        assert last["differ"] == 0 and last["blocks_unknown"] > 0, last
        assert last["silent_devices"] == 1, last
        page.open("/guards")
        page.wait_for_text("not known")
        assert "none differs" not in page.text, page.text
        lab.heal_mads()
        wait_until(lambda: is_good(lab), 10, "its answers")
        page.open("/guards")
        page.wait_for_text("none differs")
        assert not page.errors()
