# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A standby that starts, or begins its election anew with other settings, receives the
others only after some time.  It must not take them for dead before: it would be a second
master, and OpenSM would discover the fabric."""

from pathlib import Path

import pytest

from checks import wait_until
from electionlib import (PATIENT, at_rest, cluster, is_whole, others, report,
                         wait_for_votes)
from triadlib import ask, ask_json

KINDS = ("peers", "corosync", "fabric")


def start_again(lab, sm):
    lab.host("kill", sm, "opensm")
    lab.host("start", sm, "opensm")


def change_settings(lab, sm):
    """Another name of the same folder begins the election anew."""
    folder = ask_json(lab, "status", sm=sm)["configuration"]["values"]["election.state_dir"]
    ask(lab, "set", "election.state_dir", f"{folder}/.", sm=sm)


@pytest.mark.row("E8")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("begin_again", (
    pytest.param(start_again, marks=pytest.mark.plain), change_settings))
def test_standby_that_begins_again_leaves_the_master_alone(kind, begin_again):
    with cluster(kind, election=PATIENT) as running:
        master = at_rest(running)
        before = report(running, master)["term"]
        for sm in others(master):
            log = Path(running.lab.state().sms[sm].log)
            begin = log.stat().st_size
            begin_again(running.lab, sm)
            wait_until(lambda sm=sm: report(running, sm)["state"] == "STANDBY", 30,
                       "a standby")
            wait_until(lambda sm=sm: is_whole(running, sm), 30, f"SM {sm} knows all")
            # Without its vote, the holder would lose the lease when the next one goes.
            wait_for_votes(running, master)
            lines = log.read_text(encoding="utf-8")[begin:]
            assert "takes over" not in lines, lines
            assert report(running, sm)["counters"]["won"] == 0, lines
        assert running.wait_for_holder() == master and running.masters() == [master]
        assert report(running, master)["term"] == before, "the term"
        running.check()
