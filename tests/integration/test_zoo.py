# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Odd devices of real fabrics (zoo.net), all in one lab: what can be read of each is right,
what can't be is not known, and nobody else is blamed."""

import re
from pathlib import Path

import pytest

from checks import mentions, wait_until
from triadlib import TriadLab, ask, ask_json, ports, status

NET = Path(__file__).with_name("zoo.net")
CONF = """\
[perfmgr]
sweep_period = 1
timeout = 100
reset = never
[alerts]
clear_after = 0
"""
GATEWAY = "0x00000000000002a0"
# Nobody's.
SPARE_LID = 0xa00
ON_HOSTS = ("silent", "busy", "other-port", "other-lid", "refuse", "refuse-extended", "narrow")
ON_SWITCHES = ON_HOSTS + ("refuse-sums", "zero-sums", "wrong-sums")
# Those whose counters can't be read: what health says of them.
UNREADABLE = {"silent": "unanswered", "busy": "unanswered busy",
              "other-port": "unanswered wrong replies", "refuse": "unanswered refused",
              "other-lid": f"unanswered replies LID {SPARE_LID}"}
NAMES = {
    "name-empty-1": b"",
    "name-empty-2": b"",
    "name-long-1": b"rack-17-node-with-a-name-as-long-as-the-field-of-its-description",
    "name-long-2": b"rack-17-node-with-a-name-as-long-as-the-field-of-its-descriptioN",
    "name-control": b"bad\x1b[31mname\n\ttab\x07",
    "name-utf8": "knoten-ü-節点".encode(),
    "name-latin1": b"knoten-\xfc",
}


def quirk(node, kind):
    return f'Quirk "{node}" ' + (f"lid={SPARE_LID}" if kind == "other-lid" else kind)


def describe(node, octets):
    """A line of ibsim's console has room for half a description."""
    parts = [octets[at:at + 32] for at in range(0, len(octets), 32)] or [b""]
    return [f'Description "{node}" {32 * i}={part.hex()}' for i, part in enumerate(parts)]


def oddities():
    commands = [quirk(f"sw-{kind}", kind) for kind in ON_SWITCHES]
    commands += [quirk(f"ca-{kind}", kind) for kind in ON_HOSTS]
    commands += [f'Quirk "sw-training"[{port}] training' for port in (3, 4)]
    return commands + [command for node, octets in NAMES.items()
                       for command in describe(node, octets)]


def zoo(conf=CONF, **options):
    """Each port has two LIDs."""
    return TriadLab(NET, sms=["sm"], triad_conf=conf, opensm_conf="lmc 1\n",
                    before_sms=oddities(), **options)


def unreadable():
    """Name of each such node: what is said of it."""
    return {f"{node}-{kind}{' mlx5_0' if node == 'ca' else ''}": words
            for kind, words in UNREADABLE.items() for node in ("sw", "ca")}


def unanswered_findings(lab):
    """Of the log: health shows ten findings."""
    return dict(re.findall(r"raised: \w+ (.*) \(0x\w+\): (\d+ port\(s\) unanswered[^;]*);",
                           lab.log()))


@pytest.fixture(name="lab", scope="module")
def zoo_lab():
    with zoo() as lab:
        wait_until(lambda: len(unanswered_findings(lab)) == len(unreadable()), 60,
                   lambda: f"all findings, not {unanswered_findings(lab)}")
        yield lab


def port_of(lab, node, port):
    return next(row for (_, number), row in ports(lab, "--node", node).items()
                if number == port)


def set_counters(lab, **counters):
    """{"sw_narrow": 3}: that many symbol errors at port 2 of the switch."""
    lab.sim(*(f'PerformanceSet "{node.replace("_", "-")}"[2] '
              f"PortCounters.SymbolErrorCounter={value}" for node, value in counters.items()))


def sweep(lab):
    ask(lab, "perf", "sweep")


# --- what can't be read ---------------------------------------------------------


def test_each_such_node_is_named_with_the_cause_and_nobody_else(lab):
    found = unanswered_findings(lab)
    assert found.keys() == unreadable().keys()
    for node, words in unreadable().items():
        assert mentions(found[node], words), (node, found[node])
    assert {node for node, what in found.items() if what.endswith("unanswered")} == \
        {node for node, words in unreadable().items() if words == "unanswered"}
    assert {row["name"] for row in ask_json(lab, "nodes") if row["state"] != "answers"} == \
        unreadable().keys()


def test_what_is_not_read_is_not_known(lab):
    for node in unreadable():
        for row in ports(lab, "--node", node).values():
            assert not row["answered"] and row["counters"] == {}, row
    silent = [end for link in ask_json(lab, "links") for end in link["ends"]
              if end["node_name"] in unreadable()]
    assert len(silent) == 15, "ports with a link"
    assert all((end["use_percent"], end["wait_percent"], end["errors"]) == (None, None, None)
               for end in silent), silent
    row = ask(lab, "links", "--node", "ca-silent").splitlines()[1]
    assert re.search(r" 0\.\d% +- +- +- +0 ", row), f"use here, none there: {row}"


def test_cause_is_in_the_alert_of_each(lab):
    advice = {alert["at"]["node_name"]: alert["advice"]
              for alert in ask_json(lab, "alerts")["alerts"]}
    for node, words in (("sw-busy", "PMA busy"), ("sw-other-lid", "PMA LID"),
                        ("sw-other-port", "PMA another port"), ("sw-refuse", "PMA refuses"),
                        ("sw-silent", "perfquery")):
        assert mentions(advice[node], words), advice[node]
    assert {alert["at"]["node_name"]: alert["findings"][0]["why"]
            for alert in ask_json(lab, "alerts")["alerts"]
            if alert["at"]["node_name"].startswith("sw-")} == {
        "sw-silent": None, "sw-busy": "busy", "sw-other-port": "wrong_replies",
        "sw-other-lid": "other_lid", "sw-refuse": "refused"}


def test_alerts_of_them_do_not_flap(lab):
    before = ask_json(lab, "alerts")
    n = status(lab)["perfmgr"]["sweeps"]
    wait_until(lambda: status(lab)["perfmgr"]["sweeps"] >= n + 6, 60, "more sweeps")
    after = ask_json(lab, "alerts")
    assert (after["raised"], after["cleared"]) == (before["raised"], before["cleared"])
    assert {alert["id"] for alert in after["alerts"]} == \
        {alert["id"] for alert in before["alerts"]}


def test_replies_from_elsewhere_are_counted(lab):
    facts = status(lab)["perfmgr"]
    assert facts["replies_not_asked_for"] > 0
    assert facts["replies_not_asked_for_lid"] == SPARE_LID


# --- what can ---------------------------------------------------------------------


def test_errors_are_those_of_the_port_whatever_its_agent_lacks(lab):
    """Also where sums are refused, or are zeros."""
    sweep(lab)
    values = {f"sw_{kind}": 3 + i for i, kind in enumerate(
        ("narrow", "refuse_extended", "refuse_sums", "zero_sums", "wrong_sums", "training"))}
    set_counters(lab, **values)
    for node, value in values.items():
        name = node.replace("_", "-")
        errors = lambda port, name=name: port_of(lab, name, port)["counters"][
            "SymbolErrorCounter"]
        wait_until(lambda value=value, errors=errors: errors(2) == value, 20,
                   lambda name=name: f"{value} errors at {name}")
        assert errors(1) == 0, name
    for node in ("host-zero-sums", "sm", "MF0;core-1:MQM8700/U1"):
        assert all(row["counters"]["SymbolErrorCounter"] == 0
                   for row in ports(lab, "--node", node).values()), node


def test_data_of_an_agent_of_32_bits_are_there(lab):
    """And of one that claims 64, and refuses them: it is read as what it is."""
    for node in ("sw-narrow", "sw-refuse-extended", "ca-narrow", "ca-refuse-extended"):
        counters = port_of(lab, node, 1)["counters"]
        assert counters["PortXmitPkts"] > 0 and counters["PortXmitWait"] == 0, (node, counters)
        assert "PortUnicastXmitPkts" not in counters


def test_port_that_trains_for_ever_is_no_lost_link(lab):
    states = {row["port"]: row["state"] for row in ask_json(lab, "ports", "--node",
                                                            "sw-training")}
    assert (states[2], states[3], states[4], states[5]) == \
        ("active", "training", "training", "free")
    assert not ask_json(lab, "links", "--down")


def test_split_ports_run_as_fast_as_they_can(lab):
    """Also those of a switch with more ports than others have."""
    for node, rate in (("split-1", "2x HDR"), ("split-2", "2x HDR"), ("split-3", "2x NDR"),
                       ("split-4", "2x NDR")):
        assert [link["rate"] for link in ask_json(lab, "links", "--node", node)] == [rate]
    assert not ask_json(lab, "links", "--slow")
    rows = ports(lab, "--node", "MF0;many-1:MQM9700/U1")
    assert sorted(port for _, port in rows) == list(range(1, 130))
    assert all(row["answered"] for row in rows.values())


def test_chips_of_a_director_are_switches_each(lab):
    """Several links between two of them, too."""
    chips = [f"MF0;dir-1:CS8500/{chip}" for chip in ("L01/U1", "L01/U2", "S01/U1", "S01/U2")]
    links = [tuple(end["node_name"] for end in link["ends"])
             for link in ask_json(lab, "links", "--node", "MF0;dir-1:CS8500/S01/U1")]
    assert sorted(map(sorted, links)) == \
        [[chips[0], chips[2]], [chips[0], chips[2]], [chips[1], chips[2]]]
    states = {row["name"]: (row["type"], row["state"]) for row in ask_json(lab, "nodes")}
    assert {states[chip] for chip in chips} == {("switch", "answers")}


def test_each_lid_of_a_port_has_its_routes(lab):
    check = ask_json(lab, "routes", "check")
    assert check["clean"], check
    assert check["pairs"] == 2 * 34 * 33, "aggregation nodes are no hosts"
    lids = [way["lid"] for way in ask_json(lab, "routes", "between", "split-3",
                                           "skyway-1 GW0")["paths"]]
    assert len(lids) == 2 and lids[1] == lids[0] + 1 and lids[0] % 2 == 0, lids


def test_nodes_that_are_neither_hosts_nor_switches_are_there(lab):
    kinds = {row["name"]: row["type"] for row in ask_json(lab, "nodes")}
    assert kinds["rtr-1:SB7780/R1"] == "router"
    assert kinds["Mellanox Technologies Aggregation Node"] == "ca"
    assert kinds["MF0;many-1:MQM9700/U1"] == "switch"
    assert kinds["skyway-1 GW0"] == "ca"


# --- what is shown ----------------------------------------------------------------

READING = (
    "health", "status", "status --all", "links", "links --by PortXmitData", "links --errors",
    "links --slow", "links --down", "links --flapped", "nodes", "nodes --type router", "ports",
    "ports --state training", "perf show", "perf show --errors", "perf top",
    "perf top --by SymbolErrorCounter", "alerts", "alerts --all", "history", "agents",
    "routes check", "routes", "routes over 'MF0;core-1:MQM8700/U1:2'",
    "routes between ca-silent ca-busy", "repair plan 'MF0;core-1:MQM8700/U1:2'",
    "repair plan 'MF0;core-1:MQM8700/U1' -n 5", "heal plan", "congestion", "job --nodes sm,ca-silent", "perf resets",
    "perf details --all", "perf ber --all", "perf histogram SymbolErrorCounter", "silences",
    "qos clients", "qos nodes", "qos tables", "port list", "port history", "cables", "devices",
    "election")


@pytest.mark.parametrize("command", READING)
def test_command_has_neither_control_characters_nor_numbers_that_are_none(lab, command):
    words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", command)]
    for options in ([], ["--json"]):
        process = lab.triad(*words, *options)
        assert process.returncode in (0, 1, 3), process.stderr
        text = process.stdout + process.stderr
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text), text
        assert "nan" not in text.replace("unan", ""), text


def test_labels_of_nodes_differ(lab):
    """Also where their names don't, or are cut."""
    rows = [row for row in ask(lab, "nodes").splitlines() if " 0x" in row]
    labels = [re.split(r" +(?:ca|switch|router) ", row)[0] for row in rows]
    assert len(set(labels)) == len(labels) == 54, labels


# --- one that falls silent --------------------------------------------------------


def test_rates_of_earlier_are_not_those_of_a_port_that_does_not_answer(lab):
    def use():
        return next(end["use_percent"] for link in ask_json(lab, "links", "--node", "skyway-1 GW0")
                    for end in link["ends"] if end["node_name"].startswith("skyway"))

    def top():
        return next(row for row in ask_json(lab, "perf", "top", "-n", "400")
                    if row["node_name"].startswith("skyway"))

    sweep(lab)
    assert use() is not None and top()["rate"] is not None
    lab.sim(quirk("gateway", "silent"))
    wait_until(lambda: use() is None, 20, "a use that is not known")
    assert top()["rate"] is None
    assert ports(lab, "--node", "skyway-1 GW0")[GATEWAY, 1]["counters"]["PortXmitPkts"] > 0, \
        "what it had"
    lab.sim(quirk("gateway", "none"))
    wait_until(lambda: use() is not None, 60, "a use that is known again")
