# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Builds Triad and runs its tests."""

import argparse
import atexit
import concurrent.futures
import functools
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
PLAIN, SANITIZED, THREADS = "build", "build-sanitize", "build-tsan"
# What is sanitized is linked in a quarter of the time so.
GOLD = ["LDFLAGS=-fuse-ld=gold"] if shutil.which("ld.gold") else []
# Addresses: compiled in half the time so; the others have the warnings that need the
# optimizer, and the plain one has the linker that users have.
CONFIGURE = {PLAIN: ["CFLAGS=-O2 -g1"],
             SANITIZED: ["--enable-sanitizers", *GOLD,
                         "CFLAGS=-O1 -g1 -Wno-format-truncation -Wno-maybe-uninitialized"],
             THREADS: ["--enable-sanitizers=thread", *GOLD, "CFLAGS=-O2 -g1"]}

# Without --full, races are looked for where several threads share most; only what that
# needs is built, which is nearly all that gets installed.
THREADS_TESTS = ["tests/unit/lib/test_task", "tests/unit/perfmgr/test_details",
                 "tests/unit/perfmgr/test_engine", "tests/unit/plugin/test_sm_control",
                 "tests/unit/qos/test_work_queue", "tests/unit/service/test_perf"]
THREADS_PROGRAMS = ["libosmtriad.la", "triadctl", "triad-agent", "triadd",
                    "tests/lab/liblabsim.la", "tests/lab/liblabumad.la",
                    "tests/lab/librecord.la", "tests/integration/path_ask"]

# Most tests in Python wait, they don't work: more of them run at once than there are
# processors.
TESTS_A_CPU = 3

# Some tests in C wait, too, and some of these begin late.
JOBS_A_CPU = 3

# What works all the time gives way to the tests that have clocks to follow; and what
# nothing waits for gives way to the build that more of these need.
BUILD_YIELD = ["nice", "-n", "5"]
YIELD = ["nice", "-n", "15"]

# Tests make and remove thousands of small files.  On a disk's file system that takes a
# quarter of the processor; in memory, next to nothing.
IN_MEMORY = 'mount -t tmpfs -o mode=1777 tests "$0" && TMPDIR=$0 exec "$@"'

# Where nothing is installed; all but the check itself.
BARE_MACHINE_STEPS = ["demo", "demos", "source", "blank", "read-only", "user", "packages",
                      "matrix"]

SHELL_SCRIPTS = ["autogen.sh", "cli/setup", "scripts/build", "scripts/check", "scripts/demo",
                 "scripts/deps", "scripts/name-folders", "scripts/page-build", "tests/link",
                 ".ci/run"]
C_SOURCES = ["*/*.[ch]", "*/*/*.[ch]", "*/*/*/*.[ch]"]

DESCRIPTION = """\
Installs missing packages, builds Triad twice, with warnings as errors, and runs the tests
that prove a change of the product: in build-sanitize/, which has the address and
undefined-behaviour sanitizers, the unit tests, simulations and fuzz corpora, those on stock
opensm and ibsim, and those of scripts; in build-tsan/, which has the sanitizer of threads,
some that have many threads.  Needs root, because ibsim and opensm do.
"""

EPILOG = """\
The last line is 'N passed, N failed, N skipped'.  Before it stand the tests that failed
and the ten slowest.  What tests wrote is in build*/check-*.log, and for other programs in
build*/check-*.xml (JUnit).

Example: scripts/check; to run one test see HACKING.md

Exit status: 0 all passed, 1 something failed, 2 usage.
"""


@dataclass
class Result:
    """What a part of the check found."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list[str] = field(default_factory=list)
    durations: list[tuple[float, str]] = field(default_factory=list)

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures
        self.durations += other.durations


def broken(text):
    return Result(failed=1, failures=[text])


_printing = threading.Lock()
_begin = time.monotonic()


def say(text):
    minutes, seconds = divmod(int(time.monotonic() - _begin), 60)
    with _printing:
        print(f"check {minutes:2}:{seconds:02}  {text}", flush=True)


def run_step(command, log, **options):
    """Runs a command with its output in a file of the build tree; whether it succeeded."""
    log.parent.mkdir(exist_ok=True)
    with open(log, "w", encoding="utf-8") as output:
        return subprocess.run(command, cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=output,
                              stderr=subprocess.STDOUT, check=False,
                              **options).returncode == 0


@functools.cache
def temporary_folder():
    """An empty folder; its name is short because paths of sockets are, and screens narrow."""
    folder = tempfile.mkdtemp(prefix="tc-", dir="/tmp")
    atexit.register(os.rmdir, folder)
    return folder


def in_memory(*command):
    """The command, with a folder in memory as TMPDIR that it alone sees; all else is where it
    was, so the checkout may be anywhere."""
    return ["unshare", "--mount", "sh", "-c", IN_MEMORY, temporary_folder(), *command]


def tail(log, n=30):
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(f"    {line}" for line in lines[-n:])


# --- building -------------------------------------------------------------------

def build(tree, *targets, first="all", prefix=()):
    """Configures and builds; an empty Result, or one with the failure."""
    say(f"{tree}: building")
    log = SOURCE / tree / "check-build.log"
    steps = [[*prefix, "scripts/build", "--dir", tree, "--make", first, "--enable-werror",
              "CC=ccache gcc", *CONFIGURE[tree]],
             [*prefix, "make", "-C", tree, "-j", str(os.cpu_count()), *targets]]
    # What another checkout compiled from the same text is taken from the cache.
    variables = os.environ | {"CCACHE_BASEDIR": str(SOURCE), "CCACHE_NOHASHDIR": "1"}
    if all(run_step(step, log, env=variables) for step in steps):
        say(f"{tree}: built")
        return Result()
    return broken(f"{tree} does not build; the end of {log}:\n{tail(log)}")


# --- tests in C -----------------------------------------------------------------

def count(text, word):
    found = re.findall(rf"^# {word}: +(\d+)$", text, re.MULTILINE)
    return int(found[-1]) if found else 0


def test_c(tree, *what):
    """The unit tests, simulations and fuzz corpora, by automake."""
    say(f"{tree}: tests in C")
    log = SOURCE / tree / "check-c.log"
    run_step(in_memory(*YIELD, "make", "-C", tree, *(what or ["check"]), "-j",
                       str(JOBS_A_CPU * os.cpu_count())), log)
    text = log.read_text(encoding="utf-8", errors="replace")
    if not count(text, "TOTAL"):
        return broken(f"{tree}: the tests in C did not run; the end of {log}:\n{tail(log)}")
    result = Result(count(text, "PASS"), count(text, "FAIL") + count(text, "ERROR"),
                    count(text, "SKIP"))
    result.failures = [f"{tree}: {line}" for line in
                       re.findall(r"^(?:FAIL|ERROR): (.*)", text, re.MULTILINE)]
    say(f"{tree}: tests in C: {result.passed} passed, {result.failed} failed")
    return result


# --- tests in Python --------------------------------------------------------------

_PERCENT = re.compile(r"\[ *(\d+)%\]$")
_FAILED = re.compile(r"^FAILED at once: (.*)")


def show_progress(tree, line):
    """Tells what a line of pytest's means, if anything."""
    if match := _PERCENT.search(line):
        say(f"{tree}: {match[1]} % of the tests in Python")
    elif match := _FAILED.search(line):
        say(f"{tree}: FAILED {match[1]}")


def test_python(tree, selection, variables, n_at_once):
    """Those of tests/integration that a marker expression selects."""
    say(f"{tree}: tests in Python")
    name = SOURCE / tree / "check-python"
    log, report = name.with_suffix(".log"), name.with_suffix(".xml")
    report.unlink(missing_ok=True)
    # Not -v: with it execnet may start workers in threads that can't handle signals.
    # A worker that died is not replaced: with --dist=loadgroup all would then wait for ever.
    command = in_memory("pytest-3", "-n", str(n_at_once), "--max-worker-restart=0",
                        f"--junitxml={report}", "-m", selection)
    with open(log, "w", encoding="utf-8") as output, subprocess.Popen(
            command, cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
            env=os.environ | variables | {"TRIAD_BUILDDIR": str(SOURCE / tree)}) as pytest:
        for line in pytest.stdout:
            output.write(line)
            show_progress(tree, line)
    if not report.exists():
        return broken(f"{tree}: pytest did not run; the end of {log}:\n{tail(log)}")
    result = read_junit(tree, report)
    if any("crashed while running" in text for text in result.failures):
        # Only there does a worker say why it died.
        result.failures.append(f"{tree}: the end of {log}:\n{tail(log, 100)}")
    if pytest.returncode and not result.failed:
        result.add(broken(f"{tree}: pytest ended with {pytest.returncode}; the end of "
                          f"{log}:\n{tail(log)}"))
    say(f"{tree}: tests in Python: {result.passed} passed, {result.failed} failed")
    return result


def read_junit(tree, report):
    result = Result()
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name = f"{case.get('classname').rsplit('.')[-1]}.py::{case.get('name')}"
        result.durations.append((float(case.get("time")), f"{tree}: {name}"))
        failure = next((case.find(kind) for kind in ("failure", "error")
                        if case.find(kind) is not None), None)
        if failure is not None:
            result.failed += 1
            result.failures.append(f"{tree}: {name}: {failure.get('message', '')[:300]}")
        elif case.find("skipped") is not None:
            result.skipped += 1
        else:
            result.passed += 1
    return result


# --- the rest ---------------------------------------------------------------------

def check_one(what, *command):
    """One command, one test."""
    log = SOURCE / SANITIZED / "check-one.log"
    if run_step([*YIELD, *command], log):
        return Result(passed=1)
    return broken(f"{what}:\n{tail(log)}")


def check_no_programs():
    """No built file is kept among the sources: packages are refused for it."""
    if not (SOURCE / ".git").exists():
        return Result(skipped=1)
    names = subprocess.run(["git", "-c", f"safe.directory={SOURCE}", "ls-files", "-z"],
                           cwd=SOURCE, capture_output=True, text=True, check=True).stdout
    built = []
    for name in filter(None, names.split("\0")):
        path = SOURCE / name
        if path.is_file() and path.open("rb").read(4) == b"\x7fELF":
            built.append(name)
    return broken(f"built files among the sources: {' '.join(built)}") if built \
        else Result(passed=1)


def check_sources():
    result = check_one("shellcheck found mistakes in scripts", "shellcheck",
                       *SHELL_SCRIPTS)
    sources = [path for pattern in C_SOURCES
               for path in sorted(glob.glob(pattern, root_dir=SOURCE))
               if not path.startswith(("build", "_build"))]
    result.add(check_one("some code is not laid out as clang-format does it",
                         "clang-format", "--dry-run", "-Werror", *sources))
    result.add(check_one("a requirement without a test", "scripts/rows"))
    result.add(check_no_programs())
    return result


def check_bare_machine():
    say("bare machine")
    log = SOURCE / PLAIN / "check-bare-machine.log"
    if run_step([*YIELD, "scripts/bare-machine", *(word for step in BARE_MACHINE_STEPS
                                                   for word in ("--step", step))], log):
        return Result(passed=len(BARE_MACHINE_STEPS))
    return broken(f"scripts/bare-machine failed; the end of {log}:\n{tail(log)}")


def check_storms(options):
    """Long storms over simulated elections and collectors, which the tests in C have short
    ones of.  Always the same ones without --soak: what a change breaks is then found
    again."""
    seed = int(time.time()) if options.soak else 0
    seconds = 10_000_000 if options.soak else 1_000_000
    sim = f"{PLAIN}/tests/sim"
    say(f"storms from seed {seed}")
    words = ("--seconds", str(seconds), "--seed", str(seed))
    result = check_one("election_storm --run N repeats a run that failed",
                       f"{sim}/election_storm", *words)
    result.add(check_one("claims_storm --run N repeats a run that failed",
                         f"{sim}/claims_storm", *words))
    result.add(check_one("64 agents do not settle in time among 48,000 nodes",
                         f"{sim}/claims_storm", "--measure"))
    result.add(check_one("gather_storm --run N repeats a run that failed",
                         f"{sim}/gather_storm", "--runs", str(seconds // 4000), "--seed",
                         str(seed)))
    result.add(check_one("tests/model/run says which model does not hold",
                         "tests/model/run"))
    if options.soak:
        result.add(check_one("totals of a million ports are wrong",
                             f"{sim}/gather_storm", "--million"))
    return result


# --- fuzzing ------------------------------------------------------------------------

def fuzz(options):
    """Each target of libFuzzer for some seconds, beside the other work; always the same
    inputs at first without --soak: what a change breaks is then found again."""
    seconds = 600 if options.soak else 30
    log = SOURCE / PLAIN / "check-fuzz.log"
    log.parent.mkdir(exist_ok=True)
    command = [*YIELD, "scripts/fuzz", "--json", "--seconds", str(seconds), "--seed",
               "0" if options.soak else "1"]
    with open(log, "w", encoding="utf-8") as output, subprocess.Popen(
            command, cwd=SOURCE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stderr:
            output.write(line)
            if line.startswith("fuzz: "):
                say(line.strip())
        answer = process.stdout.read()
        output.write(answer)
    if not answer:
        return broken(f"the fuzz targets did not run; the end of {log}:\n{tail(log)}")
    result = Result()
    for row in json.loads(answer)["targets"]:
        result.add(broken(f"{row['target']}: {row['why']}; {row['replay']}")
                   if row["failed"] else Result(passed=1))
    say(f"fuzz: {result.passed} passed, {result.failed} failed")
    return result


# --- the order of all --------------------------------------------------------------

def check_plain(options, variables, n_at_once):
    """All that needs build/: what works before what waits."""
    result = build(PLAIN, "lab-programs", prefix=BUILD_YIELD)
    if result.failed:
        return result
    result.add(test_c(PLAIN))
    # These begin later than those of the sanitized build, end last, and are alone in the end.
    result.add(test_python(PLAIN, "", variables, n_at_once * 4 // 3))
    result.add(check_storms(options))
    return result


def check_threads(options, variables, n_at_once):
    """Races between threads."""
    if options.is_full:
        result = build(THREADS, "lab-programs", prefix=YIELD)
        tests, selection = [], "threads"
    else:
        result = build(THREADS, *THREADS_PROGRAMS, *THREADS_TESTS, first="Makefile",
                       prefix=YIELD)
        # check-TESTS alone would build all programs for tests first.
        tests = ["check-TESTS", f"TESTS={' '.join(THREADS_TESTS)}", "check_PROGRAMS=",
                 "check_LTLIBRARIES="]
        selection = "threads_short"
    if not result.failed:
        result.add(test_c(THREADS, *tests))
        result.add(test_python(THREADS, selection, variables, n_at_once))
    return result


def check(options):
    variables = {"TRIAD_FULL": "1"} if options.is_full else {}
    variables |= {"TRIAD_SOAK": "1"} if options.soak else {}
    n_at_once = TESTS_A_CPU * os.cpu_count() // (2 if options.is_full else 1)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        # configure leaves a processor free.
        sources = pool.submit(check_sources)
        # First of all, because the tests that take longest need it.
        result = build(SANITIZED, "lab-programs")
        result.add(sources.result())
        if result.failed:
            return result
        # Tests in Python mostly wait; what works all the time fills the processors.
        parts = [pool.submit(test_python, SANITIZED,
                             "not scripts" if options.is_full else "not full", variables,
                             n_at_once),
                 pool.submit(test_c, SANITIZED)]
        if options.is_full:
            parts += [pool.submit(check_plain, options, variables, n_at_once),
                      pool.submit(fuzz, options)]
        else:
            parts.append(pool.submit(check_threads, options, variables, 3))
        for part in parts:
            result.add(part.result())
    # A race needs no busy machine to be seen, and programs are ten times as slow.
    if options.is_full:
        result.add(check_threads(options, variables, n_at_once))
    # With the machine to itself: it installs and builds much, and its labs have the host's
    # network.
    if options.is_full:
        result.add(check_bare_machine())
    return result


def report(result):
    print("\nThe slowest tests:")
    for seconds, name in sorted(result.durations, reverse=True)[:10]:
        print(f"{seconds:8.1f} s  {name}")
    if result.failures:
        print("\nWhat failed:")
        for failure in result.failures:
            print(f"  {failure}")
    print(f"\n{result.passed} passed, {result.failed} failed, {result.skipped} skipped",
          flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="check", description=DESCRIPTION, epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true",
                        help="everything, and in a third build without "
                             "sanitizers, too: demos, benchmarks, packages, the browser; "
                             "long storms, libFuzzer (scripts/fuzz), and the long forms "
                             "of tests that have one of minutes; and what the documents say, on "
                             "a bare machine (scripts/bare-machine)")
    parser.add_argument("--soak", action="store_true",
                        help="the same with forms of hours; the storms, ten million "
                             "seconds of them, begin with another number each time, which "
                             "is printed")
    options = parser.parse_args()
    options.is_full = options.full or options.soak
    return options


def main():
    options = parse_arguments()
    if re.search(r"\s", str(SOURCE)):
        print(f"check: {SOURCE} has a blank in its name, where nothing can be built: move it",
              file=sys.stderr)
        return 1
    if subprocess.run([SOURCE / "scripts" / "deps"], check=False).returncode:
        return 1
    result = check(options)
    report(result)
    return 1 if result.failed else 0


if __name__ == "__main__":
    sys.exit(main())
