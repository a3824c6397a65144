# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Speeds that OpenSM does not know: devices that tell their extended speeds only to who
asks for them are asked by Triad, and health says what OpenSM takes them for."""

import re

import pytest

from checks import mentions, succeeded, wait_until
from labs import AGENT, Lab, need
from pathlab import turn_off, turn_on
from test_agent import Agent
from test_faults import faults
from test_lab_details import tree_net
from triadlib import TriadLab, ask, ask_json, health_findings, status, sweep_heavily, \
    wait_for_sweep

pytestmark = pytest.mark.row("N18")

CONF = "[perfmgr]\nsweep_period = 1\n"
N_LINKS = 8
# Codes of PathRecord's rate.
GBPS_10, GBPS_40, GBPS_100, GBPS_200, GBPS_400 = 3, 7, 16, 17, 21


def speeds_lab(folder, rate="4xHDR", withhold=True, **options):
    return TriadLab(tree_net(folder, rate), triad_conf=CONF, withhold=withhold, **options)


def rates(lab):
    """[present rate, best rate] of all links, each once."""
    return {(link["rate"], link["best_rate"]) for link in ask_json(lab, "links")}


def host_lids(lab):
    return [row["lid"] for row in ask_json(lab, "nodes") if row["name"].startswith("host-")]


def ask_path(source, destination):
    return "saquery", "-p", "--src-to-dst", f"{source}:{destination}"


def rate_in(text):
    return int(re.search(r"rate\.+(0x\w+)", text)[1], 16) & 0x3f


def path_rate(lab):
    """Of the path from one leaf's host to one of the other's, as the SA has it."""
    lids = host_lids(lab)
    return rate_in(succeeded(lab.run(*ask_path(lids[0], lids[-1]))).stdout)


def wait_for_rates(lab, *of):
    wait_until(lambda: rates(lab) == set(of), 30, lambda: f"{of}, not {rates(lab)}")


@pytest.fixture(name="lab", scope="module")
def hdr_lab(tmp_path_factory):
    with speeds_lab(tmp_path_factory.mktemp("speeds")) as lab:
        wait_for_sweep(lab)
        wait_for_rates(lab, ("4x HDR", "4x HDR"))
        yield lab


def test_links_have_the_speeds_that_their_ends_told(lab):
    assert len(ask_json(lab, "links")) == N_LINKS
    assert {row["rate"] for row in ask_json(lab, "ports") if row["state"] == "active"} == \
        {"4x HDR"}
    assert not ask_json(lab, "links", "--slow")


def test_health_says_that_opensm_does_not_know_them(lab):
    finding = wait_until(lambda: health_findings(lab, "speeds of 16 ports"), 10, "a finding")[0]
    assert mentions(finding["what"], "4x HDR 4x SDR path records"), finding
    assert mentions(finding["advice"], "sm.extended_speeds 3.3.24 bit 31 qos.enabled"), finding
    counts = status(lab)["speeds"]
    assert (counts["unknown_to_sm"], counts["known"], counts["faster"]) == (16, 16, 16)
    assert counts["questions"] >= 16


def test_path_records_of_triad_have_the_true_rate(lab):
    assert path_rate(lab) == GBPS_10, "OpenSM's"
    turn_on(lab)
    wait_until(lambda: path_rate(lab) == GBPS_200, 10, lambda: f"a rate of {path_rate(lab)}")
    turn_off(lab)
    assert path_rate(lab) == GBPS_10, "OpenSM's again"


def test_speeds_stay_over_sweeps_and_follow_links(tmp_path):
    with speeds_lab(tmp_path) as lab:
        wait_for_sweep(lab)
        wait_for_rates(lab, ("4x HDR", "4x HDR"))
        asked = status(lab)["speeds"]["questions"]
        lab.sim(*(f'Speed "{end}"[1] active=4xEDR' for end in ("host-0001", "leaf-01")))
        sweep_heavily(lab, lambda: rates(lab) ==
                      {("4x HDR", "4x HDR"), ("4x EDR", "4x EDR")}, what="a link of EDR")
        assert status(lab)["speeds"]["questions"] > asked
        # Links that go on are as fast as before while they are asked again.
        assert len([link for link in ask_json(lab, "links") if link["rate"] == "4x EDR"]) == 1


def test_speed_of_a_link_that_came_up_anew_is_not_known_until_its_ends_tell(tmp_path):
    """Not even when OpenSM takes it for SDR."""
    with speeds_lab(tmp_path) as lab:
        wait_for_sweep(lab)
        wait_for_rates(lab, ("4x HDR", "4x HDR"))
        # OpenSM's SMPs have directed routes.
        faults(lab, "lose class 0x01 attribute 0x15 direction in")
        lab.sim(*(f'Speed "{end}"[1] active=2xHDR' for end in ("host-0001", "leaf-01")))
        sweep_heavily(lab, lambda: rates(lab) == {("4x HDR", "4x HDR"), ("2x ?", None)},
                      what="a link whose speed nobody knows")
        wait_until(lambda: status(lab)["speeds"]["unanswered"], 10, "a question without an answer")
        faults(lab)
        wait_for_rates(lab, ("4x HDR", "4x HDR"), ("2x HDR", "2x HDR"))


def test_speeds_that_devices_tell_everybody_are_no_finding(tmp_path):
    with speeds_lab(tmp_path, withhold=False) as lab:
        wait_for_sweep(lab)
        assert rates(lab) == {("4x HDR", "4x HDR")}
        assert not health_findings(lab, "OpenSM does not know the speeds")
        assert status(lab)["speeds"]["questions"] == 0, "nobody was asked"


def test_paths_at_ndr_have_its_rate_whatever_opensm_knows(tmp_path):
    with speeds_lab(tmp_path, rate="4xNDR", withhold=False) as lab:
        wait_for_sweep(lab)
        assert rates(lab) == {("4x NDR", "4x NDR")}
        of_opensm = path_rate(lab)
        assert of_opensm in (GBPS_40, GBPS_400)
        assert bool(health_findings(lab, "4x NDR 4x QDR")) == (of_opensm == GBPS_40), \
            "a finding where OpenSM knows no NDR"
        turn_on(lab)
        assert path_rate(lab) == GBPS_400


def test_agents_ask_for_speeds_that_are_not_told_unasked(scratch, tmp_path):
    need(AGENT)
    with Lab(tree_net(tmp_path, "4xHDR"), plugin="no", withhold=True) as lab:
        by_sa, by_itself = (
            Agent(scratch, lab, "[perfmgr]\nsweep_period = 1\n[collect]\n"
                  f"topology = {source}\n", node=node)
            for source, node in (("sa", "host-0003"), ("discover", "host-0004")))

        def rates_at(agent):
            return {row["rate"] for row in agent.ask("links")}

        for agent in (by_sa, by_itself):
            agent.wait_for("a sweep", "perfmgr", sweeps=1)
        assert rates_at(by_itself) == {"4x HDR"}
        assert rates_at(by_sa) == {"4x ?"}, "its ports have yet to be asked"
        # The next reading of the SA's tables has them, within a minute.
        wait_until(lambda: rates_at(by_sa) == {"4x HDR"}, 90, "speeds at the other")


# --- sm.extended_speeds: OpenSM has the speeds itself ---

WITH_KEY = CONF + "[sm]\nextended_speeds = true\n"


def with_key(folder, rate="4xHDR", **options):
    return TriadLab(tree_net(folder, rate), triad_conf=WITH_KEY, withhold=True, **options)


def n_sweeps(lab):
    return status(lab)["topology"]["sm_sweeps"]


def sweep(lab):
    """Has OpenSM sweep heavily, and waits for the end."""
    before = lab.log().count("SUBNET UP")
    sweep_heavily(lab, lambda: lab.log().count("SUBNET UP") > before)


def asked(lab, sm=0):
    """What Triad has asked for OpenSM."""
    return status(lab, sm=sm)["extended_speeds"]


def test_opensm_has_the_speeds_from_its_first_sweep_on(tmp_path):
    with with_key(tmp_path) as lab:
        wait_for_sweep(lab)
        assert path_rate(lab) == GBPS_200
        assert n_sweeps(lab) == 1, "the first sweep had them"
        assert asked(lab)["state"] == "asked for"
        assert asked(lab)["asked"] >= 2 * N_LINKS
        assert asked(lab)["unanswered"] == 0
        assert status(lab)["speeds"]["unknown_to_sm"] == 0
        assert status(lab)["speeds"]["questions"] == 0, "OpenSM knows all"
        assert rates(lab) == {("4x HDR", "4x HDR")}
        assert not health_findings(lab, "OpenSM does not know the speeds")
        for _ in range(3):
            sweep(lab)
            assert path_rate(lab) == GBPS_200, "sweeps keep it"


def test_opensm_follows_a_link_that_trained_again(tmp_path):
    with with_key(tmp_path) as lab:
        wait_for_sweep(lab)
        assert path_rate(lab) == GBPS_200
        lab.sim(*(f'Speed "{end}"[1] active=4xEDR' for end in ("host-0001", "leaf-01")))
        sweep_heavily(lab, lambda: path_rate(lab) == GBPS_100, what="a path at EDR")
        wait_for_rates(lab, ("4x HDR", "4x HDR"), ("4x EDR", "4x EDR"))
        # As slow as what is said unasked, and then a speed that is no extended one.
        lab.sim(*(f'Speed "{end}"[1] active=4xSDR' for end in ("host-0001", "leaf-01")))
        sweep_heavily(lab, lambda: path_rate(lab) == GBPS_10, what="a path at SDR")
        lab.sim(*(f'Speed "{end}"[1] active=4xHDR' for end in ("host-0001", "leaf-01")))
        sweep_heavily(lab, lambda: path_rate(lab) == GBPS_200, what="a path at HDR again")


def test_opensm_has_them_while_the_key_is_set(lab):
    assert path_rate(lab) == GBPS_10
    assert asked(lab)["state"] == "off"
    assert mentions(health_findings(lab, "speeds of 16 ports")[0]["advice"],
                    "sm.extended_speeds")
    ask(lab, "set", "sm.extended_speeds", "true")
    # A sweep comes by itself.
    wait_until(lambda: path_rate(lab) == GBPS_200, 30, lambda: f"a rate of {path_rate(lab)}")
    wait_until(lambda: not health_findings(lab, "OpenSM does not know the speeds"), 30,
               "no finding")
    n = asked(lab)["asked"]
    ask(lab, "set", "sm.extended_speeds", "false")
    wait_until(lambda: path_rate(lab) == GBPS_10, 30, lambda: f"a rate of {path_rate(lab)}")
    assert asked(lab)["state"] == "off"
    assert asked(lab)["asked"] in range(n, n + 2 * N_LINKS), "none in the sweep without"
    wait_for_rates(lab, ("4x HDR", "4x HDR"))
    wait_until(lambda: health_findings(lab, "speeds of 16 ports"), 30, "the finding again")


@pytest.mark.parametrize("manner", ["refuse", "ignore"])
def test_device_that_does_not_take_the_question_is_as_without(tmp_path, manner):
    with speeds_lab(tmp_path) as lab:
        wait_for_sweep(lab)
        lab.sim(f'Speed "leaf-01" {manner}')
        ask(lab, "set", "sm.extended_speeds", "true")
        wait_until(lambda: asked(lab)["unanswered"], 30, "a question in vain")
        sweep(lab)
        assert path_rate(lab) == GBPS_10, "of a path over that leaf"
        assert len(ask_json(lab, "links")) == N_LINKS, "no port is lost"
        assert "Unknown link state" not in lab.log(), "OpenSM does not see the refusal"
        assert {row["state"] for row in ask_json(lab, "ports")
                if row["state"] != "down"} == {"active"}
        unanswered = asked(lab)["unanswered"]
        sweep(lab)
        assert asked(lab)["unanswered"] == unanswered, "it is left alone"
        lab.sim('Speed "leaf-01" answer')
        sweep(lab)
        assert path_rate(lab) == GBPS_200


def test_next_master_has_the_speeds(tmp_path):
    quick = "sminfo_polling_timeout 1000\npolling_retry_number 1\n"
    with with_key(tmp_path, sms=("host-0001", "host-0003"), opensm_conf=quick) as lab:
        wait_for_sweep(lab)
        assert path_rate(lab) == GBPS_200
        assert asked(lab, sm=1)["asked"], "the standby discovered the fabric, too"
        lids = host_lids(lab)
        lab.host("kill", 0, "opensm")

        def next_rate():
            text = lab.run(*ask_path(lids[1], lids[-1]), node="host-0003").stdout
            return rate_in(text) if "rate" in text else None

        wait_until(next_rate, 30, "an answer of the next master")
        assert next_rate() == GBPS_200


def test_devices_with_an_m_key_tell_opensm(tmp_path):
    m_key = "m_key 0x1122334455667788\nm_key_protection_level 2\n"
    with with_key(tmp_path, opensm_conf=m_key) as lab:
        wait_for_sweep(lab)
        assert path_rate(lab) == GBPS_200
        sweep(lab)
        assert path_rate(lab) == GBPS_200
        assert asked(lab)["unanswered"] == 0


def test_devices_that_tell_everybody_are_asked_once(tmp_path):
    with TriadLab(tree_net(tmp_path, "4xHDR"), triad_conf=WITH_KEY) as lab:
        wait_for_sweep(lab)
        assert path_rate(lab) == GBPS_200
        assert asked(lab)["asked"] == 0
