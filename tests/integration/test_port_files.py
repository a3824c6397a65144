# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'triadctl port check' and 'port snapshot' on files, without an SM."""

import json
import re
import resource
import subprocess

import pytest

from checks import failed, succeeded
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
    """All that is said, each behind the file's name."""
    process = run("port", "check", path, *options)
    failed(process, 1)
    assert process.stderr.splitlines() == [f"{path}:{line}" for line in mistakes], \
        "mistakes"
    assert process.stdout == "", "standard output"


@pytest.mark.plain
def test_check_right_file_summed_up(scratch):
    path = write(scratch, "generation 7\nnode,port,state\nleaf-01,1,enabled\n"
                 "leaf-01,2,disabled\nspine-01,4,test,,,,ping\nx,1,test\n")
    process = run("port", "check", path)
    succeeded(process)
    assert process.stdout == \
        "4 ports: 1 enabled, 1 disabled, 2 under test; generation 7\n", "text"
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
            "2: the generation must come before the first port, which is in line 1",
            "4: the same port as in line 1",
            "5: a second generation; the first is in line 2",
            "6:9: the quote isn't closed in this line",
            "6:9: the port 2,enabled: allowed are 1 to 254",
            "6: the state '': allowed are enabled, disabled, test",
            "7:32: more than 8 fields; a field with a comma in it stands in quotes",
            "7:1: the node 0xq: a GUID is 0x and 1 to 16 hexadecimal digits, not all 0",
            "7:5: the port 0: allowed are 1 to 254",
            "7:7: the state 'on': allowed are enabled, disabled, test",
            "7:10: remote: no key 'guid'; allowed are port_guid=, node_guid=, name=, "
            "vendor=, port=",
            "7:19: the width '5x': allowed are 1x, 2x, 4x, 8x, 12x",
            "7:22: the speed 'ZDR': allowed are SDR, DDR, QDR, FDR, EDR, HDR, NDR, XDR",
            "7:26: check: no key 'pong'; allowed are name=, ping",
            "8:23: a check is for ports under test; this one is disabled",
            "9:6: the octet 0xff is part of a control character or isn't UTF-8",
            "10:5: an octet that is 0: this isn't text",
            "11:1: the node's name " + "n" * 40 + "... is longer than 64 octets",
            "12: the line is longer than 4096 octets",
            "13:19: remote: 'port' is there twice",
            "14: the names of the columns must come before the first port, which is in "
            "line 1",
            "1: leaf-01 port 1: spine-01 port 1 is to be at its far end, and is disabled "
            "in line 3")


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
    assert process.stderr.splitlines() == \
        [
        f"{path}: it is larger than 64 MiB; what follows those wasn't read",
        f"{path}: it has more than 2000000 lines; what follows those wasn't read",
        f"{path}:2:6: the port 0: allowed are 1 to 254",
        f"{path}:1000003: more than 1000000 ports; what follows wasn't read"], \
        "mistakes"


def test_check_over_fabric_mistakes_and_warnings(scratch):
    fabric = write(scratch, FABRIC, "fabric.txt")
    options = ("--fabric", fabric)
    path = write(scratch, "generation 1\nleaf-01,3,enabled,node_guid=0x20;port=1\n"
                 "leaf-09,1,test\n")
    process = run("port", "check", path, *options)
    succeeded(process)
    assert process.stderr == f"warning: {path}:3: leaf-09 isn't in the fabric\n", \
        "warned"
    assert "1 of them are of switches that aren't in the fabric\n" in process.stdout
    process = run("port", "check", path, "--json", *options)
    assert json.loads(process.stdout)["unknown"] == 1, "unknown"
    path = write(scratch, "generation 1\nleaf-01,3,enabled,node_guid=0x20;port=1\n"
                 "host-0001,1,enabled\nleaf-01,4,enabled\nspine-01,1,disabled\n"
                 "0x10,3,enabled\n", "wrong.csv")
    refused(path, "3: host-0001 isn't a switch",
            "4: leaf-01 has no port 4; its last one is 3",
            "6: the same port as in line 2: once the node is named by GUID, once by its "
            "name",
            "2: leaf-01 port 3: spine-01 port 1 is to be at its far end, and is disabled "
            "in line 5", options=options)


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
    assert process.stdout == \
        ("7 ports: 7 enabled, 0 disabled, 0 under test; generation "
         "9223372036854775808\n"), "text"
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
            (("check", path / "none"), "can't be read: Not a directory"),
            (("check", scratch.folder()), "can't be read: Is a directory"),
            (("check", path, "--fabric", "/nowhere"), "can't be read: No such file"),
            (("check", path, "--fabric", nonsense), f"{nonsense}:1:7: the number of "),
            (("snapshot", "--from", nonsense), f"{nonsense}:1:7: the number of "),
            (("snapshot", "--from", "/nowhere"), "can't be read: No such file")):
        failed(run("port", *words), 1, part)


def test_words_wrong_refused():
    for words, part in (
            (("check",), "port check: it needs FILE"),
            (("check", "a", "b"), "'b' is one word too many"),
            (("check", "a", "--from", "b"), "it has --fabric, --json"),
            (("chekc", "a"), "did you mean 'port check'?"),
            (("snapshot", "--from"), "--from needs a value: FILE"),
            (("snapshot", "--from", "a", "b"), "'b' is one word too many"),
            (("snapshot", "--from", "a", "--generation", "0"),
             "port snapshot: --generation 0: allowed are whole numbers, 1 to "
             "9223372036854775808")):
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
