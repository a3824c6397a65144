# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'triadctl setup': OpenSM's configuration is edited, OpenSM restarted, Triad there, or
said why not."""

import json
import os
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import checks
from checks import mentions, succeeded
from ctllib import DONE, TRIADCTL, Plugin, environment, run
from labs import BUILDDIR, SRCDIR, Lab
from triadlab import hosts
from triadlab.opensm import conf_keys
from triadlib import NET

PLUGIN = BUILDDIR / ".libs" / "libosmtriad.so"
NOBODY = 65534
COPY = "before-triad.opensm.conf"

# What stands for systemd: its service is the opensm of a lab.
SYSTEMCTL = """#!{python}
import sys
sys.path.insert(0, "{scripts}")
from triadlab import hosts, state
{before}
if sys.argv[1] == "show":
    print("ControlGroup={group}", "", "ControlGroup=", sep="\\n")
    sys.exit()
if sys.argv[1:] == ["restart", "opensm.service"]:
    if {restarts}:
        lab = state.load_required("{folder}")
        hosts.kill(lab, 0)
        hosts.start(lab, 0)
sys.exit(sys.argv[2] != "opensm.service")
"""


def own_group():
    """The control group of this process, which the opensm of a lab has, too."""
    lines = Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines()
    return next(line.split(":", 2)[2] for line in lines
                if line.split(":", 2)[1] in ("", "name=systemd"))


def setup(*words, library=PLUGIN.parent, path=None, **options):
    """'library' is the folder that the dynamic linker finds the plugin in."""
    paths = [*([str(path)] if path else []), os.environ["PATH"]]
    env = environment(PATH=":".join(paths))
    env.pop("LD_LIBRARY_PATH", None)
    if library:
        env["LD_LIBRARY_PATH"] = str(library)
    return run("setup", *words, env=env, **options)


def default_conf(folder):
    """An opensm.conf as OpenSM writes it."""
    made = folder / "opensm.conf"
    succeeded(subprocess.run(
        ["opensm", "-F", folder / "none", "-c", made], text=True, check=False,
        env=environment(PATH=f"{os.environ['PATH']}:/usr/sbin"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    return made


def other_version(folder):
    """A folder with the plugin as if it were built for another OpenSM."""
    octets, n = re.subn(rb"OpenSM \d+\.\d+\.\d", b"OpenSM 0.0.0", PLUGIN.read_bytes())
    assert n, "no version in the plugin"
    (folder / "other").mkdir()
    (folder / "other" / PLUGIN.name).write_bytes(octets)
    return folder / "other"


def script(path, text):
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def words_of(text):
    """The text without its ends of lines."""
    return " ".join(text.split())


def check_width(process):
    """No line is longer than 80 columns, but for a path or a line of a file in it."""
    for line in process.stdout.splitlines() + process.stderr.splitlines():
        assert len(line) < 80 or "/" in line or line.startswith(("  ", "-", "+")), line


def failed(process, status, message):
    """Exit status and message, however its lines are broken."""
    checks.failed(subprocess.CompletedProcess(
        process.args, process.returncode, process.stdout, words_of(process.stderr)),
        status, message)
    check_width(process)


def checks_of(process):
    return {check["name"]: check for check in json.loads(process.stdout)["checks"]}


# --- the file ----------------------------------------------------------------

def test_conf_of_opensm_is_set_and_undone_octet_for_octet(tmp_path):
    conf = default_conf(tmp_path)
    before = conf.read_bytes()
    conf.chmod(0o640)
    os.chown(conf, 1, 2)
    dry = succeeded(setup("--conf", conf, "--dry-run"))
    assert "- event_plugin_name (null)\n+ event_plugin_name osmtriad\n" in dry.stdout
    assert conf.read_bytes() == before and len(list(tmp_path.iterdir())) == 1, "dry run"

    first = succeeded(setup("--conf", conf))
    check_width(first)
    lines = zip(before.splitlines(), conf.read_bytes().splitlines(), strict=True)
    assert [new for old, new in lines if old != new] == [b"event_plugin_name osmtriad"]
    status = conf.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid) == (0o640, 1, 2)
    copy = tmp_path / COPY
    assert copy.read_bytes() == before, "the copy"

    again = succeeded(setup("--conf", conf))
    assert mentions(again.stdout, "already") and copy.read_bytes() == before, "again"
    check_width(again)
    last = succeeded(setup("--conf", conf, "--remove"))
    check_width(last)
    assert conf.read_bytes() == before and not copy.exists(), "removed"
    assert mentions(succeeded(setup("--conf", conf, "--remove")).stdout, "not in it")


def test_copy_is_of_the_last_file_without_triad(tmp_path):
    conf, copy = default_conf(tmp_path), tmp_path / COPY
    succeeded(setup("--conf", conf))
    edited = conf.read_bytes().replace(b"event_plugin_name osmtriad",
                                       b"event_plugin_name other,osmtriad")
    conf.write_bytes(edited)
    process = succeeded(setup("--conf", conf, "--remove"))
    assert mentions(process.stdout, f"before {copy}"), process.stdout
    without = conf.read_bytes()
    assert copy.exists() and copy.read_bytes() != without
    succeeded(setup("--conf", conf))
    assert copy.read_bytes() == without


def test_start_script_takes_nothing_of_setup_for_one_more_configuration(tmp_path):
    conf = default_conf(tmp_path).rename(tmp_path / "opensm.conf.1")
    succeeded(setup("--conf", conf))
    assert list(tmp_path.glob("opensm.conf*")) == [conf]
    assert (tmp_path / f"{COPY}.1").exists()


def test_link_to_the_conf_stays_and_other_plugin_too(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "a.conf", tmp_path / "opensm.conf"
    target.write_bytes(b"event_plugin_name other # mine\r\n\xff")
    link.symlink_to("real/a.conf")
    succeeded(setup("--conf", link))
    assert link.is_symlink(), "the link"
    assert target.read_bytes() == b"event_plugin_name other,osmtriad # mine\r\n\xff"
    # Edited since, so the copy is no longer what it was made of.
    target.write_bytes(b"qos TRUE\n" + target.read_bytes())
    succeeded(setup("--conf", link, "--remove"))
    assert target.read_bytes() == b"qos TRUE\nevent_plugin_name other # mine\r\n\xff"


@pytest.mark.row("N3")
def test_conf_that_is_missing_is_made_by_opensm(tmp_path):
    conf = tmp_path / "etc" / "opensm.conf"
    succeeded(setup("--conf", conf, "--dry-run"))
    assert not conf.parent.exists(), "dry run"
    succeeded(setup("--conf", conf))
    expected = default_conf(tmp_path).read_text().replace(
        "event_plugin_name (null)", "event_plugin_name osmtriad")
    assert conf.read_text() == expected, "OpenSM's defaults"
    assert os.listdir(conf.parent) == ["opensm.conf"], "there is nothing to copy"


def test_what_is_no_conf_is_refused_in_words(tmp_path):
    large, binary, dangling = (tmp_path / name for name in ("large", "binary", "link"))
    large.write_bytes(b"#" * 10_000_000)
    binary.write_bytes(b"qos\0TRUE")
    dangling.symlink_to("nowhere")
    for path, why, advice in ((large, "larger than 1 MiB", "with --conf"),
                              (binary, "binary", "with --conf"),
                              (tmp_path, "folder", "with --conf"),
                              (dangling, "symbolic link", "mend the link")):
        process = setup("--conf", path)
        failed(process, 1, "nothing was changed")
        shown = words_of(process.stdout)
        assert why in shown and advice in shown, shown
    assert sorted(os.listdir(tmp_path)) == ["binary", "large", "link"], "no more files"


def test_killed_while_it_writes_leaves_the_old_file(tmp_path):
    conf = default_conf(tmp_path)
    before = conf.read_bytes()
    # The signal comes in the middle of the copy.
    process = setup("--conf", conf, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (5000, 5000)))
    assert process.returncode != 0 and conf.read_bytes() == before
    # In the middle of the file itself.
    (tmp_path / "opensm.conf.new").unlink(missing_ok=True)
    succeeded(setup("--conf", conf))
    before = conf.read_bytes()
    (tmp_path / "triad.conf").write_text("")
    process = setup("--conf", conf, "--triad-conf", tmp_path / "triad.conf",
                    preexec_fn=lambda: resource.setrlimit(
                        resource.RLIMIT_FSIZE, (5000, 5000)))
    assert process.returncode != 0 and conf.read_bytes() == before


def test_file_of_somebody_else_beside_it_is_not_overwritten(tmp_path):
    conf = default_conf(tmp_path)
    (tmp_path / "opensm.conf.new").write_text("mine")
    process = setup("--conf", conf)
    failed(process, 1, "nothing was changed")
    shown = words_of(process.stdout)
    assert "would be overwritten" in shown and "that was interrupted" in shown, shown
    assert (tmp_path / "opensm.conf.new").read_text() == "mine"


def test_access_list_stays_and_hard_link_is_refused(tmp_path):
    conf = default_conf(tmp_path)
    # user::rw-, user:1:r--, group::r--, mask::r--, other::---
    acl = struct.pack("<I", 2) + b"".join(
        struct.pack("<HHI", tag, access, who) for tag, access, who in (
            (1, 6, 2**32 - 1), (2, 4, 1), (4, 4, 2**32 - 1), (16, 4, 2**32 - 1),
            (32, 0, 2**32 - 1)))
    try:
        os.setxattr(conf, "system.posix_acl_access", acl)
    except OSError as error:
        pytest.skip(f"no access lists here: {error}")
    succeeded(setup("--conf", conf))
    assert os.getxattr(conf, "system.posix_acl_access") == acl
    succeeded(setup("--conf", conf, "--remove"))
    (tmp_path / "other").hardlink_to(conf)
    process = setup("--conf", conf)
    failed(process, 1, "nothing was changed")
    assert "hard link" in process.stdout, process.stdout


def in_own_mounts(command):
    """Runs a shell's command where mounts are its own."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    return subprocess.run(
        ["unshare", "--mount", "sh", "-c", command], text=True, timeout=60,
        env=environment(LD_LIBRARY_PATH=str(PLUGIN.parent)), check=False,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def test_folder_that_is_read_only_and_opensm_that_is_missing_are_reported(tmp_path):
    conf = default_conf(tmp_path)
    process = in_own_mounts(
        f"mount --bind {tmp_path} {tmp_path} && mount -o remount,ro,bind {tmp_path} && "
        f"{TRIADCTL} setup --conf {conf}")
    failed(process, 1, "nothing was changed")
    assert "Read-only" in process.stdout and "as root" not in process.stdout
    for words, message in (("--dry-run", "nothing was changed"),
                           ("--remove", "name it with --conf")):
        failed(in_own_mounts(f"mount -t tmpfs none /usr/sbin && "
                             f"PATH=/usr/bin:/bin {TRIADCTL} setup {words}"), 1, message)


def test_two_files_that_may_be_meant_must_be_chosen_from(tmp_path):
    for name in ("opensm", "rdma"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "opensm.conf").write_text("")
    shutil.copy("/etc/ld.so.cache", tmp_path)
    # No opensm runs there, because one with other mounts is not looked at.
    process = in_own_mounts(
        f"mount --bind {tmp_path} /etc && PATH=/usr/sbin:/usr/bin:/bin {TRIADCTL} setup "
        "--dry-run")
    failed(process, 1, "name the file with --conf")
    told = words_of(process.stderr)
    assert mentions(told, "/etc/opensm/opensm.conf") and \
        mentions(told, "/etc/rdma/opensm.conf")


def test_full_disk_leaves_the_old_file_alone(tmp_path):
    conf = default_conf(tmp_path)
    before = conf.read_bytes()
    disk = tmp_path / "disk"
    disk.mkdir()
    # There is room for the file and its copy.
    room = 2 * (len(before) // 4096 + 1) * 4096
    words = " ".join((str(TRIADCTL), "setup", "--conf", f"{disk}/opensm.conf"))
    process = in_own_mounts(
        f"mount -t tmpfs -o size={room} disk {disk} && cp {conf} {disk} && "
        f"{{ {words}; echo $? >&2; ls {disk} >&2; cmp {conf} {disk}/opensm.conf; }}")
    succeeded(process)
    assert "No space left" in words_of(process.stderr), process.stderr
    assert process.stderr.endswith("\n1\nopensm.conf\n"), "neither copy nor rest"


# --- checks ------------------------------------------------------------------

def test_dry_run_with_a_problem_shows_what_would_change(tmp_path):
    conf, other = default_conf(tmp_path), other_version(tmp_path)
    process = setup("--conf", conf, "--dry-run", library=other)
    failed(process, 1, "nothing was changed")
    assert "+ event_plugin_name osmtriad" in process.stdout, process.stdout
    process = setup("--conf", conf, "--dry-run", "--json", library=other)
    assert json.loads(process.stdout)["changes"], process.stdout
    assert not json.loads(setup("--conf", conf, "--json", library=other).stdout)["changes"]


def test_program_that_hangs_is_ended(tmp_path):
    # It leaves one behind that keeps its output open.
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin" / "opensm", f"""
case $1 in --version)
    sleep 300 & echo $! >{tmp_path}/left
    exec sleep 300
esac""")
    (tmp_path / "opensm.conf").write_text("")
    process = setup("--conf", tmp_path / "opensm.conf", path=tmp_path / "bin")
    os.kill(int((tmp_path / "left").read_text()), signal.SIGKILL)
    failed(process, 1, "nothing was changed")
    shown = words_of(process.stdout)
    assert mentions(shown, "version"), shown


def test_plugin_that_does_not_fit_changes_nothing(tmp_path):
    conf = default_conf(tmp_path)
    before = conf.read_bytes()
    process = setup("--conf", conf, "--json", library=other_version(tmp_path))
    failed(process, 1, "nothing was changed: 1 problem")
    version = checks_of(process)["version"]
    assert version["state"] == "problem" and "built for OpenSM 0.0.0" in version["text"]
    assert version["advice"], "what to do"
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / PLUGIN.name).write_text("no object")
    process = setup("--conf", conf, library=tmp_path / "bad")
    failed(process, 1, "nothing was changed")
    assert conf.read_bytes() == before and not (tmp_path / COPY).exists()


def test_mistakes_of_triad_conf_and_all_else_are_reported_at_once(tmp_path):
    conf, triad_conf = default_conf(tmp_path), tmp_path / "triad.conf"
    triad_conf.write_text("[perfmgr]\nsweep_period = x\nnothing = 1\n")
    process = setup("--conf", conf, "--triad-conf", triad_conf, "--json",
                    library=other_version(tmp_path))
    failed(process, 1, "nothing was changed: 2 problems")
    text = checks_of(process)["triad.conf"]["text"]
    assert "sweep_period" in text and "nothing" in text, text
    triad_conf.write_text("[perfmgr]\nsweep_period = 1\n")
    report = json.loads(succeeded(
        setup("--conf", conf, "--triad-conf", triad_conf, "--json")).stdout)
    assert report["changed"] and report["loaded"] is None and not report["restarted"]
    assert [change["after"] for change in report["changes"]] == [
        "event_plugin_name osmtriad", f"event_plugin_options conf={triad_conf}"]


def test_user_sees_what_would_change_and_may_not_change_it(scratch):
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    folder = scratch.folder()
    folder.chmod(0o755)
    conf = default_conf(folder)
    before = conf.read_bytes()
    triadctl = shutil.copy(TRIADCTL, folder)
    shutil.copy(PLUGIN, folder)
    options = {"user": NOBODY, "timeout": 60, "check": False, "text": True,
               "env": environment(LD_LIBRARY_PATH=str(folder)), "cwd": "/",
               "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    dry = succeeded(subprocess.run([triadctl, "setup", "--conf", conf, "--dry-run"],
                                   **options))
    assert "+ event_plugin_name osmtriad" in dry.stdout and "as root" in dry.stdout
    process = subprocess.run([triadctl, "setup", "--conf", conf], **options)
    failed(process, 1, "nothing was changed")
    assert conf.read_bytes() == before


def test_wrong_words_are_reported(tmp_path):
    for words, message in ((["--remove", "--triad-conf", "/a"], "exclude each other"),
                           (["--triad-conf", "a.conf"], "from / on"),
                           (["--triad-conf", "/a b"], "without blanks"),
                           (["now"], "one word too many")):
        failed(setup("--conf", tmp_path / "none", *words), 2, message)


# --- with OpenSM -------------------------------------------------------------

class SetupLab(Lab):
    """Its opensm runs without Triad, on a configuration that OpenSM wrote; 'bin' has a
    systemctl for it."""

    def __init__(self, **options):
        super().__init__(NET, opensm_conf="event_plugin_name (null)\n", **options)

    def up(self):
        super().up()
        self.conf = self.folder / "sm-0" / "opensm.conf"
        keys = conf_keys(self.conf.read_text())
        (self.folder / "made").mkdir()
        text = default_conf(self.folder / "made").read_text()
        for key, value in keys.items():
            text = re.sub(rf"^{key} .*$", f"{key} {value}", text, flags=re.MULTILINE)
        text = re.sub("^event_plugin_options .*$", "event_plugin_options (null)", text,
                      flags=re.MULTILINE)
        self.conf.write_text(text)
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        self.systemctl()

    def systemctl(self, group=None, restarts=True, before="pass"):
        """A systemctl whose unit has this control group; 'before' is a line of Python
        that runs first."""
        (self.bin / "systemctl").write_text(SYSTEMCTL.format(
            python=sys.executable, scripts=SRCDIR / "scripts", folder=self.folder,
            group=group or own_group(), restarts=restarts, before=before))
        (self.bin / "systemctl").chmod(0o755)

    def setup(self, *words, **options):
        return setup("--conf", self.conf, *words, path=self.bin, **options)


@pytest.mark.plain
def test_restart_loads_triad_and_remove_gives_the_file_back():
    with SetupLab() as lab:
        before = lab.conf.read_bytes()
        first = lab.state().sms[0].process.pid
        triad_conf = lab.folder / "sm-0" / "triad.conf"
        process = succeeded(lab.setup("--triad-conf", triad_conf, "--restart"))
        shown = words_of(process.stdout)
        assert mentions(shown, "restart sweep"), "what it does"
        assert "Triad answers" in process.stdout, process.stdout
        second = lab.state().sms[0].process.pid
        assert second != first, "it was restarted"
        succeeded(lab.triad("status"))

        report = json.loads(succeeded(lab.setup("--restart", "--json")).stdout)
        assert not report["changed"] and not report["restarted"], report
        assert lab.state().sms[0].process.pid == second, "no restart without need"
        assert mentions(succeeded(lab.setup("--restart")).stdout, "not restarted")

        succeeded(lab.setup("--remove", "--restart"))
        assert lab.conf.read_bytes() == before
        assert lab.triad("status").returncode != 0, "Triad is gone"
        assert "it runs without Triad" in succeeded(
            lab.setup("--remove", "--restart")).stdout


def test_opensm_that_is_off_stays_off_when_triad_is_taken_out():
    with SetupLab() as lab:
        # Where opensms of other labs are not looked at.
        def setup_alone(words):
            return succeeded(in_own_mounts(
                f"PATH={lab.bin}:$PATH {TRIADCTL} setup --conf {lab.conf} {words}"))
        succeeded(lab.setup())
        hosts.kill(lab.state(), 0, "opensm")
        shown = words_of(setup_alone("--remove --restart").stdout)
        assert mentions(shown, "no opensm restarted"), shown
        assert mentions(shown, "not restarted"), shown
        assert not lab.status()["sms"][0]["alive"]
        shown = words_of(setup_alone("--restart --dry-run").stdout)
        assert "so it is started" in shown, shown


def test_triad_that_is_not_loaded_is_explained_by_the_log(tmp_path):
    other = other_version(tmp_path) / PLUGIN.name
    # OpenSM finds another plugin than triadctl does.
    with SetupLab(plugin=other) as lab:
        with open(lab.state().sms[0].log, "a", encoding="utf-8") as log:
            log.write("triad: error: of long ago\n")
        process = lab.setup("--triad-conf", lab.folder / "sm-0" / "triad.conf",
                            "--restart")
        failed(process, 1, "ERR 1000: cannot load plugin")
        assert "version mismatch" in process.stderr, "the reason"
        assert "What to do: " in process.stderr and "long ago" not in process.stderr


def test_service_that_is_not_there_is_reported_before_a_change(tmp_path):
    conf = default_conf(tmp_path)
    before = conf.read_bytes()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "systemctl").symlink_to("/bin/false")
    process = setup("--conf", conf, "--restart", path=tmp_path / "bin")
    failed(process, 1, "nothing was changed")
    assert "leave out --restart" in process.stdout and conf.read_bytes() == before


def test_opensm_that_the_service_did_not_start_is_not_restarted():
    with SetupLab() as lab:
        before, pid = lab.conf.read_bytes(), lab.state().sms[0].process.pid
        lab.systemctl(group="/system.slice/opensm.service")
        process = lab.setup("--restart", "--json")
        failed(process, 1, "nothing was changed")
        service = checks_of(process)["service"]
        assert f"process {pid})" in service["text"] and service["advice"], service
        # Nor is it told to.
        process = succeeded(lab.setup("--dry-run"))
        assert "systemctl" not in process.stdout, process.stdout
        # Some opensm runs, but none with this configuration.
        lab.systemctl()
        other = lab.folder / "other.conf"
        other.write_bytes(before)
        process = setup("--conf", other, "--restart", "--json", path=lab.bin)
        failed(process, 1, "nothing was changed")
        assert "none reads" in checks_of(process)["service"]["text"]
        assert lab.conf.read_bytes() == before == other.read_bytes()
        assert lab.state().sms[0].process.pid == pid


def test_edit_by_somebody_else_meanwhile_is_kept():
    with SetupLab() as lab:
        before, files = lab.conf.read_bytes(), sorted(os.listdir(lab.conf.parent))
        # The service's groups are asked for when the file has been read.
        lab.systemctl(before=(
            f"if sys.argv[1] == 'show': open({str(lab.conf)!r}, 'a').write('qos TRUE')"))
        process = lab.setup("--restart")
        failed(process, 1, "changed by somebody else")
        assert lab.conf.read_bytes() == before + b"qos TRUE", "it stays"
        assert sorted(os.listdir(lab.conf.parent)) == files, "nothing is left over"


def test_answer_counts_if_its_opensm_started_since_and_works():
    with SetupLab() as lab:
        triad_conf = lab.folder / "sm-0" / "triad.conf"
        lab.systemctl(before=(
            f"if sys.argv[1] == 'restart': open({str(triad_conf)!r}, 'a').write('x x')"))
        good = triad_conf.read_bytes()
        process = lab.setup("--triad-conf", triad_conf, "--restart")
        failed(process, 1, "does nothing")
        assert "triadctl health" in process.stderr and "triad: error: " in process.stderr
        triad_conf.write_bytes(good)
        lab.systemctl()
        report = json.loads(succeeded(lab.setup("--restart", "--json")).stdout)
        assert report["restarted"] and report["loaded"], "its mistake is mended"

        # It has Triad now, and outlives a restart that isn't one.
        lab.systemctl(restarts=False)
        other = triad_conf.with_name("other.conf")
        other.write_bytes(good)
        pid = lab.state().sms[0].process.pid
        process = lab.setup("--triad-conf", other, "--restart", "--timeout", 1)
        failed(process, 1, f"process {pid} before restart")
        process = lab.setup("--remove", "--restart")
        failed(process, 1, "before restart")


def test_sockets_that_are_left_over_are_passed_over(scratch):
    with SetupLab() as lab:
        triad_conf, sockets = lab.folder / "sm-0" / "triad.conf", scratch.folder()
        text = re.sub("(?m)^socket *=.*$", f"socket = {sockets}/%g.sock",
                      triad_conf.read_text(encoding="utf-8"))
        triad_conf.write_text(text, encoding="utf-8")
        # One of a process that is gone, one of another that answers.
        for name, is_served in (("0x0", False), ("0xf", True)):
            plugin = Plugin(scratch, DONE, path=str(sockets / f"{name}.sock"))
            if not is_served:
                plugin.stop()
        lab.systemctl(restarts=False)
        process = lab.setup("--triad-conf", triad_conf, "--restart", "--timeout", 1)
        failed(process, 1, "before restart")
        lab.systemctl()
        assert json.loads(succeeded(lab.setup("--restart", "--json")).stdout)["loaded"]
        report = json.loads(succeeded(lab.setup("--restart", "--json")).stdout)
        assert not report["restarted"], "no restart without need"


def test_several_configurations_in_use_must_be_chosen_from():
    with Lab(NET, sms=["Hca1", "Hca2"], plugin="no") as lab:
        process = setup("--dry-run")
        failed(process, 1, "choose one with --conf")
        for name in ("sm-0", "sm-1"):
            assert f"{lab.folder}/{name}/opensm.conf" in process.stderr, process.stderr


def test_options_are_in_the_manual():
    manual = (SRCDIR / "docs" / "triadctl.1").read_text(encoding="utf-8")
    section = manual[manual.index(".BR setup "):manual.index(".BR completion ")]
    for option in re.findall(r"^  (--\S+)", run("setup", "--help").stdout, re.MULTILINE):
        assert option.replace("-", "\\-") in section, option
