# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What ports tell beyond PortCounters: its numbers are perfquery's."""

import re

import pytest

from checks import succeeded, wait_until
from triadlib import ask, ask_json, triad_lab, wait_for_sweep

# As many details in a sweep as there are other queries; rounds of a second.
OFTEN = """\
[perfmgr]
sweep_period = 3600
reset = never
detail_share = 100
fec_period = 1
vl_period = 1
"""
# Attribute: perfquery's option, the fields as ibsim's console has them, their width.
EACH_VL = range(16)
ATTRIBUTES = {
    "PortRcvErrorDetails": ("--rcverr", ["PortLocalPhysicalErrors",
        "PortMalformedPacketErrors", "PortBufferOverrunErrors", "PortDLIDMappingErrors",
        "PortVLMappingErrors", "PortLoopingErrors"], 16),
    "PortXmitDiscardDetails": ("--xmtdisc", ["PortInactiveDiscards",
        "PortNeighborMTUDiscards", "PortSwLifetimeLimitDiscards",
        "PortSwHOQLifetimeLimitDiscards"], 16),
    "PortOpRcvCounters": ("--oprcvcounters", ["PortOpRcvPkts", "PortOpRcvData"], 32),
    "PortFlowCtlCounters": ("--flowctlcounters",
                            ["PortXmitFlowPkts", "PortRcvFlowPkts"], 32),
    "PortVLOpPackets": ("--vloppackets", [f"PortVLOpPackets{i}" for i in EACH_VL], 16),
    "PortVLOpData": ("--vlopdata", [f"PortVLOpData{i}" for i in EACH_VL], 32),
    "PortVLXmitFlowCtlUpdateErrors": ("--vlxmitflowctlerrors",
        [f"PortVLXmitFlowCtlUpdateErrors{i}" for i in EACH_VL], 2),
    "PortVLXmitWaitCounters": ("--vlxmitcounters",
                               [f"PortVLXmitWaitCounters{i}" for i in EACH_VL], 16),
}
PORTS = range(1, 5)


def set_details(lab):
    """Every field of four ports gets a value of its own, and the totals that details
    explain move."""
    commands = []
    for port in PORTS:
        for rank, (attribute, (_, fields, bits)) in enumerate(ATTRIBUTES.items()):
            commands += [
                f'PerformanceSet "Switch1"[{port}] {attribute}.{field}='
                f"{(4099 * port + 613 * rank + 37 * i + 1) % (2 ** bits)}"
                for i, field in enumerate(fields)]
        commands += [f'PerformanceSet "Switch1"[{port}] PortCounters.{total}={port}'
                     for total in ("PortRcvErrors", "PortXmitDiscards")]
    lab.sim(*commands)


def details(lab, *options):
    rows = ask_json(lab, "perf", "details", *options)
    return {(row["port"], row["counter"]): row for row in rows}


def perfquery(lab, lid, port, option):
    printed = succeeded(lab.run("perfquery", option, lid, port, node="Hca4")).stdout
    return {name: int(value, 0)
            for name, value in re.findall(r"^(\w+):\.+(\w+)$", printed, re.MULTILINE)
            if name not in ("PortSelect", "CounterSelect")}


def read_all(lab):
    """Sweeps until every port of Switch1 has told every attribute that it has."""
    def is_complete():
        ask(lab, "perf", "sweep")
        rows = ask_json(lab, "perf", "details", "--node", "Switch1", "--all")
        told = {(row["port"], row["attribute"]) for row in rows}
        return told >= {(port, attribute) for port in PORTS for attribute in ATTRIBUTES}
    wait_until(is_complete, timeout_s=60, what="all details of Switch1")


@pytest.fixture(scope="module")
def lab():
    with triad_lab(OFTEN) as lab:
        wait_for_sweep(lab)
        set_details(lab)
        read_all(lab)
        yield lab


@pytest.mark.row("N4")
def test_every_field_equals_perfquery(lab):
    shown = details(lab, "--node", "Switch1", "--all")
    lid = next(row["lid"] for row in ask_json(lab, "nodes") if row["name"] == "Switch1")
    for port in PORTS:
        for attribute, (option, fields, _) in ATTRIBUTES.items():
            expected = perfquery(lab, lid, port, option)
            assert len(expected) == len(fields)
            assert any(expected.values())
            assert {name: shown[port, name]["total"] for name in expected} == expected
            assert {shown[port, name]["attribute"] for name in expected} == {attribute}


def test_refused_attributes_are_missing_and_harm_nothing(lab):
    rows = ask_json(lab, "perf", "details", "--all")
    # ibsim has none of congestion control.
    assert not [row for row in rows if row["attribute"] == "PortRcvConCtrl"]
    assert not [row for row in ask_json(lab, "perf", "show") if not row["answered"]]


def test_lines_for_people_fit_a_terminal(lab):
    shown = ask(lab, "perf", "details", "--node", "Switch1:2")
    assert re.search(r"^Switch1 +2 +PortVLXmitFlowCtlUpdateErrors12 +\d+ ", shown,
                     re.MULTILINE)
    assert max(map(len, shown.splitlines())) <= 80
    # Without --all what is 0 is left out, and nothing else is chosen.
    assert not re.search(r" 0 +\S+$", shown, re.MULTILINE)
    assert "Switch2" not in shown
    few = ask(lab, "perf", "details", "-n", "3").splitlines()
    assert re.fullmatch(r"\d+ more; '-n \d+' shows them too", few[-1])
    assert len(few) == 5


@pytest.mark.row("N4")
def test_cause_is_read_in_the_sweep_that_finds_the_error():
    with triad_lab("[perfmgr]\nsweep_period = 3600\nfec_period = 0\nvl_period = 0\n") as lab:
        wait_for_sweep(lab)
        nothing = ask(lab, "perf", "details")
        assert nothing.startswith("no details have been read yet")
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.PortRcvErrors=17',
                'PerformanceSet "Switch1"[3] PortRcvErrorDetails.PortLocalPhysicalErrors=17')
        ask(lab, "perf", "sweep")
        assert {key: row["total"] for key, row in details(lab).items()} == {
            (3, "PortLocalPhysicalErrors"): 17}
        # Totals begin anew, and go on when the hardware is reset by somebody else.
        ask(lab, "perf", "clear", "totals", "--all")
        assert not details(lab)
        lab.sim('PerformanceSet "Switch1"[3] PortRcvErrorDetails.PortLocalPhysicalErrors=2',
                'PerformanceSet "Switch1"[3] PortCounters.PortRcvErrors=18')
        ask(lab, "perf", "sweep")
        assert details(lab)[3, "PortLocalPhysicalErrors"]["total"] == 2


@pytest.mark.row("N4")
def test_waiting_costs_no_more_than_the_share():
    """In mode errors, on a switch that waits all the time."""
    with triad_lab("[perfmgr]\nsweep_period = 3600\nmode = errors\nfec_period = 0\n"
                   "vl_period = 0\n") as lab:
        wait_for_sweep(lab)

        def mads(ticks):
            before = ask_json(lab, "status")["perfmgr"]["mads_sent"]
            for i in range(20):
                if ticks:
                    lab.sim(*(f'PerformanceSet "Switch1"[{port}] PortCounters.PortXmitWait='
                              f"{ticks + i}" for port in PORTS))
                ask(lab, "perf", "sweep")
            return ask_json(lab, "status")["perfmgr"]["mads_sent"] - before

        mads(0)
        quiet = mads(0)
        assert mads(1000) <= quiet * 1.1
        # And in the end each port's is known, though nothing had it read at once.
        wait_until(lambda: ask(lab, "perf", "sweep") and {
            row["counters"]["PortXmitWait"] for row in ask_json(lab, "perf", "show")
            if row["node_name"] == "Switch1" and row["port"] in PORTS} == {1019},
            timeout_s=60, what="PortXmitWait of all ports")
