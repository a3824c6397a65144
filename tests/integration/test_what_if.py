# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What 'lab what-if' computes is what really happens when a fabric is changed so; labs of
bundles route as the fabric that they are of; of a copy nothing is left."""

import errno
import io
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

import pytest

from checks import failed, mentions, succeeded, wait_until
from ctllib import run as triadctl
from labs import BUILDDIR, LAB, Lab, lab_command, sanitizer_options
from triadlab import changes, forwarding, netfile, process, replica, sandbox, site as sites, \
    upgrade, whatif
from triadlab.topology import FatTree
from triadlib import QUICK, ask_json, sweep_heavily

pytestmark = pytest.mark.scripts

TRIADCTL = str(BUILDDIR / "triadctl")


def write_net(scratch, hosts=32, radix=8):
    path = scratch.folder() / "fabric.net"
    with open(path, "w", encoding="utf-8") as stream:
        netfile.write(FatTree.plan(radix=radix, hosts=hosts).build(), stream, "a test's")
    return path


def write_groups(net, path):
    """Multicast groups of some hosts, as an SM restores them."""
    fabric = netfile.read(net)
    path.write_text(sites.groups(fabric, {
        fabric.nodes[f"leaf-0{n}"].guid: {
            0xc000: frozenset((1, 2, 3, 4)), 0xc000 + n // 2: frozenset((n % 4 + 1,))}
        for n in range(1, 9)}), encoding="utf-8")


def in_sandbox(function):
    """What the function gives in there."""
    with tempfile.TemporaryFile() as answer:
        def work():
            pickle.dump(function(), answer)
            answer.flush()
            return 0
        assert sandbox.run(work) == 0
        answer.seek(0)
        return pickle.load(answer)


def site_of(lab):
    """The fabric of a lab that runs, read as that of a site is."""
    os.environ["TRIAD_SOCKET"] = lab.state().sms[0].control_socket
    return replica.from_live(TRIADCTL, f"{lab.folder}/sm-0/opensm.conf")


def what_if(lab, routing_engine=None, **wanted):
    """The Answer for the fabric of a lab, whose copy is as it is."""
    os.environ["TRIAD_BUILDDIR"] = str(BUILDDIR)
    original = site_of(lab)
    question = whatif.Question(changes.Changes(**wanted), routing_engine)
    found = in_sandbox(lambda: whatif.answer(original, question, lambda text: None))
    assert found.copy_is_site.is_none and found.copy_is_site.n_equal > 100, \
        replica.describe("tables", found.copy_is_site, {})
    assert found.groups_are_site.is_none and found.groups_are_site.n_equal > 10, \
        replica.describe("groups", found.groups_are_site, {})
    return found


def really(lab):
    """Tables and routes of a lab that runs; None while they are not known."""
    process = lab.run("triadctl", "routes", "--json")
    if process.returncode:
        return None
    return *replica.tables_of(lab.state()), json.loads(process.stdout)


def expect_as_computed(lab, found):
    """Waits until the lab's tables are those that were computed, entry by entry."""
    last = {}

    def is_same():
        now = really(lab)
        if not now:
            return False
        last["difference"] = forwarding.compare_unicast(now[0], found.after.unicast)
        last["groups"] = forwarding.compare_multicast(now[1], found.after.multicast)
        last["routes"] = now[2]
        return last["difference"].is_none and last["groups"].is_none and all(
            now[2][key] == found.after.routes[key]
            for key in ("hosts", "pairs", "arriving_pairs", "engine", "tiers"))
    sweep_heavily(lab, is_same, what=lambda: str(last))
    check = whatif.without_unknown(
        json.loads(lab.run("triadctl", "routes", "check", "--json").stdout))
    for fault in whatif.FAULTS:
        assert check[fault] == found.after.check[fault], fault


@pytest.fixture
def live(scratch):
    """A fabric whose routing engine has roots, and ports two LIDs."""
    net, records = write_net(scratch), scratch.folder() / "records"
    write_groups(net, records)
    with Lab(net, sms=["host-0007"], triad_conf=QUICK,
             opensm_conf=f"routing_engine updn\nlmc 1\nsa_db_file {records}\n") as lab:
        wait_until(lambda: really(lab), 30, "routes")
        yield lab


@pytest.fixture(autouse=True)
def _sanitizer():
    """A copy has no place for a sanitizer's reports but its output; what opensm itself does is
    not judged."""
    os.environ.update({name: re.sub(":log_path=[^:]*", "", options)
                       for name, options in sanitizer_options("").items()})


# --- as it really is ---------------------------------------------------------

def test_removed_link_is_as_computed(live):
    found = what_if(live, links=["leaf-01:5"])
    assert found.exit_status == 0 and not found.lost_hosts
    assert found.tables.entries > 0
    live.sim('Unlink "leaf-01"[5]')
    expect_as_computed(live, found)


def test_removed_spine_is_as_computed(live):
    found = what_if(live, switches=["spine-02"])
    assert found.exit_status == 0
    assert found.tables.missing == [live_guid(live, "spine-02")]
    live.sim('Unlink "spine-02"')
    expect_as_computed(live, found)


def live_guid(lab, name):
    return next(int(row["guid"], 16) for row in ask_json(lab, "nodes") if row["name"] == name)


@pytest.mark.row("N24")
def test_removed_leaf_loses_its_hosts_as_computed(live):
    found = what_if(live, names=["leaf-03", "host-0031"])
    assert found.exit_status == 1
    names = [found.fabric.nodes[it].description.split()[0] for it in found.lost_hosts]
    assert names == ["host-0009", "host-0010", "host-0011", "host-0012", "host-0031"]
    assert found.lost_pairs == 32 * 31 - 27 * 26
    before = found.before.routes["arriving_pairs"]
    live.sim('Unlink "leaf-03"', 'Unlink "host-0031"')
    expect_as_computed(live, found)
    # Each port has two LIDs here.
    assert before - found.after.routes["arriving_pairs"] == 2 * found.lost_pairs


@pytest.mark.parametrize("engine", ("minhop", "dor"))
def test_other_engine_is_as_computed(live, engine):
    found = what_if(live, routing_engine=engine)
    assert (found.before.routes["engine"], found.after.routes["engine"]) == ("updn", engine)
    assert found.exit_status == 0 and found.tables.entries > 0
    conf = live.folder / "sm-0" / "opensm.conf"
    live.host("kill", 0, "opensm")
    conf.write_text(conf.read_text(encoding="utf-8").replace("updn", engine),
                    encoding="utf-8")
    live.host("start", 0, "opensm")
    wait_until(lambda: really(live), 30, "routes")
    expect_as_computed(live, found)


def test_engine_that_opensm_cannot_use_is_said(live):
    # ftree does without LMC.
    found = what_if(live, routing_engine="ftree")
    assert found.after.routes["engine"] == "minhop"
    assert mentions(found.notes[0], "ftree minhop")


def test_other_partitions_are_as_computed(live):
    host = site_of(live).fabric.nodes
    guid = next(netfile.port_guid(node) for node in host.values()
                if node.description.startswith("host-0011"))
    text = f"Default=0x7fff, ipoib: ALL=limited, SELF=full;\nx=0x0020: {guid:#x}=full;\n"
    original = site_of(live)
    found = in_sandbox(lambda: whatif.answer(
        original, whatif.Question(changes.Changes(), partitions=text), lambda text: None))
    assert found.exit_status == 1 and found.shared == (32 * 31, 2 * 31)
    assert found.parted == 32 * 31 - 2 * 31
    assert found.after.members[0x20][guid] is True
    (live.folder / "sm-0" / "partitions.conf").write_text(text, encoding="utf-8")
    sweep_heavily(live, lambda: replica.members_of(live.state()) == found.after.members,
                  what=lambda: str(replica.members_of(live.state())))


def test_hosts_that_are_added_are_served(live, scratch):
    plan = scratch.folder() / "plan.csv"
    plan.write_text("StartDevice,StartPort,EndDevice,EndPort\n"
                    "leaf-09,5,spine-01,99\n", encoding="utf-8")
    process = cli(live, "--add", str(plan))
    failed(process, 2, "spine-01 has ports")
    plan.write_text("StartDevice,StartPort,EndDevice,EndPort\nnew-1,1,leaf-01,1\n",
                    encoding="utf-8")
    process = cli(live, "--add", str(plan), "--remove", "host-0001", "--json")
    found = json.loads(process.stdout)
    assert found["new_hosts"] == ["new-1"] and process.returncode == 1, process.stderr
    assert [it["name"] for it in found["lost_hosts"]] == ["host-0001 HCA-1"]


# --- the command -------------------------------------------------------------

def cli(lab, *words, **options):
    """'triadctl what-if' about a lab that runs."""
    return triadctl("--socket", lab.state().sms[0].control_socket, "what-if", *words,
                    "--opensm-conf", f"{lab.folder}/sm-0/opensm.conf", **options)


def test_answer_is_a_screen_and_says_what_is_lost(live):
    process = cli(live, "--remove-switch", "leaf-01", "--routing-engine", "minhop")
    assert process.returncode == 1, process.stderr
    lines = process.stdout.splitlines()
    assert len(lines) <= 24 and max(map(len, lines)) < 80, process.stdout
    for words in ("without switch leaf-01 engine minhop", "as the fabric entries equal",
                  "LOST 4 hosts host-0001 host-0002", "routing engine updn minhop",
                  "hosts 32 28", "entries blocks switches"):
        assert mentions(" ".join(process.stdout.split()), words), (words, process.stdout)


def test_copy_that_is_not_as_the_fabric_says_so(live, scratch):
    folder = scratch.folder()
    for kind in ("db_csv", "fdbs"):
        text = succeeded(live.run("triadctl", "topology", f"--{kind.replace('_', '-')}")).stdout
        (folder / f"ibdiagnet2.{kind}").write_text(text, encoding="utf-8")
    # Without the site's opensm.conf, another engine.
    process = lab_command("what-if", "--net", folder, "--remove-link", "leaf-01:5", "--json",
                          env={**os.environ, "TRIAD_BUILDDIR": str(BUILDDIR)})
    found = json.loads(process.stdout)
    assert found["copy_as_site"]["equal"] is False and found["copy_as_site"]["entries"] > 0


def test_engine_is_known_without_opensm_conf(live, monkeypatch):
    monkeypatch.setattr(replica, "_CONF_FOLDERS", ())
    monkeypatch.setattr(replica, "_command_of", lambda path: None)
    os.environ["TRIAD_SOCKET"] = live.state().sms[0].control_socket
    original = replica.from_live(TRIADCTL)
    assert original.site.keys["routing_engine"] == "updn"
    assert mentions(" ".join(original.notes), "opensm.conf updn")


def test_options_are_of_the_file_that_the_sm_has(live, monkeypatch, scratch):
    folder = scratch.folder()
    (folder / "opensm.conf").write_text("routing_engine dor\n", encoding="utf-8")
    monkeypatch.setattr(replica, "_CONF_FOLDERS", (str(folder),))
    os.environ["TRIAD_SOCKET"] = live.state().sms[0].control_socket
    found = replica.from_live(TRIADCTL)
    assert (found.site.keys["routing_engine"], found.site.keys["lmc"]) == ("updn", "1")
    assert str(folder) not in " ".join(found.notes)
    # The folder of root's processes is for root to know.
    with monkeypatch.context() as patched:
        def refuse(*_words):
            raise PermissionError
        patched.setattr(os, "readlink", refuse)
        assert replica.from_live(TRIADCTL).site.keys["routing_engine"] == "updn"
        patched.setattr(replica, "option_of", lambda *_words: "opensm.conf")
        assert str(folder) in " ".join(replica.from_live(TRIADCTL).notes)
    # Where the SM's command line is not known, the file is named.
    monkeypatch.setattr(replica, "_command_of", lambda path: None)
    found = replica.from_live(TRIADCTL)
    assert found.site.keys["routing_engine"] == "dor" and str(folder) in " ".join(found.notes)


def test_what_cannot_be_is_said(live):
    failed(cli(live, "--remove-switch", "nowhere"), 2, "nowhere")
    failed(cli(live, "--remove-link", "leaf-01"), 2, "NODE:PORT")
    failed(cli(live, "--upgrade-order", "--keep", "1"), 2, "--keep")
    failed(triadctl("--socket", "/nowhere", "what-if", "--remove-switch", "x"), 3, "/nowhere")
    failed(triadctl("what-if", env={**os.environ, "TRIAD_LAB_PROGRAM": "/nowhere"}), 3,
           "/nowhere triad-lab")


@pytest.mark.row("N24")
def test_order_of_an_upgrade_is_computed_by_opensm(live):
    process = cli(live, "--upgrade-order", "--json")
    found = json.loads(process.stdout)
    assert [(len(step["switches"]), step["proof"]) for step in found["steps"]] == \
        [(2, "OpenSM"), (2, "OpenSM")], process.stderr
    assert {it["name"] for it in found["costly"]} == {f"leaf-{n:02d}" for n in range(1, 9)}
    assert process.returncode == 1
    process = cli(live, "--upgrade-order", "spine-01", "spine-02", "spine-03", "--check", "0")
    assert process.returncode == 0 and mentions(process.stdout, "3 switches 2 steps")


def test_step_that_opensm_cannot_serve_is_divided(scratch, monkeypatch):
    os.environ["TRIAD_BUILDDIR"] = str(BUILDDIR)
    original = replica.from_path(write_net(scratch))

    def too_large(*_arguments):
        return [upgrade.Step([f"spine-{n:02d}" for n in range(1, 5)])], {}
    monkeypatch.setattr(upgrade, "plan", too_large)
    found = in_sandbox(lambda: upgrade.order(original, upgrade.Wish([], 0.5, 8),
                                             lambda text: None))
    assert [len(step.switches) for step in found.steps] == [2, 2]
    assert all(step.proof == "OpenSM" for step in found.steps)
    assert mentions(" ".join(found.notes), "4 switches lost 28 hosts")


# --- bundles -----------------------------------------------------------------

PARTITIONS = """\
Default=0x7fff, ipoib: ALL=full;
storage=0x0010: {guid}=full, SELF=full;
"""


@pytest.fixture
def site(scratch):
    """A fabric with partitions, QoS, two LIDs a port and an engine of its own; and its
    bundle."""
    net = write_net(scratch)
    host = netfile.read(net).nodes["host-0009"]
    partitions = PARTITIONS.format(guid=f"{netfile.port_guid(host):#018x}")
    folder = scratch.folder()
    (folder / "partitions.conf").write_text(partitions, encoding="utf-8")
    (folder / "roots").write_text("".join(
        f"0x{node.guid:016x}\n" for node in netfile.read(net).nodes.values()
        if node.node_id.startswith("spine")), encoding="utf-8")
    write_groups(net, folder / "records")
    with Lab(net, sms=["host-0012"], triad_conf=QUICK,
             opensm_conf=f"routing_engine updn\nlmc 1\nqos TRUE\nm_key 0x1234\n"
                         f"partition_config_file {folder}/partitions.conf\n"
                         f"sa_db_file {folder}/records\n"
                         f"root_guid_file {folder}/roots\n") as lab:
        wait_until(lambda: really(lab), 30, "routes")
        lab.sim('PerformanceSet "leaf-02"[3] PortCounters.SymbolErrorCounter=7')
        wait_until(lambda: any(row["counters"]["SymbolErrorCounter"] == 7
                               for row in ask_json(lab, "perf", "show")), 30, "a counter")
        files = {f"fabric/ibdiagnet2.{kind}": succeeded(lab.run(
            "triadctl", "topology", f"--{kind.replace('_', '-')}")).stdout
            for kind in ("db_csv", "fdbs", "mcfdbs")}
        files["answers/status.json"] = succeeded(lab.run("triadctl", "status", "--json")).stdout
        files["conf/opensm.conf"] = (lab.folder / "sm-0/opensm.conf").read_text("utf-8")
        files["conf/partitions.conf"] = partitions
        files["conf/root-guids"] = (folder / "roots").read_text("utf-8")
        files["conf/triad.conf"] = QUICK + "[webhook]\nurl = http://site.example/\n"
    return files


def pack(scratch, files):
    path = scratch.folder() / "bundle.tar"
    with tarfile.open(path, "w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"triad-bundle/{name}")
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    subprocess.run(["zstd", "-q", path], check=True)
    return f"{path}.zst"


def up(scratch, *words):
    folder = scratch.folder()
    scratch.callback(lab_command, "down", "--dir", folder)
    return folder, lab_command("up", "--dir", folder, "--builddir", BUILDDIR, *words)


def in_lab(folder, *words):
    return succeeded(lab_command("run", "--dir", folder, "--", *words)).stdout


@pytest.mark.row("N24")
def test_lab_of_a_bundle_is_as_the_site(site, scratch):
    path = pack(scratch, site)
    folder, process = up(scratch, "--bundle", path, "--site-triad-conf")
    said = succeeded(process).stdout
    sites = json.loads(site["answers/status.json"])["sm"]["port_guid"]
    assert json.loads(in_lab(folder, "triadctl", "status", "--json"))["sm"]["port_guid"] == sites
    for words in ("forwarding tables: all equal", "multicast tables: all equal",
                  "sa-records", "routing_engine updn", "partitions.conf root-guids", "m_key", "webhook"):
        assert mentions(said, words), (words, said)
    assert "0x1234" not in said
    assert int(re.search(r"multicast tables: all (\d+) ", said)[1]) > 10, said
    again = replica.from_path(path)
    for node in json.loads(in_lab(folder, "triadctl", "nodes", "--json", "-n", "1000")):
        lids = {lid for lid, _ in next(
            it for it in again.fabric.nodes.values()
            if it.guid == int(node["guid"], 16)).lids.values()}
        assert lids <= {node.get("lid"), *node.get("lids", ())} or not lids, node
    counters = json.loads(in_lab(folder, "triadctl", "perf", "show", "--json"))
    assert [it["port"] for it in counters if it["node_name"] == "leaf-02"
            and it["counters"]["SymbolErrorCounter"] == 7] == [3]


def test_lab_of_a_bundle_says_which_entries_differ(site, scratch):
    text = site["fabric/ibdiagnet2.fdbs"]
    at = text.index(" : 001 ")
    site["fabric/ibdiagnet2.fdbs"] = text[:at] + " : 002 " + text[at + 7:]
    _, process = up(scratch, "--bundle", pack(scratch, site))
    assert mentions(succeeded(process).stdout, "forwarding tables: 1 entries at 1 of 12")
    assert mentions(process.stdout, "LID port 2 in the copy port 1")


def test_what_if_of_a_bundle_has_its_options(site, scratch):
    process = lab_command("what-if", "--bundle", pack(scratch, site), "--json",
                          "--remove-switch", "spine-03",
                          env={**os.environ, "TRIAD_BUILDDIR": str(BUILDDIR)})
    found = json.loads(process.stdout)
    assert process.returncode == 0 and found["copy_as_site"]["equal"] is True, process.stderr
    assert found["before"]["routes"]["engine"] == "updn"
    assert found["multicast_as_site"]["equal"] is True
    assert found["multicast_as_site"]["equal_entries"] > 10


def test_link_that_a_file_has_at_one_end_is_one(scratch):
    net = write_net(scratch)
    lines = net.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("[1]") and "leaf" in line)
    net.write_text("".join(lines[:at] + lines[at + 1:]), encoding="utf-8")
    process = lab_command("what-if", "--net", net, "--remove-switch", "spine-04", "--json",
                          env={**os.environ, "TRIAD_BUILDDIR": str(BUILDDIR)}, timeout_s=60)
    assert json.loads(process.stdout)["before"]["hosts"] == 32, process.stderr


# --- the sandbox -------------------------------------------------------------

def descendants(record):
    found = []
    for child in process.children_of(record):
        found += [child, *descendants(child)]
    return found


def is_ibsim(record):
    try:
        with open(f"/proc/{record.pid}/cmdline", "rb") as stream:
            return stream.read().startswith(b"ibsim\0")
    except OSError:
        return False


@pytest.mark.parametrize("number", (signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
def test_nothing_is_left_of_a_copy_whose_starter_ends(scratch, number):
    net, folder = write_net(scratch, hosts=648, radix=36), scratch.folder()
    starter = subprocess.Popen(
        [sys.executable, str(LAB), "what-if", "--net", str(net), "--upgrade-order"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env={**os.environ, "TRIAD_BUILDDIR": str(BUILDDIR), "TMPDIR": str(folder)}, cwd=folder)
    scratch.callback(starter.wait)
    scratch.callback(starter.kill)
    record = process.record_of(starter.pid)
    simulator = wait_until(lambda: next(filter(is_ibsim, descendants(record)), None), 60,
                           "a copy")
    # So that it does not end by itself.
    os.kill(simulator.pid, signal.SIGSTOP)
    family = descendants(record)
    scratch.callback(process.end, family, 0)
    starter.send_signal(number)
    assert starter.wait(30) == (-number if number == signal.SIGKILL else 128 + number)
    wait_until(lambda: not any(map(process.is_alive, family)), 10, "the end of all")
    assert not os.listdir(folder) and not os.path.exists(sandbox.FOLDER)


def test_copy_reaches_no_adapter_no_network_and_no_file(scratch):
    folder = scratch.folder()

    def look():
        with open("/proc/net/dev", encoding="ascii") as devices:
            names = [line.split(":")[0].strip() for line in devices if ":" in line]
        try:
            (folder / "file").touch()
        except OSError as error:
            refused = error.errno
        return (os.getpid(), names, refused,
                *map(os.listdir, ("/sys", "/run", sandbox.FOLDER)))
    assert in_sandbox(look) == (1, ["lo"], errno.EROFS, [], [], [])


@pytest.mark.parametrize("is_old", (False, True))
def test_mounts_inside_of_folders_are_read_only(scratch, monkeypatch, is_old):
    folder = scratch.folder()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "nosuid,noexec", "none", folder],
                      check=False).returncode:
        pytest.skip("only root mounts")
    scratch.callback(subprocess.run, ["umount", folder], check=True)
    if is_old:
        # No such system call, as before Linux 5.12.
        monkeypatch.setattr(sandbox, "_SYS_MOUNT_SETATTR", 4095)

    def refusals():
        refused = []
        for path in (folder, "/tmp", "/etc"):
            try:
                os.close(os.open(f"{path}/triad-writes-this", os.O_CREAT | os.O_WRONLY))
            except OSError as error:
                refused.append(error.errno)
        return refused
    assert in_sandbox(refusals) == [errno.EROFS] * 3


def test_root_gets_no_copy_where_a_folder_can_be_written(monkeypatch):
    if os.geteuid():
        pytest.skip("others can't write there")
    monkeypatch.setattr(sandbox, "_SYS_MOUNT_SETATTR", 4095)
    monkeypatch.setattr(sandbox, "_MS_REMOUNT", 1 << 30)
    with pytest.raises(sandbox.NoSandbox):
        sandbox.run(lambda: 0)


def test_signal_at_a_copys_begin_ends_it(monkeypatch):
    reader, writer = os.pipe()
    fork, starter = os.fork, os.getpid()

    def fork_and_be_ended():
        child = fork()
        if child and os.getpid() == starter:
            os.kill(starter, signal.SIGTERM)
        return child
    monkeypatch.setattr(os, "fork", fork_and_be_ended)

    def work():
        time.sleep(5)
        os.write(writer, b"still there")
        return 0
    with pytest.raises(SystemExit) as left:
        sandbox.run(work)
    os.close(writer)
    with open(reader, "rb") as said:
        assert said.read() == b"" and left.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_user_without_rights_gets_an_answer(scratch):
    net = write_net(scratch)
    folder = scratch.folder()
    shutil.copy(net, folder)
    os.chmod(folder, 0o755)
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    env = {**os.environ, "TRIAD_BUILDDIR": str(BUILDDIR)}
    if subprocess.run([*nobody, "test", "-r", LAB, "-a", "-r", TRIADCTL], env=env,
                      check=False).returncode:
        pytest.skip("the build tree can't be read by others")
    process = subprocess.run(
        [*nobody, sys.executable, LAB, "what-if", "--net", folder / net.name, "--remove-switch",
         "spine-01"], env=env, cwd="/", capture_output=True, text=True, check=False,
        timeout=120)
    if process.returncode == 3 and "user namespaces" in process.stderr:
        pytest.skip("no user namespaces here")
    assert process.returncode == 0 and mentions(process.stdout, "Nothing is lost"), \
        process.stdout + process.stderr


def test_machine_without_namespaces_says_so(scratch):
    net = write_net(scratch)
    process = subprocess.run(
        ["unshare", "--user", "--map-root-user", "sh", "-c",
         "echo 0 >/proc/sys/user/max_pid_namespaces; exec \"$@\"", "sh", sys.executable, LAB,
         "what-if", "--net", net, "--remove-switch", "spine-01"],
        env={**os.environ, "TRIAD_BUILDDIR": str(BUILDDIR)}, capture_output=True, text=True,
        check=False)
    failed(process, 3, "namespaces")
