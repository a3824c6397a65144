# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'heal plan': bad links are proposed with their evidence and cost, the worst first; what may not be
taken is not; nothing is said to be well that is not known."""

import json
import subprocess

import pytest

from checks import fits_columns, mentions, succeeded, wait_until
from labs import SRCDIR, TRIADD, need
from test_devices import qsfp28
from triadlab.tcp_ports import free_address
from triadlib import TriadLab, ask, ask_json, status, sweep_heavily, wait_for_sweep
from weblib import check_schema, get, get_json

# Four leaves with two links to each of two spines; the SM is on host-0001, leaf-01:1.
TREE = ("fat-tree", "--levels", "2", "--radix", "8", "--hosts", "16")
CONF = """\
[perfmgr]
sweep_period = 1
reset = never
[devices]
period = 1
[alerts]
clear_after = 86400
[damp]
mode = act
[heal]
max_out = 10
min_capacity = 50
[web]
listen = {address}
"""
# (leaf, port): the far end
WORN, BURST, SLOW, FLAPPING, HOT = (("leaf-02", 5), ("leaf-03", 7), ("leaf-04", 8), ("leaf-02", 8),
                                    ("leaf-04", 5))
HOST, SM, STANDBY = ("leaf-02", 2), ("leaf-01", 1), ("leaf-04", 4)


def make_net(folder):
    net = folder / "tree.net"
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", *TREE, "-o", net], check=True)
    # Only devices of this vendor are asked for their modules.
    net.write_text(net.read_text(encoding="ascii").replace(
        "switchguid=", "vendid=0x2c9\ndevid=0xd2f0\nswitchguid="), encoding="ascii")
    return net


def plan(lab, code=1):
    process = lab.triad("heal", "plan", "--json", "-n", "1000")
    assert process.returncode == code, process.stdout + process.stderr
    return json.loads(process.stdout)


def proposals(lab):
    """By the end that is a leaf's, or by the node."""
    found = {}
    for row in plan(lab)["proposals"]:
        ends = [(row["node_name"], row["port"]), (row["far_node_name"], row["far_port"])]
        found[next((end for end in ends if end[0].startswith("leaf")), ends[0])] = row
    return found


def set_counter(lab, end, counter, value):
    lab.sim(f'PerformanceSet "{end[0]}"[{end[1]}] PortCounters.{counter}={value}')


def is_proposed(lab, end, kind):
    process = lab.triad("heal", "plan", "--json", "-n", "1000")
    return process.returncode == 1 and any(
        (row["node_name"], row["port"]) == end and
        any(evidence["kind"] == kind for evidence in row["evidence"])
        for row in json.loads(process.stdout)["proposals"])


def wait_for(lab, end, kind):
    wait_until(lambda: is_proposed(lab, end, kind), 60, f"{end}: {kind}")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    need(TRIADD)
    lab = TriadLab(make_net(tmp_path_factory.mktemp("heal")),
                   sms=["host-0001", "host-0016"], triad_conf=CONF.format(address=free_address()))
    with lab:
        wait_for_sweep(lab, 2)
        # While all is well there is nothing to do.
        process = lab.triad("heal", "plan")
        assert (process.returncode, process.stdout) == (0, "no link is bad\n"), process
        assert plan(lab, 0)["proposals"] == []
        # A device that was asked without any module refuses to tell of them for good.
        lab.sim(*qsfp28("MT2133VS01234", temperature=78).commands(*HOT))
        ask(lab, "set", "devices.enabled", "true")
        set_counter(lab, FLAPPING, "LinkDownedCounter", 4)
        for end in (BURST, HOST, SM, STANDBY):
            set_counter(lab, end, "SymbolErrorCounter", 500)
        # Both ends could do what its neighbours do.
        lab.sim(f'Speed "{SLOW[0]}"[{SLOW[1]}] active=1xSDR', 'Speed "spine-02"[8] active=1xSDR')
        sweep_heavily(lab, lambda: is_proposed(lab, SLOW, "slow"), what="a slow link")
        n = 0
        while not is_proposed(lab, WORN, "bit_errors"):
            n += 3
            set_counter(lab, WORN, "SymbolErrorCounter", n)
            wait_for_sweep(lab, status(lab)["perfmgr"]["sweeps"] + 1)
        for end, kind in ((HOT, "hot"), (FLAPPING, "flaps"), (BURST, "errors"),
                          (HOST, "errors"), (SM, "errors"), (STANDBY, "errors")):
            wait_for(lab, end, kind)
        yield lab


@pytest.mark.parametrize("end, kind, words", (
    (WORN, "bit_errors", "symbol"), (FLAPPING, "flaps", "LinkDownedCounter 4"),
    (HOT, "hot", "module temperature 78.0"), (SLOW, "slow", "1x SDR")))
def test_bad_link_is_to_be_taken_and_its_evidence_is_said(lab, end, kind, words):
    row = proposals(lab)[end]
    assert (row["kind"], row["take"], row["only_proposed_because"]) == (kind, True, None), row
    assert row["levels"] == [1, 2]
    evidence = row["evidence"][0]
    assert evidence["sure"] and mentions(evidence["text"], words), evidence
    assert row["cost"]["moved_pairs"] > 0 and row["cost"]["lost_pairs"] == 0, row["cost"]
    assert 0.5 <= row["cost"]["share_of_paths_left"] < 1, row["cost"]
    assert row["cost"]["worst_link_pairs"] > row["cost"]["worst_link_pairs_before"], row["cost"]
    assert "out" in row["remedies"]


@pytest.mark.parametrize("end, why", (
    (BURST, "not_sure"), (HOST, "last_of_host"), (SM, "way_to_sm"), (STANDBY, "way_to_sm")))
def test_what_may_not_be_taken_is_proposed(lab, end, why):
    row = proposals(lab)[end]
    assert (row["kind"], row["take"], row["only_proposed_because"]) == ("errors", False, why), row
    assert not row["evidence"][0]["sure"] and "500" in row["evidence"][0]["text"], row
    assert ("out" in row["remedies"]) == (end == BURST), row


def test_worst_is_first(lab):
    kinds = [row["kind"] for row in plan(lab)["proposals"]]
    assert kinds.index("bit_errors") < kinds.index("errors") < kinds.index("hot")
    assert kinds[-1] == "slow", kinds


def test_people_read_the_same(lab):
    process = lab.triad("heal", "plan")
    assert process.returncode == 1
    assert fits_columns(process.stdout), process.stdout
    assert mentions(process.stdout, "leaf-02:5 spine-01:3 bit_errors 1-2 take")
    assert mentions(process.stdout, "last link of its host")
    short = lab.triad("heal", "plan", "-n", "1").stdout
    assert "bit_errors" in short and "host" not in short.split("paths up")[-1].split("-n")[0]


def test_resource_is_as_described(lab):
    """Here answers have all members."""
    address = status(lab)["web"]["listen"]
    description = get_json(address, "/api/v1/openapi.json")
    response = get(address, "/api/v1/heal/plan")
    assert (response.status, response.getheader("Triad-Exit-Status")) == (200, "1")
    check_schema(description, "#/components/schemas/heal_plan", json.loads(response.body),
                 "heal/plan")


def test_limits_are_kept(lab):
    try:
        ask(lab, "set", "heal.max_out", "1")
        rows = proposals(lab)
        assert [row["take"] for row in rows.values()].count(True) == 1
        assert rows[WORN]["take"] and rows[SLOW]["only_proposed_because"] == "max_out"
        ask(lab, "set", "heal.max_out", "10")
        ask(lab, "set", "heal.min_capacity", "75")
        rows = proposals(lab)
        # One of the four links of its leaf each.
        assert rows[WORN]["take"] and rows[HOT]["take"]
        assert rows[FLAPPING]["only_proposed_because"] == "min_capacity"
        assert rows[SLOW]["only_proposed_because"] == "min_capacity"
    finally:
        ask(lab, "set", "heal.max_out", "10")
        ask(lab, "set", "heal.min_capacity", "50")


def test_silenced_alert_is_evidence(lab):
    ask(lab, "silence", "leaf-04", "--for", "1h", "--reason", "a test")
    try:
        evidence = proposals(lab)[HOT]["evidence"][0]
        assert evidence["silence"] and evidence["sure"], evidence
        assert mentions(lab.triad("heal", "plan").stdout, "silenced")
    finally:
        ask(lab, "unsilence", str(evidence["silence"]))


def test_link_that_is_held_counts(lab):
    ask(lab, "damp", "pin", "leaf-02:6")
    try:
        sweep_heavily(lab, lambda: plan(lab)["links_out"] == 1 and plan(lab)["routes_known"],
                      what="a held link")
        wait_until(lambda: proposals(lab)[WORN]["cost"]["share_of_paths_left"] == 0.5, 30,
                   "the path that is missing")
        ask(lab, "set", "heal.max_out", "1")
        # Not while routes are checked once more.
        wait_until(lambda: proposals(lab)[WORN]["only_proposed_because"] == "max_out", 30,
                   "too many are out")
        assert all(not row["take"] for row in proposals(lab).values())
    finally:
        ask(lab, "set", "heal.max_out", "10")
        ask(lab, "damp", "release", "leaf-02:6")
    sweep_heavily(lab, lambda: plan(lab)["links_out"] == 0 and plan(lab)["routes_known"] and
                  proposals(lab)[WORN]["cost"]["share_of_paths_left"] == 0.75, what="the link")


def test_without_routes_nothing_is_taken_and_no_cost_is_known(lab):
    ask(lab, "set", "routes.enabled", "false")
    try:
        answer = plan(lab)
        assert not answer["routes_known"] and answer["links_to_take"] == 0
        assert mentions(answer["routes_not_known_because"], "routes.enabled")
        row = proposals(lab)[WORN]
        assert row["only_proposed_because"] == "routes_unknown"
        assert row["cost"]["moved_pairs"] is None and row["cost"]["lost_pairs"] is None
        assert mentions(lab.triad("heal", "plan").stderr, "not known routes.enabled")
    finally:
        ask(lab, "set", "routes.enabled", "true")
    wait_until(lambda: plan(lab)["routes_known"], 30, "routes")


def test_silent_node_is_proposed(lab):
    lab.sim('Quirk "host-0010" silent')
    try:
        wait_until(lambda: any(row["kind"] == "silent" for row in plan(lab)["proposals"]), 60,
                   "a silent node")
        row = plan(lab)["proposals"][-1]
        assert row["node_name"].startswith("host-0010") and row["port"] is None, row
        assert (row["far_node_name"], row["levels"], row["remedies"]) == (None, [], []), row
        assert (row["take"], row["only_proposed_because"]) == (False, "node"), row
        assert mentions(lab.triad("heal", "plan").stdout, "host-0010 silent propose")
    finally:
        lab.sim('Quirk "host-0010" none')


def test_without_alerts_it_is_not_known_whether_links_are_bad(lab):
    """The last one: it forgets what was found."""
    ask(lab, "set", "alerts.enabled", "false")
    wait_until(lambda: lab.triad("heal", "plan").returncode == 3, 30, "not known")
    answer = plan(lab, 3)
    assert not answer["evidence_known"] and answer["proposals"] == []
    process = lab.triad("heal", "plan")
    assert process.stdout == "" and mentions(process.stderr, "not known alerts.enabled"), process
    succeeded(lab.triad("set", "alerts.enabled", "true"))
    assert ask_json(lab, "alerts")["active"] >= 0
