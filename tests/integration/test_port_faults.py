# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The port manager on stock opensm: cables in the wrong place, switches that don't obey,
files that are half written, a disk that is full, half a fabric that goes, an SM too many.
In each case everything that was sent was permitted, within its term, and in a journal."""

import contextlib
import json
import os
import re
import threading
import time
import urllib.request

import pytest

from checks import failed, mentions, succeeded, wait_until
from labs import BUILDDIR
from portlib import DISABLED, POLLING, managed, switch_guid
from smalldisk import SmallDisk
from triadlab import hosts, state
from triadlab.tcp_ports import free_port
from triadlib import ask_json

LEAF1, LEAF2, LEAF3, SPINE1 = (switch_guid(number) for number in (1, 2, 3, 4))

SM_PORT = "0x0200000100000011"  # of host-0001

AT_ONCE = {"grace": 0, "drain": 0}


def done(ports):
    """(port, deed, reason) of what was done, the first one first."""
    return [(one["port"], one["deed"], one["reason"]) for one in reversed(ports.history())
            if one["outcome"] == "done"]


# --- cables ---------------------------------------------------------------------

SWAP = ('Unlink "leaf-03"[1]', 'Unlink "leaf-03"[2]',
        'Link "leaf-03"[1] "host-0010"[1]', 'Link "leaf-03"[2] "host-0009"[1]')


@pytest.mark.plain
@pytest.mark.row("E9")
def test_wrong_cable_disabled_at_once_and_its_own_place_left_alone():
    with managed() as ports:
        ports.lab.sim('Unlink "leaf-03"[2]', 'Unlink "leaf-03"[3]',
                      'Link "leaf-03"[2] "host-0011"[1]')
        row = ports.wait_for("leaf-03", 2, "failed")
        assert "leads to host-0011" in row["text"]
        ports.wait_for("leaf-03", 3, "down")
        assert done(ports) == [(2, "disable", "miswired")], "what was done"
        assert ports.status()["failed"] == 1, "failed ports, by 'status'"
        listed = json.loads(ports.ask("port", "list", "--failed", "--json"))
        assert [row["port"] for row in listed["ports"]] == [2], "'port list --failed'"
        ports.check(expected_sets=1)


@pytest.mark.row("E9")
def test_swapped_cables_both_disabled_and_released():
    with managed() as ports:
        ports.lab.sim(*SWAP)
        for port in (1, 2):
            row = ports.wait_for("leaf-03", port, "failed")
            assert "leads to" in row["text"]
        assert sorted(done(ports)) == \
            [(1, "disable", "miswired"), (2, "disable", "miswired")], "what was done"
        for port in (1, 2):
            ports.ask("port", "release", "leaf-03", str(port))
        # Nothing was mended.
        wait_until(lambda: len(ports.sets()) >= 4, 30, "ports enabled again")
        assert [one.phys_state for one in ports.sets()] == \
            [DISABLED, DISABLED, POLLING, POLLING], "what was sent"
        ports.lab.sim('Unlink "leaf-03"[1]', 'Unlink "leaf-03"[2]',
                      'Link "leaf-03"[1] "host-0009"[1]',
                      'Link "leaf-03"[2] "host-0010"[1]')
        for port in (1, 2):
            ports.wait_for("leaf-03", port, "active")
        ports.check(expected_sets=4)


def test_loop_cable_disabled_as_miswired():
    with managed() as ports:
        for port in (7, 8):
            ports.expected.rows[(SPINE1, port)] = [
                f"{SPINE1:#x}", str(port), "enabled", f"node_guid={LEAF1:#x}", "", "", "",
                ""]
        ports.load()
        ports.lab.sim('Link "spine-01"[7] "spine-01"[8]')
        row = ports.wait_for("spine-01", 7, "failed")
        assert "leads to spine-01" in row["text"]
        # In the simulator a link stays up when one end is disabled.
        ports.wait_for("spine-01", 8, "failed")
        assert done(ports) == \
            [(7, "disable", "miswired"), (8, "disable", "miswired")], \
            "what was done, one end first"
        assert ports.row("leaf-01", 5)["found"] == "active", "a link of that switch"
        ports.check(expected_sets=2)


# --- switches -------------------------------------------------------------------

@pytest.mark.parametrize("word, outcome, text", [
    ("refuse", "refused", "refused it, with status 0x001c"),
    ("ignore", "refused", "took it and did nothing"),
    ("lose", "unanswered", "did not answer")])
def test_switch_that_does_not_obey_is_asked_again_later(scratch, word, outcome, text):
    """A switch that does something else than it is told, and another one that obeys."""
    wish = scratch.folder() / "switch"
    os.environ["TRIAD_RECORD_SWITCH"] = str(wish)
    scratch.callback(os.environ.pop, "TRIAD_RECORD_SWITCH", None)
    wish.write_text(f"{word} 3\n", encoding="ascii")
    with managed(port=AT_ONCE) as ports:
        ports.expected.change(LEAF3, 3, state="disabled")
        ports.expected.change(LEAF3, 4, state="disabled")
        ports.load()
        ports.wait_for("leaf-03", 4, "disabled")
        wait_until(lambda: ports.deeds(LEAF3, 3).count(
            ("disable", outcome, "expected")) >= 2, 40, "a second attempt")
        assert ports.row("leaf-03", 3)["found"] == "active", "the port"
        assert {one["outcome"]: text in one["text"] for one in ports.history()
                if one["port"] == 3} == {"intended": False, outcome: True}, \
            "what is said"
        assert {one["node_name"] for one in ports.history()} == {"leaf-03"}
        assert ports.status()["sets_failed"] >= 2, ports.status()
        text = ports.ask("port", "history")
        assert re.search(rf"^\S+Z +leaf-03 +3 +disable +{outcome} +expected +host-0001",
                         text, re.MULTILINE), text
        assert len(re.findall("leaf-03 +4 +disable", text)) == 1, "one deed, one entry"
        assert "0x0000" not in text and "0x02" not in text, "names, no GUIDs"
        rows = succeeded(ports.lab.run(
            "triadctl", "port", "history", "--raw", "--no-headings", "--sort", "port",
            "--columns", "port,deed,outcome,node_name,term")).stdout.splitlines()
        assert [row.split()[0] for row in rows] == sorted(
            row.split()[0] for row in rows), rows
        assert "4 disable done leaf-03 1" in [" ".join(row.split()) for row in rows], rows
        assert not ports.history("--at", "1d"), "nothing had been done then"
        later = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(time.time() + 3600))
        assert {one["port"] for one in ports.history("--at", later)} == {3, 4}
        wish.unlink()
        ports.wait_for("leaf-03", 3, "disabled", timeout_s=60)
        deeds = ports.deeds(LEAF3, 3)
        assert deeds[-1] == ("disable", "done", "expected"), "the end"
        assert [outcome for _, outcome, _ in deeds[::2]] == \
            ["intended"] * (len(deeds) // 2), "what is said before each attempt"
        n_failed = len(deeds) // 2 - 1
        ports.check(expected_sets=2 + n_failed * (3 if word == "lose" else 1))


# --- the journal ----------------------------------------------------------------

@contextlib.contextmanager
def managed_on_small_disk():
    """The disk is for the state of the SM: a journal whose last block is full."""
    disks = []

    def prepare(folder):
        state_folder = folder / f"state-{SM_PORT}"
        state_folder.mkdir()
        disks.append(SmallDisk(state_folder, 64))
        journal = state_folder / f"ports-{SM_PORT}.journal"
        journal.write_text("x" * 4095 + "\n", encoding="ascii")
        return disks[0].unmount
    with managed(port=AT_ONCE, prepare=prepare) as ports:
        yield ports, disks[0]


def generation_confirmed(ports):
    """As the election has it from this SM."""
    return ask_json(ports.lab, "election")["members"][0]["generation"]


def test_full_disk_no_port_touched_until_there_is_room():
    with managed_on_small_disk() as (ports, disk):
        assert ports.guids == [SM_PORT], "the SM's port"
        disk.fill()
        ports.expected.change(LEAF3, 3, state="disabled")
        ports.load()
        wait_until(lambda: "No space left" in (ports.status()["trouble"] or ""), 30,
                   "a word about the disk")
        told = "written No space left on device no port"
        assert mentions(ports.status()["trouble"], told)
        plan = ports.lab.run("triadctl", "port", "plan")
        failed(plan, 3)
        assert "nothing is done: " in plan.stdout
        assert mentions(plan.stdout, told)
        ports.sweep()
        assert sum(mentions(line, told) for line in ports.lab.log().splitlines()) == 1, \
            "lines of it in the log"
        assert ports.sets() == [], "what was sent"
        assert ports.row("leaf-03", 3)["found"] == "active", "the port"
        # It is confirmed to nobody: a restart would bring the last one back.
        assert generation_confirmed(ports) < ports.expected.generation
        disk.make_room()
        ports.wait_for("leaf-03", 3, "disabled", timeout_s=90)
        assert generation_confirmed(ports) == ports.expected.generation
        assert ports.status()["trouble"] is None, "the trouble, with room"
        ports.check(expected_sets=1)


def test_full_disk_holds_no_port_back_and_is_over_though_nothing_is_left_to_write():
    with managed_on_small_disk() as (ports, disk):
        ports.lab.sim('Unlink "leaf-03"[2]')
        ports.wait_for("leaf-03", 2, "down")
        disk.fill()
        ports.expected.change(LEAF3, 3, state="disabled")
        ports.expected.change(LEAF3, 2, state="test")
        ports.load()
        wait_until(lambda: "No space left" in (ports.status()["trouble"] or ""), 30,
                   "a word about the disk")
        # Its test can't be recorded, so it can't begin; that may be over soon.
        ports.lab.sim('ReLink "leaf-03"[2]')
        ports.wait_for("leaf-03", 2, "held")
        ports.wait_for("leaf-03", 2, "active")
        ports.lab.sim('Unlink "leaf-03"[2]')
        ports.wait_for("leaf-03", 2, "down")
        ports.lab.sim('ReLink "leaf-03"[2]')
        ports.wait_for("leaf-03", 2, "active")
        assert not ports.status()["held"], "ports held"
        ports.expected.change(LEAF3, 3, state="enabled")
        ports.expected.change(LEAF3, 2, state="enabled")
        ports.load()
        disk.make_room()
        wait_until(lambda: ports.status()["trouble"] is None, 30, "the end of the trouble")
        assert ports.lab.log().count("can be written again") == 1, "lines of it in the log"
        ports.check(expected_sets=0)


def answers_meanwhile(ports, address):
    """Nobody who only looks waits for the disk."""
    for words in (("status",), ("election",), ("port", "list"), ("port", "plan"),
                  ("port", "history"), ("port", "snapshot")):
        process = ports.lab.run("triadctl", "--timeout", "5", *words)
        assert process.returncode in (0, 3), (words, process.stderr)
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=5) as answer:
        assert b"triad_ports_sets_total " in answer.read(), "metrics"


@contextlib.contextmanager
def hung_disk(tmp_path, monkeypatch):
    """A lab, a function that makes the disk hang for files of that name, and the address
    of its metrics."""
    flag = tmp_path / "hung"
    monkeypatch.setenv("TRIAD_HUNG_DISK", str(flag))
    library = BUILDDIR / "tests/lab/.libs/libhungdisk.so"
    address = f"127.0.0.1:{free_port()}"
    with managed(port=AT_ONCE, preload=[library],
                 more=f"[prometheus]\nlisten = {address}\n") as ports:
        try:
            yield ports, flag.write_text, address
        finally:
            flag.unlink(missing_ok=True)


@pytest.mark.plain
def test_journal_that_hangs_all_else_answered_meanwhile(tmp_path, monkeypatch):
    with hung_disk(tmp_path, monkeypatch) as (ports, hang, address):
        hang(".journal")
        ports.expected.change(LEAF3, 3, state="disabled")
        ports.expected.write(ports.file_of(0))
        # Whoever has something done is told after 10 s that it was not.
        wait_until(lambda: "waits for its" in
                   ports.lab.triad("port", "release", "leaf-03", "1").stderr, 40,
                   "the port manager to hang")
        answers_meanwhile(ports, address)
        assert ports.row("leaf-03", 3)["found"] == "active", "the port"
        assert ports.sets() == [], "what was sent"
        hang("")
        ports.wait_for("leaf-03", 3, "disabled")
        released = ports.lab.triad("port", "release", "leaf-03", "1")
        failed(released, 1)
        assert "not disabled as failed" in released.stderr, "once the disk is back"
        ports.check(expected_sets=1)


def test_state_file_that_hangs_all_else_answered_meanwhile(tmp_path, monkeypatch):
    with hung_disk(tmp_path, monkeypatch) as (ports, hang, address):
        hang(".state")
        told = ports.lab.run("triadctl", "--timeout", "1", "port", "blacklist", "add",
                             "0x1234")
        assert "said nothing for 1 s" in told.stderr, told
        answers_meanwhile(ports, address)
        hang("")
        wait_until(lambda: ports.ask("port", "blacklist").count("1234"), 20,
                   "the entry, once the disk is back")
        ports.check(expected_sets=0)


# --- the file -------------------------------------------------------------------

def write_in_pieces(path, text):
    with path.open("w", encoding="ascii") as file:
        for begin in range(0, len(text), 40):
            file.write(text[begin:begin + 40])
            file.flush()
            # As somebody who types; each second it is looked at what there is.
            time.sleep(0.01)


def keep_writing(path, texts, until):
    """Writes one after the other into the same file, in pieces; the last one is whole."""
    def write():
        while not until.is_set():
            for text in texts:
                write_in_pieces(path, text)
    thread = threading.Thread(target=write)
    thread.start()
    return thread


def test_file_written_while_read_only_whole_ones_in_force():
    with managed() as ports:
        before = ports.expected.generation
        rows = ports.file_of(0).read_text(encoding="ascii").split("\n", 1)[1]
        texts = [f"generation {before + 1}\n{rows}",
                 f"generation {before + 2}\n" + rows.replace(",enabled,", ",test,")]
        stop = threading.Event()
        writer = keep_writing(ports.file_of(0), texts, stop)
        seen = set()
        try:
            for _ in range(3):
                ports.sweep()
                report = ports.status()
                seen.add((report["generation"], report["rows"], report["mistakes"]))
        finally:
            stop.set()
            writer.join()
        assert seen == {(before, rows.count("\n"), 0)}, "what was in force meanwhile"
        ports.expected.generation = before + 2
        ports.expected.change(LEAF3, 3, state="disabled")
        ports.expected.write(ports.folder / "last")
        write_in_pieces(ports.file_of(0),
                        (ports.folder / "last").read_text(encoding="ascii"))
        ports.wait_for_generation(before + 3)
        ports.wait_for("leaf-03", 3, "disabled")
        ports.check(expected_sets=1)


def test_file_with_mistakes_all_reported_and_last_good_one_stays():
    with managed() as ports:
        good = ports.expected.generation
        path = ports.file_of(0)
        lines = path.read_text(encoding="ascii").splitlines()
        lines[0] = f"generation {good + 1}"
        lines[2] += "\n0x10,0,enabled"
        lines[3] = "leaf-01,5,on,gud=0x1,5x"
        new = path.with_suffix(".new")
        new.write_text("\n".join(lines) + "\n", encoding="ascii")
        new.rename(path)
        wait_until(lambda: ports.status()["mistakes"], 30, "mistakes")
        report = ports.status()
        assert (report["generation"], report["mistakes"], report["state"]) == \
            (good, 4, "enforcing"), "generation, mistakes, state"
        assert mentions(report["mistake"], f"{path}:4:6: port 0")
        log = ports.lab.log()
        for words in ("4:6: port 0", "5:11: state 'on'", "5:14: remote 'gud'",
                      "5:22: width '5x'"):
            assert mentions(log, f"{path}:{words}")
        assert mentions(log, f"{path} not taken")
        # It is still in force, not only still told.
        ports.lab.sim(*SWAP)
        for port in (1, 2):
            ports.wait_for("leaf-03", port, "failed")
        ports.check(expected_sets=2)


# --- many at once ---------------------------------------------------------------

N_MANY = 500
TREE = ("fat-tree", "--hosts", "648", "--radix", "36")


def count_found(ports):
    """How many rows are found so, by the word."""
    listed = json.loads(ports.ask("port", "list", "--json", "-n", "10000"))
    counts = {}
    for row in listed["ports"]:
        counts[row["found"]] = counts.get(row["found"], 0) + 1
    return counts


def test_500_ports_unplugged_at_once_nothing_sent():
    with managed(fabric=TREE) as ports:
        whole = count_found(ports)
        assert whole == {"active": 648 * 3}, "ports"
        first = 648 - N_MANY
        places = [f'"leaf-{host // 18 + 1:02}"[{host % 18 + 1}]'
                  for host in range(first, 648)]
        ports.lab.sim(*(f"Unlink {place}" for place in places))
        wait_until(lambda: count_found(ports) == {
            "active": 648 * 3 - N_MANY, "down": N_MANY}, 120, "ports that are down")
        ports.sweep()
        report = ports.status()
        assert (report["state"], report["disable"], report["enable"], report["test"]) == \
            ("enforcing", 0, 0, 0), "state, what is to be done"
        ports.lab.sim(*(f"ReLink {place}" for place in places))
        wait_until(lambda: count_found(ports) == whole, 120, "all ports active")
        ports.check(expected_sets=0)


# --- an SM too many -------------------------------------------------------------

def test_another_sm_without_cluster_nothing_done_until_it_is_gone():
    with managed(port=AT_ONCE, sms=("host-0001", "host-0005"), expected=False) as ports:
        master = ports.cluster.wait_for_holder()
        wait_until(lambda: ports.ask_ok("port", "snapshot", sm=master), 30, "a fabric")
        ports.snapshot(master)
        ports.expected.change(LEAF3, 3, state="disabled")
        ports.load(master)
        told = f"election.cluster none another SM {ports.guids[1 - master]}"
        wait_until(lambda: mentions(ports.status(master)["trouble"] or "", told), 60,
                   "its reason")
        assert ports.status(master)["state"] == "waiting for permission", "state"
        ports.sweep(sm=master)
        process = ports.lab.run("triadctl", "port", "approve", sm=master)
        failed(process, 1, "port approve not now election.cluster none")
        assert ports.sets() == [], "what was sent"
        hosts.kill(state.load_required(ports.lab.folder), 1 - master, "opensm")
        ports.wait_for("leaf-03", 3, "disabled", sm=master, timeout_s=120)
        assert ports.status(master)["trouble"] is None, "trouble"
        ports.check(expected_sets=1)


# --- ports that need not be held any more ---------------------------------------

def held(ports):
    """Leaf-02's port 3, in a test that goes on."""
    ports.lab.sim('Unlink "leaf-02"[3]')
    ports.wait_for("leaf-02", 3, "down")
    ports.expected.change(LEAF2, 3, state="test", check="name=nobody")
    ports.load()
    ports.plug_in('"leaf-02"[3]')
    wait_until(lambda: ports.row("leaf-02", 3)["test"] == "application", 20, "a test")


def test_held_port_no_longer_under_test_comes_up():
    with managed(port={"test_timeout": 600}) as ports:
        held(ports)
        ports.expected.change(LEAF2, 3, state="enabled", check="")
        ports.load()
        ports.wait_for("leaf-02", 3, "active", timeout_s=15)
        ports.check(expected_sets=0)


def test_held_port_mode_observe_comes_up():
    with managed(port={"test_timeout": 600}) as ports:
        held(ports)
        ports.ask("set", "port.mode", "observe")
        ports.wait_for("leaf-02", 3, "active", timeout_s=15)
        ports.check(expected_sets=0)
