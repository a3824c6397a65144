# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'triadctl setup': OpenSM's configuration is edited, OpenSM restarted, Triad there, or
said why not."""

import json
import os
import re
import resource
import shutil
import stat
import subprocess
import sys

import pytest

from checks import failed, succeeded
from ctllib import DONE, TRIADCTL, Plugin, environment, run
from labs import BUILDDIR, SRCDIR, Lab
from triadlab.opensm import conf_keys
from triadlib import NET

PLUGIN = BUILDDIR / ".libs" / "libosmtriad.so"
NOBODY = 65534
COPY = ".before-triad"

# What stands for systemd: its service is the opensm of a lab.
SYSTEMCTL = """#!{python}
import sys
sys.path.insert(0, "{scripts}")
from triadlab import hosts, state
if sys.argv[1:] == ["restart", "opensm.service"]:
    lab = state.load_required("{folder}")
    hosts.kill(lab, 0)
    hosts.start(lab, 0)
sys.exit(sys.argv[2] != "opensm.service")
"""


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

    succeeded(setup("--conf", conf))
    lines = zip(before.splitlines(), conf.read_bytes().splitlines(), strict=True)
    assert [new for old, new in lines if old != new] == [b"event_plugin_name osmtriad"]
    status = conf.stat()
    assert (stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid) == (0o640, 1, 2)
    copy = tmp_path / f"opensm.conf{COPY}"
    assert copy.read_bytes() == before, "the copy"

    again = succeeded(setup("--conf", conf))
    assert "nothing to do" in again.stdout and copy.read_bytes() == before, "again"
    assert max(map(len, again.stdout.splitlines())) < 80, again.stdout
    succeeded(setup("--conf", conf, "--remove"))
    assert conf.read_bytes() == before and not copy.exists(), "removed"
    assert "nothing to do" in succeeded(setup("--conf", conf, "--remove")).stdout


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
    for path, why in ((large, "larger than 1 MiB"), (binary, "binary"),
                      (tmp_path, "folder"), (dangling, "symbolic link")):
        process = setup("--conf", path)
        failed(process, 1, "nothing was changed")
        assert why in process.stdout, process.stdout
    assert sorted(os.listdir(tmp_path)) == ["binary", "large", "link"], "no more files"


def test_killed_while_it_writes_leaves_the_old_file(tmp_path):
    conf = default_conf(tmp_path)
    before = conf.read_bytes()
    # The signal comes in the middle of the copy.
    process = setup("--conf", conf, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (5000, 5000)))
    assert process.returncode != 0 and conf.read_bytes() == before
    # In the middle of the file itself.
    (tmp_path / f"opensm.conf{COPY}").write_text("")
    process = setup("--conf", conf, preexec_fn=lambda: resource.setrlimit(
        resource.RLIMIT_FSIZE, (5000, 5000)))
    assert process.returncode != 0 and conf.read_bytes() == before


def test_file_of_somebody_else_beside_it_is_not_overwritten(tmp_path):
    conf = default_conf(tmp_path)
    (tmp_path / "opensm.conf.new").write_text("mine")
    process = setup("--conf", conf)
    failed(process, 1, "nothing was changed")
    assert "would be overwritten" in process.stdout
    assert (tmp_path / "opensm.conf.new").read_text() == "mine"


# --- checks ------------------------------------------------------------------

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
    assert conf.read_bytes() == before and not (tmp_path / f"opensm.conf{COPY}").exists()


def test_mistakes_of_triad_conf_and_all_else_are_told_at_once(tmp_path):
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


def test_wrong_words_are_told(tmp_path):
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
        (self.bin / "systemctl").write_text(SYSTEMCTL.format(
            python=sys.executable, scripts=SRCDIR / "scripts", folder=self.folder))
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
        shown = " ".join(process.stdout.split())
        assert "a restart has the SM sweep the fabric anew" in shown, "what it does"
        assert "Triad answers" in process.stdout, process.stdout
        second = lab.state().sms[0].process.pid
        assert second != first, "it was restarted"
        succeeded(lab.triad("status"))

        report = json.loads(succeeded(lab.setup("--restart", "--json")).stdout)
        assert not report["changed"] and not report["restarted"], report
        assert lab.state().sms[0].process.pid == second, "no restart without need"

        succeeded(lab.setup("--remove", "--restart"))
        assert lab.conf.read_bytes() == before
        assert lab.triad("status").returncode != 0, "Triad is gone"


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


def test_service_that_is_not_there_is_said_before_a_change(tmp_path):
    conf = default_conf(tmp_path)
    before = conf.read_bytes()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "systemctl").symlink_to("/bin/false")
    process = setup("--conf", conf, "--restart", path=tmp_path / "bin")
    failed(process, 1, "nothing was changed")
    assert "leave out --restart" in process.stdout and conf.read_bytes() == before


def test_two_opensms_with_triad_are_not_restarted(scratch):
    folder = scratch.folder()
    conf, triad_conf = default_conf(folder), folder / "triad.conf"
    triad_conf.write_text(f"[control]\nsocket = {folder}/%g.sock\n")
    (folder / "bin").mkdir()
    (folder / "bin" / "systemctl").symlink_to("/bin/true")
    succeeded(setup("--conf", conf, "--triad-conf", triad_conf))
    for guid in (1, 2):
        Plugin(scratch, DONE, path=str(folder / f"0x{guid:016x}.sock"))
    process = succeeded(setup("--conf", conf, "--restart", "--json",
                              path=folder / "bin"))
    assert not json.loads(process.stdout)["restarted"], process.stdout


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
