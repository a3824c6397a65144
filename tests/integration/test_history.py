# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What happened, as 'triadctl history' shows it: also before a restart, and with the gaps
in which nobody looked."""

import contextlib
import json
import os
import re
import signal

import pytest

from checks import failed, mentions, succeeded, wait_until
from labs import BUILDDIR
from portlib import managed, switch_guid
from test_agent import Agent
from test_alerts import perf_set
from test_lifecycle import end
from test_roles import NOGROUP, asked, path_of
from test_standby import MASTER, STANDBY, two_sms
from triadlib import QUICK, ask, ask_json, log_has, triad_lab, wait_for_sweep

CONF = QUICK + "[alerts]\nraise_after = 0\nclear_after = 0\n"
SWITCH2, HCA2 = "0x0000000000200001", "0x0000000000100003"


def history_lab(folder=None, conf=CONF, **options):
    """A lab; 'folder' outlives it, and has 'state'."""
    state = f"[state]\ndir = {folder}/state\n" if folder else ""
    return triad_lab(conf + state, opensm_conf="sweep_interval 1\n", **options)


def history(lab, *words, **options):
    """Its rows, the last first."""
    return ask_json(lab, "history", "-n", "65535", *words, **options)


def events(rows):
    return [row["event"] for row in rows]


def wait_for_event(lab, event, *words, n=1, **options):
    """The rows, the last first, once so many of them are of that kind."""
    def rows_with_it():
        rows = history(lab, *words, **options)
        return events(rows).count(event) >= n and rows

    return wait_until(rows_with_it, 40, f"{n} events {event!r}")


def newest(rows, event):
    """The newest row of an event; other rows may be newer, such as the end of a check
    of routes."""
    return next(row for row in rows if row["event"] == event)


def has_written(folder, event, n=1):
    """Whether the file has it at least n times."""
    file, = folder.glob("history-*")
    return file.read_bytes().count(f" {event} ".encode()) >= n


def restart(lab, number=signal.SIGTERM):
    end(lab, number)
    lab.down()
    lab.up()


def cut_and_mend(lab):
    """The link between the two switches."""
    wait_for_sweep(lab)
    wait_for_event(lab, "looks")
    lab.sim('Unlink "Switch1"[3]')
    wait_for_event(lab, "link-down")
    lab.sim('ReLink "Switch1"[3]')
    wait_for_event(lab, "link-up")


def is_about_the_cut_link(row):
    ends = {(row["node_name"], row["port"]), (row["remote_name"], row["remote_port"])}
    return ends == {("Switch1", 3), ("Switch2", 3)}


# --- what happened, and restarts ---------------------------------------------------

@pytest.mark.threads
@pytest.mark.plain
@pytest.mark.row("N1")
def test_link_down_and_up_shown_with_both_ends_also_after_a_restart(tmp_path):
    with history_lab(tmp_path) as lab:
        cut_and_mend(lab)
        rows = history(lab, "Switch1/P3")
        told = [row for row in rows if row["event"] in ("link-down", "link-up")]
        assert events(told) == ["link-up", "link-down"], rows
        assert all(map(is_about_the_cut_link, told)), told
        # A check of routes may end between the two.
        wait_until(lambda: history(lab, "Switch2:3") == history(lab, "Switch1/P3"), 20,
                   "the same from its other end")
        assert "link-down" not in events(history(lab, "Switch1/P1")), "another port"
        restart(lab)
        after = wait_for_event(lab, "looks", "Switch1/P3", n=2)
        assert [row for row in after if row in rows] == rows, "what was there before"
        assert "ended" in events(after), "the end"
        start = newest(after, "started")
        assert re.fullmatch(r"nobody looked for \d+ (ms|s|min.*)", start["text"]), start
        wait_until(lambda: history(lab, "--since", "1d", "Switch1/P3") ==
                   history(lab, "Switch1/P3"), 20, "all is of today")
        assert not history(lab, "--since", "2099-01-01"), "of tomorrow"


def test_host_that_left_shown_with_its_link_and_by_its_name(tmp_path):
    with history_lab(tmp_path) as lab:
        wait_for_sweep(lab)
        wait_for_event(lab, "looks")
        n_checks = events(wait_for_event(lab, "routes")).count("routes")
        lab.sim('Unlink "Hca2"[1]')
        # Until the history has its end, nothing knows its name any more.
        wait_for_event(lab, "node-left")
        left = newest(wait_for_event(lab, "node-left", "Hca2"), "node-left")
        assert (left["node_guid"], left["port"]) == (HCA2, 1), left
        assert left["remote_name"].startswith("Switch"), left
        checked = newest(wait_for_event(lab, "routes", n=n_checks + 1), "routes")
        assert checked["text"] == "changed", checked
        place = f"{left['remote_name']}/P{left['remote_port']}"
        assert left in history(lab, place), "at its switch"
        assert HCA2 not in [row["guid"] for row in ask_json(lab, "nodes")], "the fabric"
        assert left in history(lab, HCA2), "by its GUID"
        failed(lab.triad("history", "Hca9"), 1, "no node is called 'Hca9'")
        lab.sim('ReLink "Hca2"[1]')
        came = newest(wait_for_event(lab, "node-came", "Hca2/P1"), "node-came")
        assert {**came, "time": 0, "event": 0} == {**left, "time": 0, "event": 0}, came
        restart(lab)
        # A thread of its own reads the file.
        wait_until(lambda: left in history(lab, "Hca2"), 20, "what was there before")


def test_killed_program_has_its_events_and_its_end_is_noticed(tmp_path):
    with history_lab(tmp_path) as lab:
        cut_and_mend(lab)
        rows = history(lab)
        wait_until(lambda: all(has_written(tmp_path / "state", event,
                                           events(rows).count(event))
                               for event in events(rows)), 20, "all in the file")
        restart(lab, signal.SIGKILL)
        after = wait_for_event(lab, "lost")
        assert [row for row in after if row in rows] == rows, "what was there before"
        last = newest(after, "lost")
        start = newest(after, "started")
        assert rows[0]["time"] <= last["time"] <= start["time"], after
        assert events(after)[events(after).index("started") + 1] == "lost", "the order"


def test_alerts_counters_and_commands_are_in_it():
    with history_lab() as lab:
        wait_for_sweep(lab, 2)
        perf_set(lab, "Switch2", 3, LinkDownedCounter=2)
        wait_for_event(lab, "alert-raised", "Switch2/P3")
        row, = [row for row in wait_for_event(lab, "counted-down", "Switch2/P3")
                if row["event"] == "counted-down"]
        assert (row["count"], row["remote_name"]) == (2, "Switch1"), row
        wait_for_event(lab, "alert-cleared", "Switch2/P3")
        lid = ask_json(lab, "perf", "show", "--node", SWITCH2)[0]["lid"]
        succeeded(lab.run("perfquery", "-R", lid, "3"))
        row = newest(wait_for_event(lab, "reset", "Switch2/P3"), "reset")
        assert row["count"] == 1 and mentions(row["text"], "others LinkDownedCounter 2"), row
        ask(lab, "perf", "clear", "totals", "--node", "Switch2", "--port", "3")
        row = newest(wait_for_event(lab, "cleared", "Switch2/P3"), "cleared")
        assert row["text"] == "totals of 1 port, Switch2", row


def test_what_the_port_manager_did_is_in_it():
    with managed(port={"grace": 0, "drain": 0}) as manager:
        guid = switch_guid(3)
        manager.expected.change(guid, 3, state="disabled")
        manager.load()
        manager.wait_for("leaf-03", 3, "disabled")
        row, = wait_until(lambda: [
            row for row in history(manager.lab, "leaf-03/P3")
            if row["event"] == "port-manager"], 20, "the deed")
        assert (row["node_guid"], row["port"]) == (f"0x{guid:016x}", 3), row
        assert row["text"].startswith("disable done (expected): "), row


def test_table_fits_80_columns_and_has_titles():
    with history_lab() as lab:
        cut_and_mend(lab)
        text = succeeded(lab.run("triadctl", "history", "Switch1/P3")).stdout
        first, *lines = text.splitlines()
        assert first.split() == ["TIME", "WHERE", "WHAT", "FAR", "END", "DETAIL"], text
        assert max(map(len, lines)) <= 80, text
        assert any(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ +Switch1:3 +link down +"
                            "Switch2:3", line) for line in lines), text
        raw = succeeded(lab.run("triadctl", "history", "--raw", "--no-headings",
                                "--columns", "what,far end", "Switch1/P3")).stdout
        assert "link down\tSwitch2:3\n" in raw, raw


# --- who asks, and whom ---------------------------------------------------------------

def test_any_user_of_the_group_may_read_it():
    with history_lab(conf=f"{CONF}[control]\ngroup = {NOGROUP}\n") as lab:
        wait_for_event(lab, "looks")
        answer = succeeded(asked(path_of(lab), "history", "--json"))
        assert '"started"' in answer.stdout, answer
        file, = (lab.folder / "sm-0" / "state").iterdir()
        assert file.stat().st_mode & 0o777 == 0o600, "the file"


def test_standby_says_that_it_does_not_look():
    with two_sms("master") as lab:
        wait_for_event(lab, "looks", sm=MASTER)
        rows = wait_for_event(lab, "role", sm=STANDBY)
        assert "standby" in [row["text"] for row in rows if row["event"] == "role"], rows
        answer = succeeded(lab.triad("history", sm=STANDBY))
        assert mentions(answer.stderr, "history not master"), answer.stderr
        os.kill(lab.status()["sms"][MASTER]["pid"], signal.SIGKILL)
        rows = wait_for_event(lab, "looks", sm=STANDBY)
        assert "master" in [row["text"] for row in rows if row["event"] == "role"], rows


def test_agent_has_a_history_of_its_own(scratch):
    with history_lab() as lab:
        agent = Agent(scratch, lab)
        # Its socket is there a moment before it answers.
        wait_until(lambda: agent.status() and "looks" in events(agent.ask("history")), 40,
                   "the agent")
        lab.sim('Unlink "Hca2"[1]')
        wait_until(lambda: "node-left" in events(agent.ask("history")), 40, "the host")
        file, = (agent.folder / "state").iterdir()
        assert file.name.startswith("history-triad-agent-0x"), file


# --- files and disks that fail -----------------------------------------------------

def failing(lab):
    """What health says of the file."""
    report = json.loads(lab.triad("health", "--json").stdout)
    return [finding["what"] for finding in report["findings"]
            if finding["at"] == "history"]


def test_folder_of_others_reported_once_and_written_when_it_is_mended(tmp_path):
    folder = tmp_path / "state"
    with history_lab(tmp_path) as lab:
        wait_for_event(lab, "looks")
        end(lab, signal.SIGTERM)
        lab.down()
        folder.chmod(0o777)
        lab.up()
        what, = wait_until(lambda: failing(lab), 30, "health")
        assert str(folder) in what, what
        report = ask_json(lab, "status")["history"]
        assert report["state"].startswith("failing"), report
        cut_and_mend(lab)
        folder.chmod(0o755)
        wait_until(lambda: not failing(lab), 30, "the end of the trouble")
        log_has(lab, "history-opensm-")
        assert lab.log().count("what happens is kept in memory meanwhile") == 1, "lines"
        # What was before it, and what happened meanwhile.
        rows = history(lab)
        assert events(rows).count("started") == 2, rows
        wait_until(lambda: has_written(folder, "link-up"), 20, "the file")


def test_no_folder_in_memory_alone():
    with history_lab(conf=CONF + "[state]\ndir =\n") as lab:
        cut_and_mend(lab)
        assert ask_json(lab, "status")["history"]["state"] == "in memory alone"
        assert not (lab.folder / "sm-0" / "state").exists(), "a folder"


def test_clock_that_is_set_is_in_it_and_ends_and_removes_nothing(tmp_path, monkeypatch):
    step, images = tmp_path / "step", tmp_path / "images"
    step.write_bytes(b"0".ljust(32, b"\0"))
    monkeypatch.setenv("TRIAD_CLOCK_STEP", str(step))
    library = BUILDDIR / "tests/lab/.libs/libclockstep.so"

    def set_clock(seconds):
        with step.open("r+b") as stream:
            stream.write(str(seconds).encode().ljust(32, b"\0"))

    def written(year):
        return {file.name for file in images.glob(f"sweeps-*-{year}*.zst")}
    with history_lab(tmp_path, conf=CONF + f"[history]\ndir = {images}\n",
                     preload=[library]) as lab:
        wait_for_sweep(lab)
        ask(lab, "silence", "Hca3", "--for", "1h", "--reason", "new HCA")
        before = wait_until(lambda: written("20[0-2]"), 20, "images")
        set_clock(10 * 365 * 86400)
        wait_for_event(lab, "clock")
        ahead = wait_until(lambda: written("203"), 20, "images of then")
        assert before <= written("20[0-2]"), "images of before"
        assert [it["id"] for it in ask_json(lab, "silences")] == [1], "the silence"
        set_clock(0)
        rows = wait_for_event(lab, "clock", n=2)
        texts = [row["text"] for row in rows if row["event"] == "clock"]
        assert [text.split()[0] for text in texts] == ["back", "forward"], texts
        wait_until(lambda: written("20[0-2]") - before, 20, "images of now")
        assert written("203") == ahead, "names of the future"
        assert [it["id"] for it in ask_json(lab, "silences")] == [1], "the silence"


@contextlib.contextmanager
def hung_disk_lab(tmp_path, monkeypatch):
    flag = tmp_path / "hung"
    monkeypatch.setenv("TRIAD_HUNG_DISK", str(flag))
    library = BUILDDIR / "tests/lab/.libs/libhungdisk.so"
    with history_lab(tmp_path, preload=[library]) as lab:
        try:
            yield lab, flag
        finally:
            flag.unlink(missing_ok=True)


@pytest.mark.plain
def test_disk_that_hangs_stops_nothing_else_and_is_reported(tmp_path, monkeypatch):
    with hung_disk_lab(tmp_path, monkeypatch) as (lab, flag):
        wait_for_event(lab, "looks")
        flag.write_text("history-", encoding="ascii")
        cut_and_mend(lab)
        what, = wait_until(lambda: failing(lab), 40, "health")
        assert "has not answered for" in what, what
        log_has(lab, "does not answer", timeout_s=20)
        n = ask_json(lab, "status")["perfmgr"]["sweeps"]
        wait_until(lambda: ask_json(lab, "status")["perfmgr"]["sweeps"] > n + 1, 30,
                   "sweeps")
        flag.unlink()
        wait_until(lambda: not failing(lab), 30, "the disk to answer")
        log_has(lab, "answers again", timeout_s=20)
        wait_until(lambda: has_written(tmp_path / "state", "link-up"), 20, "the file")


def test_disk_that_hangs_at_the_end_does_not_keep_opensm(tmp_path, monkeypatch):
    with hung_disk_lab(tmp_path, monkeypatch) as (lab, flag):
        wait_for_event(lab, "looks")
        flag.write_text("history-", encoding="ascii")
        cut_and_mend(lab)
        end(lab, signal.SIGTERM)
