# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The triadd that is connected to the broker for a manager: stopped, killed, malformed."""

import contextlib
import os
import signal
import socket
import struct
import threading
from pathlib import Path

import pytest

from agentlib import (HOSTS, SM, Broker, errors_at, fat_tree, manager_lab, near_and_far,
                      set_errors, wait_for_errors, wait_until_settled)
from checks import mentions, stopped, succeeded, wait_until
from labs import Lab, Triadd
from triadlib import health_findings, log_has, status

# The plugin notices after 10 s that triadd says nothing.
SILENT_S = 15


def collect_of(lab):
    return status(lab)["collect"]


def lacks(lab, words):
    """Whether status says in these words why there is no connection."""
    return mentions(collect_of(lab).get("not_connected") or "", words)


def triadd_of(lab):
    return lab.state().triadds[0]


class Totals:
    """Reads the manager's total again and again, until the end of the block."""

    def __init__(self, lab):
        self.seen = []
        self._lab = lab
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def _read_once(self):
        total = errors_at(self._lab)
        if total is not None and self.seen[-1:] != [total]:
            self.seen.append(total)

    def _read(self):
        while not self._ends.wait(0.1):
            self._read_once()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ends.set()
        self._thread.join()
        self._read_once()


@pytest.mark.plain
@pytest.mark.parametrize("seconds", (1, 3, 30))
def test_triadd_stopped_totals_go_on(scratch, seconds):
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        near_and_far(scratch, lab, broker)
        wait_until_settled(lab, 2)
        set_errors(lab, 100)
        wait_for_errors(lab, 100)
        with Totals(lab) as totals:
            with stopped(triadd_of(lab).process.pid):
                set_errors(lab, 200)
                if seconds > SILENT_S:
                    wait_until(lambda: lacks(lab, "triadd heard 10 s"), SILENT_S,
                               "what status says")
                    assert health_findings(lab, "broker triadd heard"), "health"
                    assert log_has(lab, "broker triadd agents"), "the log"
                threading.Event().wait(seconds)
            wait_until(lambda: collect_of(lab)["broker"], 20, "the connection")
            wait_until_settled(lab, 2)
            wait_for_errors(lab, 200)
            set_errors(lab, 300)
            wait_for_errors(lab, 300)
        assert totals.seen == [100, 200, 300], "totals"


@pytest.mark.plain
def test_triadd_killed_and_started_again_totals_go_on(scratch):
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        near_and_far(scratch, lab, broker)
        wait_until_settled(lab, 2)
        set_errors(lab, 100)
        wait_for_errors(lab, 100)
        before = collect_of(lab)
        with Totals(lab) as totals:
            for errors in (200, 300):
                os.kill(triadd_of(lab).process.pid, signal.SIGKILL)
                wait_until(lambda: lacks(lab, "triadd ended"), 5, "what status says")
                assert health_findings(lab, "broker triadd ended"), "health"
                set_errors(lab, errors)
                lab.start_triadd()
                wait_until(lambda: collect_of(lab)["broker"], 20, "the connection")
                wait_until_settled(lab, 2)
                wait_for_errors(lab, errors)
        assert totals.seen == [100, 200, 300], "totals"
        # Numbers come each two seconds, and go on from those of before.
        wait_until(lambda: collect_of(lab)["connects"] == before["connects"] + 2, 10,
                   "connections made")
        wait_until(lambda: collect_of(lab)["received"] > before["received"], 10,
                   "messages received")


# --- what is no triadd ---------------------------------------------------------------

MESSAGE, STATE = b"M", b"S"


def record(kind, octets, detail=0, sender=1, size=None):
    return kind + struct.pack(">BHIQ", detail, 0, len(octets) if size is None else size,
                              sender) + octets


def frame(kind, octets):
    return kind + struct.pack(">BHI", 1, 0, len(octets)) + octets


def say(lab, octets):
    """Says that to the plugin as a triadd does, in one piece, and then no more."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(20)
        connection.connect(triadd_of(lab).socket)
        connection.sendall(frame(b"R", b"bus-in\0") + frame(b"O", octets) +
                           frame(b"O", b""))
        answer = b""
        # What is malformed is not read to its end, and then the connection is reset.
        with contextlib.suppress(ConnectionResetError):
            while piece := connection.recv(4096):
                answer += piece
    return answer


def test_malformed_records_are_counted_and_harm_nobody(scratch):
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        near_and_far(scratch, lab, broker)
        wait_until_settled(lab, 2)
        assert b"another triadd" in say(lab, b""), "there is one"
        with stopped(triadd_of(lab).process.pid):
            wait_until(lambda: collect_of(lab)["broker"] is None, SILENT_S, "silence")
            before = collect_of(lab)
            for octets in (b"?" * 40, record(MESSAGE, b""), record(STATE, b"", size=1 << 30),
                           record(MESSAGE, b"x", size=(256 << 10) + 1),
                           record(MESSAGE, b"x", detail=3), record(STATE, b"x" * 9)):
                say(lab, octets)
            wait_until(lambda: collect_of(lab)["oversize"] == before["oversize"] + 6, 10,
                       "malformed ones that are counted")
            # What only looks like a message of an agent is refused as the broker's is.
            say(lab, record(MESSAGE, b"nonsense") * 3)
            wait_until(lambda: collect_of(lab)["foreign"] == before["foreign"] + 3, 10,
                       "nonsense that is counted")
        wait_until_settled(lab, 2)
        set_errors(lab, 5)
        wait_for_errors(lab, 5)


# --- beginning without one, and another broker ------------------------------------------

def is_connected_to(port):
    """Whether anybody on this host is, by TCP."""
    lines = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    return any(row[2].endswith(f":{port:04X}") and row[3] == "01"
               for row in map(str.split, lines))


def test_manager_without_triadd_says_so_until_it_comes(scratch):
    broker, other = Broker(scratch), Broker(scratch)
    net = fat_tree(scratch, HOSTS, "--radix", "6")
    # It becomes a manager when it runs, so no triadd is started beside it.
    with Lab(net, sms=[SM], triad_conf="[perfmgr]\nsweep_period = 1\n") as lab:
        path = lab.folder / "sm-0" / "triad.conf"
        text = path.read_text(encoding="utf-8")
        path.write_text(f"{text}[collect]\nmode = manager\nservers = {broker.url}\n"
                        "fabric = test\n", encoding="utf-8")
        succeeded(lab.triad("reload"))
        wait_until(lambda: lacks(lab, "triadd heard"), 10, "what status says")
        assert health_findings(lab, "broker triadd heard"), "health"
        assert log_has(lab, "broker triadd heard", timeout_s=25), "the log"
        Triadd(scratch, lab.state().sms[0].control_socket, "")

        def broker_of_lab():
            return (collect_of(lab).get("broker") or "").rpartition(":")[2]
        wait_until(lambda: broker_of_lab() == str(broker.port), 20, "the connection")
        assert not health_findings(lab, "broker triadd"), "health"
        succeeded(lab.triad("set", "collect.servers", other.url))
        wait_until(lambda: broker_of_lab() == str(other.port), 20, "the other broker")
        assert is_connected_to(other.port) and not is_connected_to(broker.port), "to one"
        succeeded(lab.triad("set", "collect.mode", "local"))
        wait_until(lambda: not is_connected_to(other.port), 20, "the end of the connection")


def test_opensm_stopped_for_good_leaves_no_manager_at_the_broker(scratch):
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        wait_until(lambda: collect_of(lab).get("broker"), 20, "the connection")
        assert is_connected_to(broker.port), "a connection"
        os.kill(lab.status()["sms"][0]["pid"], signal.SIGKILL)
        wait_until(lambda: not is_connected_to(broker.port), 20, "the end of the connection")
