# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Who may read and who may change: at the control socket, in OpenSM's console, and at
triad-agent."""

import contextlib
import grp
import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from checks import failed, mentions, succeeded, wait_until
from ctllib import TRIADCTL
from labs import Lab
from test_agent import Agent
from triadlib import NET, QUICK, ask, log_has, status, triad_lab, wait_for_console

NOBODY = 65534
NOGROUP = grp.getgrgid(NOBODY).gr_name
CONSOLE = f"{QUICK}[console]\nenabled = true\n"
HERE = str(Path(__file__).parent)

# Types lines into a loopback console, and prints what was answered.
TYPE = """
import socket, sys
family, host, port, *lines = sys.argv[1:]
user = socket.socket(getattr(socket, family))
user.settimeout(20)
user.connect((host, int(port)))
def answer():
    text = ""
    while not text.endswith("OpenSM $ "):
        text += (piece := user.recv(65536)).decode()
        if not piece:
            sys.exit("closed after " + text)
        if text.endswith("(y/n)? "):
            user.sendall(b"y\\n")
    return text.removesuffix("OpenSM $ ")
answer()
for line in lines:
    user.sendall(line.encode() + b"\\n")
    print(answer(), end="")
"""

# Asks a control socket, and ends with the status that it gives.
ASK = """
import sys
sys.path.insert(0, sys.argv[1])
import control
answer = control.request(*sys.argv[2:])
print(answer.stdout, end="")
print(answer.stderr, end="", file=sys.stderr)
sys.exit(answer.returncode)
"""

# Connects so many times, says so, and waits for the end of its input.
HOLD = """
import socket, sys
held = []
for _ in range(int(sys.argv[2])):
    held.append(client := socket.socket(socket.AF_UNIX))
    client.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def python_of(uid, code, *arguments, gid=NOBODY, groups=(), **options):
    """A Popen of a program that another user runs."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], text=True, user=uid, group=gid,
        extra_groups=list(groups), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        **{"stdin": subprocess.DEVNULL, **options})


def ended(process):
    out, errors = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, errors)


# --- the console -------------------------------------------------------------

def console_port(lab):
    wait_for_console(lab)
    return lab.status()["sms"][0]["console_port"]


def typed(lab, uid, *lines, family="AF_INET", host="127.0.0.1"):
    return succeeded(ended(python_of(uid, TYPE, family, host, console_port(lab),
                                     *lines))).stdout


def window(lab):
    return status(lab)["configuration"]["values"]["perfmgr.window"]


@pytest.mark.row("N13")
def test_console_any_user_reads_and_changes_nothing(scratch):
    theirs = scratch.folder() / "expected.csv"
    with triad_lab(CONSOLE, console="loopback") as lab:
        before = window(lab)
        assert "Configuration" in typed(lab, NOBODY, "triad status")
        assert "Usage: triad set" in typed(lab, NOBODY, "triad set --help")
        assert "Switch1" in typed(lab, NOBODY, "triad nodes")
        assert "default  " in typed(lab, NOBODY, "triad get perfmgr.window")
        assert mentions(typed(lab, NOBODY, "triad config diff"), "in force")
        assert "answers   Triad " in typed(lab, NOBODY, "triad version")
        for line in ("triad set perfmgr.window 7", f"triad set port.expected_file {theirs}",
                     "triad set port.mode enforce", f"triad set profile.file {theirs}",
                     "triad perf clear totals --all", "triad reload", "triad qos plan /etc/shadow"):
            answer = typed(lab, NOBODY, line)
            assert "refused" in answer, line
            assert f"user {NOBODY} may only read" in answer, line
            assert mentions(answer, "root 'triadctl"), line
        assert window(lab) == before, "what a user typed was done"
        assert not theirs.exists(), "a file was made"
        log_has(lab, f"'triad set' user {NOBODY} refused")
        assert "perfmgr.window = 9" in typed(lab, 0, "triad set perfmgr.window 9")
        assert window(lab) == 9, "what root typed was not done"


def test_console_ipv4_in_ipv6_user_known():
    mapped = {"family": "AF_INET6", "host": "::ffff:127.0.0.1"}
    with triad_lab(CONSOLE, console="loopback") as lab:
        assert "refused" in typed(lab, NOBODY, "triad set perfmgr.window 7", **mapped)
        assert "perfmgr.window = 9" in typed(lab, 0, "triad set perfmgr.window 9",
                                             **mapped)


def test_console_user_who_hangs_up_at_once_changes_nothing():
    """The kernel says that a socket without a process is root's."""
    with triad_lab(CONSOLE, console="loopback") as lab:
        before, port = window(lab), console_port(lab)
        code = ("import socket\nfor _ in range(50):\n"
                f" with socket.create_connection(('127.0.0.1', {port})) as user:\n"
                "  user.sendall(b'triad set perfmgr.window 7\\n' * 20)\n")
        succeeded(ended(python_of(NOBODY, code)))
        assert "SM State" in typed(lab, 0, "status"), "the console after that"
        assert window(lab) == before, "what a user typed was done"


def test_console_admin_group_may_change_until_it_is_taken_away():
    with triad_lab(CONSOLE, console="loopback") as lab:
        line = "triad set perfmgr.window 7"
        assert "refused" in typed(lab, NOBODY, line)
        ask(lab, "set", "control.admin_group", NOGROUP)
        assert "perfmgr.window = 7" in typed(lab, NOBODY, line)
        ask(lab, "set", "control.admin_group", "")
        assert "refused" in typed(lab, NOBODY, line)


# --- the control socket ------------------------------------------------------

def path_of(lab):
    """Of the control socket, in folders that let everybody pass."""
    for folder in (lab.folder, lab.folder / "sm-0"):
        folder.chmod(0o755)
    return lab.folder / "sm-0" / "triad.sock"


def asked(path, *words, uid=NOBODY, **options):
    return ended(python_of(uid, ASK, HERE, path, *words, **options))


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


@pytest.mark.plain
@pytest.mark.row("N13")
def test_socket_group_reads_admin_group_changes():
    with triad_lab() as lab:
        path = path_of(lab)
        failed(asked(path, "status"), 1, "Permission denied")
        ask(lab, "set", "control.group", NOGROUP)
        assert mode_of(path) == 0o666, "mode of a shared socket"
        assert "Configuration" in succeeded(asked(path, "status")).stdout
        for words in (("set", "perfmgr.window", "7"), ("reload",), ("perf", "clear", "totals", "--all"),
                      ("qos", "plan", "/etc/shadow"),
                      ("perf", "clear", "histograms")):
            failed(asked(path, *words), 1, f"user {NOBODY} may only read")
        ask(lab, "set", "control.admin_group", NOBODY)
        succeeded(asked(path, "set", "perfmgr.window", "7"))
        assert window(lab) == 7, "what the admin group typed"
        ask(lab, "set", "control.admin_group", "")
        ask(lab, "set", "control.group", "")
        assert mode_of(path) == 0o600, "mode of a socket that isn't shared"
        failed(asked(path, "status"), 1, "Permission denied")


def test_socket_groups_besides_the_first_count():
    with triad_lab(f"{QUICK}[control]\ngroup = 54321\n") as lab:
        path = path_of(lab)
        succeeded(asked(path, "status", groups=(12345, 54321)))
        failed(asked(path, "status", groups=(12345,)), 1, "only root, the user")
        log_has(lab, f"user {NOBODY}")
        assert status(lab)["control"]["forbidden"] == 1, "counted"
        failed(asked(path, "reload", groups=(54321,)), 1, "may only read")


def test_socket_group_that_is_not_there_lets_nobody_in():
    with triad_lab(f"{QUICK}[control]\ngroup = no-such-group\n") as lab:
        failed(asked(path_of(lab), "status"), 1, "only root, the user")
        failed(lab.run("triadctl", "set", "control.group", "two words"), 1, "no blank")


def triadctl_of_nobody(scratch, lab):
    """What runs it with words."""
    folder = scratch.folder()
    folder.chmod(0o755)
    program = shutil.copy(TRIADCTL, folder)
    path = path_of(lab)
    return lambda *words: subprocess.run(
        [program, "--socket", path, *words], user=NOBODY, group=NOBODY, extra_groups=[],
        text=True, capture_output=True, timeout=60, check=False)


def test_triadctl_of_reader_refused(scratch):
    with triad_lab(f"{QUICK}[control]\ngroup = {NOGROUP}\n") as lab:
        run = triadctl_of_nobody(scratch, lab)
        succeeded(run("status"))
        process = run("port", "confirm")
        failed(process, 1, "port confirm: refused")
        assert "'triadctl port confirm ...'" in process.stderr, "what to do"


def test_monitoring_by_a_user_without_a_role_is_unknown(scratch):
    """Neither a warning nor nothing at all."""
    with triad_lab(f"{QUICK}[control]\ngroup = no-such-group\n") as lab:
        run = triadctl_of_nobody(scratch, lab)
        for words in (("health",), ("health", "--json"), ("routes", "check")):
            failed(run(*words), 3, "only root, the user")
        process = run("health", "--plugin")
        assert process.returncode == 3, process
        assert process.stdout.startswith("TRIAD UNKNOWN - ") and \
            "only root, the user" in process.stdout, process


# --- places ------------------------------------------------------------------

@contextlib.contextmanager
def held(path, n, uid=NOBODY, **options):
    """Connections of a user's who says nothing."""
    process = python_of(uid, HOLD, path, n, stdin=subprocess.PIPE, **options)
    try:
        assert process.stdout.readline() == "held\n", process.stderr.read()
        yield
    finally:
        process.communicate("", timeout=20)


@pytest.mark.row("N13")
def test_silent_clients_lock_nobody_out():
    """Neither root by root's own, nor root and other readers by one of them."""
    with triad_lab(f"{QUICK}[control]\ngroup = 54321\n") as lab:
        path = path_of(lab)
        with held(path, 64, uid=0):
            succeeded(lab.run("triadctl", "status"))
            assert status(lab)["control"]["displaced"] >= 48, "those who gave way"
        with held(path, 64, groups=(54321,)):
            succeeded(lab.run("triadctl", "status"))
            succeeded(asked(path, "status", uid=NOBODY - 1, groups=(54321,)))
            succeeded(asked(path, "status", groups=(54321,)))


# --- triad-agent -------------------------------------------------------------

def test_agent_same_roles(scratch):
    with Lab(NET, plugin="no") as lab:
        agent = Agent(scratch, lab, f"{QUICK}[log]\nlevel = info\n")
        wait_until(agent.status, 20, "the agent")
        agent.folder.chmod(0o755)
        succeeded(agent.triadctl("set", "control.group", NOGROUP))
        assert json.loads(succeeded(asked(agent.socket, "status", "--json")).stdout)
        failed(asked(agent.socket, "reload"), 1, "reload: refused")
        succeeded(agent.triadctl("set", "control.admin_group", NOGROUP))
        succeeded(asked(agent.socket, "set", "perfmgr.window", "7"))
