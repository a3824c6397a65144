# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What 'lab what-if' and 'lab up --bundle' are made of, without a fabric that runs: tables,
bundles, a site's options, changes, orders of upgrades."""

import collections
import io
import itertools
import json
import random
import re
import subprocess
import tarfile
import tracemalloc

import pytest

from labs import lab_command
from triadlab import bundle, changes, forwarding, ibdiagnet, netfile, replica, site, upgrade, \
    whatif
from triadlab.errors import LabError, UsageError
from triadlab.topology import FatTree

pytestmark = pytest.mark.scripts

OPENSM = b"""\
dump_ucast_routes: Switch 0x00000000000000aa
LID    : Port : Hops : Optimal
0x0001 : 025  : 04   : yes
0x0002 : UNREACHABLE
0x0003 : 000  : 00   : yes

dump_ucast_routes: Switch 0x00000000000000bb
LID    : Port : Hops : Optimal
0x0001 : 001  : 01   : yes
0x0005 : 017  : 01   : No 2 hop path possible via port 17!
0xBFFF : 254  : 01   : yes
"""
MULTICAST = b"""
Switch 0x00000000000000aa
LID    : Out Port(s)
0xC000 : 0x001 0x005
0xC001 :

Switch 0x00000000000000bb
LID    : Out Port(s)
"""


# --- tables ------------------------------------------------------------------

def entries(table):
    return {lid: port for lid, port in enumerate(table) if port != forwarding.NO_PORT}


@pytest.mark.parametrize("octets", (1, 7, 64, 1 << 20))
def test_tables_are_read_however_the_file_is_cut(monkeypatch, octets):
    monkeypatch.setattr(forwarding, "_CHUNK_OCTETS", octets)
    text = b"# Forwarding tables as in ibdiagnet2.fdbs\n\n" + OPENSM
    found = forwarding.read_unicast(io.BytesIO(text))
    assert {guid: entries(table) for guid, table in found.items()} == {
        0xaa: {1: 25, 3: 0}, 0xbb: {1: 1, 5: 17, 0xbfff: 254}}
    assert forwarding.read_multicast(io.BytesIO(MULTICAST)) == {
        0xaa: {0xc000: frozenset((1, 5)), 0xc001: frozenset()}, 0xbb: {}}


def test_piece_may_end_anywhere_with_several_switches_in_it(monkeypatch):
    text = b"".join(b"Switch 0x%012x\n0xC000 : 0x%03x\n" % (guid, guid % 16)
                    for guid in (0xa1, 0xa2, 0xa3, 0xa4))
    for octets in range(1, len(text) + 2):
        monkeypatch.setattr(forwarding, "_CHUNK_OCTETS", octets)
        assert forwarding.read_multicast(io.BytesIO(text)) == {
            guid: {0xc000: frozenset((guid % 16,))} for guid in (0xa1, 0xa2, 0xa3, 0xa4)}, octets


def test_groups_have_lids_and_ports_of_multicast_alone():
    lines = b"Switch 0xaa\n" + b"\n".join(
        b"0x%x : 0x001 0x0fe 0x0ff 0x100 0x%x" % (lid, 1 << 64)
        for lid in (0, 0xbfff, 0xc000, 0xfffe, 0xffff, 0x1c000))
    assert forwarding.read_multicast(io.BytesIO(lines)) == {
        0xaa: dict.fromkeys((0xc000, 0xfffe), frozenset((1, 254)))}


def test_file_without_tables_has_none():
    assert forwarding.read_unicast(io.BytesIO(b"")) == {}
    assert forwarding.read_unicast(io.BytesIO(b"# nothing\n")) == {}


def test_tables_that_would_fill_memory_are_refused(monkeypatch):
    monkeypatch.setattr(forwarding, "MAX_SWITCHES", 1)
    with pytest.raises(LabError, match="more than 1 switches"):
        forwarding.read_unicast(io.BytesIO(OPENSM))
    monkeypatch.undo()
    monkeypatch.setattr(forwarding, "MAX_SECTION", 1 << 10)
    monkeypatch.setattr(forwarding, "_CHUNK_OCTETS", 1 << 10)
    with pytest.raises(LabError, match="one switch"):
        forwarding.read_unicast(io.BytesIO(OPENSM + b"x" * 5000))
    assert len(forwarding.read_unicast(io.BytesIO(OPENSM))) == 2


def write_tables(tables, gaps):
    """As OpenSM does; without lines for LIDs that lead nowhere where there are gaps."""
    lines = []
    for guid, table in tables.items():
        lines.append(f"dump_ucast_routes: Switch 0x{guid:016x}\nLID    : Port : Hops : Optimal")
        for lid in range(1, 400):
            port = table.get(lid)
            if port is not None:
                lines.append(f"0x{lid:04X} : {port:03d}  : 02   : yes")
            elif not gaps:
                lines.append(f"0x{lid:04X} : UNREACHABLE")
        lines.append("")
    return "\n".join(lines).encode()


@pytest.mark.parametrize("seed", range(20))
def test_difference_of_tables_is_that_of_their_entries(seed):
    print(f"seed {seed}")
    dice = random.Random(seed)
    one = {guid: {lid: dice.randrange(255) for lid in range(1, 400) if dice.random() < 0.8}
           for guid in range(1, 6)}
    other = {guid: {lid: dice.randrange(255) if dice.random() < 0.05 else port
                    for lid, port in table.items() if dice.random() < 0.97}
             for guid, table in one.items() if guid != seed % 5 + 1}
    found = forwarding.compare_unicast(
        *(forwarding.read_unicast(io.BytesIO(write_tables(it, gaps)))
          for it, gaps in ((one, False), (other, True))))
    pairs = [(guid, lid, one[guid].get(lid), other[guid].get(lid)) for guid in other
             for lid in sorted(one[guid].keys() | other[guid].keys())]
    differ = [it for it in pairs if it[2] != it[3]]
    assert found.entries == len(differ) and found.n_equal == len(pairs) - len(differ)
    assert found.blocks == len({(guid, lid // 64) for guid, lid, _, _ in differ})
    assert found.switches == collections.Counter(guid for guid, *_ in differ)
    assert found.missing == [seed % 5 + 1] and not found.more
    assert [(guid, lid) for guid, lid, _, _ in found.first] == \
        [(guid, lid) for guid, lid, _, _ in differ[:forwarding.N_FIRST]]


def test_multicast_difference_counts_groups_at_switches():
    one = {1: {0xc000: frozenset((1, 2)), 0xc001: frozenset((3,))}, 2: {}}
    other = {1: {0xc000: frozenset((1,)), 0xc001: frozenset((3,))}}
    found = forwarding.compare_multicast(one, other)
    assert (found.entries, found.n_equal, found.switches) == (1, 1, {1: 1})
    assert forwarding.compare_multicast(one, one).is_none


# --- bundles -----------------------------------------------------------------

GOOD = {bundle.DB_CSV: b"START_NODES\n", bundle.FDBS: OPENSM, "conf/opensm.conf": b"lmc 1\n",
        "answers/status.json": b'{"sm": {}}', "answers/links.json": b"[]",
        "MANIFEST.json": b"{}"}


def make_tar(path, members, packed=True):
    """Members are (name, octets) or TarInfo with octets."""
    with tarfile.open(path, "w") as archive:
        for name, octets in members:
            entry = name if isinstance(name, tarfile.TarInfo) else tarfile.TarInfo(name)
            if octets is not None:
                entry.size = len(octets)
            archive.addfile(entry, octets and io.BytesIO(octets))
    if packed:
        subprocess.run(["zstd", "-q", "--rm", "-f", path, "-o", f"{path}.zst"], check=True)
        return f"{path}.zst"
    return path


def in_bundle(files):
    return [(f"{bundle.TOP}/{name}", octets) for name, octets in files.items()]


def special(name, kind, to=""):
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, to
    return entry


@pytest.mark.parametrize("packed", (True, False))
def test_bundle_is_read_as_far_as_it_is_wanted(tmp_path, packed):
    found = bundle.read(make_tar(str(tmp_path / "b.tar"), in_bundle(GOOD), packed))
    assert found.files == {name: octets for name, octets in GOOD.items()
                           if name not in ("answers/links.json", bundle.FDBS)}
    assert list(found.tables[bundle.FDBS]) == [0xaa, 0xbb]
    assert found.conf("opensm.conf") == "lmc 1\n" and found.conf("nothing") is None
    assert found.answer("status") == {"sm": {}} and found.answer("links") is None


def test_unpacked_bundle_and_folder_of_ibdiagnet_are_read(tmp_path):
    for name, octets in GOOD.items():
        path = tmp_path / bundle.TOP / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(octets)
    # A link in it is not followed.
    (tmp_path / bundle.TOP / "conf" / "more").symlink_to("/etc/passwd")
    for folder in (tmp_path, tmp_path / bundle.TOP):
        found = bundle.read(folder)
        assert sorted(found.files) == sorted(set(GOOD) - {"answers/links.json", bundle.FDBS})
        assert list(found.tables) == [bundle.FDBS]
    found = bundle.read(tmp_path / bundle.TOP / "fabric")
    assert (list(found.files), list(found.tables)) == ([bundle.DB_CSV], [bundle.FDBS])
    with pytest.raises(LabError, match="ibdiagnet2.db_csv"):
        bundle.read(tmp_path / bundle.TOP / "conf")


HOSTILE = {
    "a path that leads out": (f"{bundle.TOP}/../../etc/x", b"x"),
    "a path from the root": ("/etc/x", b"x"),
    "another folder": ("other/x", b"x"),
    "a link": (special(f"{bundle.TOP}/conf/x", tarfile.SYMTYPE, "/etc/passwd"), None),
    "a hard link": (special(f"{bundle.TOP}/conf/x", tarfile.LNKTYPE, "/etc/passwd"), None),
    "a device": (special(f"{bundle.TOP}/conf/x", tarfile.CHRTYPE), None),
    "a FIFO": (special(f"{bundle.TOP}/conf/x", tarfile.FIFOTYPE), None),
    "a file twice": (f"{bundle.TOP}/conf/opensm.conf", b"lmc 2\n"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_bundle_is_refused(tmp_path, kind):
    path = make_tar(str(tmp_path / "b.tar"), [*in_bundle(GOOD), HOSTILE[kind]])
    before = sorted(tmp_path.iterdir())
    with pytest.raises(LabError, match="not a bundle"):
        bundle.read(path)
    assert sorted(tmp_path.iterdir()) == before


def test_bundle_with_a_header_that_would_fill_memory_is_refused(tmp_path):
    entry = tarfile.TarInfo(f"{bundle.TOP}/conf/x")
    entry.pax_headers = {"comment": "x" * (4 << 20)}
    path = make_tar(str(tmp_path / "b.tar"), [*in_bundle(GOOD), (entry, b"x")])
    with pytest.raises(LabError, match="header"):
        bundle.read(path)


def with_headers(count, octets):
    """Members of which tar says that many octets each, of short keys."""
    def entry(number):
        found = tarfile.TarInfo(f"{bundle.TOP}/logs/{number}")
        found.pax_headers = {f"{key:x}": "" for key in range(octets // 9)}
        return found
    return [(entry(number), b"x") for number in range(count)]


def test_headers_of_all_members_do_not_fill_memory(tmp_path):
    path = make_tar(str(tmp_path / "b.tar"), [
        *in_bundle({bundle.DB_CSV: GOOD[bundle.DB_CSV]}), *with_headers(30, 30_000)])
    tracemalloc.start()
    try:
        bundle.read(path)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


def test_bundle_with_many_headers_is_refused(tmp_path, monkeypatch):
    path = make_tar(str(tmp_path / "b.tar"), [*in_bundle(GOOD), *with_headers(10, 10_000)])
    bundle.read(path)
    monkeypatch.setattr(bundle, "_MAX_EXTRA_SUM_OCTETS", 50_000)
    with pytest.raises(LabError, match="headers of"):
        bundle.read(path)


def test_headers_of_headers_are_refused(tmp_path):
    header = tarfile.TarInfo(f"{bundle.TOP}/conf/x")
    header.type = tarfile.XHDTYPE
    path = make_tar(str(tmp_path / "b.tar"), [*in_bundle(GOOD), *[(header, b"6 a=b\n")] * 2000])
    with pytest.raises(LabError, match="can't be read as a bundle"):
        bundle.read(path)


def test_bundle_that_is_cut_damaged_or_none_is_refused(tmp_path):
    path = make_tar(str(tmp_path / "b.tar"), in_bundle({**GOOD, "logs/x": random.Random(
        1).randbytes(1 << 20)}))
    whole = open(path, "rb").read()
    for octets in (whole[:len(whole) // 2], whole[:-2], whole[:20], b"\x28\xb5\x2f\xfd" + b"x" * 100,
                   b"nothing of the kind" * 100, b""):
        damaged = tmp_path / "damaged"
        damaged.write_bytes(octets)
        with pytest.raises(LabError):
            bundle.read(damaged)


def test_bundle_that_grows_too_large_is_refused(tmp_path, monkeypatch):
    path = make_tar(str(tmp_path / "b.tar"), in_bundle({**GOOD, "logs/x": bytes(8 << 20)}))
    bundle.read(path)
    monkeypatch.setattr(bundle, "MAX_OCTETS", 4 << 20)
    with pytest.raises(LabError, match="unpacked"):
        bundle.read(path)
    monkeypatch.undo()
    monkeypatch.setattr(bundle, "MAX_FILE_OCTETS", 5)
    with pytest.raises(LabError, match="larger than a lab reads"):
        bundle.read(path)
    monkeypatch.undo()
    monkeypatch.setattr(bundle, "MAX_MEMBERS", 3)
    with pytest.raises(LabError, match="more than 3"):
        bundle.read(path)


def of_site(tmp_path, **files):
    return make_tar(str(tmp_path / "b.tar"), in_bundle({
        bundle.DB_CSV: DB_CSV.encode(), bundle.MCFDBS: MULTICAST.replace(b"00aa", b"00a0"),
        **{name.replace("__", "/").replace("_", "."): octets for name, octets in files.items()}}))


@pytest.mark.parametrize("status", (
    b'{"sm": "x"}', b'{"sm": {"port_guid": 7}}', b'{"sm": {"port_guid": ["x"]}}', b'{"sm": []}',
    b'[]', b'{"sm": ' * 100_000), ids=range(6))
def test_status_of_a_bundle_may_be_anything(tmp_path, status):
    assert replica.from_path(of_site(tmp_path, answers__status_json=status)).sm is None


@pytest.mark.parametrize("prefix", (b"abc", b"-1", b"0x1fe80000000000000"))
def test_prefix_that_is_no_number_is_refused(tmp_path, prefix):
    path = of_site(tmp_path, conf__opensm_conf=b"subnet_prefix " + prefix + b"\n")
    with pytest.raises(LabError, match="subnet_prefix"):
        replica.from_path(path)


def test_what_nobody_thought_of_is_no_answer(tmp_path):
    process = lab_command("what-if", "--net", of_site(tmp_path), "--partitions", tmp_path / "x",
                          "--remove-link", "leaf:1")
    assert process.returncode == 3, process.stderr
    (tmp_path / "x").write_bytes(b"\xff\xfe")
    process = lab_command("what-if", "--net", of_site(tmp_path), "--partitions", tmp_path / "x",
                          "--remove-link", "leaf:1")
    assert process.returncode == 3 and "Traceback" not in process.stderr, process.stderr


# --- a site's options --------------------------------------------------------

def test_options_of_routing_are_taken_and_those_of_the_site_are_named():
    conf = """\
routing_engine updn # of ours
lmc 2
root_guid_file /site/roots
cn_guid_file /site/nowhere
m_key 0x1234567890
sm_priority 14
max_seq_redisc 7
qos TRUE
qos_vlarb_high 0:64
partition_config_file (null)
"""
    files = {"/site/roots": "0x1\n", "partitions.conf": "Default=0x7fff: ALL=full;\n"}
    found = site.take(conf, lambda _key, path: files.get(path), {"max_seq_redisc": "2", "m_key": "0x0", "lmc": "0"})
    assert found.keys == {"routing_engine": "updn", "lmc": "2", "qos": "TRUE",
                          "qos_vlarb_high": "0:64"}
    assert found.files == {"root-guids": "0x1\n", "partitions.conf": files["partitions.conf"]}
    assert found.file_keys == {"root_guid_file": "root-guids",
                               "partition_config_file": "partitions.conf"}
    notes = " ".join(found.notes)
    assert "m_key" in notes and "max_seq_redisc" in notes and "/site/nowhere" in notes
    assert "1234567890" not in notes and "sm_priority" not in notes


@pytest.mark.parametrize("words, path", [
    (["-F", "/a"], "/a"), (["-F/a"], "/a"), (["--config", "/a"], "/a"), (["-Fb"], "/folder/b"),
    (["--config=/a", "-B"], "/a"), (["-F", "/a", "-F", "/b"], "/b"), (["-B"], None),
    (["-f", "/log"], None), (["-F"], None), ([], None)])
def test_file_of_options_is_the_one_of_the_command_line(words, path):
    assert replica.option_of(["/folder", "opensm", *words], "-F", "--config") == path


def test_options_as_opensm_has_them_are_not_named():
    found = site.take("max_seq_redisc 2\nlmc 0\n", lambda *_words: None, {"max_seq_redisc": "2", "lmc": "0"})
    assert (found.keys, found.notes) == ({}, [])


# --- what ibdiagnet and ibnetdiscover have -----------------------------------

DB_CSV = """\
START_NODES
NodeDesc,NumPorts,NodeType,NodeGUID,PortGUID,LocalPortNum
"leaf",4,2,0xa0,0xa0,0
"host-1 mlx5_0",1,1,0xb000000000,0xb000000000,1
"host-2 mlx5_0",1,1,0xc0,0xc1,1
END_NODES
START_PORTS
NodeGuid,PortGuid,PortNum,LID,LMC,PortState,LinkWidthActv,LinkSpeedActv
0xa0,0xa0,1,7,0,4,2,1024
0xa0,0xa0,2,7,0,2,2,1024
0xb000000000,0xb000000000,1,12,1,4,2,1024
0xc0,0xc1,1,65535,N/A,2,2,1024
END_PORTS
START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0xa0,1,0xb000000000,1
0xa0,2,0xc0,1
END_LINKS
START_PKEY
NodeGUID,PortGUID,PortNum,BlockNum,Index,PKey,Membership
0xb000000000,0xb000000000,1,0,0,0x8010,Full
END_PKEY
"""


def test_lids_and_guids_are_those_of_the_site():
    fabric = ibdiagnet.parse(DB_CSV.splitlines())
    lids, doubts = site.guid2lid(fabric)
    assert lids.split() == ["0x00000000000000a0", "0x0007", "0x0007",
                            "0x000000b000000001", "0x000c", "0x000d"] and not doubts
    assert "0x000000b000000001" in fabric.partitions, "the GUID of the port in ibsim"
    assert "0x000000b000000000" not in fabric.partitions


def test_links_of_held_ports_are_left_out_and_said():
    fabric = ibdiagnet.parse(DB_CSV.splitlines())
    assert fabric.counts()["links"] == 1
    assert any("leaf:2" in note for note in fabric.notes)


def split_sections(text):
    return re.findall(r"^START_.*?^END_\w+\n", text, re.MULTILINE | re.DOTALL)


MORE = """\
START_PM_INFO
NodeGUID,PortGUID,PortNumber,SymbolErrorCounter
0xa0,0xa0,1,5
0xa0,0xa0,2,6
0xa0,0xa0,3,7
END_PM_INFO
START_CABLE_INFO
NodeGuid,PortGuid,PortNum,Vendor,SN
0xa0,0xa0,1,"V","S1"
0xa0,0xa0,3,"V","S3"
END_CABLE_INFO
"""


@pytest.mark.parametrize("seed", range(6))
def test_sections_may_come_in_any_order(seed):
    print(f"seed {seed}")
    parts = split_sections(DB_CSV + MORE)
    assert len(parts) == 6
    expected = ibdiagnet.parse("".join(parts).splitlines())
    random.Random(seed).shuffle(parts)
    found = ibdiagnet.parse("".join(parts).splitlines())
    assert (found.nodes, found.commands, found.notes, found.partitions) == (
        expected.nodes, expected.commands, expected.notes, expected.partitions)
    text = " ".join(found.commands)
    # Neither the link that is left out nor the port without one has any.
    assert "[1] PortCounters.SymbolErrorCounter=5" in text and "[2]" not in text \
        and "[3]" not in text
    assert any("Cable" in command for command in found.commands)


@pytest.mark.parametrize("what", ("parse", "read_members"))
def test_rows_are_not_kept(what):
    def lines():
        for part in split_sections(DB_CSV):
            head = part.splitlines()
            yield from head[:-1]
            # Ports that have been there, as each counter of a port has a row.
            if head[0] in ("START_PORTS", "START_PKEY"):
                yield from itertools.repeat(head[2], 10_000)
            yield head[-1]
        yield from ("START_NOBODYS", "A,B,C", *itertools.repeat("1,2,3", 10_000), "END_NOBODYS")
    tracemalloc.start()
    try:
        assert getattr(ibdiagnet, what)(lines())
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_lids_of_ibnetdiscover_are_read():
    fabric = netfile.parse("""\
switchguid=0xa0(a0)
Switch 4 "S-a0" # "leaf" enhanced port 0 lid 3 lmc 0
[1] "H-b0"[1](b1) # "host" lid 9 4xHDR

caguid=0xb0
Ca 1 "H-b0" # "host"
[1](b5) "S-a0"[1] # lid 9 lmc 2 "leaf" lid 3 4xHDR
""".splitlines())
    assert fabric.nodes["S-a0"].lids == {0: (3, 0)}
    assert fabric.nodes["H-b0"].lids == {1: (9, 2)}
    assert netfile.port_guids(fabric) == {0xb5: 0xb1}


def test_members_of_groups_are_the_ports_that_get_their_packets(tree):
    leaf, spine = tree.nodes["leaf-01"], tree.nodes["spine-01"]
    text = site.groups(tree, {leaf.guid: {0xc000: frozenset((1, 3, 5)), 0xc002: frozenset()},
                              spine.guid: {0xc000: frozenset((0, 1))}, 0x99: {0xc001: {1}}},
                       0xfec0)
    guids = [f"0x{netfile.port_guid(tree.nodes[name], 1):016x}"
             for name in ("host-0001", "host-0003")] + [f"0x{spine.guid:016x}"]
    lines = text.splitlines()
    assert [line.split()[2] for line in lines if line.startswith("MC")] == ["0xc000"]
    assert [line.split()[1] for line in lines[1:]] == [
        f"port_gid=0x000000000000fec0:{guid}" for guid in sorted(guids)]


# --- changes -----------------------------------------------------------------

@pytest.fixture
def tree():
    return FatTree.plan(levels=2, radix=8, hosts=32).build()


def test_nodes_are_found_as_people_name_them(tree):
    names = changes.Names(tree)
    leaf = tree.nodes["leaf-01"]
    guid = f"0x{leaf.guid:016x}"
    for text in ("leaf-01", " leaf-01 ", guid, guid[2:], f"leaf-01#{guid[-4:]}"):
        assert names.find(text) is leaf, text
    assert names.find("host-0001").description == "host-0001 HCA-1"
    with pytest.raises(UsageError, match="no node"):
        names.find("leaf-0")
    with pytest.raises(UsageError, match="no switch"):
        names.find_switch("host-0001")


def test_name_of_several_nodes_is_refused_with_their_guids(tree):
    for name in ("leaf-01", "leaf-02"):
        tree.nodes[name].description = "switch "
    with pytest.raises(UsageError) as error:
        changes.apply(tree, changes.Changes(switches=["switch"]))
    for name in ("leaf-01", "leaf-02"):
        assert f"0x{tree.nodes[name].guid:016x}" in str(error.value)
    changed, _ = changes.apply(tree, changes.Changes(names=["switch"]))
    assert not {"leaf-01", "leaf-02"} & set(changed.nodes)


def test_removals_take_links_out_at_both_ends_and_leave_the_original(tree):
    before = tree.counts()
    changed, done = changes.apply(tree, changes.Changes(
        links=["leaf-01:5"], switches=["spine-02"], names=["host-0001", "host-0002 ?CA*"]))
    assert tree.counts() == before and len(done) == 4
    assert changed.counts()["switches"] == before["switches"] - 1
    assert changed.counts()["hosts"] == before["hosts"] - 2
    for node in changed.nodes.values():
        for port, (peer, peer_port) in node.links.items():
            assert changed.nodes[peer].links[peer_port] == (node.node_id, port)
    tree.nodes["leaf-01"].description = "leaf[1]x"
    assert changes.Names(tree).find_many("leaf[1]*") == [tree.nodes["leaf-01"]]
    with pytest.raises(UsageError, match="has no link"):
        changes.apply(tree, changes.Changes(links=["leaf-01:9"]))
    with pytest.raises(UsageError, match="NODE:PORT"):
        changes.apply(tree, changes.Changes(links=["spine-01"]))


PLANS = {
    "ndt": "#Fields:StartDevice, StartPort, EndDevice, EndPort, LinkType\n"
           "leaf-01,Port 5,new-spine,Port 1,Data\nleaf-02,6,new-spine,2,Data\n"
           "leaf-03,5,new-spine,3,Data\nnew-host,1,new-spine,4,Data\na,1,b,2,Other\n",
    "expected": "generation 3\nnode,port,state,remote,width,speed\n"
                "leaf-01,5,enabled,name=new-spine*;port=1,4x,HDR\n"
                "leaf-02,6,enabled,name=new-spine;port=2\nleaf-04,7,disabled\n"
                "leaf-03,5,enabled,name=new-spine;port=3\n"
                "new-spine,4,enabled,name=new-host;port=1\n",
    "netdiscover": 'switchguid=0x0a00000000000001\nSwitch 8 "S-1" # "new-spine"\n'
                   '[4] "H-1"[1] # lid 0 4xHDR\n[1] "leaf-01"[5]\n\n'
                   'caguid=0x0a00000000000002\nCa 1 "H-1" # "new-host"\n[1] "S-1"[4]\n\n'
                   'switchguid={leaf:#018x}\nSwitch 8 "leaf-01" # "leaf-01"\n'
                   '[5] "S-1"[1]\n',
}


@pytest.mark.parametrize("form", PLANS)
def test_plan_adds_cables_and_new_nodes(tree, tmp_path, form):
    for name, port in (("leaf-01", 5), ("leaf-02", 6), ("leaf-03", 5)):
        tree.unlink(tree.nodes[name], port)
    path = tmp_path / "plan"
    path.write_text(PLANS[form].replace("{leaf:#018x}",
                                        f"{tree.nodes['leaf-01'].guid:#018x}"))
    changed, done = changes.apply(tree, changes.Changes(plans=[str(path)]))
    new = {node.description: node for node in changed.nodes.values()
           if node.node_id not in tree.nodes}
    assert {(name, node.kind) for name, node in new.items()} == \
        {("new-spine", netfile.SWITCH), ("new-host", netfile.HCA)}, done
    spine = new["new-spine"]
    assert spine.n_ports == 8 and changed.nodes["leaf-01"].links[5] == (spine.node_id, 1)
    assert spine.links[4] == (new["new-host"].node_id, 1)
    # Once more it is there already.
    again, _ = changes.apply(changed, changes.Changes(plans=[str(path)]))
    assert again.counts() == changed.counts()


def test_plan_for_a_port_that_is_taken_is_refused(tree, tmp_path):
    path = tmp_path / "plan"
    path.write_text("StartDevice,StartPort,EndDevice,EndPort\nleaf-01,5,x,1\n")
    with pytest.raises(UsageError, match="leaf-01:5 has a cable"):
        changes.apply(tree, changes.Changes(plans=[str(path)]))
    path.write_text("StartDevice,StartPort,EndDevice,EndPort\nleaf-01,9,x,1\n")
    with pytest.raises(UsageError, match="ports 1 to 8"):
        changes.apply(tree, changes.Changes(plans=[str(path)]))
    path.write_text("nothing of the kind\n")
    with pytest.raises(UsageError, match="no cable"):
        changes.apply(tree, changes.Changes(plans=[str(path)]))


def test_packets_do_not_pass_hosts():
    fabric = netfile.parse(['Switch 4 "a"\n', '[1] "h"[1]\n', '[2] "i"[1]\n', "\n",
                            'Switch 4 "b"\n', '[1] "h"[2]\n', "\n",
                            'Hca 2 "h"\n', '[1] "a"[1]\n', '[2] "b"[1]\n', "\n",
                            'Hca 1 "i"\n', '[1] "a"[2]\n'])
    assert whatif.reached(fabric, "i") == {"i", "a", "h"}
    assert whatif.reached(fabric, "h") == {"h", "a", "b", "i"}


@pytest.mark.parametrize("seed", range(10))
def test_pairs_in_partitions_are_those_of_each_two_ports(seed):
    print(f"seed {seed}")
    dice = random.Random(seed)
    ports = range(1, 30)
    before, after = ({key: {port: dice.random() < 0.5 for port in range(1, 35)
                            if dice.random() < 0.3} for key in range(n, n + 4)}
                     for n in (1, 3))

    def share(members, one, other):
        return any(one in of_key and other in of_key and (of_key[one] or of_key[other])
                   for of_key in members.values())
    pairs = [(share(before, one, other), share(after, one, other))
             for one in ports for other in ports if one != other]
    assert whatif.pairs_in_partitions(before, after, set(ports)) == (
        sum(was for was, _ in pairs), sum(will for _, will in pairs),
        sum(was and not will for was, will in pairs))


def test_hosts_that_change_places_between_partitions_are_parted(tree):
    guids = [netfile.port_guid(node) for node in tree.of_kind(netfile.HCA)]
    half = len(guids) // 2

    def members(one, other):
        return {1: dict.fromkeys(one, True), 2: dict.fromkeys(other, True)}
    before = members(guids[:half], guids[half:])
    after = members(guids[1:half + 1], guids[half + 1:] + guids[:1])
    found = compared(tree, tree, picture(tree, before), picture(tree, after))
    assert found.shared[0] == found.shared[1] and found.exit_status == 1
    # Each of the two, with those that it was with, both ways.
    assert found.parted == whatif.to_json(found)["parted_pairs"] == 4 * (half - 1)
    assert f"{found.parted} pairs of ports" in whatif.to_text(found)


def test_too_many_kinds_of_ports_are_not_judged(monkeypatch, tree):
    monkeypatch.setattr(whatif, "_MAX_KINDS", 2)
    guids = [netfile.port_guid(node) for node in tree.of_kind(netfile.HCA)]
    members = {key: {guids[key]: True, guids[9]: True} for key in range(1, 4)}
    pictures = picture(tree, members), picture(tree, {**members, 4: {guids[1]: True}})
    found = compared(tree, tree, *pictures)
    assert (found.shared, found.parted, found.exit_status) == (None, None, 3)
    assert "share a partition" in " ".join(whatif.to_text(found).split(" NOW ")[0].split())
    # Where no port has other P_Keys, none is parted.
    found = compared(tree, tree, pictures[0], pictures[0])
    assert (found.shared, found.parted, found.exit_status) == (None, 0, 0)


CHECK = {**dict.fromkeys(whatif.FAULTS, 0), "credit_loops_checked": True,
         "down_up_turns_checked": True, "multicast_all_checked": True, "sls": [],
         "credit_loops_not_checked_because": None, "evidence": {"unreachable_pairs": []}}
ROUTES = {"engine": "minhop", "arriving_pairs": 0, "mean_links": 1.0, "tiers": []}


def picture(fabric, members=None, **check):
    """What a copy of the fabric would have, with these numbers of a check."""
    served = whatif.ports_among(fabric, whatif.reached(fabric, whatif.choose_sm(fabric, None)[0]))
    return whatif.Picture(dict(ROUTES), whatif.without_unknown({**CHECK, **check}), {}, {}, served,
                          members or {}, "")


def compared(fabric, changed, before, after):
    return whatif.compare(fabric, changed, before, after, [], (None, None), [])


@pytest.mark.parametrize("fault, is_checked", [
    ("credit_loops", "credit_loops_checked"), ("multicast_loops", "multicast_all_checked")])
@pytest.mark.parametrize("which", (0, 1))
def test_what_is_not_looked_at_is_not_said_to_be_kept(tree, fault, is_checked, which):
    pictures = [picture(tree), picture(tree)]
    assert compared(tree, tree, *pictures).exit_status == 0
    pictures[which] = picture(tree, **{is_checked: False},
                              credit_loops_not_checked_because="a reason")
    found = compared(tree, tree, *pictures)
    text = whatif.to_text(found)
    assert found.exit_status == 3 and "Nothing is lost" not in text
    row = next(line for line in text.splitlines() if line.startswith(whatif.FAULTS[fault]))
    assert row.split()[-3 + which] == "?" and row.split()[-2 - which] == "0", row
    assert ("a reason" if fault == "credit_loops" else "multicast LIDs") in text
    said = whatif.to_json(found)
    assert [said[it]["check"][fault] for it in ("before", "after")][which] is None
    assert said["exit_status"] == 3


def test_turns_in_what_is_no_tree_are_not_known(tree):
    found = compared(tree, tree, picture(tree), picture(tree, down_up_turns_checked=False))
    # They do no harm by themselves.
    assert found.exit_status == 0 and found.after.check["down_up_turns"] is None
    assert "no tree" in " ".join(found.notes)


def test_loss_is_said_though_something_else_is_not_known(tree):
    found = compared(tree, tree, picture(tree), picture(
        tree, unreachable_pairs=3, multicast_all_checked=False))
    assert found.exit_status == 1 and found.lost_pairs == 3
    assert "multicast loops" in whatif.to_text(found).split(" NOW ")[0]


def test_host_that_keeps_one_of_two_ports_loses_something():
    fabric = netfile.parse("""\
switchguid=0xa0
Switch 4 "a"
[1] "h"[1]
[2] "h"[2]
[3] "i"[1]

caguid=0xb0
Hca 2 "h"
[1] "a"[1]
[2] "a"[2]

caguid=0xc0
Hca 1 "i"
[1] "a"[3]
""".splitlines())
    changed, _ = changes.apply(fabric, changes.Changes(links=["a:2"]))
    found = compared(fabric, changed, picture(fabric), picture(changed))
    assert found.exit_status == 1 and not found.lost_hosts
    assert found.lost_ports == [("h", 2)] and found.lost_pairs == 3 * 2 - 2 * 1
    assert "h:2" in whatif.to_text(found)
    said = whatif.to_json(found)
    assert [(it["name"], it["port"]) for it in said["lost_ports"]] == [("h", 2)]
    assert [said[it]["hosts"] for it in ("before", "after")] == [2, 2]
    assert [said[it]["host_ports"] for it in ("before", "after")] == [3, 2]


def test_pairs_that_did_not_arrive_before_are_no_loss(tree):
    changed, _ = changes.apply(tree, changes.Changes(names=["host-0001"]))
    of_host = 32 * 31 - 31 * 30
    found = compared(tree, changed, picture(tree), picture(changed, unreachable_pairs=5))
    assert (found.lost_pairs, found.is_lower_bound) == (of_host + 5, False)
    # All 40 may have been the host's, or none.
    found = compared(tree, changed, picture(tree, unreachable_pairs=40),
                     picture(changed, unreachable_pairs=5))
    assert (found.lost_pairs, found.is_lower_bound) == (of_host - 40 + 5, True)
    assert f"at least {found.lost_pairs} pairs" in whatif.to_text(found)
    assert whatif.to_json(found)["lost_pairs_are_a_lower_bound"] is True
    # Those of a host that is new are no loss either.
    found = compared(changed, tree, picture(changed), picture(tree, unreachable_pairs=of_host))
    assert (found.lost_pairs, found.is_lower_bound) == (0, True)


class Asked(whatif.Copy):
    """A copy that answers what it is told to: numbers of checks, one for each question."""

    def __init__(self, numbers, outdated=None):  # pylint: disable=super-init-not-called
        self.numbers = list(numbers)
        self._outdated = outdated and self.routes(outdated)

    @staticmethod
    def routes(number):
        return {"checked": f"2026-01-01T00:00:{number:06.3f}Z", "took_ms": 1.5,
                "tiers": [{"links": 4}, {"links": 8}]}

    def _ask(self, *words):
        number = self.numbers.pop(0)
        return number and ({"checked_by": number} if "check" in words else self.routes(number))


def test_routes_and_what_is_wrong_with_them_are_of_one_check():
    def checked(*numbers, outdated=None):
        found = Asked(numbers, outdated)._checked(12)  # pylint: disable=protected-access
        return found and found[1]["checked_by"]
    assert checked(1, 1, 1) == 1 and checked(1, 1, 1.001) == 1
    # A new check in between, wherever that is.
    assert not checked(1, 1, 2) and not checked(1, 2, 2)
    assert not checked(None, None, None) and not checked(1, None, 1) and not checked(1, 1, None)
    # One from before the change, whose fabric has as many links.
    assert not checked(1, 1, 1, outdated=1) and checked(2, 2, 2, outdated=1) == 2


# --- orders of upgrades ------------------------------------------------------

def reaches(fabric, away):
    """Sets of hosts that reach each other, by another way than the product's."""
    parent = {it: it for it in fabric.nodes}

    def root(it):
        while parent[it] != it:
            it = parent[it]
        return it
    for node in fabric.of_kind(netfile.SWITCH):
        for peer, _ in node.links.values():
            if node.node_id not in away and peer not in away \
                    and fabric.nodes[peer].kind == netfile.SWITCH:
                parent[root(node.node_id)] = root(peer)
    parts = collections.defaultdict(set)
    for host in fabric.of_kind(netfile.HCA):
        for peer, _ in host.links.values():
            if peer not in away:
                parts[root(peer)].add(host.node_id)
    return max(parts.values(), key=len)


def random_fabric(dice):
    fabric = FatTree.plan(levels=3, radix=8, hosts=dice.randrange(20, 60)).build()
    for node in fabric.of_kind(netfile.SWITCH):
        for port in list(node.links):
            if dice.random() < 0.1:
                fabric.unlink(node, port)
    return fabric


@pytest.mark.parametrize("seed", range(12))
def test_no_step_loses_a_host_that_has_another_way(seed):
    print(f"seed {seed}")
    fabric = random_fabric(random.Random(seed))
    switches = [node.node_id for node in fabric.of_kind(netfile.SWITCH)]
    steps, costly = upgrade.plan(fabric, switches, 0.5)
    all_hosts = reaches(fabric, set())
    for step in steps:
        assert reaches(fabric, set(step.switches)) == all_hosts, step
    for it, hosts in costly.items():
        assert set(hosts) == all_hosts - reaches(fabric, {it}) and hosts
    assert sorted([it for step in steps for it in step.switches] + list(costly)) == \
        sorted(switches)
    assert all(step.is_below or part_that_stays(fabric, step.switches) >= 0.5
               for step in steps)


def part_that_stays(fabric, away):
    """The least of all pairs of levels."""
    levels = upgrade.Graph(fabric).levels
    total, left = collections.Counter(), collections.Counter()
    for node in fabric.of_kind(netfile.SWITCH):
        for peer, _ in node.links.values():
            if fabric.nodes[peer].kind == netfile.SWITCH:
                tier = tuple(sorted((levels.get(node.node_id, 0), levels.get(peer, 0))))
                total[tier] += 1
                left[tier] += node.node_id not in away and peer not in away
    return min(left[tier] / total[tier] for tier in total)


def test_spines_go_in_halves_and_leaves_are_for_people(tree):
    switches = [node.node_id for node in tree.of_kind(netfile.SWITCH)]
    steps, costly = upgrade.plan(tree, switches, 0.5)
    spines = sorted(it for it in switches if it.startswith("spine"))
    assert len(steps) == 2 and sorted(it for step in steps for it in step.switches) == spines
    assert sorted(costly) == sorted(set(switches) - set(spines))
    assert all(len(hosts) == 4 for hosts in costly.values())
    assert len(upgrade.plan(tree, switches, 0.75)[0]) > 2
    assert len(upgrade.plan(tree, spines, 0.0)[0]) == 2, "one spine at least stays"


class Judge:
    """In place of a copy: says what a step loses."""

    def __init__(self, loses):
        self.loses, self.seconds = loses, 0


def order_by(monkeypatch, tree, loses, checks=8, names=()):
    monkeypatch.setattr(upgrade, "_Checker", lambda *_words: Judge(loses))
    return upgrade.order(replica.Replica("a test's", tree),
                         upgrade.Wish(list(names), 0.5, checks), lambda text: None)


def test_switch_without_which_opensm_loses_something_is_listed_apart(monkeypatch, tree, capsys):
    spines = [f"spine-{n:02d}" for n in range(1, 5)]
    found = order_by(monkeypatch, tree, names=spines, loses=lambda step: (
        "2 credit loops" * ("spine-03" in step.switches), []))
    assert found.lossy == {"spine-03": "2 credit loops"} and not found.costly
    assert sorted(it for step in found.steps for it in step.switches) == \
        ["spine-01", "spine-02", "spine-04"]
    assert all(step.proof == "OpenSM" for step in found.steps)
    assert upgrade.say(found, False) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "3 switches can be restarted" in text and "spine-03: 2 credit loops" in text
    assert upgrade.to_json(found)["lossy"][0]["loses"] == "2 credit loops"


def test_part_that_is_not_computed_again_is_not_proven(monkeypatch, tree, capsys):
    spines = [f"spine-{n:02d}" for n in range(1, 5)]
    monkeypatch.setattr(upgrade, "plan", lambda *_words: ([upgrade.Step(spines * 8)], {}))
    found = order_by(monkeypatch, tree, lambda step: ("9 hosts", []), checks=1)
    assert found.steps and not any(step.proof for step in found.steps)
    assert upgrade.say(found, True) == 3
    assert [step["proof"] for step in json.loads(capsys.readouterr().out)["steps"]] == \
        [None] * len(found.steps)
    text = " ".join(upgrade.to_text(found).split())
    assert text.startswith("0 switches can be restarted in 0 steps") and "NOT PROVEN" in text


def test_step_whose_routes_are_not_judged_wholly_is_not_proven(monkeypatch, tree):
    found = order_by(monkeypatch, tree, lambda step: ("", ["credit loops"]), names=["spine-01"])
    assert found.exit_status == 3 and [step.proof for step in found.steps] == [None]
    assert "credit loops" in " ".join(found.notes)


def test_text_fits_a_terminal():
    fabric = FatTree.plan(levels=2, radix=8, hosts=32).build()
    found = upgrade.Order(fabric, [upgrade.Step(["spine-01", "spine-02"])],
                          {"leaf-01": [it.node_id for it in fabric.of_kind(netfile.HCA)]}, 0.5,
                          notes=["a word " * 40])
    assert all(len(line) < 80 for line in upgrade.to_text(found).splitlines())
    json.dumps(upgrade.to_json(found))
