# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What tests check besides plain assertions: processes that ended, and waiting."""

import contextlib
import os
import signal
import time

from triadlab.process import is_stopped, record_of, signal_record

_POLL_S = 0.02


def succeeded(process):
    """A CompletedProcess with status 0; returns it."""
    assert process.returncode == 0, \
        f"{process.args} returned {process.returncode}:\n{process.stdout}{process.stderr}"
    return process


def failed(process, status, part=""):
    """A CompletedProcess with this status and this part of its messages."""
    assert process.returncode == status and part in (process.stderr or ""), \
        (f"{process.args} returned {process.returncode} (expected {status}, "
         f"with {part!r}):\n{process.stdout}{process.stderr}")


@contextlib.contextmanager
def stopped(pid):
    """Within it the process stands still, all its threads."""
    record = record_of(pid)
    os.kill(pid, signal.SIGSTOP)
    try:
        wait_until(lambda: is_stopped(record), 30, f"process {pid} stopped")
        yield
    finally:
        signal_record(record, signal.SIGCONT)


def wait_until(predicate, timeout_s=10, what="condition"):
    """Polls until the predicate gives something true, and returns that.  'what' is for the
    message: a text, or a function that makes it then."""
    deadline = time.monotonic() + timeout_s
    while not (result := predicate()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what() if callable(what) else what}: "
                                 f"not within {timeout_s} s")
        time.sleep(_POLL_S)
    return result
