# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""scripts/soak-faults: that its judge sees what it is there for, and that a short soak has
no findings."""

import json
import subprocess
import sys

import pytest

from checks import succeeded
from labs import BUILDDIR, SRCDIR
from triadlab import evidence, netfile
from triadlab.evidence import DISABLED, POLLING, Held, PortSet

SOAK = SRCDIR / "scripts" / "soak-faults"
LEAF, PORT = "leaf-01", 5
END = (LEAF, PORT)


@pytest.fixture(name="net", scope="module")
def made_net(tmp_path_factory):
    path = tmp_path_factory.mktemp("net") / "tree.net"
    subprocess.run([sys.executable, str(SRCDIR / "scripts/gen-fabric"), "fat-tree", "--hosts",
                    "12", "--radix", "8", "-o", str(path)], check=True)
    return netfile.read(path)


def port_set(at, port=PORT, state=DISABLED):
    return PortSet(at, "host-0001", LEAF, port, state)


def test_two_permissions_at_one_time_are_seen():
    first = Held("SM 0", 1, 0, 10)
    assert evidence.overlaps([first, Held("SM 1", 2, 9, 12)]) == \
        [(first, Held("SM 1", 2, 9, 12))]
    assert not evidence.overlaps([first, Held("SM 1", 2, 10, 12), Held("SM 0", 3, 5, 8)])


def test_term_that_was_there_before_is_seen():
    first = Held("SM 0", 2, 0, 10)
    assert len(evidence.old_terms([first, Held("SM 1", 1, 20, 22)])) == 1
    assert len(evidence.old_terms([first, Held("SM 1", 2, 20, 22)])) == 1
    assert not evidence.old_terms([first, Held("SM 0", 2, 20, 22), Held("SM 1", 3, 30, 32)])


def test_trace_says_when_a_permission_ends(tmp_path):
    path = tmp_path / "trace"
    path.write_text("5 refused not_up\n10 given 3 40\n20 given 3 50\n30 refused expired\n"
                    "60 given 4 90\n70 gi", encoding="ascii")
    trace = evidence.Trace("SM 0", path)
    assert trace.update() == [Held("SM 0", 3, 10, 30), Held("SM 0", 4, 60, 90)]
    with path.open("a", encoding="ascii") as stream:
        stream.write("ven 5 95\n")
    assert trace.update()[-2:] == [Held("SM 0", 4, 60, 70), Held("SM 0", 5, 70, 95)]


def test_set_without_permission_is_seen():
    held = {"host-0001": [Held("SM 0", 1, 10, 20)]}
    assert [it.at for it in evidence.unpermitted(map(port_set, (9, 10, 19, 20)), held)] == \
        [9, 20]


def test_record_has_sets_of_a_physical_state_at_the_end_of_their_route(net, tmp_path):
    def line(method="2", attribute="15", state="3"):
        data = "0" * 66 + state + "0" * 61
        return f"81 {method} {attribute} ffff 0 0 5 0 1,5, {data} 77 host-0001\n"
    path = tmp_path / "record"
    path.write_text(line() + line("1") + line(attribute="11") + line(state="0"),
                    encoding="ascii")
    assert evidence.Record(net, path).update() == \
        [PortSet(77, "host-0001", "spine-01", 5, DISABLED)]


def test_last_way_that_is_taken_is_seen(net):
    wires = evidence.Wires(net)
    wires.plug(5, LEAF, 5, False)
    cuts = wires.cuts([port_set(10, 6), port_set(11, 7), port_set(12, 8)], lambda *_: False)
    assert [it.at for it, _ in cuts] == [12] and "host-0012" in cuts[0][1]
    assert wires.reached("host-0002") == \
        {LEAF, "host-0001", "host-0002", "host-0003", "host-0004"}
    wires.cuts([port_set(13, 8, POLLING)], lambda *_: False)
    assert "host-0012" in wires.reached("host-0002")


def test_host_whose_own_port_is_meant_may_be_lost(net):
    wires = evidence.Wires(net)
    assert not wires.cuts([port_set(10, 2)], lambda *end: end == (LEAF, 2))
    assert wires.cuts([port_set(11, 3)], lambda *end: end == (LEAF, 2))


def test_set_of_an_older_configuration_is_seen():
    generations = evidence.Generations()
    generations.add(1, {END: "enabled"})
    generations.add(2, {END: "disabled"})
    generations.note(1, 0)
    generations.note(2, 100)
    enabled = port_set(200, state=POLLING)
    assert generations.old([enabled, port_set(200)], 10) == [(enabled, 2)]
    assert not generations.old([port_set(105, state=POLLING)], 10)


def test_journals_that_differ_are_counted():
    assert evidence.differences({0: "a", 1: "a", 2: "a"}) == 0
    assert evidence.differences({0: "a", 1: "b", 2: "a"}) == 1


@pytest.mark.full
@pytest.mark.scripts
def test_short_soak_has_no_findings():
    process = subprocess.run(
        [SOAK, "--builddir", BUILDDIR, "--minutes", "0.5", "--labs", "1", "--cluster", "peers",
         "--fault", "kill,clock-jump", "--seed", "4", "--json"],
        capture_output=True, text=True, check=False)
    succeeded(process)
    rounds = json.loads(process.stdout)["rounds"]
    assert {"kill", "clock-jump", "finish"} >= {row["fault"] for row in rounds} > {"finish"}
    assert not any(row["findings"] for row in rounds), rounds
