# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The PerfManager on a real opensm: its numbers are perfquery's."""

import json
import re
import subprocess
import sys

import pytest

from checks import failed, succeeded, wait_until
from labs import SRCDIR, Lab
from triadlib import (ERRORS, ask, ask_json, ports, status, sweep_heavily, triad_lab,
                      wait_for_sweep)

SWITCH1 = "0x0000000000200000"
# Sweeps are those that the test asks for.
RARELY = "[perfmgr]\nsweep_period = 3600\nreset = never\n"
DATA = ("PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts")


def set_errors(lab):
    """Every error counter of every switch port gets a value of its own."""
    limits = {"LinkErrorRecoveryCounter": 255, "LinkDownedCounter": 255,
              "PortXmitConstraintErrors": 255, "PortRcvConstraintErrors": 255,
              "LocalLinkIntegrityErrors": 15, "ExcessiveBufferOverrunErrors": 15}
    lab.sim(*(f'PerformanceSet "{node}"[{port}] PortCounters.{name}='
              f"{(97 * port + 31 * rank + 11 * (node == 'Switch2')) % limits.get(name, 65535)}"
              for node in ("Switch1", "Switch2") for port in range(1, 9)
              for rank, name in enumerate(ERRORS)))


@pytest.fixture(scope="module")
def swept_once():
    """A lab for tests that only read: one sweep has ended, and there is no other."""
    with triad_lab(RARELY) as lab:
        wait_for_sweep(lab)
        yield lab


def words_of(value):
    """A command's words in the name of a case."""
    return " ".join(value) if isinstance(value, tuple) else ""


def perfqueries(lab, rows, *options):
    """What perfquery prints of these ports, by (GUID, port); once for each node."""
    found = {}
    for guid in {guid for guid, _ in rows}:
        numbers = [port for other, port in rows if other == guid]
        lid = rows[guid, numbers[0]]["lid"]
        # perfquery takes no range of one.
        first, last = min(numbers), max(numbers)
        which = f"{first}-{last}" if first < last else first
        process = lab.run("perfquery", *options, lid, which, node="Hca4")
        for part in re.split("^# Port ", succeeded(process).stdout, flags=re.MULTILINE)[1:]:
            counters = {name: int(value, 0) for name, value in
                        re.findall(r"^(\w+):\.+(\w+)$", part, re.MULTILINE)
                        if value[:1].isdigit()}
            found[guid, counters["PortSelect"]] = counters
    return found


# --- perf show ---------------------------------------------------------------

@pytest.mark.row("A2", "A13")
def test_counters_every_port_equal_perfquery():
    with triad_lab() as lab:
        wait_for_sweep(lab)
        set_errors(lab)
        before = perfqueries(lab, ports(lab), "-x")
        ask(lab, "perf", "sweep")
        rows = ports(lab)
        assert len(rows) == 4 + 2 * 8, "ports"
        queried, after = perfqueries(lab, rows), perfqueries(lab, rows, "-x")
        assert queried.keys() == after.keys() == rows.keys(), "ports that perfquery has"
        for key, row in rows.items():
            check_errors(key, row, queried[key])
            check_data(key, row, before[key], after[key])


def check_errors(key, row, queried):
    for name in ERRORS:
        assert row["counters"][name] == queried[name], f"{name} of {key}"
    # ibsim's agents do not have it: absent, not 0.
    assert "QP1Dropped" not in row["counters"], row


def check_data(key, row, before, after):
    for name in DATA:
        value = row["counters"][name]
        assert before[name] <= value <= after[name], \
            f"{name} of {key}: {before[name]} <= {value} <= {after[name]}"


def test_row_members_as_documented(swept_once):
    row = ports(swept_once)[(SWITCH1, 3)]
    assert list(row) == \
        ["node_guid", "node_name", "node_type", "port", "lid",
         "state", "remote_guid", "remote_name", "remote_port",
         "counters", "answered", "skipped", "partition_shared", "confirmed_by_sum",
         "wait_at_least",
         "last_read", "resets", "sflow_if_index"], "members"
    assert (row["node_name"], row["node_type"], row["state"], row["answered"]) == \
        ("Switch1", "switch", "active", True), "values"
    assert (row["remote_guid"], row["remote_name"], row["remote_port"]) == \
        ("0x0000000000200001", "Switch2", 3), "far end"
    unlinked = ports(swept_once)[(SWITCH1, 8)]
    assert (unlinked["state"], unlinked["remote_guid"], unlinked["remote_port"]) == \
        ("down", None, None), "a port without a link"


@pytest.mark.parametrize("words, n", [
    (("--type", "ca"), 4), (("--type", "switch"), 16), (("--type", "all"), 20),
    (("--node", "Switch2"), 8), (("--node", "Switch*", "--port", "2"), 2),
    (("--node", "0x200000"), 8), (("--port", "1"), 6),
    (("--node", "0000:0000:0020:0000"), 8), (("--node", "0000000000200001"), 8),
    # Hca1's port GUID
    (("--node", "0x100001"), 1)], ids=words_of)
@pytest.mark.row("A7")
def test_show_selection_narrows(swept_once, words, n):
    assert len(ports(swept_once, *words)) == n, "ports"


@pytest.mark.parametrize("words, message", [
    (("--node", "nobody"), "nobody"), (("--node", "Hca1", "--port", "2"), "no port 2"),
    (("--type", "router"), "no port")], ids=words_of)
def test_show_selection_of_nothing_is_reported(swept_once, words, message):
    failed(swept_once.triad("perf", "show", *words), 1, message)


def test_show_table_has_names_and_errors():
    with triad_lab() as lab:
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=5',
                'PerformanceSet "Switch1"[3] PortCountersExtended.PortXmitData=250000000')
        ask(lab, "perf", "sweep")
        lines = ask(lab, "perf", "show", "--node", "Switch1").splitlines()
        assert len(lines) == 9, "lines"
        line = lines[3]
        for part in ("Switch1", SWITCH1, "active", "Switch2:3", "1.00 GB",
                     "SymbolErrorCounter 5"):
            assert part in line, "line"
        assert len({line.index("active") for line in lines if "active" in line}) == 1, \
            "places of the state column"
        assert [line for line in lines if line != line.rstrip()] == [], \
            "lines with blanks at the end"


def test_top_ranks_by_rate():
    with triad_lab(RARELY) as lab:
        wait_for_sweep(lab)
        for value in (1000, 9_000_000):
            lab.sim(*(f'PerformanceSet "Switch2"[{port}] '
                      f"PortCountersExtended.PortRcvData={value * times}"
                      for port, times in ((6, 1), (7, 4), (8, 16))))
            ask(lab, "perf", "sweep")
        rows = ask_json(lab, "perf", "top", "--by", "PortRcvData", "-n", "3")
        assert [(row["node_name"], row["port"]) for row in rows] == \
            [("Switch2", 8), ("Switch2", 7), ("Switch2", 6)], "ranking"
        assert rows[0]["rate"] > rows[1]["rate"] > rows[2]["rate"] > 0, rows
        assert "/s" in ask(lab, "perf", "top", "--by", "portrcvdata", "-n", "1")


def test_top_after_one_sweep_rate_unknown(swept_once):
    rows = ask_json(swept_once, "perf", "top", "-n", "2")
    assert [row["rate"] for row in rows] == [None, None], "rates"
    assert "no rates yet" in ask(swept_once, "perf", "top")
    assert "at no port" in ask(swept_once, "perf", "top", "--by", "QP1Dropped")


def test_counter_at_maximum_marked():
    with triad_lab(RARELY) as lab:
        lab.sim('PerformanceSet "Switch1"[4] PortCounters.LinkDownedCounter=255',
                'PerformanceSet "Switch1"[4] PortCounters.SymbolErrorCounter=255')
        ask(lab, "perf", "sweep")
        line = ask(lab, "perf", "show", "--node", "Switch1", "--port", "4")
        assert "LinkDownedCounter 255+" in line, "line"
        assert "SymbolErrorCounter 255," in line, "line"


def test_sweep_command_reads_now():
    with triad_lab(RARELY) as lab:
        wait_for_sweep(lab)
        lab.sim('PerformanceSet "Switch1"[4] PortCounters.PortRcvErrors=77')
        assert ports(lab)[(SWITCH1, 4)]["counters"]["PortRcvErrors"] == 0, "before"
        answer = ask_json(lab, "perf", "sweep")
        assert (answer["ports"], answer["unanswered"]) == (20, 0), "the sweep's result"
        assert ports(lab)[(SWITCH1, 4)]["counters"]["PortRcvErrors"] == 77, "after"


# --- ports that do not answer --------------------------------------------------

def test_port_without_answer_unanswered_not_zero():
    conf = "[perfmgr]\nsweep_period = 1\ntimeout = 50\nretries = 1\n"
    with triad_lab(conf) as lab:
        lab.sim('PerformanceSet "Switch2"[2] PortCounters.SymbolErrorCounter=6')
        ask(lab, "perf", "sweep")
        # Attribute 18 is PortCounters: all of them are lost at Switch2.
        lab.sim(*(f'Error "Switch2"[{port}] 100 18' for port in range(0, 9)))
        wait_until(lambda: status(lab)["perfmgr"]["ports_unanswered"] == 8, 30,
                   "8 unanswered ports")
        row = ports(lab)[("0x0000000000200001", 2)]
        assert (row["answered"], row["counters"]["SymbolErrorCounter"]) == (False, 6), \
            "answered and the last value"
        assert "unanswered" in ask(lab, "perf", "show", "--node", "Switch2")
        assert ports(lab)[(SWITCH1, 2)]["answered"] is True, "another switch's port"
        lab.sim(*(f'Error "Switch2"[{port}] 0' for port in range(0, 9)))
        wait_until(lambda: status(lab)["perfmgr"]["ports_unanswered"] == 0, 30,
                   "answers again")


# --- topology ----------------------------------------------------------------

@pytest.mark.plain
@pytest.mark.row("A1")
def test_link_taken_away_ports_follow_sm():
    with triad_lab(opensm_conf="sweep_interval 1\n") as lab:
        wait_for_sweep(lab)
        lab.sim('Unlink "Switch2"[2]')
        sweep_heavily(lab, lambda: len(ports(lab)) == 19, what="a host less")
        assert ports(lab)[("0x0000000000200001", 2)]["state"] == "down", "its port"
        lab.sim('ReLink "Switch2"[2]')
        sweep_heavily(lab, lambda: len(ports(lab)) == 20, what="the host again")
        wait_until(lambda: all(row["answered"] for row in ports(lab).values()), 30,
                   "all ports answer")


def test_port_that_joins_is_not_asked_yet_until_a_sweep():
    with triad_lab(RARELY, opensm_conf="sweep_interval 1\n") as lab:
        wait_for_sweep(lab)
        lab.sim('Unlink "Switch2"[2]')
        sweep_heavily(lab, lambda: len(ports(lab)) == 19, what="a host less")
        lab.sim('ReLink "Switch2"[2]')
        sweep_heavily(lab, lambda: len(ports(lab)) == 20, what="the host again")
        row, = (it for it in ports(lab).values() if it["answered"] is None)
        assert row["node_type"] == "ca", row
        assert "not asked yet" in ask(lab, "perf", "show", "--node", row["node_name"]), "text"
        end, = (it for link in ask_json(lab, "links") for it in link["ends"]
                if it["answered"] is None)
        assert (end["node_name"], end["port"]) == (row["node_name"], row["port"]), end
        ask(lab, "perf", "sweep")
        assert all(it["answered"] for it in ports(lab).values()), "after a sweep"


def test_lmc_and_other_partition_still_read():
    with triad_lab(opensm_conf="lmc 2\n") as lab:
        report = wait_for_sweep(lab)
        assert report["perfmgr"]["ports_unanswered"] == 0, "unanswered"


def test_tree_of_72_hosts_every_port_read(tmp_path):
    net = tmp_path / "tree.net"
    subprocess.run([sys.executable, SRCDIR / "scripts" / "gen-fabric", "fat-tree",
                    "--levels", "2", "--radix", "12", "-o", net], check=True)
    with Lab(net, triad_conf="") as lab:
        report = wait_for_sweep(lab)
        assert report["topology"]["links"] == 72 + 72, "links"
        assert len(ask_json(lab, "links", "-n", "3")) == 3, "links in JSON"
        shown = ask(lab, "links", "-n", "3").splitlines()
        assert len(shown) == 1 + 3 + 1 and "141 more" in shown[-1], shown
        assert report["perfmgr"]["ports_answered"] == 72 + 18 * 12, "ports answered"
        assert report["perfmgr"]["ports_unanswered"] == 0, "unanswered"


# --- knobs -------------------------------------------------------------------

@pytest.mark.row("A3", "A6")
def test_set_changes_act_while_running():
    with triad_lab(RARELY) as lab:
        wait_for_sweep(lab)
        ask(lab, "set", "perfmgr.sweep_period", "1")
        wait_for_sweep(lab, 3)
        ask(lab, "set", "perfmgr.window", "1")
        wait_for_sweep(lab, 5)
        ask(lab, "set", "perfmgr.enabled", "false")
        wait_until(lambda: status(lab)["perfmgr"]["state"] == "idle", 10, "idle")
        sent = status(lab)["perfmgr"]["mads_sent"]
        show = lab.run("triadctl", "perf", "show", "--json")
        assert len(json.loads(show.stdout)) == 20, "ports that are still shown"
        assert "not read any more" in show.stderr, "message"
        failed(lab.run("triadctl", "perf", "sweep"), 1, "perfmgr.enabled")
        assert status(lab)["perfmgr"]["mads_sent"] == sent, "MADs sent while off"
        n = status(lab)["perfmgr"]["sweeps"]
        ask(lab, "set", "perfmgr.enabled", "true")
        wait_for_sweep(lab, n + 2)
