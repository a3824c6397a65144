# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""'triadctl setup': OpenSM's configuration is edited, OpenSM restarted, Triad there, or
said why not."""

import os
import random
import re
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
NAME, OPTIONS = "event_plugin_name", "event_plugin_options"

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


def findings_of(process):
    """What is said of each thing, as "problem plugin ..." """
    found = re.findall(r"(?m)^((ok|warning|problem) +(\S+) +.*(?:\n {10}.*)*)",
                       process.stdout)
    return {name: words_of(text) for text, _, name in found}


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


@pytest.mark.parametrize("is_option", (False, True))
@pytest.mark.parametrize("text", (
    "", "qos TRUE", f"{NAME}\n", f'{NAME} ""\n{OPTIONS} x', f"{NAME} a b\r\n",
    f"{NAME} other # mine\r\n\udcff"))
def test_any_file_is_given_back_octet_for_octet(tmp_path, text, is_option):
    conf, triad_conf = tmp_path / "opensm.conf", tmp_path / "triad.conf"
    octets = text.encode(errors="surrogateescape")
    conf.write_bytes(octets)
    triad_conf.write_text("")
    succeeded(setup("--conf", conf, *(("--triad-conf", triad_conf) if is_option else ())))
    assert (f"conf={triad_conf}".encode() in conf.read_bytes()) == is_option
    shown = succeeded(setup("--conf", conf, "--remove")).stdout
    assert re.search("^- .*osmtriad", shown, re.MULTILINE), shown
    assert conf.read_bytes() == octets and not (tmp_path / COPY).exists()


def test_copy_outlives_another_change(tmp_path):
    conf, triad_conf = default_conf(tmp_path), tmp_path / "triad.conf"
    triad_conf.write_text("")
    before = conf.read_bytes()
    succeeded(setup("--conf", conf))
    succeeded(setup("--conf", conf, "--triad-conf", triad_conf))
    assert (tmp_path / COPY).read_bytes() == before
    succeeded(setup("--conf", conf, "--remove"))
    assert conf.read_bytes() == before


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
    os.mkfifo(tmp_path / "fifo")
    for path, why, advice in ((large, "larger than 1 MiB", "with --conf"),
                              (binary, "binary", "with --conf"),
                              (tmp_path, "folder", "with --conf"),
                              (tmp_path / "fifo", "not a regular file", "with --conf"),
                              (dangling, "symbolic link", "mend the link")):
        process = setup("--conf", path)
        failed(process, 1, "nothing was changed")
        shown = words_of(process.stdout)
        assert why in shown and advice in shown, shown
    assert sorted(os.listdir(tmp_path)) == ["binary", "fifo", "large", "link"], "no more files"


@pytest.mark.parametrize("victim", ["before-triad.opensm.conf.new", "opensm.conf.new"])
def test_killed_while_it_writes_leaves_the_old_file(tmp_path, victim):
    conf = default_conf(tmp_path)
    before = conf.read_bytes()
    (tmp_path / "bin").mkdir()
    # Instead of writing all, as a crash would leave it.
    script(tmp_path / "bin" / "sync", f"""
case $2 in */{victim}) truncate -s 100 "$2"; kill -9 0;; esac""")
    process = setup("--conf", conf, path=tmp_path / "bin", start_new_session=True)
    assert process.returncode == -signal.SIGKILL, process
    assert (tmp_path / victim).stat().st_size == 100, "it was there"
    assert conf.read_bytes() == before
    (tmp_path / victim).unlink()
    succeeded(setup("--conf", conf))
    succeeded(setup("--conf", conf, "--remove"))
    assert conf.read_bytes() == before


def test_new_file_is_on_the_disk_before_it_has_the_name(tmp_path):
    conf = default_conf(tmp_path)
    (tmp_path / "bin").mkdir()
    for name in ("sync", "mv"):
        script(tmp_path / "bin" / name, f"""
echo {name} "$@" >>{tmp_path}/calls
PATH=${{PATH#*:}} exec {name} "$@" """)
    succeeded(setup("--conf", conf, path=tmp_path / "bin"))
    calls = [line for line in (tmp_path / "calls").read_text().splitlines()
             if COPY not in line]
    assert calls[-3:] == [f"sync -- {conf}.new", f"mv -fT -- {conf}.new {conf}",
                          f"sync -- {tmp_path}"], calls


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


def in_own_etc(folder, words, before=":"):
    """Runs setup where /etc is this folder.  No opensm runs there, because one with other
    mounts is not looked at."""
    shutil.copy("/etc/ld.so.cache", folder)
    shutil.copytree("/etc/alternatives", folder / "alternatives", symlinks=True)
    return in_own_mounts(
        f"mount --bind {folder} /etc && PATH={folder}/bin:/usr/sbin:/usr/bin:/bin && "
        f"{before} && {TRIADCTL} setup {words}")


def test_two_files_that_may_be_meant_must_be_chosen_from(tmp_path):
    for name in ("opensm", "rdma"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "opensm.conf").write_text("")
    process = in_own_etc(tmp_path, "--dry-run")
    failed(process, 1, "name the file with --conf")
    told = words_of(process.stderr)
    assert mentions(told, "/etc/opensm/opensm.conf") and \
        mentions(told, "/etc/rdma/opensm.conf")


@pytest.mark.parametrize("text, is_named", (
    ("OPTIONS=\"--config /a.conf\"", True),
    ("OPTIONS='-F/a.conf'\n", True),
    ("exec opensm --config=/a", True),
    ("[Service]\nExecStart=/sbin/opensm -F /a\n", True),
    ("# OPTIONS=-F /a\n\nPORTS=ALL\n", False),
    ("ExecStart=opensm --guid %I -f /a.log -FOO", False),
    ("A=--configure\n -x", False)))
@pytest.mark.parametrize("starter", ("default/opensm", "opensm.service", "opensm@.service"))
def test_starter_that_names_a_file_has_it_asked_for(tmp_path, starter, text, is_named):
    for name in ("opensm", "default", "bin"):
        (tmp_path / name).mkdir()
    (tmp_path / "opensm" / "opensm.conf").write_text("")
    (tmp_path / "default" / "opensm").write_text("PORTS=ALL\n")
    (tmp_path / starter).write_text(text)
    script(tmp_path / "bin" / "systemctl", '[ "$1" = cat ] && cat "/etc/$2"')
    process = in_own_etc(tmp_path, "--dry-run")
    if is_named:
        failed(process, 1, f"{starter} which configuration to read name the file with --conf")
    else:
        assert "/etc/opensm/opensm.conf would change" in succeeded(process).stdout


@pytest.mark.parametrize("words", (
    "-F {}", "-F{}", "--config {} -B", "--config={}", "-F /other --config {}",
    "-f -F -F {}", "-F ../etc/here.conf"))
def test_file_is_that_of_the_opensm_that_runs(tmp_path, words):
    (tmp_path / "here.conf").write_text("")
    shutil.copy("/bin/sh", tmp_path / "opensm")
    words = words.format("/etc/here.conf")
    process = in_own_etc(tmp_path, "--dry-run; kill $!", before=(
        f"cd /etc && mkfifo fifo && {{ ./opensm -c 'read line' x {words} "
        "0<>fifo >/dev/null 2>&1 & } && "
        "{ until grep -qsx opensm /proc/$!/comm; do :; done; }"))
    assert "/etc/here.conf would change" in process.stdout, process


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


# --- lines -------------------------------------------------------------------

def edited(command, text, path="", wanted="", status=0, awk="awk"):
    """What opensm_conf.awk makes of a text; octets or, as given, a str."""
    octets = text if isinstance(text, bytes) else text.encode()
    is_whole = not octets or octets.endswith(b"\n")
    process = subprocess.run(
        [awk, "-v", f"newline={int(is_whole)}", "-v", f"command={command}",
         "-v", f"wanted={wanted}", "-f", SRCDIR / "cli" / "opensm_conf.awk"],
        input=octets, env={**os.environ, "LC_ALL": "C", "path": path}, check=False,
        stdout=subprocess.PIPE, timeout=60)
    assert process.returncode == status, process
    return process.stdout if isinstance(text, bytes) else process.stdout.decode()


def awks():
    """The kinds of awk that are here."""
    return [name for name in ("mawk", "gawk", "original-awk") if shutil.which(name)]


@pytest.mark.parametrize("awk", awks())
@pytest.mark.parametrize("before, after", (
    ("", f"{NAME} osmtriad\n"),
    (f"# names\n{NAME} (null)\n\tsweep_interval 10 # s\n",
     f"# names\n{NAME} osmtriad\n\tsweep_interval 10 # s\n"),
    (f"{NAME}\n", f"{NAME} osmtriad\n"),
    (f" {NAME}\t # none\n", f" {NAME} osmtriad\t # none\n"),
    (f'{NAME} ""\n', f'{NAME} "osmtriad"\n'),
    ("qos TRUE\n", f"qos TRUE\n{NAME} osmtriad\n"),
    ("qos TRUE", f"qos TRUE\n{NAME} osmtriad\n"),
    ("qos TRUE\r\n", f"qos TRUE\r\n{NAME} osmtriad\r\n"),
    (f"#{NAME} osmtriad\n", f"#{NAME} osmtriad\n{NAME} osmtriad\n"),
    (f"{NAME} (null)\r\nqos TRUE\r\n", f"{NAME} osmtriad\r\nqos TRUE\r\n"),
    (f"{NAME} other\n", f"{NAME} other,osmtriad\n"),
    (f'{NAME} "a b" # two\n', f'{NAME} "a b,osmtriad" # two\n'),
    (f"{NAME} osmtriad2\n", f"{NAME} osmtriad2,osmtriad\n"),
    (f"{NAME} osmtriad", f"{NAME} osmtriad"),
    (f"{NAME} a,osmtriad b\r\n", f"{NAME} a,osmtriad b\r\n"),
    (f"{NAME} 'osmtriad'\n", f"{NAME} 'osmtriad'\n"),
    (f"{NAME} osmtriad\n{NAME} (null)\n", f"{NAME} osmtriad\n{NAME} osmtriad\n")))
def test_name_is_added_and_the_rest_stays(awk, before, after):
    assert edited("add", before, awk=awk) == after


@pytest.mark.parametrize("before, after", (
    ("(null)", "conf=/new"),
    ("x=1", "conf=/new x=1"),
    ("x,conf=/old;y", "x,conf=/new;y"),
    ("conf=/new", "conf=/new"),
    # The plugin uses only the first "conf=".
    ("myconf=1 conf=/old", "conf=/new myconf=1 conf=/old")))
def test_configuration_is_set_before_other_options(before, after):
    text = f"{NAME} osmtriad\n{OPTIONS} {{}}\n"
    assert edited("add", text.format(before), path="/new") == text.format(after)


@pytest.mark.parametrize("before, after", (
    (f"{NAME} osmtriad\nqos TRUE", f"{NAME} (null)\nqos TRUE"),
    (f"{NAME} a,osmtriad\n", f"{NAME} a\n"),
    (f"{NAME} osmtriad a\n", f"{NAME} a\n"),
    (f"{NAME} a, osmtriad, b # c\n", f"{NAME} a, b # c\n"),
    (f"{NAME} osmtriad,osmtriad\n", f"{NAME} (null)\n"),
    ("qos TRUE\n", "qos TRUE\n"),
    (f"{NAME} osmtriad\n{OPTIONS} conf=/t\n", f"{NAME} (null)\n{OPTIONS} (null)\n"),
    (f"{NAME} a osmtriad\n{OPTIONS} conf=/t\n", f"{NAME} a\n{OPTIONS} conf=/t\n"),
    (f"{NAME} osmtriad\n{OPTIONS} conf=/t x=1\n", f"{NAME} (null)\n{OPTIONS} x=1\n")))
def test_name_is_taken_out(before, after):
    assert edited("del", before) == after


@pytest.mark.parametrize("text, path", (
    (f"{NAME} {1:01000}\n", ""),
    # OpenSM reads the rest of a line that is too long as another one.
    (f"#{0:01021}{NAME} osmtriad\n", ""),
    (f"{NAME} a{'b':>1100}\n", ""),
    ("", f"/{1:01010}")))
def test_line_that_would_be_too_long_is_refused(tmp_path, text, path):
    edited("add", text, path=path, status=3)
    conf = tmp_path / "opensm.conf"
    conf.write_text(text)
    process = setup("--conf", conf, *(("--triad-conf", path) if path else ()))
    failed(process, 1, "nothing was changed")
    assert "too long for OpenSM" in words_of(process.stdout), process.stdout
    assert conf.read_text() == text


def understood(octets, key):
    """The value that OpenSM takes from a text: an oracle."""
    value = b""
    for line in octets.split(b"\n"):
        words = re.split(rb"[ \t]+", line.split(b"#")[0].lstrip(b" \t"), maxsplit=1)
        if words[0] != key.encode():
            continue
        value = (words[1] if len(words) > 1 else b"").strip(b" \t\v\f\r")
        if len(value) > 1 and value[:1] == value[-1:] and value[:1] in b"\"'":
            value = value[1:-1]
    return b"" if value == b"(null)" else value


@pytest.mark.parametrize("awk", awks())
def test_any_text_is_set_and_undone(awk):
    parts = [NAME.encode(), OPTIONS.encode(), b" ", b"\t", b"\n", b"\n", b"\r\n", b"#",
             b'"', b"'", b",", b"osmtriad", b"(null)", b"other", b"conf=", b"/t.conf",
             b"qos", b"\v", b"\xff", b"\\", b"&", b"x"]
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    for _ in range(300):
        text = b"".join(chance.choices(parts, k=chance.randrange(40)))
        path = chance.choice(("", "/etc/t&\\1.conf"))
        told = (seed, text, path)
        after = edited("add", text, path=path, awk=awk)
        names = re.split(rb"[, \t]+", understood(after, NAME))
        assert b"osmtriad" in names, told
        assert edited("get", text, wanted=NAME, awk=awk) == understood(text, NAME), told
        assert not path or edited("path", after, awk=awk) == path.encode(), told
        kept = [line for line in text.split(b"\n") if b"event_plugin_" not in line]
        assert [line for line in after.split(b"\n")
                if b"event_plugin_" not in line and line] == \
            [line for line in kept if line], told
        without = edited("del", after, awk=awk)
        assert b"osmtriad" not in re.split(rb"[, \t]+", understood(without, NAME)), told


# --- checks ------------------------------------------------------------------

def test_dry_run_with_a_problem_shows_what_would_change(tmp_path):
    conf, other = default_conf(tmp_path), other_version(tmp_path)
    process = setup("--conf", conf, "--dry-run", library=other)
    failed(process, 1, "nothing was changed")
    assert "+ event_plugin_name osmtriad" in process.stdout, process.stdout
    assert "osmtriad\n" not in setup("--conf", conf, library=other).stdout


def test_program_that_hangs_is_ended(tmp_path):
    # It leaves one behind that keeps its output open.
    (tmp_path / "bin").mkdir()
    script(tmp_path / "bin" / "opensm", f"""
case $1 in --version)
    setsid sh -c 'echo $$ >{tmp_path}/left; exec sleep 300' &
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
    process = setup("--conf", conf, library=other_version(tmp_path))
    failed(process, 1, "nothing was changed: 1 problem")
    version = findings_of(process)["version"]
    assert version.startswith("problem") and "built for OpenSM 0.0.0" in version
    assert "install the Triad for this OpenSM" in version, "what to do"
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / PLUGIN.name).write_text("no object")
    process = setup("--conf", conf, library=tmp_path / "bad")
    failed(process, 1, "nothing was changed")
    assert mentions(findings_of(process)["plugin"], "dynamic linker finds no")
    octets = PLUGIN.read_bytes()
    needed = re.search(rb"\0(libibumad\.so\.\d+)\0", octets)[1]
    (tmp_path / "bad" / PLUGIN.name).write_bytes(
        octets.replace(needed, needed.replace(b"umad", b"none")))
    process = setup("--conf", conf, library=tmp_path / "bad")
    failed(process, 1, "nothing was changed")
    assert mentions(findings_of(process)["plugin"], "lacks: libibnone.so")
    assert conf.read_bytes() == before and not (tmp_path / COPY).exists()


def test_mistakes_of_triad_conf_and_all_else_are_reported_at_once(tmp_path):
    conf, triad_conf = default_conf(tmp_path), tmp_path / "triad.conf"
    triad_conf.write_text("[perfmgr]\nsweep_period = x\nnothing = 1\n")
    process = setup("--conf", conf, "--triad-conf", triad_conf,
                    library=other_version(tmp_path))
    failed(process, 1, "nothing was changed: 2 problems")
    text = findings_of(process)["triad.conf"]
    assert "sweep_period" in text and "nothing" in text, text
    triad_conf.write_text("[perfmgr]\nsweep_period = 1\n")
    process = succeeded(setup("--conf", conf, "--triad-conf", triad_conf))
    assert re.findall("^[+] (.*)", process.stdout, re.MULTILINE) == [
        "event_plugin_name osmtriad", f"event_plugin_options conf={triad_conf}"]
    for line in ("event_plugin_name osmtriad", f"event_plugin_options conf={triad_conf}"):
        assert f"\n{line}\n" in conf.read_text()
    triad_conf.chmod(0o666)
    process = setup("--conf", conf)
    failed(process, 1, "nothing was changed: 1 problem")
    assert "others can change it" in findings_of(process)["triad.conf"]


def test_work_for_triadd_is_named_with_files_that_it_can_not_read(tmp_path):
    conf, triad_conf = default_conf(tmp_path), tmp_path / "triad.conf"
    programs = tmp_path / "bin"
    programs.mkdir()
    script(programs / "id", '[ "$1" != -u ] || echo 0')
    script(programs / "setpriv", 'for path; do :; done; case $path in *token) exit 1 ;; esac')

    def findings():
        process = setup("--conf", conf, "--triad-conf", triad_conf, "--dry-run",
                        path=programs)
        return words_of(succeeded(process).stdout)

    triad_conf.write_text("[web]\n#listen = 127.0.0.1:9316\nlisten =\n")
    assert "triadd" not in findings()
    triad_conf.write_text(
        "[web]\nlisten = 127.0.0.1:9316\ntoken_file = /t/token\ntls_key = /t/key\n"
        "tls_certificate = /t/key\n[port 0x1]\nprometheus.listen = 127.0.0.1:9315\n")
    text = findings()
    assert mentions(text, "web.listen,prometheus.listen 'systemctl enable --now triadd'"), text
    assert "'chown triadd /t/token'" in text and "chown triadd /t/key" not in text, text
    # A manager's files for the broker; those of an agent are read by its own process.
    files = "tls_ca = /t/key\ncredentials = /t/broker-token\n"
    triad_conf.write_text(f"[collect]\n{files}mode = manager\n")
    text = findings()
    assert mentions(text, "collect.mode 'systemctl enable --now triadd'"), text
    assert "'chown triadd /t/broker-token'" in text and "chown triadd /t/key" not in text, text
    triad_conf.write_text(f"[web]\nlisten = 127.0.0.1:9316\n[collect]\n{files}")
    assert "chown" not in findings()
    triad_conf.write_text("[profile]\nfile = /var/lib/triadd/a.csv.zst\n")
    text = findings()
    assert mentions(text, "profile.file: triadd does it"), text
    assert "can't write" not in text and "ReadWritePaths" not in text, text
    triad_conf.write_text(f"[profile]\nfile = {tmp_path}/a.csv.zst\n")
    assert mentions(findings(), f"lets it write to /var/lib/triadd alone; add [Service] ReadWritePaths={tmp_path}")
    script(programs / "setpriv", "exit 1")
    assert mentions(findings(), f"user triadd can't write {tmp_path}/a.csv.zst"), findings()


def test_user_sees_what_would_change_and_may_not_change_it(scratch):
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    folder = scratch.folder()
    folder.chmod(0o755)
    conf = default_conf(folder)
    before = conf.read_bytes()
    triadctl = shutil.copy(TRIADCTL, folder)
    shutil.copy(PLUGIN, folder)
    for name in ("setup", "opensm_conf.awk"):
        shutil.copy(SRCDIR / "cli" / name, folder)
    options = {"user": NOBODY, "timeout": 60, "check": False, "text": True,
               "env": environment(LD_LIBRARY_PATH=str(folder), TMPDIR="/tmp",
                                  TRIAD_SETUP=str(folder / "setup")), "cwd": "/",
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

        shown = succeeded(lab.setup("--restart")).stdout
        assert "nothing to change" in shown and mentions(shown, "not restarted")
        assert lab.state().sms[0].process.pid == second, "no restart without need"

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
        assert mentions(shown, "none is started"), shown
        assert mentions(shown, "not restarted"), shown
        assert not lab.status()["sms"][0]["alive"]
        shown = words_of(setup_alone("--restart --dry-run").stdout)
        assert mentions(shown, "one is started"), shown


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
        assert "long ago" not in process.stderr


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
        process = lab.setup("--restart")
        failed(process, 1, "nothing was changed")
        service = findings_of(process)["service"]
        assert f"process {pid})" in service and "leave out --restart" in service, service
        # Some opensm runs, but none with this configuration.
        lab.systemctl()
        other = lab.folder / "other.conf"
        other.write_bytes(before)
        process = setup("--conf", other, "--restart", path=lab.bin)
        failed(process, 1, "nothing was changed")
        assert "none reads" in findings_of(process)["service"]
        assert lab.conf.read_bytes() == before == other.read_bytes()
        assert lab.state().sms[0].process.pid == pid
        # Nor is it told to.
        lab.systemctl(group="/system.slice/opensm.service")
        process = succeeded(lab.setup())
        assert "as it was started here" in words_of(process.stdout), process.stdout
        assert "systemctl" not in process.stdout, process.stdout


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
        assert "\nTriad answers" in succeeded(lab.setup("--restart")).stdout, \
            "its mistake is mended"

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
        assert "\nTriad answers" in succeeded(lab.setup("--restart")).stdout
        assert mentions(succeeded(lab.setup("--restart")).stdout, "not restarted")


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
