# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'triad ...' in OpenSM's own console, beside OpenSM's own commands."""

import json
import os
import socket
import subprocess
from pathlib import Path

import pytest

from checks import mentions, wait_until
from labs import BUILDDIR, sanitizer
from triadlib import (log_has, needs_loopback_console, triad_lab,
                      wait_for_console, wait_for_sweep)

CONF = "[perfmgr]\nsweep_period = 1\n[console]\nenabled = true\n"
PROMPT = "OpenSM $ "


IN_USE = "kill other session (y/n)? "


class Session:
    """A user at the loopback console."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=10)
        self.greeting = self._until_prompt()

    def _until_prompt(self):
        text = ""
        while not text.endswith(PROMPT):
            chunk = self._socket.recv(65536)
            assert chunk, f"the console closed after {text!r}"
            text += chunk.decode()
            assert not text.endswith(IN_USE), "OpenSM's main thread waits for an answer"
        return text[:-len(PROMPT)]

    def type(self, line):
        self._socket.sendall(line.encode() + b"\n")
        return self._until_prompt()

    def rest(self):
        """What comes until the console closes."""
        text = ""
        while chunk := self._socket.recv(65536):
            text += chunk.decode()
        return text

    def close(self):
        self._socket.close()


def loopback(lab, scratch):
    wait_for_console(lab)
    session = Session(lab.status()["sms"][0]["console_port"])
    scratch.callback(session.close)
    return session


@pytest.mark.threads
@pytest.mark.plain
@pytest.mark.row("A7")
def test_loopback_triad_commands_answered(scratch):
    with triad_lab(CONF, console="loopback") as lab:
        wait_for_sweep(lab)
        session = loopback(lab, scratch)
        shown = session.type("triad perf show --node Switch1")
        assert len(shown.splitlines()) == 9, f"lines of {shown!r}"
        assert len(json.loads(session.type("  triad perf show --json"))) == 20, "rows"
        assert "Usage: triad COMMAND" in session.type("triad help")
        assert "a command is missing" in session.type("triad")
        assert "perfmgr.window = 7" in session.type("triad set perfmgr.window 7")
        assert "nonsense" in session.type("triad nonsense")
        assert "quote" in session.type('triad perf show --node "no end')


def test_loopback_tables_are_lines_of_its_own(scratch):
    with triad_lab(CONF, console="loopback") as lab:
        wait_for_sweep(lab)
        session = loopback(lab, scratch)
        lines = session.type("triad perf show --node Switch1").splitlines()
        assert lines[0].split()[:5] == ["NODE", "GUID", "PORT", "STATE", "FAR"], lines
        assert all(line == line.rstrip() for line in lines), lines
        for option in ("--raw", "--no-headings", "--sort port", "--columns node"):
            assert mentions(session.type(f"triad perf show {option}"),
                            "'triadctl perf show ...'"), option
        # What reads can be watched in a shell; here it is answered once.
        assert "Configuration" in session.type("triad status --watch")


def test_loopback_opensm_commands_go_on(scratch):
    with triad_lab(CONF, console="loopback") as lab:
        session = loopback(lab, scratch)
        for _ in range(3):
            status = session.type("status")
            assert "SM State" in status, "OpenSM's status"
            assert "osmtriad" in status, "OpenSM's status"
            assert "Configuration" in session.type("triad status")
        assert "Current log level" in session.type("loglevel"), "OpenSM's loglevel"
        assert "not" in session.type("x" * 3000), "a line too long"
        assert "SM State" in session.type("status"), "status after that"
        session.close()
        assert "SM State" in loopback(lab, scratch).type("status"), "a second session"


def refused(port):
    """What a session is told that gets no place."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as user:
        text = b""
        while chunk := user.recv(65536):
            text += chunk
    return text.decode()


def let_in(port):
    """A session; None: all places are taken."""
    try:
        return Session(port)
    except AssertionError:
        return None


def test_loopback_place_is_for_one_and_root_gets_it_from_who_is_idle(scratch):
    with triad_lab(CONF, console="loopback") as lab:
        first = loopback(lab, scratch)
        port = lab.status()["sms"][0]["console_port"]
        second = Session(port)
        scratch.callback(second.close)
        assert mentions(second.greeting, "one at a time"), second.greeting
        assert "Configuration" in second.type("triad status")
        assert "SM State" not in second.type("status")
        # OpenSM's main thread asks nobody whether to end the first one.
        assert "SM State" in first.type("status")
        others = [Session(port) for _ in range(6)]
        for other in others:
            scratch.callback(other.close)
        assert mentions(refused(port), "too many"), "a ninth"

        def is_second_served():
            return "SM State" in second.type("status")
        wait_until(is_second_served, 60, "the place of the first, which is idle")
        assert "root" in first.rest(), "the first is told"
        # The first one's place is free a moment after it was told.
        last = wait_until(lambda: let_in(port), 10, "a place")
        scratch.callback(last.close)
        assert mentions(refused(port), "sent away"), "a ninth, after a while"
        others[0].rest()
        scratch.callback(wait_until(lambda: let_in(port), 10, "a place").close)
        second.close()
        wait_until(lambda: "SM State" in last.type("status"), 10, "the free place")


def inner_port(lab):
    """Of the listener that OpenSM accepts from, and Triad alone shall connect to."""
    sm = lab.status()["sms"][0]
    folder = Path(f"/proc/{sm['pid']}")
    files = {os.readlink(link) for link in (folder / "fd").iterdir()}
    rows = [line.split() for line in (folder / "net/tcp").read_text().splitlines()[1:]]
    # 0A: it listens.
    ports = {int(row[1].split(":")[1], 16) for row in rows
             if row[3] == "0A" and f"socket:[{row[9]}]" in files}
    [port] = ports - {sm["console_port"]}
    return port


def is_let_in(port, *source):
    """Whether a socket is; one of an address and port, if these are given."""
    with socket.socket() as stranger:
        stranger.settimeout(1)
        if source:
            stranger.bind(source)
        try:
            stranger.connect(("127.0.0.1", port))
        except TimeoutError:
            return False
        return True


def test_loopback_strangers_do_not_reach_opensm_itself(scratch):
    with triad_lab(CONF, console="loopback") as lab:
        session = loopback(lab, scratch)
        port = inner_port(lab)
        assert not is_let_in(port), "while a user has the place"
        assert not is_let_in(port, "127.0.0.2", 0), "from another address"
        assert "SM State" in session.type("status"), "OpenSM waits for nobody"
        session.close()
        assert "SM State" in loopback(lab, scratch).type("status"), "the next user"
        assert not is_let_in(port), "after the first"


def test_loopback_off_untouched(scratch):
    needs_loopback_console()
    with triad_lab(console="loopback") as lab:
        wait_for_sweep(lab)
        session = Session(lab.status()["sms"][0]["console_port"])
        scratch.callback(session.close)
        answer = session.type("triad status")
        assert "Configuration" not in answer, answer
        assert "SM State" in session.type("status")


def test_loopback_user_ends_input_still_answered():
    """As 'echo status | nc -N' does."""
    with triad_lab(CONF, console="loopback") as lab:
        wait_for_console(lab)
        port = lab.status()["sms"][0]["console_port"]
        for line, expected in ((b"status\n", b"SM State"),
                               (b"triad status\n", b"Configuration")):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as user:
                user.sendall(line)
                user.shutdown(socket.SHUT_WR)
                answer = b""
                while chunk := user.recv(65536):
                    answer += chunk
            assert expected in answer, f"{line!r} was answered {answer!r}"


@pytest.mark.threads
@pytest.mark.plain
@pytest.mark.row("A7")
def test_local_both_answered():
    with triad_lab(CONF, console="local") as lab:
        wait_for_sweep(lab)
        output = lab.folder / "sm-0" / "opensm.out"

        def type_line(line, expected):
            with open(lab.folder / "sm-0" / "console.in", "w") as console:
                console.write(line + "\n")
            wait_until(lambda: expected in output.read_text(), 10,
                       f"{expected!r} after {line!r}")
        type_line("triad perf show --node Switch2 --port 3", "Switch1:3")
        type_line("status", "SM State")
        type_line("triad status", "Configuration")
        type_line("loglevel", "Current log level")


def start_without_input(scratch, lab, folder):
    """A second opensm, whose log gets the descriptor of its standard input."""
    ours = ("log_file", "event_plugin_options", "console")
    lines = [line for line in
             (lab.folder / "sm-0" / "opensm.conf").read_text().splitlines()
             if not line.startswith(ours)]
    lines += [f"log_file {folder}/opensm.log", "console local",
              f"event_plugin_options conf={folder}/triad.conf"]
    (folder / "opensm.conf").write_text("\n".join(lines) + "\n")
    (folder / "triad.conf").write_text(
        f"{CONF}[control]\nsocket = {folder}/triad.sock\n")
    process = lab.start(
        "sh", "-c", f"exec opensm -F {folder}/opensm.conf <&-", node="Hca2",
        before=sanitizer(), stdout=subprocess.DEVNULL, variables={
            "LD_LIBRARY_PATH": f"{BUILDDIR}/.libs", "OSM_CACHE_DIR": str(folder),
            "OSM_TMP_DIR": str(folder)})
    scratch.callback(process.wait)
    scratch.callback(process.kill)


def test_local_without_standard_input_log_goes_on(scratch):
    folder = scratch.folder()
    log = folder / "opensm.log"
    with triad_lab(CONF) as lab:
        start_without_input(scratch, lab, folder)
        wait_until(lambda: log.exists() and "this SM is" in log.read_text(), 20,
                   "the log after its descriptor could have been taken")
        assert mentions(log.read_text(), "Triad OpenSM's")


def test_console_off_in_opensm_reported():
    with triad_lab(CONF) as lab:
        log_has(lab, "console off")
        wait_for_sweep(lab)
