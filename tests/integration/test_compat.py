# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Releases side by side: what earlier ones wrote is read, what later ones wrote is left
alone, and members of another release are named (tests/compat, docs/upgrade.md)."""

import json
import re
import shutil
import struct
import time

import pytest

import control
from agentlib import Broker, Stranger, manager_lab
from checks import failed, mentions, succeeded, wait_until
from compatlib import COMPAT, RELEASES, Peer
from ctllib import DONE, MESSAGE, OUTPUT, Plugin, ask as ask_plugin, exit_frame, frame, run
from labs import SRCDIR
from portlib import managed
from triadlib import ask_json, log_has, triad_lab, wait_for_sweep

QUIET = "[perfmgr]\nenabled = no\n"
SM = "host-0001"
FABRIC = ("fat-tree", "--hosts", "4", "--radix", "4")
REFUSED = "it has version 2 of its format, and Triad"


def shown(release, name):
    return json.loads((COMPAT / release / "shown" / f"{name}.json").read_text("utf-8"))


def has_all(now, then):
    """Each of the rows of then is among those of now, which may have more keys."""
    return all(any(row.items() <= other.items() for other in now) for row in then)


def keep_states(release, folder, *names):
    """Copies state files, and returns the last one."""
    folder.mkdir(exist_ok=True)
    for name in names:
        path, = (COMPAT / release / "state").glob(name)
        target = folder / path.name
        shutil.copyfile(path, target)
        target.chmod(0o600)
    return target


@pytest.mark.plain
@pytest.mark.parametrize("release", RELEASES)
def test_history_silences_and_profile_of_earlier_release_are_read(release, tmp_path):
    folder = tmp_path / "state"
    keep_states(release, folder, "history-*", "silences-*")
    with triad_lab(f"[perfmgr]\nsweep_period = 1\n[state]\ndir = {folder}\n") as lab:
        wait_for_sweep(lab)
        # Threads of their own read the files.
        wait_until(lambda: has_all(ask_json(lab, "history", "-n", "1000"),
                                   shown(release, "history")), 20,
                   lambda: f"all in {ask_json(lab, 'history', '-n', '1000')}")
        today = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        silences = [{key: one[key] for key in ("id", "place", "reason", "until")}
                    for one in shown(release, "silences") if one["until"] > today]
        wait_until(lambda: has_all(ask_json(lab, "silences"), silences), 20,
                   f"{silences}")
        assert "can't be read" not in lab.log() and "not read" not in lab.log()
    profile = COMPAT / release / "profile.csv.zst"
    report = json.loads(succeeded(run("profile", "report", "--json", profile)).stdout)
    then = shown(release, "profile")
    assert {key: report[key] for key in then} == then, report


@pytest.mark.parametrize("release", RELEASES)
def test_port_manager_of_earlier_release_goes_on(release):
    def prepare(folder):
        keep_states(release, folder / f"state-{guid}", "election-*", "ports-*",
                    "expected-*")
        shutil.copyfile(COMPAT / release / "expected.csv", folder / f"expected-{guid}.csv")
        return lambda: None
    path, = (COMPAT / release / "state").glob("ports-*")
    guid = re.search("0x[0-9a-f]+", path.name)[0]
    stored = next((COMPAT / release / "state").glob("election-*")).read_text()
    with managed(sms=(SM,), fabric=FABRIC, prepare=prepare, expected=False) as ports:
        ports.master = ports.cluster.wait_for_holder()
        assert has_all(ports.history(), shown(release, "ports")), "port history"
        term = ask_json(ports.lab, "election")["term"]
        assert term > int(re.search(r"^term (\d+)$", stored, re.M)[1]), "the term"
        log_has(ports.lab, "generation 3, 12 ports: in force")
        assert "can't be read" not in ports.lab.log(), "the log"


@pytest.mark.plain
def test_state_of_a_later_release_is_named_and_left_alone(scratch):
    """What a downgrade finds."""
    folder = scratch.folder()
    sm = "0x0000000000100001"
    files = {f"history-opensm-{sm}": "# Triad's history, version 2\n",
             f"silences-opensm-{sm}": "Silences of Triad, version 2\n",
             f"election-{sm}.state": "# Triad's election, version 2; later\nterm 7\n",
             f"ports-{sm}.journal": "# Triad's journal of ports, version 2\n"}
    for name, text in files.items():
        (folder / name).write_text(text + "something new\n", encoding="utf-8")
        (folder / name).chmod(0o600)
    with triad_lab(f"[perfmgr]\nsweep_period = 1\n[state]\ndir = {folder}\n"
                   f"[election]\nenabled = yes\ncluster = none\nstate_dir = {folder}\n"
                   "[port]\nenabled = yes\n") as lab:
        wait_for_sweep(lab, 2)
        for name in files:
            log_has(lab, f"{name}")
            wait_until(lambda: re.search(f"{name}.*{re.escape(REFUSED)}",
                                         lab.log()), 20, f"words about {name}")
        process = lab.triad("silence", "Hca3", "--for", "2h", "--reason", "x")
        assert REFUSED in succeeded(process).stderr, process
        assert ask_json(lab, "election")["may_enforce"] is False, "permission"
        assert ask_json(lab, "history"), "what happened meanwhile"
        lab.sim('Unlink "Hca3"')
        wait_until(lambda: ask_json(lab, "alerts")["alerts"], 60, "work that goes on")
    for name, text in files.items():
        assert (folder / name).read_text(encoding="utf-8") == text + "something new\n", name
    assert sorted(path.name for path in folder.iterdir()) == sorted(files), "other files"


def test_sm_of_another_release_is_understood_or_named(scratch):
    folder = scratch.folder()
    peer = Peer(scratch, folder)
    messages = COMPAT / RELEASES[0] / "messages"
    election = (messages / "election").read_bytes()
    ours = election[:8] + struct.pack(">Q", peer.guid) + election[16:]
    with triad_lab(f"{QUIET}[election]\n{peer.conf()}state_dir = {folder}/state\n"
                   "[port]\nenabled = yes\n") as lab:
        def members():
            return [int(one["id"], 16) for one in ask_json(lab, "election")["members"]]

        # Within the version there may be more.
        peer.talk(lambda *_: peer.guid in members(), ours + b"more")
        counts = ask_json(lab, "election")["counters"]
        assert counts["malformed"] == 0 and counts["versions"] == 0, counts
        peer.talk(lambda *_: "0x0000000000007001 sends messages of version 3" in lab.log(),
                  ours[:4] + b"\3" + ours[5:])
        replica = (messages / "replica").read_bytes()
        peer.talk(lambda *_: "ports: SM 0x0000000000007001 sends messages of version 2"
                  in lab.log(), replica[:4] + b"\2" + replica[5:])
        peer.talk(lambda *_: "speaks another version" in
                  json.dumps(ask_json(lab, "election")), version=2)


def test_agent_of_another_release_is_understood_or_named(scratch):
    subjects = (COMPAT / RELEASES[0] / "subjects").read_text("ascii")
    alive = (COMPAT / RELEASES[0] / "messages" / "agent-alive").read_bytes()
    guid = 0x7001
    subject = re.search(r"^alive (\S+)$", subjects, re.M)[1].replace(
        alive[4:12].hex(), f"{guid:016x}")
    alive = alive[:4] + struct.pack(">QQ", guid, 1 << 50) + alive[20:]
    broker = Broker(scratch)
    with manager_lab(scratch, broker) as lab:
        stranger = Stranger(scratch, broker)

        def says(octets, is_enough):
            stranger.say(octets, subject=subject)
            stranger.flush()
            return is_enough()
        wait_until(lambda: says(alive[:2] + b"\2" + alive[3:], lambda:
                                "(0x0000000000007001) sends messages of version 2"
                                in lab.log()), 40, "the words")

        def n_others():
            return ask_json(lab, "status")["collect"]["other_version"]
        before = wait_until(n_others, 10, "the count")
        wait_until(lambda: says(alive + b"more", lambda: f"0x{guid:016x}" in json.dumps(
            ask_json(lab, "agents"))), 40, "the agent")
        assert n_others() == before, "more"


@pytest.mark.parametrize("release", RELEASES)
def test_triadctl_and_plugin_of_other_releases_understand_each_other(release, scratch):
    folder = COMPAT / release / "control"
    answer = (folder / "version.answer").read_bytes()
    plugin = Plugin(scratch, answer)
    then = json.loads(succeeded(ask_plugin(plugin, "version", "--json")).stdout)
    with triad_lab(QUIET) as lab:
        now = control.request(lab.state().sms[0].control_socket, "version", "--json")
        assert then.keys() <= json.loads(now.stdout).keys(), now
        unknown = control.request(lab.state().sms[0].control_socket, "no-such-command")
        assert unknown.returncode == 2, unknown


@pytest.mark.plain
def test_triadctl_newer_than_the_plugin_says_so(scratch):
    refusal = frame(MESSAGE, b"triad: '--errors' is not known\n") + exit_frame(2)
    version = frame(OUTPUT, b'{\n  "triadctl": null,\n  "version": "0.0.9"\n}\n') + DONE

    def answer(connection):
        is_version = plugin.requests[-1][0] == "version"
        connection.sendall(version if is_version else refusal)
    plugin = Plugin(scratch, answer)
    process = ask_plugin(plugin, "perf", "show", "--errors")
    failed(process, 2, "'--errors' is not known")
    assert mentions(process.stderr, "triadctl release release 0.0.9")
    succeeded(ask_plugin(plugin, "version"))


# Where the code has the versions that docs/upgrade.md names.
VERSIONS = {
    "history": ("perfmgr/timeline/reader.h", "TRIAD_TIMELINE_FILE_VERSION"),
    "silences": ("perfmgr/formats/silence_file.h", "TRIAD_SILENCE_FILE_VERSION"),
    "election's state": ("portmgr/election/stored.h", "TRIAD_ELECTION_STORED_VERSION"),
    "journal of ports": ("portmgr/history/journal_reader.h", "TRIAD_JOURNAL_VERSION"),
    "other SMs": ("portmgr/plan/seen_sms.h", "TRIAD_SEEN_SMS_VERSION"),
    "images of the fabric": ("history/image.h", "TRIAD_HISTORY_IMAGE_VERSION"),
    "control socket": ("include/triad/control.h", "TRIAD_CONTROL_VERSION"),
    "election's messages": ("portmgr/election/message.h", "TRIAD_ELECTION_VERSION"),
    "port manager's messages": ("portmgr/replica/replica_message.h",
                                "TRIAD_REPLICA_VERSION"),
    "messages about images": ("history/mirror/mirror.h", "TRIAD_MIRROR_VERSION"),
    "messages about the SA's records": ("portmgr/sa/sa_message.h", "TRIAD_SA_VERSION"),
    "Corosync's group": ("portmgr/cluster/group.c", "VERSION"),
    "peers' datagrams": ("portmgr/cluster/seal.h", "TRIAD_SEAL_VERSION"),
    "agents' messages": ("collect/message.h", "TRIAD_COLLECT_VERSION"),
}
ELSEWHERE = {"expected configuration": "none", "profile": "1"}


@pytest.mark.scripts
def test_document_has_the_versions_of_the_code():
    text = (SRCDIR / "docs" / "upgrade.md").read_text(encoding="utf-8")
    said = dict(re.findall(r"^\| ([^|]*[a-z]) \| (none|\d+) \|", text, re.M))
    found = dict(ELSEWHERE)
    for name, (path, macro) in VERSIONS.items():
        header = (SRCDIR / path).read_text(encoding="utf-8")
        found[name] = re.search(rf"^#define {macro} (\d+)u?$", header, re.M)[1]
    assert said == found
