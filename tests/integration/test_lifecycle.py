# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""OpenSM with the plugin begins and ends: in every phase, twice on a host, with a
plugin that does not fit."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess

import pytest

import control
from checks import failed, stopped, succeeded, wait_until
from labs import BUILDDIR, ScriptedLab
from triadlib import (NET, log_has, status, triad_lab, triad_lines, wait_for_console,
                      wait_for_sweep)

SLOW = "[perfmgr]\nsweep_period = 1\nwindow = 1\n"


def end(lab, number):
    """Signals opensm and waits for its end."""
    # While a lab starts, what its folder says may still be of the one before.
    sm = wait_until(lambda: (it := lab.status()["sms"][0])["alive"] and it, 30,
                    "opensm's pid")
    pid = sm["pid"]
    os.kill(pid, number)
    wait_until(lambda: is_zombie(pid), 30, "opensm's end")


def is_zombie(pid):
    """Or not there at all."""
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


def check_clean_end(lab):
    assert "Exiting SM" in lab.log(), "the log"
    assert triad_lines(lab.log())[-1] == "ended", "Triad's last line"
    socket = lab.folder / "sm-0" / "triad.sock"
    assert not socket.exists(), "the control socket is left"


def test_signals_when_up_clean_end():
    for number in (signal.SIGTERM, signal.SIGINT):
        with triad_lab() as lab:
            wait_for_sweep(lab)
            end(lab, number)
            check_clean_end(lab)


HANGS = "[perfmgr]\nsweep_period = 1\ntimeout = 30000\n"


@contextlib.contextmanager
def ended_in_mid_sweep(lab):
    """Within it no MAD is answered, because ibsim is stopped, and a sweep waits.  Behind it
    OpenSM has ended by a signal.  ibsim goes on right after the signal, because OpenSM's
    first step towards its end is a question to ibsim."""
    opensm = lab.status()["sms"][0]["pid"]
    # Before the second sweep the PerfManager takes another topology, with speeds just
    # learnt, and reads the P_Keys of its own port: in a lab, a question to ibsim.
    wait_until(lambda: status(lab)["perfmgr"]["sweeps"] >= 2, 20, "a second sweep")
    with stopped(lab.status()["simulator"]["pid"]):
        wait_until(lambda: status(lab)["perfmgr"]["state"] == "sweeping", 20,
                   "a sweep that hangs")
        yield
        os.kill(opensm, signal.SIGTERM)
    wait_until(lambda: is_zombie(opensm), 30, "opensm's end")


@pytest.mark.threads
def test_signal_in_mid_sweep_clean_end():
    with triad_lab(HANGS) as lab:
        wait_for_sweep(lab)
        with ended_in_mid_sweep(lab):
            pass
        check_clean_end(lab)


def test_signal_with_waiting_client_clean_end():
    with triad_lab(HANGS) as lab:
        wait_for_sweep(lab)
        with ended_in_mid_sweep(lab):
            client = lab.start("triadctl", "perf", "sweep",
                               stderr=subprocess.PIPE)
            wait_until(lambda: status(lab)["control"]["clients"] == 2, 10, "the client")
        _, messages = client.communicate(timeout=20)
        # Cut off, or answered: ibsim goes on before OpenSM has begun to end.
        assert client.returncode in (0, 1), (client.returncode, messages)
        check_clean_end(lab)


def test_signal_with_console_user_who_does_not_read_clean_end():
    conf = "[console]\nenabled = true\n"
    with triad_lab(conf, console="loopback") as lab:
        wait_for_console(lab)
        port = lab.status()["sms"][0]["console_port"]
        with socket.create_connection(("127.0.0.1", port)) as user:
            user.settimeout(1)
            try:
                while True:
                    user.sendall(b"triad status\n" * 1000)
            except TimeoutError:
                pass  # the answers fill all there is
            end(lab, signal.SIGTERM)
        check_clean_end(lab)


@pytest.mark.parametrize("line", ["Triad ", "Setting IS_SM", "Entering MASTER",
                                  "SUBNET UP"])
def test_signal_during_start_ends(line):
    """'lab up' in the background, its opensm ended as soon as the line is logged."""
    with ScriptedLab(NET, triad_conf=SLOW) as lab:
        lab.down()
        log = lab.folder / "sm-0" / "opensm.log"
        log.unlink()
        up = lab.start_up(stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        wait_until(lambda: log.exists() and line in log.read_text(), 30, f"{line!r}")
        end(lab, signal.SIGTERM)
        _, messages = up.communicate(timeout=60)
        for word in ("SIGSEGV", "SIGABRT", "signal 11", "signal 6"):
            assert word not in messages, messages


def test_kill_and_restart_works():
    with triad_lab() as lab:
        wait_for_sweep(lab)
        end(lab, signal.SIGKILL)
        lab.down()
        lab.up()
        wait_for_sweep(lab)


# --- a plugin that does not fit -------------------------------------------------

def test_plugin_for_another_opensm_opensm_runs_on(tmp_path):
    octets = (BUILDDIR / ".libs" / "libosmtriad.so").read_bytes()
    other = tmp_path / "libosmtriad.so"
    octets, n = re.subn(rb"OpenSM \d+\.\d+\.\d", b"OpenSM 0.0.0", octets)
    assert n, "no version in the plugin"
    other.write_bytes(octets)
    with triad_lab(plugin=other) as lab:
        assert "plugin not loaded" in lab.up_messages, "what lab said"
        assert "version mismatch" in lab.log(), "the log"
        succeeded(lab.run("saquery"))
        failed(lab.run("triadctl", "status"), 1, "OpenSM")


# --- two on a host --------------------------------------------------------------

def test_two_opensms_with_guid_in_path_both_served(tmp_path):
    folder = tmp_path
    conf = f"[perfmgr]\nsweep_period = 1\n[control]\nsocket = {folder}/%g.sock\n"
    with triad_lab(conf, sms=("Hca1", "Hca2")):
        sockets = wait_until(lambda: len(s := sorted(folder.glob("*.sock"))) == 2 and s,
                             10, "two sockets")
        states = set()
        for path in sockets:
            report = succeeded(control.request(path, "status", "--json"))
            states.add(json.loads(report.stdout)["sm"]["state"])
        assert states == {"master", "standby"}, "states"


@pytest.mark.plain
def test_two_opensms_with_one_path_second_says_so(tmp_path):
    path = tmp_path / "triad.sock"
    conf = f"[perfmgr]\nsweep_period = 1\n[control]\nsocket = {path}\n"
    with triad_lab(conf, sms=("Hca1", "Hca2")) as lab:
        log_has(lab, f"control socket {path} another process", sm=1)
        assert "%g" in lab.log(1), "no advice"
        report = json.loads(succeeded(control.request(path, "status", "--json")).stdout)
        assert report["sm"]["state"] == "master", "whose socket it is"


def test_standby_reads_nothing():
    with triad_lab(sms=("Hca1", "Hca2")) as lab:
        wait_for_sweep(lab)
        report = status(lab, sm=1)
        assert report["sm"]["state"] == "standby", "state"
        assert report["perfmgr"]["mads_sent"] == 0, "MADs sent"
        assert "not the master" in report["perfmgr"]["trouble"], "why"
