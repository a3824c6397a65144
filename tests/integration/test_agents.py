# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Several triad-agents on one fabric, and the plugin as their manager, over a broker:
who reads what, that totals at the top are right whoever reads, what happens when one
dies, is paused or drained, and when the broker goes."""

import json
import re
import signal
import urllib.request
from pathlib import Path

import pytest

from agentlib import (Broker, Member, agents, conf, fat_tree, free_port, owners,
                      triadctl, wait_until_settled)
from checks import failed, mentions, stopped, succeeded, wait_until
from labs import Lab
from triadlib import ask, ask_json, ports, status

HOSTS = 12
SM = "host-0001"
ERROR = "SymbolErrorCounter"
VICTIM = "host-0007"


def lab_of(scratch, broker, extra="", **collect):
    net = fat_tree(scratch, HOSTS, "--radix", "8")
    return Lab(net, sms=[SM], triad_conf=conf(broker, "manager", extra, **collect))


def start(scratch, lab, broker, *numbers, extra="", **collect):
    return [Member(scratch, lab, f"host-{number:04d}",
                   conf(broker, "agent", extra, name=f"a{number}", **collect))
            for number in numbers]


def set_errors(lab, value, node=VICTIM):
    lab.sim(f'PerformanceSet "{node}"[1] PortCounters.{ERROR}={value}')


def errors_at(lab, node=VICTIM):
    """The manager's total; None while it has none."""
    for row in ask_json(lab, "perf", "show"):
        if row["node_name"].startswith(node):
            return row["counters"].get(ERROR)
    return None


def wait_for_errors(lab, value, node=VICTIM):
    wait_until(lambda: errors_at(lab, node) == value, 20,
               f"{value} errors at {node}, there are {errors_at(lab, node)}")


def owner_of(lab, node=VICTIM):
    # ibsim's node descriptions have the HCA's number behind the name.
    return ask_json(lab, "agents", "owner", f"{node} HCA-1").get("agent")


def by_name(members, name):
    return next(member for member in members if name == f"a{int(member.node[-4:])}")


# --- who reads what --------------------------------------------------------------

@pytest.mark.threads
@pytest.mark.row("M5", "M10", "M15", "A13")
def test_agents_share_the_fabric_and_the_manager_shows_all_of_it(scratch):
    broker = Broker(scratch)
    with lab_of(scratch, broker) as lab:
        members = start(scratch, lab, broker, 2, 5, 9)
        wait_until_settled(lab, 3)
        # The first one may own all for a while.
        wait_until(lambda: [row["name"] for row in owners(lab)["agents"]
                            if row["nodes_owned"]] == ["a2", "a5", "a9"], 40,
                   "agents that own nodes")
        wait_until_settled(lab, 3)
        assert len(ports(lab)) == 2 * 24 + 4, "ports with counters"
        # Each host is read by an agent beside it, where there is one, in the end.
        wait_until(lambda: owner_of(lab, "host-0002") == "a2", 40,
                   "who reads the host of a2")
        set_errors(lab, 7)
        wait_for_errors(lab, 7)
        for member in members:
            wait_until(lambda member=member: member.section("collect")["topology"] ==
                       "handed down by a manager", 20, "the fabric handed down")
            topology = member.section("topology")
            assert (topology["from"], topology["nodes"]) == \
                ("manager", owners(lab)["nodes"]), "topology"
            # Not of what it reads alone.
            assert succeeded(member.control("topology", "--slurm")).stdout == \
                succeeded(lab.triad("topology", "--slurm")).stdout, "for Slurm"
        assert status(lab)["perfmgr"]["state"] == "agents read", "the manager's state"
        text = ask(lab, "agents", "owner", "host-0002 HCA-1")
        assert "0 hops away" in text and "alive, owns " in text, text
        text = ask(lab, "agents")
        assert all(len(line) <= 80 for line in text.splitlines()), text
        failed(lab.run("triadctl", "agents", "owner", "nobody"), 1, "no node is called")
        rows = {row["name"]: row for row in json.loads(ask(lab, "nodes", "--json"))}
        assert rows["host-0002 HCA-1"]["agent"] == "a2", rows
        # A busy machine's fabric may lose a question, until the next sweep.
        wait_until(lambda: {row["state"] for row in json.loads(ask(lab, "nodes", "--json"))}
                   == {"answers"}, 20, "every node answers")
        text = ask(lab, "nodes")
        assert "AGENT" in text and \
            all(len(line) <= 80 for line in text.splitlines()), text
        # An agent knows it of nodes that others read, too.
        assert members[2].ask("agents", "owner", "host-0002 HCA-1")["agent"] == "a2", \
            "who reads the host of a2, says a9"


def test_members_call_nodes_as_the_map_of_the_managers_opensm_does(scratch):
    names = Path(scratch.folder()) / "names"
    names.write_text('0x200000200000010 "rack 1 top"\n', encoding="utf-8")
    broker = Broker(scratch)
    with Lab(fat_tree(scratch, HOSTS, "--radix", "8"), sms=[SM],
             triad_conf=conf(broker, "manager"),
             opensm_conf=f"node_name_map_name {names}\n") as lab:
        (member,) = start(scratch, lab, broker, 2)
        wait_until_settled(lab, 1)
        wait_until(lambda: member.section("collect").get("topology") ==
                   "handed down by a manager", 20, "the fabric handed down")
        wait_until(lambda: member.ask("nodes"), 20, "its nodes")
        called = [{row["name"] for row in ask_json(lab, "nodes")},
                  {row["name"] for row in member.ask("nodes")}]
        assert all("rack 1 top" in names and "leaf-01" not in names
                   for names in called), called


@pytest.mark.plain
@pytest.mark.row("X6")
def test_totals_of_all_are_exported_by_the_manager(scratch):
    broker = Broker(scratch)
    port = free_port()
    with lab_of(scratch, broker, f"[prometheus]\nlisten = 127.0.0.1:{port}\n"
                f"[profile]\nfile = {scratch.folder()}/profile.zst\n") as lab:
        start(scratch, lab, broker, 3, 8)
        wait_until_settled(lab, 2)
        set_errors(lab, 5)
        wait_for_errors(lab, 5)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics",
                                    timeout=10) as answer:
            text = answer.read().decode()
        assert re.search(
            r'hca_port_symbol_error_total\{guid="0x0200000100000071",port="1"\} 5',
            text), "metrics"
        assert "triad_agents_alive 2" in text, "metrics"
        # A round of what agents tell is a sweep.
        wait_until(lambda: status(lab)["profile"]["frames"] > 1, 20, "the profile")
        wait_until(lambda: status(lab)["profile"]["rows"] >= 52, 20, "rows of the profile")


@pytest.mark.row("M3")
def test_profiles_of_agents_say_who_wrote_them(scratch):
    broker = Broker(scratch)
    folder = scratch.folder()
    with lab_of(scratch, broker) as lab:
        for number in (2, 5):
            start(scratch, lab, broker, number,
                  extra=f"[profile]\nfile = {folder}/a{number}.zst\n")
        wait_until_settled(lab, 2)
        paths = [f"{folder}/a{number}.zst" for number in (2, 5)]

        def collectors():
            process = triadctl("profile", "report", "--json", *paths)
            report = json.loads(process.stdout) if process.stdout else {"collectors": []}
            return [(one["sm_port_guid"], one["restarts"]) for one in
                    sorted(report["collectors"], key=lambda one: one["sm_port_guid"])
                    if one["sweeps"] > 2]
        wait_until(lambda: len(collectors()) == 2, 30, "two collectors in two files")
        assert collectors() == [(f"0x02000001000000{number}1", 0) for number in (2, 5)]


# --- agents that go --------------------------------------------------------------

@pytest.mark.threads
@pytest.mark.row("M4", "M17")
def test_agent_killed_its_nodes_move_and_no_total_jumps(scratch):
    broker = Broker(scratch)
    with lab_of(scratch, broker) as lab:
        members = start(scratch, lab, broker, 2, 5, 9)
        wait_until_settled(lab, 3)
        # 7, reset by somebody, 3: only who has read since then knows that it is 10.
        set_errors(lab, 7)
        wait_for_errors(lab, 7)
        set_errors(lab, 3)
        wait_for_errors(lab, 10)
        victim = owner_of(lab)
        by_name(members, victim).end(signal.SIGKILL)
        report = wait_until_settled(lab, 2)
        assert {row["name"]: row["state"] for row in report["agents"]}[victim] == \
            "dead", "the state of the one that was killed"
        line, = (line for line in ask(lab, "agents").splitlines()
                 if line.startswith(victim))
        assert re.match(rf"{victim} +dead +0 +0 ", line) and line.endswith(" -"), line
        wait_until(lambda: owner_of(lab) not in (None, victim), 20, "another owner")
        assert errors_at(lab) == 10, "errors when nodes have moved"
        set_errors(lab, 4)
        wait_for_errors(lab, 11)
        # It comes back with totals that begin where the hardware stands.
        by_name(members, victim).start()
        wait_until_settled(lab, 3)
        set_errors(lab, 5)
        wait_for_errors(lab, 12)


@pytest.mark.row("N10")
def test_owner_of_a_past_moment(scratch):
    broker = Broker(scratch)
    # A folder each: an image of an agent has those nodes alone that it read, and of images
    # in one folder the latest is shown.
    def history():
        return f"[history]\ndir = {scratch.folder()}\n"
    with lab_of(scratch, broker, extra=history()) as lab:
        first, second = (start(scratch, lab, broker, host, extra=history())[0]
                         for host in (2, 5))
        wait_until_settled(lab, 2)
        wait_until(lambda: owner_of(lab, "host-0002") == "a2", 40, "the agent beside it")
        def written(ask_status):
            return ask_status("status")["images"]
        def manager(*words):
            return ask_json(lab, *words)
        n = written(manager)["written"]
        wait_until(lambda: written(manager)["written"] >= n + 4, 40, "images of the manager")
        n = written(first.ask)["written"]
        wait_until(lambda: written(first.ask)["written"] >= n + 4, 40, "images of an agent")
        then = written(first.ask)["last"][:19]
        wait_until(lambda: written(manager)["last"][:19] > then, 40, "a later image")
        succeeded(first.run("agents", "drain"))
        wait_until(lambda: owner_of(lab, "host-0002") == "a5", 20, "another owner")
        for ask_owner in (manager, first.ask):
            was = ask_owner("agents", "owner", "host-0002 HCA-1", "--at", then)
            assert (was["agent"], was["hops"], was["state"]) == ("a2", 0, "alive"), was
        failed(lab.run("triadctl", "perf", "histogram", "PortXmitData", "--at", then), 1,
               "agents images")
        assert first.ask("perf", "histogram", "PortXmitData", "--at", then)["samples"]


@pytest.mark.row("M17")
def test_agent_paused_others_read_its_nodes_until_it_goes_on(scratch):
    broker = Broker(scratch)
    with lab_of(scratch, broker) as lab:
        members = start(scratch, lab, broker, 2, 9)
        wait_until_settled(lab, 2)
        set_errors(lab, 2, "host-0002")
        wait_for_errors(lab, 2, "host-0002")
        with stopped(members[0].pid()):
            wait_until_settled(lab, 1)
            set_errors(lab, 3, "host-0002")
            wait_for_errors(lab, 3, "host-0002")
        wait_until_settled(lab, 2)
        wait_until(lambda: owner_of(lab, "host-0002") == "a2", 20,
                   "its agent to read its host again")
        set_errors(lab, 4, "host-0002")
        wait_for_errors(lab, 4, "host-0002")


def test_agent_drained_gives_its_nodes_away_and_takes_them_again(scratch):
    broker = Broker(scratch)
    with lab_of(scratch, broker) as lab:
        first, _ = start(scratch, lab, broker, 2, 9)
        wait_until_settled(lab, 2)
        succeeded(first.run("agents", "drain"))
        # It gives nodes away in one message and says that it drains in another.
        wait_until(lambda: agents(lab)["a2"]["nodes_owned"] == 0
                   and agents(lab)["a2"]["state"] == "draining", 20, "its nodes to go")
        assert owners(lab)["nodes_without_owner"] == 0, "nodes without an owner"
        succeeded(first.run("agents", "resume"))
        wait_until_settled(lab, 2)
        wait_until(lambda: owner_of(lab, "host-0002") == "a2", 20,
                   "its agent to read its host again")
        failed(lab.run("triadctl", "agents", "drain"), 1, "for an agent")


def test_all_agents_gone_the_manager_says_what_it_does_not_see(scratch):
    broker = Broker(scratch)
    with lab_of(scratch, broker) as lab:
        member, = start(scratch, lab, broker, 4)
        report = wait_until_settled(lab, 1)
        member.end(signal.SIGKILL)
        wait_until(lambda: owners(lab)["nodes_not_seen"] == report["nodes"], 20,
                   "nodes not seen")
        assert "nodes with" in lab.log(), "the log"
        wait_until(lambda: owners(lab)["nodes_without_owner"] == report["nodes"], 20,
                   "nodes without an owner")
        assert mentions(ask(lab, "agents"), "without owner not seen"), "agents"
        wait_until(lambda: status(lab)["perfmgr"]["ports_unanswered"] == 52, 20,
                   "unanswered ports")
        assert status(lab)["perfmgr"]["ports_answered"] == 0, "answered"


# --- the broker ------------------------------------------------------------------

@pytest.mark.row("M4")
def test_broker_down_agents_read_on_and_come_back(scratch):
    broker = Broker(scratch)
    with lab_of(scratch, broker) as lab:
        first, _ = start(scratch, lab, broker, 2, 9)
        wait_until_settled(lab, 2)
        set_errors(lab, 2, "host-0002")
        wait_for_errors(lab, 2, "host-0002")
        broker.end()
        wait_until(lambda: first.section("collect")["broker"] is None, 20,
                   "the end of the connection")
        # Until then, agents that share the nodes may give some to another.
        owned = first.section("collect")["owned"]
        assert owned, "nodes that it reads"
        before = first.section("perfmgr")["sweeps"]
        set_errors(lab, 6, "host-0002")
        wait_until(lambda: first.section("perfmgr")["sweeps"] >= before + 3, 20,
                   "sweeps without a broker")
        assert first.section("collect")["owned"] == owned, "nodes that it reads"
        assert mentions(first.log(), "no connection broker"), "its log"
        wait_until(lambda: re.search(r"^a2 +alive .* nobody: no manager$",
                                     first.control("agents").stdout, re.M), 20,
                   "whom it reports to")
        broker.start()
        wait_until_settled(lab, 2)
        wait_for_errors(lab, 6, "host-0002")


# --- what travels ----------------------------------------------------------------

@pytest.mark.row("M5", "M6")
def test_counter_over_its_threshold_is_an_alert_at_the_top(scratch):
    broker = Broker(scratch)
    quick = "[alerts]\nclear_after = 2\n"
    with lab_of(scratch, broker, quick) as lab:
        start(scratch, lab, broker, 2, 9, extra=quick)
        wait_until_settled(lab, 2)
        set_errors(lab, 0)
        wait_for_errors(lab, 0)
        set_errors(lab, 900)

        def alert():
            found = ask_json(lab, "alerts")["alerts"]
            return found and found[0]
        found = wait_until(alert, 20, "the alert")
        assert ERROR in json.dumps(found), "the alert"
        assert VICTIM in found["at"]["node_name"], "its place"
        wait_until(lambda: not ask_json(lab, "alerts")["alerts"], 30, "its end")


@pytest.mark.row("N5")
def test_worn_cable_that_an_agent_found_is_an_alert_at_the_top(scratch):
    broker = Broker(scratch)
    # The counter's own threshold says nothing.
    quiet = f"[alerts]\n{ERROR} = off\n"
    with lab_of(scratch, broker, quiet) as lab:
        start(scratch, lab, broker, 2, 9, extra=quiet)
        wait_until_settled(lab, 2)

        def whats():
            return [(finding["what"], alert["at"]["node_name"].split()[0])
                    for alert in ask_json(lab, "alerts")["alerts"]
                    if alert["state"] == "active"
                    for finding in alert["findings"]]
        for n in range(8):
            if whats():
                break
            set_errors(lab, 3 * n)
            wait_for_errors(lab, 3 * n)
        wait_until(whats, 20, "the alert")
        assert whats() == [("bit error rate", VICTIM)]
        assert "symbol bit error rate " in ask(lab, "alerts"), "with its evidence"


@pytest.mark.threads
@pytest.mark.row("M12", "N4")
def test_details_that_agents_read_are_the_managers(scratch):
    broker = Broker(scratch)
    with lab_of(scratch, broker) as lab:
        members = start(scratch, lab, broker, 2, 9)
        wait_until_settled(lab, 2)

        def at_manager():
            return {row["counter"]: row["total"] for row in ask_json(
                lab, "perf", "details", "--node", f"{VICTIM} HCA-1")}

        def count_to(value):
            """Errors of one kind, whose details are then read."""
            lab.sim(*(f'PerformanceSet "{VICTIM}"[1] {counter}={value}' for counter in (
                "PortRcvErrorDetails.PortLocalPhysicalErrors",
                "PortCounters.PortRcvErrors")))
            wait_until(lambda: at_manager() == {"PortLocalPhysicalErrors": value}, 40,
                       f"{value} at the manager")

        def whys():
            return [finding["why"] for alert in ask_json(lab, "alerts")["alerts"]
                    for finding in alert["findings"] if finding["what"] == "PortRcvErrors"]
        # What a counter has when it is read first is no growth, so no alert.
        wait_until(lambda: errors_at(lab) is not None, 20, "a first reading")
        count_to(170)
        wait_until(lambda: whys() == ["PortLocalPhysicalErrors"], 20, "the alert's reason")
        # The next reader's totals begin anew, those here go on.
        by_name(members, owner_of(lab)).end(signal.SIGKILL)
        set_errors(lab, 7)
        wait_for_errors(lab, 7)
        count_to(200)


@pytest.mark.row("M8", "M13", "M14")
def test_histograms_of_all_agents_are_one(scratch):
    broker = Broker(scratch)
    with lab_of(scratch, broker) as lab:
        start(scratch, lab, broker, 2, 5, 9)
        wait_until_settled(lab, 3)
        # Of more sweeps than there may be until the question after it was cleared, and
        # of all: one that a busy machine keeps from answering in time is left out.
        found = wait_until(lambda: (report := ask_json(
            lab, "perf", "histogram", "PortXmitData"))["samples"] >= 5 * 52 and
            report["agents"] == 3 and report, 20, "samples")
        assert (found["agents"], found["agents_asked"]) == (3, 3), "agents"
        node = ask_json(lab, "perf", "histogram", "PortXmitData", "--node",
                        "host-0007 HCA-1")
        assert (node["samples"] > 0) is True, "samples of a node"
        ask(lab, "perf", "clear", "histograms")
        after = ask_json(lab, "perf", "histogram", "PortXmitData")
        assert (after["samples"] < found["samples"]) is True, \
            "fewer samples when cleared"


@pytest.mark.row("M14")
def test_totals_set_to_zero_at_the_top_begin_anew(scratch):
    broker = Broker(scratch)
    with lab_of(scratch, broker) as lab:
        start(scratch, lab, broker, 2, 9)
        wait_until_settled(lab, 2)
        set_errors(lab, 5)
        wait_for_errors(lab, 5)
        ask(lab, "perf", "clear", "totals", "--all")
        wait_for_errors(lab, 0)
        set_errors(lab, 6)
        wait_for_errors(lab, 1)
        # A port of a busy simulator may answer too late.
        wait_until(lambda: lab.triad("perf", "clear", "hardware", "--node",
                                     f"{VICTIM} HCA-1").returncode == 0, 40, "a reset")
        wait_for_errors(lab, 0)
        row, = ask_json(lab, "perf", "show", "--node", f"{VICTIM} HCA-1")
        assert row["counters"][ERROR] == 0, "errors"
        set_errors(lab, 2)
        wait_for_errors(lab, 2)


@pytest.mark.row("M4", "M13", "M18")
def test_tree_of_masters_heals_when_one_is_cut_out(scratch):
    broker = Broker(scratch)
    with lab_of(scratch, broker) as lab:
        first, = start(scratch, lab, broker, 2)
        start(scratch, lab, broker, 5, 9, master="a2")
        wait_until_settled(lab, 3)

        def reports_to(name):
            return [row.get("master") for row in owners(lab)["agents"]
                    if row["name"] == name]
        guid = agents(lab)["a2"]["guid"]
        wait_until(lambda: reports_to("a9") == [guid], 20, "a9 to report to a2")
        set_errors(lab, 5)
        wait_for_errors(lab, 5)

        def asked():
            answer = ask_json(lab, "perf", "histogram", "PortXmitData")
            return answer["agents"], answer["agents_asked"]
        # a2 may learn of those below it a moment after the manager.
        wait_until(lambda: asked() == (3, 3), 20, "all three, through the tree")
        first.end(signal.SIGKILL)
        wait_until_settled(lab, 2)
        wait_until(lambda: reports_to("a9") == [None], 20, "a9 to report to the manager")
        set_errors(lab, 6)
        wait_for_errors(lab, 6)


def test_agent_of_another_fabric_is_distinguished(scratch):
    broker = Broker(scratch)
    other_net = fat_tree(scratch, 30, "--radix", "12")
    with lab_of(scratch, broker) as lab:
        start(scratch, lab, broker, 2)
        wait_until_settled(lab, 1)
        # Its own fabric is known from the SA there, and it takes no other.
        with Lab(other_net, sms=["host-0020"], plugin="no") as other:
            stray = Member(scratch, other, "host-0025", conf(
                broker, "agent", name="stray", topology="discover"))
            wait_until(lambda: "stray" in agents(lab), 20, "the stray agent")
            wait_until(lambda: stray.section("perfmgr").get("sweeps", 0) > 2, 30,
                       "its sweeps")
            set_errors(lab, 5)
            wait_for_errors(lab, 5)
            assert owners(lab)["nodes_without_owner"] == 0, "nodes without an owner"
            assert owner_of(lab, "host-0002") == "a2", "who reads the host of a2"
            stray.end()
