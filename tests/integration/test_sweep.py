# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What sweeps ask of a real opensm's fabric, and what is reset there."""

import re
import urllib.request

import pytest

from checks import mentions, wait_until
from triadlab import hosts
from triadlab.tcp_ports import free_address
from triadlib import (ask, ask_json, log_has, perfquery, ports, status, triad_lab,
                      wait_for_sweep)

SWITCH1 = "0x0000000000200000"
# Two switches with eight ports each and four hosts; sweeps are those asked for, or one a
# second.
CONF = ("[perfmgr]\nsweep_period = {}\nmode = {}\nreset = {}\n"
        "fec_period = 0\nvl_period = 0\n")


def lab_in(mode, reset="never", period_s=3600, more=""):
    return triad_lab(CONF.format(period_s, mode, reset) + more)


def perf_set(lab, port, **counters):
    lab.sim(*(f'PerformanceSet "Switch1"[{port}] PortCounters.{name}={value}'
              for name, value in counters.items()))


def mads_of_sweep(lab):
    before = status(lab)["perfmgr"]["mads_sent"]
    ask(lab, "perf", "sweep")
    return status(lab)["perfmgr"]["mads_sent"] - before


def between_sweeps(lab, n):
    """Sweeps and MADs so far, once 'n' sweeps have ended and none runs."""
    def rests():
        perfmgr = status(lab)["perfmgr"]
        return perfmgr["state"] != "sweeping" and perfmgr["sweeps"] >= n and perfmgr
    perfmgr = wait_until(rests, 30, f"{n} sweeps")
    return perfmgr["sweeps"], perfmgr["mads_sent"]


def mads_beyond(lab, quiet):
    """What the next sweeps, which nobody asked for, send beyond 'quiet' MADs each."""
    n, before = between_sweeps(lab, 1)
    end, after = between_sweeps(lab, n + 2)
    return after - before - quiet * (end - n)


def counter(lab, port, name):
    return ports(lab, "--node", SWITCH1)[(SWITCH1, port)]["counters"][name]


# --- modes -------------------------------------------------------------------

@pytest.mark.row("A2", "X1")
def test_triad_mode_reads_errors_where_the_sum_changed():
    quiet = 2 * (1 + 8) + 4 * 2
    with lab_in("triad", period_s=1) as lab:
        between_sweeps(lab, 3)
        assert mads_beyond(lab, quiet) == 0, "MADs of quiet sweeps"
        n, before = between_sweeps(lab, 1)
        perf_set(lab, 3, SymbolErrorCounter=7, PortXmitWait=99)
        end, after = between_sweeps(lab, n + 3)
        assert after - before - quiet * (end - n) == 8, "MADs with errors"
        assert counter(lab, 3, "SymbolErrorCounter") == 7, "error"
        assert counter(lab, 3, "PortXmitWait") == 99, "congestion"
        assert mads_beyond(lab, quiet) == 0, "MADs afterwards"


def test_requested_sweep_reads_the_errors_of_all_ports():
    with lab_in("triad") as lab:
        wait_for_sweep(lab)
        assert mads_of_sweep(lab) == 2 * (1 + 2 * 8) + 4 * 2


def test_wait_of_64_bits_is_read_and_reset():
    with triad_lab(CONF.format(1, "triad", "never") + "enabled = false\n") as lab:
        # Before the agent is asked whether it has it.
        lab.sim('PerformanceSet "Switch1"[3] PortCountersExtended.PortXmitWait=5')
        ask(lab, "set", "perfmgr.enabled", "true")
        between_sweeps(lab, 1)
        wait_until(lambda: counter(lab, 3, "PortXmitWait") == 5, 30, "the first value")
        lab.sim(f'PerformanceSet "Switch1"[3] PortCountersExtended.PortXmitWait={2 ** 40}')
        wait_until(lambda: counter(lab, 3, "PortXmitWait") == 2 ** 40, 30, "the next one")
        ask(lab, "perf", "clear", "hardware", "--type", "switch")
        wait_until(lambda: counter(lab, 3, "PortXmitWait") == 0, 30, "the reset")


def wide_set(lab, port, **counters):
    """Sets errors of 64 bits.  Both attributes show and reset them."""
    lab.sim(*(f'PerformanceSet "Switch1"[{port}] PortCountersExtended.{name}={value}'
              for name, value in counters.items()))


def begin_wide(lab, **counters):
    """Switches have errors of 64 bits before they are asked whether they do."""
    lab.sim('PerformanceSet "Switch2"[1] PortCountersExtended.VL15Dropped=0')
    wide_set(lab, 3, **counters)
    ask(lab, "set", "perfmgr.enabled", "true")
    wait_for_sweep(lab)


# MADs of a sweep: hosts have errors of 16 bits.
@pytest.mark.row("A2", "X1")
@pytest.mark.parametrize("mode, quiet, changed", [
    ("triad", 2 * 8 + 4 * 2, 0), ("full", 2 * 8 + 4 * 2, 0), ("errors", 2 + 4, 8)])
def test_errors_of_64_bits_alone_move(mode, quiet, changed):
    with lab_in(mode, period_s=1, more="enabled = false\n") as lab:
        begin_wide(lab, SymbolErrorCounter=70000, LinkDownedCounter=300)
        between_sweeps(lab, 3)
        assert mads_beyond(lab, quiet) == 0, "MADs of quiet sweeps"
        assert counter(lab, 3, "SymbolErrorCounter") == 70000, "the first value"
        n, before = between_sweeps(lab, 1)
        wide_set(lab, 3, SymbolErrorCounter=70001, LinkDownedCounter=301)
        end, after = between_sweeps(lab, n + 3)
        assert after - before - quiet * (end - n) == changed, "MADs with errors"
        assert counter(lab, 3, "SymbolErrorCounter") == 70001, "16 bits are full"
        assert counter(lab, 3, "LinkDownedCounter") == 301, "8 bits are full"
        assert mentions(ask(lab, "perf", "show"), "LinkDownedCounter 301"), "in a table"
        assert "+" not in ask(lab, "perf", "show", "--node", "Switch1"), "no maximum"
        assert status(lab)["perfmgr"]["errors_disbelieved"] == 0, "all believed"


@pytest.mark.row("A2", "A4", "S7")
def test_errors_of_64_bits_are_exact_wherever_they_are_shown():
    address = free_address()
    more = f"enabled = false\n[prometheus]\nlisten = {address}\n[alerts]\nclear_after = 0\n"

    def is_everywhere(total):
        assert counter(lab, 3, "SymbolErrorCounter") == total, "JSON"
        assert re.search(rf"\bSymbolErrorCounter {total}\b(?!\+)",
                         ask(lab, "perf", "show", "--node", "Switch1")), "perf show"
        with urllib.request.urlopen(f"http://{address}/metrics", timeout=20) as answer:
            text = answer.read().decode()
        sample = re.search(r"^infiniband_switch_port_symbol_error_total{"
                           rf'guid="{SWITCH1}",port="3"}} (\d+)$', text, re.MULTILINE)
        assert int(sample[1]) == total, "metrics"

    with lab_in("triad", more=more) as lab:
        begin_wide(lab, SymbolErrorCounter=70000)
        is_everywhere(70000)
        wide_set(lab, 3, SymbolErrorCounter=270000)
        ask(lab, "perf", "sweep")
        is_everywhere(270000)
        finding, = ask_json(lab, "alerts")["alerts"][0]["findings"]
        assert (finding["what"], finding["value"], finding["at_least"]) == \
            ("SymbolErrorCounter", 200000, False), "the alert"
        # Somebody who knows PortCounters alone resets the registers of both.
        lid = ports(lab)[(SWITCH1, 3)]["lid"]
        assert perfquery(lab, lid, 3)["SymbolErrorCounter"] == 65535, "16 bits"
        perfquery(lab, lid, 3, "-R")
        wide_set(lab, 3, SymbolErrorCounter=80000)
        ask(lab, "perf", "sweep")
        is_everywhere(350000)
        assert ports(lab)[(SWITCH1, 3)]["resets"]["by_others"]["count"] == 1, "resets"
        reset = ask_json(lab, "perf", "resets")[0]
        assert (reset["counter"], reset["value"]) == ("SymbolErrorCounter", 270000)
        # Triad resets both, and perfquery the wide ones alone.
        ask(lab, "perf", "clear", "hardware", "--node", "Switch1", "--port", "3")
        assert perfquery(lab, lid, 3, "-x")["SymbolErrorCounter"] == 0, "hardware"
        wide_set(lab, 3, SymbolErrorCounter=90000)
        ask(lab, "perf", "sweep")
        is_everywhere(90000)
        hosts.kill(lab.state(), 0, "opensm")
        hosts.start(lab.state(), 0, "opensm")
        ask(lab, "set", "perfmgr.enabled", "true")
        wait_for_sweep(lab)
        is_everywhere(90000)


def test_errors_of_64_bits_that_are_promised_and_not_there():
    with lab_in("triad", more="enabled = false\n") as lab:
        perf_set(lab, 3, SymbolErrorCounter=7)
        begin_wide(lab, SymbolErrorCounter=0)
        assert counter(lab, 3, "SymbolErrorCounter") == 7, "the first value"
        log_has(lab, f"SymbolErrorCounter {SWITCH1} port 3 Switch1 7 PortCounters "
                "not believed")
        assert status(lab)["perfmgr"]["errors_disbelieved"] == 1, "status"
        perf_set(lab, 3, SymbolErrorCounter=65535)
        ask(lab, "perf", "sweep")
        assert "SymbolErrorCounter 65535+" in ask(lab, "perf", "show"), "the maximum"


def test_triad_mode_sum_at_its_maximum_is_not_believed():
    with lab_in("triad") as lab:
        wait_for_sweep(lab)
        # ibsim's sum of this one stops at 255.
        perf_set(lab, 3, PortXmitDiscards=300)
        ask(lab, "perf", "sweep")
        perf_set(lab, 3, PortXmitDiscards=400)
        ask(lab, "perf", "sweep")
        assert counter(lab, 3, "PortXmitDiscards") == 400, "discards"


@pytest.mark.row("X1")
def test_errors_mode_one_mad_an_agent():
    with lab_in("errors", period_s=1) as lab:
        between_sweeps(lab, 3)
        assert mads_beyond(lab, 2 + 4) == 0, "MADs of quiet sweeps"
        perf_set(lab, 3, LinkDownedCounter=2)
        ask(lab, "perf", "sweep")
        assert counter(lab, 3, "LinkDownedCounter") == 2, "error"


@pytest.mark.plain
@pytest.mark.row("A6")
def test_mode_changed_while_running():
    with lab_in("errors") as lab:
        wait_for_sweep(lab)
        ask(lab, "set", "perfmgr.mode", "full")
        assert mads_of_sweep(lab) == 2 * (2 * 8 + 4), "MADs of a full sweep"


def test_show_errors_alone():
    with lab_in("full") as lab:
        wait_for_sweep(lab)
        assert mentions(ask(lab, "perf", "show", "--errors"), "no port errors all answered")
        assert ask_json(lab, "perf", "show", "--errors") == [], "no errors, JSON"
        perf_set(lab, 3, LinkDownedCounter=2)
        ask(lab, "perf", "sweep")
        assert list(ports(lab, "--errors")) == [(SWITCH1, 3)], "errors"
        process = lab.run("triadctl", "perf", "show", "--errors", "--node", "nobody")
        assert process.returncode == 1, "status for a node that there is not"


def test_ports_that_are_not_read_are_no_good_news():
    group = "[group test]\nnodes = Switch1\nskip = true\n"
    with lab_in("full") as lab:
        wait_for_sweep(lab)
        ask(lab, "perf", "sweep")
        before = ask_json(lab, "perf", "top")
        # What was read before says nothing of now.
        conf = lab.folder / "sm-0" / "triad.conf"
        conf.write_text(conf.read_text() + group)
        ask(lab, "reload")
        text = wait_until(lambda: "not known" in (text := ask(lab, "perf", "show", "--errors"))
                          and text, 20, "the group")
        assert re.search(r" 8 of 20 ", text) and "all" not in text, text
        assert re.search(r"of 20 ports, 8 ", ask(lab, "perf", "top")), "rates"
        assert {row["rate"] is None for row in before} == {False}
        n = sum(None in (end["errors"] for end in link["ends"])
                for link in ask_json(lab, "links"))
        assert n and f" {n} link" in ask(lab, "links", "--errors"), "links"
        perf_set(lab, 3, LinkDownedCounter=2)
        lab.sim('PerformanceSet "Switch2"[3] PortCounters.SymbolErrorCounter=5')
        ask(lab, "perf", "sweep")
        text = ask(lab, "perf", "show", "--errors")
        assert mentions(text, "Switch2 SymbolErrorCounter") and mentions(text, "8 of 20"), text


# --- resets ------------------------------------------------------------------

@pytest.mark.row("A4")
def test_counter_near_full_is_reset_and_total_goes_on():
    with lab_in("triad", "near-full") as lab:
        wait_for_sweep(lab)
        lid = ports(lab)[(SWITCH1, 3)]["lid"]
        perf_set(lab, 3, LinkDownedCounter=250, PortRcvErrors=1000)
        ask(lab, "perf", "sweep")
        assert perfquery(lab, lid, 3)["LinkDownedCounter"] == 0, "hardware"
        assert perfquery(lab, lid, 3)["PortRcvErrors"] == 1000, "another counter"
        log_has(lab, f"{SWITCH1} port 3 Switch1 reset")
        perf_set(lab, 3, LinkDownedCounter=4)
        ask(lab, "perf", "sweep")
        row = ports(lab)[(SWITCH1, 3)]
        assert row["counters"]["LinkDownedCounter"] == 254, "total"
        assert row["resets"]["by_triad"]["count"] == 1, "our resets"
        assert row["resets"]["by_triad"]["last"], row
        assert row["resets"]["by_others"] == {"count": 0, "last": None}, "others'"
        assert re.search(r"\[hardware reset by Triad 20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ\]",
                         ask(lab, "perf", "show")), "when, to the second"


@pytest.mark.row("A7")
def test_perf_reset_zeroes_totals_and_leaves_hardware():
    with lab_in("full") as lab:
        wait_for_sweep(lab)
        lid = ports(lab)[(SWITCH1, 3)]["lid"]
        perf_set(lab, 3, SymbolErrorCounter=70)
        perf_set(lab, 4, SymbolErrorCounter=80)
        ask(lab, "perf", "sweep")
        answer = ask_json(lab, "perf", "clear", "totals", "--node", "Switch1",
                          "--port", "3")
        assert answer == {"ports": 1, "hardware": False}, "answer"
        assert counter(lab, 3, "SymbolErrorCounter") == 0, "total"
        assert counter(lab, 4, "SymbolErrorCounter") == 80, "another port's"
        assert perfquery(lab, lid, 3)["SymbolErrorCounter"] == 70, "hardware"
        perf_set(lab, 3, SymbolErrorCounter=75)
        ask(lab, "perf", "sweep")
        assert counter(lab, 3, "SymbolErrorCounter") == 5, "total afterwards"
        assert ask(lab, "perf", "clear", "totals", "--all") == \
            "20 ports: totals are 0 now\n", "all"


@pytest.mark.row("A7")
def test_perf_reset_hardware():
    with lab_in("triad") as lab:
        wait_for_sweep(lab)
        lid = ports(lab)[(SWITCH1, 3)]["lid"]
        perf_set(lab, 3, SymbolErrorCounter=70, PortXmitWait=5)
        ask(lab, "perf", "sweep")
        answer = ask_json(lab, "perf", "clear", "hardware", "--type", "switch")
        assert answer == \
            {"ports": 16, "hardware": True, "hardware_reset": 16,
             "hardware_unanswered": 0}, "answer"
        queried = perfquery(lab, lid, 3)
        assert (queried["SymbolErrorCounter"], queried["PortXmitWait"]) == (0, 0), \
            "hardware"
        assert counter(lab, 3, "SymbolErrorCounter") == 0, "total"


@pytest.mark.row("A4")
def test_resets_are_listed_with_counter_value_and_time():
    with lab_in("triad") as lab:
        wait_for_sweep(lab)
        assert mentions(ask(lab, "perf", "resets"), "no counter reset"), "none yet"
        lid = ports(lab)[(SWITCH1, 3)]["lid"]
        perf_set(lab, 3, SymbolErrorCounter=70)
        ask(lab, "perf", "sweep")
        perfquery(lab, lid, 3, "-R")
        ask(lab, "perf", "sweep")
        perf_set(lab, 3, SymbolErrorCounter=5)
        ask(lab, "perf", "sweep")
        ask(lab, "perf", "clear", "hardware", "--type", "switch")
        listed = [(row["counter"], row["value"], row["by"], row["node_name"])
                  for row in ask_json(lab, "perf", "resets", "--port", "3", "-n", "9999")
                  if row["counter"] == "SymbolErrorCounter"]
        assert listed == [("SymbolErrorCounter", 5, "triad", "Switch1"),
                          ("SymbolErrorCounter", 70, "others", "Switch1")]
        lines = ask(lab, "perf", "resets", "--node", "Switch1", "-n", "1").splitlines()
        assert all(len(line) <= 80 for line in lines), lines


def test_perf_reset_of_no_such_node():
    with lab_in("full") as lab:
        wait_for_sweep(lab)
        process = lab.run("triadctl", "perf", "clear", "totals", "--node", "nobody")
        assert process.returncode == 1, "status"
        assert mentions(process.stderr, "perf clear: no node 'nobody'"), process.stderr


def test_reset_by_others_is_distinguished():
    with lab_in("triad") as lab:
        wait_for_sweep(lab)
        perf_set(lab, 3, SymbolErrorCounter=70)
        ask(lab, "perf", "sweep")
        lid = ports(lab)[(SWITCH1, 3)]["lid"]
        perfquery(lab, lid, 3, "-R")
        perf_set(lab, 3, SymbolErrorCounter=9)
        ask(lab, "perf", "sweep")
        row = ports(lab)[(SWITCH1, 3)]
        assert row["counters"]["SymbolErrorCounter"] == 79, "total"
        assert (row["resets"]["by_others"]["count"], row["resets"]["by_triad"]["count"]) == \
            (1, 0), "resets"
