# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Members of a group of Corosync's, one Corosync for all of them, which is killed,
stopped and started again.  It lives in namespaces of its own, on one node."""

import json
import os
import re
import shutil
import subprocess
import threading
import time
from pathlib import Path

import pytest

from checks import stopped, wait_until
from labs import BUILDDIR, COROSYNC, need


SAY = BUILDDIR / "tests" / "integration" / "cluster_say"
CONF = """totem {{
    version: 2
    cluster_name: {name}
    transport: knet
    token: 300
    token_coefficient: 0
    consensus: 360
    crypto_cipher: none
    crypto_hash: none
}}
nodelist {{
    node {{
        ring0_addr: 127.0.0.1
        name: one
        nodeid: 1
    }}
}}
quorum {{
    provider: corosync_votequorum
    expected_votes: {votes}
}}
logging {{
    to_stderr: yes
    to_syslog: no
}}
system {{
    sched_rr: no
    move_to_root_cgroup: no
}}
"""
SPACE = ("set -e; for d in /run /dev/shm /var/lib/corosync; do mkdir -p $d; "
         "mount -t tmpfs triad-test $d; done; ip link set lo up; echo ready; "
         "exec sleep infinity")
A, B, C = 0x0002c90300000001, 0x0002c90300000002, 0x0002c90300000003


class Cluster:
    """Namespaces, and Corosync in them when it is started."""

    def __init__(self, scratch, votes=2):
        need(COROSYNC)
        if not shutil.which("corosync"):
            pytest.skip("there is no corosync here")
        self.scratch = scratch
        self.corosync = None
        folder = scratch.folder()
        self.conf = folder / "corosync.conf"
        self.conf.write_text(CONF.format(name=f"triad-{os.getpid()}", votes=votes))
        self.log = (folder / "log").open("w+")
        scratch.callback(self.log.close)
        self.space = subprocess.Popen(
            ["unshare", "--mount", "--net", "--uts", "sh", "-c", SPACE],
            stdout=subprocess.PIPE, text=True)
        scratch.callback(end, self.space)
        assert self.space.stdout.readline() == "ready\n", "the namespaces"
        scratch.callback(lambda: self.corosync and end(self.corosync))

    def inside(self, *words):
        return ["nsenter", "-t", str(self.space.pid), "-m", "-n", "-u", *words]

    def start(self):
        self.corosync = subprocess.Popen(
            self.inside("corosync", "-f", "-c", str(self.conf)),
            stdout=self.log, stderr=self.log)

    def kill(self):
        end(self.corosync)

    def member(self, ident, group="triad", voters=0):
        return Member(self, ident, group, voters)


class Member:
    """A driver, and all it has said."""

    def __init__(self, cluster, ident, group, voters):
        self.lines = []
        self.process = subprocess.Popen(
            cluster.inside(str(SAY), group, str(ident), str(voters)), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True)
        cluster.scratch.callback(end, self.process)
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def say(self, *texts):
        self.process.stdin.write("".join(f"{text}\n" for text in texts))
        self.process.stdin.flush()

    def of(self, key):
        return [line for line in self.lines if key in line]

    def view(self):
        views = self.of("view")
        return views[-1] if views else {}

    def status(self):
        n = len(self.of("trouble"))
        self.say("?")
        wait_until(lambda: len(self.of("trouble")) > n, 10, "the status")
        return self.of("trouble")[-1]

    def texts(self):
        return [(line["sender"], line["text"]) for line in self.of("sender")]

    def wait_for_view(self, members, quorate=True, timeout_s=30):
        return wait_until(
            lambda: sorted(self.view().get("members", [])) == sorted(members)
            and self.view()["quorate"] == quorate and self.view(),
            timeout_s, f"a view of {members}")

    def end(self):
        """Whether its thread ended, too."""
        self.process.stdin.close()
        self.process.wait(30)
        self.reader.join(10)
        return self.lines[-1]["ended"]


def end(process):
    if process.poll() is None:
        process.kill()
    process.wait()


def cpu_ticks(member):
    """Hundredths of a second that its process has computed for."""
    stat = Path(f"/proc/{member.process.pid}/stat").read_text()
    return sum(map(int, stat.rpartition(")")[2].split()[11:13]))


def two(scratch):
    cluster = Cluster(scratch)
    cluster.start()
    first, second = cluster.member(A), cluster.member(B)
    for member in first, second:
        member.wait_for_view([A, B])
    return cluster, first, second


def test_members_see_each_other_and_one_order(scratch):
    _, first, second = two(scratch)
    for member in first, second:
        view = member.view()
        assert (view["connected"], view["needed"]) == (True, 2), "the view"
        assert member.of("view")[0]["connected"] is False, "the first view"
    for i in range(100):
        first.say(f"a{i}")
        second.say(f"b{i}")
    for member in first, second:
        wait_until(lambda m=member: len(m.texts()) + sum(
            1 for s in first.of("said") + second.of("said") if s["error"]) == 200,
            30, "all payloads")
    assert first.texts() == second.texts(), "the order"
    said = [s["text"] for s in
            ({"text": s["said"]} for s in first.of("said") if not s["error"])]
    assert [text for sender, text in first.texts() if sender == A] == said, \
        "what one said"
    numbers = [view["view"] for view in first.of("view")]
    assert numbers == sorted(set(numbers)), "the views' numbers"
    assert first.status()["trouble"] == "", "trouble"
    assert (first.end(), second.end()) == (True, True), "the ends"


def test_member_killed_leaves_the_view_and_another_comes(scratch):
    cluster, first, second = two(scratch)
    second.process.kill()
    view = first.wait_for_view([A], quorate=False)
    assert view["needed"] == 2, "votes"
    third = cluster.member(B)
    for member in first, third:
        member.wait_for_view([A, B])
    third.say("again")
    wait_until(lambda: first.texts() == [(B, "again")], 10, "its payload")


def test_corosync_killed_is_reported_and_started_again_is_joined(scratch):
    cluster, first, second = two(scratch)
    cluster.kill()
    for member in first, second:
        wait_until(lambda m=member: not m.view()["connected"], 10, "the end")
        assert member.view()["quorate"] is False, "quorum"
    assert (first.view()["members"], second.view()["members"]) == ([A], [B]), "alone"
    first.say("lost")
    wait_until(lambda: first.of("said"), 10, "the answer")
    assert first.of("said")[0]["error"], first.of("said")
    assert "start it" in first.status()["trouble"], "trouble"
    wait_until(lambda: first.status()["reconnects"] > 2, 10, "more tries")
    cluster.start()
    for member in first, second:
        member.wait_for_view([A, B])
    second.say("back")
    wait_until(lambda: first.texts() == [(B, "back")], 10, "its payload")
    assert first.status()["trouble"] == "", "trouble afterwards"


def say_until_full(first):
    """Corosync reads nothing: what is said waits in the queue until it is full."""
    n = 0
    # On their way, maybe an announcement among them, and in the queue.
    least, most = 32 + 64 - 2, 32 + 64

    def n_taken():
        return sum(not line["error"] for line in first.of("said"))

    # The queue may be full before the thread has sent the first of it.
    while n_taken() < least or not any(line["error"] for line in first.of("said")):
        # Fewer than the queue has room for.
        first.say(*[f"{n + i}" for i in range(50)])
        n += 50
        wait_until(lambda: len(first.of("said")) == n, 30, "answers")
        assert n < 100000, "everything is taken"
    print(f"{n} were said until the queue was full")
    assert {line["error"] for line in first.of("said")} == {0, 105}, "errors"
    assert first.texts() == [], "payloads that came back"
    assert n_taken() <= most, f"{n_taken()} are taken"
    # It waits, and does not spin.
    ticks = cpu_ticks(first)
    time.sleep(0.5)
    assert cpu_ticks(first) - ticks < 10, "its thread spins"


def test_corosync_stopped_lets_members_send_until_full_and_end(scratch):
    cluster, first, second = two(scratch)
    with stopped(cluster.corosync.pid):
        say_until_full(first)
        # It can't leave the group.
        assert second.end() is False, "the end of the other's thread"
    said = [line["said"] for line in first.of("said") if not line["error"]]
    wait_until(lambda: len(first.texts()) == len(said), 30, "payloads")
    assert [text for _, text in first.texts()] == said, "their order"
    first.wait_for_view([A], quorate=False)
    assert first.end() is True, "the end of a thread"


def test_majority_is_one_of_the_votes_that_corosync_expects(scratch):
    """Whoever is here: what one majority did, the next one must know."""
    cluster = Cluster(scratch, votes=3)
    cluster.start()
    first = cluster.member(A)
    wait_until(lambda: first.view().get("connected"), 30, "the connection")
    assert first.wait_for_view([A], quorate=False)["needed"] == 2, "votes"
    second = cluster.member(B)
    for member in first, second:
        assert member.wait_for_view([A, B])["needed"] == 2, "votes"
    # It may expect fewer later: those who knew of more are not forgotten.
    subprocess.run(cluster.inside("corosync-quorumtool", "-e", "1"), check=True,
                   stdout=subprocess.DEVNULL)
    wait_until(lambda: re.search(r"Expected votes: +1\b", subprocess.run(
        cluster.inside("corosync-quorumtool", "-s"), capture_output=True, text=True,
        check=False).stdout), 10, "fewer votes")
    second.process.kill()
    assert first.wait_for_view([A], quorate=False)["needed"] == 2, "votes"


def test_number_of_voters_is_set_and_more_than_that_are_reported(scratch):
    cluster = Cluster(scratch, votes=5)
    cluster.start()
    first, second = (cluster.member(ident, voters=2) for ident in (A, B))
    for member in first, second:
        assert member.wait_for_view([A, B])["needed"] == 2, "votes"
    assert first.status()["trouble"] == "", "trouble"
    third = cluster.member(C, voters=2)
    assert first.wait_for_view([A, B, C])["needed"] == 2, "votes"
    wait_until(lambda: "election.voters" in first.status()["trouble"], 10, "trouble")
    third.process.kill()
    first.wait_for_view([A, B])
    wait_until(lambda: first.status()["trouble"] == "", 10, "trouble")


def test_half_of_the_votes_is_no_majority(scratch):
    cluster = Cluster(scratch, votes=2)
    cluster.conf.write_text(cluster.conf.read_text().replace(
        "expected_votes: 2", "expected_votes: 2\n    two_node: 1\n"
        "    wait_for_all: 0"))
    cluster.start()
    first = cluster.member(A)
    wait_until(lambda: first.view().get("connected"), 30, "the connection")
    view = first.wait_for_view([A], quorate=False)
    first.say("x")
    wait_until(lambda: first.texts() == [(A, "x")], 10, "a payload")
    quorum = subprocess.run(cluster.inside("corosync-quorumtool", "-s"),
                            capture_output=True, text=True, check=False).stdout
    assert "Quorate:          Yes" in quorum, "what Corosync says"
    assert first.view()["quorate"] is False, "quorum"
    assert view["needed"] == 2, "votes"


def test_two_of_one_id_are_reported(scratch):
    cluster, first, _ = two(scratch)
    third = cluster.member(B)
    wait_until(lambda: "port GUID" in first.status()["trouble"], 10, "trouble")
    third.say("who")
    wait_until(lambda: first.status()["strangers"] >= 2, 10, "the count")
    assert first.texts() == [], "payloads"


@pytest.mark.plain
def test_group_name_too_long_is_reported(scratch):
    cluster = Cluster(scratch)
    member = cluster.member(A, group="x" * 101)
    wait_until(lambda: "101 characters" in member.status()["trouble"], 10, "trouble")
    assert member.view()["connected"] is False, "the view"
    assert member.end() is True, "the end"


def test_corosync_refuses_a_user_is_reported(scratch):
    cluster = Cluster(scratch)
    cluster.start()
    cluster.member(A).wait_for_view([A], quorate=False)
    other = subprocess.Popen(
        cluster.inside("setpriv", "--reuid", "65534", "--regid", "65534",
                       "--clear-groups", str(SAY), "triad", str(B)),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    scratch.callback(end, other)

    def trouble():
        other.stdin.write("?\n")
        other.stdin.flush()
        while "trouble" not in (line := json.loads(other.stdout.readline())):
            pass
        return line["trouble"]
    wait_until(lambda: "uidgid.d" in trouble(), 10, "trouble")
