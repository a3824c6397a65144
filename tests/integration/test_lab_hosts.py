# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Labs in which each SM has a host of its own: what they are made of, what harm can be
done to them, what is left of them."""

import json
import os
import re
import signal
import stat
import subprocess
import sys

import pytest

from checks import failed, succeeded, wait_until
from labs import EXAMPLE_NETS, LAB, ScriptedLab, lab_command
from triadlab import hosts, process, state

pytestmark = [pytest.mark.scripts, pytest.mark.full]

NET = EXAMPLE_NETS / "net.2sw2path4hca"
SMS = ("Hca1", "Hca2", "Hca3")

# Exit status: 0 refused, so heard; 1 not heard.
_HEAR = """\
import socket, sys
try:
    socket.create_connection((sys.argv[1], 9), timeout=0.3)
except ConnectionRefusedError:
    sys.exit(0)
except OSError:
    sys.exit(1)
"""


def lab_of(cluster, sms=SMS, **options):
    return ScriptedLab(NET, sms=sms, plugin="no", cluster=cluster, **options)


def namespaces():
    shown = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True,
                           check=True).stdout
    return {line.split()[0] for line in shown.splitlines()}


def token_of(lab):
    return state.load_required(lab.folder).token


def namespaces_of(lab):
    token = token_of(lab)
    return {name for name in namespaces() if token in name}


def hears(lab, host, other):
    """Whether a host gets an answer from another."""
    return lab.run(sys.executable, "-c", _HEAR, f"10.77.0.{other + 1}",
                   host=host).returncode == 0


def sm_state(lab, index):
    return lab.status()["sms"][index]["state"]


def clients(lab):
    return lab.sim("Attached").count("connected at")


# --- what there is -----------------------------------------------------------

def test_hosts_are_there_and_gone_after_down():
    with lab_of("corosync") as lab:
        status = lab.status()
        assert [host["address"] for host in status["hosts"]] == \
            ["10.77.0.1", "10.77.0.2", "10.77.0.3"], "addresses"
        names = {host["namespace"] for host in status["hosts"]}
        assert namespaces_of(lab) == names | {f"triad-{token_of(lab)}-net"}, \
            "namespaces"
        records = [process.record_of(pid) for host in status["hosts"]
                   for pid in (host["holder_pid"], host["corosync"]["pid"])]
        assert len(set(records) - {None}) == 6, "processes of hosts"
        succeeded(lab.down())
        assert namespaces_of(lab) == set(), "namespaces afterwards"
        assert list(filter(process.is_alive, records)) == [], "processes afterwards"


def test_host_of_a_cluster_has_folders_and_a_name_of_its_own():
    with lab_of("corosync", sms=SMS[:2]) as lab:
        assert lab.run("hostname", host=1).stdout == "host1\n", "name"
        succeeded(lab.run("touch", "/run/here", "/dev/shm/here", host=1))
        succeeded(lab.run("ls", "/run/here", host=1))
        for where in ("/run/here", "/dev/shm/here"):
            assert lab.run("ls", where, host=0).returncode == 2, f"{where} of the other"
            assert os.path.exists(where) is False, f"{where} of the machine"


def test_programs_on_a_host_reach_the_fabric():
    """And its SM does: it is a standby of the master."""
    with lab_of("peers") as lab:
        assert [sm["state"] for sm in lab.status()["sms"]] == \
            ["master", "standby", "standby"], "states"
        assert "SMINFO_MASTER" in lab.run("sminfo", host=1).stdout, "sminfo"
        variables = lab.run("env", host=1).stdout
        assert "SIM_HOST=Hca2\n" in variables, "node"
        assert f"TRIAD_SOCKET={lab.folder}/sm-1/triad.sock\n" in variables, "socket"
        assert "10.77.0.2/24" in lab.run("ip", "-o", "address", host=1).stdout, "ip"


def test_triadctl_on_a_host_is_in_its_namespaces(tmp_path):
    with lab_of("peers", sms=SMS[:2]) as lab:
        program = tmp_path / "triadctl"
        program.write_text("#!/bin/sh\npwd; readlink /proc/self/ns/net\n",
                           encoding="utf-8")
        program.chmod(0o755)
        own = os.readlink("/proc/self/ns/net")
        inside, outside = (lab.run(program, cwd=program.parent, **where).stdout.split()
                           for where in ({"host": 1}, {}))
        assert (inside[0], outside) == (str(program.parent), [str(program.parent), own])
        assert inside[1] != own, "it is where the test is"


def test_namespace_that_is_not_there_is_reported():
    with ScriptedLab(NET, plugin="no") as lab:
        process = lab.run("env", "TRIAD_LAB_NETNS=/nowhere", "sminfo")
        assert process.returncode, "it worked"
        assert "TRIAD_LAB_NETNS: /nowhere: No such file" in process.stderr, "message"


def test_labs_with_hosts_side_by_side_do_not_meet():
    with lab_of("corosync") as one, lab_of("corosync", sms=SMS[:2]) as other:
        one.wait_for_quorum({0: (True, 3)})
        other.wait_for_quorum({0: (True, 2)})
        one.down()
        assert len(namespaces_of(other)) == 3, "namespaces of the other one"
        other.wait_for_quorum({0: (True, 2), 1: (True, 2)})


# --- configuration -----------------------------------------------------------

def election(lab, index):
    """The section as a dictionary."""
    text = (lab.folder / f"sm-{index}" / "triad.conf").read_text(encoding="utf-8")
    section = re.split(r"^\[.*\]$", text.split("[election]\n")[1], flags=re.M)[0]
    return dict(line.split(" = ") for line in section.splitlines() if line)


def test_triad_conf_of_peers_has_their_addresses_and_a_key():
    with lab_of("peers", sms=SMS[:2],
                triad_conf="[election]\nenabled = no\n\n[log]\n") as lab:
        key = lab.folder / "peers.key"
        assert election(lab, 1) == \
            {
            "enabled": "no", "cluster": "peers", "state_dir": f"{lab.folder}/sm-1/state",
            "listen": "10.77.0.2:7070", "peers": "10.77.0.1:7070; 10.77.0.2:7070",
            "key_file": str(key)}, "[election]"
        assert (key.stat().st_size, stat.S_IMODE(key.stat().st_mode)) == (32, 0o600), \
            "key"
        assert (lab.folder / "sm-1" / "state").is_dir() is True, "state_dir"


def test_triad_conf_of_a_cluster_has_no_peers():
    with lab_of("corosync", sms=SMS[:2]) as lab:
        assert election(lab, 0) == \
            {"enabled": "yes", "cluster": "corosync",
             "state_dir": f"{lab.folder}/sm-0/state"}, \
            "[election]"


def test_hosts_without_what_they_need_are_refused(tmp_path):
    folder = tmp_path
    failed(lab_command("up", "--dir", folder, "--net", NET, "--plugin", "no",
                       "--cluster", "peers", "--umad2sim"), 2, "--umad2sim")
    failed(lab_command("up", "--dir", "/dev/shm/lab", "--net", NET, "--plugin", "no",
                       "--cluster", "corosync"), 2, "/dev/shm")
    with ScriptedLab(NET, plugin="no") as lab:
        failed(lab.run("true", host=0), 2, "lab up --cluster")
        for words in (("link", "0", "down"), ("partition", "0"), ("heal",),
                      ("kill", "0", "corosync")):
            failed(lab.command("host", *words), 2)
        for words in (("kill", "1", "opensm"), ("kill", "x", "opensm"), ("kill", "0"),
                      ("kill", "0", "ibsim"), ("link", "0", "left")):
            failed(lab.command("host", *words), 2)


# --- harm --------------------------------------------------------------------

def test_opensm_that_was_killed_is_started_again():
    """Also without a cluster."""
    with ScriptedLab(NET, sms=SMS[:2], plugin="no") as lab:
        killed = lab.status()["sms"][1]["pid"]
        lab.host("kill", 1, "opensm")
        assert process.record_of(killed) is None, "the process"
        assert clients(lab) == 1, "clients of ibsim"
        failed(lab.command("host", "kill", "1", "opensm"), 1, "is dead")
        lab.host("start", 1, "opensm")
        assert clients(lab) == 2, "clients of ibsim"
        wait_until(lambda: sm_state(lab, 1) == "standby", 30, "standby again")
        assert lab.status()["sms"][1]["pid"] != killed, "the old pid"
        failed(lab.command("host", "start", "1", "opensm"), 1, "lives already")
        succeeded(lab.down())
        assert process.record_of(killed) is None, "the process after down"


def test_opensm_that_is_started_again_finds_its_old_environment(scratch):
    def variable():
        pid = lab.status()["sms"][0]["pid"]
        with open(f"/proc/{pid}/environ", "rb") as stream:
            return [it for it in stream.read().split(b"\0") if b"TRIAD_TEST" in it]

    os.environ["TRIAD_TEST"] = "once"
    scratch.callback(os.environ.pop, "TRIAD_TEST")
    with ScriptedLab(NET, plugin="no") as lab:
        os.environ["TRIAD_TEST"] = "later"
        lab.host("kill", 0, "opensm")
        lab.host("start", 0, "opensm")
        assert variable() == [b"TRIAD_TEST=once"], "in the environment"


def test_opensm_is_killed_and_started_more_often_than_ibsim_has_places():
    with lab_of("peers", sms=SMS[:2]) as lab:
        running = state.load_required(lab.folder)
        for _ in range(12):
            hosts.kill(running, 1)
            hosts.start_opensm(running, 1)
        assert clients(lab) == 2, "clients of ibsim"
        wait_until(lambda: sm_state(lab, 1) == "standby", 30, "standby again")


def test_opensm_that_is_paused_goes_on():
    with lab_of("peers", sms=SMS[:2]) as lab:
        lab.host("pause", 1, "opensm")
        assert lab.status()["sms"][1]["stopped"] is True, "stopped"
        lab.host("resume", 1, "opensm")
        assert lab.status()["sms"][1]["stopped"] is False, "stopped"


def link_state(lab, node):
    shown = lab.sim(f'Dump "{node}"')
    return re.search(r"\[1\].*\s(\S+)/\S+$", shown, re.MULTILINE)[1]


def test_host_that_is_killed_is_off_the_fabric():
    with lab_of("corosync") as lab:
        lab.host("kill", 2, "all")
        assert link_state(lab, "Hca3") == "Down", "link of its HCA"
        lab.wait_for_quorum({0: (True, 2), 1: (True, 2)})
        assert lab.quorum(2) is None, "what its Corosync says"
        lab.host("start", 2, "all")
        wait_until(lambda: link_state(lab, "Hca3") == "Active", 30, "the link again")
        lab.wait_for_quorum({0: (True, 3), 2: (True, 3)})
        wait_until(lambda: sm_state(lab, 2) == "standby", 30, "standby again")


def test_corosync_that_is_killed_or_paused_is_missed():
    with lab_of("corosync") as lab:
        lab.wait_for_quorum(dict.fromkeys(range(3), (True, 3)))
        for harm, care in (("kill", "start"), ("pause", "resume")):
            lab.host(harm, 1, "corosync")
            lab.wait_for_quorum({0: (True, 2), 2: (True, 2), 1: None})
            assert lab.status()["sms"][1]["state"] == "standby", "its SM"
            lab.host(care, 1, "corosync")
            lab.wait_for_quorum(dict.fromkeys(range(3), (True, 3)))


def test_partition_is_seen_by_both_sides():
    with lab_of("corosync") as lab:
        lab.host("partition", "0,1 2")
        lab.wait_for_quorum({0: (True, 2), 1: (True, 2), 2: (False, 1)})
        assert "SMINFO_MASTER" in lab.run("sminfo", host=2).stdout, "the fabric"
        lab.host("heal")
        lab.wait_for_quorum(dict.fromkeys(range(3), (True, 3)))


def test_network_is_cut_and_healed():
    with lab_of("peers") as lab:
        assert (hears(lab, 0, 1), hears(lab, 0, 2)) == (True, True), "before"
        lab.host("partition", "0,1")
        assert (hears(lab, 0, 1), hears(lab, 0, 2)) == (True, False), "with 2 apart"
        lab.host("partition", "0", "1,2")
        assert (hears(lab, 0, 1), hears(lab, 2, 1)) == (False, True), "with 0 apart"
        lab.host("heal")
        assert (hears(lab, 0, 1), hears(lab, 0, 2)) == (True, True), "healed"
        lab.host("link", 1, "down")
        assert (hears(lab, 0, 1), hears(lab, 0, 2)) == (False, True), "without 1's wire"
        lab.host("link", 1, "up")
        wait_until(lambda: hears(lab, 0, 1), what="host 1 heard again")


# --- after crashes -----------------------------------------------------------

def test_down_ends_what_is_paused_in_good_order():
    with lab_of("corosync", sms=SMS[:2]) as lab:
        lab.host("pause", 1, "all")
        status = lab.status()
        succeeded(lab.down())
        assert process.record_of(status["sms"][1]["pid"]) is None, "opensm"
        assert "Exiting SM" in lab.log(1), "its log"
        assert process.record_of(status["hosts"][1]["corosync"]["pid"]) is None, \
            "corosync"


def test_up_that_is_killed_midway_leaves_no_hosts_after_down(scratch):
    folder = scratch.folder()
    conf = folder / "inactive"
    conf.write_text("sm_inactive TRUE\n", encoding="ascii")
    lab = folder / "lab"
    # Waits for an SM that never becomes master.
    starter = subprocess.Popen(
        [sys.executable, LAB, "up", "--dir", lab, "--net", NET, "--plugin", "no",
         "--cluster", "corosync", "--opensm-conf", conf], stderr=subprocess.DEVNULL)
    scratch.callback(lab_command, "down", "--dir", lab)
    scratch.callback(starter.wait)
    scratch.callback(starter.kill)

    def saved():
        found = state.load(lab)
        return found if found and found.sms and found.sms[0].process.pid else None

    running = wait_until(saved, 30, "the start of opensm")
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    # As if it had been killed before it could write the pids down.
    path = lab / "lab.json"
    fields = json.loads(path.read_text(encoding="utf-8"))
    for started in (fields["hosts"][0]["corosync"], fields["sms"][0]["process"]):
        started |= {"pid": None, "start_time": None}
    path.write_text(json.dumps(fields), encoding="utf-8")
    assert "ended sm-0, corosync-0, host-0, ibsim" in \
        lab_command("down", "--dir", lab).stdout, "down"
    alive = [name for name, it in running.processes().items() if it.is_alive()]
    assert alive == [], "processes"
    assert [name for name in namespaces() if running.token in name] == [], "namespaces"
