# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Nodes whose names are not unique, on a real opensm; and names of a node name map, which
standbys and agents have as the master has them."""

import json
from pathlib import Path

import pytest

from checks import succeeded, wait_until
from test_agent import Agent
from triadlib import QUICK, TriadLab, ask, ask_json, triad_lab, wait_for_sweep

TWINS = """Switch 8 "S-1" # "Quantum-2 Mellanox Technologies"
[1] "H-1"[1]
[3] "S-2"[3]

Switch 8 "S-2" # "Quantum-2 Mellanox Technologies"
[1] "H-2"[1]
[3] "S-1"[3]

Hca 1 "H-1" # "host-1 HCA-1"
[1] "S-1"[1]

Hca 1 "H-2" # " host-2 HCA-1"
[1] "S-2"[1]
"""
NAME = "Quantum-2 Mellanox Technologies"


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    net = tmp_path_factory.mktemp("twins") / "twins.net"
    net.write_text(TWINS, encoding="utf-8")
    with TriadLab(net, triad_conf=QUICK) as lab:
        wait_for_sweep(lab)
        yield lab


def label(guid):
    return f"{NAME}#{guid[-6:]}"


def test_twins_have_the_ends_of_their_guids_everywhere(twins):
    rows = [row for row in ask_json(twins, "nodes") if row["name"] == NAME]
    labels = {label(row["guid"]) for row in rows}
    assert len(labels) == 2, rows
    for command in ("nodes", "links", "perf show", "ports"):
        text = ask(twins, *command.split())
        assert all(one in text for one in labels), f"{command}: {text}"
    one, other = sorted(labels)
    assert one in ask(twins, "routes", "between", one, other)
    port = [row for row in ask_json(twins, "perf", "show", "--node", f"{one}:3")]
    assert [(label(row["node_guid"]), row["node_name"], row["port"]) for row in port] == \
        [(one, NAME, 3)]


def test_alert_health_history_and_silence_say_which_twin(twins):
    guid = next(row["guid"] for row in ask_json(twins, "nodes") if row["name"] == NAME)
    place = f"{label(guid)}:3"
    ask(twins, "silence", place, "--for", "1h", "--reason", "test")
    (silence,) = ask_json(twins, "silences")
    assert silence["place"] == place, silence
    ask(twins, "unsilence", str(silence["id"]))
    (row,) = ask_json(twins, "links", "--node", "host-2 HCA-1")
    twin = next(end for end in row["ends"] if end["node_name"] == NAME)
    shown = f"{label(twin['node_guid'])}:{twin['port']}"
    twins.sim('Unlink "S-2"[1]')
    wait_until(lambda: shown in ask(twins, "alerts"), 30, "the alert")
    for command in (("links", "--down"), ("history", shown)):
        text = ask(twins, *command)
        assert shown in text, f"{command}: {text}"
    found = json.loads(twins.triad("health", "--json").stdout)["findings"]
    assert shown in [place for it in found for place in (it["at"], it["far_end"])], found


def test_standby_and_agent_call_nodes_as_the_map_does(scratch):
    names = Path(scratch.folder()) / "names"
    names.write_text('0x200000 "leaf-01"\n0x99 "not a node"\n', encoding="utf-8")
    with triad_lab(QUICK + "role = any\n", sms=("Hca1", "Hca2"),
                   opensm_conf=f"node_name_map_name {names}\n") as lab:
        for sm in (0, 1):
            wait_until(lambda sm=sm: "leaf-01" in lab.triad("nodes", sm=sm).stdout, 40,
                       f"the name at SM {sm}")
        agent = Agent(scratch, lab, f"{QUICK}[collect]\nnode_name_map = {names}\n")
        wait_until(lambda: "leaf-01" in agent.triadctl("nodes").stdout, 40,
                   "the name at the agent")
        agent.write(f"{QUICK}[collect]\nnode_name_map = {names}.none\n"
                    "topology = discover\n")
        succeeded(agent.triadctl("reload"))
        agent.log_has("names can't be read")
