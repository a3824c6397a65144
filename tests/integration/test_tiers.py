# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What flowed between levels of the fabric, over time: 'perf tiers'."""

import datetime
import signal
import subprocess

import pytest

from checks import failed, succeeded, wait_until
from labs import SRCDIR, TRIADD, need
from test_images import images, last_image, wait_for_images
from test_lifecycle import end
from triadlib import TriadLab, ask, ask_json, triad_lab, wait_for_sweep

CONF = """\
[perfmgr]
mode = full
sweep_period = 1
reset = never
[history]
dir = {folder}
"""
MUCH = 4 * 10 ** 8  # words, beside which MADs are nothing
# A rate is by when ports were read, not by the images' times.
LITTLE = MUCH // 10


@pytest.fixture(scope="module", name="lab")
def tree_lab(tmp_path_factory):
    need(TRIADD)
    folder = tmp_path_factory.mktemp("tiers")
    succeeded(subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--levels", "2",
                              "--radix", "4", "-o", folder / "net"], check=False))
    with TriadLab(folder / "net", opensm_conf="sweep_interval 1\n",
                  triad_conf=CONF.format(folder=folder / "images")) as made:
        wait_for_images(made, 8)
        yield made


def rows_of(lab, low, high, *words):
    return [row for row in ask_json(lab, "perf", "tiers", *words)
            if (row["low"], row["high"]) == (low, high)]


def words_of(rows, direction):
    """What flowed in all of the times that are known."""
    def seconds(row):
        since, until = (datetime.datetime.fromisoformat(row[name].replace("Z", "+00:00"))
                        for name in ("since", "time"))
        return (until - since).total_seconds()
    return sum(row[direction] / 32 * seconds(row) for row in rows
               if row[direction] is not None)


def send(lab, node, port, words):
    """Has a port count more words, once; returns when images know of them."""
    def total():
        [row] = ask_json(lab, "perf", "show", "--node", f"{node}:{port}")
        return row["counters"]["PortXmitData"]
    before = total()
    lab.sim(f'PerformanceSet "{node.split()[0]}"[{port}] '
            f"PortCountersExtended.PortXmitData={before + words}")
    wait_until(lambda: total() >= before + words, 20, "the words")
    wait_for_images(lab, images(lab)["written"] + 3)


@pytest.mark.row("N10")
def test_sums_are_of_the_links_between_two_levels(lab):
    then = last_image(lab)
    send(lab, "host-0001 HCA-1", 1, MUCH)
    send(lab, "spine-01", 1, 2 * MUCH)
    hosts, spines = (rows_of(lab, *pair, "--since", then) for pair in ((0, 1), (1, 2)))
    assert len(hosts) == len(spines) > 2, hosts
    assert all((row["links"], row["known_links"]) == (8, 8) for row in hosts + spines), hosts
    assert abs(words_of(hosts, "up_bps") - MUCH) < LITTLE, hosts
    assert words_of(hosts, "down_bps") < LITTLE, hosts
    assert abs(words_of(spines, "down_bps") - 2 * MUCH) < LITTLE, spines
    assert words_of(spines, "up_bps") < LITTLE, spines
    times = [row["time"] for row in hosts]
    assert times == sorted(times) and all(a["time"] == b["since"] for a, b in
                                          zip(hosts, hosts[1:])), hosts
    text = ask(lab, "perf", "tiers", "--since", then)
    assert "0-1" in text and "Gb/s" in text, text
    # Of a past moment nothing later.
    assert all(row["time"][:19] <= then for row in
               ask_json(lab, "perf", "tiers", "--since", "1h", "--at", then))


@pytest.mark.row("N10")
def test_link_that_went_is_not_among_them_and_others_go_on(lab):
    then = last_image(lab)
    lab.sim('Unlink "spine-02"[3]')
    wait_until(lambda: any(row["state"] == "down" for row in ask_json(lab, "links", "--down")),
               30, "the link to be down")
    wait_for_images(lab, images(lab)["written"] + 3)
    spines = rows_of(lab, 1, 2, "--since", then)
    lab.sim('Link "spine-02"[3] "leaf-03"[4]')
    assert (spines[0]["links"], spines[-1]["links"]) == (8, 7), spines
    # Those that stayed are known across the change.
    first = next(row for row in spines if row["links"] == 7)
    assert first["known_links"] == 7 and first["up_bps"] is not None, spines


@pytest.mark.row("N10")
def test_port_that_does_not_answer_is_not_known(lab):
    [host] = [row for row in ask_json(lab, "nodes") if row["name"].startswith("host-0004")]
    lab.harm_mads(f"lose class 0x04 lid {host['lid']} direction in\n")
    try:
        wait_until(lambda: rows_of(lab, 0, 1)[-1]["known_links"] == 7, 30,
                   lambda: rows_of(lab, 0, 1)[-1])
        row = rows_of(lab, 0, 1)[-1]
        assert row["links"] == 8 and row["up_bps"] is not None, row
    finally:
        lab.heal_mads()


@pytest.mark.row("N10")
def test_time_in_which_nothing_was_counted_is_a_gap(lab):
    then = last_image(lab)
    end(lab, signal.SIGKILL)
    lab.host("start", 0, "opensm")
    wait_until(lambda: lab.triad("perf", "show").returncode == 0, 30, "counters")
    wait_for_images(lab, images(lab)["written"] + 4)
    rows = rows_of(lab, 0, 1, "--since", then)
    gaps = [row for row in rows if not row["known_links"]]
    assert gaps and all(row["up_bps"] is None and row["down_bps"] is None for row in gaps), rows
    assert rows[-1]["known_links"] and rows[-1]["up_bps"] is not None, rows


@pytest.mark.row("N10")
def test_without_images_it_says_so(scratch):
    with triad_lab("[history]\ndir =\n") as lab:
        wait_for_sweep(lab)
        failed(lab.run("triadctl", "perf", "tiers"), 1, "history.dir")
