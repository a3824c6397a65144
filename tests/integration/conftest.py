# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What pytest is told about these tests: fixtures, reports, order."""

import contextlib
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest

# Tests may import what the scripts are made of.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

# Their assertions are to show both sides, too.
pytest.register_assert_rewrite(
    "agentlib", "checks", "ctllib", "electionlib", "labs", "pathlab", "portlib", "tablelib",
    "triadlib")

import labs  # noqa: E402


def pytest_configure(config):
    labs.Lab.is_kept = config.getoption("--keep-labs")
    # Programs under test inherit it; nohup ignores it.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Scratch(contextlib.ExitStack):
    """What a test leaves, and undoes when it is over: scratch.folder(),
    scratch.callback(), scratch.enter_context()."""

    def folder(self):
        """A new folder, removed after all that is undone before it."""
        folder = tempfile.mkdtemp(prefix="triad-test-")
        self.callback(shutil.rmtree, folder, True)
        return Path(folder)


@pytest.fixture
def scratch():
    with Scratch() as scratch:
        yield scratch


@pytest.fixture
def tmp_path():
    """A new folder, removed when the test is over.  pytest's own has a path that is too
    long for sockets, and stays."""
    with Scratch() as scratch:
        yield scratch.folder()


SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGPIPE, signal.SIGTERM)


@pytest.fixture(autouse=True)
def _same_environment():
    """No test changes the environment of the next one, or what signals do to it."""
    before = dict(os.environ)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)
    for name in set(os.environ) - set(before):
        del os.environ[name]
    os.environ.update(before)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    """A lab that several tests share is still up when one of them fails."""
    report = (yield).get_result()
    if report.when == "call" and report.failed:
        for name, value in item.funcargs.items():
            if isinstance(value, labs.Lab):
                report.sections.append((f"lab '{name}'", value.describe()))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Tests that share a fixture of their module run in one process, one after the other.
    Long ones go first, so that none begins when all others have ended."""
    for item in items:
        shared = [fixture.argname for name in item.fixturenames
                  for fixture in item._fixtureinfo.name2fixturedefs.get(name, ())
                  if fixture.scope == "module"]
        if shared:
            item.add_marker(pytest.mark.xdist_group(f"{item.module.__name__}.{shared[0]}"))
    items.sort(key=lambda item: item.get_closest_marker("long") is None)
