# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Agents keep the paths that the SM answers: the same as its answers, never old ones, in
ibacm's file and for 'paths'."""

import contextlib
import json
import os
import re
import signal
import struct
import threading
import time
import urllib.request

import pytest

from agentlib import (AT_SENDER, Broker, Member, Stranger, conf, fat_tree, free_port,
                      head)
from checks import failed, mentions, stopped, succeeded, wait_until
from labs import Lab
from pathlab import is_answering, node_records
from triadlib import ask, status
from triadlab import netfile

HOSTS = 6
SM, OTHER_SM = "host-0001", "host-0004"
AGENTS = (2, 3, 5, 6)
# What an old answer may not outlive.
LIFE_S = 1.0
FAST_FAIL_OVER = "sminfo_polling_timeout 500\npolling_retry_number 1\n"
BULK = 2

POLICY = """\
port-groups
  port-group
    name: Storage
    port-guid: {storage}
  end-port-group
end-port-groups
qos-levels
  qos-level
    name: DEFAULT
    sl: {default}
  end-qos-level
  qos-level
    name: Bulk
    sl: {sl}
    mtu-limit: 2
  end-qos-level
end-qos-levels
qos-match-rules
  qos-match-rule
    destination: Storage
    qos-level-name: Bulk
  end-qos-match-rule
end-qos-match-rules
"""

QOS = "[qos]\nenabled = true\npolicy_file = {policy}\n"


class PathLab:
    """A broker, an SM or two with a policy, and agents that keep paths."""

    def __init__(self, scratch, sms=(SM,), agents=AGENTS, opensm_conf="", role="master",
                 partitions=None):
        self.scratch = scratch
        self.net = fat_tree(scratch, HOSTS, "--radix", "6")
        self.hosts = [node.guid + 1
                      for node in netfile.read(self.net).of_kind(netfile.HCA)]
        self.storage = self.hosts[-1]
        if partitions:
            path, hosts = partitions
            path.write_text(PARTITIONS.format(hosts=", ".join(
                f"{self.hosts[host - 1]:#x}=full" for host in hosts)), encoding="utf-8")
        self.policy = scratch.folder() / "policy.conf"
        self.write_policy(default=1, sl=2)
        self.broker = Broker(scratch)
        text = conf(self.broker, "manager", QOS.format(policy=self.policy), paths="true")
        self.lab = Lab(self.net, sms=sms, opensm_conf=opensm_conf, triad_conf=text.replace(
            "[perfmgr]\n", f"[perfmgr]\nrole = {role}\n"))
        self.numbers = agents
        self.ends = None
        self.members = []

    def __enter__(self):
        self.lab.__enter__()
        wait_until(lambda: is_answering(self.lab), 60, "the SM's answers")
        lids = {int(guid, 0): lid for lid, guid in node_records(self.lab, node=SM)}
        self.ends = lids[self.hosts[1]], lids[self.hosts[2]]
        for number in self.numbers:
            self.add_agent(number)
        return self

    def __exit__(self, *error):
        for member in self.members:
            member.end()
        return self.lab.__exit__(*error)

    def add_agent(self, number, extra=""):
        folder = self.scratch.folder()
        member = Member(self.scratch, self.lab, f"host-{number:04d}",
                        conf(self.broker, "agent", extra, name=f"a{number}", paths="true",
                             paths_file=f"{folder}/paths"))
        member.paths_file = folder / "paths"
        self.members.append(member)
        return member

    def write_policy(self, **levels):
        new = self.policy.with_suffix(".new")
        new.write_text(POLICY.format(storage=f"{self.storage:#x}", **levels),
                       encoding="utf-8")
        new.rename(self.policy)

    def change_policy(self, default, sl):
        """Returns when the SM answers by it."""
        self.write_policy(default=default, sl=sl)
        ask(self.lab, "qos", "apply")
        # Between hosts of which none is the storage.
        wait_until(lambda: path_record(self.lab, *self.ends)[0] == default, 30,
                   "the SM's answer by the new policy")

    def pid(self, sm=0):
        return self.lab.status()["sms"][sm]["pid"]

    def wait_for_paths(self):
        return [wait_until(lambda m=member: paths_of(m), 60,
                           lambda m=member: f"paths: {m.control('paths').stderr}")
                for member in self.members]


def paths_of(member, *words):
    """What 'paths' has, or None while it refuses."""
    process = member.control("paths", *words, "--json")
    return json.loads(process.stdout) if process.returncode == 0 else None


def sls_of(report):
    return {row["sl"] for row in report["paths"] if row["has_path"]}


def path_record(lab, slid, dlid, node=SM):
    """(SL, MTU, rate, P_Key) as the SM answers, coded; None for no path."""
    process = lab.run("saquery", "PR", "--slid", str(slid), "--dlid", str(dlid), node=node)
    found = dict(re.findall(r"^\t\t(\w+)\.+(\S+)$", process.stdout, re.MULTILINE))
    if "sl" not in found:
        return None
    return (int(found["sl"], 0), int(found["mtu"], 0) & 63, int(found["rate"], 0) & 63,
            int(found["pkey"], 0))


def as_record(row):
    if not row["has_path"]:
        return None
    return row["sl"], row["mtu_code"], row["rate_code"], int(row["pkey"], 0)


class Asker:
    """Asks agents for their paths, again and again; 'answers' has (when it asked, whom, the
    SL to 'lid', or to all but the storage; None: refused, or there is no path)."""

    def __init__(self, members, lid=None):
        self.members = members
        self.lid = lid
        self.answers = []
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(member,))
                         for member in members]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error):
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _run(self, member):
        while not self._is_over.is_set():
            asked = time.monotonic()
            report = paths_of(member)
            self.answers.append((asked, member.node, report and self._sl_in(report)))
            self._is_over.wait(0.02)

    def _sl_in(self, report):
        if not self.lid:
            return (sls_of(report) - {BULK}).pop()
        return next((row["sl"] for row in report["paths"]
                     if row["lid"] == self.lid and row["has_path"]), None)

    def last(self):
        """What each agent said last, with what it was asked after this."""
        return {node: sl for _, node, sl in self.answers}

    def wait_for(self, sl, what):
        """Until each has said so; returns when."""
        wait_until(lambda: set(self.last().values()) == {sl} and
                   len(self.last()) == len(self.members), 60, what)
        return time.monotonic()

    def has_printed(self, sl, after):
        """How often, when it was asked after that."""
        return sum(1 for asked, _, said in self.answers if said == sl and asked > after)


# --- the same as the SM's -----------------------------------------------------------

def check_rows(paths):
    """Each path of each agent is what the SM answers it; returns the agents' reports."""
    reports = paths.wait_for_paths()
    there = node_records(paths.lab, node=SM)
    for member, report in zip(paths.members, reports):
        rows = {row["lid"]: row for row in report["paths"]}
        assert {(lid, int(guid, 0)) for lid, guid in there} == {
            (lid, int(row["port_guid"], 0)) for lid, row in rows.items()}, "LIDs and GUIDs"
        for lid, row in rows.items():
            assert as_record(row) == path_record(
                paths.lab, report["lid"], lid, member.node), f"path to {row}"
    return reports


def test_rows_of_four_agents_are_what_the_sm_answers(scratch):
    with PathLab(scratch) as paths:
        for report in check_rows(paths):
            assert sls_of(report) == {1, BULK}, "SLs of the policy's levels"


PARTITIONS = """\
Default=0x7fff : ALL=limited, ALL_SWITCHES=full, SELF=full;
Compute=0x0001 : {hosts};
"""


@pytest.mark.plain
def test_rows_with_partitions(scratch):
    """Hosts see each other in a partition of theirs, of which ibacm's file has no path."""
    partitions = scratch.folder() / "partitions.conf"
    lines = f"partition_config_file {partitions}\n"
    with PathLab(scratch, agents=(2,), opensm_conf=lines,
                 partitions=(partitions, (2, 3))) as paths:
        report, = check_rows(paths)
        pkeys = {int(row["port_guid"], 0): row.get("pkey") for row in report["paths"]}
        assert [pkeys[paths.hosts[i]] for i in (0, 2, 4)] == ["0x7fff", "0x8001", None], \
            "P_Keys to the SM's host, to one of Compute and to one that is in neither"
        member, = paths.members
        wait_until(member.paths_file.exists, 20, "the file")
        rows, _, _ = read_as_ibacm(member.paths_file, int(report["port_guid"], 0))
        assert set(rows) == {row["lid"] for row in report["paths"]
                             if row.get("pkey") == "0x7fff"}, "paths in the file"


# --- ibacm's file -------------------------------------------------------------------

def read_as_ibacm(path, guid):
    """{LID: (SL, MTU, rate)} that ibacm takes from the file for a port with this GUID, and
    what it would call an error."""
    kinds = ("Switch", "Channel", "Router")
    guids, rows, errors, is_own = {}, {}, [], False
    for line in path.read_text(encoding="ascii").splitlines():
        assert len(line) < 127, "ibacm cuts lines"
        if line.startswith("#") or not line.strip():
            continue
        if line.startswith(kinds):
            found = re.fullmatch(
                r"(?:Switch|Channel Adapter|Router) (0x[0-9a-f]{16}), base LID (\d+), "
                r"LMC \d, port \d+", line)
            lid = int(found[2])
            errors += [f"duplicate {lid}"] if lid in guids else []
            guids[lid] = int(found[1], 16)
            is_own = guids[lid] == guid
            continue
        assert is_own, f"a path that is nobody's: {line}"
        lid, sl, mtu, rate = (int(word, 0) for word in line.split(" : "))
        rows[lid] = (sl, mtu, rate)
    return rows, guids, errors + [lid for lid in rows if lid not in guids]


@pytest.mark.plain
@pytest.mark.parametrize("lmc", [0, 2])
def test_file_has_what_ibacm_reads(scratch, lmc):
    with PathLab(scratch, agents=AGENTS[:2], opensm_conf=f"lmc {lmc}\n") as paths:
        for member, report in zip(paths.members, paths.wait_for_paths()):
            wait_until(member.paths_file.exists, 20, "the file")
            rows, guids, errors = read_as_ibacm(member.paths_file,
                                                int(report["port_guid"], 0))
            assert not errors, "what ibacm would log"
            wanted = {row["lid"]: (row["sl"], row["mtu_code"], row["rate_code"])
                      for row in report["paths"]
                      if guids.get(row["lid"]) == int(row["port_guid"], 0)}
            assert rows == wanted and len(rows) == len(node_records(paths.lab, node=SM)), "rows"
            assert len(report["paths"]) > len(rows) or not lmc, "LIDs besides base LIDs"
            assert member.paths_file.stat().st_mode & 0o777 == 0o644, "mode"
        member.end()
        assert not member.paths_file.exists(), "the file after the agent's end"


@contextlib.contextmanager
def path_lab_with_file(scratch):
    """With one agent, whose file is there."""
    with PathLab(scratch, agents=AGENTS[:1]) as paths:
        member, = paths.members
        wait_until(member.paths_file.exists, 60, "the file")
        yield paths, member


@pytest.mark.plain
def test_file_that_cannot_be_written_is_reported_once(scratch):
    with path_lab_with_file(scratch) as (paths, member):
        # In the way of the new file alone: the old one can be removed, as on a full disk.
        obstacle = member.paths_file.with_suffix(".new")
        obstacle.mkdir()
        paths.change_policy(default=3, sl=BULK)
        wait_until(lambda: "can't be written or removed" in
                   " ".join(member.control("health").stdout.split()),
                   60, "health says so")
        assert not member.paths_file.exists(), "an old file"
        assert member.log().count("can't be written") == 1, member.log()
        assert "again" not in member.log(), "it is well, as it says"
        obstacle.rmdir()
        wait_until(member.paths_file.exists, 20, "the file")
        wait_until(lambda: "can be written and removed again" in member.log(), 20,
                   "that it is well again")


@pytest.mark.plain
def test_file_that_somebody_removed_is_written_again(scratch):
    with path_lab_with_file(scratch) as (paths, member):
        text = member.paths_file.read_text(encoding="ascii")
        member.paths_file.unlink()
        wait_until(member.paths_file.exists, 20, "the file")
        assert member.paths_file.read_text(encoding="ascii") == text


@pytest.mark.plain
def test_file_that_could_not_be_seen_for_a_while_is_not_old(scratch):
    with path_lab_with_file(scratch) as (paths, member):
        guid = int(paths.wait_for_paths()[0]["port_guid"], 0)
        folder = member.paths_file.parent
        away = folder.with_suffix(".away")
        folder.rename(away)
        folder.symlink_to(folder)
        paths.change_policy(default=3, sl=BULK)
        wait_until(lambda: "can't be" in member.log(), 20, "that it can't be reached")
        folder.unlink()
        away.rename(folder)
        def sls():
            rows, _, _ = read_as_ibacm(member.paths_file, guid)
            return {sl for sl, _, _ in rows.values()}
        wait_until(lambda: member.paths_file.exists() and sls() == {3, BULK}, 20,
                   "the new paths in the file")
        wait_until(lambda: "can be written and removed again" in member.log(), 20,
                   "that it is well again")


def test_agent_whose_port_the_sm_does_not_see_is_shown_where_to_look(scratch):
    with path_lab_with_file(scratch) as (paths, member):
        paths.lab.sim(f'Unlink "host-{AGENTS[0]:04}"[1]')
        wait_until(lambda: "whether this host's port is in the SM's fabric" in
                   " ".join(member.control("health").stdout.split()), 60, "health says so")
        assert not member.paths_file.exists(), "an old file"


@pytest.mark.plain
def test_file_of_another_program_is_left_alone(scratch):
    with path_lab_with_file(scratch) as (paths, member):
        others = scratch.folder() / "others"
        others.write_text("another's\n", encoding="ascii")
        others.rename(member.paths_file)
        wait_until(lambda: mentions(" ".join(member.control("health").stdout.split()),
                                    "another program"), 20, "health says so")
        assert mentions(member.control("status", "--all").stdout, "another program")
        paths.change_policy(default=3, sl=BULK)
        wait_until(lambda: 3 in sls_of(paths_of(member) or {"paths": []}), 20, "new paths")
        assert member.paths_file.read_text(encoding="ascii") == "another's\n"
        assert member.log().count("another program") == 1, member.log()
        member.paths_file.unlink()
        wait_until(member.paths_file.exists, 20, "the file")
        assert "another" not in member.paths_file.read_text(encoding="ascii")
        wait_until(lambda: "another program" not in member.control("health").stdout, 20,
                   "health says that it is well")
        # Nor is one removed in the end.
        others.write_text("another's\n", encoding="ascii")
        others.rename(member.paths_file)
        member.end()
        assert member.paths_file.read_text(encoding="ascii") == "another's\n"


@pytest.mark.plain
def test_file_that_was_there_before_is_left_alone(scratch):
    with path_lab_with_file(scratch) as (_, member):
        text = member.paths_file.read_text(encoding="ascii")
        others = scratch.folder() / "others"
        others.write_text("# Paths of mine\n", encoding="ascii")
        member.control("set", "collect.paths_file", str(others))
        wait_until(lambda: mentions(" ".join(member.control("health").stdout.split()),
                                    "another program"), 20, "health says so")
        assert others.read_text(encoding="ascii") == "# Paths of mine\n"
        # What an earlier agent left is replaced.
        left = scratch.folder() / "left"
        left.write_text(text + "# old\n", encoding="ascii")
        member.control("set", "collect.paths_file", str(left))
        wait_until(lambda: left.exists() and left.read_text(encoding="ascii") == text, 20,
                   "its own file")
        assert others.read_text(encoding="ascii") == "# Paths of mine\n"


# --- never old ----------------------------------------------------------------------

@pytest.mark.threads
def test_policy_changed_no_old_path_after_a_second(scratch):
    with PathLab(scratch) as paths:
        paths.wait_for_paths()
        with Asker(paths.members) as asker:
            asker.wait_for(1, "paths by the first policy")
            for old, new in ((1, 3), (3, 4), (4, 1)):
                paths.change_policy(default=new, sl=BULK)
                changed = time.monotonic()
                asker.wait_for(new, "paths by the new policy")
                wait_until(lambda: time.monotonic() > changed + LIFE_S, 10, "a second")
                assert not asker.has_printed(old, changed + LIFE_S), "old paths"
        # When a message of the SM's comes late, there are no paths for a moment.
        for member, report in zip(paths.members, paths.wait_for_paths()):
            wait_until(member.paths_file.exists, 20, "the file")
            rows, _, _ = read_as_ibacm(member.paths_file, int(report["port_guid"], 0))
            assert {sl for sl, _, _ in rows.values()} == {1, BULK}, "SLs in the file"


def test_stopped_agent_has_no_old_path_when_it_goes_on(scratch):
    with PathLab(scratch, agents=AGENTS[:2]) as paths:
        paths.wait_for_paths()
        member, other = paths.members
        with contextlib.ExitStack() as asking:
            # Beats go on coming and wait in its socket; so does a request.
            with stopped(member.pid()):
                at = time.monotonic()
                asker = asking.enter_context(Asker([member]))
                wait_until(lambda: time.monotonic() > at + 1.5, 10, "some beats")
                paths.change_policy(default=3, sl=BULK)
                changed = time.monotonic()
                wait_until(lambda: time.monotonic() > max(at + 3, changed + LIFE_S), 30, "3 s")
            asker.wait_for(3, "paths by the new policy")
        assert not asker.has_printed(1, 0), "old paths, in what was asked while it was stopped"
        wait_until(lambda: sls_of(paths_of(other) or {"paths": ()}) == {3, BULK}, 20,
                   "the other one's")


def test_beats_that_waited_for_a_stopped_agent_are_old(scratch):
    with PathLab(scratch, agents=AGENTS[:1]) as paths:
        member, = paths.members
        paths.wait_for_paths()
        with contextlib.ExitStack() as silence:
            with stopped(member.pid()):
                at = time.monotonic()
                wait_until(lambda: time.monotonic() > at + 1.5, 10, "some beats")
                # The SM says nothing more: what waits for the agent is all of its old answers.
                silence.enter_context(stopped(paths.pid()))
                silent = time.monotonic()
                wait_until(lambda: time.monotonic() > silent + LIFE_S, 10, "a second")
            with Asker([member]) as asker:
                wait_until(lambda: len(asker.answers) > 20, 60, "answers")
        assert not asker.has_printed(1, 0), "paths of an SM that is silent"
        paths.wait_for_paths()


def test_host_that_left_has_no_path_while_the_sweep_is_long(scratch):
    with PathLab(scratch, agents=AGENTS[:2],
                 opensm_conf="transaction_timeout 5000\n") as paths:
        paths.wait_for_paths()
        lid = next(lid for lid, guid in node_records(paths.lab, node=SM)
                   if int(guid, 0) == paths.storage)
        # Switches take their new forwarding tables late; the SM knows before who left.
        paths.lab.harm_mads("delay ms 3000 attribute 0x19 direction out\n")
        with Asker(paths.members, lid) as asker:
            asker.wait_for(BULK, "paths to it")
            paths.lab.sim('Unlink "host-0006"[1]')
            wait_until(lambda: not path_record(paths.lab, paths.ends[0], lid), 30,
                       "that the SM has no path to it")
            gone = time.monotonic()
            asker.wait_for(None, "that they have none")
            wait_until(lambda: time.monotonic() > gone + LIFE_S, 10, "a second")
            paths.lab.heal_mads()
            wait_until(lambda: all(map(paths_of, paths.members)), 60, "other paths")
        assert not asker.has_printed(BULK, gone + LIFE_S), "paths to who left"


def test_sm_killed_no_path_after_a_second(scratch):
    with PathLab(scratch, agents=AGENTS[:2]) as paths:
        paths.wait_for_paths()
        with Asker(paths.members) as asker:
            asker.wait_for(1, "paths")
            os.kill(paths.pid(), signal.SIGKILL)
            killed = time.monotonic()
            asker.wait_for(None, "that they are refused")
            wait_until(lambda: not any(member.paths_file.exists()
                                       for member in paths.members), 10, "no file")
        assert not asker.has_printed(1, killed + LIFE_S), "paths of a dead SM"
        failed(paths.members[0].control("paths"), 1,
               "none no SM")


def test_broker_killed_and_back(scratch):
    with PathLab(scratch, agents=AGENTS[:2]) as paths:
        paths.wait_for_paths()
        with Asker(paths.members) as asker:
            asker.wait_for(1, "paths")
            paths.broker.end()
            ended = time.monotonic()
            asker.wait_for(None, "that they are refused")
            paths.broker.start()
            asker.wait_for(1, "paths again")
        for node in asker.last():
            said = [(asked, sl) for asked, who, sl in asker.answers if who == node]
            last_refused = max(asked for asked, sl in said if sl is None)
            assert not [asked for asked, sl in said
                        if sl and ended + LIFE_S < asked < last_refused], "in between"


@pytest.mark.parametrize("role", ["master", "any"])
def test_fail_over_the_other_sms_paths(scratch, role):
    """With 'any' the standby is a manager, too, and says nothing of paths."""
    with PathLab(scratch, sms=(SM, OTHER_SM), agents=AGENTS[:2],
                 opensm_conf=FAST_FAIL_OVER, role=role) as paths:
        paths.wait_for_paths()
        with Asker(paths.members) as asker:
            asker.wait_for(1, "paths")
            # What the next master reads, and this one has not seen.
            paths.write_policy(default=3, sl=BULK)
            os.kill(paths.pid(), signal.SIGKILL)
            killed = time.monotonic()
            asker.wait_for(3, "the other SM's paths")
        assert not asker.has_printed(1, killed + LIFE_S), "paths of a dead SM"


@pytest.mark.plain
def test_key_turned_off_and_on(scratch):
    with PathLab(scratch, agents=AGENTS[:1]) as paths:
        member, = paths.members
        paths.wait_for_paths()
        wait_until(member.paths_file.exists, 20, "the file")
        assert member.section("paths")["state"] == "valid", "status"
        ask(paths.lab, "set", "collect.paths", "false")
        wait_until(lambda: not member.paths_file.exists(), 20, "no file")
        failed(member.control("paths"), 1, "none")
        ask(paths.lab, "set", "collect.paths", "true")
        paths.wait_for_paths()
        ask(paths.lab, "qos", "off")
        wait_until(lambda: not paths_of(member), 20, "no paths without answers")
        ask(paths.lab, "qos", "on")
        paths.wait_for_paths()
        succeeded(member.control("set", "collect.paths", "false"))
        # The PerfManager's thread does it.
        wait_until(lambda: "they are not kept here" in member.control("paths").stderr, 10,
                   "no paths while they are off")
        wait_until(lambda: not member.paths_file.exists(), 20, "no file")
        assert member.section("paths")["state"] == "off", "status"
        failed(paths.lab.triad("paths"), 1, "an agent keeps them")


# --- destinations, tables -----------------------------------------------------------

@pytest.mark.plain
def test_destinations_by_name_guid_and_lid(scratch):
    with PathLab(scratch, agents=AGENTS[:1]) as paths:
        member, = paths.members
        report, = paths.wait_for_paths()
        row = next(row for row in report["paths"] if row["sl"] == BULK)
        wait_until(lambda: "host-0006" in member.control("paths").stdout, 30, "names")
        for words in (row["port_guid"], str(row["lid"]), "host-0006", "host-0006:1"):
            found = paths_of(member, words)["paths"]
            assert [one["lid"] for one in found] == [row["lid"]], words
        failed(member.control("paths", "nobody"), 1, "paths: ")
        failed(member.control("paths", "4000"), 1, "paths: ")
        lines = member.control("paths").stdout.splitlines()
        assert len(lines) == 1 + len(report["paths"]), "a line for each LID"
        assert max(map(len, lines)) <= 80, "columns"


# --- what strangers say -------------------------------------------------------------

PATHS = 14
BEAT, WANT = 1, 2
MOST_ANSWERED = 2000  # requests in a second


def beat(sender, generation):
    return head(PATHS, sender) + struct.pack(">BB3Q", BEAT, 1, 1, generation, 0)


def want(sender, generation):
    return head(PATHS, sender) + struct.pack(">BB2Q", WANT, 1, 1, generation)


def next_beat(stranger):
    """(manager, generation) that a manager says."""
    while True:
        subject, octets = stranger.next_message()
        if subject.endswith(".all") and octets[3] == PATHS and octets[20] == BEAT:
            return (int.from_bytes(octets[AT_SENDER:AT_SENDER + 8], "big"),
                    int.from_bytes(octets[30:38], "big"))


def test_flood_of_requests_is_dropped_and_paths_stay(scratch):
    with PathLab(scratch, agents=AGENTS[:2]) as paths:
        paths.wait_for_paths()
        stranger = Stranger(scratch, paths.broker)
        stranger.listen()
        manager, generation = next_beat(stranger)
        crowd = Stranger(scratch, paths.broker)

        def flood():
            for i in range(2 * MOST_ANSWERED):
                sender = 0x9000 + i
                crowd.say(want(sender, generation), subject=(
                    f"triad.test.agent.{sender:016x}.to.{manager:016x}"))
            crowd.flush()
            return status(paths.lab)["paths"]["dropped"]
        # A machine that is slow may take them over two seconds.
        dropped = wait_until(flood, 60, "requests that are dropped")
        report = status(paths.lab)["paths"]
        print(f"{dropped} of {report['asked']} dropped, {report['tables']} tables")
        paths.wait_for_paths()
        assert path_record(paths.lab, *paths.ends)[0] == 1, "the SM's answer"
        paths.change_policy(default=3, sl=BULK)
        for member in paths.members:
            wait_until(lambda m=member: sls_of(paths_of(m) or {"paths": ()}) == {3, BULK},
                       60, "paths by the new policy")


def test_beats_of_who_may_not_say_so(scratch):
    with PathLab(scratch, agents=AGENTS[:1]) as paths:
        member, = paths.members
        paths.wait_for_paths()
        refused = member.section("collect")["words_refused"]
        stranger = Stranger(scratch, paths.broker)
        stranger.say(beat(0x77, 5), role="agent")
        stranger.say(beat(0x77, 5) + b"more", role="agent", speaker=0x78)
        stranger.say(head(PATHS, 0x77)[:20] + b"\x09", role="manager")
        stranger.flush()
        wait_until(lambda: member.section("collect")["words_refused"] >= refused + 2, 20,
                   "messages that are refused")
        paths.wait_for_paths()
        # One that may speak as a manager is believed: then there are two.
        answers = []

        def refuses():
            stranger.say(beat(0x77, 5), role="manager")
            stranger.flush()
            answers.append(member.control("paths").stderr)
            return mentions(answers[-1], "two SMs")
        wait_until(refuses, 20, lambda: f"two managers: {answers[-1]}")
        paths.wait_for_paths()


@pytest.mark.plain
def test_without_an_sm_that_answers_health_says_so(scratch):
    address = f"127.0.0.1:{free_port()}"
    with PathLab(scratch, agents=()) as paths:
        member = paths.add_agent(2, f"[prometheus]\nlisten = {address}\n")
        paths.wait_for_paths()

        def metrics():
            with urllib.request.urlopen(f"http://{address}/metrics", timeout=20) as answer:
                return answer.read().decode()

        def finding():
            report = json.loads(member.control("health", "--json").stdout)
            return next((one for one in report["findings"] if one["at"] == "paths"), None)
        assert not finding(), "health with paths"
        assert "\ntriad_paths_valid 1\n" in metrics(), "metrics"
        ask(paths.lab, "set", "collect.paths", "false")
        found = wait_until(finding, 60, "a finding")
        assert found["severity"] == "WARNING" and "no paths for" in found["what"], found
        assert "\ntriad_paths_valid 0\n" in metrics(), "metrics"
        text = member.control("status", "--all").stdout
        assert "Paths for agents" in text and "File of paths" in text, "status"
