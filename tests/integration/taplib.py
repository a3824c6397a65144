# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Integration tests in Python, reported in TAP for automake's driver.

A test file has functions test_<object>_<condition>_<result>(t) and ends with

    if __name__ == "__main__":
        taplib.main(globals())

They run in the order of the file; names of tests on the command line run only
those.  A test fails by raising anything, AssertionError above all; it is skipped
by raising Skip("reason").  't' compares with a message that shows both sides,
and undoes what the test left (t.cleanup).

Lab is a lab for one test: up when entered, down and removed when left, with the
ends of its logs in the report if the test failed.
"""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

SRCDIR = Path(os.environ.get("TRIAD_SRCDIR", Path(__file__).resolve().parents[2]))
BUILDDIR = Path(os.environ.get("TRIAD_BUILDDIR", SRCDIR / "build"))
LAB = SRCDIR / "scripts" / "lab"
EXAMPLE_NETS = Path("/usr/share/doc/ibsim-utils/net-examples")

# Tests may import what the scripts are made of.
sys.path.insert(0, str(SRCDIR / "scripts"))

_POLL_S = 0.02


class Skip(Exception):
    """The test cannot run here; the text says why."""


# --- running tests -----------------------------------------------------------

class Test:
    """What a test is given."""

    def __init__(self):
        self._cleanups = contextlib.ExitStack()

    def cleanup(self, function, *arguments):
        """Calls the function when the test is over, the last one first."""
        self._cleanups.callback(function, *arguments)

    def close(self):
        self._cleanups.close()

    def folder(self):
        """A new folder, removed when the test is over."""
        folder = tempfile.mkdtemp(prefix="triad-test-")
        self.cleanup(shutil.rmtree, folder, True)
        return Path(folder)

    @staticmethod
    def note(text):
        """Writes comment lines into the report."""
        for line in str(text).splitlines():
            print(f"# {line}", flush=True)

    @staticmethod
    def equal(actual, expected, what="value"):
        assert actual == expected, f"{what} is {actual!r}, not {expected!r}"

    @staticmethod
    def contains(text, part, what="text"):
        assert part in text, f"{what} does not contain {part!r}: {text!r}"

    @staticmethod
    def matches(text, pattern, what="text"):
        """'pattern' is a compiled regular expression."""
        assert pattern.search(text), \
            f"{what} does not match {pattern.pattern!r}: {text!r}"

    @staticmethod
    def succeeded(process):
        """A CompletedProcess with status 0."""
        assert process.returncode == 0, \
            (f"{process.args} returned {process.returncode}:\n"
             f"{process.stdout}{process.stderr}")

    @staticmethod
    def failed(process, status, part=""):
        """A CompletedProcess with this status and this part of its messages."""
        assert process.returncode == status and part in (process.stderr or ""), \
            (f"{process.args} returned {process.returncode} (expected {status}, "
             f"with {part!r}):\n{process.stdout}{process.stderr}")


def main(names):
    """Runs the tests among 'names', the globals() of a test file."""
    tests = {name: function for name, function in names.items()
             if name.startswith("test_")}
    wanted = sys.argv[1:] or list(tests)
    unknown = [name for name in wanted if name not in tests]
    if unknown:
        print(f"Bail out! there is no test {unknown[0]}")
        sys.exit(1)
    # Programs under test inherit it; nohup ignores it.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    print(f"1..{len(wanted)}", flush=True)
    for number, name in enumerate(wanted, 1):
        result, comment = _run(tests[name])
        Test.note(comment)
        print(f"{result[0]} {number} - {name}{result[1]}", flush=True)


def _run(function):
    """Returns the words around the test's name, and what else is to be said."""
    t = Test()
    begin = time.monotonic()
    try:
        with contextlib.closing(t):
            function(t)
    except Skip as reason:
        return ("ok", f" # SKIP {reason}"), ""
    except Exception:
        return ("not ok", ""), traceback.format_exc()
    return ("ok", ""), f"{function.__name__}: {time.monotonic() - begin:.1f} s"


def wait_until(predicate, timeout_s=10, what="condition"):
    """Polls until the predicate gives something true, and returns that."""
    deadline = time.monotonic() + timeout_s
    while not (result := predicate()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not within {timeout_s} s")
        time.sleep(_POLL_S)
    return result


# --- labs --------------------------------------------------------------------

def lab_command(*arguments, timeout_s=300, **options):
    """Runs scripts/lab; returns a CompletedProcess with text."""
    return subprocess.run([sys.executable, str(LAB), *map(str, arguments)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=timeout_s, check=False,
                          **{"stdin": subprocess.DEVNULL, **options})


def sanitizer():
    """The library that what is built with the address sanitizer needs before all others."""
    library = os.environ.get("TRIAD_LAB_PRELOAD")
    return [library] if library else []


class Lab:
    """A lab in a folder of its own.

    'net' is a file; 'opensm_conf' and 'triad_conf' are text.  Entering raises
    AssertionError when 'lab up' fails; what it printed is in 'up_messages'."""

    def __init__(self, net, sms=(), opensm_conf="", triad_conf="", plugin="yes",
                 console="off", preload=(), timeout_s=None, umad2sim=False,
                 cluster="none", agents=0):
        self.folder = Path(tempfile.mkdtemp(prefix="triad-test-"))
        self.up_messages = ""
        self._arguments = ["--net", net, "--plugin", plugin, "--console", console,
                           "--cluster", cluster, "--builddir", BUILDDIR]
        if umad2sim:
            self._arguments.append("--umad2sim")
        if agents:
            self._arguments += ["--agents", agents]
        for node in sms:
            self._arguments += ["--sm", node]
        for library in [*sanitizer(), *preload]:
            self._arguments += ["--preload", library]
        if timeout_s is not None:
            self._arguments += ["--timeout", timeout_s]
        for name, text in (("opensm-conf", opensm_conf), ("triad-conf", triad_conf)):
            if text:
                path = self.folder / f"user-{name}"
                path.write_text(text, encoding="utf-8")
                self._arguments += [f"--{name}", path]

    def __enter__(self):
        try:
            process = self.command("up", *self._arguments)
            Test.succeeded(process)
        except BaseException:
            self._remove()
            raise
        self.up_messages = process.stderr
        return self

    def __exit__(self, kind, _error, _traceback):
        if kind is not None and not issubclass(kind, Skip):
            self._print_logs()
        self._remove()

    def _remove(self):
        try:
            Test.succeeded(self.down())
            self._check_sanitizer()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _environment(self):
        # What opensm itself never frees is not ours to judge.
        sanitizer = f"detect_leaks=0:log_path={self.folder}/sanitizer"
        known = f"suppressions={Path(__file__).with_name('sanitizer.supp')}"
        return {**os.environ, "ASAN_OPTIONS": f"{sanitizer}:{known}",
                "UBSAN_OPTIONS": f"print_stacktrace=1:{sanitizer}"}

    def command(self, name, *arguments, **options):
        """'lab NAME --dir FOLDER ARGUMENTS', as a CompletedProcess."""
        return lab_command(name, "--dir", self.folder, *arguments,
                           **{"env": self._environment(), **options})

    def start(self, name, *arguments, **options):
        """The same in the background, as a Popen."""
        return subprocess.Popen(
            [sys.executable, str(LAB), name, "--dir", str(self.folder),
             *map(str, arguments)], env=self._environment(), text=True, **options)

    def _check_sanitizer(self):
        for report in sorted(self.folder.glob("sanitizer*")):
            raise AssertionError(report.read_text(errors="replace"))

    def run(self, *command, node=None, sm=None, host=None, **options):
        """Runs a command on a node, or in a host's namespaces; returns a
        CompletedProcess with text."""
        where = [*(["--node", node] if node else []),
                 *(["--sm", sm] if sm is not None else []),
                 *(["--host", host] if host is not None else [])]
        return self.command("run", *where, "--", *command, **options)

    def sim(self, *commands):
        """Types into ibsim's console; returns its answers."""
        process = self.command("sim", *commands)
        Test.succeeded(process)
        return process.stdout

    def host(self, action, *words):
        """Does something to a host: host("kill", 0, "opensm")."""
        Test.succeeded(self.command("host", action, *words))

    def quorum(self, host):
        """Whether a host's partition is quorate and how many members it has, as
        Corosync says there; None when it says nothing."""
        shown = self.run("timeout", "2", "corosync-quorumtool", "-s", host=host).stdout
        quorate = re.search(r"^Quorate: +(\w+)", shown, re.MULTILINE)
        members = re.search(r"^Nodes: +(\d+)", shown, re.MULTILINE)
        return (quorate[1] == "Yes", int(members[1])) if quorate and members else None

    def wait_for_quorum(self, expected, timeout_s=30):
        """Waits until hosts say what the dictionary has for them, for quorum()."""
        def is_so():
            return all(self.quorum(host) == it for host, it in expected.items())

        wait_until(is_so, timeout_s, f"quorum as in {expected}")

    def status(self):
        return json.loads(self.command("status", "--json").stdout)

    def log(self, sm=0):
        """What an opensm has logged so far."""
        path = self.folder / f"sm-{sm}" / "opensm.log"
        return path.read_text(encoding="utf-8", errors="replace")

    def down(self):
        return self.command("down")

    def _print_logs(self, n_lines=30):
        for path in sorted(self.folder.glob("sm-*/opensm.log")):
            text = path.read_text(encoding="utf-8", errors="replace")
            Test.note(f"the end of {path.relative_to(self.folder)}:")
            Test.note("\n".join(text.splitlines()[-n_lines:]))
