# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""scripts/lab: what it starts, how it fails, what it leaves behind."""

import ast
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading

import pytest

from checks import failed, mentions, succeeded, wait_until
from labs import EXAMPLE_NETS, LAB, ScriptedLab, lab_command
from triadlab import netfile, nodes, opensm, process, simulator, state

pytestmark = [pytest.mark.scripts, pytest.mark.full]

NET = EXAMPLE_NETS / "net.2sw2path4hca"


def no_plugin_lab(net=NET, **options):
    return ScriptedLab(net, plugin="no", **options)


def up(folder, *arguments, net=NET, **options):
    return lab_command("up", "--dir", folder, "--net", net, "--plugin", "no",
                       *arguments, **options)


def pids(status):
    return [status["simulator"]["pid"], *(sm["pid"] for sm in status["sms"])]


def live_pids(status):
    return [pid for pid in pids(status) if process.record_of(pid)]


# --- up, run, status, down ---------------------------------------------------

def test_lab_up_runs_a_fabric_that_down_ends():
    with no_plugin_lab() as lab:
        status = lab.status()
        assert [sm["state"] for sm in status["sms"]] == ["master"], "states"
        assert status["sms"][0]["node"] == "Hca1", "the SM's node"
        assert lab.command("status").returncode == 0, "exit status of status"
        check_commands(lab)
        ended = lab.down()
        assert ended.returncode == 0, "exit status of down"
        assert live_pids(status) == [], "processes that live"
        assert lab.command("status").returncode == 1, "exit status of status"
        assert "nothing to do" in lab.down().stdout, "the second down"
        check_what_stays(lab)


def check_commands(lab):
    assert re.search(r"SMINFO_MASTER", lab.run("sminfo").stdout), "sminfo"
    discovered = lab.run("ibnetdiscover").stdout
    assert len(re.findall(r"^Ca\t", discovered, re.MULTILINE)) == 4, "HCAs"
    counters = lab.run("perfquery", node="Hca3")
    succeeded(counters)
    assert "PortXmitData" in counters.stdout, "perfquery"


def check_what_stays(lab):
    left = {path.name for path in lab.folder.iterdir()}
    assert {"lab.json", "sim.out", "sm-0"} <= left, left
    assert [name for name in left if name == "sim.in" or name.startswith("run-")] == \
        [], "what should have been removed"
    assert "SUBNET UP" in lab.log(), "the log"


def test_lab_run_gives_status_and_environment():
    with no_plugin_lab() as lab:
        assert lab.run("sh", "-c", "exit 7").returncode == 7, "exit status"
        assert lab.run("sh", "-c", "kill -9 $$").returncode == 128 + 9, "by a signal"
        failed(lab.run("no-such-command"), 127, "no such command")
        variables = lab.run("env").stdout
        assert f"TRIAD_LAB={lab.folder}\n" in variables
        assert f"TRIAD_SOCKET={lab.folder}/sm-0/triad.sock\n" in variables
        assert "SIM_HOST=Hca4\n" in variables, "node for commands"
        where = lab.run("pwd").stdout.strip()
        assert os.path.dirname(where) == str(lab.folder), "parent of the scratch folder"
        assert os.path.exists(where) is False, "whether it exists afterwards"
        assert lab.run("echo", "--", "a b").stdout == "-- a b\n", "arguments"
        failed(lab.run("true", sm=1), 2, "SMs 0 to 0")


def test_lab_run_of_triadctl_stays_where_it_is(tmp_path):
    with no_plugin_lab() as lab:
        folder = tmp_path
        program = folder / "triadctl"
        program.write_text('#!/bin/sh\necho "$PWD ${LD_PRELOAD-none} $TRIAD_SOCKET"\n',
                           encoding="utf-8")
        program.chmod(0o755)
        shown = lab.run(program, cwd=folder).stdout
        assert shown == f"{folder} none {lab.folder}/sm-0/triad.sock\n"


def test_lab_run_ended_by_a_signal_ends_its_command(scratch):
    with no_plugin_lab() as lab:
        folder = scratch.folder()
        runner = subprocess.Popen(
            [sys.executable, LAB, "run", "--dir", lab.folder, "--", "sh", "-c",
             f"echo $$ >{folder}/pid.new; mv {folder}/pid.new {folder}/pid; "
             "exec sleep 60"])
        scratch.callback(runner.kill)
        wait_until((folder / "pid").exists, what="the command's start")
        runner.terminate()
        assert runner.wait(10) == 128 + signal.SIGTERM, "exit status"
        pid = int((folder / "pid").read_text(encoding="ascii"))
        assert process.record_of(pid) is None, "the command"


def test_labs_side_by_side_do_not_meet():
    with no_plugin_lab() as one, no_plugin_lab(net=EXAMPLE_NETS / "net") as other:
        for lab, n_hosts in ((one, 4), (other, 2)):
            found = lab.run("ibnetdiscover").stdout
            assert len(re.findall(r"^Ca\t", found, re.MULTILINE)) == n_hosts, "HCAs"
        one.down()
        assert other.status()["alive"] is True, "whether the other one lives"


def test_lab_up_with_two_sms_has_a_master_and_a_standby():
    with no_plugin_lab(sms=["Hca2", "Hca1"]) as lab:
        sms = lab.status()["sms"]
        assert [(sm["node"], sm["state"]) for sm in sms] == \
            [("Hca2", "master"), ("Hca1", "standby")], "SMs"
        assert f"TRIAD_SOCKET={lab.folder}/sm-1/triad.sock\n" in \
            lab.run("env", sm=1).stdout


def test_lab_up_reads_what_ibnetdiscover_prints(tmp_path):
    net = tmp_path / "discovered"
    with no_plugin_lab() as lab:
        net.write_text(lab.run("ibnetdiscover").stdout, encoding="utf-8")
    # Named by its description, which is what its id was.
    with no_plugin_lab(net=net, sms=["Hca3"]) as lab:
        found = lab.run("ibnetdiscover").stdout
        assert len(re.findall(r"^(?:Ca|Switch)\t", found, re.MULTILINE)) == 6, "nodes"


def test_lab_with_loopback_console_has_its_port():
    with no_plugin_lab(console="loopback") as lab:
        port = lab.status()["sms"][0]["console_port"]
        with socket.create_connection(("127.0.0.1", port), timeout=10) as console:
            console.sendall(b"status\n")
            answer = b""
            while b"SM State" not in answer:
                part = console.recv(4096)
                assert part, f"the console closed after {answer}"
                answer += part


def test_lab_with_local_console_takes_commands_from_its_fifo(scratch):
    with no_plugin_lab(console="local") as lab:
        # Without O_NONBLOCK this would wait for an opensm that does not read.
        fifo = os.open(lab.folder / "sm-0" / "console.in", os.O_WRONLY | os.O_NONBLOCK)
        scratch.callback(os.close, fifo)
        os.write(fifo, b"status\n")
        output = lab.folder / "sm-0" / "opensm.out"
        wait_until(lambda: "SM State" in output.read_text(encoding="utf-8"),
                   what="the console's answer")


# --- configuration -----------------------------------------------------------

def test_opensm_conf_of_the_user_wins():
    with no_plugin_lab(opensm_conf="sweep_interval 3 # mine\nlog_file /tmp/other\n",
                       triad_conf="[control]\n# nothing\n\n[log]\n", images=True) as lab:
        conf = (lab.folder / "sm-0" / "opensm.conf").read_text(encoding="utf-8")
        keys = opensm.conf_keys(conf)
        assert keys["sweep_interval"] == "3", "sweep_interval"
        assert len(re.findall("^sweep_interval", conf, re.MULTILINE)) == 1, "times"
        assert keys["log_file"] == f"{lab.folder}/sm-0/opensm.log", "log_file"
        triad = (lab.folder / "sm-0" / "triad.conf").read_text(encoding="utf-8")
        assert triad == \
            "[control]\n# nothing\n" f"socket = {lab.folder}/sm-0/triad.sock\n\n[log]\n" \
            f"[state]\ndir = {lab.folder}/sm-0/state\n" \
            f"[history]\ndir = {lab.folder}/sm-0/state/images\n", "triad.conf"


def test_control_socket_is_added_where_it_belongs():
    for text, expected in (
            ("", "[control]\nsocket = /x\n"),
            ("[log]\nlevel = info", "[log]\nlevel = info\n[control]\nsocket = /x\n"),
            ("[control]", "[control]\nsocket = /x\n"),
            ("[control]\na = b\n[log]\n[perfmgr]\n",
             "[control]\na = b\nsocket = /x\n[log]\n[perfmgr]\n")):
        assert opensm.add_socket(text, "/x") == expected, f"{text!r} with a socket"
    assert opensm.user_socket("[control]\nsocket=/a b\n") == "/a b", "the user's"
    assert opensm.user_socket("[other]\nsocket=/a\n") is None, "another section's"
    assert opensm.resolve_socket("/run/%g%%.s", "0x01") == "/run/0x01%.s", "a path"


def test_control_socket_of_a_deep_folder_is_short(scratch):
    folder = scratch.folder() / ("deep" * 30)
    scratch.callback(lab_command, "down", "--dir", folder)
    succeeded(up(folder))
    status = json.loads(lab_command("status", "--dir", folder, "--json").stdout)
    path = status["sms"][0]["control_socket"]
    assert len(path) <= 107 and path.startswith("/tmp/"), path


def test_plugin_that_cannot_be_loaded_is_reported(tmp_path):
    broken = tmp_path / "broken.so"
    broken.write_text("not a library", encoding="ascii")
    with ScriptedLab(NET, plugin=broken) as lab:
        assert "plugin not loaded: " in lab.up_messages, "what up said"
        assert "ERR 1000" in lab.up_messages, "what up said"
        assert lab.status()["alive"] is True, "whether all live"


def test_plugin_that_is_not_built_is_refused(tmp_path):
    folder = tmp_path
    failed(lab_command("up", "--dir", folder / "lab", "--net", NET,
                       "--builddir", folder), 1, "make")


# --- what leads programs to ibsim ----------------------------------------------

def test_lab_with_umad2sim_works_and_knows_no_faults():
    with no_plugin_lab(umad2sim=True) as lab:
        assert "libumad2sim.so" in lab.status()["port_library"], "the library"
        assert "libumad2sim.so" in lab.run("env").stdout, "a command's environment"
        assert "SMINFO_MASTER" in lab.run("sminfo").stdout, "sminfo"
        failed(lab.command("faults", "-", input="lose\n", stdin=None), 1, "umad2sim")


def test_lab_without_a_build_says_that_umad2sim_takes_its_place(scratch):
    folder = scratch.folder()
    scratch.callback(lab_command, "down", "--dir", folder / "lab")
    started = up(folder / "lab", "--builddir", folder)
    succeeded(started)
    assert "scripts/build" in started.stderr, "what up said"
    status = json.loads(lab_command("status", "--dir", folder / "lab", "--json").stdout)
    assert "libumad2sim.so" in status["port_library"], "the library"


def test_programs_leave_no_files(tmp_path):
    with no_plugin_lab() as lab:
        folder = tmp_path
        succeeded(lab.run("env", f"TRIAD_LAB_SYS={folder}", "ibstat"))
        assert os.listdir(folder) == [], "files that are left"
        assert list(lab.folder.glob("run-*")) == [], "files in the lab"
        assert len(list(lab.folder.glob("sm-0/cwd/triad-lab-sys-*"))) == 1, "opensm's"


# --- faults --------------------------------------------------------------------

def test_faults_are_installed_shown_and_cleared(tmp_path):
    rules = tmp_path / "rules"
    rules.write_text("# silent\nseed 1\nlose class 0x04 lid 5 # PMA\n\n", encoding="ascii")
    with no_plugin_lab() as lab:
        assert lab.command("faults").stdout == "lab: no faults\n"
        shown = "seed 1\nlose class 0x04 lid 5\n"
        assert lab.command("faults", rules).stdout == shown, "what is installed"
        assert lab.command("faults").stdout == shown, "what is active"
        assert lab.command("faults", "--clear").stdout == "lab: no faults\n"


def test_faults_with_a_mistake_change_nothing():
    with no_plugin_lab() as lab:
        succeeded(lab.command("faults", "-", input="lose class 3\n", stdin=None))
        for text, part in (("\nloose\n", "standard input:2: no fault"),
                           ("lose class 256", ":1: not possible here: '256'"),
                           ("lose colour 3", ":1: no key has this name: 'colour'"),
                           ("lose class", ":1: no value follows: 'class'"),
                           ("lose probability 1.5", "'1.5'"),
                           ("lose direction up", "'up'"),
                           ("lose ms 3", "'3'"),
                           ("delay class 3", "needs 'ms'"),
                           ("seed", "'seed' needs one number")):
            failed(lab.command("faults", "-", input=text, stdin=None), 1, part)
        assert lab.command("faults").stdout == "lose class 3\n", "what is active"
        assert list(lab.folder.glob("run-*")) == [], "files in the lab"


def test_directed_mads_take_longer_the_more_hops_they_go():
    with no_plugin_lab() as lab:
        rule = "delay class 0x81 hop_us 3000000 direction out\n"
        succeeded(lab.command("faults", "-", input=rule, stdin=None))
        ask = ["smpquery", "-t", "100", "nodeinfo", "-D"]
        succeeded(lab.run(*ask, "0", node="Hca1"))
        assert lab.run(*ask, "0,1", node="Hca1").returncode != 0, "3 s are over"


# --- ibsim's console ---------------------------------------------------------

def test_sim_performance_set_shows_in_perfquery():
    with no_plugin_lab() as lab:
        answer = lab.sim('PerformanceSet "Hca2"[1] PortCounters.SymbolErrorCounter=5')
        assert "has been set to 5" in answer, "ibsim's answer"
        counters = lab.run("perfquery", node="Hca2").stdout
        assert re.compile(r"SymbolErrorCounter:\.+5$", re.MULTILINE).search(counters), \
            "perfquery"


def set_port(lab, number, word):
    """Of the switch that Hca1 is attached to."""
    lab.run("ibportstate", "-D", "0,1", number, word, node="Hca1")


def states(lab, number):
    text = succeeded(lab.run("smpquery", "-D", "portinfo", "0,1", number,
                             node="Hca1")).stdout
    return [re.search(rf"^{name}:\.+(\w+)", text, re.MULTILINE)[1]
            for name in ("LinkState", "PhysLinkState")]


@pytest.mark.parametrize("retrain, found", [
    (True, [["Initialize", "LinkUp"], ["Active", "LinkUp"]]), (False, [["Active", "Polling"]])])
def test_port_that_is_enabled_again_has_its_link_in_labs_that_retrain(retrain, found):
    with no_plugin_lab(sms=["Hca1"], retrain=retrain) as lab:
        set_port(lab, 2, "disable")
        assert states(lab, 2)[1] == "Disabled"
        set_port(lab, 2, "enable")
        assert states(lab, 2) in found


def test_port_without_a_cable_is_polling_in_labs_that_retrain():
    with no_plugin_lab(sms=["Hca1"], retrain=True) as lab:
        lab.sim('Unlink "Hca3"[1]')
        set_port(lab, 2, "disable")
        set_port(lab, 2, "enable")
        assert states(lab, 2) == ["Down", "Polling"]


def test_sim_command_that_ibsim_refuses_fails():
    with no_plugin_lab() as lab:
        for command, part in (
                ("Frobnicate", "unknown"),
                ('PerformanceSet "Nobody"[1] PortCounters.VL15Dropped=1', "not found"),
                ('PerformanceSet "Hca1"[1] nonsense', "does not match"),
                ('Unlink "Hca1"[9]', "can't unlink"),
                ('Dump "Nobody"', "not found")):
            failed(lab.command("sim", command), 1, part)
        failed(lab.command("sim", "x" * 127), 2, "127 octets")
        failed(lab.command("sim", "# a comment"), 2, "not a command")
        for command in ("Dump", "Help", 'Dump "Hca1"', 'Unlink "Hca1"[1]'):
            succeeded(lab.command("sim", command))


def test_sim_bulk_from_standard_input_is_fast():
    commands = [f'PerformanceSet "Hca{1 + i % 4}"[1] PortCounters.VL15Dropped={i}'
                for i in range(4000)]
    with no_plugin_lab() as lab:
        answers = lab.command("sim", "-", stdin=None, timeout_s=20,
                              input="# comment\n\n" + "\n".join(commands))
        succeeded(answers)
        assert len(answers.stdout.splitlines()) == 4000, "answers"
        assert "set to 3999" in answers.stdout.splitlines()[-1], "the last one"


def test_sim_several_at_once_get_their_own_answers():
    n_commands = 500
    with no_plugin_lab() as lab:
        answers = {}

        def ask(i):
            console = simulator.Console(state.load(lab.folder), timeout_s=10)
            command = f'PerformanceSet "Hca1"[1] PortCounters.VL15Dropped={i}'
            for _ in range(5):
                got = console.ask([command] * n_commands)
                answers.setdefault(i, set()).update(answer for _, answer, _ in got)

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for i in range(1, 5):
            line = f"Hca1[1] PortCounters.VL15Dropped has been set to {i}"
            assert answers.get(i) == {line}, f"answers to {i}"


# --- failures ----------------------------------------------------------------

def test_lab_up_with_a_broken_net_file_says_why(tmp_path):
    folder = tmp_path
    for text, part in (
            ("", "there is no Switch or Hca line"),
            ('Hca 1 "A"\n[2] "B"[1]\n', "line 2"),
            ('Hca 1 "A"\n\nHca 1 "A"\n', "line 3"),
            ('Switch 4 "S"\n[1] "A"[1]\n\nHca 1 "A"\n[1] "S"[2]\n', "not connected")):
        net = folder / "net"
        net.write_text(text, encoding="ascii")
        failed(up(folder / "lab", net=net), 1, part)
    failed(up(folder / "lab", net=folder / "missing"), 1, "No such file")


def test_lab_up_with_an_impossible_sm_is_refused(scratch):
    folder = scratch.folder()
    failed(up(folder, "--sm", "Nobody"), 2, "Switch1")
    failed(up(folder, "--sm", "Hca1", "--sm", "Hca1"), 2, "has an SM already")
    failed(up(folder, "--sm", "Hca2", net=EXAMPLE_NETS / "net"), 2, "no link on port 1")
    failed(up("/tmp/with blank"), 2, "blanks")
    failed(up(folder, "--opensm-conf", conf_file(scratch, "log_flags 0x01")), 2, "0x02")


def test_sm_is_at_a_host_not_inside_of_a_switch():
    fabric = netfile.Fabric()
    switch = fabric.add(netfile.Node(netfile.SWITCH, "S", 4, "leaf", 16))
    names = ("Quantum Mellanox Technologies Aggregation Node", "host-1", "host-2")
    for number, name in enumerate(names, 1):
        node = fabric.add(netfile.Node(netfile.HCA, f"H{number}", 1, name, 16 * (1 + number)))
        fabric.link(node, 1, switch, number)
    assert [node.node_id for node in nodes.choose_for_sms(fabric, ())] == ["H2"]
    for name in ("H2", "H3"):
        fabric.nodes[name].links.clear()
    assert [node.node_id for node in nodes.choose_for_sms(fabric, ())] == ["H1"]


def conf_file(scratch, text):
    path = scratch.folder() / "conf"
    path.write_text(text + "\n", encoding="ascii")
    return path


def test_lab_up_that_runs_out_of_time_ends_what_it_started(scratch):
    folder = scratch.folder()
    # An inactive SM is neither master nor standby.
    process = up(folder, "--timeout", "6", "--opensm-conf",
                 conf_file(scratch, "sm_inactive TRUE"))
    failed(process, 1, "time SM Hca1")
    assert "lab: opensm sweeps from Hca1" in process.stderr, "progress"
    status = json.loads(lab_command("status", "--dir", folder, "--json").stdout)
    assert live_pids(status) == [], "processes that live"


def test_lab_up_when_opensm_dies_says_why(scratch):
    folder = scratch.folder()
    process = up(folder, "--opensm-conf", conf_file(scratch, "guid 0x1234"))
    failed(process, 1, "opensm (sm-0) ended")
    assert "the end of" in process.stderr, "messages"


def test_lab_up_over_a_live_lab_is_refused():
    with no_plugin_lab() as lab:
        failed(lab.command("up", "--net", NET, "--plugin", "no"), 1, "lab down --dir")
        assert lab.status()["alive"] is True, "whether the first one lives"


def test_lab_up_in_a_folder_of_others_touches_nothing(tmp_path):
    folder = tmp_path
    (folder / "plugin").mkdir()
    failed(up(folder), 1, "take another folder")
    assert [path.name for path in folder.iterdir() if path.name != "lab.lock"] == \
        ["plugin"], "what is there"


def start_up(scratch, folder, *arguments):
    """A 'lab up' that waits for an SM that never becomes master."""
    starter = subprocess.Popen(
        [sys.executable, LAB, "up", "--dir", folder, "--net", NET, "--plugin",
         "no", "--opensm-conf", conf_file(scratch, "sm_inactive TRUE"), *arguments],
        stderr=subprocess.PIPE)
    scratch.callback(starter.stderr.close)
    scratch.callback(starter.wait)
    scratch.callback(starter.kill)

    def lab_json():
        try:
            saved = json.loads((folder / "lab.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return saved if saved["sms"] and saved["sms"][0]["process"]["pid"] else None

    return starter, wait_until(lab_json, what="the start of opensm")


def test_lab_up_interrupted_ends_what_it_started(scratch):
    folder = scratch.folder()
    starter, saved = start_up(scratch, folder)
    starter.send_signal(signal.SIGINT)
    assert starter.wait(15) == 128 + signal.SIGINT, "exit status"
    assert process.record_of(saved["sms"][0]["process"]["pid"]) is None, "opensm"
    assert process.record_of(saved["simulator"]["pid"]) is None, "ibsim"


def test_lab_up_killed_midway_is_ended_by_down(scratch):
    folder = scratch.folder()
    starter, saved = start_up(scratch, folder)
    starter.kill()
    starter.wait()
    # As if it had been killed before it could write the pid down.
    pid = saved["sms"][0]["process"]["pid"]
    saved["sms"][0]["process"] |= {"pid": None, "start_time": None}
    (folder / "lab.json").write_text(json.dumps(saved), encoding="utf-8")
    assert "ended sm-0, ibsim" in lab_command("down", "--dir", folder).stdout, "down"
    assert process.record_of(pid) is None, "opensm"


# --- after crashes -----------------------------------------------------------

def kill_all(status):
    for pid in pids(status):
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not live_pids(status), what="the end of all processes")


def test_lab_down_after_all_were_killed_cleans_up():
    with no_plugin_lab() as lab:
        kill_all(lab.status())
        failed(lab.run("sminfo"), 1, "does not run")
        failed(lab.command("sim", "Dump"), 1, "dead")
        assert lab.command("status").returncode == 1, "exit status of status"
        ended = lab.down()
        succeeded(ended)
        assert "dead before: sm-0, ibsim" in ended.stdout, "down"
        assert (lab.folder / "sim.in").exists() is False, "whether the FIFO exists"


def test_lab_down_after_ibsim_was_killed_ends_opensm():
    with no_plugin_lab() as lab:
        status = lab.status()
        os.kill(status["simulator"]["pid"], signal.SIGKILL)
        succeeded(lab.down())
        assert live_pids(status) == [], "processes that live"


def test_lab_up_after_a_dead_lab_takes_its_folder():
    with no_plugin_lab() as lab:
        kill_all(lab.status())
        (lab.folder / "sm-0" / "old").touch()
        (lab.folder / "mine").touch()
        succeeded(lab.command("up", "--net", NET, "--plugin", "no"))
        assert lab.status()["alive"] is True, "whether all live"
        assert (lab.folder / "sm-0" / "old").exists() is False, "what the old one left"
        assert (lab.folder / "mine").exists() is True, "what is not a lab's"


def test_lab_down_with_a_recycled_pid_spares_its_new_owner(scratch):
    with no_plugin_lab() as lab:
        succeeded(lab.down())
        bystander = subprocess.Popen(["sleep", "60"])
        scratch.callback(bystander.wait)
        scratch.callback(bystander.kill)
        path = lab.folder / "lab.json"
        saved = json.loads(path.read_text(encoding="utf-8"))
        recycled = {"pid": bystander.pid,
                    "start_time": process.record_of(bystander.pid).start_time - 1}
        saved["simulator"] |= recycled
        saved["sms"][0]["process"] |= recycled
        path.write_text(json.dumps(saved), encoding="utf-8")
        assert "nothing to do" in lab.down().stdout, "down"
        assert bystander.poll() is None, "the end of the new owner of the pid"


# --- older Pythons -------------------------------------------------------------

INSTALLED = ("lab", "demo.py", "gen-fabric")


def test_python_too_old_is_reported_in_one_line():
    """The syntax is what 3.6 reads, and the first module of ours ends the script."""
    scripts = LAB.parent
    for path in (scripts / "triadlab" / "__init__.py", *(scripts / name for name in INSTALLED)):
        ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 6))
    pretend = ("import runpy, sys; sys.version_info = (3, 6, 8); sys.argv = sys.argv[1:]; "
               "runpy.run_path(sys.argv[0], run_name='__main__')")
    for name in INSTALLED:
        process_ = subprocess.run([sys.executable, "-c", pretend, scripts / name, "--help"],
                                  capture_output=True, text=True, check=False)
        assert (process_.returncode, process_.stdout) == (1, ""), name
        assert mentions(process_.stderr, f"{name} 3.6 3.9 'python3.9 {scripts / name}'"), name


def test_syntax_is_that_of_the_oldest_python():
    for path in (*(LAB.parent / name for name in INSTALLED),
                 *(LAB.parent / "triadlab").glob("*.py")):
        ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=(3, 9))
