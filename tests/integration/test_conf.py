# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""triad.conf with mistakes, at start and at reload, on a real opensm."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from checks import failed, mentions, succeeded, wait_until
from triadlib import ask, status, syslog, triad_lab, triad_lines, wait_for_sweep

BROKEN = """\
[perfmgr]
sweep_period = 0
windw = 8
[nonsense]
x = 1
[log]
level = loud
not a line
"""


def test_conf_broken_at_start_opensm_runs_on():
    with triad_lab(BROKEN) as lab:
        lines = triad_lines(lab.log())
        for number, word in ((2, "sweep_period"), (3, "windw"), (4, "nonsense"),
                             (7, "loud"), (8, "not a line")):
            found = [line for line in lines
                     if f"triad.conf:{number}" in line and word in line]
            assert len(found) == 1, f"log lines about line {number} ({lines})"
        process = lab.triad("status", "--json")
        report = json.loads(process.stdout)
        assert process.returncode == 1, "exit status of status"
        assert report["configuration"]["state"] == "broken", "state"
        assert len(report["configuration"]["mistakes"]) == 5, "mistakes in status"
        assert report["perfmgr"]["mads_sent"] == 0, "MADs sent"
        succeeded(lab.run("saquery"))
        look_at_idle(lab)
        mend(lab, lab.folder / "sm-0" / "triad.conf")
        wait_for_sweep(lab)
        assert status(lab)["configuration"]["state"] == "loaded", "state when mended"


def look_at_idle(lab):
    """While all is idle because of the file, everything says to mend that."""
    for words in (("set", "port.enabled", "true"), ("qos", "on"), ("port", "list"),
                  ("port", "priority", "3"), ("routes",), ("congestion",)):
        failed(lab.run("triadctl", *words), 1, "'reload'")
    failed(lab.run("triadctl", "routes", "check"), 3, "'reload'")
    assert mentions(" ".join(ask(lab, "election").split()), "'reload'")
    succeeded(lab.run("triadctl", "set", "log.level", "debug"))
    answer = json.loads(lab.triad("config", "diff", "--json").stdout)
    assert {row["key"].split(".")[0] for row in answer["not_default"]} == \
        {"control", "log"}, "what is in force all the same"


def mend(lab, path):
    text = path.read_text(encoding="utf-8")
    control = text[text.index("[control]"):]
    path.write_text("[perfmgr]\nsweep_period = 1\n" + control, encoding="utf-8")
    ask(lab, "reload")


@pytest.mark.plain
def test_error_lines_also_in_syslog():
    with syslog() as line_with, triad_lab("[perfmgr]\nwindow = 0\n") as lab:
        pid = lab.status()["sms"][0]["pid"]
        assert "triad: " in line_with("perfmgr.window", f"[{pid}]"), "the line"


def test_conf_broken_at_reload_last_good_stays():
    with triad_lab("[perfmgr]\nsweep_period = 7\n") as lab:
        path = lab.folder / "sm-0" / "triad.conf"
        good = path.read_text(encoding="utf-8")
        path.write_text(good + "[perfmgr]\nretries = many\n", encoding="utf-8")
        process = lab.run("triadctl", "reload")
        failed(process, 1, "many")
        assert str(path) in process.stderr, "message"
        assert "last reload" in ask(lab, "status", "--all"), "status"
        assert len(status(lab)["configuration"]["mistakes"]) == 2, "mistakes in status"
        assert status(lab)["configuration"]["values"]["perfmgr.sweep_period"] == 7, \
            "sweep_period"
        path.write_text(good.replace("= 7", "= 9"), encoding="utf-8")
        ask(lab, "reload")
        assert status(lab)["configuration"]["values"]["perfmgr.sweep_period"] == 9, \
            "sweep_period"
        path.unlink()
        failed(lab.run("triadctl", "reload"), 1, str(path))
        assert status(lab)["configuration"]["values"]["perfmgr.sweep_period"] == 9, \
            "sweep_period"


def test_diff_says_nothing_of_what_the_file_may_have():
    with triad_lab("[perfmgr]\nsweep_period = 7\nwindow = 9\n") as lab:
        path = lab.folder / "sm-0" / "triad.conf"
        good = path.read_text(encoding="utf-8")

        def differences():
            answer = json.loads(lab.triad("config", "diff", "--json").stdout)
            return [(row["key"], row["file"]) for row in answer["differences"]]
        path.write_text(good.replace("= 7", "= x").replace("= 9", "= 8"),
                        encoding="utf-8")
        assert differences() == [("perfmgr.window", "8")], "a key with a mistake"
        path.write_text(good.replace("= 9", "= 8"), encoding="utf-8")
        path.chmod(0o666)
        assert differences() == [], "a file that isn't trusted"
        assert mentions(lab.triad("config", "diff").stdout, "not known")
        path.unlink()
        assert differences() == [], "a file that is gone"


def test_reload_changes_for_a_restart_reported_and_not_shown():
    with triad_lab("[perfmgr]\nsweep_period = 7\n") as lab:
        path = lab.folder / "sm-0" / "triad.conf"
        path.write_text("[perfmgr]\nsweep_period = 9\n[control]\nsocket = /tmp/no.sock\n"
                        "admin_group = 3\n", encoding="utf-8")
        process = lab.run("triadctl", "reload")
        succeeded(process)
        assert "control.socket = /tmp/no.sock" in process.stderr
        values = status(lab)["configuration"]["values"]
        assert (values["perfmgr.sweep_period"], values["control.admin_group"]) == \
            (9, "3"), "what can change at once"
        assert values["control.socket"] == f"{lab.folder}/sm-0/triad.sock", "socket"


def test_conf_is_a_directory_opensm_runs_on(tmp_path):
    folder = tmp_path
    options = f"event_plugin_options conf={folder}\n"
    with triad_lab("", opensm_conf=options) as lab:
        wait_until(lambda: "directory" in lab.log().lower(), 10, "the reason in the log")
        succeeded(lab.run("saquery"))


def test_conf_port_section_applies_to_this_port_only():
    conf = ("[perfmgr]\nsweep_period = 11\n"
            "[port 0x200000]\nperfmgr.window = 5\n"
            "[port 0xdead]\nperfmgr.window = 6\n")
    with triad_lab(conf) as lab:
        values = status(lab)["configuration"]["values"]
        guid = status(lab)["sm"]["port_guid"]
        assert values["perfmgr.sweep_period"] == 11, "sweep_period"
        assert values["perfmgr.window"] == (5 if int(guid, 16) == 0x200000 else 64), \
            f"window on {guid}"


def test_set_wrong_value_refused():
    with triad_lab() as lab:
        failed(lab.run("triadctl", "set", "perfmgr.window", "0"), 1, "1 to 4096")
        failed(lab.run("triadctl", "set", "perfmgr.nothing", "0"), 1, "nothing")
        failed(lab.run("triadctl", "set", "control.socket", "/tmp/x"), 1, "restart")


@pytest.mark.threads
def test_conf_replaced_while_others_read_it(tmp_path):
    conf = (f"[election]\nenabled = true\ncluster = none\nstate_dir = {tmp_path}\n"
            "[port]\nenabled = true\n[qos]\nenabled = true\n")
    commands = (["set", "perfmgr.sweep_period", "1"], ["set", "election.priority", "3"],
                ["reload"], ["status"], ["election"])
    with triad_lab(conf) as lab, ThreadPoolExecutor(len(commands)) as pool:
        wait_for_sweep(lab)
        for processes in [pool.map(lambda words: lab.triad(*words), commands)
                          for _ in range(25)]:
            for process in processes:
                succeeded(process)
        wait_for_sweep(lab)


def test_status_values_have_types_and_units():
    conf = ("[group hot]\nnodes = spine*\nsweep_period = 5\n"
            "[alerts hot]\nVL15Dropped = 0.5/s\n")
    with triad_lab(conf) as lab:
        values = status(lab)["configuration"]["values"]
        for name, value in (("perfmgr.enabled", True), ("perfmgr.timeout", 1000),
                            ("perfmgr.mode", "triad"), ("alerts.file", ""),
                            ("group.hot.nodes", "spine*"),
                            ("group.hot.sweep_period", 5), ("group.hot.skip", False),
                            ("alerts.hot.VL15Dropped", "0.5/s"),
                            ("alerts.VL15Dropped", "100/sweep")):
            assert values[name] == value, name
        assert ("alerts.hot.QP1Dropped" in values) is False, "an inherited threshold"
        text = ask(lab, "status", "--all")
        assert "perfmgr.timeout 1000 ms" in " ".join(text.split()), "the unit"


def test_set_in_groups_of_the_file_alone():
    with triad_lab("[group hot]\n") as lab:
        ask(lab, "set", "group.hot.ports", "1-4; 7")
        ask(lab, "set", "alerts.hot.VL15Dropped", "off")
        ask(lab, "set", "alerts.switch.ExcessiveBufferOverrunErrors", "1/sweep")
        values = status(lab)["configuration"]["values"]
        assert values["group.hot.ports"] == "1-4; 7", "ports"
        assert values["alerts.hot.VL15Dropped"] == "off", "a group's threshold"
        assert values["alerts.switch.ExcessiveBufferOverrunErrors"] == "1/sweep", \
            "a threshold of switches"
        failed(lab.run("triadctl", "set", "group.cold.ports", "1"), 1,
               "[group cold] hot")
