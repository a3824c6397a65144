# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Alerts that are known, or that maintenance causes, wake nobody: in any output, for as
long as somebody said, also over a restart."""

import json
import os
import re
import signal
import subprocess
import time

import pytest

from agentlib import Broker, manager_lab, wait_until_settled
from alertlib import Receiver
from checks import failed, mentions, wait_until
from labs import BUILDDIR
from test_health import part, wait_for_verdict
from test_lifecycle import end
from triadlib import ask, ask_json, log_has, status, triad_lab, wait_for_sweep

OK, WARNING = 0, 1
CONF = """\
[perfmgr]
sweep_period = 1
[alerts]
clear_after = 0
"""
HOST, SWITCH1 = "0x0000000000100006", "0x0000000000200000"  # Hca3


def alerts(lab):
    return ask_json(lab, "alerts")["alerts"]


def silences(lab, **options):
    return ask_json(lab, "silences", **options)


def unlink(lab):
    """Hca3 leaves; returns its alert."""
    lab.sim('Unlink "Hca3"')
    return wait_until(lambda: alerts(lab), 60, "the alert")[0]


def link(lab):
    lab.sim('Link "Hca3"[1] "Switch1"[2]')
    wait_until(lambda: not alerts(lab), 60, "the end of the alert")


@pytest.mark.threads
@pytest.mark.row("N1")
def test_silenced_place_wakes_nobody_in_any_output(scratch, tmp_path):
    receiver = Receiver(scratch)
    file = tmp_path / "alerts.json"
    with triad_lab(f"{CONF}webhook = {receiver.url}\nfile = {file}\n") as lab:
        wait_for_sweep(lab)
        assert silences(lab) == [], "silences at first"
        assert ask(lab, "silences") == "nothing is silenced\n"
        alert = unlink(lab)
        assert alert["silence"] is None, alert
        wait_for_verdict(lab, WARNING)
        wait_until(lambda: len(receiver.alerts()) == 1, 30, "the webhook")
        assert "endsAt" not in receiver.alerts()[HOST], "before"

        said = ask(lab, "silence", "Hca3", "--for", "2h", "--reason", "new HCA")
        assert re.search(r"^Hca3 .* 2\S+ .* 2\S+ .*\b1\b", said), said
        silence, = silences(lab)
        assert (silence["id"], silence["place"], silence["kind"], silence["alerts"],
                silence["in_force"], silence["by"], silence["reason"]) == \
            (1, "Hca3", "place", 1, True, "root", "new HCA"), silence
        assert alerts(lab)[0]["silence"]["id"] == 1, "the alert"
        answer = wait_for_verdict(lab, OK)
        assert (answer["findings"], part(answer, "alerts")["severity"]) == ([], "OK")
        assert "1 silenced" in part(answer, "alerts")["text"], "the alerts' line"
        assert "1 active (1 of them silenced)" in ask(lab, "alerts"), "alerts"
        wait_until(lambda: "endsAt" in receiver.alerts()[HOST], 30, "resolved")
        assert (status(lab)["alerts"]["silenced"], status(lab)["alerts"]["silences"]) == \
            (1, 1), "status"

        # What is raised while it is silenced is not told; the file has all of it.
        link(lab)
        n = len(receiver.bodies)
        assert unlink(lab)["silence"]["id"] == 1, "the second alert"
        ask(lab, "perf", "sweep")
        assert not any(receiver.bodies[n:]), "the webhook, silenced"
        ask(lab, "unsilence", "1")
        wait_until(lambda: "endsAt" not in receiver.alerts()[HOST], 30, "told anew")
        wait_for_verdict(lab, WARNING)
        events = ["raised", "silenced", "cleared", "raised", "unsilenced"]
        wait_until(lambda: [json.loads(line)["event"] for line in
                            file.read_text().splitlines()] == events, 10, "the file")
        log_has(lab, "silence 1 Hca3 ended root")
        failed(lab.triad("unsilence", "1"), 1, "there is no silence 1")


def test_maintenance_begins_later_and_ends_by_itself():
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        unlink(lab)
        begin = time.time() + 4
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(begin))
        ask(lab, "silence", "Hca3/P1", "--from", at, "--for", "5s", "--reason", "planned")
        assert not silences(lab)[0]["in_force"], "before"
        wait_for_verdict(lab, WARNING)
        wait_for_verdict(lab, OK)
        assert time.time() >= begin - 1, "not before its time"
        wait_for_verdict(lab, WARNING)
        wait_until(lambda: not silences(lab), 10, "the end of the silence")
        failed(lab.triad("silence", "Hca1", "--from", "2020-01-01T00:00Z", "--for", "1h",
                         "--reason", "late"), 1, "over")


def test_acknowledged_alert_ends_with_it_and_wakes_when_it_gets_worse():
    with triad_lab(CONF + "SymbolErrorCounter = 5/sweep\n") as lab:
        wait_for_sweep(lab, 2)
        ask(lab, "set", "alerts.clear_after", "60")
        lab.sim('PerformanceSet "Switch1"[2] PortCounters.SymbolErrorCounter=50')
        alert = wait_until(lambda: alerts(lab), 60, "the alert of errors")[0]
        failed(lab.triad("alerts", "ack", "77"), 1, "no alert 77 is active")
        ask(lab, "alerts", "ack", str(alert["id"]), "--reason", "cable is ordered")
        assert silences(lab)[0]["kind"] == "alert", "its kind"
        wait_for_verdict(lab, OK)
        lab.sim('Unlink "Hca3"')
        wait_for_verdict(lab, WARNING)
        # A port that does not answer, before the SM knows why, is another alert.
        wait_until(lambda: silences(lab) == [], 20, "it got worse")
        ask(lab, "alerts", "ack", str(alerts(lab)[0]["id"]))
        wait_for_verdict(lab, OK)
        ask(lab, "set", "alerts.clear_after", "0")
        link(lab)
        wait_until(lambda: silences(lab) == [], 20, "it is over")


def test_silences_outlive_a_kill_and_a_restart(tmp_path):
    with triad_lab(f"{CONF}[state]\ndir = {tmp_path}/state\n") as lab:
        wait_for_sweep(lab)
        ask(lab, "silence", "Hca3", "--for", "2h", "--reason", "new HCA")
        ask(lab, "silence", "Switch*", "--for", "1h", "--reason", "new firmware")
        ask(lab, "silence", "Hca1", "--for", "1s", "--reason", "short")
        ask(lab, "unsilence", "2")
        before = silences(lab)[0]
        end(lab, signal.SIGKILL)
        lab.down()
        lab.up()
        wait_for_sweep(lab)
        wait_until(lambda: silences(lab) == [before], 30, "the silences, but the short one")
        ask(lab, "silence", "Hca2", "--for", "2h", "--reason", "another")
        assert silences(lab)[-1]["id"] == 4, "numbers are given once"
        assert unlink(lab)["silence"]["id"] == 1, "the alert"


def test_place_that_is_not_there_is_refused_and_one_that_left_is_not():
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        failed(lab.triad("silence", "Hca33", "--for", "1h", "--reason", "x"), 1,
               "no node is called 'Hca33'")
        unlink(lab)
        wait_until(lambda: all(node["name"] != "Hca3"
                               for node in ask_json(lab, "nodes")), 30, "Hca3's end")
        ask(lab, "silence", "Hca3", "--for", "1h", "--reason", "x")
        said = ask(lab, "silence", "Switch*", "--for", "1h", "--reason", "x")
        assert "2 nodes now" in said, said
        for _ in range(128 - 2):
            ask(lab, "silence", SWITCH1, "--for", "1h", "--reason", "x")
        assert silences(lab)[-1]["place"] == "Switch1", "the name of a GUID"
        failed(lab.triad("silence", "Hca1", "--for", "1h", "--reason", "x"), 1,
               "there are 128 silences")


@pytest.mark.parametrize("harm", ["not a folder", "a strange file", "others may write"])
def test_state_that_cannot_be_kept_is_reported_and_silences_work(harm, tmp_path):
    folder = tmp_path / "state"
    with triad_lab(f"{CONF}[state]\ndir = {folder}\n") as lab:
        wait_for_sweep(lab)
        ask(lab, "silence", "Hca1", "--for", "2h", "--reason", "x")
        name, = (entry for entry in os.listdir(folder) if "silences" in entry)
        end(lab, signal.SIGTERM)
        lab.down()
        if harm == "not a folder":
            for entry in folder.iterdir():
                entry.unlink()
            folder.rmdir()
            folder.write_text("")
        elif harm == "others may write":
            (folder / name).chmod(0o666)
        else:
            (folder / name).write_bytes(b"\0rubbish\n" * 1000)
        lab.up()
        wait_for_sweep(lab)
        process = lab.triad("silence", "Hca3", "--for", "2h", "--reason", "x")
        assert process.returncode == 0, process.stderr
        assert silences(lab)[0]["place"] == "Hca3", "in force"
        if harm == "not a folder":
            assert "in force, but" in process.stderr, process.stderr
            wait_for_verdict(lab, WARNING)
            folder.unlink()  # the fault ends
            wait_for_verdict(lab, OK)
        else:
            assert (folder / f"{name}.bad").exists(), os.listdir(folder)
        assert (folder / name).exists(), "written"
        wait_for_verdict(lab, OK)


def test_end_of_a_silence_that_is_not_kept_says_what_a_restart_does(tmp_path):
    folder = tmp_path / "state"
    with triad_lab(f"{CONF}[state]\ndir = {folder}\n") as lab:
        wait_for_sweep(lab)
        ask(lab, "silence", "Hca3", "--for", "1h", "--reason", "x")
        folder.chmod(0o777)
        process = lab.triad("unsilence", "1")
        assert process.returncode == 0, process.stderr
        assert mentions(process.stderr, "back restart OpenSM"), process
    with triad_lab(f"{CONF}[state]\ndir =\n") as lab:
        wait_for_sweep(lab)
        ask(lab, "silence", "Hca3", "--for", "1h", "--reason", "x")
        process = lab.triad("unsilence", "1")
        assert (process.returncode, process.stderr) == (0, ""), process.stderr


def test_who_may_only_read_may_not_silence():
    with triad_lab(CONF + "[control]\ngroup = 65534\n") as lab:
        wait_for_sweep(lab)
        path = lab.state().sms[0].control_socket
        for on_the_way in (lab.folder, lab.folder / "sm-0"):
            on_the_way.chmod(0o755)

        def typed(*words):
            return subprocess.run(
                [f"{os.environ['TRIAD_BUILDDIR']}/triadctl", "--socket", path, *words],
                capture_output=True, text=True, check=False, timeout=60, user=65534,
                group=65534, extra_groups=[])

        for words in (("silence", "Hca3", "--for", "1h", "--reason", "x"),
                      ("unsilence", "1"), ("alerts", "ack", "1")):
            process = typed(*words)
            assert process.returncode == 1, words
            assert "may only read" in process.stderr, process.stderr
        assert typed("silences", "--json").stdout.strip() == "[]", "reading"


def test_manager_silences_what_agents_read_and_standby_has_its_own(scratch):
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        assert lab.triad("silence", "host-0002", "--for", "1h", "--reason",
                         "x").returncode == 0
        assert silences(lab)[0]["place"] == "host-0002", "the manager's"
        wait_until_settled(lab, 0)
    with triad_lab(CONF, sms=("Hca1", "Hca2")) as lab:
        wait_for_sweep(lab)
        roles = [status(lab, sm=sm)["sm"]["state"] for sm in (0, 1)]
        standby = roles.index("standby")
        process = lab.triad("silence", "Hca3", "--for", "1h", "--reason", "x", sm=standby)
        assert process.returncode == 0, process.stderr
        assert mentions(process.stderr, "each SM"), process.stderr
        assert mentions(process.stderr, "nobody checked node"), process.stderr
        failed(lab.triad("silence", "2", "--for", "1h", "--reason", "x", sm=standby), 1,
               "nobody knows whose LID 2 is")
        assert (len(silences(lab, sm=standby)), silences(lab, sm=1 - standby)) == (1, [])


@pytest.mark.plain
def test_disk_that_hangs_delays_a_silence_two_seconds_and_nothing_else(tmp_path,
                                                                       monkeypatch):
    flag = tmp_path / "hung"
    monkeypatch.setenv("TRIAD_HUNG_DISK", str(flag))
    with triad_lab(CONF, preload=[BUILDDIR / "tests/lab/.libs/libhungdisk.so"]) as lab:
        wait_for_sweep(lab)
        flag.write_text("silences-")
        process = lab.triad("silence", "Hca3", "--for", "2h", "--reason", "x")
        assert process.returncode == 0, process.stderr
        assert "the disk hangs" in process.stderr, process.stderr
        assert unlink(lab)["silence"]["id"] == 1, "in force"
        before = status(lab)["perfmgr"]["sweeps"]
        wait_until(lambda: status(lab)["perfmgr"]["sweeps"] > before + 1, 30, "sweeps")
        flag.unlink()
        wait_for_verdict(lab, OK)
        log_has(lab, "silence 1 of Hca3")
        flag.write_text("silences-")
        lab.triad("unsilence", "1")
        begin = time.monotonic()
        end(lab, signal.SIGTERM)
        assert time.monotonic() - begin < 10, "the end of OpenSM"
        flag.unlink()
