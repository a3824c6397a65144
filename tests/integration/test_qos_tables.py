# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""QoS tables on stock opensm: what a policy says is what ports have, no more is sent than
is needed, and without a policy everything is as OpenSM alone would have it."""

import collections
import os
import subprocess
import sys

import pytest

from checks import succeeded, wait_until
from labs import SRCDIR, Lab
from tablelib import DIFFERENT, NO_SETUP, NO_VL, PORT_INFO, QOS, RECORD, SL2VL, VLARB, \
    Meaning, Record, World, check_tables, load, plan, policy, random_policy, rows, \
    stock_tables, sweep, sweep_without_triad, table_lab, tables, wait_for
from triadlib import NET, ask, ask_json, log_has, status

SEED = int(os.environ.get("TRIAD_TABLES_SEED", "1"))
N_POLICIES = 40 if "TRIAD_FULL" in os.environ else 6

# Tables of their own for each kind of port, so that none is taken for another.
CONF = QOS + """\
qos_ca_sl2vl 0,1,2,3,4,5,6,7,7,6,5,4,3,2,1,0
qos_swe_sl2vl 0,2,4,6,1,3,5,7,0,0,0,0,0,0,15,0
qos_ca_vlarb_low 0:1,1:2,2:3
qos_swe_vlarb_high 0:7,1:6
"""

# These tables are not meant for use: VLs have no weight, and the guard would refuse them.
ANYTHING = "tables_guard = false\n"

# Each overlaps the one before it.
GROUPS = {
    "Storage": ["port-guid: 0x10000a"],
    "Clients": ["port-guid: 0x100001,0x100007"],
    "Switches": ["node-type: SWITCH"],
    "Trunk": ["port-name: Switch1/P3"],
}


def table(*vls):
    return list(vls) + [vls[-1]] * (16 - len(vls))


SCOPES = [
    {"group": ["Switches"], "sl2vl-table": table(1)},
    {"group": ["Switches"], "from": [0, 1, 4], "to": [2, 3], "sl2vl-table": table(2, 15)},
    {"across": ["Storage"], "sl2vl-table": table(3, 9, 1)},
    {"across-to": ["Switches"], "across-from": ["Clients"], "sl2vl-table": table(4, 5)},
    {"group": ["Clients"], "from": [7], "sl2vl-table": table(5, 14, 6)},
    {"across-from": ["Storage"], "to": [1, 9], "sl2vl-table": table(6, 0)},
    {"group": ["Trunk"], "from": [5], "sl2vl-table": table(7, 2)},
]
VLARBS = [
    {"group": ["Switches", "Clients"], "vlarb-low": [(0, 1), (9, 3)]},
    {"across": ["Clients"], "vlarb-high": [(n, n) for n in range(8)],
     "vlarb-low": [(n % 8, 255) for n in range(9)]},
    {"group": ["Switches"], "to": [5], "vlarb-high": [(3, 0)]},
]


def gen_fabric(scratch, *words):
    path = scratch.folder() / "fabric.net"
    subprocess.run([sys.executable, SRCDIR / "scripts/gen-fabric", *words, "-o", path],
                   check=True)
    return path


# --- in force ------------------------------------------------------------------

@pytest.mark.row("Q1", "Q7")
def test_policy_in_force_on_every_port(scratch):
    stock = stock_tables(NET, CONF)
    lab, _ = table_lab(scratch, NET, policy(GROUPS, SCOPES, VLARBS), CONF, more=ANYTHING)
    with lab:
        wait_for(lab)
        world = World(lab, NET)
        expected = Meaning(world, stock, GROUPS, SCOPES, VLARBS).tables()
        check_tables(lab, world, expected, "in the first sweep")
        used = collections.Counter(sl2vl[0] for port in expected.values()
                                   for sl2vl in port["sl2vl"].values())
        assert sorted(used) == list(range(8)), \
            "scopes that apply somewhere, and the stock"
        assert plan(lab)[0] == 0, "the exit status of a plan"
        assert {row["agrees"] for row in rows(lab)} == {True}, "whether tables agree"
        assert tables(lab)["unlike"] == 0, "tables that ports answered otherwise"
        said = [row["text"] for row in ask_json(lab, "history") if row["event"] == "qos"]
        assert "tables: in force" in said and said[-1].startswith("policy loaded: "), said


def test_port_with_fewer_vls_gets_vl15_and_weight_0(scratch):
    conf = CONF + "max_op_vls 3\n"
    stock = stock_tables(NET, conf)
    lab, _ = table_lab(scratch, NET, policy(GROUPS, SCOPES[:4], VLARBS), conf,
                       more=ANYTHING)
    with lab:
        wait_for(lab)
        world = World(lab, NET)
        check_tables(lab, world, Meaning(world, stock, GROUPS, SCOPES[:4], VLARBS,
                                         n_vls=4).tables(), "with 4 VLs")


@pytest.mark.row("Q7")
def test_random_policies_as_the_manual_has_them(scratch):
    print(f"seed {SEED}")
    net = gen_fabric(scratch, "fat-tree", "--levels", "2", "--radix", "4")
    stock = stock_tables(net, CONF)
    lab, path = table_lab(scratch, net, policy({}), CONF, more=ANYTHING)
    with lab:
        wait_for(lab, NO_SETUP)
        world = World(lab, net)
        for seed in range(SEED, SEED + N_POLICIES):
            groups, sl2vl, vlarb = random_policy(seed, world)
            load(lab, path, policy(groups, sl2vl, vlarb))
            expected = Meaning(world, stock, groups, sl2vl, vlarb).tables()
            check_tables(lab, world, expected, f"policy with the seed {seed}")
            assert expected != stock, f"a policy without effect: seed {seed}"
            assert plan(lab)[0] == 0, "the exit status of a plan"


def test_groups_by_partition_in_the_first_sweep(scratch):
    partitions = scratch.folder() / "partitions.conf"
    partitions.write_text("Default=0x7fff : ALL=full;\n"
                          "Compute=0x0002 : 0x100001=full, 0x100007=limited;\n",
                          encoding="utf-8")
    conf = CONF + f"partition_config_file {partitions}\n"
    groups = {"By key": ["pkey: 0x2"], "By name": ["partition: Compute"]}
    members = {"0x2": {0x100001, 0x100007}}
    sl2vl = [{"group": ["By key"], "sl2vl-table": table(5)},
             {"across": ["By name"], "sl2vl-table": table(6)}]
    stock = stock_tables(NET, conf)
    lab, _ = table_lab(scratch, NET, policy(groups, sl2vl), conf, more=ANYTHING)
    with lab:
        wait_for(lab)
        world = World(lab, NET)
        meant = {"By key": ["pkey: 0x2"], "By name": ["pkey: 0x2"]}
        check_tables(lab, world, Meaning(world, stock, meant, sl2vl,
                                         members=members).tables(), "by partition")


# --- OpenSM's own --------------------------------------------------------------

def without_chance(world, smp):
    """Ways and LIDs differ from one start to the next, and with the way LocalPortNum: the
    port that the SM's last question came in by, which nobody can set."""
    data = bytearray(smp.data)
    if smp.attribute == PORT_INFO:
        data[16:18] = b"\0\0"
        data[28] = 0
    return (world.at(smp.path).name, smp.attribute, smp.modifier, smp.m_key, data.hex())


def test_policy_without_setup_sends_what_opensm_sends(scratch):
    """Octet for octet, in the first sweep and in another."""
    def sent(**options):
        record = Record(scratch)
        with Lab(NET, opensm_conf=CONF, preload=(RECORD,), **options) as lab:
            if "plugin" not in options:
                wait_for(lab, NO_SETUP)
            sweep_without_triad(lab)
            world = World(lab, NET)
            return sorted(without_chance(world, smp)
                          for smp in record.sets(0, (SL2VL, VLARB, PORT_INFO)))

    path = scratch.folder() / "policy.conf"
    path.write_text(policy({"All": ["node-type: ALL"]}), encoding="utf-8")
    theirs = sent(plugin="no")
    ours = sent(triad_conf="[perfmgr]\nenabled = false\n[qos]\ntables_enabled = true\n"
                           f"policy_file = {path}\n")
    assert len(theirs) > 100, f"{len(theirs)} SMPs"
    assert len(ours) == len(theirs), "the number of SMPs"
    assert [pair for pair in zip(theirs, ours) if pair[0] != pair[1]][:3] == [], \
        "SMPs that are not the same"


@pytest.mark.plain
def test_tables_off_again_are_opensms(scratch):
    stock = stock_tables(NET, CONF)
    text = policy(GROUPS, SCOPES, VLARBS)
    lab, path = table_lab(scratch, NET, text, CONF, more=ANYTHING)
    with lab:
        wait_for(lab)
        world = World(lab, NET)
        expected = Meaning(world, stock, GROUPS, SCOPES, VLARBS).tables()
        ask(lab, "set", "qos.tables_enabled", "false")
        wait_for(lab, "off")
        check_tables(lab, world, stock, "switched off")
        passes = tables(lab)["passes"]
        sweep(lab, 2)
        assert tables(lab)["passes"] == passes, "passes in which Triad has a say then"
        log_has(lab, f"{path} not programmed qos.tables_enabled off")
        ask(lab, "set", "qos.tables_enabled", "true")
        wait_for(lab)
        check_tables(lab, world, expected, "switched on again")
        load(lab, path, policy(GROUPS), NO_SETUP)
        check_tables(lab, world, stock, "the setup is gone")
        load(lab, path, text)
        check_tables(lab, world, expected, "the setup is back")


def test_tables_after_a_start_without_triad_are_opensms(scratch):
    """The fabric remembers; OpenSM writes its own at its start."""
    stock = stock_tables(NET, CONF)
    lab, _ = table_lab(scratch, NET, policy(GROUPS, SCOPES, VLARBS),
                       CONF + "sminfo_polling_timeout 500\npolling_retry_number 1\n",
                       more=ANYTHING, sms=("Hca1", "Hca3"))
    with lab:
        wait_for(lab)
        world = World(lab, NET)
        conf = lab.folder / "sm-1" / "triad.conf"
        conf.write_text(conf.read_text().replace("tables_enabled = true",
                                                 "tables_enabled = false"))
        succeeded(lab.run("triadctl", "reload", sm=1))
        os.kill(lab.status()["sms"][0]["pid"], 15)
        wait_until(lambda: lab.status()["sms"][1]["state"] == "master" and
                   lab.status()["sms"][1]["subnet_up"], 60, "the other SM")
        world_then = World(lab, NET)
        assert world_then.sm == 0x100007, "the master"
        assert status(lab, sm=1)["qos_tables"]["state"] == "off", "its tables"
        check_tables(lab, world, stock, "by an SM without a policy")


# --- changes -------------------------------------------------------------------

@pytest.mark.threads
@pytest.mark.plain
@pytest.mark.row("Q10", "X3")
def test_changed_policy_sends_what_the_plan_counts(scratch):
    record = Record(scratch)
    lab, path = table_lab(scratch, NET, policy(GROUPS, SCOPES, VLARBS), CONF, more=ANYTHING,
                          preload=(RECORD,))
    with lab:
        wait_for(lab)
        sweep(lab, 2)
        mark = record.mark()
        sweep(lab, 2)
        assert record.sets(mark) == [], "SMPs of sweeps in which nothing changed"
        other = [*SCOPES, {"across": ["Clients"], "from": [3], "sl2vl-table": table(7, 1)}]
        mark = record.mark()
        code, planned = load(lab, path, policy(GROUPS, other, VLARBS[:2]))
        assert code == 3, "the exit status of the plan"
        sent = record.sets(mark)
        assert len(sent) == planned["smps"], "SMPs sent, and planned"
        assert planned["changed"] == planned["smps"], "tables changed, all small ones"
        assert 3 <= len(sent) < 12, f"{len(sent)} SMPs for a small change"
        assert plan(lab)[0] == 0, "the exit status of the plan afterwards"
        assert plan(lab)[1]["changes"] == [], "changes left"
        mark = record.mark()
        sweep(lab, 2)
        assert record.sets(mark) == [], "SMPs of sweeps afterwards"


M_KEY = 0x1234


def high_limits(record, world, mark=0):
    """Of PortInfo, by node's name and port: the last one sent."""
    found = {}
    for smp in record.sets(mark, (PORT_INFO,)):
        node = world.at(smp.path)
        number = smp.modifier & 0xff if node.is_switch else 1
        found[node.name, number] = smp.data[38]
    return found


def test_high_limit_and_m_key_on_the_wire(scratch):
    record = Record(scratch, TRIAD_RECORD_M_KEY=f"{M_KEY:#x}")
    limits = [{"group": ["Switches"], "vl-high-limit": 9},
              {"across": ["Storage"], "vl-high-limit": 200},
              {"group": ["Clients"], "vlarb-low": [(1, 1)]}]
    conf = CONF + f"m_key {M_KEY:#x}\nm_key_protection_level 1\nqos_high_limit 5\n"
    lab, path = table_lab(scratch, NET, policy(GROUPS, SCOPES, limits), conf, more=ANYTHING,
                          preload=(RECORD,))
    with lab:
        # The simulator forgets high limits.
        wait_for(lab, DIFFERENT)
        world = World(lab, NET)
        found = high_limits(record, world)
        should = {(node.name, number): 9 if node.is_switch else 5
                  for node, number in world.ports()}
        should["Switch2", 2] = 200
        assert {key: found.get(key) for key in should} == should, "high limits sent"
        mark = record.mark()
        load(lab, path, policy(GROUPS, SCOPES[:1], limits), DIFFERENT)
        sent = record.sets(mark)
        assert len(sent) > 20, f"{len(sent)} SMPs"
        assert {smp.m_key for smp in sent} == {M_KEY}, "the M_Keys of Set()"


# --- few SMPs ------------------------------------------------------------------

def sl2vl_by_node(record, world, mark=0):
    found = collections.defaultdict(list)
    for smp in record.sets(mark, (SL2VL,)):
        found[world.at(smp.path).name].append((smp.modifier, smp.data[:8].hex()))
    return dict(found)


def packed(vls):
    return "".join(f"{vl:x}" for vl in vls)


def test_optimized_mapping_takes_few_smps(scratch):
    """"All" in-ports are without a base port 0, which the simulator's switches have."""
    record = Record(scratch, TRIAD_RECORD_OPTIMIZED="1", TRIAD_RECORD_M_KEY=f"{M_KEY:#x}")
    conf = (CONF + f"use_optimized_slvl TRUE\nm_key {M_KEY:#x}\n"
            "m_key_protection_level 1\n")
    same = table(1, 2, 3)
    lab, path = table_lab(scratch, NET, policy(GROUPS, [{"group": ["Switches"],
                                                         "sl2vl-table": same}]), conf,
                          preload=(RECORD,))
    with lab:
        wait_for(lab)
        world = World(lab, NET)
        sent = sl2vl_by_node(record, world)
        assert {name: sent[name] for name in ("Switch1", "Switch2")} == \
            {name: [(0x30000, packed(same)), (0x10000, packed(same))]
             for name in ("Switch1", "Switch2")}, \
            "SMPs to switches all of whose tables are alike"
        mark = record.mark()
        sweep(lab, 2)
        assert record.sets(mark) == [], "SMPs of sweeps in which nothing changed"
        mark = record.mark()
        text = policy(GROUPS, [{"group": ["Switches"], "sl2vl-table": same},
                               {"across": ["Storage"], "sl2vl-table": table(4)}])
        _, planned = load(lab, path, text)
        sent = sl2vl_by_node(record, world, mark)
        assert sent == \
            {"Switch2": [(0x20002, packed(table(4))), (2, packed(table(4)))]}, \
            "SMPs where one out-port differs"
        assert planned["smps"] == 2, "SMPs planned"
        mark = record.mark()
        text = policy(GROUPS, [{"group": ["Switches"], "sl2vl-table": same},
                               {"across": ["Storage"], "from": [3],
                                "sl2vl-table": table(4)}])
        _, planned = load(lab, path, text)
        sent = sl2vl_by_node(record, world, mark)
        assert sorted(sent) == ["Switch2"], "nodes"
        assert sorted(sent["Switch2"]) == \
            [(n << 8 | 2, packed(same)) for n in range(9) if n != 3], \
            "SMPs where one in-port differs"
        assert planned["smps"] == 8, "SMPs planned"
        assert {smp.m_key for smp in record.sets(mark)} == {M_KEY}, "M_Keys"
        mark = record.mark()
        ask(lab, "set", "qos.tables_enabled", "false")
        wait_for(lab, "off")
        stock = packed([0, 2, 4, 6, 1, 3, 5, 7, 0, 0, 0, 0, 0, 0, NO_VL, 0])
        sent = sl2vl_by_node(record, world, mark)
        assert {name: sent[name] for name in ("Switch1", "Switch2")} == \
            {name: [(0x30000, stock), (0x10000, stock)]
             for name in ("Switch1", "Switch2")}, "SMPs that take it back"
