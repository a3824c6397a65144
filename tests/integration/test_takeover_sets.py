# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a new master writes into a fabric in which nothing changed but the master: counted,
beside what OpenSM alone writes.  OpenSM reads neither forwarding tables nor those of QoS, so
it writes each of them once; Triad adds nothing, and nothing is another than before."""

import collections
import os
import signal

import pytest

from checks import wait_until
from labs import Lab
from tablelib import CONF, PORT_INFO, RECORD, SL2VL, VLARB, Record, World, policy, \
    read_tables
from test_path_answers import fat_tree
from triadlib import status

FULL = "TRIAD_FULL" in os.environ
SWITCH_INFO, PKEYS, LFT, MFT = 0x12, 0x16, 0x19, 0x1b
NAMES = {SWITCH_INFO: "SwitchInfo", PORT_INFO: "PortInfo", PKEYS: "P_KeyTable",
         SL2VL: "SLtoVLMappingTable", VLARB: "VLArbitrationTable",
         LFT: "LinearForwardingTable", MFT: "MulticastForwardingTable"}
POLICY = policy(groups={"Hosts": ["node-type: CA"]},
                sl2vl=[{"group": ["Hosts"], "sl2vl-table": [0, 1] * 8}],
                vlarb=[{"group": ["Hosts"], "vlarb-low": [(0, 10), (1, 200)]}])
# A standby asks the master twice a second whether it lives.  On a busy machine OpenSM waits
# for its answers: a link that a sweep misses is routed around, and some of that stays.  Sweeps
# of its timer are left out, as one that misses something is followed by another of all.
OPENSM_CONF = "qos TRUE\nsminfo_polling_timeout 500\npolling_retry_number 2\n" \
    "transaction_timeout 1000\nsweep_interval 0\n"


def take_over(scratch, net, **options):
    """Kills the master; returns how many Sets of each attribute the next one sent, and what
    was in the fabric before and after."""
    record = Record(scratch)
    nodes = ("host-0001 HCA-1", "host-0002 HCA-1")
    with Lab(net, sms=nodes, opensm_conf=OPENSM_CONF, preload=(RECORD,), **options) as lab:
        is_triad = "triad_conf" in options
        wait_until(lambda: "SUBNET UP" in lab.log(), 60, "a subnet")
        if is_triad:
            wait_for_tables(lab, 0)
        wait_until(lambda: lab.status()["sms"][1]["state"] == "standby", 60, "a standby")
        before, mark = look(lab, net), record.mark()
        os.kill(lab.status()["sms"][0]["pid"], signal.SIGKILL)
        wait_until(lambda: "SUBNET UP" in lab.log(1), 60, "the next one's first sweep")
        if is_triad:
            wait_for_tables(lab, 1)
        sets = collections.Counter(NAMES[smp.attribute] for smp in
                                   record.sets(mark, attributes=NAMES))
        after = look(lab, net)
    return sets, before, after


def wait_for_tables(lab, sm):
    wait_until(lambda: status(lab, sm=sm)["qos_tables"]["state"] == "in force", 60, "tables")


def look(lab, net):
    """LIDs, tables of QoS and where each switch sends to each LID."""
    world = World(lab, net)
    routes = {node.name: lab.run("ibroute", "-n", "-t", "5000", str(node.lid)).stdout
              for node in world.switches()}
    assert all("0x0001" in table for table in routes.values()), routes
    return ({node.name: node.lid for node in world.nodes.values()},
            read_tables(lab, world), routes)


@pytest.mark.plain
@pytest.mark.row("N12")
@pytest.mark.parametrize("hosts", [12, pytest.param(648, marks=pytest.mark.skipif(
    not FULL, reason="it takes a minute"))])
def test_takeover_writes_no_more_than_opensm_alone(scratch, hosts):
    net = fat_tree(scratch, hosts)
    path = scratch.folder() / "policy.conf"
    path.write_text(POLICY, encoding="utf-8")
    stock, *_ = take_over(scratch, net, plugin="no")
    triad, before, after = take_over(
        scratch, net, triad_conf=CONF.format(enabled="true", file=path))
    for name in NAMES.values():
        print(f"{name:26} OpenSM alone {stock[name]:5}  with Triad {triad[name]:5}")
    assert before == after, "LIDs, tables and routes"
    assert triad["PortInfo"], "what mastership itself needs"
    assert all(triad[name] <= stock[name] for name in NAMES.values()), "what was sent"
