# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Alerts and histograms in stock opensm: raised, correlated, cleared, told."""

import json
import os
import subprocess
import time
from datetime import datetime

import pytest

from checks import failed, mentions, wait_until
from labs import SRCDIR
from smalldisk import small_disk
from triadlib import (TriadLab, ask, ask_json, log_has, status, syslog, triad_lab,
                      triad_lines, wait_for_sweep)

SWITCH1, SWITCH2 = "0x0000000000200000", "0x0000000000200001"
# Sweeps are those asked for; what is right again is so at once.
CONF = """\
[perfmgr]
sweep_period = 3600
[alerts]
clear_after = 0
"""


def sweep(lab):
    ask(lab, "perf", "sweep")


def perf_set(lab, node, port, **counters):
    lab.sim(*(f'PerformanceSet "{node}"[{port}] PortCounters.{name}={value}'
              for name, value in counters.items()))


def alerts(lab, *words):
    return ask_json(lab, "alerts", *words)["alerts"]


def findings(alert):
    return {(finding["what"], finding["node_guid"], finding["port"])
            for finding in alert["findings"]}


def seconds(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def ready_lab(conf=CONF, **options):
    return triad_lab(conf, **options)


# --- raised and cleared ------------------------------------------------------

@pytest.mark.row("M2", "A8", "A12")
def test_symbol_errors_raise_and_clear_an_alert_with_counts_and_times():
    with ready_lab() as lab:
        wait_for_sweep(lab)
        assert alerts(lab) == [], "alerts at first"
        begun = time.time()
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=60)
        sweep(lab)
        alert, = alerts(lab)
        ended = time.time()
        finding, = alert["findings"]
        assert (alert["state"], alert["what"]) == ("active", "SymbolErrorCounter"), \
            "alert"
        assert (alert["at"]["node_guid"], alert["at"]["port"]) == (SWITCH1, 3), "place"
        assert (alert["far_end"]["node_guid"], alert["far_end"]["port"]) == \
            (SWITCH2, 3), "far end"
        assert (finding["value"], finding["threshold"]) == (60, "10/sweep"), "finding"
        assert begun - 0.1 <= seconds(alert["raised"]) <= ended + 0.1, alert
        log_has(lab, "alert 1 raised Switch1 0x0000000000200000 port 3 Switch2 "
                "0x0000000000200001 port 3 SymbolErrorCounter 60/sweep 10/sweep")
        sweep(lab)
        assert alerts(lab) == [], "alerts when the errors have stopped"
        alert, = alerts(lab, "--all")
        assert alert["state"] == "cleared", "state"
        assert seconds(alert["cleared"]) >= seconds(alert["raised"]), alert
        log_has(lab, "alert 1 cleared: switch Switch1")
        report = status(lab)["alerts"]
        assert (report["active"], report["raised"], report["cleared"]) == (0, 1, 1), \
            "status"


def test_both_ends_of_a_cable_are_one_alert():
    with ready_lab() as lab:
        wait_for_sweep(lab)
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=60, PortRcvErrors=20)
        perf_set(lab, "Switch2", 3, LinkDownedCounter=1, SymbolErrorCounter=30)
        sweep(lab)
        alert, = alerts(lab)
        assert alert["what"] == "LinkDownedCounter", "what heads it"
        assert alert["at"]["node_guid"] == SWITCH2, "whose"
        assert findings(alert) == \
            {("LinkDownedCounter", SWITCH2, 3),
             ("SymbolErrorCounter", SWITCH2, 3),
             ("SymbolErrorCounter", SWITCH1, 3),
             ("PortRcvErrors", SWITCH1, 3)}, "findings"


@pytest.mark.row("A12")
def test_node_behind_a_dead_cable_is_one_alert():
    # The errors' alert lasts until the SM knows, however long that takes.
    conf = CONF.replace("3600", "1").replace("clear_after = 0", "clear_after = 300")
    with ready_lab(conf, opensm_conf="sweep_interval 1\n") as lab:
        wait_for_sweep(lab, 2)
        perf_set(lab, "Switch2", 1, LinkDownedCounter=1, SymbolErrorCounter=40)
        lab.sim('Unlink "Switch2"[1]')
        wait_until(lambda: any("node gone" in [f["what"] for f in alert["findings"]]
                               for alert in alerts(lab, "--all")), 30, "the loss")
        told = alerts(lab, "--all")
        assert len(told) == 1, f"alerts: {told}"
        gone = [told[0]["at"]["node_name"], (told[0]["far_end"] or {}).get("node_name")]
        assert "Switch2" in gone and any(name.startswith("Hca") for name in gone), told
        assert told[0]["nodes_gone"] == 1, "nodes"
        ask(lab, "set", "alerts.clear_after", "0")
        lab.sim('ReLink "Switch2"[1]')
        wait_until(lambda: not alerts(lab), 30, "the end of the alert")


# A router has three links, to two switches.  ibsim's routers know no speeds, so no link says one.
ROUTER_NET = """\
switchguid=0x0200000200000010
Switch	4 "leaf-01"	# "leaf-01"
[1]	"host-1"[1]	# lid 0
[2]	"rt-1"[1]	# lid 0
[3]	"rt-1"[2]	# lid 0
[4]	"leaf-02"[4]	# lid 0

switchguid=0x0200000200000020
Switch	4 "leaf-02"	# "leaf-02"
[1]	"host-2"[1]	# lid 0
[2]	"rt-1"[3]	# lid 0
[4]	"leaf-01"[4]	# lid 0

caguid=0x0200000100000010
Hca	1 "host-1"	# "host-1"
[1]	"leaf-01"[1]	# lid 0

caguid=0x0200000100000020
Hca	1 "host-2"	# "host-2"
[1]	"leaf-02"[1]	# lid 0

rtguid=0x0200000300000010
Rt	3 "rt-1"	# "rt-1"
[1]	"leaf-01"[2]	# lid 0
[2]	"leaf-01"[3]	# lid 0
[3]	"leaf-02"[2]	# lid 0
"""


def test_router_that_died_is_one_alert_for_all_its_links(tmp_path):
    net = tmp_path / "router.net"
    net.write_text(ROUTER_NET, encoding="utf-8")
    with TriadLab(net, triad_conf=CONF, opensm_conf="sweep_interval 1\n") as lab:
        wait_for_sweep(lab)
        assert alerts(lab) == [], "alerts at first"
        lab.sim('Unlink "rt-1"')
        [alert] = wait_until(lambda: alerts(lab), 30, "an alert")
        assert (alert["what"], alert["at"]["node_name"], alert["at"]["node_type"],
                alert["nodes_gone"], alert["links_gone"], alert["severity"]) == \
            ("node gone", "rt-1", "router", 1, 3, "CRITICAL"), alert
        assert "other subnets" in alert["advice"], alert
        sweep(lab)
        assert len(alerts(lab)) == 1, "one for all"


def test_silent_pma_is_one_alert_for_the_node(tmp_path):
    conf = CONF.replace("3600", "1\ntimeout = 100\nretries = 1")
    with ready_lab(conf) as lab:
        wait_for_sweep(lab)
        lid = next(row["lid"] for row in ask_json(lab, "perf", "show", "--node", SWITCH2))
        lab.harm_mads(f"lose class 0x04 lid {lid} direction in\n")
        wait_until(lambda: alerts(lab), 30, "the alert")
        alert, = alerts(lab)
        assert (alert["what"], alert["at"]["node_guid"], alert["at"]["port"]) == \
            ("unanswered", SWITCH2, None), "alert"
        lab.heal_mads()
        ask(lab, "perf", "sweep")
        wait_until(lambda: not alerts(lab), 30, "the end of the alert")


@pytest.mark.row("A6", "A12")
def test_thresholds_are_those_of_group_and_set_acts_at_once():
    conf = CONF + ("[group quiet]\nnodes = Switch1\n[alerts quiet]\n"
                   "SymbolErrorCounter = off\n")
    with ready_lab(conf) as lab:
        wait_for_sweep(lab)
        perf_set(lab, "Switch1", 1, SymbolErrorCounter=100)
        perf_set(lab, "Switch2", 1, SymbolErrorCounter=9)
        sweep(lab)
        assert alerts(lab) == [], "alerts"
        ask(lab, "set", "alerts.SymbolErrorCounter", "5/sweep")
        perf_set(lab, "Switch1", 1, SymbolErrorCounter=200)
        perf_set(lab, "Switch2", 1, SymbolErrorCounter=18)
        sweep(lab)
        assert [alert["at"]["node_guid"] for alert in alerts(lab)] == [SWITCH2], \
            "alerts"


def test_group_is_left_out_and_swept_faster():
    conf = CONF + "[group fast]\nnodes = Switch1\nsweep_period = 1\n" \
                  "[group out]\nnodes = Switch2\nskip = true\n"
    with ready_lab(conf) as lab:
        report = wait_for_sweep(lab)
        assert report["perfmgr"]["ports"] == 20 - 8, "ports of a sweep"
        wait_until(lambda: status(lab)["perfmgr"]["group_sweeps"] >= 3, 20, "sweeps")
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=60)
        wait_until(lambda: alerts(lab, "--all"), 10, "the alert of a group's sweep")
        assert status(lab)["perfmgr"]["sweeps"] == 1, "sweeps of all"


# --- where they go -----------------------------------------------------------

def lines_of(path):
    """The whole ones: the last may just be written, or be taken back on a full disk."""
    text = path.read_text(encoding="utf-8").rpartition("\n")[0]
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.row("X6")
def test_file_has_json_lines_and_follows_rotation(tmp_path):
    path = tmp_path / "alerts.json"
    with ready_lab(CONF + f"file = {path}\n") as lab:
        wait_for_sweep(lab)
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=60)
        sweep(lab)
        wait_until(path.exists, 10, "the file")
        wait_until(lambda: len(lines_of(path)) == 1, 10, "a line")
        assert [line["event"] for line in lines_of(path)] == ["raised"], "events"
        path.rename(path.with_suffix(".old"))
        sweep(lab)
        wait_until(path.exists, 10, "the new file")
        wait_until(lambda: len(lines_of(path)) == 1, 10, "a line")
        assert [line["event"] for line in lines_of(path)] == ["cleared"], "events"
        assert len(lines_of(path.with_suffix(".old"))) == 1, "lines of the old file"
        # Counted after it was written.
        wait_until(lambda: status(lab)["alerts"]["file_lines"] == 2, 10, "status")


def test_file_on_a_full_disk_is_reported_and_tried_again(scratch):
    disk = small_disk(scratch, 16)
    path = disk.folder / "alerts.json"
    with ready_lab(CONF + f"file = {path}\n") as lab:
        wait_for_sweep(lab)
        disk.fill(12288)
        for count in range(1, 9):
            perf_set(lab, "Switch1", 3, SymbolErrorCounter=60 * count)
            sweep(lab)
            sweep(lab)
        log_has(lab, "No space left on device")
        assert status(lab)["alerts"]["file_dropped"] > 0, "drops"
        dropped = len(lines_of(path)) # each of them whole
        disk.make_room()
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=900)
        sweep(lab)
        wait_until(lambda: len(lines_of(path)) > dropped, 10, "a line, again")
        wait_until(lambda: status(lab)["alerts"]["file_error"] is None, 10, "no error")


def test_file_that_cant_be_written_is_reported_once_for_each_file(tmp_path):
    paths = [tmp_path / name for name in ("fifo-1", "fifo-2")]
    for path in paths:
        os.mkfifo(path)
    with ready_lab(CONF + f"file = {paths[0]}\n") as lab:
        wait_for_sweep(lab)
        for path in paths:
            ask(lab, "set", "alerts.file", str(path))
            for count in 1, 2:
                perf_set(lab, "Switch1", 3, SymbolErrorCounter=60 * count)
                sweep(lab)
                sweep(lab)
            log_has(lab, f"{path} can't be written")
        for path in paths:
            assert lab.log().count(f"{path} can't be written") == 1, "once"


def test_file_gets_as_large_as_allowed(tmp_path):
    path = tmp_path / "alerts"
    path.touch()
    os.truncate(path, 99_999_900)  # it takes no room on the disk
    with ready_lab(CONF + f"file = {path}\n") as lab:
        wait_for_sweep(lab)
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=60)
        sweep(lab)
        wait_until(lambda: path.with_suffix(".1").exists() and path.exists(), 10,
                   "another file")
        wait_until(lambda: path.stat().st_size, 10, "a line")
        assert [line["event"] for line in lines_of(path)] == ["raised"], "lines"
        assert path.with_suffix(".1").stat().st_size == 99_999_900, "the old one"


def test_file_that_is_a_fifo_stops_nothing(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    with ready_lab(CONF + f"file = {path}\n") as lab:
        wait_for_sweep(lab)
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=60)
        sweep(lab)
        log_has(lab, f"{path} can't be written")
        sweep(lab)
        assert len(alerts(lab, "--all")) == 1, "alerts"


@pytest.mark.plain
@pytest.mark.row("A12", "X6")
def test_alert_is_in_syslog():
    with syslog() as line_with, ready_lab() as lab:
        wait_for_sweep(lab)
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=60)
        sweep(lab)
        pid = lab.status()["sms"][0]["pid"]
        assert "SymbolErrorCounter 60/sweep" in line_with(
            "triad: alert 1 raised", f"[{pid}]"), "the line"


def test_storm_is_a_few_lines_and_a_sum(scratch):
    net = scratch.folder() / "storm.net"
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--levels", "2", "--radix",
                    "8", "--hosts", "32", "-o", net], check=True, timeout=60)
    with TriadLab(net, triad_conf=CONF) as lab:
        wait_for_sweep(lab)
        # Four links to hosts at each of eight leaves, and four to spines.
        for leaf in range(1, 9):
            for port in range(1, 9):
                perf_set(lab, f"leaf-{leaf:02}", port, SymbolErrorCounter=60)
        sweep(lab)
        n_more = len(alerts(lab)) - 20
        assert n_more > 10, alerts(lab)
        log_has(lab, f"alerts: {n_more} more raised 0 0 {n_more} SymbolErrorCounter")
        assert sum("raised:" in line for line in triad_lines(lab.log())) == 20, "lines"
        assert status(lab)["alerts"]["summarised"] == n_more, "status"


# --- text --------------------------------------------------------------------

def test_alerts_as_text_say_where_what_and_since_when():
    with ready_lab() as lab:
        wait_for_sweep(lab)
        assert mentions(ask(lab, "alerts"), "0 active 0 raised 0 cleared"), "no alerts"
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=60)
        perf_set(lab, "Switch2", 1, SymbolErrorCounter=60)
        sweep(lab)
        text = ask(lab, "alerts")
        last = [line.split() for line in text.splitlines() if "Switch1:3" in line][0]
        assert last[1:4] == ["WARNING", "Switch1:3", "Switch2:3"], text
        assert text.splitlines()[0].split() == [
            "ID", "SEVERITY", "AT", "FAR", "END", "SINCE", "GUID", "LASTS", "WHAT"], text
        assert mentions(text, "SymbolErrorCounter 60/sweep 10/sweep"), "finding"
        assert mentions(text, "cable"), "advice"
        assert mentions(text, "2 active 2 raised"), "sum"
        assert mentions(ask(lab, "alerts", "-n", "1"), "1 more '-n 2'"), "limit"
        assert len(alerts(lab, "--node", "Switch1")) == 1, "alerts of a node"


@pytest.mark.row("A10")
def test_histogram_counts_what_was_injected():
    with ready_lab() as lab:
        wait_for_sweep(lab)
        for count in (1, 2, 3):
            perf_set(lab, "Switch1", 3, SymbolErrorCounter=count)
            sweep(lab)
        report = ask_json(lab, "perf", "histogram", "SymbolErrorCounter")
        assert (report["samples"], report["zeros"]) == (3 * 20, 3 * 20 - 3), "samples"
        assert sum(bucket["count"] for bucket in report["buckets"]) == 3, "counts"
        for words, samples in ((("--node", "Switch1"), 3 * 8),
                               (("--node", SWITCH2), 3 * 8)):
            assert ask_json(lab, "perf", "histogram", "SymbolErrorCounter",
                            *words)["samples"] == samples, f"samples of {words}"
        port = ask_json(lab, "perf", "histogram", "PortXmitData", "--node", "Switch1",
                        "--port", "3")
        assert port["samples"] == 3, "samples of a port"
        assert ask(lab, "perf", "clear", "histograms") == \
            "all histograms begin anew\n", "clear"
        assert ask_json(lab, "perf", "histogram", "PortXmitData")["samples"] == 0, \
            "samples afterwards"
        assert mentions(ask(lab, "perf", "histogram", "portxmitdata"),
                        "PortXmitData 0 samples"), "text"


def test_histogram_of_what_is_not_there():
    with ready_lab() as lab:
        wait_for_sweep(lab)
        for words, message in (
                (("PortXmitData", "--node", "nobody"), "no node 'nobody'"),
                (("PortXmitData", "--node", "Switch?"), "2 nodes 'Switch?'"),
                (("PortXmitData", "--group", "none"), "group 'none'"),
                (("PortXmitData", "--node", "Switch1", "--port", "99"), "no port"),
                (("VL15Dropped", "--node", "Switch1", "--port", "3"),
                 "no histogram 'VL15Dropped'")):
            failed(lab.run("triadctl", "perf", "histogram", *words), 1, message)
        failed(lab.run("triadctl", "perf", "histogram", "SymbolErrorCountr"), 2,
               "did you mean")
        failed(lab.run("triadctl", "perf", "histogram"), 2, "COUNTER")
