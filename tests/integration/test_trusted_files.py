# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Files that decide what is done are refused where others could have written them, with
what to type, and taken when that was mended; files that are written to lead nowhere else.
tests/unit/lib/test_file.c has all that can be wrong with a path."""

import contextlib
import os

import pytest

import portlib
from checks import failed, succeeded, wait_until
from labs import Lab
from test_agent import Agent
from test_alerts import CONF as ALERTS
from test_alerts import perf_set, sweep
from test_election_commands import election_lab, report, wait_for, wait_for_permission
from test_http import Server, bearer, token_file
from test_path_service import policy_lab
from test_profile import Driver
from triadlib import NET, QUICK, ask, log_has, status, triad_lab, wait_for_sweep

NOBODY = 65534


def window(lab):
    return status(lab)["configuration"]["values"]["perfmgr.window"]


@contextlib.contextmanager
def umask(mode):
    before = os.umask(mode)
    try:
        yield
    finally:
        os.umask(before)


# --- what is read ------------------------------------------------------------

@pytest.mark.plain
@pytest.mark.row("N13")
def test_conf_of_others_refused_at_reload_until_mended():
    with triad_lab() as lab:
        conf = lab.folder / "sm-0" / "triad.conf"
        before = window(lab)
        text = conf.read_text().replace("[perfmgr]\n", "[perfmgr]\nwindow = 7\n")
        conf.write_text(text, encoding="utf-8")
        for mode, mend in ((0o666, f"chmod go-w {conf}"), (0o620, f"chmod go-w {conf}")):
            conf.chmod(mode)
            failed(lab.run("triadctl", "reload"), 1, mend)
            assert window(lab) == before, "what was in force"
        conf.chmod(0o644)
        os.chown(conf, NOBODY, -1)
        failed(lab.run("triadctl", "reload"), 1, f"{NOBODY} chown root")
        os.chown(conf, 0, -1)
        conf.parent.chmod(0o777)
        failed(lab.run("triadctl", "reload"), 1, f"chmod go-w {conf.parent}")
        assert window(lab) == before, "what was in force"
        conf.parent.chmod(0o755)
        ask(lab, "reload")
        assert window(lab) == 7, "the file that was mended"


def test_agent_conf_of_others_refused(scratch):
    with Lab(NET, plugin="no") as lab:
        with umask(0):
            agent = Agent(scratch, lab, QUICK)
        assert agent.wait() == 2, "exit status"
        assert f"chmod go-w {agent.conf}" in agent.log(), agent.log()


def test_expected_file_of_others_not_taken_until_mended():
    with portlib.managed(port={"mode": "observe"}, state="observing") as ports:
        first = ports.status()["generation"]
        path = ports.file_of(0)
        with umask(0):
            ports.expected.write(path)
        log_has(ports.lab, f"chmod go-w {path}")
        assert ports.status()["generation"] == first, "what was in force"
        log = ports.lab.log()
        path.chmod(0o644)
        ports.wait_for_generation(first + 1)
        assert log.count(f"chmod go-w {path}") == 1, "said again and again"


def test_token_of_others_not_taken_until_mended(scratch):
    path = token_file(scratch)
    token = path.read_text().strip()
    server = Server(scratch, token=path)
    path.write_text("another-token-of-length\n")
    path.chmod(0o620)
    wait_until(lambda: server.ask(headers=bearer(token)).status == 200 and
               f"chmod go-w {path}" in server.log(), 10, "a complaint")
    path.chmod(0o600)
    wait_until(lambda: server.ask(headers=bearer("another-token-of-length")).status == 200,
               10, "the new token")


def test_policy_of_others_not_loaded_until_mended(scratch):
    lab, path = policy_lab(scratch)
    path.chmod(0o664)
    with lab:
        failed(lab.run("triadctl", "reload"), 1, f"chmod go-w {path}")
        path.chmod(0o644)
        succeeded(lab.run("triadctl", "reload"))


# --- what an election remembers ----------------------------------------------

@pytest.mark.row("E12")
def test_state_dir_of_others_gives_no_vote_until_mended(scratch):
    folder = scratch.folder()
    folder.chmod(0o777)
    with election_lab(scratch, folder=folder) as lab:
        wait_for(lab, lambda it: it["counters"]["store_failed"] >= 3, "failures")
        assert not report(lab)["may_enforce"], "a term that isn't on disk"
        assert "gives no vote" in report(lab)["trouble"], "trouble"
        log_has(lab, f"chmod go-w {folder}")
        folder.chmod(0o755)
        wait_for_permission(lab)
        log_has(lab, "written again votes")


@pytest.mark.row("E12")
def test_state_dir_that_takes_nothing_gives_no_vote_until_it_does(scratch):
    folder = scratch.folder() / "not" / "yet"
    with election_lab(scratch, folder=folder) as lab:
        wait_for(lab, lambda it: it["counters"]["store_failed"] >= 3, "failures")
        assert not report(lab)["may_enforce"], "a term that isn't on disk"
        folder.parent.mkdir()
        wait_for_permission(lab)


# --- what is written ---------------------------------------------------------

def links(path, precious):
    """What could lead elsewhere, made and undone."""
    yield lambda: path.symlink_to(precious), "symbolic link"
    yield lambda: os.link(precious, path), "hard link"


def test_alerts_lead_nowhere_else(scratch):
    folder = scratch.folder()
    path, precious = folder / "alerts.json", folder / "precious"
    precious.write_text("data", encoding="utf-8")
    with triad_lab(f"{ALERTS}file = {path}\n") as lab:
        wait_for_sweep(lab)
        count = 0
        for make, reason in links(path, precious):
            make()
            count += 60
            perf_set(lab, "Switch1", 3, SymbolErrorCounter=count)
            sweep(lab)
            sweep(lab)
            log_has(lab, f"{path} {reason}" if "symbolic" in reason else reason)
            # Raised and cleared: a line that came later would make the file.
            wait_until(lambda n=count // 30: status(lab)["alerts"]["file_dropped"] == n,
                       20, "both lines")
            path.unlink()
            wait_until(lambda: sweep(lab) or not status(lab)["alerts"]["active"], 30,
                       "calm")
        assert precious.read_text() == "data", "what the links led to"
        perf_set(lab, "Switch1", 3, SymbolErrorCounter=600)
        sweep(lab)
        wait_until(path.exists, 20, "the file")
        assert path.stat().st_mode & 0o7777 == 0o640, "its mode"


def test_trace_leads_nowhere_else(scratch):
    folder = scratch.folder()
    path, precious = folder / "trace", folder / "precious"
    precious.write_text("data", encoding="utf-8")
    for make, reason in links(path, precious):
        make()
        with election_lab(scratch, f"trace_file = {path}\n") as lab:
            wait_for_permission(lab)
            log_has(lab, reason)
            path.unlink()
            ask(lab, "set", "election.trace_file", "")
            ask(lab, "set", "election.trace_file", str(path))
            assert path.stat().st_mode & 0o7777 == 0o644, "its mode"
        path.unlink()
    assert precious.read_text() == "data", "what the links led to"


def test_profile_leads_nowhere_else(scratch):
    folder = scratch.folder()
    path, precious = folder / "profile.csv.zst", folder / "precious"
    precious.write_bytes(b"")
    driver = Driver(scratch)
    driver.configure(path)
    for make, reason in links(path, precious):
        make()
        assert driver.sweep() != 0, reason
        assert reason in driver.status()["reason"], "reason"
        path.unlink()
    assert precious.read_bytes() == b"", "what the links led to"
    assert driver.sweep() == 0, "errno after that"
    assert path.stat().st_mode & 0o7777 == 0o640, "its mode"
