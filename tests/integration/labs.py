# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Labs for tests: a simulated fabric with stock opensms, up when entered, down and removed
when left.  The test's process does itself what scripts/lab does; ScriptedLab has that
program do it."""

import contextlib
import functools
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

import control
from checks import succeeded, wait_until
from triadlab import cluster, down, environment, faults, hosts, opensm, process, run, \
    simulator, state, status, triadd as triadds, up

SRCDIR = Path(os.environ.get("TRIAD_SRCDIR", Path(__file__).resolve().parents[2]))
BUILDDIR = Path(os.environ.get("TRIAD_BUILDDIR", SRCDIR / "build"))

LAB = SRCDIR / "scripts" / "lab"
EXAMPLE_NETS = Path("/usr/share/doc/ibsim-utils/net-examples")

# How long programs go by the rules that they have read (tests/lab/umad_faults.h).
_RULES_S = 0.06
# An item of a list that OpenSM puts into it a second time; without --enable-debug nothing
# looks.
_OWN_ASSERTION = "cl_qlist_insert_tail: Assertion `p_list_item->p_list != p_list'"
_SUPPRESSIONS = Path(__file__).with_name("sanitizer.supp")
_THREAD_SUPPRESSIONS = SRCDIR / "tests" / "threads.supp"
_ACTIONS = {"kill": hosts.kill, "pause": hosts.pause, "resume": hosts.resume,
            "start": hosts.start, "partition": hosts.partition, "heal": hosts.heal,
            "link": hosts.link}


def lab_command(*arguments, timeout_s=300, **options):
    """Runs scripts/lab; returns a CompletedProcess with text."""
    return subprocess.run([sys.executable, str(LAB), *map(str, arguments)],
                          text=True, timeout=timeout_s, check=False,
                          **_captured(options))


def _captured(options):
    """Options of a subprocess whose output is kept."""
    silent = {} if "input" in options else {"stdin": subprocess.DEVNULL}
    return {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **silent, **options}


@functools.cache
def sanitizer():
    """What programs of a build with the sanitizer of addresses or of threads need loaded
    before all others, as a list; empty for a plain build."""
    return environment.sanitizer(BUILDDIR)


def sanitizer_options(folder):
    """Variables that have sanitizers write their reports into files of a folder."""
    # What opensm itself never frees is not ours to judge; and what a test preloads comes
    # before the sanitizer, so that its calls are seen.
    options = f"detect_leaks=0:verify_asan_link_order=0:log_path={folder}/sanitizer"
    threads = f"{options}:suppressions={_THREAD_SUPPRESSIONS}"
    return {"ASAN_OPTIONS": f"{options}:suppressions={_SUPPRESSIONS}",
            "TSAN_OPTIONS": f"{threads}:second_deadlock_stack=1",
            "UBSAN_OPTIONS": f"print_stacktrace=1:{options}"}
# Parts that configure leaves out where a library is missing, by its words for them.
AGENT, COROSYNC, NATS = "IBNETDISC", "COROSYNC", "NATS"
TRIADD, XML = "TRIADD", "XML"


def need(*parts):
    """Skips the test that calls it where Triad was built without one of these."""
    made = (BUILDDIR / "config.status").read_text(encoding="utf-8")
    for part in parts:
        if f'S["HAVE_{part}_TRUE"]="#"' in made:
            pytest.skip(f"built without {part}")


def need_for_conf(text):
    """Skips the test where a triad.conf asks for a part that Triad was built without."""
    if triadds.work(text):
        need(TRIADD)


class Triadd:
    """The triadd beside a process that a test starts itself, which has this triad.conf."""

    def __init__(self, scratch, control_socket, conf):
        self.log_path = Path(scratch.folder()) / "triadd.log"
        with open(self.log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [BUILDDIR / "triadd", "--socket", triadds.socket_of(str(control_socket))],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        scratch.callback(self._end)
        wait_until(lambda: triadds.is_ready(self.log_path, triadds.work(conf)), 20,
                   "what it is to do")

    def log(self):
        return self.log_path.read_text(encoding="utf-8")

    def _end(self):
        self.process.terminate()
        assert self.process.wait(20) == 0, self.log()


def without_images(text):
    """A triad.conf that keeps images only where it says so: what is written after each sweep,
    and known after a restart, is a matter of tests of its own."""
    return opensm.add_missing_keys(text, "history", {"dir": ""})


class Lab:
    """A lab in a folder of its own.

    'net' is a file; 'opensm_conf' and 'triad_conf' are text.  Entering raises LabError
    when the lab can't start; what it said while it did is in 'up_messages'.  With 'images',
    history.dir is as in any lab.  Leaving fails the test when a sanitizer reported
    something.

    'is_kept' leaves labs alone that a test failed in, for a look at them."""

    is_kept = False

    def __init__(self, net, sms=(), opensm_conf="", triad_conf="", plugin="yes",
                 console="off", preload=(), timeout_s=None, umad2sim=False,
                 cluster="none", agents=0, retrain=False, withhold=False, images=False,
                 before_sms=(), triadd=False):
        need(*[COROSYNC] if cluster == "corosync" else [],
             *[AGENT, NATS] if agents else [], *[TRIADD] if triadd else [])
        need_for_conf(triad_conf)
        self.folder = Path(tempfile.mkdtemp(prefix="triad-test-"))
        self.up_messages = ""
        self._logs = {}
        libraries = [str(library) for library in preload]
        self._wishes = up.Wishes(
            folder=self.folder, net=str(net), sms=list(sms), opensm_conf=opensm_conf,
            triad_conf=triad_conf if images else without_images(triad_conf),
            plugin=str(plugin), builddir=str(BUILDDIR),
            console=console, umad2sim=umad2sim, preload=libraries, cluster=cluster,
            agents=agents, retrain=retrain, withhold=withhold, before_sms=list(before_sms),
            triadd=triadd,
            timeout_s=timeout_s, variables=self._sanitizer_options())

    def __enter__(self):
        try:
            self.up()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, kind, _error, _traceback):
        if kind is not None:
            print(self.describe())
        if kind is not None and self.is_kept:
            print(f"the lab is kept: {LAB} status --dir {self.folder}; "
                  f"{LAB} down --dir {self.folder} ends it")
            return
        ends_itself = kind is not None and self._opensm_ended_itself()
        self._remove()
        if ends_itself:
            pytest.skip("an OpenSM with --enable-debug ends itself when a port goes "
                        f"({_OWN_ASSERTION})")

    def _opensm_ended_itself(self):
        """Whether one failed that assertion, which it fails without a plugin, too."""
        return any(_OWN_ASSERTION in path.read_text(errors="replace")
                   for path in self.folder.glob("sm-*/opensm.out"))

    def up(self):
        messages = io.StringIO()
        with contextlib.redirect_stderr(messages):
            up.up(self._wishes)
        self.up_messages = messages.getvalue()
        # So that the first status has what it serves.
        wait_until(self._are_triadds_known, 30, "reports of triadd")

    def _are_triadds_known(self):
        """Whether each SM has heard of the triadd beside it."""
        now = self.state()
        owners = {it.owner for it in now.triadds}
        return all(json.loads(self.triad("status", "--json", sm=sm.index).stdout)
                   ["triadd"]["version"] for sm in now.sms if sm.name in owners)

    def down(self):
        down.down(self.folder)

    def _remove(self):
        try:
            self.down()
            self._check_sanitizer()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    # --- the sanitizer ---

    def _sanitizer_options(self):
        return sanitizer_options(self.folder)

    def _check_sanitizer(self):
        for report in sorted(self.folder.glob("sanitizer*")):
            raise AssertionError(report.read_text(errors="replace"))

    # --- commands ---

    def state(self):
        """What lab.json says."""
        return state.load_required(self.folder)

    @contextlib.contextmanager
    def _prepared(self, command, node, sm, host, keep_scratch=False):
        """Positional and named arguments for a subprocess."""
        command = [str(word) for word in command]
        scratch = None
        if run.is_attached(command):
            scratch = tempfile.mkdtemp(prefix="run-", dir=self.folder)
        try:
            call = run.prepare(self.state(), command, scratch, node, sm, host)
            yield [call.command], {"executable": call.program, "cwd": scratch,
                                   "env": call.variables | self._sanitizer_options()}
        finally:
            if scratch and not keep_scratch:
                shutil.rmtree(scratch, ignore_errors=True)

    def run(self, *command, node=None, sm=None, host=None, timeout_s=300, **options):
        """Runs a command on a node, or in a host's namespaces; returns a
        CompletedProcess with text."""
        with self._prepared(command, node, sm, host) as (words, call):
            return subprocess.run(*words, text=True, timeout=timeout_s, check=False,
                                  **(call | _captured(options)))

    def start(self, *command, node=None, sm=None, host=None, before=(), after=(),
              variables=None, **options):
        """The same in the background, as a Popen; 'before' and 'after' are libraries that
        it loads before and after those that lead it to the fabric, 'variables' are for
        its environment."""
        with self._prepared(command, node, sm, host, keep_scratch=True) as (words, call):
            own = [call["env"].get("LD_PRELOAD")]
            libraries = ":".join(map(str, filter(None, [*before, *own, *after])))
            if libraries:
                call["env"]["LD_PRELOAD"] = libraries
            call["env"].update(variables or {})
            return subprocess.Popen(*words, text=True, **(call | options))

    def triad(self, *words, sm=0, **options):
        """What triadctl would get from an SM's plugin, as a CompletedProcess."""
        return control.request(self.state().sms[sm].control_socket, *words, **options)

    def command(self, name, *arguments, **options):
        """'lab NAME --dir FOLDER ARGUMENTS', the program, as a CompletedProcess."""
        return lab_command(name, "--dir", self.folder, *arguments,
                           **{"env": os.environ | self._sanitizer_options(), **options})

    # --- the fabric ---

    def sim(self, *commands, may_refuse=False):
        """Types into ibsim's console; returns its answers."""
        answers = []
        for command, answer, is_refused in self.console().ask(commands):
            assert may_refuse or not is_refused, f"ibsim refused {command!r}: {answer}"
            answers.append(f"{answer}\n" if answer else "")
        return "".join(answers)

    def console(self):
        return simulator.Console(self.state(), timeout_s=30)

    def harm_mads(self, rules):
        """Puts rules in force by which MADs come to harm ('lab faults --help')."""
        faults.install(self.state(), rules, "the test's rules")
        time.sleep(_RULES_S)

    def heal_mads(self):
        faults.clear(self.state())
        time.sleep(_RULES_S)

    # --- hosts ---

    def host(self, action, *words):
        """Does something to a host: host("kill", 0, "opensm"), host("link", 0, False),
        host("partition", [[0, 1], [2]]), host("heal")."""
        _ACTIONS[action](self.state(), *words)

    def quorum(self, host):
        """Whether a host's partition is quorate and how many members it has, as
        Corosync says there; None when it says nothing."""
        return cluster.quorum(self.state().hosts[host])

    def wait_for_quorum(self, expected, timeout_s=30):
        """Waits until hosts say what the dictionary has for them, for quorum()."""
        def is_so():
            return all(self.quorum(host) == it for host, it in expected.items())

        wait_until(is_so, timeout_s, f"quorum as in {expected}")

    # --- triadd ---

    def kill_triadd(self):
        """The first one; returns when it is gone."""
        record = self.state().triadds[0].process.record()
        os.kill(record.pid, signal.SIGKILL)
        wait_until(lambda: not process.is_alive(record), 10, "the end of triadd")

    def start_triadd(self):
        """The first one, which has ended, again."""
        now = self.state()
        child = triadds.start(now, now.triadds[0], self._sanitizer_options())
        now.triadds[0].process.pid = child.pid
        now.triadds[0].process.start_time = process.record_of(child.pid).start_time
        now.save()

    # --- what SMs say ---

    def status(self):
        """As 'lab status --json' has it."""
        return status.status(self.state(), self._logs)

    def log(self, sm=0):
        """What an opensm has logged so far."""
        path = self.folder / f"sm-{sm}" / "opensm.log"
        return path.read_text(encoding="utf-8", errors="replace")

    def describe(self, n_lines=30):
        """The ends of the logs and what Triad says of alerts, for the report of a test
        that failed."""
        parts = []
        for path in sorted(self.folder.glob("sm-*/opensm.log")):
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            parts += [f"--- the end of {path.relative_to(self.folder)}:",
                      *lines[-n_lines:]]
        for socket in sorted(self.folder.glob("sm-*/triad.sock")):
            answer = control.request(socket, "alerts", "--all", timeout_s=5)
            parts += [f"--- alerts of {socket.parent.name}:",
                      f"{answer.stdout}{answer.stderr}"]
        return "\n".join(parts)


class ScriptedLab(Lab):
    """A lab that scripts/lab, the program, starts, uses and ends."""

    def _arguments(self):
        wishes = self._wishes
        words = ["--net", wishes.net, "--plugin", wishes.plugin, "--console",
                 wishes.console, "--cluster", wishes.cluster, "--builddir", BUILDDIR]
        words += ["--umad2sim"] if wishes.umad2sim else []
        words += ["--retrain"] if wishes.retrain else []
        words += ["--withhold-speeds"] if wishes.withhold else []
        words += ["--agents", wishes.agents] if wishes.agents else []
        for node in wishes.sms:
            words += ["--sm", node]
        for library in wishes.preload:
            words += ["--preload", library]
        if wishes.timeout_s is not None:
            words += ["--timeout", wishes.timeout_s]
        for name, text in (("opensm-conf", wishes.opensm_conf),
                           ("triad-conf", wishes.triad_conf)):
            if text:
                path = self.folder / f"user-{name}"
                path.write_text(text, encoding="utf-8")
                words += [f"--{name}", path]
        return words

    def up(self):
        self.up_messages = succeeded(self.command("up", *self._arguments())).stderr

    def start_up(self, **options):
        """The same in the background, as a Popen."""
        return subprocess.Popen(
            [sys.executable, str(LAB), "up", "--dir", str(self.folder),
             *map(str, self._arguments())],
            env=os.environ | self._sanitizer_options(), text=True, **options)

    def down(self):
        return succeeded(self.command("down"))

    def run(self, *command, node=None, sm=None, host=None, **options):
        where = [*(["--node", node] if node else []),
                 *(["--sm", sm] if sm is not None else []),
                 *(["--host", host] if host is not None else [])]
        return self.command("run", *where, "--", *command, **options)

    def sim(self, *commands):
        return succeeded(self.command("sim", *commands)).stdout

    def host(self, action, *words):
        return succeeded(self.command("host", action, *words))

    def status(self):
        return json.loads(self.command("status", "--json").stdout)
