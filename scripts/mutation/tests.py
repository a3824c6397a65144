# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Runs one test program, or one file of integration tests."""

import dataclasses
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from . import process
from .errors import MutateError

PROGRAM_LIMIT_S = 120
INTEGRATION_LIMIT_S = 600
_PYTHON = "/usr/bin/python3"
_N_AT_ONCE = "4"  # of a file's cases


@dataclasses.dataclass
class Outcome:
    """'failure' says in words what failed; it is empty when the test passed. 'cases'
    are those that failed, to be run again."""

    failure: str
    cases: list
    seconds: float


def environment(scratch):
    """What 'make check' sets for tests."""
    shown = subprocess.run(
        ["sh", "-c", f"{scratch.text_of('AM_TESTS_ENVIRONMENT')} env -0"], check=True,
        text=True, stdout=subprocess.PIPE).stdout
    return dict(it.split("=", 1) for it in shown.split("\0") if it)


def _run(scratch, command, name, limit_s):
    """Runs a test with a folder for temporary files, which is removed afterwards with
    the labs that are left in it."""
    folder = tempfile.mkdtemp(prefix="mutate-")
    os.chmod(folder, 0o1777)  # like /tmp: some tests become another user
    try:
        return process.run(
            command, scratch.logs / (name.replace("/", "-") + ".log"), limit_s,
            scratch.build, {**environment(scratch), "TMPDIR": folder},
            limit_memory=not scratch.sanitize)
    finally:
        for lab in Path(folder).rglob("lab.json"):
            subprocess.run([scratch.source / "scripts/lab", "down", "--dir", lab.parent],
                           check=False, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=60)
        shutil.rmtree(folder, ignore_errors=True)


# --- TAP ---------------------------------------------------------------------

_NOT_OK = re.compile(r"^not ok \d+(?: - )?(\S*)", re.MULTILINE)


def _tap_failure(result):
    """What a program's TAP says of failure, as automake's driver would judge it."""
    if result.timed_out:
        return "time-out"
    if found := _NOT_OK.search(result.output):
        return found[1].rstrip(":").rpartition(":")[2] or "not ok"
    plan = re.search(r"^1\.\.(\d+)", result.output, re.MULTILINE)
    n_run = len(re.findall(r"^ok ", result.output, re.MULTILINE))
    if result.status:
        return f"exit status {result.status}"
    if not plan or int(plan[1]) != n_run:
        return "ended early"
    return ""


def run_program(scratch, name):
    """A C program: a unit test, a simulation, the replay of a fuzz target."""
    result = _run(scratch, [scratch.build / name], name, PROGRAM_LIMIT_S)
    return Outcome(_tap_failure(result), [], result.seconds)


# --- integration tests -------------------------------------------------------

def run_integration_file(scratch, name, cases=()):
    """A file of integration tests, or these cases of it; ends at the first failure."""
    path = scratch.source / name
    what = [f"{path}::{case}" for case in cases] or [path]
    result = _run(scratch, [_PYTHON, "-m", "pytest", "-x", "-n", _N_AT_ONCE, "-rfE", "-p",
                            "no:cacheprovider", *what], name, INTEGRATION_LIMIT_S)
    failure, failed = _pytest_failure(result, name)
    return Outcome(failure, [case for case in failed if case], result.seconds)


def _pytest_failure(result, name):
    if result.timed_out:
        return "time-out", []
    if result.status == 0:
        return "", []
    if result.status in (4, 5) or "No module named pytest" in result.output:
        raise MutateError(f"pytest could not run {name}:\n{result.output[-2000:]}")
    failed = re.findall(r"^(?:FAILED|ERROR) [^\s:]+::(.+?)(?: - .*)?$", result.output,
                        re.MULTILINE)
    return failed[0] if failed else f"exit status {result.status}", failed
