# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Agents and their manager when something is wrong: somebody says nonsense, disks are
full, managers come and go."""

import os
import random
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from agentlib import (HOSTS, NEAR, OTHER_SM, SM, Broker, Stranger, agents, errors_at,
                      fat_tree, head, manager_lab, member_at, near_and_far, owner,
                      owners, set_errors, triadctl, wait_for_errors, wait_until_settled)
from checks import failed, succeeded, wait_until
from labs import BUILDDIR, Lab, lab_command
from smalldisk import small_disk
from triadlab import process
from triadlib import ask, ask_json, status, triad_lines

# --- nonsense ----------------------------------------------------------------------

def collect_of(lab):
    return status(lab)["collect"]


@pytest.mark.plain
def test_nonsense_is_counted_and_harms_nobody(scratch):
    seed = int.from_bytes(os.urandom(4), "big")
    print(f"seed {seed}")
    rng = random.Random(seed)
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        members = near_and_far(scratch, lab, broker)
        wait_until_settled(lab, 2)
        before = collect_of(lab)
        stranger = Stranger(scratch, broker)
        for _ in range(300):
            stranger.say(rng.randbytes(rng.randrange(1, 400)))
        for kind in range(1, 12):
            stranger.say(head(kind, 77, version=2) + rng.randbytes(50))
            stranger.say(head(kind, 77, incarnation=rng.randrange(1 << 64)) +
                         rng.randbytes(rng.randrange(400)))
        stranger.say(b"x" * ((1 << 20) - 1))
        stranger.say(b"")
        stranger.flush()

        def counted():
            after = collect_of(lab)
            return after["foreign"] >= before["foreign"] + 300 and \
                after["other_version"] >= before["other_version"] + 11 and \
                after["oversize"] >= 2
        wait_until(counted, 20, "messages that are counted")
        assert collect_of(lab)["oversize"] == 2, "messages too large, and empty"
        set_errors(lab, 3)
        wait_for_errors(lab, 3)
        wait_until(lambda: not owners(lab)["nodes_without_owner"], 20, "owners of all")
        for member in members:
            assert member.process.poll() is None, "how an agent ended"
            wait_until(lambda member=member: member.section("collect")["foreign"] >= 300,
                       20, "messages that an agent counts")


def test_claims_of_all_nodes_are_refused_and_reported(scratch):
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        members = near_and_far(scratch, lab, broker)
        wait_until_settled(lab, 2)
        guids = sorted({int(row["node_guid"], 16)
                        for row in ask_json(lab, "perf", "show")})
        # A port of the fabric that has no agent.
        silent = int(lab.status()["sms"][0]["port_guid"], 16)
        stranger = Stranger(scratch, broker)
        said = 'claims nodes that it cannot have'
        number = 0

        def claim_all():
            nonlocal number
            number += 1
            for sender in (0xbad, silent):
                stranger.say(owner(sender, number, guids))
            stranger.flush()
            report = owners(lab)
            assert report["nodes_without_owner"] == 0, "nodes without an owner"
            return report

        def is_said():
            claim_all()
            return said in lab.log()
        wait_until(is_said, 40, "a line about it")
        # The node of that port may be its to read, and is not read.
        wait_until(lambda: claim_all()["nodes_not_seen"] <= 1, 40, "all others seen")
        lines = [line for line in triad_lines(lab.log()) if said in line]
        assert len(lines) == 1, "lines"
        assert "0x0000000000000bad" in lines[0] or f"{silent:016x}" in lines[0], lines
        assert collect_of(lab)["claims_refused"] >= 10
        wait_until_settled(lab, 2)
        for member in members:
            assert member.process.poll() is None, "how an agent ended"


def test_agent_that_somebody_played_is_heard_again(scratch):
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        near_and_far(scratch, lab, broker)
        wait_until_settled(lab, 2)
        victim = int(agents(lab)[f"a{NEAR}"]["guid"], 16)
        wait_until(lambda: agents(lab)[f"a{NEAR}"]["nodes_owned"] > 1, 20, "its nodes")
        stranger = Stranger(scratch, broker)
        number = 0

        def is_silenced():
            nonlocal number
            number += 1
            stranger.say(owner(victim, number, []))
            stranger.flush()
            row = agents(lab).get(f"a{NEAR}", {"nodes_owned": 0})
            return not row["nodes_owned"]
        wait_until(is_silenced, 20, "its words to be taken for old ones")
        set_errors(lab, 3, NEAR)
        wait_for_errors(lab, 3, NEAR)
        wait_until_settled(lab, 2)
        wait_until(lambda: ask_json(lab, "agents", "owner", f"host-{NEAR:04d} HCA-1")
                   ["agent"] == f"a{NEAR}", 20, "its host to be its own again")
        set_errors(lab, 5, NEAR)
        wait_for_errors(lab, 5, NEAR)


# --- managers ----------------------------------------------------------------------

QUICK_HANDOVER = ("sweep_interval 1\nsminfo_polling_timeout 1000\n"
                  "polling_retry_number 1\n")


def managers_at(lab, sm):
    """None while an SM that becomes master begins anew."""
    return ask_json(lab, "status", sm=sm)["collect"].get("managers")


def sees_all(lab, sm):
    report = ask_json(lab, "agents", sm=sm)
    return not report["nodes_without_owner"] and not report["nodes_not_seen"]


@pytest.mark.row("A15")
def test_two_managers_show_all_and_one_outlives_the_other(scratch):
    broker = Broker(scratch)
    with manager_lab(scratch, broker, sms=(SM, OTHER_SM), opensm_conf=QUICK_HANDOVER,
                     role="any") as lab:
        near_and_far(scratch, lab, broker)
        set_errors(lab, 3)
        for sm in (0, 1):
            wait_for_errors(lab, 3, sm=sm)
            wait_until(lambda sm=sm: managers_at(lab, sm) == 2, 20, "two managers")
            wait_until(lambda sm=sm: sees_all(lab, sm), 30, "all nodes to be seen")
        rows = [len(ask_json(lab, "perf", "show", sm=sm)) for sm in (0, 1)]
        assert rows[0] == rows[1], "rows"
        os.kill(lab.status()["sms"][0]["pid"], signal.SIGKILL)
        wait_until(lambda: managers_at(lab, 1) == 1, 20, "the end of a manager")
        set_errors(lab, 5)
        wait_for_errors(lab, 5, sm=1)


def start_again(lab, sm=0):
    """Kills an opensm and starts it with the same words and variables."""
    pid = lab.status()["sms"][sm]["pid"]
    folder = Path(f"/proc/{pid}")
    words = (folder / "cmdline").read_bytes().split(b"\0")[:-1]
    variables = dict(it.split(b"=", 1) for it in
                     (folder / "environ").read_bytes().split(b"\0") if b"=" in it)
    where = os.readlink(folder / "cwd")
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not process.record_of(pid), 20, "the end of opensm")
    return subprocess.Popen(words, env=variables, cwd=where, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.row("A15")
def test_manager_killed_and_started_has_all_totals_again(scratch):
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        near_and_far(scratch, lab, broker)
        wait_until_settled(lab, 2)
        set_errors(lab, 3)
        wait_for_errors(lab, 3)
        n_rows = len(ask_json(lab, "perf", "show"))
        opensm = start_again(lab)
        try:
            wait_for_errors(lab, 3)
            wait_until_settled(lab, 2)
            wait_until(lambda: len(ask_json(lab, "perf", "show")) == n_rows, 20,
                       "all rows")
            assert status(lab)["collect"]["nodes_not_seen"] == 0, "nodes not seen"
            wait_until(lambda: status(lab)["perfmgr"]["ports_unanswered"] == 0, 20,
                       "all ports")
        finally:
            opensm.terminate()
            opensm.wait(20)


@pytest.mark.row("A6")
def test_mode_changes_while_agents_run_totals_never_go_back(scratch):
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        near_and_far(scratch, lab, broker)
        wait_until_settled(lab, 2)
        errors = 0
        for mode in ("local", "manager", "local", "manager"):
            ask(lab, "set", "collect.mode", mode)
            wait_until(lambda mode=mode: collect_of(lab)["mode"] == mode, 20, mode)
            errors += 2
            set_errors(lab, errors)

            def is_there(errors=errors):
                now = errors_at(lab)
                assert now is None or errors - 2 <= now <= errors, f"{now} of {errors}"
                return now == errors
            wait_until(is_there, 20, f"{errors} errors in mode {mode}")
        wait_until_settled(lab, 2)


# --- agents ------------------------------------------------------------------------

@pytest.mark.row("M3")
def test_agent_with_a_full_disk_goes_on_telling(scratch):
    broker = Broker(scratch)
    disk = small_disk(scratch, 16)
    disk.fill(12288)
    with manager_lab(scratch, broker) as lab:
        member = member_at(scratch, lab, broker, NEAR, f"[profile]\nfile = {disk.folder}/profile\n")
        wait_until_settled(lab, 1)
        wait_until(lambda: member.section("profile")["dropped"], 40, "a full disk")
        assert "No space left" in member.section("profile")["error"], "why"
        for errors in (3, 5):
            set_errors(lab, errors)
            wait_for_errors(lab, errors)
        # It ends before its disk does.
        member.end()


# --- the lab -----------------------------------------------------------------------

def test_lab_with_agents_names_them_and_ends_them(scratch):
    net = fat_tree(scratch, HOSTS, "--radix", "6")
    with Lab(net, sms=[SM], agents=3) as lab:
        wait_until_settled(lab, 3)
        report = lab.status()
        assert sorted(row["node"] for row in report["agents"]) == sorted(agents(lab)), \
            "names"
        assert [row["alive"] for row in [*report["agents"], report["broker"]]] == \
            [True] * 4, "what lives"
        for row in report["agents"]:
            succeeded(triadctl("--socket", row["control_socket"], "status"))
        pids = [row["pid"] for row in report["agents"]]
        socket.create_connection(("127.0.0.1", report["broker"]["port"]), 10).close()
        lab.down()
        assert [pid for pid in pids if process.record_of(pid)] == [], "agents that live"
        report = lab.status()
        assert [row["alive"] for row in [*report["agents"], report["broker"]]] == \
            [False] * 4, "what lives"


def test_lab_with_too_many_agents_is_refused(scratch):
    net = fat_tree(scratch, HOSTS, "--radix", "6")
    for n, why in ((HOSTS, "5 hosts without an SM"), (9, "ibsim serves 9")):
        refused = lab_command("up", "--dir", scratch.folder() / "lab", "--net", net, "--sm",
                              SM, "--builddir", BUILDDIR, "--agents", n)
        failed(refused, 2, why)
