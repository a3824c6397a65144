# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What ports tell beyond PortCounters: its numbers are perfquery's."""

import re
import subprocess

import pytest

from checks import mentions, succeeded, wait_until
from triadlib import ask, ask_json, triad_lab, wait_for_sweep
from triadlab.tcp_ports import free_address

# As many details in a sweep as there are other queries; rounds of a second.
OFTEN = """\
[perfmgr]
sweep_period = 3600
reset = never
detail_share = 100
fec_period = 1
vl_period = 1
"""
# Sweeps that the test asks for; no rounds but that of PortXmitWait.
RARELY = "[perfmgr]\nsweep_period = 3600\nfec_period = 0\nvl_period = 0\n"
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
SWITCH1 = "0x0000000000200000"
ADDRESS = free_address()


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
    with triad_lab(OFTEN + f"[prometheus]\nlisten = {ADDRESS}\n") as lab:
        # No agent has PortRcvConCtrl.
        lab.harm_mads("lose class 0x04 attribute 0x31")
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


def sample(text, name, **labels):
    wanted = ",".join(f'{key}="{value}"' for key, value in labels.items())
    found = re.search(rf"^infiniband_switch_port_{name}_total{{{wanted}}} (\d+)$", text,
                      re.MULTILINE)
    return int(found[1]) if found else None


@pytest.mark.row("N4")
def test_prometheus_has_them_by_the_names_that_dashboards_use(lab):
    text = succeeded(lab.run("curl", "-sS", f"http://{ADDRESS}/metrics")).stdout
    shown = details(lab, "--node", "Switch1", "--all")
    port = {"guid": SWITCH1, "port": 3}
    for name, counter in {"local_physical_errors": "PortLocalPhysicalErrors",
                          "dli_mapping_errors": "PortDLIDMappingErrors",
                          "op_receive_packets": "PortOpRcvPkts"}.items():
        assert sample(text, name, **port) == shown[3, counter]["total"]
    # Of words, octets; of VLs, those that are not 0, each with its label.
    assert sample(text, "vl_op_data_bytes", **port, vl=7) == \
        4 * shown[3, "PortVLOpData7"]["total"]
    for vl in EACH_VL:
        total = shown[3, f"PortVLXmitFlowCtlUpdateErrors{vl}"]["total"]
        assert sample(text, "vl_transmit_flow_control_update_errors", **port,
                      vl=vl) == (total or None)
    # What nobody has told is absent.
    assert "receive_fecn" not in text
    check = subprocess.run(["promtool", "check", "metrics"], input=text, text=True,
                           capture_output=True, check=False)
    assert (check.returncode, check.stderr) == (0, "")


def test_refused_attributes_are_missing_and_harm_nothing(lab):
    rows = ask_json(lab, "perf", "details", "--all")
    assert not [row for row in rows if row["attribute"] == "PortRcvConCtrl"]
    assert not [row for row in ask_json(lab, "perf", "show") if not row["answered"]]


@pytest.mark.row("N4")
def test_histogram_says_how_rates_of_details_are_spread(lab):
    def of_ports_read_twice():
        ask(lab, "perf", "sweep")
        report = ask_json(lab, "perf", "histogram", "portvlxmitwait", "--node", "Switch1")
        return report["samples"] and report
    report = wait_until(of_ports_read_twice, 20, "a port that was read twice")
    assert report["counter"] == "PortVLXmitWait" and report["unit"] == "ticks/s", report
    # Of 16 VLs of each port that was read twice, without a change since.
    assert report["samples"] == report["zeros"] > 0, report
    assert report["samples"] % 16 == 0, report
    text = ask(lab, "perf", "histogram", "PortVLXmitWait")
    assert mentions(text, "VL read twice"), text


@pytest.mark.row("M3", "N4")
def test_profile_has_details_behind_the_rows_of_a_sweep(lab, tmp_path):
    file = tmp_path / "profile.zst"
    ask(lab, "set", "profile.counters", "details")
    ask(lab, "set", "profile.file", file)

    def lines():
        ask(lab, "perf", "sweep")
        if not file.exists():
            return None
        text = succeeded(subprocess.run(["zstdcat", file], capture_output=True, text=True,
                                        check=False)).stdout
        return [line.removeprefix("# triad-detail ").split(",") for line in
                text.splitlines() if line.startswith("# triad-detail ")]
    found = wait_until(lines, 20, "details in the profile")
    ask(lab, "set", "profile.file", "")
    # The first sweep of a file has all that was read before.
    written = {(int(port), field if len(totals) == 1 else f"{field}{i}"): int(total)
               for guid, port, field, *totals in found if guid == SWITCH1
               for i, total in enumerate(totals) if int(total)}
    shown = details(lab, "--node", "Switch1", "-n", "1000000")
    assert written == {key: row["total"] for key, row in shown.items() if row["total"]}
    succeeded(lab.run("triadctl", "profile", "report", file))


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
    with triad_lab(RARELY) as lab:
        wait_for_sweep(lab)
        nothing = ask(lab, "perf", "details")
        assert mentions(nothing, "no details")
        physical = "PortRcvErrorDetails.PortLocalPhysicalErrors"
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.PortRcvErrors=17',
                f'PerformanceSet "Switch1"[3] {physical}=17')
        ask(lab, "perf", "sweep")
        assert {key: row["total"] for key, row in details(lab).items()} == {
            (3, "PortLocalPhysicalErrors"): 17}
        # Totals begin anew, and go on when the hardware is reset by somebody else.
        ask(lab, "perf", "clear", "totals", "--all")
        assert not details(lab)
        lab.sim(f'PerformanceSet "Switch1"[3] {physical}=2',
                'PerformanceSet "Switch1"[3] PortCounters.PortRcvErrors=18')
        ask(lab, "perf", "sweep")
        assert details(lab)[3, "PortLocalPhysicalErrors"]["total"] == 2


def test_waits_are_read_by_sweeps_that_nobody_asked_for():
    """In mode errors; until a port is read, its PortXmitWait is null."""
    conf = RARELY.replace("3600", "1") + "mode = errors\n"
    with triad_lab(conf) as lab:
        wait_for_sweep(lab, 3)
        lab.sim(*(f'PerformanceSet "Switch1"[{port}] PortCounters.PortXmitWait=1019'
                  for port in PORTS))
        seen = set()

        def are_read():
            now = {row["counters"]["PortXmitWait"] for row in ask_json(lab, "perf", "show")
                   if row["node_name"] == "Switch1" and row["port"] in PORTS}
            seen.update(now)
            return now == {1019}

        wait_until(are_read, timeout_s=60, what="PortXmitWait of all ports")
        assert seen <= {0, None, 1019}, seen


CAUSES = {
    "PortRcvErrorDetails.PortLocalPhysicalErrors": ("PortRcvErrors", "cable"),
    "PortRcvErrorDetails.PortBufferOverrunErrors": ("PortRcvErrors", "credits"),
    "PortRcvErrorDetails.PortDLIDMappingErrors": ("PortRcvErrors", "routes are wrong"),
    "PortRcvErrorDetails.PortVLMappingErrors": ("PortRcvErrors", "SL2VL"),
    "PortXmitDiscardDetails.PortSwHOQLifetimeLimitDiscards":
        ("PortXmitDiscards", "congestion"),
}


@pytest.mark.row("N4")
def test_alert_says_what_kind_of_fault_it_is():
    """One fault after the other, at a port of its own; the last has two kinds."""
    with triad_lab(RARELY + "[alerts]\nraise_after = 0\nPortRcvErrors = 5/sweep\n"
                   "PortXmitDiscards = 5/sweep\n") as lab:
        wait_for_sweep(lab)
        for port, (detail, (total, _)) in enumerate(CAUSES.items(), 1):
            lab.sim(f'PerformanceSet "Switch1"[{port}] PortCounters.{total}=60',
                    f'PerformanceSet "Switch1"[{port}] {detail}=60')
        lab.sim('PerformanceSet "Switch2"[4] PortCounters.PortRcvErrors=60',
                'PerformanceSet "Switch2"[4] PortRcvErrorDetails.PortDLIDMappingErrors=40',
                'PerformanceSet "Switch2"[4] PortRcvErrorDetails.PortLoopingErrors=20')
        ask(lab, "perf", "sweep")
        alerts = wait_until(lambda: (found := ask_json(lab, "alerts")["alerts"]) and
                            len(found) == 6 and found, what="six alerts")
        by_port = {(alert["at"]["node_name"], alert["at"]["port"]): alert
                   for alert in alerts}
        for port, (detail, (_, advice)) in enumerate(CAUSES.items(), 1):
            alert = by_port["Switch1", port]
            assert alert["findings"][0]["why"] == detail.split(".")[1]
            assert advice in alert["advice"]
        assert by_port["Switch2", 4]["findings"][0]["why"] == "PortDLIDMappingErrors"
        shown = " ".join(ask(lab, "alerts").split())
        assert mentions(shown, "PortRcvErrors 60/sweep 5/sweep most PortDLIDMappingErrors")
        assert mentions(shown, "all PortLocalPhysicalErrors")
