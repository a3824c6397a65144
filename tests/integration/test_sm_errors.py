# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What OpenSM was told and could not do is a finding of health, and its end is the finding's
end."""

import pytest

from checks import mentions, wait_until
from tablelib import sweep
from triadlib import (NET, QUICK, TriadLab, ask_json, health_findings, triad_lab,
                      wait_for_sweep)

PARTITIONS = "Default=0x7fff : ALL=full;\nCompute=0x0001 : ALL=full;\n"


@pytest.mark.row("N1")
def test_partitions_that_opensm_refuses(scratch):
    partitions = scratch.folder() / "partitions.conf"
    partitions.write_text(PARTITIONS)
    with triad_lab(opensm_conf=f"partition_config_file {partitions}\n") as lab:
        wait_for_sweep(lab)
        assert not health_findings(lab, "partitions.conf")
        partitions.write_text(PARTITIONS + "Compute 0x0002 ALL=full;\n")
        sweep(lab)
        wait_until(lambda: health_findings(lab, "partitions.conf default partition line 3"), 10,
                   lambda: lab.triad("health").stdout)
        assert health_findings(lab, "partitions.conf")[0]["severity"] == "CRITICAL"
        assert any(mentions(event["text"] or "", "partitions.conf")
                   for event in ask_json(lab, "history")), "an event"
        partitions.write_text(PARTITIONS)
        sweep(lab)
        sweep(lab)
        wait_until(lambda: not health_findings(lab, "partitions.conf"), 10, "the end")


@pytest.mark.row("N1")
def test_routing_engine_that_falls_back():
    """The net is no fat tree."""
    with triad_lab(opensm_conf="routing_engine ftree\n") as lab:
        wait_for_sweep(lab)
        wait_until(lambda: health_findings(lab, "by minhop ftree"), 10,
                   lambda: lab.triad("health").stdout)
        assert health_findings(lab, "by minhop ftree")[0]["severity"] == "WARNING"


@pytest.mark.row("N1")
def test_routing_engine_that_there_is_not():
    with triad_lab(opensm_conf="routing_engine ftre,minhop\n") as lab:
        wait_for_sweep(lab)
        wait_until(lambda: health_findings(lab, "routing engine ftre"), 10,
                   lambda: lab.triad("health").stdout)
        sweep(lab)
        assert health_findings(lab, "routing engine ftre"), "OpenSM says it at its start alone"


@pytest.mark.row("N1")
def test_file_of_roots_that_is_not_there(scratch):
    roots = scratch.folder() / "roots"
    roots.write_text("nonsense\n")
    with triad_lab(opensm_conf=f"routing_engine updn\nroot_guid_file {roots}\n") as lab:
        wait_for_sweep(lab)
        wait_until(lambda: health_findings(lab, "without a file roots"), 10,
                   lambda: lab.triad("health").stdout + lab.log(0))
        roots.unlink()


def test_nothing_is_wrong():
    with triad_lab() as lab:
        wait_for_sweep(lab)
        assert not health_findings(lab, ""), NET


TWO_HOSTS = """\
switchguid=0x200000
Switch 8 "S-1" # "leaf-1"
[1] "H-1"[1]
[2] "H-2"[1]

switchguid=0x200010
Switch 8 "S-2" # "leaf-2"
[1] "H-3"[1]

caguid=0x100000
Ca 1 "H-1" # "host-1"
[1](100001) "S-1"[1]

caguid=0x100010
Ca 1 "H-2" # "host-2"
[1](100011) "S-1"[2]

caguid=0x100020
Ca 1 "H-3" # "host-3"
[1](100021) "S-2"[1]
"""


@pytest.mark.row("N1")
def test_two_hosts_of_one_guid(scratch):
    """OpenSM asks again and again, and brings no subnet up."""
    net = scratch.folder() / "net"
    net.write_text(TWO_HOSTS)
    with TriadLab(net, triad_conf=QUICK) as lab:
        wait_for_sweep(lab)
        lab.sim('Guid "H-3" 0x100010', 'Guid "H-3"[1] 0x100011', 'Link "S-1"[8] "S-2"[8]')
        wait_until(lambda: health_findings(lab, "two devices 0x0000000000100010 leaf-1 :2 :1"), 20,
                   lambda: lab.triad("health").stdout + lab.log(0))
        print(lab.triad("health").stdout)
        assert health_findings(lab, "two devices")[0]["severity"] == "CRITICAL"
        lab.sim('Unlink "S-2"[1]')
        sweep(lab)
        sweep(lab)
        wait_until(lambda: not health_findings(lab, "two devices"), 20,
                   lambda: lab.triad("health").stdout)
