# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Images of the fabric, written by the plugin in stock opensm and read again."""

import calendar
import json
import os
import re
import signal
import subprocess
import time

import pytest

import control
import tablelib
from checks import failed, fits_columns, mentions, succeeded, wait_until
from smalldisk import small_disk
from test_agent import Agent
from test_lifecycle import end
from triadlab import hosts, state
from triadlib import (QUICK, ask, ask_json, status, sweep_heavily, triad_lab,
                      triadd_says, wait_for_sweep)

CONF = """\
[perfmgr]
sweep_period = 1
[history]
dir = {folder}/images
"""


def images(lab):
    """What triadd has reported: soon after its start, or that of the process it asks."""
    return wait_until(lambda: (found := status(lab))["triadd"]["version"] and found,
                      30, "a report")["images"]


def wait_for_images(lab, n):
    wait_until(lambda: images(lab)["written"] >= n, 40, f"{n} images")


def check_files(folder):
    """Each is whole, and a profile."""
    files = sorted((folder / "images").glob("*.zst"))
    assert files, "no file"
    for file in files:
        succeeded(subprocess.run(["zstd", "-tq", file], capture_output=True, text=True,
                                 check=False))
    return files


@pytest.mark.threads
@pytest.mark.plain
@pytest.mark.row("N10")
def test_images_outlive_a_kill_and_are_profiles(scratch):
    folder = scratch.folder()
    with triad_lab(CONF.format(folder=folder)) as lab:
        wait_for_images(lab, 6)
        kept = images(lab)["kept"]
        end(lab, signal.SIGKILL)
        lab.down()
        lab.up()
        wait_for_images(lab, 3)
        assert images(lab)["kept"] >= kept - 1 + 3
        files = check_files(folder)
        succeeded(lab.run("triadctl", "profile", "report", "--json", *files))


def without_lists(path, n):
    """Has the first 'n' images of a file as an earlier Triad wrote them.  The index, which
    is made anew, says where they are."""
    index = path.with_name(path.name + ".idx")
    sizes = [int(line.split()[2]) for line in index.read_text(encoding="utf-8").splitlines()]
    octets, frames = path.read_bytes(), []
    for i, size in enumerate(sizes):
        frame, octets = octets[:size], octets[size:]
        if i < n:
            lines = zstd(frame, "-dc").splitlines(keepends=True)
            frame = zstd(b"".join(line for line in lines if b"-list" not in line), "-c")
        frames.append(frame)
    path.write_bytes(b"".join(frames))
    index.unlink()


def zstd(octets, option):
    return subprocess.run(["zstd", "-q", option], input=octets, capture_output=True,
                          check=True).stdout


@pytest.mark.row("N10")
def test_images_of_an_earlier_triad_say_what_they_lack(scratch):
    folder = scratch.folder()
    with triad_lab(CONF.format(folder=folder)) as lab:
        wait_until(lambda: len(list(folder.glob("images/sweeps*.zst"))) == 1 and
                   images(lab)["kept"] >= 8, 40, "images")
        first = images(lab)["first"][:19]
        ask(lab, "set", "history.dir", "")
        wait_until(lambda: images(lab)["first"] is None, 20, "a folder that is left")
        file, = folder.glob("images/sweeps*.zst")
        for other in set(folder.glob("images/*")) - {file, file.with_name(file.name + ".idx")}:
            other.unlink()
        without_lists(file, 3)
        ask(lab, "set", "history.dir", folder / "images")
        wait_until(lambda: images(lab)["first"], 20, "the folder read again")
        words = ("perf", "histogram", "PortXmitData")
        process = lab.run("triadctl", *words, "--at", first)
        failed(process, 1, "image since")
        since = re.search(r"since (\S+)Z", process.stderr)[1]
        assert since > first and ask_json(lab, *words, "--at", since)["samples"]
        # The rest of it can be shown.
        assert ask_json(lab, "perf", "show", "--at", first)


@pytest.mark.row("N10")
def test_full_disk_costs_images_alone(scratch):
    disk = small_disk(scratch, 256)
    with triad_lab(CONF.format(folder=disk.folder)) as lab:
        wait_for_images(lab, 3)
        disk.fill()
        wait_until(lambda: images(lab)["dropped"], 60, "an image that is lost")
        triadd_says(lab, "No space left on device")
        assert "No space" in images(lab)["error"]
        assert re.search("Images +WARN", lab.run("triadctl", "status").stdout)
        assert "No space" in lab.run("triadctl", "health").stdout
        sweeps = status(lab)["perfmgr"]["sweeps"]
        wait_until(lambda: status(lab)["perfmgr"]["sweeps"] >= sweeps + 2, 30, "sweeps")
        disk.make_room()
        written = images(lab)["written"]
        wait_for_images(lab, written + 2)
        assert images(lab)["error"] is None
        wait_until(lambda: re.search(r"Images +ok +\d+ since \S+, \d+ of \d+ MB;",
                                     lab.run("triadctl", "status").stdout), 30,
                   lambda: lab.run("triadctl", "status").stdout)
        ask(lab, "set", "history.dir", "")
        # The thread that writes images leaves the folder.
        wait_until(lambda: "Images" not in lab.run("triadctl", "status").stdout, 20,
                   "no word of images")
        check_files(disk.folder)


def free_octets(folder):
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize


def test_images_leave_room_on_the_disk(scratch):
    disk = small_disk(scratch, 4096)
    with triad_lab(CONF.format(folder=disk.folder)) as lab:
        wait_for_images(lab, 3)
        disk.fill(free_octets(disk.folder) - 100_000)
        wait_until(lambda: images(lab)["dropped"], 60, "an image that is left out")
        dropped = images(lab)["dropped"]
        wait_until(lambda: images(lab)["dropped"] > dropped + 2, 60, "more of them")
        assert "stay free" in images(lab)["error"]
        assert free_octets(disk.folder) > 50_000, "what is left for others"
        disk.make_room()
        wait_for_images(lab, images(lab)["written"] + 2)
        assert images(lab)["error"] is None


PAST = """\
[alerts]
raise_after = 0
clear_after = 0
[election]
state_dir = {folder}/election
[port]
enabled = true
mode = observe
expected_file = {folder}/expected.csv
[qos]
tables_enabled = true
policy_file = {folder}/policy.conf
[group spines]
nodes = Switch*
"""
EXPECTED = """\
generation {}
Switch1,1,enabled
Switch1,3,{}
Nowhere,7,test
"""
ZEROS, ONES = (",".join([vl] * 16) for vl in "01")


def policy(table):
    return tablelib.policy({"all": ["node-type: ALL"]}, [{"group": "all", "from": "*", "to": "*",
                                                    "sl2vl-table": table}])


def listed(lab, *words):
    """Rows of 'port list' by their node's name and number; {} while there are none."""
    process = lab.triad("port", "list", "--json", *words)
    rows = json.loads(process.stdout)["ports"] if not process.returncode else []
    return {(row["node_name"], row["port"]): row for row in rows}


def expected(lab, *words):
    """Of the port whose line changes."""
    return listed(lab, *words).get(("Switch1", 3), {}).get("expected")


def time_after(then):
    """The next second."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(
        calendar.timegm(time.strptime(then, "%Y-%m-%dT%H:%M:%S")) + 1))


def tables(lab, *words):
    process = lab.triad("qos", "tables", "--node", "Switch1:1", "--json", *words)
    return json.loads(process.stdout) if not process.returncode else []


def sl2vl(lab, *words):
    return {row["sm"] for row in tables(lab, *words) if row["table"] == "SL2VL"}


def tables_agree(lab):
    return sl2vl(lab) == {ZEROS} and all(row["agrees"] for row in tables(lab))


@pytest.fixture(name="past", scope="module")
def past_lab(tmp_path_factory):
    """A lab in which something happened after a moment: the lab and that moment."""
    folder = tmp_path_factory.mktemp("images")
    (folder / "expected.csv").write_text(EXPECTED.format(1, "enabled"), encoding="utf-8")
    (folder / "policy.conf").write_text(policy([0] * 16), encoding="utf-8")
    with triad_lab(CONF.format(folder=folder) + PAST.format(folder=folder),
                   opensm_conf="sweep_interval 1\nqos TRUE\n") as lab:
        wait_for_sweep(lab)
        wait_until(lambda: expected(lab) == "enabled" and tables_agree(lab), 40,
                   "expected ports, and tables of the policy")
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=2',
                'PerformanceSet "Switch1"[3] PortCounters.PortRcvErrors=3',
                'PerformanceSet "Switch1"[3] PortRcvErrorDetails.PortLoopingErrors=3')
        wait_until(lambda: symbol_errors(lab) == 2 and detail(lab) == 3, 20,
                   "what is there at first")
        # A sweep may write three, into as many tiers.
        wait_for_images(lab, images(lab)["written"] + 4)
        # All of a second, in which nothing has happened yet.
        then = images(lab)["last"][:19]
        wait_until(lambda: images(lab)["last"][:19] > then, 20, "the next second")
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=44',
                'PerformanceSet "Switch1"[3] PortCounters.PortRcvErrors=9',
                'PerformanceSet "Switch1"[3] PortRcvErrorDetails.PortLoopingErrors=9')
        wait_until(lambda: detail(lab) == 9, 20, "more errors")
        lab.sim('Unlink "Hca2"')
        (folder / "expected.csv").write_text(EXPECTED.format(2, "disabled"), encoding="utf-8")
        (folder / "policy.conf").write_text(policy([1] * 16), encoding="utf-8")
        ask(lab, "reload")
        ask(lab, "set", "perfmgr.retries", 3)
        sweep_heavily(lab, lambda: "Hca2" not in names(lab))
        wait_until(lambda: [alert for alert in ask_json(lab, "alerts")["alerts"]
                            if "SymbolErrorCounter" in json.dumps(alert)], 30, "an alert")
        wait_until(lambda: expected(lab) == "disabled" and sl2vl(lab) == {ONES}, 40,
                   "another configuration and another policy")
        # One of a sweep that began after all of this.
        wait_for_images(lab, images(lab)["written"] + 4)
        yield lab, then


def names(lab, *words):
    return {row["name"] for row in ask_json(lab, "nodes", *words)}


def symbol_errors(lab, *words):
    row, = ask_json(lab, "perf", "show", "--node", "Switch1:3", *words)
    return row["counters"].get("SymbolErrorCounter")


def detail(lab, *words):
    """Of the port with errors."""
    found = {row["counter"]: row["total"] for row in
             ask_json(lab, "perf", "details", "--node", "Switch1:3", *words)}
    return found.get("PortLoopingErrors")


@pytest.mark.row("N10")
def test_images_are_kept_below_the_state_unless_told_otherwise():
    with triad_lab(QUICK, images=True) as lab:
        wait_for_images(lab, 2)
        row, = ask_json(lab, "get", "history.dir")
        assert row["value"].startswith(f"{lab.folder}/"), "where a lab has its state"
        assert row["default"].endswith("/lib/triadd/images"), row
        ask(lab, "status", "--at", images(lab)["last"][:19])


@pytest.mark.threads
@pytest.mark.row("N10")
def test_commands_show_a_past_moment(past):
    lab, then = past
    assert "Hca2" not in names(lab) and "Hca2" in names(lab, "--at", then)
    assert symbol_errors(lab) == 44 and symbol_errors(lab, "--at", then) == 2
    links, was = ask_json(lab, "links"), ask_json(lab, "links", "--at", then)
    assert [row["state"] for row in links].count("down") == 1
    assert "down" not in [row["state"] for row in was]
    assert not ask_json(lab, "alerts", "--at", then)["alerts"]
    assert ask_json(lab, "perf", "top", "--at", then)
    process = lab.run("triadctl", "perf", "show", "--at", then)
    assert f"as of {then}" in succeeded(process).stderr and "this SM was master" in process.stderr
    assert all(row["time"][:19] <= then for row in ask_json(lab, "history", "--at", then))


@pytest.mark.row("N10")
def test_errors_are_explained_as_they_were(past):
    lab, then = past
    assert (detail(lab), detail(lab, "--at", then)) == (9, 3)
    row, = ask_json(lab, "perf", "details", "--at", then)
    now, = ask_json(lab, "perf", "details", "--node", "Switch1:3")
    # A sweep of that second may have ended in the next.
    assert row["attribute"] == "PortRcvErrorDetails" and row["last_read"] < now["last_read"]
    text = succeeded(lab.run("triadctl", "perf", "details", "--at", then)).stdout
    assert "PortLoopingErrors" in text
    assert "others are not kept" in succeeded(
        lab.run("triadctl", "perf", "details", "--node", "Hca1", "--at", then)).stdout
    now, = ask_json(lab, "perf", "ber", "--node", "Switch1:3")
    was, = ask_json(lab, "perf", "ber", "--node", "Switch1:3", "--at", then)
    assert (now["kind"], now["errors"]) == ("symbol", 44)
    assert (was["kind"], was["errors"]) == ("symbol", 2)
    assert was["rate"] == now["rate"] and was["last_read"] < now["last_read"]
    assert not ask_json(lab, "perf", "ber", "--node", "Hca1", "--at", then)


@pytest.mark.row("N10")
def test_paths_are_those_of_then_while_tables_are(past):
    lab, then = past
    last = images(lab)["last"][:19]
    for words in (("between", "Hca1", "Hca3"), ("over", "Switch1:3")):
        def answer(*more, words=words):
            found = ask_json(lab, "routes", *words, *more)
            return re.sub(r'"use_percent": [^,}]*', "", json.dumps(found))
        assert answer("--at", last) == answer()
        failed(lab.run("triadctl", "routes", *words, "--at", then), 1,
               f"tables changed 'diff {then}'")


@pytest.mark.row("N10")
def test_configuration_was_what_it_was(past):
    lab, then = past
    def value(*words):
        row, = ask_json(lab, "get", "perfmgr.retries", *words)
        return row["value"], row["from"]
    last = images(lab)["last"][:19]
    standard, origin = value("--at", then)
    assert (standard != "3", origin) == (True, "default")
    assert (value(), value("--at", last)) == (("3", "set"), ("3", "changed"))
    rows = {row["key"]: row for row in ask_json(lab, "get", "--at", then)}
    now = {row["key"]: row["from"] for row in ask_json(lab, "get")}
    # Of a group those that were given.
    assert rows.keys() == {key for key in now if "spines" not in key or now[key] != "default"}
    assert rows["alerts.raise_after"]["from"] == "changed"
    failed(lab.run("triadctl", "get", "no.such", "--at", then), 1, "no key")


@pytest.mark.row("N10")
def test_commands_show_what_they_answered(past):
    lab, then = past
    now, was = ask_json(lab, "status"), ask_json(lab, "status", "--at", then)
    assert was["perfmgr"]["sweeps"] < now["perfmgr"]["sweeps"]
    # Findings of now: a link that is down, and errors.
    process = lab.run("triadctl", "health", "--json")
    before = lab.run("triadctl", "health", "--json", "--at", then)
    assert process.returncode and "Hca2" in process.stdout
    assert (before.returncode, before.stdout.count("Hca2")) == (0, 0)
    for words in (("health",), ("status",), ("routes",), ("routes", "check"), ("congestion",),
                  ("silences",), ("agents",), ("election",), ("perf", "resets"),
                  ("qos", "clients"), ("qos", "nodes"), ("qos", "plan"), ("port", "plan")):
        process = lab.run("triadctl", *words, "--at", then)
        assert f"as of {then}" in process.stderr and "no answer" not in process.stderr, words
        assert (process.stdout or process.stderr.count("\n") > 1), words
        assert fits_columns(process.stdout), words
    bare = succeeded(lab.run("triadctl", "routes", "--at", then, "--no-headings")).stdout
    assert "BUSIEST" not in bare and "0-1" in bare, bare


@pytest.mark.row("N10")
def test_diff_says_what_changed(past):
    lab, then = past
    found = ask_json(lab, "diff", then)
    assert [(row["what"], row["node_name"]) for row in found["nodes"]] == [("left", "Hca2")]
    assert [row["what"] for row in found["links"]] == ["went"]
    assert found["routes"], "the switches route no more to Hca2"
    assert found["routes_compared"] and not found["routes_not_known"], found
    grown = {row["counter"]: row for row in found["counters"]}
    assert grown["SymbolErrorCounter"]["grew_by"] == 42
    assert (grown["SymbolErrorCounter"]["most_name"],
            grown["SymbolErrorCounter"]["most_port"]) == ("Switch1", 3)
    assert "raised" in [row["what"] for row in found["alerts"]]
    assert found["configuration"] == [
        {"key": "perfmgr.retries", "was": "default", "is": "3"}]
    assert found["qos"], "the policy has other tables"
    # Backwards is what came and went the other way round; nothing changed between one
    # moment and itself.
    failed(lab.run("triadctl", "diff", "10s", "60s"), 2, "earlier first")
    failed(lab.run("triadctl", "diff", "1s", then), 2, "earlier first")
    same = ask_json(lab, "diff", then, then)
    assert not any(same[part] for part in
                   ("nodes", "links", "routes", "qos", "configuration", "alerts", "counters"))
    text = succeeded(lab.run("triadctl", "diff", then)).stdout
    assert "Hca2" in text and "SymbolErrorCounter" in text


@pytest.mark.row("N10")
def test_perf_history_draws_what_a_counter_did(past):
    lab, then = past
    points = ask_json(lab, "perf", "history", "Switch1:3", "SymbolErrorCounter")["points"]
    assert {2, 44} <= {point["total"] for point in points}
    assert max(point["per_second"] or 0 for point in points) > 0
    until = ask_json(lab, "perf", "history", "Switch1:3", "SymbolErrorCounter", "--at", then)
    assert {point["total"] for point in until["points"]} <= {0, 2, None}
    text = succeeded(lab.run("triadctl", "perf", "history", "Switch1:3",
                             "SymbolErrorCounter")).stdout
    assert "#" in text and " in all\n" in text
    assert fits_columns(text)


def wait_for_total(lab, total):
    wait_until(lambda: symbol_errors(lab) == total, 30, f"a total of {total}")
    wait_for_images(lab, images(lab)["written"] + 4)


def last_image(lab):
    """Its time; the next second has begun."""
    then = images(lab)["last"][:19]
    wait_until(lambda: images(lab)["last"][:19] > then, 20, "the next second")
    return then


def growth(lab, then):
    """Of SymbolErrorCounter; None: it is not known."""
    found = ask_json(lab, "diff", then)
    job = ask_json(lab, "job", "--nodes", "Hca[1-4]", "--since", then)
    errors = {link["errors"] for link in job["links"]}
    assert (errors == {None}) == (not found["counters_known"]), job
    if not found["counters_known"]:
        assert not found["counters"]
        return None
    return sum(row["grew_by"] for row in found["counters"]
               if row["counter"] == "SymbolErrorCounter")


@pytest.mark.row("N10")
def test_growth_is_that_of_totals_that_began_together(scratch):
    with triad_lab(CONF.format(folder=scratch.folder())) as lab:
        wait_for_sweep(lab)
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=500')
        wait_for_total(lab, 500)
        first = last_image(lab)
        assert growth(lab, first) == 0
        ask(lab, "perf", "clear", "totals", "--all")
        wait_for_total(lab, 0)
        assert growth(lab, first) is None, "over a time when totals were set to 0"
        second = last_image(lab)
        lab.sim('PerformanceSet "Switch1"[3] PortCounters.SymbolErrorCounter=503')
        wait_for_total(lab, 3)
        assert growth(lab, second) == 3
        # The next process counts from what the hardware has.
        end(lab, signal.SIGKILL)
        lab.host("start", 0, "opensm")
        wait_until(lambda: lab.triad("perf", "show").returncode == 0, 30, "counters")
        wait_for_total(lab, 503)
        assert growth(lab, second) is None, "over a restart"
        points = ask_json(lab, "perf", "history", "Switch1:3", "SymbolErrorCounter")["points"]
        assert {0, 3, 500, 503} <= {point["total"] for point in points}, points
        first = [point["total"] for point in points].index(500)
        assert max(point["per_second"] or 0 for point in points[first + 1:]) < 100, points


@pytest.mark.row("N10")
def test_agent_keeps_what_its_own_commands_answered(scratch):
    with triad_lab(QUICK) as lab:
        agent = Agent(scratch, lab, conf=f"{QUICK}[history]\ndir = {scratch.folder()}\n")
        wait_until(lambda: agent.status() and agent.ask("status")["images"]["written"] >= 4,
                   40, "images")
        then = agent.ask("status")["images"]["last"][:19]
        parts = {part["part"] for part in agent.ask("health", "--at", then)["parts"]}
        assert "sweep" in parts and "sm" not in parts, parts
        process = control.request(agent.socket, "election", "--json", "--at", then)
        assert process.returncode == 1 and "needs the Triad plugin" in process.stderr, process
        # It knows no forwarding tables: that is not that none changed.
        found = agent.ask("diff", then)
        assert (found["routes_compared"], found["routes"]) == (0, []), found
        assert found["routes_not_known"] == len(
            [row for row in agent.ask("nodes") if row["type"] == "switch"]), found
        text = succeeded(control.request(agent.socket, "diff", then)).stdout
        [part] = [part for part in text.split("\n\n") if part.startswith("Switches")]
        assert mentions(part, "not known") and "nothing" not in part, part


@pytest.mark.row("N10")
def test_ports_are_expected_and_found_as_they_were(past):
    lab, then = past
    now, was = listed(lab), listed(lab, "--at", then)
    assert now.keys() == was.keys() and len(was) == 3
    assert (expected(lab), expected(lab, "--at", then)) == ("disabled", "enabled")
    assert was["Switch1", 1]["found"] == "active" == was["Switch1", 3]["found"]
    assert was["Nowhere", 7]["found"] == "absent" and was["Nowhere", 7]["text"]
    answer = ask_json(lab, "port", "list", "--at", then)
    assert (answer["generation"], answer["mode"], answer["rows"]) == (1, "observe", 3)
    # Nothing had changed a sweep ago: all of a row is there.
    last = images(lab)["last"][:19]
    assert listed(lab, "--at", last) == listed(lab)
    assert listed(lab, "--node", "Switch1:3", "--at", then).keys() == {("Switch1", 3)}
    assert ask_json(lab, "port", "list", "-n", "1", "--at", then)["rows"] == 3
    assert not listed(lab, "--failed", "--at", then)
    text = succeeded(lab.run("triadctl", "port", "list", "--at", then)).stdout
    assert text.startswith("NODE "), "no line above the table"
    assert "Nowhere" in text and fits_columns(text), text
    failed(lab.run("triadctl", "port", "list", "--node", "Switch9", "--at", then), 1,
           "no switch")


@pytest.mark.row("N10")
def test_tables_are_those_of_then(past):
    lab, then = past
    assert (sl2vl(lab), sl2vl(lab, "--at", then)) == ({ONES}, {ZEROS})
    last = images(lab)["last"][:19]
    def shown(*words):
        rows = ask_json(lab, "qos", "tables", *words)
        return [{key: row[key] for key in row if key not in ("port_answers", "agrees")}
                for row in rows]
    assert shown("--at", last) == shown()
    assert not {row["port_answers"] for row in tables(lab, "--at", then)} - {None}
    text = succeeded(lab.run("triadctl", "qos", "tables", "--node", "Switch1", "--at",
                             then)).stdout
    assert ZEROS in text and "differ" not in text, text


@pytest.mark.row("N10")
def test_histograms_are_those_of_then_and_since(past):
    lab, then = past
    def samples(*words):
        return ask_json(lab, "perf", "histogram", "SymbolErrorCounter", *words)
    last = images(lab)["last"][:19]
    until, since = samples("--at", last), samples("--since", then, "--at", last)
    # The image before that second began.
    was = samples("--at", since["since"][:19])
    assert 0 < was["samples"] < until["samples"] and was["scope"] == "all"
    assert since["since"][:19] <= then and was["since"] is None
    assert since["samples"] == until["samples"] - was["samples"]
    assert since["zeros"] == until["zeros"] - was["zeros"]
    counts = {bucket["low"]: bucket["count"] for bucket in until["buckets"]}
    for bucket in was["buckets"]:
        counts[bucket["low"]] -= bucket["count"]
    assert {low: n for low, n in counts.items() if n} == \
        {bucket["low"]: bucket["count"] for bucket in since["buckets"] if bucket["count"]}
    assert samples("--since", then)["samples"] >= since["samples"]
    group = samples("--group", "spines", "--at", then)
    assert group["scope"] == "group" and \
        0 < group["samples"] < samples("--at", then)["samples"]
    for words, why in ((("--node", "Switch1"), "none of a node or port"),
                       (("--group", "nobody"), "no such group then"),
                       (("--since", time_after(then)), "no image lies between")):
        failed(lab.run("triadctl", "perf", "histogram", "SymbolErrorCounter", *words, "--at",
                       then), 1, why)
    failed(lab.run("triadctl", "perf", "histogram", "PortLoopingErrors", "--at", then), 1,
           "no histograms of details")
    text = succeeded(lab.run("triadctl", "perf", "histogram", "SymbolErrorCounter",
                             "--since", then)).stdout
    assert "\nsince " in text and fits_columns(text.partition("\n")[2])


@pytest.mark.row("N10")
def test_job_is_as_it_was_while_tables_are(past):
    lab, then = past
    hosts_of_job = ("--nodes", "Hca1,Hca3,Hca4")
    failed(lab.run("triadctl", "job", *hosts_of_job, "--at", then), 1,
           "tables changed")
    last = images(lab)["last"][:19]
    now, was = (ask_json(lab, "job", *hosts_of_job, *words) for words in ((), ("--at", last)))
    for key in ("hosts", "pairs", "arriving_pairs", "links_used", "alerts"):
        assert was[key] == now[key], key
    assert was["congestion"] == [] and was["since"] is None
    errors = {row["errors"] for row in was["links"]}
    since = ask_json(lab, "job", *hosts_of_job, "--since", then, "--at", last)
    assert since["since"][:19] <= then and max(errors) >= 44
    assert max(row["errors"] for row in since["links"]) < max(errors)
    wait_until(lambda: images(lab)["last"][:19] > last, 20, "a later image")
    failed(lab.run("triadctl", "job", *hosts_of_job, "--since", time_after(last), "--at",
                   last), 1, "no image lies between")
    text = succeeded(lab.run("triadctl", "job", *hosts_of_job, "--at", last)).stdout
    assert f"'congestion --at {last}'" in text


@pytest.mark.row("N10")
def test_what_there_was_not_then_says_so(past):
    lab, then = past
    failed(lab.run("triadctl", "agents", "owner", "Hca1", "--at", then), 1,
           "all counters itself")


def test_port_that_is_not_there_is_reported(past):
    lab, _ = past
    for words in (("perf", "history", "Hca1:7", "PortXmitData"),
                  ("links", "--node", "Hca1:7")):
        failed(lab.run("triadctl", *words), 1, "Hca1 has no port 7")


def test_moment_without_image_or_past_is_refused(past):
    lab, then = past
    failed(lab.run("triadctl", "perf", "show", "--at", "2001-01-01"), 1,
           "before the first image")
    # Those that exit with what they found have a status for what they can't tell.
    for words in (("health",), ("routes", "check")):
        failed(lab.run("triadctl", *words, "--at", "2001-01-01"), 3, "before the first image")
    failed(lab.run("triadctl", "cables", "--at", then), 1, "devices not asked")
    failed(lab.run("triadctl", "devices", "--at", then), 1, "devices not asked")
    failed(lab.run("triadctl", "qos", "explain", "--src", "Hca1", "--dst", "Hca3",
                   "--at", then), 2, "partitions not kept")
    failed(lab.run("triadctl", "links", "--at", "yesterday"), 2, "allowed are a time")
    tomorrow = time.strftime("%Y-%m-%dT%H:%M", time.gmtime(time.time() + 86400))
    failed(lab.run("triadctl", "nodes", "--at", tomorrow), 1, "after the last image")
    failed(lab.run("triadctl", "perf", "history", "Switch1", "PortXmitData"), 2,
           "number of a port")


TWO_SMS = "sweep_interval 1\nsminfo_polling_timeout 1000\npolling_retry_number 1\n"


def master_of(lab, among):
    """The SM of these that reads counters, once one does."""
    def reader():
        return next((sm for sm in among if
                     not ask_json(lab, "status", sm=sm)["perfmgr"]["trouble"]), None)
    return wait_until(lambda: (sm := reader()) is not None and (sm,), 60, "a master")[0]


def shown(lab, sm, then):
    """What an SM says of a moment: its counters, links, nodes."""
    return [ask_json(lab, *words, "--at", then, sm=sm) for words in
            (("perf", "show"), ("links",), ("nodes",), ("perf", "top"))]


@pytest.mark.long
@pytest.mark.row("N10")
def test_two_sms_with_one_folder_have_one_history_over_a_failover(scratch):
    folder = scratch.folder()
    with triad_lab(CONF.format(folder=folder),
                   sms=("Hca1", "Hca4"), opensm_conf=TWO_SMS) as lab:
        first = master_of(lab, (0, 1))
        wait_until(lambda: ask_json(lab, "status", sm=first)["images"]["written"] >= 3, 40,
                   "images of the first master")
        before = ask_json(lab, "status", sm=first)["images"]["last"][:19]
        hosts.kill(state.load_required(lab.folder), first, "opensm")
        second = master_of(lab, (1 - first,))
        wait_until(lambda: ask_json(lab, "status", sm=second)["images"]["written"] >= 3, 60,
                   "images of the second master")
        between = ask_json(lab, "status", sm=second)["images"]["last"][:19]
        # It has what the other one wrote, which is dead.
        assert shown(lab, second, before)[0]
        hosts.start(state.load_required(lab.folder), first, "opensm")
        wait_until(lambda: ask_json(lab, "status", sm=first)["perfmgr"]["state"], 60,
                   "its return")
        wait_until(lambda: ask_json(lab, "status", sm=first)["images"]["last"], 40,
                   "its folder read")
        # Until then one of that second may still come.
        wait_until(lambda: any(newest > between for newest in
                               (ask_json(lab, "status", sm=sm)["images"]["last"][:19]
                                for sm in (first, second))), 40, "later images")
        for then in (before, between):
            assert shown(lab, first, then) == shown(lab, second, then), then
        points = ask_json(lab, "perf", "history", "Switch1:3", "PortXmitData", "--at",
                          between, sm=first)["points"]
        times = [point["time"][:19] for point in points]
        assert times[0] <= before and times[-1] >= between[:18], times
