# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'triadctl port check' and 'port snapshot' on files, without an SM."""

import json
import re
import resource
import subprocess

import pytest

from checks import failed, lines_mention, mentions, succeeded
from ctllib import DONE, TRIADCTL, Plugin, environment, run
from labs import SRCDIR, Lab, sanitizer

# Enough for the largest file that is read; ten million rows would take twice that.
MEMORY = 400 << 20

# What ibnetdiscover prints of two switches and a host.
FABRIC = """\
vendid=0x2c9
switchguid=0x20(20)
Switch\t4 "S-0000000000000020"\t\t# "spine-01" enhanced port 0 lid 3 lmc 0
[1]\t"S-0000000000000010"[3]\t\t# "leaf-01" lid 2 4xEDR
[2]\t"H-0000000000000030"[1](31) \t\t# "host-0001" lid 1 4xHDR

switchguid=0x10(10)
Switch\t3 "S-0000000000000010"\t\t# "leaf-01" base port 0 lid 2 lmc 0
[3]\t"S-0000000000000020"[1]\t\t# "spine-01" lid 3 4xEDR

caguid=0x30
Ca\t2 "H-0000000000000030"\t\t# "host-0001"
[1](31) \t"S-0000000000000020"[2]\t\t# lid 1 lmc 0 "spine-01" lid 3 4xHDR
"""


def write(scratch, text, name="expected.csv"):
    path = scratch.folder() / name
    path.write_text(text, encoding="utf-8")
    return path


def refused(path, *mistakes, options=()):
    """A line for each mistake, which mentions file, place and words."""
    process = run("port", "check", path, *options)
    failed(process, 1)
    assert lines_mention(process.stderr, *(f"{path}:{words}" for words in mistakes))
    assert process.stdout == "", "standard output"


@pytest.mark.plain
def test_check_right_file_summed_up(scratch):
    path = write(scratch, "generation 7\nnode,port,state\nleaf-01,1,enabled\n"
                 "leaf-01,2,disabled\nspine-01,4,test,,,,ping\nx,1,test\n")
    process = run("port", "check", path)
    succeeded(process)
    assert lines_mention(process.stdout, "4 ports 1 enabled 1 disabled 2 test 7"), "text"
    assert process.stderr == "", "standard error"
    answer = json.loads(run("port", "check", path, "--json").stdout)
    assert re.search("^0x[0-9a-f]{16}$", answer.pop("hash")), "hash"
    assert answer == \
        {"file": str(path), "generation": 7, "ports": 4, "enabled": 1,
         "disabled": 1, "test": 2}, "JSON"


def test_check_every_mistake_reported_at_once(tmp_path):
    path = tmp_path / "expected.csv"
    path.write_bytes(b"\n".join([
        b"leaf-01,1,enabled,name=spine-01;port=1", b"generation 1",
        b"spine-01,1,disabled", b"leaf-01,1,test", b"generation 2",
        b'leaf-01,"2,enabled', b"0xq,0,on,guid=0x1,5x,ZDR,pong,,",
        b"leaf-01,3,disabled,,,,ping", b"leaf-\xff,4,enabled", b"leaf\0,5,enabled",
        b"n" * 65 + b",6,enabled", b"leaf-01,7,enabled," + b" " * 4096,
        b"leaf-01,8,enabled,port=1;port=2", b"node,port"]))
    refused(path,
            "2: generation line 1", "4: same line 1", "5: generation line 2", "6:9: quote",
            "6:9: port 2,enabled 1 254", "6: state '' enabled disabled test", "7:32: 8 fields",
            "7:1: node 0xq GUID", "7:5: port 0 1 254", "7:7: state 'on' enabled disabled test",
            "7:10: remote 'guid' port_guid= node_guid= name= vendor= port=",
            "7:19: width '5x' 1x 2x 4x 8x 12x",
            "7:22: speed 'ZDR' SDR DDR QDR FDR EDR HDR NDR XDR", "7:26: check 'pong' name= ping",
            "8:23: check test disabled", "9:6: 0xff UTF-8", "10:5: 0 text",
            "11:1: name " + "n" * 40 + "... 64", "12: 4096", "13:19: remote 'port' twice",
            "14: columns line 1", "1: leaf-01 port 1: spine-01 port 1 disabled line 3")


def limit_memory():
    # A sanitizer takes all addresses.
    if not sanitizer():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


# With a sanitizer there is no bound on memory to be had; the limits are tested with one in
# tests/unit/portmgr/test_expected.c.
@pytest.mark.scripts
def test_check_millions_of_lines_refused_in_bounded_memory(tmp_path):
    path = tmp_path / "expected.csv"
    with open(path, "w", encoding="ascii") as stream:
        stream.write("generation 1\nleaf,0,enabled\n")
        for node in range(1, 4001):
            stream.writelines(f"{node:#x},{port},test\n" for port in range(1, 255))
        for _ in range(4):
            stream.write("leaf,1,disabled\n" * 1000000)
    process = subprocess.run(
        [TRIADCTL, "port", "check", path], env=environment(), timeout=120,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
        preexec_fn=limit_memory)
    failed(process, 1)
    assert lines_mention(process.stderr, f"{path}: 64 MiB", f"{path}: 2000000 lines",
                         f"{path}:2:6: port 0 1 254", f"{path}:1000003: 1000000 ports")


def test_check_over_fabric_mistakes_and_warnings(scratch):
    fabric = write(scratch, FABRIC, "fabric.txt")
    options = ("--fabric", fabric)
    path = write(scratch, "generation 1\nleaf-01,3,enabled,node_guid=0x20;port=1\n"
                 "leaf-09,1,test\n")
    process = run("port", "check", path, *options)
    succeeded(process)
    assert lines_mention(process.stderr, f"warning: {path}:3: leaf-09 fabric"), "warned"
    assert mentions(process.stdout, "1 switches fabric")
    process = run("port", "check", path, "--json", *options)
    assert json.loads(process.stdout)["unknown"] == 1, "unknown"
    path = write(scratch, "generation 1\nleaf-01,3,enabled,node_guid=0x20;port=1\n"
                 "host-0001,1,enabled\nleaf-01,4,enabled\nspine-01,1,disabled\n"
                 "0x10,3,enabled\n", "wrong.csv")
    refused(path, "3: host-0001 switch", "4: leaf-01 port 4 3", "6: same line 2",
            "2: leaf-01 port 3: spine-01 port 1 disabled line 5", options=options)


def test_snapshot_written_can_be_checked(scratch):
    fabric = write(scratch, FABRIC, "fabric.txt")
    process = run("port", "snapshot", "--from", fabric, "--generation",
                  "9223372036854775808")
    succeeded(process)
    lines = process.stdout.splitlines()
    assert lines[0] == "generation 9223372036854775808", "the generation"
    assert len(lines) == 2 + 3 + 4, "lines"
    assert ("0x0000000000000020,2,enabled,node_guid=0x0000000000000030;port=1,"
            '4x,HDR,,"spine-01 to host-0001"') in lines
    path = write(scratch, process.stdout)
    process = run("port", "check", path, "--fabric", fabric)
    succeeded(process)
    assert lines_mention(process.stdout,
                         "7 ports 7 enabled 0 disabled 0 test 9223372036854775808"), "text"
    assert process.stderr == "", "standard error"
    assert run("port", "snapshot", f"--from={fabric}").stdout.splitlines()[0] == \
        "generation 1", "the generation"


def test_snapshot_of_real_output_fits_its_fabric(scratch):
    folder = scratch.folder()
    net = folder / "tree.net"
    subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--hosts", "6",
                    "-o", net], check=True)
    with Lab(net, plugin="no") as lab:
        for options in ((), ("-f",), ("-g",)):
            fabric = write(scratch, lab.run("ibnetdiscover", *options).stdout, "fabric.txt")
            process = run("port", "snapshot", "--from", fabric)
            succeeded(process)
            assert process.stdout.count(",4x,EDR,") == 18 + 18 + 6, "links"
            path = write(scratch, process.stdout)
            process = run("port", "check", path, "--fabric", fabric)
            succeeded(process)
            assert "72 ports: 72 enabled, " in process.stdout
            assert process.stderr == "", "standard error"


def test_files_that_cannot_be_used_reported(scratch):
    path = write(scratch, "generation 1\n")
    nonsense = write(scratch, "Switch\n", "fabric.txt")
    for words, part in (
            (("check", path / "none"), "Not a directory"),
            (("check", scratch.folder()), "Is a directory"),
            (("check", path, "--fabric", "/nowhere"), "No such file"),
            (("check", path, "--fabric", nonsense), f"{nonsense}:1:7: number"),
            (("snapshot", "--from", nonsense), f"{nonsense}:1:7: number"),
            (("snapshot", "--from", "/nowhere"), "No such file")):
        failed(run("port", *words), 1, part)


def test_words_wrong_refused():
    for words, part in (
            (("check",), "port check FILE"),
            (("check", "a", "b"), "'b' many"),
            (("check", "a", "--from", "b"), "--fabric --json"),
            (("chekc", "a"), "'port check'"),
            (("snapshot", "--from"), "--from FILE"),
            (("snapshot", "--from", "a", "b"), "'b' many"),
            (("snapshot", "--from", "a", "--generation", "0"),
             "port snapshot --generation 0 1 9223372036854775808")):
        failed(run("port", *words), 2, part)


def test_other_port_commands_are_the_plugins(scratch):
    plugin = Plugin(scratch, DONE)
    succeeded(run("--socket", plugin.path, "port", "confirm"))
    succeeded(run("--socket", plugin.path, "port", "snapshot"))
    assert plugin.requests == [["port", "confirm"], ["port", "snapshot"]], "asked"


def test_help_in_manual():
    overview = run("help").stdout
    manual = (SRCDIR / "docs" / "triadctl.1").read_text(encoding="utf-8")
    for verb in ("check", "snapshot"):
        synopsis = re.search(rf"^  (port {verb} .*)$", overview, re.MULTILINE)
        assert synopsis, overview
        one = run("help", "port", verb)
        succeeded(one)
        assert f"Usage: triadctl {synopsis[1]}\n" in one.stdout, "help"
        assert run("port", verb, "--help").stdout == one.stdout, "--help"
        section = manual[manual.index(f'"port {verb}'):]
        for option in re.findall(r"\[(--\S+?)[ \]]", synopsis[1]):
            assert f"\n  {option} " in one.stdout, "help"
            assert option.replace("-", "\\-") in section, "the manual"


# Two leaves, a spine; the cables of the leaves at the spine are swapped later.
TREE = """\
switchguid=0x20(20)
Switch\t4 "S-0000000000000020"\t\t# "spine-01" enhanced port 0 lid 3 lmc 0
[1]\t"S-0000000000000010"[3]\t\t# "leaf-01" lid 2 4xEDR
[2]\t"S-0000000000000011"[3]\t\t# "leaf-02" lid 4 4xEDR

switchguid=0x10(10)
Switch\t3 "S-0000000000000010"\t\t# "leaf-01" base port 0 lid 2 lmc 0
[3]\t"S-0000000000000020"[1]\t\t# "spine-01" lid 3 4xEDR

switchguid=0x11(11)
Switch\t3 "S-0000000000000011"\t\t# "leaf-02" base port 0 lid 4 lmc 0
[3]\t"S-0000000000000020"[2]\t\t# "spine-01" lid 3 4xEDR
"""


def test_check_over_fabric_finds_swapped_cables(scratch):
    fabric = write(scratch, TREE, "fabric.txt")
    process = run("port", "snapshot", "--from", fabric, "--generation", "1")
    path = write(scratch, succeeded(process).stdout)
    process = run("port", "check", path, "--fabric", fabric)
    assert succeeded(process).stderr == "", "differences"
    swapped = TREE
    for one, other in (('0010"[3]\t\t# "leaf-01" lid 2', "X"),
                       ('0011"[3]\t\t# "leaf-02" lid 4', '0010"[3]\t\t# "leaf-01" lid 2'),
                       ("X", '0011"[3]\t\t# "leaf-02" lid 4'),
                       ('0020"[1]', "X"), ('0020"[2]', '0020"[1]'), ("X", '0020"[2]')):
        assert one in swapped, one
        swapped = swapped.replace(one, other)
    now = write(scratch, swapped, "now.txt")
    process = run("port", "check", path, "--fabric", now)
    failed(process, 1)
    assert lines_mention(process.stderr, "leaf-01 port 3 miswired port 2",
                         "leaf-02 port 3 miswired port 1", "spine-01 port 1 miswired leaf-02",
                         "spine-01 port 2 miswired leaf-01"), process.stderr
    assert mentions(process.stdout, "4 differ"), process.stdout
    process = run("port", "check", path, "--fabric", now, "--json")
    assert (process.returncode, json.loads(process.stdout)["different"]) == (1, 4)


def test_check_over_fabric_finds_links_of_another_rate_and_unwanted_ones(scratch):
    fabric = write(scratch, TREE, "fabric.txt")
    path = write(scratch, "generation 1\nleaf-01,3,enabled,name=spine-01,4x,HDR\n"
                 "spine-01,2,disabled\nleaf-02,1,disabled\n")
    process = run("port", "check", path, "--fabric", fabric)
    failed(process, 1)
    assert lines_mention(process.stderr, f"{path}:2: leaf-01 port 3 EDR HDR",
                         f"{path}:3: spine-01 port 2 disabled"), process.stderr
    assert len(process.stderr.splitlines()) == 2, process.stderr
