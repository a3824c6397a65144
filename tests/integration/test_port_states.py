# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A port's state in one word, the same in all commands, and the advice that goes with it."""

import json
import signal

import pytest

from checks import failed, mentions, wait_until
from test_lifecycle import end
from triadlib import ask, ask_json, triad_lab, wait_for_sweep

CONF = """\
[perfmgr]
sweep_period = 1
[alerts]
clear_after = 0
"""
# Hca3 is at port 2 of Switch1.
HOST, SWITCH, PORT = "Hca3", "Switch1", 2


def take_away(lab):
    lab.sim(f'Unlink "{HOST}"')


def disable(lab):
    lab.run("ibportstate", "-D", "0,1", PORT, "disable", node="Hca1")
    have_the_sm_look(lab)


def silence(lab):
    """Its link stays up, and its SMA answers nobody."""
    lab.sim(f'Error "{HOST}"[1] 100')
    have_the_sm_look(lab)


def have_the_sm_look(lab):
    """ibsim tells it of links that change."""
    lab.sim('Unlink "Hca4"')
    lab.sim('ReLink "Hca4"')


def port_state(lab):
    [port] = ask_json(lab, "ports", "--node", f"{SWITCH}:{PORT}")
    return port["state"]


def finding(lab):
    answer = json.loads(lab.triad("health", "--json").stdout)
    found = [it for it in answer["findings"] if HOST in (it["at"] + (it["far_end"] or ""))]
    return found[0] if found else None


@pytest.mark.parametrize("harm, state, what, advice", [
    (take_away, "polling", "left", "power cable"),
    (disable, "disabled", "disabled", "enable"),
    (silence, "silent", "answers SM", "driver restart")])
def test_host_that_is_gone_is_said_to_be_what_its_port_shows(harm, state, what, advice):
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        assert port_state(lab) == "active"
        harm(lab)
        wait_until(lambda: port_state(lab) == state, 60, f"a port that is {state}")
        wait_until(lambda: finding(lab), 30, "a finding")
        wait_until(lambda: mentions(finding(lab)["what"], what), 30, finding(lab))
        assert mentions(finding(lab)["advice"], advice), finding(lab)
        # The same word everywhere.
        [link] = [it for it in ask_json(lab, "links", "--down")
                  if HOST in {end["node_name"] for end in it["ends"]}]
        assert link["port_state"] == state, link
        assert mentions(ask(lab, "links", "--down"), state), "in the table"
        [node] = ask_json(lab, "nodes", "--node", HOST)
        assert (node["state"], node["port_state"], node["last_at"]) == \
            ("left", state, f"{SWITCH}:{PORT}"), node
        assert node["last_seen"] == link["last_down"], node
        alert = next(it for it in ask_json(lab, "alerts")["alerts"]
                     if it["at"]["node_name"] == HOST)
        assert alert["far_end"]["port_state"] == state, alert
        shown = ask_json(lab, "ports", "--state", state)
        assert (SWITCH, PORT) in {(it["node_name"], it["port"]) for it in shown}, shown
        [shown] = [it for it in shown if (it["node_name"], it["port"]) == (SWITCH, PORT)]
        assert shown["far_name"] == HOST and shown["far_end_is_past"], shown


def test_ports_lists_free_ports_and_what_is_at_the_others():
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        ports = ask_json(lab, "ports")
        free = ask_json(lab, "ports", "--type", "switch", "--state", "free")
        assert free and {it["state"] for it in free} == {"free"}, free
        assert all(it["far_name"] is None and it["rate"] is None for it in free), free
        used = [it for it in ports if it["state"] == "active"]
        assert all(it["far_name"] and it["rate"] for it in used), used
        assert len([it for it in ports if it["node_type"] == "switch"]) == len(free) + \
            len([it for it in used if it["node_type"] == "switch"]), "each port has a state"
        assert not any(it["port"] == 0 for it in ports), "ports without a cable"
        assert len(ask_json(lab, "ports", "-n", "3")) == 3
        assert mentions(ask(lab, "ports", "--state", "disabled"), "no port")
        text = ask(lab, "ports", "--node", SWITCH)
        assert mentions(text, f"{SWITCH} 2 active {HOST}:1"), text
        failed(lab.triad("ports", "--node", "nobody"), 1, "nobody")
        failed(lab.triad("ports", "--node", f"{SWITCH}:99"), 1, "99")
        failed(lab.triad("ports", "--state", "broken"), 2, "free disabled silent")


def test_node_that_left_is_shown_with_when_and_where():
    with triad_lab(CONF) as lab:
        wait_for_sweep(lab)
        before = ask_json(lab, "nodes")
        assert all(it["last_seen"] is None for it in before), before
        lab.sim(f'Unlink "{HOST}"')
        wait_until(lambda: len(ask_json(lab, "nodes")) < len(before), 60, "a node that left")
        [node] = ask_json(lab, "nodes", "--node", "Hca[3]")
        assert node["guid"] in {it["guid"] for it in before} and node["state"] == "left", node
        text = ask(lab, "nodes", "--node", HOST)
        assert mentions(text, f"{HOST} left {SWITCH}:{PORT} polling"), text
        failed(lab.triad("nodes", "--node", "nobody"), 1, "nobody")
        lab.sim(f'Link "{HOST}"[1] "{SWITCH}"[{PORT}]')
        wait_until(lambda: len(ask_json(lab, "nodes")) == len(before), 60, "the node")
        [node] = ask_json(lab, "nodes", "--node", HOST)
        assert node["state"] != "left" and node["last_seen"] is None, node


def test_host_that_was_silent_before_anybody_looked_is_a_finding():
    """The next master never saw it, so no alert is about it."""
    with triad_lab(CONF, sms=["Hca1", "Hca2"], opensm_conf="sminfo_polling_timeout 300\n"
                   "polling_retry_number 2\n") as lab:
        wait_for_sweep(lab)
        silence(lab)
        wait_until(lambda: port_state(lab) == "silent", 60, "a silent port")
        end(lab, signal.SIGKILL)

        def found():
            answer = json.loads(lab.triad("health", "--json", sm=1).stdout)
            return [it for it in answer["findings"] if it["at"] == f"{SWITCH}:{PORT}"]

        [it] = wait_until(found, 90, "a finding of the next master")
        assert mentions(it["what"], "up answers SM") and mentions(it["advice"], "restart"), it
        [port] = ask_json(lab, "ports", "--state", "silent", sm=1)
        assert (port["node_name"], port["port"], port["far_name"]) == (SWITCH, PORT, None), port
