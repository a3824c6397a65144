# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What users see of elections, on one SM that is alone by configuration: commands, status,
metrics, and what they do to OpenSM."""

import contextlib
import os
import re
import signal
import subprocess
import time
import urllib.request

import pytest

from checks import failed, lines_mention, mentions, stopped, succeeded, wait_until
from labs import BUILDDIR
from triadlab.tcp_ports import free_port
from triadlib import ask, ask_json, log_has, status, triad_lab

OWN_PRIORITY = 5
OPENSM_CONF = f"sm_priority {OWN_PRIORITY}\n"
NOBODY = "0x00000000000000aa"


def election_lab(scratch, more="", folder=None, **options):
    """'more' are lines of [election]."""
    return triad_lab(f"[election]\nenabled = true\ncluster = none\n"
                     f"state_dir = {folder or scratch.folder()}\n{more}",
                     opensm_conf=OPENSM_CONF, **options)


def report(lab):
    return ask_json(lab, "election")


def wait_for(lab, predicate, what):
    def is_so():
        answer = report(lab)
        return answer if predicate(answer) else None
    return wait_until(is_so, 20, what)


def wait_for_permission(lab):
    return wait_for(lab, lambda it: it["may_enforce"], "permission to enforce")


def wait_for_reason(lab, word):
    return wait_for(lab, lambda it: word in it["reasons"], f"the reason {word}")


def sm_priority(lab):
    found = re.search(r"priority (\d+)", lab.run("sminfo").stdout)
    return int(found[1]) if found else None


def wait_for_priority(lab, priority):
    wait_until(lambda: sm_priority(lab) == priority, 20, f"SM priority {priority}")


# --- who may enforce ---------------------------------------------------------


def test_trace_follows_rotation(scratch):
    path = scratch.folder() / "trace"
    with election_lab(scratch, f"trace_file = {path}\n") as lab:
        wait_for_permission(lab)
        wait_until(path.exists, 10, "the trace")
        path.rename(path.with_suffix(".old"))
        # Its deadline moves again and again.
        wait_until(lambda: path.exists() and "given" in path.read_text(encoding="utf-8"),
                   20, "the trace, opened anew")
        path.unlink()
        wait_until(path.exists, 20, "the trace, made anew")
        os.truncate(path, 99_999_990)  # it takes no room on the disk
        wait_until(path.with_suffix(".1").exists, 20, "the trace, put aside")


@pytest.mark.plain
@pytest.mark.row("E1", "E8")
def test_election_alone_becomes_master_and_may_enforce(scratch):
    with election_lab(scratch) as lab:
        answer = wait_for_permission(lab)
        assert (answer["enabled"], answer["cluster"], answer["state"]) == \
            (True, "none", "MASTER"), "election"
        assert (answer["term"], answer["reasons"]) == (1, []), "term, reasons"
        assert (answer["master"], answer["holder"]) == (answer["id"],) * 2, "who"
        assert 0 < answer["deadline_ms"] <= 400, answer["deadline_ms"]
        assert (answer["quorate"], answer["members_here"], answer["votes_needed"]) == \
            (True, 1, 1), "quorum"
        member, = answer["members"]
        assert (member["id"], member["self"], member["able"], member["witness"]) == \
            (answer["id"], True, True, False), "member"
        assert member["vote"] is True, "its own vote"
        assert "IS_CONF_MANAGER PORTS_OK IS_MASTER" in member["priority_text"]
        assert (answer["sm_priority"], answer["own_sm_priority"]) == \
            (15, OWN_PRIORITY), "SM priorities"
        wait_for_priority(lab, 15)


def test_election_text_says_who_and_for_how_long(scratch):
    with election_lab(scratch) as lab:
        guid = wait_for_permission(lab)["id"]
        text = ask(lab, "election")
        for pattern in (rf"port GUID +{guid}\n", r"state +MASTER\n",
                        rf"SM priority +15 \(without elections: {OWN_PRIORITY}\)\n",
                        r"may enforce +yes, in term 1, for \d+ ms more\n",
                        rf"has the lease +{guid} \(this one\)\n",
                        r"quorum +yes: 1 member here, 1 vote needed\n",
                        rf"{guid} this one +MASTER +yes "):
            assert re.compile(pattern).search(text), "election"
        assert "forged" not in text, text


def test_election_off_says_how_to_turn_it_on():
    with triad_lab(opensm_conf=OPENSM_CONF) as lab:
        assert "election.enabled true" in " ".join(ask(lab, "election").split()), "election"
        answer = report(lab)
        assert (answer["enabled"], answer["state"], answer["may_enforce"]) == \
            (False, None, False), "JSON"
        assert "off" in answer["reasons"], "reasons"
        assert status(lab)["election"]["state"] == "off", "status"
        for words in (("priority", "3"), ("confirm",), ("blacklist",),
                      ("blacklist", "add", NOBODY), ("verdict", "yes")):
            failed(lab.run("triadctl", "port", *words), 1, "elections are off")
        assert sm_priority(lab) == OWN_PRIORITY, "SM priority"


def test_election_switched_off_gives_opensm_its_priority_back(scratch):
    with election_lab(scratch) as lab:
        wait_for_permission(lab)
        wait_for_priority(lab, 15)
        ask(lab, "set", "election.enabled", "false")
        assert report(lab)["may_enforce"] is False, "permission at once"
        wait_for_priority(lab, OWN_PRIORITY)
        ask(lab, "set", "election.enabled", "true")
        assert wait_for_permission(lab)["term"] == 2, "term"
        wait_for_priority(lab, 15)


def test_election_state_survives_a_restart(scratch):
    folder = scratch.folder()
    with election_lab(scratch, folder=folder) as lab:
        own = wait_for_permission(lab)["id"]
        ask(lab, "port", "blacklist", "add", NOBODY)
        assert os.listdir(folder) == [f"election-{own}.state"], "files"
    with election_lab(scratch, folder=folder) as lab:
        answer = wait_for_permission(lab)
        assert (answer["term"], answer["blacklist"]) == (2, [NOBODY]), "state"


def test_election_state_not_writable_reported(scratch):
    with election_lab(scratch, folder="/proc/nowhere") as lab:
        answer = wait_for(lab, lambda it: it["counters"]["store_failed"], "a failure")
        assert "election.state_dir" in answer["trouble"], "trouble"
        assert "election.state_dir" in status(lab)["election"]["trouble"], "status"
        assert "state not written" in ask(lab, "election"), "text"


def refused_by_time(path):
    """Whether a lease ran out since the beginning, in the trace: a reader of the port's
    state must not keep the election from renewing it."""
    return [line for line in path.read_text(encoding="ascii").splitlines()
            if "refused" in line and "expired" in line]


def test_election_local_port_not_readable_does_not_wait(scratch):
    """Files of sysfs hang, as when a HCA's firmware does: here ibsim has them."""
    path = scratch.folder() / "trace"
    with election_lab(scratch, f"lease = 3000\ntrace_file = {path}\n") as lab:
        wait_for_permission(lab)
        with stopped(lab.status()["simulator"]["pid"]):
            answer = wait_for(lab, lambda it: "ports_down" in it["reasons"],
                              "a port that counts as bad")
            assert not refused_by_time(path), "the lease until then"
            assert "local ports" in answer["trouble"], "trouble"
            log_has(lab, "reading their state under /sys/class/infiniband")
        wait_for_permission(lab)
        log_has(lab, "local ports state read again")
        assert report(lab)["trouble"] is None, "trouble in the end"


def test_election_that_ran_late_reported_and_counted(scratch):
    path = scratch.folder() / "trace"
    with election_lab(scratch, f"trace_file = {path}\n") as lab:
        wait_for_permission(lab)
        with stopped(lab.status()["sms"][0]["pid"]):
            deadline_us = int(path.read_text(encoding="ascii").split()[-1])
            wait_until(lambda: time.clock_gettime(time.CLOCK_BOOTTIME) * 1e6 >
                       deadline_us + 1e6, 20, "a lease that is over")
        wait_until(lambda: refused_by_time(path), 20, "the word of it in the trace")
        wait_for_permission(lab)
        counters = report(lab)["counters"]
        assert counters["late"] >= 1 and counters["longest_late_ms"] >= 1000, counters
        log_has(lab, "late lease 300 ms")
        assert "ran late" in ask(lab, "election"), "text"


# --- what operators tell it --------------------------------------------------

@pytest.mark.row("E6")
def test_blacklist_withdraws_permission_and_gives_it_back(scratch):
    with election_lab(scratch) as lab:
        own = wait_for_permission(lab)["id"]
        assert "empty" in ask(lab, "port", "blacklist"), "the list"
        ask(lab, "port", "blacklist", "add", own)
        answer = report(lab)
        assert (answer["may_enforce"], answer["blacklist"]) == (False, [own]), "at once"
        assert "blacklisted" in answer["reasons"], "reasons"
        ask(lab, "set", "port.mode", "enforce")
        ask(lab, "set", "port.enabled", "true")
        wait_until(lambda: "may not enforce, blacklisted" in lab.triad("health").stdout,
                   20, "the port manager's line")
        assert "triadctl port blacklist remove" in " ".join(ask(lab, "election").split()), \
            "advice"
        assert ask(lab, "port", "blacklist") == f"{own}  this one\n", "the list"
        failed(lab.run("triadctl", "port", "blacklist", "add", own), 1, "already")
        ask(lab, "port", "blacklist", "remove", own)
        assert wait_for_permission(lab)["term"] > 1
        failed(lab.run("triadctl", "port", "blacklist", "remove", own), 1, "not on it")


def test_blacklist_of_somebody_not_heard_reported(scratch):
    with election_lab(scratch) as lab:
        wait_for_permission(lab)
        process = lab.run("triadctl", "port", "blacklist", "add", NOBODY)
        succeeded(process)
        assert mentions(process.stderr, "no SM heard"), "note"
        assert report(lab)["may_enforce"] is True, "permission"


def test_blacklist_full_reported(scratch):
    with election_lab(scratch) as lab:
        wait_for_permission(lab)
        for i in range(32):
            ask(lab, "port", "blacklist", "add", hex(i + 1))
        assert len(report(lab)["blacklist"]) == 32, "listed"
        failed(lab.run("triadctl", "port", "blacklist", "add", "0x99"), 1, "takes one off")
        ask(lab, "port", "blacklist", "remove", "0x7")
        ask(lab, "port", "blacklist", "add", "0x99")


def test_blacklist_of_the_file_stays_as_it_was_edited_by_hand(scratch):
    with election_lab(scratch, "blacklist = 0x7; 0x8\n") as lab:
        wait_for_permission(lab)
        ask(lab, "port", "blacklist", "remove", "0x7")
        ask(lab, "set", "election.check_max_age", "20")
        ask(lab, "reload")
        assert ask(lab, "port", "blacklist").split() == ["0x0000000000000008"], "listed"
        ask(lab, "set", "election.blacklist", "0x7")
        assert "0x0000000000000007" in ask(lab, "port", "blacklist"), "listed anew"


@pytest.mark.row("E13")
def test_priority_changes_what_the_others_hear(scratch):
    with election_lab(scratch) as lab:
        assert wait_for_permission(lab)["preference"] == 8, "preference"
        ask(lab, "port", "priority", "3")
        answer = report(lab)
        assert answer["preference"] == 3, "preference"
        assert "preference 3" in answer["members"][0]["priority_text"], "priority"
        ask(lab, "set", "election.check_max_age", "20")
        assert report(lab)["preference"] == 3, "preference after another key was set"
        ask(lab, "reload")
        assert report(lab)["preference"] == 8, "preference after a reload"


def test_port_that_is_not_there_is_reported_and_its_end_too(scratch):
    with election_lab(scratch) as lab:
        own = wait_for_permission(lab)["id"]
        assert report(lab)["port_absent"] is None
        ask(lab, "set", "election.ports", f"{own}; 0xbad")
        wait_for(lab, lambda it: it["port_absent"] == "0x0000000000000bad", "a bad GUID")
        assert "not on this machine" in ask(lab, "election"), "the text"
        assert mentions(lab.log(), "no port 0x0000000000000bad"), "the log"
        ask(lab, "set", "election.ports", own)
        wait_for(lab, lambda it: it["port_absent"] is None, "no bad GUID")


def test_confirm_nobody_missing_refused(scratch):
    with election_lab(scratch) as lab:
        wait_for_permission(lab)
        failed(lab.run("triadctl", "port", "confirm"), 1, "nobody is missing")


# --- the external check ------------------------------------------------------

@pytest.mark.row("E6")
def test_verdict_needed_withholds_and_gives_permission(scratch):
    with election_lab(scratch, "check_required = true\n") as lab:
        assert wait_for_reason(lab, "check_missing")["check"] == "missing", "check"
        ask(lab, "port", "verdict", "yes")
        assert wait_for_permission(lab)["check"] == "yes", "check"
        ask(lab, "port", "verdict", "no")
        wait_for_reason(lab, "check_no")
        ask(lab, "port", "verdict", "yes")
        wait_for_permission(lab)
        ask(lab, "set", "election.check_max_age", "1")
        wait_for_reason(lab, "check_missing")


def test_verdict_not_needed_reported(scratch):
    with election_lab(scratch) as lab:
        wait_for_permission(lab)
        assert "does not count" in ask(lab, "port", "verdict", "no"), "answer"
        assert report(lab)["may_enforce"] is True, "permission"


@contextlib.contextmanager
def helper(lab, path, *words):
    """'triadctl election check' beside the lab, with its standard error in a file; ends it
    by SIGTERM."""
    command = [BUILDDIR / "triadctl", "--socket",
               lab.folder / "sm-0" / "triad.sock", "election", "check", *words]
    with open(path, "wb") as stream, \
            subprocess.Popen([str(word) for word in command], stderr=stream) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)


@pytest.mark.row("E6")
def test_check_helper_reports_what_the_command_says(scratch):
    flag, errors = scratch.folder() / "fine", scratch.folder() / "errors"
    with election_lab(scratch, "check_required = true\n") as lab:
        with helper(lab, errors, "--every", 1, "--", "test", "-e", flag) as process:
            wait_for_reason(lab, "check_no")
            flag.touch()
            wait_for_permission(lab)
            flag.unlink()
            wait_for_reason(lab, "check_no")
        assert process.returncode == 0, "exit status"
        assert lines_mention(
            errors.read_text(), "election check: no status 1", "election check: yes status 0",
            "election check: no status 1"), "standard error"


# --- configuration -----------------------------------------------------------

def test_expected_file_generation_shown_and_mistake_reported(scratch):
    expected = scratch.folder() / "expected.conf"
    with election_lab(scratch) as lab:
        assert wait_for_permission(lab)["generation"] == 0, "generation without a file"
        expected.write_text("# ports\ngeneration 7\n", encoding="utf-8")
        ask(lab, "set", "port.expected_file", expected)
        wait_until(lambda: report(lab)["generation"] == 7, 10, "the generation")
        assert report(lab)["hash"], report(lab)
        expected.write_text("# ports\n", encoding="utf-8")
        ask(lab, "set", "port.expected_file", expected)
        wait_until(lambda: status(lab)["ports"]["mistakes"], 10, "a mistake")
        assert "generation" in status(lab)["ports"]["mistake"], "the mistake"
        assert report(lab)["generation"] == 7, "the last good one stays"


# --- status and metrics ------------------------------------------------------

def metrics(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as page:
        text = page.read().decode()
    return {name: float(value) for name, value in
            re.findall(r"^(triad_election_\w+) (\S+)$", text, re.MULTILINE)}


def test_status_and_metrics_say_the_same(scratch):
    with election_lab(scratch, triadd=True) as lab:
        wait_for_permission(lab)
        section = status(lab)["election"]
        assert (section["state"], section["may_enforce"], section["reasons"]) == \
            ("MASTER", True, []), "status"
        text = ask(lab, "status", "--all")
        assert re.search(r"may enforce +yes, in term 1", text), "text"
        port = free_port()
        ask(lab, "set", "prometheus.listen", f"127.0.0.1:{port}")
        values = metrics(port)
        for name, value in (("enabled", 1), ("state", 3), ("is_master", 1),
                            ("may_enforce", 1), ("term", 1), ("quorate", 1),
                            ("members", 1), ("leases_total", 1),
                            ("leases_lost_total", 0), ("datagrams_forged_total", 0)):
            assert values[f"triad_election_{name}"] == value, name
        ask(lab, "set", "election.enabled", "false")
        values = metrics(port)
        assert (values["triad_election_state"], values["triad_election_may_enforce"]) == \
            (0, 0), "switched off"
