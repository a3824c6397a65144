# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""scripts/demo: what it prints, and that nothing is left behind."""

import itertools
import json
import os
import re
import subprocess

import pytest

from checks import failed, mentions, succeeded
from labs import (
    BUILDDIR, EXAMPLE_NETS, SRCDIR, TRIADD, XML, need, sanitizer_options)

pytestmark = [pytest.mark.full, pytest.mark.row("N14")]


# The demo builds in the source folder, which a distribution's test must not touch.
IN_SOURCE = os.access(SRCDIR, os.W_OK) and (SRCDIR / ".git").exists()


@pytest.fixture
def demo(tmp_path):
    """Runs the demo, which leaves nothing behind."""
    if not IN_SOURCE:
        pytest.skip("the source folder is not a checkout")

    def run(*arguments):
        process = subprocess.run(
            [SRCDIR / "scripts" / "demo", *arguments], text=True, capture_output=True,
            check=False, env={**os.environ, "TMPDIR": str(tmp_path),
                              "TRIAD_BUILDDIR": str(BUILDDIR),
                              **sanitizer_options(tmp_path)})
        assert list(tmp_path.iterdir()) == [], "what the demo left"
        return process

    return run


def listed(process):
    """The commands that the demo lists at its end.  Each is one of triadctl's."""
    text = process.stderr.partition("shown, and the command to see it again:")[2]
    lines = re.findall(r"^ {8}(triadctl .*)$", text, re.MULTILINE)
    for command in (part for line in lines for part in line.split("; ")):
        words = list(itertools.takewhile(lambda word: re.fullmatch("[a-z]+", word),
                                         command.split()[1:]))
        while words and subprocess.run([BUILDDIR / "triadctl", "help", *words], check=False,
                                       capture_output=True).returncode:
            words.pop()
        assert words, f"there is no command '{command}'"
    assert "the lab is gone" in text, "what became of the lab"
    return lines


def test_demo_json_is_one_document_with_every_port_and_alerts(demo):
    process = demo("--fabric", EXAMPLE_NETS / "net.2sw2path4hca", "--seconds", "7",
                   "--json")
    succeeded(process)
    document = json.loads(process.stdout)
    assert set(document) == {"ports", "alerts"}, "members"
    assert len(document["ports"]) == 20, "ports"
    found = {finding["what"] for alert in document["alerts"]
             for finding in alert["findings"]}
    for what in ("SymbolErrorCounter", "PortXmitWait"):
        assert what in found, f"no alert of {what}: {document['alerts']}"
    assert all(row["answered"] for row in document["ports"]), process.stdout
    errors = sum(row["counters"]["SymbolErrorCounter"] for row in document["ports"])
    assert errors > 0, "no errors were put on the fabric"


def test_demo_table_shows_ports_alerts_and_a_histogram(demo):
    need(TRIADD)
    process = demo("--seconds", "7")
    succeeded(process)
    for part in ("NODE", "FAR END", "SymbolErrorCounter", "GB", "Alerts:", "threshold",
                 "PortXmitData per second, all ports", "####"):
        assert part in process.stdout, "table"
    assert "/metrics" in process.stderr, "where Prometheus reads"
    assert mentions(process.stderr, "http://127.0.0.1:")
    assert "triadctl perf top --watch" in listed(process), "what was shown"
    step = re.search(r"^build: compilation of \d+ files$", process.stderr, re.MULTILINE)
    assert step and "\r" not in process.stderr, "plain lines without a terminal"


def test_demo_qos_answers_follow_the_policy(demo):
    need(XML)
    process = demo("--qos", "--json")
    succeeded(process)
    shown = json.loads(process.stdout)
    assert [(row["level"], row["sl"], row["tclass"]) for row in shown["answers"]] == \
        [("default", 0, 0), ("bulk", 2, 0), ("default", 0, 0), ("latency", 5, 7),
         ("lost", None, None)], "(level, SL, TClass) of each request"
    assert shown["tables"]["before"] > 0, "nothing was to be changed"
    assert shown["tables"]["after"] == 0, "tables to be changed in the end"
    assert all(row["agrees"] for row in shown["tables"]["rows"]), shown["tables"]["rows"]
    assert {row["stock_sl"] for row in shown["answers"]} == {0}, "OpenSM alone"


def test_demo_qos_text_tells_what_is_asked_answered_and_programmed(demo):
    need(XML)
    process = demo("--qos")
    text = succeeded(process).stdout
    parts = ("--- the fabric: 8 hosts, 6 switches", "--- the policy asks that",
             "--- what OpenSM answers alone", "SL 0, 100 Gb/s, MTU 2048",
             "--- what Triad answers by the policy, and why",
             "    Triad:        SL 2, 40 Gb/s, MTU 2048\n    because rule 1",
             "saquery PR", "Rule         rule 1", "    Triad:        no path",
             "dropped here", "--- the tables", "| 0| 1| 2| 3| 4| 5|15| 7|", "# triadctl qos plan -n 4",
             "--- 0 tables are left to change", "| 0| 0| 2| 0| 0| 5|15| 0|",
             "--- who asked most")
    at = 0
    for part in parts:
        at = text.find(part, at)
        assert at >= 0, f"{part!r} is not where it belongs in {text}"
    assert "triadctl qos plan" in listed(process), "what was shown"


def test_demo_election_survives_the_master_and_hands_over(demo):
    process = demo("--election", "--fabric", EXAMPLE_NETS / "net.2sw2path4hca", "--json")
    succeeded(process)
    shown = json.loads(process.stdout)
    death, hand_over = shown["death"], shown["hand_over"]
    assert death["master"] != death["killed"], death
    for name in ("mastership_ms", "pathrecord_ms", "permission_ms"):
        assert 0 < death[name] < 60000, death
    assert shown["back"] == "standby", "the one that was killed"
    assert (hand_over["from"], {hand_over["to"], hand_over["from"], death["killed"]}) == \
        (death["master"], {0, 1, 2}), "who handed over to whom"
    parts = [shown[name] for name in ("before", "after", "handed_over")]
    assert [(part["may_enforce"], part["state"]) for part in parts] == \
        [(True, "MASTER")] * 3, "who was asked each time"
    assert [part["members_here"] for part in parts] == [3, 2, 3], "members"
    assert len({part["id"] for part in parts}) == 3, "SMs"
    assert parts[0]["term"] < parts[1]["term"] < parts[2]["term"], parts


def test_demo_election_text_says_who_and_when(demo):
    process = demo("--election")
    text = process.stdout
    assert "triadctl election" in listed(process), "what was shown"
    for part in ("# triadctl election", "kill -9", "is master after",
                 "it may enforce after", "again: it is standby", "triadctl port priority 12", "nobody died"):
        assert part in text, "text"


def test_demo_ports_miswire_disabled_and_released_test_held_and_admitted(demo):
    process = demo("--ports", "--json")
    succeeded(process)
    shown = json.loads(process.stdout)
    assert [row["reason"] for row in shown["plan"]["ports"]] == ["miswired"] * 2, "plan"
    assert shown["plan"]["mode"] == "observe", "mode while it is only planned"
    assert [row["found"] for row in shown["failed"]["ports"]] == ["failed"] * 2, \
        "failed"
    assert {row["found"] for row in shown["released"]["ports"]} == {"active"}, \
        "released"
    held, admitted = shown["held"]["ports"][0], shown["admitted"]["ports"][0]
    assert (held["held"], held["state"], held["test"]) == (True, "init", "quality"), \
        "held"
    assert (admitted["held"], admitted["state"], admitted["admitted"]) == \
        (False, "active", True), "admitted"
    done = [(one["deed"], one["outcome"]) for one in reversed(shown["history"])]
    for deed in ("disable", "release", "bounce", "admit"):
        assert (deed, "done") in done, f"no {deed} in {done}"


def test_demo_agents_nodes_of_one_that_is_killed_move_and_no_total_jumps(demo):
    process = demo("--agents", "3", "--json")
    succeeded(process)
    shown = json.loads(process.stdout)
    assert shown["totals_that_jumped"] == 0, "totals that jumped"
    assert sum(row["state"] == "alive" for row in shown["before"]["agents"]) == 3, \
        "agents alive before"
    assert ({row["name"]: row["state"] for row in shown["after"]["agents"]}
            [shown["killed"]]) == "dead", "the one that was killed"
    assert shown["after"]["nodes_not_seen"] == 0, "nodes not seen after"


def test_demo_ports_text_says_what_is_done(demo):
    process = demo("--ports")
    text = process.stdout
    assert "triadctl port plan" in listed(process), "what was shown"
    for part in ("# triadctl port plan", "miswired:", "# triadctl port release",
                 "under test", "# triadctl port history", "passed:"):
        assert part in text, "text"


def test_demo_wrong_arguments_usage(demo):
    assert demo("--ports", "--qos").returncode == 2, "exit status"
    assert demo("--election", "--qos").returncode == 2, "exit status"
    assert demo("--seconds", "0").returncode == 2, "exit status"
    failed(demo("--fabric", "/no/such/file", "--seconds", "1"), 1, "/no/such/file")
