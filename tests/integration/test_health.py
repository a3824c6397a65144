# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The verdict, links and the one screen of status, in each role; faults and their
ends."""

import json
import re
import signal
import time

import pytest

from agentlib import (Broker, manager_lab, near_and_far, triadctl,
                      wait_until_settled)
from checks import fits_columns, mentions, stopped, wait_until
from triadlab import netfile
from triadlib import TriadLab, ask, ask_json, health_findings, status, sweep_heavily, triad_lab, \
    wait_for_sweep

OK, WARNING, CRITICAL, UNKNOWN = range(4)
CONF = """\
[perfmgr]
sweep_period = 1
[alerts]
clear_after = 0
"""
HOST, SWITCH = "0x0000000000100006", "0x0000000000200000"  # Hca3, Switch1


def health(lab, *words, **options):
    """The exit status, and what stands in the answer."""
    process = lab.triad("health", "--json", *words, **options)
    answer = json.loads(process.stdout)
    assert ["OK", "WARNING", "CRITICAL", "UNKNOWN"][process.returncode] == \
        answer["verdict"], "exit status and verdict"
    return process.returncode, answer


def wait_for_verdict(lab, verdict, **options):
    """Returns the answer that has it."""
    last = []

    def has_it():
        last[:] = health(lab, **options)
        return last[0] == verdict

    try:
        wait_until(has_it, 60, f"verdict {verdict}")
    except AssertionError as error:
        raise AssertionError(f"{error}: {last[1]}") from None
    return last[1]


def part(answer, name):
    return next(part for part in answer["parts"] if part["part"] == name)


def links(lab, *words):
    return ask_json(lab, "links", *words)


def links_at(agent):
    """None while it doesn't know the fabric."""
    answer = agent.control("links", "--json")
    return json.loads(answer.stdout) if answer.returncode == OK else None


def names(link):
    return {end["node_name"] for end in link["ends"]}


def fits_screen(text, n_lines=24):
    return len(text.splitlines()) <= n_lines and fits_columns(text)


# --- master ---------------------------------------------------------------------

def test_link_that_dies_is_a_finding_until_it_is_back():
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        answer = wait_for_verdict(lab, OK)
        assert answer["findings"] == [], "findings at first"
        assert part(answer, "sm")["text"].startswith("master"), "the SM's line"
        assert mentions(lab.triad("links", "--down").stdout, "no link")
        lab.sim('Unlink "Hca3"')
        answer = wait_for_verdict(lab, WARNING)
        finding = answer["findings"][0]
        assert (finding["at"], finding["far_end"]) == ("Hca3", "Switch1:2"), finding
        assert finding["advice"] and finding["since"] and finding["alert"], finding
        assert part(answer, "ports")["severity"] == "WARNING", "the line of ports"
        [down] = links(lab, "--down")
        assert down["state"] == "down" and down["downs"] == 1, down
        assert {(end["node_guid"], end["port"]) for end in down["ends"]} == \
            {(HOST, 1), (SWITCH, 2)}, "its last known ends"
        for words in (["health"], ["status"]):
            assert fits_screen(lab.triad(*words).stdout), lab.triad(*words).stdout
        plugin = lab.triad("health", "--plugin")
        assert plugin.returncode == WARNING and re.fullmatch(
            r"TRIAD WARNING - Hca3 - Switch1:2: left the fabric .*\| ports=\d+;;;0 .*"
            r"links_down=1;;;0 .*\n", plugin.stdout), plugin.stdout
        lab.sim('Link "Hca3"[1] "Switch1"[2]')
        wait_for_verdict(lab, OK)
        assert links(lab, "--down") == [], "links that are down"
        [flapped] = links(lab, "--flapped")
        assert flapped["state"] == "active" and flapped["last_up"], flapped
        assert flapped["last_down"] == down["last_down"], "when it went down"


def test_what_is_over_is_a_warning_behind_what_is_still_wrong():
    """A switch that was away, and a host that still is, while no alert is cleared yet."""
    with triad_lab(CONF.replace("clear_after = 0", "clear_after = 3600")) as lab:
        wait_for_sweep(lab)
        wait_for_verdict(lab, OK)
        lab.sim('Unlink "Hca3"')
        wait_for_verdict(lab, WARNING)
        lab.sim('Unlink "Switch2"[3]', 'Unlink "Switch2"[5]')
        answer = wait_for_verdict(lab, CRITICAL)
        assert len(answer["findings"]) > 1, "both are wrong"
        assert "Hca3" not in answer["findings"][0]["at"], "the switch first"
        lab.sim('Link "Switch2"[3] "Switch1"[3]', 'Link "Switch2"[5] "Switch1"[5]')
        answer = wait_for_verdict(lab, WARNING)
        first, *others = answer["findings"]
        assert first["at"] == "Hca3" and "not any more" not in first["what"], first
        assert others and all("not any more" in other["what"] for other in others), others
        assert mentions(part(answer, "alerts")["text"], "0 critical not any more"), answer
        assert sorted(a["severity"] for a in ask_json(lab, "alerts")["alerts"])[0] == \
            "CRITICAL", "the alert's own severity"


def test_hosts_of_one_name_are_a_finding(tmp_path):
    """Not so what devices are called before a host names them, nor two adapters of a host."""
    names = ["host-1 mlx5_0", "host-2 mlx5_0", "host-1 mlx5_0",
             "MT4123 ConnectX6   Mellanox Technologies",
             "MT4123 ConnectX6   Mellanox Technologies", "host-3", "host-3"]
    fabric = netfile.Fabric()
    switch = fabric.add(netfile.Node(netfile.SWITCH, "S", 8, "leaf", 0x20))
    for n, name in enumerate(names):
        host = fabric.add(netfile.Node(netfile.HCA, f"H{n}", 1, name, 0x100 * (1 + n)))
        fabric.link(host, 1, switch, 1 + n)
    net = tmp_path / "names.net"
    with open(net, "w", encoding="utf-8") as stream:
        netfile.write(fabric, stream, "hosts of one name")
    with TriadLab(net, triad_conf=CONF) as lab:
        wait_for_sweep(lab)
        [finding] = wait_for_verdict(lab, WARNING)["findings"]
        assert {finding["at"][:14], finding["far_end"][:14]} == {"host-1 mlx5_0#"}, finding
        assert finding["at"] != finding["far_end"], finding
        assert mentions(finding["what"], "hosts of one name 2 adapters"), finding
        assert fits_screen(lab.triad("health").stdout)


def test_links_show_each_cable_once_and_what_is_wrong():
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        wait_until(lambda: {link["rate"] for link in links(lab)} == {"4x SDR"}, 10,
                   "what they run at")
        cables = links(lab)
        assert len(cables) == status(lab)["topology"]["links"], "each cable once"
        assert links(lab, "--slow") == [], "slow links"
        assert links(lab, "--errors") == [], "links with errors"
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=5')
        ask(lab, "perf", "sweep")
        [bad] = links(lab, "--errors")
        assert names(bad) == {"Switch1", "Switch2"}, bad
        assert links(lab)[0] == bad or links(lab)[0]["slow"], "the worst on top"
        ask(lab, "perf", "sweep")
        by = links(lab, "--by", "SymbolErrorCounter")
        assert names(by[0]) == names(bad), "the most, although it does not grow now"
        # Without zeros the same.
        brief = links(lab, "--brief")
        assert [end["errors"] for link in brief for end in link["ends"] if end["errors"]] == \
            [{"SymbolErrorCounter": 5}], brief
        assert all(end["errors"]["LinkDownedCounter"] == 0 for end in bad["ends"]), bad
        assert [names(link) for link in brief] == [names(link) for link in links(lab)], brief
        of_host = links(lab, "--node", "Hca3")
        assert [names(link) for link in of_host] == [{"Hca3", "Switch1"}], of_host
        process = lab.triad("links", "--node", "nobody")
        assert process.returncode == 1 and "nobody" in process.stderr, process.stderr
        text = ask(lab, "links")
        assert text.splitlines()[0].split()[:3] == ["END", "FAR", "END"], text
        lab.sim('Speed "Hca3"[1] supported=4xQDR', 'Speed "Switch1"[2] supported=4xQDR')
        [slow] = sweep_heavily(lab, lambda: links(lab, "--slow"), what="a slow link")
        assert (names(slow), slow["best_rate"]) == ({"Hca3", "Switch1"}, "4x QDR"), slow


def test_links_whose_errors_grow_stand_above_those_with_more():
    with triad_lab(CONF.replace("= 1", "= 3600")) as lab:
        wait_for_sweep(lab)
        for port, errors in ((1, 50), (2, 500), (3, 5)):
            lab.sim(f'PerformanceSet "Switch1"[{port}] PortCounters.SymbolErrorCounter={errors}')
        ask(lab, "perf", "sweep")
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=6')
        ask(lab, "perf", "sweep")
        assert [sum(end["errors"].get("SymbolErrorCounter", 0) for end in link["ends"])
                for link in links(lab, "--errors")] == [6, 500, 50]


def test_use_of_links_is_not_known_before_there_is_a_rate():
    with triad_lab(CONF.replace("= 1", "= 3600")) as lab:
        wait_for_sweep(lab)
        ends = [end for link in links(lab) for end in link["ends"]]
        assert all(end["use_percent"] is None and end["wait_percent"] is None
                   for end in ends), ends
        ask(lab, "perf", "sweep")
        ends = [end for link in links(lab) for end in link["ends"]]
        assert all(end["use_percent"] is not None for end in ends), ends


def test_sm_without_a_link_is_not_well():
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        wait_for_verdict(lab, OK)
        lab.sim('Unlink "Hca1"')
        answer = wait_for_verdict(lab, UNKNOWN)
        assert "SM" in {finding["at"] for finding in answer["findings"]}, answer
        assert part(answer, "sm")["text"].startswith("discovering"), answer
        lab.sim('Link "Hca1"[1] "Switch1"[1]')
        wait_for_verdict(lab, OK)


def test_link_counts_downs_that_topology_did_not_see():
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.LinkDownedCounter=3')
        ask(lab, "perf", "sweep")
        [flapped] = links(lab, "--flapped")
        assert names(flapped) == {"Switch1", "Switch2"} and flapped["downs"] == 3, flapped
        lab.sim('PerformanceSet "Switch2"[3] PortCounters.LinkDownedCounter=3')
        ask(lab, "perf", "sweep")
        [flapped] = links(lab, "--flapped")
        assert flapped["downs"] == 3, "the same three, counted by the other end"


def test_what_nobody_looks_at_is_no_finding():
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        lab.sim('Unlink "Hca3"')
        wait_for_verdict(lab, WARNING)
        ask(lab, "set", "perfmgr.enabled", "false")
        # What was found may be mended by now: the verdict is about what is known.
        answer = wait_for_verdict(lab, OK)
        for name in ("sweep", "ports", "alerts"):
            assert part(answer, name)["off"], name
        assert " links_down=0;" in lab.triad("health", "--plugin").stdout, "old links"
        ask(lab, "set", "perfmgr.enabled", "true")
        wait_for_verdict(lab, WARNING)
        lab.sim('Link "Hca3"[1] "Switch1"[2]')
        wait_for_verdict(lab, OK)


def test_silent_ports_are_a_finding_without_alerts():
    with triad_lab(f"{CONF}enabled = false\n") as lab:
        wait_for_sweep(lab)
        wait_for_verdict(lab, OK)
        lid = next(node["lid"] for node in ask_json(lab, "nodes")
                   if node["name"] == "Hca3")
        lab.harm_mads(f"lose class 0x04 lid {lid} direction in\n")
        wait_until(lambda: part(health(lab)[1], "ports")["severity"] == "WARNING",
                   30, "a silent port")
        answer = wait_for_verdict(lab, WARNING)
        assert any(finding["at"] == "ports" and mentions(finding["what"], "1 port answer")
                   for finding in answer["findings"]), answer
        lab.heal_mads()
        wait_for_verdict(lab, OK)


def test_sweep_that_is_not_due_is_not_missing():
    """By the period before, three sweeps and 10 s were due; so they are by the one
    after."""
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        ask(lab, "set", "perfmgr.sweep_period", "3600")
        n_sweeps = status(lab)["perfmgr"]["sweeps"]
        end = time.monotonic() + 14
        while time.monotonic() < end:
            code, answer = health(lab)
            assert code == OK, answer["findings"]
            time.sleep(0.5)
        assert status(lab)["perfmgr"]["sweeps"] <= n_sweeps + 1, "sweeps meanwhile"
        ask(lab, "set", "perfmgr.enabled", "false")
        ask(lab, "set", "perfmgr.sweep_period", "1")
        ask(lab, "set", "perfmgr.enabled", "true")
        while status(lab)["perfmgr"]["sweeps"] <= n_sweeps + 1:
            code, answer = health(lab)
            assert code == OK, answer["findings"]


# --- what keeps Triad from working ----------------------------------------------

def test_broken_configuration_is_critical_until_it_is_mended():
    with triad_lab("[perfmgr]\nsweep_period = 0\n") as lab:
        code, answer = health(lab)
        assert code == CRITICAL, answer
        assert any(finding["at"] == "configuration" for finding in answer["findings"])
        assert lab.triad("status").returncode == 1, "status"
        assert lab.triad("status", "--json").returncode == 1, "status as JSON"
        path = lab.folder / "sm-0" / "triad.conf"
        text = path.read_text(encoding="utf-8").replace("= 0", "= 1")
        path.write_text(text, encoding="utf-8")
        ask(lab, "reload")
        wait_for_verdict(lab, OK)
        assert lab.triad("status").returncode == 0, "status"
        path.write_text(text + "[perfmgr]\nnothing = 1\n", encoding="utf-8")
        assert lab.triad("reload").returncode == 1, "reload of a mistake"
        code, answer = health(lab)
        assert code == WARNING and "not in force" in answer["findings"][0]["what"], answer
        path.write_text(text, encoding="utf-8")
        assert mentions(health(lab)[1]["findings"][0]["what"], "mistakes reload")
        path.write_text(text.replace("= 1", "= 2\nnothing = 1"), encoding="utf-8")
        diff = lab.triad("config", "diff").stdout
        assert "the file has 2 s" in diff and "'reload' takes it" not in diff, diff


def test_what_is_configured_and_can_not_be_is_a_warning(tmp_path):
    conf = f"""{CONF}[port]
enabled = true
mode = enforce
[control]
group = no-such-group
[qos]
enabled = true
policy_file = {tmp_path}/nowhere.xml
"""
    with triad_lab(conf) as lab:
        wait_for_verdict(lab, WARNING)
        # Threads of their own find them.
        parts = {"port manager", "control.group", "QoS policy"}
        answer = wait_until(lambda: (last := health(lab)[1]) and parts <= {
            it["at"] for it in last["findings"]} and last, 30, f"findings of {parts}")
        found = {it["at"]: it["what"] for it in answer["findings"]}
        assert "elections are off" in found["port manager"], answer
        assert "may not enforce" in part(answer, "ports_manager")["text"], answer
        assert mentions(found["control.group"], "group 'no-such-group'"), answer
        assert f"{tmp_path}/nowhere.xml" in found["QoS policy"], answer
        assert "no group 'another'" in \
            lab.triad("set", "control.group", "another").stderr


def test_election_state_that_could_not_be_written_is_a_warning_before_it_must_be(scratch):
    folder = scratch.folder()
    with triad_lab("[election]\nenabled = true\ncluster = none\n"
                   f"state_dir = {folder}\n") as lab:
        def findings():
            return health_findings(lab, f"election.state_dir {folder}")
        wait_until(lambda: ask_json(lab, "election")["holder"], 30, "a lease")
        assert not findings(), "well at first"
        terms = ask_json(lab, "election")["term"]
        folder.chmod(0o777)
        wait_until(findings, 60, "the finding")
        assert ask_json(lab, "election")["term"] == terms, "nothing had to be written"
        folder.chmod(0o755)
        wait_until(lambda: not findings(), 60, "its end")
        assert not list(folder.glob("*.probe*")), "what is left"


def test_state_dir_that_could_not_be_written_is_a_warning_before_it_must_be(scratch):
    folder = scratch.folder()
    with triad_lab(f"{CONF}[state]\ndir = {folder}\n") as lab:
        def findings():
            return health_findings(lab, "state.dir can't be written")
        wait_for_sweep(lab)
        wait_until(lambda: list(folder.glob("history-*")), 30, "the file of events")
        assert not findings(), "well at first"
        folder.chmod(0o777)
        wait_until(findings, 60, "the finding")
        folder.chmod(0o755)
        wait_until(lambda: not findings(), 60, "its end")
        assert not list(folder.glob("*.probe*")), "what is left"


def test_output_that_fails_is_a_warning(tmp_path):
    conf = f"{CONF}[profile]\nfile = {tmp_path}/nowhere/profile.csv.zst\n"
    with triad_lab(conf) as lab:
        answer = wait_for_verdict(lab, WARNING)
        assert "profile" in {finding["at"] for finding in answer["findings"]}, answer
        ask(lab, "set", "profile.file", str(tmp_path / "profile.csv.zst"))
        wait_for_verdict(lab, OK)


@pytest.mark.plain
def test_without_a_plugin_nothing_is_known(tmp_path):
    nowhere = ("--socket", str(tmp_path / "no.sock"))
    for words in (["health"], ["health", "--json"], ["health", "--bogus"],
                  ["health", "bogus"], ["--bogus", "health"],
                  ["--timeout", "soon", "health", "--plugin"]):
        process = triadctl(*nowhere, *words)
        assert process.returncode == UNKNOWN and process.stderr, words
    process = triadctl(*nowhere, "health", "--plugin")
    assert process.returncode == UNKNOWN, "exit status"
    assert process.stdout.startswith("TRIAD UNKNOWN - "), process.stdout
    assert len(process.stdout.splitlines()) == 1 and not process.stderr, process.stderr


# --- other roles ----------------------------------------------------------------

def test_standby_without_counters_of_its_own_is_well():
    with triad_lab(CONF, sms=["Hca1", "Hca2"]) as lab:
        wait_for_sweep(lab)
        answer = wait_for_verdict(lab, OK, sm=1)
        assert part(answer, "sm")["text"].startswith("standby"), answer
        assert part(answer, "sweep")["off"], "its sweeps"


def test_manager_and_agents_have_verdicts_and_links(scratch):
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        near, far = near_and_far(scratch, lab, broker)
        wait_until_settled(lab, 2)
        wait_for_verdict(lab, OK)
        assert "2 of 2 alive" in part(health(lab)[1], "agents")["text"], "agents"
        # What a port has counted before it is first read is no flap.
        wait_until(lambda: all(end["answered"] for link in links(lab)
                               for end in link["ends"]), 40, "all ports to be read")
        lab.sim('PerformanceSet "host-0005"[1] PortCounters.LinkDownedCounter=2')
        wait_until(lambda: links(lab, "--flapped"), 40, "a flap that an agent read")
        [flapped] = links(lab, "--flapped")
        assert flapped["downs"] == 2 and any(
            name.startswith("host-0005") for name in names(flapped)), flapped
        # An agent shows cables of which it reads both ends; at first it may have nodes that
        # no cable joins, until each node is with the agent that is next to it.
        wait_until(lambda: links_at(near), 40, "links at an agent")
        wait_until(lambda: near.control("health").returncode == OK, 40, "a well agent")
        far.end(signal.SIGKILL)
        wait_for_verdict(lab, WARNING)
        with stopped(broker.process.pid):
            wait_for_verdict(lab, CRITICAL)
        far.start()
        wait_until_settled(lab, 2)
        wait_for_verdict(lab, OK)
