# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is wrong is known also after a restart of opensm, and to the next master: what was lost
before, since when, and what was lost while nobody looked."""

import datetime
import json
import signal

import pytest

from checks import mentions, wait_until
from electionlib import others
from test_images_copied import copying
from triadlab import hosts, process, state
from triadlib import ask, ask_json, triad_lab

pytestmark = pytest.mark.row("N16")

# The hosts without an SM.
FIRST, SECOND = "Hca3", "Hca4"
BRIEF = "[alerts]\nclear_after = 1\n"
CONF = BRIEF + """\
[perfmgr]
sweep_period = 1
[history]
dir = {folder}
"""


def seconds(text):
    return datetime.datetime.fromisoformat(text).timestamp()


def are_alike(one, other):
    """A number, and a time, which follows the wall clock."""
    return one[0] == other[0] and abs(one[1] - other[1]) < 1


def alerts(lab, sm=0):
    """{the node: number, since when} of those that are active."""
    return {alert["at"]["node_name"]: (alert["id"], seconds(alert["raised"]))
            for alert in ask_json(lab, "alerts", sm=sm)["alerts"]
            if alert["state"] == "active"}


def links_down(lab, sm=0):
    """{the node: how often, since when}"""
    return {link["ends"][0]["node_name"]: (link["downs"], seconds(link["last_down"]))
            for link in ask_json(lab, "links", "--down", sm=sm)}


def lose(lab, node, sm=0):
    lab.sim(f'Unlink "{node}"[1]')
    wait_until(lambda: node in alerts(lab, sm), 60, f"an alert about {node}")


def end(lab, sm, number):
    ended = hosts.signal_program(state.load_required(lab.folder), sm, hosts.OPENSM, number)
    assert process.wait_for_end(list(ended.values()), 20)


def known_since(lab):
    """Since when losses are known; None: also those of before."""
    return json.loads(lab.triad("health", "--json").stdout)["losses_known_since"]


def wait_for_image(lab, sm=0):
    """Until one has what is known now: those of a sweep may be some, of several tiers."""
    written = ask_json(lab, "status", sm=sm)["images"]["written"]
    wait_until(lambda: ask_json(lab, "status", sm=sm)["images"]["written"] > written + 3,
               30, "an image")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_what_was_lost_is_known_after_a_restart(number, tmp_path):
    with triad_lab(CONF.format(folder=tmp_path)) as lab:
        lose(lab, FIRST)
        ask(lab, "alerts", "ack", "1", "--reason", "known")
        wait_for_image(lab)
        assert known_since(lab), "nothing told what was before"
        before = alerts(lab), links_down(lab)
        end(lab, 0, number)
        lab.sim(f'Unlink "{SECOND}"[1]')
        lab.host("start", 0, "opensm")
        wait_until(lambda: SECOND in alerts(lab), 30, "what was lost meanwhile")
        assert known_since(lab) is None, "the image told it"
        now = alerts(lab), links_down(lab)
        assert are_alike(now[0][FIRST], before[0][FIRST]), (now, before)
        assert are_alike(now[1][FIRST], before[1][FIRST]), (now, before)
        assert SECOND in now[1], "the other link"
        assert mentions(ask(lab, "alerts"), "1 silenced"), "what was acknowledged"
        for node in (FIRST, SECOND):
            lab.sim(f'ReLink "{node}"[1]')
        wait_until(lambda: not alerts(lab), 60, "all ended")
        assert not links_down(lab)


def test_what_was_lost_is_known_to_the_next_master(tmp_path):
    with copying("peers", tmp_path, BRIEF) as it:
        old = it.wait_for_master()
        lose(it.lab, FIRST, old)
        it.wait_for_images(old, 4)
        it.wait_until_equal()
        before = alerts(it.lab, old), links_down(it.lab, old)
        it.lab.host("kill", old, "opensm")
        new = it.wait_for_master(others(old))
        wait_until(lambda: FIRST in alerts(it.lab, new), 30, "an alert at the next master")
        now = alerts(it.lab, new), links_down(it.lab, new)
        assert all(are_alike(*pair) for pair in
                   zip((found[FIRST] for found in now),
                       (found[FIRST] for found in before))), (now, before)
        # The old one returns, and has it again.
        it.lab.sim(f'ReLink "{FIRST}"[1]')
        wait_until(lambda: FIRST not in alerts(it.lab, new), 60, "the end")
