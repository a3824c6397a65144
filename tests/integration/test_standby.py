# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Two stock opensms: which of them reads counters, as [perfmgr] role says, and what
happens to totals when the master dies."""

import os
import re
import signal
import time
import urllib.request

import pytest

from checks import failed, mentions, succeeded, wait_until
from triadlab.tcp_ports import free_port
from triadlib import (ask, ask_json, lid_of, log_has, perfquery, report_ports,
                      triad_lab)

MASTER, STANDBY = 0, 1
SWITCH1, SWITCH2 = "0x0000000000200000", "0x0000000000200001"
HCA2 = "0x0000000000100003"
CONF = "[perfmgr]\nsweep_period = 1\nreset = never\nrole = {}\n"
# A dead master is noticed in seconds.
QUICK = ("sweep_interval 1\nsminfo_polling_timeout 1000\n"
         "polling_retry_number 1\n")


def two_sms(role, more="", **options):
    return triad_lab(CONF.format(role) + more, sms=("Hca1", "Hca4"), opensm_conf=QUICK,
                     **options)


def of(lab, sm, *words):
    return ask_json(lab, *words, sm=sm)


def has_read(lab, sm):
    report = of(lab, sm, "status")["perfmgr"]
    return report if report["sweeps"] and report["ports_answered"] else None


def total(lab, sm, guid, port, name):
    row, = of(lab, sm, "perf", "show", "--node", guid, "--port", str(port))
    return row["counters"][name]


def wait_until_it_reads(lab, sm):
    return wait_until(lambda: has_read(lab, sm), 30, f"a sweep of SM {sm}")


def test_role_master_the_standby_is_idle():
    with two_sms("master") as lab:
        wait_until_it_reads(lab, MASTER)
        report = of(lab, STANDBY, "status")["perfmgr"]
        assert (report["state"], report["sweeps"]) == ("idle", 0), "the standby"
        assert "not the master" in report["trouble"], "why"
        ask(lab, "set", "alerts.enabled", "false")
        assert mentions(succeeded(lab.triad("alerts")).stderr,
                        "no alerts 'set alerts.enabled true'")
        ask(lab, "set", "perfmgr.enabled", "false")
        wait_until(lambda: "'set perfmgr.enabled true' begins it" in
                   lab.triad("congestion").stderr, 10, "why congestion is not seen")
        log_has(lab, "standby no counters", sm=STANDBY)


@pytest.mark.row("A13")
def test_role_standby_the_standby_reads_and_the_master_is_idle():
    with two_sms("standby") as lab:
        report = wait_until_it_reads(lab, STANDBY)
        assert (report["ports"], report["ports_unanswered"]) == (20, 0), "ports"
        report = of(lab, MASTER, "status")["perfmgr"]
        assert (report["state"], report["sweeps"]) == ("idle", 0), "the master"
        assert "not a standby" in report["trouble"], "why"
        assert {row["state"] for row in of(lab, STANDBY, "nodes")} == {"answers"}, "nodes"
        failed(lab.run("triadctl", "nodes"), 1, "not a standby")
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=7')
        ask(lab, "perf", "sweep", sm=STANDBY)
        assert total(lab, STANDBY, SWITCH1, 3, "SymbolErrorCounter") == 7, "total"
        row, = of(lab, STANDBY, "perf", "show", "--node", SWITCH1, "--port", "3")
        assert (row["remote_guid"], row["remote_port"]) == (SWITCH2, 3), "far end"
        assert perfquery(lab, row["lid"], 3)["SymbolErrorCounter"] == 7, "perfquery"


@pytest.mark.row("A1")
def test_standby_follows_nodes_that_go_and_come():
    with two_sms("standby") as lab:
        wait_until_it_reads(lab, STANDBY)
        wait_until(lambda: of(lab, STANDBY, "status")["standby"]["state"] ==
                   "reports subscribed", 30, "the subscription")
        lab.sim('Unlink "Hca2"[1]')
        wait_until(lambda: of(lab, STANDBY, "status")["perfmgr"]["ports"] == 19, 30,
                   "the node's end")
        report = of(lab, STANDBY, "status")["standby"]
        assert report["reports"] >= 1, report
        assert [alert["at"]["node_guid"] for alert in
                of(lab, STANDBY, "alerts")["alerts"]] == [HCA2], "alerts"
        lab.sim('ReLink "Hca2"[1]')
        wait_until(lambda: of(lab, STANDBY, "status")["perfmgr"]["ports"] == 20, 30,
                   "the node's return")


@pytest.mark.row("A1")
def test_standby_ignores_reports_that_are_not_the_sms():
    with two_sms("standby") as lab:
        wait_until_it_reads(lab, STANDBY)
        # It subscribes before it reads the tables.
        before = wait_until(
            lambda: (now := of(lab, STANDBY, "status")["standby"])
            ["state"] == "reports subscribed" and now["refreshes"] and now, 30,
            "the subscription, and the first tables")
        lid = lid_of(of(lab, STANDBY, "perf", "show"), "Hca4")
        report_ports(lab, lid, 10, 100, "Hca2")
        after = wait_until(
            lambda: (now := of(lab, STANDBY, "status")["standby"])
            ["reports_not_from_sm"] == 10 and now, 10, "the forged reports")
        assert [after[name] for name in ("reports", "refreshes")] == \
            [before[name] for name in ("reports", "refreshes")], "what they led to"
        log_has(lab, "such reports are ignored", sm=STANDBY)
        assert lab.log(STANDBY).count("such reports are ignored") == 1, "once"
        # The SM says it again until it is answered.
        report_ports(lab, lid, 3, 100, "Hca1")
        wait_until(lambda: of(lab, STANDBY, "status")["standby"]["refreshes"] >
                   before["refreshes"], 10, "a true report")
        log_has(lab, "10 ignored", STANDBY, 30)


@pytest.mark.row("A15")
def test_hand_over_takes_no_total_back():
    with two_sms("any") as lab:
        wait_until_it_reads(lab, MASTER)
        wait_until_it_reads(lab, STANDBY)
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=40')
        ask(lab, "perf", "sweep", sm=STANDBY)
        # Somebody resets the hardware: a total that began anew now would be lower.
        row, = of(lab, STANDBY, "perf", "show", "--node", SWITCH1, "--port", "3")
        succeeded(lab.run("perfquery", "-R", str(row["lid"]), "3", node="Hca2"))
        ask(lab, "perf", "sweep", sm=STANDBY)
        assert total(lab, STANDBY, SWITCH1, 3, "SymbolErrorCounter") == 40, "before"
        os.kill(lab.status()["sms"][MASTER]["pid"], signal.SIGKILL)
        wait_until(lambda: of(lab, STANDBY, "status")["sm"]["state"] == "master", 60,
                   "the hand-over")
        wait_until(lambda: of(lab, STANDBY, "status")["perfmgr"]["state"] != "idle", 60,
                   "reading as master")
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=5')
        ask(lab, "perf", "sweep", sm=STANDBY)
        assert total(lab, STANDBY, SWITCH1, 3, "SymbolErrorCounter") == 45, "after"


@pytest.mark.plain
@pytest.mark.row("A6")
def test_role_changes_while_running():
    nobody = "http://127.0.0.1:1/"
    more = f"[alerts]\nwebhook = {nobody}\n[qos]\nenabled = true\n"
    with two_sms("master", more, triadd=True) as lab:
        ask(lab, "set", "prometheus.listen", f"127.0.0.1:{free_port()}", sm=STANDBY)
        wait_until_it_reads(lab, MASTER)
        ask(lab, "set", "perfmgr.role", "standby", sm=STANDBY)
        wait_until_it_reads(lab, STANDBY)
        lab.sim('Unlink "Switch2"[1]')
        wait_until(lambda: metric(lab, "triad_alerts_active"), 30, "an alert")
        assert not lab.triad("alerts", sm=STANDBY).stderr, "a list of the present"
        wait_until(lambda: "alerts.webhook" in health(lab), 30, "a webhook that fails")
        ask(lab, "set", "perfmgr.role", "master", sm=STANDBY)
        wait_until(lambda: of(lab, STANDBY, "status")["perfmgr"]["state"] == "idle", 10,
                   "the end of it")
        wait_until(lambda: of(lab, STANDBY, "status")["standby"]["state"] ==
                   "not needed", 10, "the end of asking the SA")
        check_nothing_of_the_past(lab)
        check_nothing_of_the_gap(lab)


def check_nothing_of_the_gap(lab):
    """What a port counted while this SM did not look is no news when it looks again."""
    def alerts():
        return lab.triad("alerts", sm=STANDBY).stdout

    def swept():
        ask(lab, "perf", "sweep", sm=STANDBY)
        return total(lab, STANDBY, SWITCH1, 1, "SymbolErrorCounter")

    lab.sim('PerformanceSet "Switch1"[1] PortCounters.SymbolErrorCounter=500')
    ask(lab, "set", "perfmgr.role", "standby", sm=STANDBY)
    wait_until(lambda: of(lab, STANDBY, "status")["perfmgr"]["state"] != "idle", 10, "reading")
    wait_until(lambda: swept() == 500, 10, "the total")
    assert "SymbolErrorCounter" not in alerts(), "of the time before"
    lab.sim('PerformanceSet "Switch1"[1] PortCounters.SymbolErrorCounter=600')
    wait_until(lambda: swept() == 600, 10, "the next total")
    assert "SymbolErrorCounter" in alerts(), "of a sweep"


def metric(lab, name):
    listen = of(lab, STANDBY, "status")["prometheus"]["listen"]
    with urllib.request.urlopen(f"http://{listen}/metrics", timeout=30) as answer:
        text = answer.read().decode()
    return float(re.search(rf"^{name} (\S+)$", text, re.MULTILINE)[1])


def health(lab):
    return lab.triad("health", sm=STANDBY).stdout


def check_nothing_of_the_past(lab):
    """A standby that looked before says so, and no time goes on."""
    def alerts():
        process = succeeded(lab.triad("alerts", sm=STANDBY))
        assert re.search(r"alerts .*\b20\d\d-", process.stderr), process.stderr
        assert mentions(process.stdout, "1 active then"), process.stdout
        return process.stdout

    before, begun = alerts(), time.monotonic()
    wait_until(lambda: "alerts.webhook" not in health(lab), 10, "an end of that finding")
    assert mentions(health(lab), "master requests for paths")
    assert metric(lab, "triad_alerts_active") == 0
    resets = succeeded(lab.triad("perf", "resets", sm=STANDBY))
    assert mentions(resets.stderr, "resets not master")
    assert mentions(resets.stdout, "reset in hardware since")
    # LASTS has whole seconds.
    wait_until(lambda: time.monotonic() > begun + 2, 5, "two seconds")
    assert alerts() == before, "what does not go on"


def test_standby_ends_while_the_masters_sa_is_silent():
    with two_sms("master") as lab:
        wait_until_it_reads(lab, MASTER)
        sm_lid = re.search(r"sm lid (\d+)", lab.run("sminfo").stdout)[1]
        lab.harm_mads(f"lose class 3 lid {sm_lid} direction in\n")
        ask(lab, "set", "perfmgr.role", "standby", sm=STANDBY)
        wait_until(lambda: of(lab, STANDBY, "status")["standby"]["state"] ==
                   "without reports", 10, "asking the SA")
        begun = time.monotonic()
        os.kill(lab.status()["sms"][STANDBY]["pid"], signal.SIGTERM)
        wait_until(lambda: "triad: ended" in lab.log(STANDBY), 30, "the end")
        print(f"ended in {time.monotonic() - begun:.1f} s")
        # The kernel tries for 4 s.
        assert time.monotonic() - begun < 3
