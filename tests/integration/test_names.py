# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What people type first on a real opensm: nodes by every name they have, the list of
nodes, what is in force of triad.conf, versions."""

import json

import pytest

from agentlib import start_agent, triadctl
from checks import failed, mentions, succeeded, wait_until
from triadlib import ask, ask_json, ports, triad_lab, wait_for_sweep

pytestmark = pytest.mark.row("N18")

RARELY = "[perfmgr]\nsweep_period = 3600\nreset = never\n"


@pytest.fixture(scope="module")
def swept_once():
    """A lab for tests that only read: one sweep has ended, and there is no other."""
    with triad_lab(RARELY) as lab:
        wait_for_sweep(lab)
        yield lab


def fits(lines, width=80):
    return all(len(line) <= width for line in lines)


# --- names -----------------------------------------------------------------------

def test_every_name_of_a_port_finds_it(swept_once):
    lab = swept_once
    rows = ports(lab, "--node", "Hca1", "--port", "1")
    (lid,) = (row["lid"] for row in rows.values())
    for name in ("Hca1:1", "Hca1/P1", "Hca1/1", "Hc*1:1", "0x100000:1", "0x100001", lid,
                 f"0x{lid:x}"):
        assert ports(lab, "--node", str(name)) == rows, name
    answer = ask_json(lab, "perf", "histogram", "PortXmitData", "--node", str(lid))
    assert (answer["scope"], answer["where"]) == \
        ("port", "Hca1 (0x0000000000100000) port 1"), answer


def test_port_named_twice(swept_once):
    assert len(ports(swept_once, "--node", "Switch1:2", "--port", "2")) == 1
    failed(swept_once.run("triadctl", "perf", "show", "--node", "Switch1:2", "--port", "3"),
           1, "'Switch1:2' 2 3")


def test_what_is_not_there_reported_with_its_name(swept_once):
    for words, what in ((("--node", "Switch1:99"), "Switch1 has no port 99"),
                        (("--port", "99"), "no port 99")):
        failed(swept_once.run("triadctl", "perf", "show", *words), 1, what)
    failed(swept_once.run("triadctl", "qos", "explain", "--src", "1", "--dst", "2"), 1,
           "off 'qos on'")


@pytest.mark.parametrize("words", [
    ("perf", "show"), ("perf", "clear", "totals"), ("perf", "histogram", "VL15Dropped"),
    ("alerts",), ("nodes",)], ids=" ".join)
def test_mistyped_name_gets_near_ones(swept_once, words):
    process = swept_once.run("triadctl", *words, "--node", "Swtich1")
    failed(process, 1, "'Swtich1' 'Switch1' 'Switch2' 'nodes'")
    failed(swept_once.run("triadctl", *words, "--node", "nobody"), 1, "'nobody' 'nodes'")


@pytest.mark.parametrize("words", [
    ("perf", "show"), ("perf", "details"), ("perf", "ber"), ("nodes",), ("links",)],
    ids=" ".join)
def test_mistyped_name_is_no_empty_list_in_json(swept_once, words):
    process = swept_once.run("triadctl", *words, "--json", "--node", "nobody")
    failed(process, 1, "no node 'nobody'")
    assert not process.stdout


def test_name_of_several_lists_them(swept_once):
    process = swept_once.run("triadctl", "perf", "histogram", "VL15Dropped", "--node",
                             "Switch*")
    failed(process, 1, "2 'Switch*' GUID")
    assert mentions(process.stderr, "0x0000000000200000 Switch1")


# --- nodes -----------------------------------------------------------------------

def test_nodes_of_the_fabric(swept_once):
    rows = {row["name"]: row for row in ask_json(swept_once, "nodes")}
    assert set(rows) == {"Hca1", "Hca2", "Hca3", "Hca4", "Switch1", "Switch2"}, "nodes"
    shown = {port: row for (_, port), row in
             ports(swept_once, "--node", "Switch1").items()}
    switch = rows["Switch1"]
    assert switch == {
        "name": "Switch1", "type": "switch", "guid": "0x0000000000200000",
        "lid": shown[1]["lid"], "ports": 8,
        "ports_up": sum(row["state"] == "active" for row in shown.values()),
        "ports_asked": len(shown), "ports_answered": len(shown),
        "last_seen": None, "last_at": None, "port_state": None,
        "state": "answers"}, switch
    lines = ask(swept_once, "nodes").splitlines()
    assert len(lines) == 7 and fits(lines), lines
    assert lines[0].split() == ["NODE", "TYPE", "GUID", "LID", "UP", "OF", "STATE"], lines


def test_nodes_chosen(swept_once):
    for words, n in ((("--type", "switch"), 2), (("--node", "Hca*"), 4), (("-n", "3"), 3),
                     (("--node", "0x200000"), 1), (("--type", "router"), 0)):
        assert len(ask_json(swept_once, "nodes", *words)) == n, words
    assert mentions(ask(swept_once, "nodes", "-n", "2").splitlines()[-1], "4 more -n")
    failed(swept_once.run("triadctl", "nodes", "--type", "ca", "--node", "Switch1"), 1,
           "no CA is called 'Switch1'")


def test_nodes_that_do_not_answer_or_are_left_out():
    conf = ("[perfmgr]\nsweep_period = 1\ntimeout = 50\nretries = 1\n"
            "[group out]\nnodes = Hca4\nskip = yes\n")
    with triad_lab(conf) as lab:
        wait_for_sweep(lab)
        # Attribute 18 is PortCounters: all of them are lost at Switch2.
        lab.sim(*(f'Error "Switch2"[{port}] 100 18' for port in range(0, 9)))

        def states():
            return {row["name"]: row["state"] for row in ask_json(lab, "nodes")}

        wait_until(lambda: states() == {
            "Hca1": "answers", "Hca2": "answers", "Hca3": "answers", "Hca4": "skipped",
            "Switch1": "answers", "Switch2": "unanswered"}, 30, "states")
        lab.sim(*(f'Error "Switch2"[{port}] 0' for port in range(0, 9)))
        wait_until(lambda: states()["Switch2"] == "answers", 30, "an answer again")


# --- get -------------------------------------------------------------------------

def test_get_says_where_a_value_is_from():
    conf = ("[perfmgr]\nsweep_period = 2 m\n[collect]\nservers = nats://me:secret@h:4222\n"
            "[group hot]\nports = 1\n")
    with triad_lab(conf) as lab:
        ask(lab, "set", "perfmgr.retries", "1")
        for key, value, unit, origin in (
                ("perfmgr.sweep_period", "120", "s", "file"),
                ("perfmgr.retries", "1", None, "set"),
                ("perfmgr.timeout", "1000", "ms", "default"),
                ("group.hot.ports", "1", None, "file"),
                ("alerts.hot.VL15Dropped", "inherit", None, "default"),
                ("collect.servers", "nats://***@h:4222", None, "file")):
            row, = ask_json(lab, "get", key)
            assert (row["key"], row["value"], row["unit"], row["from"]) == \
                (key, value, unit, origin), row
        shown = ask(lab, "get") + lab.run("triadctl", "config", "diff").stdout
        assert "nats://***@h:4222" in shown and "secret" not in shown, "a password"
        assert ask(lab, "get", "perfmgr.sweep_period").splitlines()[1].split() == \
            ["perfmgr.sweep_period", "file", "120", "s"], "text"
        section = [row["key"] for row in ask_json(lab, "get", "group.hot")]
        assert section[0] == "group.hot.nodes" and len(section) == 5, section
        assert len(ask_json(lab, "get")) > 100, "all"
        failed(lab.run("triadctl", "get", "perfmgr.windw"), 1,
               "'perfmgr.window' 'get'")
        failed(lab.run("triadctl", "get", "sweep_period"), 1,
               "did you mean 'perfmgr.sweep_period'")
        failed(lab.run("triadctl", "get", "zzz"), 1, "'get'")
        # A value as it is shown can be typed again.
        ask(lab, "set", "perfmgr.sweep_period", "120 s")
        failed(lab.run("triadctl", "set", "perfmgr.sweep_period", "500ms"), 1,
               "'500ms' whole s")


# --- config diff -----------------------------------------------------------------

def diff(lab, code):
    process = lab.run("triadctl", "config", "diff", "--json")
    assert process.returncode == code, process.stdout + process.stderr
    return json.loads(process.stdout)


def test_config_diff_of_a_file_that_is_edited():
    with triad_lab("[perfmgr]\nsweep_period = 7\n[group hot]\nports = 1\n") as lab:
        path = lab.folder / "sm-0" / "triad.conf"
        good = path.read_text(encoding="utf-8")
        answer = diff(lab, 0)
        assert answer["in_force"] and not answer["differences"], answer
        assert answer["file"] == str(path), answer
        assert {row["key"]: row["from"] for row in answer["not_default"]} == \
            {"perfmgr.sweep_period": "file", "group.hot.ports": "file",
             "control.socket": "file", "state.dir": "file",
             "history.dir": "file"}, answer
        assert mentions(ask(lab, "config", "diff"), f"{path} in force"), "text"
        ask(lab, "set", "perfmgr.window", "5")
        path.write_text(good.replace("= 7", "= 9").replace("[group hot]", "[group cold]") +
                        "[console]\nenabled = true\n", encoding="utf-8")
        answer = diff(lab, 3)
        why = {row["key"]: (row["in_force"], row["file"], row["why"])
               for row in answer["differences"]}
        assert why["perfmgr.window"] == ("5", "64", "set"), why
        assert why["perfmgr.sweep_period"] == ("7", "9", "edited"), why
        assert why["console.enabled"] == ("false", "true", "restart"), why
        assert why["group.hot.ports"] == ("1", None, "edited"), why
        assert why["group.cold.ports"] == (None, "1", "edited"), why
        process = lab.run("triadctl", "config", "diff")
        assert process.returncode == 3, process.stderr
        assert mentions(process.stdout, "perfmgr.window = 5"), process.stdout
        assert mentions(process.stdout, "'set' 64"), process.stdout
        assert fits(process.stdout.splitlines()[1:]), process.stdout
        ask(lab, "reload")
        assert [row["key"] for row in diff(lab, 3)["differences"]] == ["console.enabled"]


def test_config_diff_shows_mistakes_with_their_places():
    with triad_lab("[perfmgr]\nsweep_period = 7\n") as lab:
        path = lab.folder / "sm-0" / "triad.conf"
        good = path.read_text(encoding="utf-8")
        path.write_text("[perfmgr]\nwindw = 7\nservers nats://me:secret@h\n",
                        encoding="utf-8")
        answer = diff(lab, 3)
        assert f"{path}:2: " in answer["mistakes"][0], answer
        assert "secret" not in str(answer), answer
        process = lab.run("triadctl", "config", "diff")
        assert mentions(process.stdout, "mistakes 'reload'")
        path.unlink()
        assert "can't be read" in diff(lab, 3)["mistakes"][0], "no file"
        path.write_text(good, encoding="utf-8")
        diff(lab, 0)


def test_config_diff_of_a_file_broken_at_start():
    with triad_lab("[perfmgr]\nwindow = 0\n") as lab:
        assert diff(lab, 3)["mistakes"], "mistakes"
        assert "config diff" in lab.run("triadctl", "get", "log.level").stderr, "get"
        path = lab.folder / "sm-0" / "triad.conf"
        path.write_text(path.read_text(encoding="utf-8").replace("window = 0", "window = 9"),
                        encoding="utf-8")
        process = lab.run("triadctl", "config", "diff")
        assert process.returncode == 3 and "it has none now" in process.stdout, process


# --- version, and an agent -------------------------------------------------------

def test_version_of_what_answers(swept_once):
    assert ask_json(swept_once, "version")["triadctl"] is None, "another client's"
    answer = json.loads(swept_once.run("triadctl", "version", "--json").stdout)
    assert answer["program"] == "OpenSM" and answer["sm"].startswith("OpenSM 3."), answer
    assert answer["version"] == answer["triadctl"] and answer["protocol"] == 1, answer
    assert f"Triad {answer['version']} in OpenSM 3." in ask(swept_once, "version"), "text"


def test_agent_answers_the_same(swept_once, scratch):
    folder = scratch.folder()
    conf, socket = folder / "agent.conf", folder / "agent.sock"
    conf.write_text(f"[perfmgr]\nsweep_period = 1 s\n[control]\nsocket = {socket}\n"
                    f"[state]\ndir = {folder}/state\n[history]\ndir =\n", encoding="utf-8")
    agent = start_agent(swept_once, "Hca3", "--conf", conf)
    scratch.callback(agent.communicate, timeout=20)
    scratch.callback(agent.terminate)

    def ask_agent(*words):
        return triadctl("--socket", socket, *words)

    wait_until(lambda: ask_agent("nodes", "--node", "Hca2").returncode == 0, 30, "nodes")
    wait_until(lambda: {row["state"] for row in json.loads(
        ask_agent("nodes", "--json").stdout)} == {"answers"}, 30, "all have answered")
    answer = json.loads(ask_agent("version", "--json").stdout)
    assert (answer["program"], answer["sm"]) == ("triad-agent", None), answer
    succeeded(ask_agent("config", "diff"))
    assert "1 s" in succeeded(ask_agent("get", "perfmgr.sweep_period")).stdout, "get"
