#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'triad ...' in OpenSM's own console, beside OpenSM's own commands."""

import json
import os
import signal
import socket
import subprocess

import taplib
from taplib import BUILDDIR, wait_until
from triadlib import log_has, triad_lab, wait_for_sweep

CONF = "[perfmgr]\nsweep_period = 1\n[console]\nenabled = true\n"
PROMPT = "OpenSM $ "


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
        return text[:-len(PROMPT)]

    def type(self, line):
        self._socket.sendall(line.encode() + b"\n")
        return self._until_prompt()

    def close(self):
        self._socket.close()


def loopback(lab, t):
    log_has(lab, "'triad help' in OpenSM's console")
    session = Session(lab.status()["sms"][0]["console_port"])
    t.cleanup(session.close)
    return session


def test_loopback_triad_commands_answered(t):
    with triad_lab(CONF, console="loopback") as lab:
        wait_for_sweep(lab)
        session = loopback(lab, t)
        shown = session.type("triad perf show --node Switch1")
        t.equal(len(shown.splitlines()), 9, f"lines of {shown!r}")
        t.equal(len(json.loads(session.type("  triad perf show --json"))), 20, "rows")
        t.contains(session.type("triad help"), "Usage: triad COMMAND")
        t.contains(session.type("triad"), "a command is missing")
        t.contains(session.type("triad set perfmgr.window 7"), "perfmgr.window = 7")
        t.contains(session.type("triad nonsense"), "nonsense")
        t.contains(session.type('triad perf show --node "no end'), "quote")


def test_loopback_opensm_commands_go_on(t):
    with triad_lab(CONF, console="loopback") as lab:
        session = loopback(lab, t)
        for _ in range(3):
            status = session.type("status")
            t.contains(status, "SM State", "OpenSM's status")
            t.contains(status, "osmtriad", "OpenSM's status")
            t.contains(session.type("triad status"), "PerfManager")
        t.contains(session.type("loglevel"), "Current log level", "OpenSM's loglevel")
        t.contains(session.type("x" * 3000), "not", "a line too long")
        t.contains(session.type("status"), "SM State", "status after that")
        session.close()
        t.contains(loopback(lab, t).type("status"), "SM State", "a second session")


def test_loopback_off_untouched(t):
    with triad_lab(console="loopback") as lab:
        wait_for_sweep(lab)
        session = Session(lab.status()["sms"][0]["console_port"])
        t.cleanup(session.close)
        answer = session.type("triad status")
        assert "PerfManager" not in answer, answer
        t.contains(session.type("status"), "SM State")


def test_loopback_user_ends_input_still_answered(t):
    """As 'echo status | nc -N' does."""
    with triad_lab(CONF, console="loopback") as lab:
        log_has(lab, "'triad help' in OpenSM's console")
        port = lab.status()["sms"][0]["console_port"]
        for line, expected in ((b"status\n", b"SM State"),
                               (b"triad status\n", b"PerfManager")):
            with socket.create_connection(("127.0.0.1", port), timeout=10) as user:
                user.sendall(line)
                user.shutdown(socket.SHUT_WR)
                answer = b""
                while chunk := user.recv(65536):
                    answer += chunk
            assert expected in answer, f"{line!r} was answered {answer!r}"


def test_local_both_answered(t):
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
        type_line("triad status", "PerfManager")
        type_line("loglevel", "Current log level")


def start_without_input(t, lab, folder):
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
        "run", "--node", "Hca2", "--", "sh", "-c",
        f"echo $$ >{folder}/pid; exec env "
        "LD_PRELOAD=${TRIAD_LAB_PRELOAD:+$TRIAD_LAB_PRELOAD:}$LD_PRELOAD "
        f"LD_LIBRARY_PATH={BUILDDIR}/.libs OSM_CACHE_DIR={folder} "
        f"OSM_TMP_DIR={folder} opensm -F {folder}/opensm.conf <&-",
        stdout=subprocess.DEVNULL)
    t.cleanup(process.wait)
    t.cleanup(lambda: os.kill(int((folder / "pid").read_text()), signal.SIGKILL))


def test_local_without_standard_input_log_goes_on(t):
    folder = t.folder()
    log = folder / "opensm.log"
    with triad_lab(CONF) as lab:
        start_without_input(t, lab, folder)
        wait_until(lambda: log.exists() and "this SM is" in log.read_text(), 20,
                   "the log after its descriptor could have been taken")
        t.contains(log.read_text(), "Triad can't stand before OpenSM's")


def test_console_off_in_opensm_said(t):
    with triad_lab(CONF) as lab:
        log_has(lab, "opensm.conf has console off")
        wait_for_sweep(lab)


if __name__ == "__main__":
    taplib.main(globals())
