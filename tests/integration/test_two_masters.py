# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Two SMs are master of one fabric, without elections: the one that sees it says so, and
when it is over."""

import os
import signal
from pathlib import Path

import pytest

from checks import mentions, stopped, wait_until
from labs import EXAMPLE_NETS, Lab
from triadlib import ask, ask_json, log_has, status, sweep_heavily

BETWEEN_SWITCHES = ('"Switch1"[3]', '"Switch1"[5]')
# No sweep but those that are asked for, and none for a trap.
CONF = "sweep_interval 0\nsminfo_polling_timeout 500\npolling_retry_number 1\n"
NO_TRAPS = "lose class 0x01 attribute 0x02\n"


def states(lab):
    return [sm["state"] for sm in lab.status()["sms"]]


def trouble(lab):
    return status(lab)["sm"]["trouble"]


@pytest.mark.plain
def test_two_masters_reported_until_one_has_handed_over():
    with Lab(EXAMPLE_NETS / "net.2sw2path4hca", sms=["Hca1", "Hca2"],
             opensm_conf=CONF) as lab:
        assert states(lab) == ["master", "standby"]
        assert trouble(lab) is None
        lab.sim(*(f"Unlink {port}" for port in BETWEEN_SWITCHES))
        wait_until(lambda: states(lab) == ["master"] * 2, 30, "a master in each part")
        lab.harm_mads(NO_TRAPS)
        lab.sim(*(f"ReLink {port}" for port in BETWEEN_SWITCHES))
        # The lower one is asked by a trap to hand over, which it does not get.
        guid = lab.status()["sms"][1]["port_guid"]
        sweep_heavily(lab, lambda: (trouble(lab) or "").startswith(f"{guid} is master"),
                      what="two masters in status")
        text = " ".join(ask(lab, "status").split())
        assert mentions(text, "master since"), "status as text"
        assert ask_json(lab, "election")["sm_trouble"], "election"
        assert mentions(lab.log(), f"triad: error: SM: {guid} master") and \
            mentions(lab.log(), "waits hand over"), "OpenSM's log"
        lab.heal_mads()
        # Traps find no way yet, as neither SM has routed the whole fabric.
        sweep_heavily(lab, lambda: trouble(lab) is None, sm=1, what="it is over in status")
        log_has(lab, "the only master again")
        wait_until(lambda: states(lab) == ["master", "standby"], 30, "one master")


@pytest.mark.row("N12")
def test_two_masters_that_wait_for_each_other_are_helped():
    """The higher one waits for the other to hand over, and becomes the lower one meanwhile."""
    with Lab(EXAMPLE_NETS / "net.2sw2path4hca", sms=["Hca1", "Hca2"], opensm_conf=CONF,
             triad_conf="[sm]\nrecover = true\n") as lab:
        assert states(lab) == ["master", "standby"]
        with stopped(lab.status()["sms"][0]["pid"]):
            wait_until(lambda: states(lab)[1] == "master", 60, "the other one takes over")
            lab.harm_mads(NO_TRAPS)
        sweep_heavily(lab, lambda: trouble(lab) is not None, what="two masters in status")
        assert states(lab) == ["master"] * 2
        conf = Path(lab.folder, "sm-1", "opensm.conf")
        conf.write_text(conf.read_text() + "sm_priority 5\n")
        os.kill(lab.status()["sms"][1]["pid"], signal.SIGHUP)
        wait_until(lambda: states(lab) == ["standby", "master"], 120, "one master")
        assert mentions(lab.log(), "Triad ended hand-over")
        wait_until(lambda: trouble(lab) is None, 30, "no trouble")
