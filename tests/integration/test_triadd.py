# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""triadd beside an OpenSM with Triad: who serves whom when one of the two is not there, hangs
or is started again, and what the SM notices of it."""

import contextlib
import json
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from checks import failed, mentions, succeeded, wait_until
from labs import BUILDDIR, SRCDIR, TRIADD, need
from triadlab.tcp_ports import free_address
from triadlib import QUICK, ask, ask_json, health_findings, status, triad_lab, wait_for_sweep
from weblib import get, get_json

PROGRAM = BUILDDIR / "triadd"
# A report is missed after this (service/served.h), and some more.
SILENT_S = 25


def conf(page, metrics=""):
    return f"{QUICK}[web]\nlisten = {page}\n[prometheus]\nlisten = {metrics}\n"


def fetch(address):
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=20) as answer:
        return answer.read().decode()


def triadd_of(lab):
    return lab.state().triadds[0]


def problem_of(address, path="/api/v1/health"):
    """The status of HTTP, and what the answer says."""
    response = get(address, path)
    return response.status, json.loads(response.body).get("detail", "")


@pytest.fixture(scope="module")
def lab():
    """Cases leave it as it was."""
    made = triad_lab(conf(free_address(), free_address()))
    with made:
        made.page, made.metrics = (status(made)[it]["listen"] for it in ("web", "prometheus"))
        wait_for_sweep(made)
        yield made


# --- what the SM has of it --------------------------------------------------------

@pytest.mark.row("N11")
def test_opensm_itself_listens_nowhere(lab):
    pid = lab.status()["sms"][0]["pid"]
    sockets = {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")
               if os.path.islink(f"/proc/{pid}/fd/{fd}")}
    with open(f"/proc/{pid}/net/tcp", encoding="ascii") as table:
        listening = [line.split() for line in table if line.split()[3] == "0A"]
    assert not [row for row in listening if f"socket:[{row[9]}]" in sockets], "TCP"
    assert get(lab.page, "/api/v1/health").status == 200, "and yet there is a page"


def test_what_changes_is_refused(lab):
    """Whoever may ask triadd's socket may read, and nothing else."""
    import control
    socket = triadd_of(lab).socket
    for words in (("set", "perfmgr.enabled", "false"), ("reload",), ("perf", "clear")):
        process = control.request(socket, *words)
        assert process.returncode != 0, words
    assert status(lab)["perfmgr"]["state"] != "disabled", "the PerfManager"
    assert succeeded(control.request(socket, "health", "--json")).stdout, "a reader's"


def test_many_scrapers_share_an_answer(lab):
    before = ask_json(lab, "status")["prometheus"]["answers"]
    texts = []
    import threading
    threads = [threading.Thread(target=lambda: texts.append(fetch(lab.metrics)))
               for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 8 and all(text.endswith("\n") for text in texts), "texts"
    wait_until(lambda: status(lab)["prometheus"]["answers"] >= before + 8, 10, "a report")


# --- triadd is not there -----------------------------------------------------------

def test_killed_and_started_again(lab):
    it = triadd_of(lab)
    os.kill(it.process.pid, signal.SIGKILL)
    with pytest.raises(ConnectionError):
        get(lab.page, "/")
    ask(lab, "perf", "sweep")
    # What it did is not known to be so any more.
    wait_until(lambda: health_findings(lab, "triadd heard"), SILENT_S, "a finding")
    assert status(lab)["web"]["listen"] is None, "status"
    process = lab.triad("set", "web.max_clients", "50")
    assert "triadd" in process.stderr, "who serves it is not there"
    other = subprocess.Popen([PROGRAM, "--socket", it.socket], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: status(lab)["web"]["listen"] == lab.page, 20, "it serves again")
        assert not health_findings(lab, "triadd heard"), "the end of the finding"
        assert get_json(lab.page, "/api/v1/version"), "an answer"
    finally:
        other.terminate()
        assert other.wait(20) == 0, "its end"
        lab.start_triadd()
        wait_until(lambda: status(lab)["web"]["listen"] == lab.page, 20, "the lab's own")


def test_stopped_one_holds_up_nobody(lab):
    pid = triadd_of(lab).process.pid
    with open(f"/proc/{pid}/status", encoding="ascii"):
        pass
    os.kill(pid, signal.SIGSTOP)
    try:
        before = status(lab)["perfmgr"]["sweeps"]
        ask(lab, "perf", "sweep")
        wait_until(lambda: status(lab)["perfmgr"]["sweeps"] > before + 1, 20, "sweeps")
        found = wait_until(lambda: health_findings(lab, "triadd heard"), SILENT_S, "a finding")
        # To start what runs would do nothing.
        assert mentions(found[0]["advice"], "hangs systemctl restart triadd"), found
    finally:
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: not health_findings(lab, "triadd heard"), 20, "its end")
    assert get_json(lab.page, "/api/v1/version"), "an answer"


# --- OpenSM is not there -----------------------------------------------------------

def test_opensm_that_ends_and_starts_again(scratch):
    need(TRIADD)
    page, metrics = free_address(), free_address()
    with triad_lab(conf(page, metrics)) as lab:
        wait_for_sweep(lab)
        lab.host("kill", 0)
        code, detail = wait_until(
            lambda: (found := problem_of(page))[0] == 502 and found, 20, "a problem")
        assert "OpenSM" in detail, detail
        with pytest.raises(urllib.error.HTTPError) as error:
            fetch(metrics)
        assert error.value.code == 502 and "OpenSM" in error.value.read().decode(), code
        assert get(page, "/").status == 200, "the page is there"
        lab.host("start", 0)
        wait_until(lambda: problem_of(page)[0] == 200, 60, "answers again")
        wait_until(lambda: status(lab)["web"]["listen"] == page, 20, "a report")
        wait_for_sweep(lab)
        assert "triad_sweeps_total" in fetch(metrics), "metrics"


def test_plugin_that_serves_by_itself_gets_the_addresses(scratch):
    """As one of an earlier release does: triadctl's socket is there, triadd's is not."""
    page = free_address()
    with triad_lab(conf(page)) as lab:
        os.unlink(triadd_of(lab).socket)
        os.kill(triadd_of(lab).process.pid, signal.SIGKILL)
        log = scratch.folder() / "log"
        with open(log, "w", encoding="utf-8") as errors, contextlib.ExitStack() as stack:
            process = subprocess.Popen([PROGRAM, "--socket", triadd_of(lab).socket],
                                       stderr=errors)
            stack.callback(process.wait, 20)
            stack.callback(process.terminate)
            wait_until(lambda: "earlier release" in log.read_text(encoding="utf-8"), 20, "why")
            with pytest.raises(ConnectionError):
                get(page, "/")
            # It was the moment before one of this release had opened its sockets.
            lab.host("kill", 0)
            lab.host("start", 0)
            wait_until(lambda: status(lab)["web"]["listen"] == page, 60, "it serves")
            assert get_json(page, "/api/v1/version"), "an answer"


def test_it_waits_for_a_socket(scratch):
    need(TRIADD)
    folder = scratch.folder()
    log = folder / "log"
    with open(log, "w", encoding="utf-8") as errors, contextlib.ExitStack() as stack:
        process = subprocess.Popen([PROGRAM, "--socket", folder / "none.triadd"], stderr=errors)
        stack.callback(process.wait, 20)
        stack.callback(process.terminate)
        wait_until(lambda: "isn't running here" in log.read_text(encoding="utf-8"), 10, "why")
        time.sleep(2.5)
        assert log.read_text(encoding="utf-8").count("isn't running") == 1, "once"
    assert process.returncode == 0, "its end"


def test_who_may_not_ask_is_told(lab, scratch):
    """An ordinary user who is not in the group."""
    log = scratch.folder() / "log"
    with open(log, "w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [PROGRAM, "--socket", triadd_of(lab).socket], stderr=errors, user=65534,
            group=65534, extra_groups=[])
    try:
        wait_until(lambda: log.read_text(encoding="utf-8"), 10, "a line")
    finally:
        process.terminate()
        process.wait(20)
    text = log.read_text(encoding="utf-8")
    assert "may not ask" in text or "Permission denied" in text, text


# --- the command line ---------------------------------------------------------------

def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False)


def test_manual_names_every_option_of_the_help():
    need(TRIADD)
    options = re.findall(r"^  --([\w-]+)", succeeded(run("--help")).stdout, re.MULTILINE)
    assert len(options) == 6, options
    manual = (SRCDIR / "docs" / "triadd.8").read_text(encoding="utf-8")
    for option in options:
        escaped = re.escape(option.replace("-", "\\-"))
        assert re.search(rf"^\.B[IR]? \\-\\-{escaped}\b", manual, re.MULTILINE), option


def test_command_line():
    need(TRIADD)
    assert "--socket" in succeeded(run("--help")).stdout, "help"
    assert run("--version").stdout.startswith("triadd "), "version"
    failed(run("--port-guid", "x"), 2, "GUID")
    failed(run("--port-guid", "0x1", "--socket", "x"), 2, "choose one")
    failed(run("more"), 2, "options alone")
    failed(run("--bla"), 2, "--help")
