# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'bundle': what it has, what it never has, and that an anonymous one still fits together."""

import io
import json
import os
import re
import shutil
import socket
import stat
import subprocess
import tarfile
import tempfile
from pathlib import Path

import pytest

from checks import failed, mentions, stopped, succeeded, wait_until
from ctllib import DONE, OUTPUT, Plugin, frame, run
from labs import Lab
from smalldisk import small_disk
from triadlab import ibdiagnet
from triadlib import QUICK, ask, ask_json, triad_lab, wait_for_sweep

pytestmark = [pytest.mark.scripts, pytest.mark.row("N24")]
TOP = "triad-bundle/"
SECRET = "0x5ec2e75ec2e7abcd"
# Of Triad: too short to be taken for a GUID.
SA_KEY = "0x5ec2e7"
# Two switches of one name, names of vendors alone, and a host with a word for a name that is in
# all answers.
FABRIC = """\
START_NODES
NodeDesc,NumPorts,NodeType,NodeGUID,PortGUID,DeviceID,VendorID
"leaf, rowa",36,2,0x0c42a10300aa0000,0x0c42a10300aa0000,54000,0x2c9
"leaf, rowa",36,2,0x0c42a10300ab0000,0x0c42a10300ab0000,54000,0x2c9
"Quantum-2 Mellanox Technologies",36,2,0x0c42a10300ac0000,0x0c42a10300ac0000,54000,0x2c9
"login-1 mlx5_0",1,1,0x0c42a10300bb0000,0x0c42a10300bb0001,4123,0x2c9
"login-1 mlx5_1",1,1,0x0c42a10300bc0000,0x0c42a10300bc0001,4123,0x2c9
"node",1,1,0x0c42a10300cc0000,0x0c42a10300cc0001,4123,0x2c9
"cabin17 HCA-1",1,1,0x0c42a10300cd0000,0x0c42a10300cd0001,4123,0x2c9
END_NODES
START_LINKS
NodeGuid1,PortNum1,NodeGuid2,PortNum2
0x0c42a10300aa0000,5,0x0c42a10300bb0000,1
0x0c42a10300ab0000,6,0x0c42a10300bc0000,1
0x0c42a10300aa0000,7,0x0c42a10300cc0000,1
0x0c42a10300ab0000,8,0x0c42a10300cd0000,1
0x0c42a10300aa0000,9,0x0c42a10300ac0000,1
0x0c42a10300ab0000,9,0x0c42a10300ac0000,2
END_LINKS
START_CABLE_INFO
NodeGuid,PortGuid,PortNum,Vendor,OUI,PN,SN,Rev,LengthCopperOrActive,Identifier,TypeDesc
0x0c42a10300aa0000,0x0c42a10300aa0000,5,"Mellanox",0x2c9,"MCP1650-H002",MT2101VS00001,A2,"2 m",17,"Copper cable"
END_CABLE_INFO
START_PKEY
NodeGUID,PortGUID,PortNum,BlockNum,Index,PKey,Membership
0x0c42a10300bb0000,0x0c42a10300bb0001,1,0,0,0x7fff,Limited
0x0c42a10300bb0000,0x0c42a10300bb0001,1,0,1,0x8010,Full
0x0c42a10300cc0000,0x0c42a10300cc0001,1,0,0,0xffff,Full
END_PKEY
"""
CONF = QUICK + """\
[devices]
enabled = true
[election]
enabled = true
cluster = none
[port]
enabled = true
expected_file = {folder}/expected
[collect]
servers = nats://broker:geheim@broker7.site.example:4222
sa_key = 0x5ec2e7
[alerts]
file = {folder}/alerts
"""
OPENSM = f"""\
qos TRUE
sm_key {SECRET}
sa_key {SECRET}
node_name_map_name {{folder}}/map
"""
ORIGINALS = ["rowa", "login-1", "cabin17", "oldleaf9", "MT2101VS00001", "broker7",
             *([socket.gethostname()] if len(socket.gethostname()) > 4 else [])]


@pytest.fixture(name="lab", scope="module")
def fixture_lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    (folder / "fabric").write_text(FABRIC, encoding="utf-8")
    (folder / "map").write_text('0x0c42a10300dd0000 "oldleaf9"\n', encoding="utf-8")
    with Lab(folder / "fabric", triad_conf=CONF.format(folder=folder),
             opensm_conf=OPENSM.format(folder=folder), images=True, triadd=True) as lab:
        wait_for_sweep(lab)
        wait_until(lambda: any(row["serial"] for row in ask_json(lab, "cables")), 30, "cables")
        wait_until(lambda: ask_json(lab, "status")["images"]["kept"], 30, "an image")
        (folder / "expected").write_text(ask(lab, "port", "snapshot"), encoding="utf-8")
        succeeded(lab.triad("reload"))
        wait_until(lambda: ask_json(lab, "status")["ports"]["rows"], 30, "what is expected")
        yield lab


class Bundle:
    """What a file has."""

    def __init__(self, path):
        tar = subprocess.run(["zstd", "-dc", path], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(tar)) as archive:
            self.order = archive.getnames()
            self.files = {member.name.removeprefix(TOP): archive.extractfile(member).read()
                          for member in archive}
        self.manifest = json.loads(self.files["MANIFEST.json"])
        self.listed = {row["name"]: row for row in self.manifest["files"]}

    def text(self, name):
        return self.files[name].decode()

    def json(self, name):
        return json.loads(self.files[f"answers/{name}.json"])

    def fabric(self):
        return ibdiagnet.parse(self.text("fabric/ibdiagnet2.db_csv").splitlines())


def bundle(lab, path, *options, **where):
    return lab.run("triadctl", "bundle", *options, path, **where)


@pytest.fixture(name="of_site", scope="module")
def fixture_of_site(lab, tmp_path_factory):
    path = tmp_path_factory.mktemp("bundle") / "a.tar.zst"
    process = bundle(lab, path)
    return process, path, Bundle(path)


@pytest.fixture(name="anonymous", scope="module")
def fixture_anonymous(lab, tmp_path_factory):
    path = tmp_path_factory.mktemp("bundle") / "b.tar.zst"
    return succeeded(bundle(lab, path, "--anonymous")), path, Bundle(path)


def test_bundle_has_what_there_is(lab, of_site):
    process, path, found = of_site
    succeeded(process)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert found.order[0] == TOP + "MANIFEST.json"
    assert os.listdir(path.parent) == [path.name]
    for name in ("fabric/ibdiagnet2.db_csv", "fabric/ibdiagnet2.fdbs", "conf/opensm.conf",
                 "conf/partitions.conf", "conf/triad.conf", "conf/node-name-map",
                 "logs/opensm.log", "answers/perf-show.json", "answers/qos-tables.json", "answers/port-list.json",
                 "conf/expected.csv"):
        assert found.listed[name]["state"] == "whole", found.listed[name]
        assert found.listed[name]["octets"] == len(found.files[name])
    assert any(name.startswith("images/") for name in found.files)
    assert found.manifest["one_view"] and not found.manifest["anonymous"]
    assert {row["guid"]: row["name"] for row in found.json("nodes")} == \
        {row["guid"]: row["name"] for row in ask_json(lab, "nodes")}
    assert len(found.fabric().nodes) == 7
    assert found.json("version")["sm"] == ask_json(lab, "version")["sm"]
    succeeded(lab.run("triadctl", "bundle", "check", path))


def test_each_command_that_reads_is_there_or_said(lab, of_site):
    """A new one is there by itself."""
    _process, _path, found = of_site
    for words in ("health", "status", "links", "routes check", "heal plan", "alerts", "history",
                  "perf ber", "perf details", "devices", "qos tables", "port history", "damp",
                  "shield", "repair history", "election", "agents", "config diff", "get"):
        row = found.listed[f"answers/{words.replace(' ', '-')}.json"]
        assert row["state"] == "whole" or (row["state"] == "absent" and row["note"]), row
        assert lab.run("triadctl", *words.split(), "--json").stdout != "" or not row["octets"]
    for name in found.files:
        if name.startswith("answers/"):
            json.loads(found.files[name])


def test_secrets_are_never_in_it(of_site, anonymous):
    for _process, _path, found in of_site, anonymous:
        for name, octets in found.files.items():
            assert SECRET[2:].encode() not in octets.lower() and b"geheim" not in octets, name
            assert SA_KEY.encode() not in octets, name
        assert "sm_key <removed>" in found.text("conf/opensm.conf")
        assert "nats://<removed>@" in found.text("conf/triad.conf")


def forms(guid):
    """All forms of a GUID."""
    digits = f"{guid:016x}"
    return [digits, digits.lstrip("0"), str(guid),
            *(":".join(digits[i:i + n] for i in range(0, 16, n)) for n in (2, 4)),
            ":".join(f"{int(digits[i:i + 4], 16):x}" for i in range(0, 16, 4))]


def test_no_original_is_left(anonymous):
    """Whatever stands around it."""
    _process, _path, found = anonymous
    guids = {int(text, 16) for text in re.findall(r"0x[0-9a-f]{16}", FABRIC)}
    originals = [word.lower() for word in ORIGINALS] + \
        [form for guid in guids for form in forms(guid)]
    assert found.manifest["anonymous"]
    for name, octets in found.files.items():
        text = octets.decode().lower()
        left = [word for word in originals if word in text]
        assert not left, f"{name}: {left}"


def test_anonymous_files_fit_together(of_site, anonymous):
    _process, _path, site = of_site
    _process, _path, found = anonymous

    def shape(fabric):
        return sorted((node.kind, sorted((port, fabric.nodes[far].kind, far_port)
                                         for port, (far, far_port) in node.links.items()))
                      for node in fabric.nodes.values())

    fabric = found.fabric()
    assert shape(fabric) == shape(site.fabric())
    names = [node.description for node in fabric.nodes.values()]
    assert names.count("Quantum-2 Mellanox Technologies") == 1
    hosts = sorted(name.split()[0] for name in names if "mlx5" in name)
    assert hosts[0] == hosts[1] and "node" not in names
    twice = {name for name in names if names.count(name) == 2}
    assert len(twice) == 1 and all("switch-" in name for name in twice), names
    guids = {f"0x{node.guid:016x}" for node in fabric.nodes.values()}
    assert set(re.findall("Switch (0x[0-9a-f]+)", found.text("fabric/ibdiagnet2.fdbs"))) == \
        {f"0x{node.guid:016x}" for node in fabric.nodes.values() if node.kind == "Switch"}
    assert {row["guid"] for row in found.json("nodes")} == guids
    assert sorted(row["name"] for row in found.json("nodes")) == sorted(names)
    # The lab makes a port's GUID of its node's.
    ports = {f"0x{node.guid + 1:016x}" for node in fabric.nodes.values()}
    members = set(re.findall("0x[0-9a-f]{16}", found.text("conf/partitions.conf")))
    assert members and members <= ports
    expected = set(re.findall("0x[0-9a-f]{16}", found.text("conf/expected.csv")))
    assert expected and expected <= guids | ports
    for name in found.files:
        if name.startswith("answers/"):
            assert found.listed[name]["octets"] == len(found.files[name])
            json.loads(found.files[name])
    assert not any(name.startswith("images/") for name in found.files)
    assert found.listed["images"]["note"]


def test_lab_runs_on_an_anonymous_bundle(anonymous, scratch):
    _process, _path, found = anonymous
    net = scratch.folder() / "fabric"
    net.write_text(found.text("fabric/ibdiagnet2.db_csv"), encoding="utf-8")
    with Lab(net, triad_conf=QUICK) as lab:
        wait_for_sweep(lab)
        assert sorted(row["name"] for row in ask_json(lab, "nodes")) == \
            sorted(row["name"] for row in found.json("nodes"))


def write_bundle(path, files):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, octets in files.items():
            header = tarfile.TarInfo(TOP + name)
            header.size = len(octets)
            archive.addfile(header, io.BytesIO(octets))
    path.write_bytes(subprocess.run(["zstd"], input=stream.getvalue(), capture_output=True,
                                    check=True).stdout)
    return path


def rewritten(path, to, name, text, note=None):
    """The bundle with one more line in a file."""
    found = Bundle(path)
    found.files[name] += text.encode()
    for row in found.manifest["files"]:
        row["octets"] = len(found.files.get(row["name"], b""))
        row["note"] = note or row["note"]
    found.files["MANIFEST.json"] = json.dumps(found.manifest, separators=(",", ":")).encode()
    return write_bundle(to, found.files)


@pytest.mark.parametrize("text", [
    "login-1", "LOGIN-1", "oldleaf9", "0x0c42a10300bb0001", "0C:42:A1:03:00:BB:00:01",
    "fe80::c42:a103:bb:1", "MT2101VS00001", "10.11.12.13", "0x0002c90300123456",
    "0c:42:a1:11:22:33"])
def test_check_finds_an_original(lab, anonymous, tmp_path, text):
    path = rewritten(anonymous[1], tmp_path / "c", "logs/opensm.log", f"\n{text}\n")
    process = lab.run("triadctl", "bundle", "check", path)
    assert process.returncode == 1 and mentions(process.stdout, f"logs/opensm.log {text}"), process


def test_check_finds_none_in_what_was_written(lab, anonymous, tmp_path):
    succeeded(lab.run("triadctl", "bundle", "check", anonymous[1]))
    path = rewritten(anonymous[1], tmp_path / "c", "logs/opensm.log", "\nnode 127.0.0.1\n")
    succeeded(lab.run("triadctl", "bundle", "check", path))


def test_check_takes_names_of_a_file(lab, anonymous, tmp_path):
    names = tmp_path / "names"
    names.write_text("unheard-of-7\n0x0c42a103ffffffff\n", encoding="utf-8")
    check = ("triadctl", "bundle", "check", anonymous[1], "--names", names)
    succeeded(lab.run(*check))
    names.write_text("sweep_period\n", encoding="utf-8")
    process = lab.run(*check)
    assert process.returncode == 1 and mentions(process.stdout, "sweep_period"), process
    failed(lab.run(*check[:-1], tmp_path / "none"), 3, "none")


def test_check_without_an_sm_knows_no_originals(anonymous, lab, tmp_path):
    failed(lab.run("triadctl", "--socket", tmp_path / "none", "bundle", "check", anonymous[1]), 3,
           "originals not known")


def test_check_says_what_is_damaged(lab, of_site, tmp_path):
    cut = tmp_path / "cut"
    cut.write_bytes(of_site[1].read_bytes()[:20000])
    process = lab.run("triadctl", "bundle", "check", cut)
    assert process.returncode == 1 and "wrong" in process.stdout, process
    cut.write_text("no bundle\n", encoding="utf-8")
    assert lab.run("triadctl", "bundle", "check", cut).returncode == 1
    assert lab.run("triadctl", "bundle", "check", tmp_path / "none").returncode == 1


def test_check_takes_any_manifest(lab, of_site, tmp_path):
    path = rewritten(of_site[1], tmp_path / "c", "conf/triad.conf", "\n", note="x" * 1000)
    succeeded(lab.run("triadctl", "bundle", "check", path))
    for manifest in (b'{"files":[{"name":"x"},{"name":null,"state":null}]}', b"{", b"",
                     b'{"anonymous":true,"files":[{"name":"\\u001b[2J","octets":-1}]}'):
        write_bundle(path, {"MANIFEST.json": manifest, "x\x1b[2J": b"y"})
        process = lab.run("triadctl", "bundle", "check", path)
        assert process.returncode == 1 and "\x1b" not in process.stdout, process


def test_check_compares_sizes(lab, of_site, tmp_path):
    found = Bundle(of_site[1])
    path = rewritten(of_site[1], tmp_path / "c", "conf/triad.conf", "\n")
    succeeded(lab.run("triadctl", "bundle", "check", path))
    found.files["conf/triad.conf"] += b"x"
    write_bundle(path, found.files)
    process = lab.run("triadctl", "bundle", "check", path)
    assert process.returncode == 1 and "conf/triad.conf: " in process.stdout, process


def test_terminal_shows_progress_and_nothing_else_does(lab, of_site, tmp_path):
    shown = lab.run("script", "-qec", f"triadctl bundle {tmp_path}/a.tar.zst", "/dev/null")
    lines = succeeded(shown).stdout.splitlines()  # a line begins anew with each
    assert sum(line.startswith("\x1b[Kbundle: ") for line in lines) > 20, shown
    assert lines[-1].startswith(f"\x1b[K{tmp_path}/a.tar.zst: "), shown
    assert of_site[0].stderr == ""


def test_since_leaves_out_older_lines(lab, tmp_path):
    succeeded(bundle(lab, tmp_path / "a", "--since", "2020-01-01"))
    succeeded(bundle(lab, tmp_path / "b", "--since", "2100-01-01"))
    assert Bundle(tmp_path / "a").files["logs/opensm.log"]
    later = Bundle(tmp_path / "b")
    assert later.files["logs/opensm.log"] == b""
    assert not any(name.startswith("images/") for name in later.files)
    failed(bundle(lab, tmp_path / "c", "--since", "soon"), 2, "soon")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else")
def test_who_may_not_read_is_told_what_is_missing(lab, scratch):
    folder = Path(tempfile.mkdtemp(prefix="triad-", dir="/var/tmp"))  # which all can reach
    scratch.callback(shutil.rmtree, folder)
    os.chmod(folder, 0o777)
    process = lab.run("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups",
                      "triadctl", "bundle", folder / "a.tar.zst")
    failed(process, 1, "fabric/ibdiagnet2.db_csv failed")
    rows = Bundle(folder / "a.tar.zst").listed
    assert rows["fabric/ibdiagnet2.db_csv"]["state"] == "failed"
    assert rows["answers/links.json"]["note"], rows


def test_full_disk_leaves_nothing(lab, scratch):
    disk = small_disk(scratch, 64)
    failed(bundle(lab, disk.folder / "a.tar.zst"), 1, "No space")
    assert not os.listdir(disk.folder)


def test_sm_that_does_not_answer_is_asked_twice_and_not_more(lab, tmp_path):
    with stopped(lab.status()["sms"][0]["pid"]):
        process = lab.run("triadctl", "--timeout", "1", "bundle", tmp_path / "a.tar.zst")
    failed(process, 1, "fabric/ibdiagnet2.db_csv failed")
    found = Bundle(tmp_path / "a.tar.zst")
    assert {row["state"] for name, row in found.listed.items() if name.startswith("answers/")} \
        == {"failed"}
    assert not found.manifest["one_view"]
    assert "sm_key <removed>" in found.text("conf/opensm.conf")


def test_fabric_that_changes_is_asked_for_three_times(scratch, tmp_path):
    def answer(connection):
        is_status = plugin.requests[-1][0] == "status"
        text = json.dumps({"topology": {"snapshots": len(plugin.requests)}} if is_status else [])
        connection.sendall(frame(OUTPUT, text.encode()) + DONE)

    plugin = Plugin(scratch, answer)
    process = run("--socket", plugin.path, "bundle", tmp_path / "a.tar.zst")
    assert mentions(process.stderr, "fabric changed 3 times"), process
    manifest = Bundle(tmp_path / "a.tar.zst").manifest
    assert (manifest["attempts"], manifest["one_view"]) == (3, False), manifest
    asked = [words for words in plugin.requests if words[:2] == ["topology", "--fdbs"]]
    assert len(asked) == 3, plugin.requests


def test_without_an_sm_there_are_files_all_the_same(lab, tmp_path):
    process = lab.run("triadctl", "--socket", tmp_path / "none", "bundle", tmp_path / "a.tar.zst")
    failed(process, 1, "fabric/ibdiagnet2.db_csv failed")
    assert {"conf/opensm.conf", "conf/triad.conf", "logs/opensm.log"} <= \
        set(Bundle(tmp_path / "a.tar.zst").listed)


def test_standby_has_no_fabric_and_says_so(tmp_path):
    with triad_lab(sms=("Hca1", "Hca4")) as lab:
        standby = next(i for i in range(2)
                       if ask_json(lab, "status", sm=i)["sm"]["state"] == "standby")
        succeeded(bundle(lab, tmp_path / "a.tar.zst", sm=standby))
        row = Bundle(tmp_path / "a.tar.zst").listed["fabric/ibdiagnet2.db_csv"]
        assert row["state"] == "absent" and row["note"], row


def test_without_triadd_there_are_no_images(tmp_path):
    with triad_lab() as lab:
        succeeded(bundle(lab, tmp_path / "a.tar.zst", "--anonymous"))
        found = Bundle(tmp_path / "a.tar.zst")
        assert not any(name.startswith("images") for name in found.files)
        succeeded(lab.run("triadctl", "bundle", "check", tmp_path / "a.tar.zst"))
