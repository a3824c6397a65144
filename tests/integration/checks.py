# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What tests check besides plain assertions: processes that ended, and waiting."""

import contextlib
import os
import re
import signal
import time

from triadlab.process import is_stopped, record_of, signal_record

_POLL_S = 0.02


def succeeded(process):
    """A CompletedProcess with status 0; returns it."""
    assert process.returncode == 0, \
        f"{process.args} returned {process.returncode}:\n{process.stdout}{process.stderr}"
    return process


def fits_columns(text, columns=80):
    """Whether no line is longer; but a path that needs a line may be."""
    return all(len(line) <= columns or "/" in line.split()[-1] for line in text.splitlines())


def mentions(text, words):
    """Whether a line of the text has these words, in their order, whatever stands between
    them: a message for people counts by its objects, values and key words."""
    def whole(word):
        return (r"\b" if re.match(r"\w", word) else "") + re.escape(word) + \
            (r"\b" if re.search(r"\w$", word) else "")
    return re.search(".*?".join(map(whole, words.split())), text) is not None


def lines_mention(text, *words):
    """Whether the text has as many lines, and each mentions its words."""
    lines = text.splitlines()
    return len(lines) == len(words) and all(map(mentions, lines, words))


def failed(process, status, words=""):
    """A CompletedProcess with this status, whose messages mention these words."""
    assert process.returncode == status and mentions(process.stderr or "", words), \
        (f"{process.args} returned {process.returncode} (expected {status}, "
         f"with {words!r}):\n{process.stdout}{process.stderr}")


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
