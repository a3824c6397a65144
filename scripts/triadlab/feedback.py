# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a user is told while a lab starts, and when it fails to."""

import contextlib
import sys
import time
from pathlib import Path


def tail(path, n_lines=15):
    """The last lines of a file, indented, for an error message."""
    with contextlib.suppress(OSError):
        lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
        return "".join(f"\n    {line}" for line in lines[-n_lines:]) or "\n    (empty)"
    return "\n    (missing)"


class Progress:
    """Says on standard error what is being waited for: at once on a terminal,
    else only when it takes more than two seconds, and never when it is quiet."""

    _PATIENCE_S = 2

    def __init__(self, is_quiet=False):
        self._is_quiet = is_quiet
        self._pending = []
        self._begin = time.monotonic()

    def say(self, text):
        self._pending.append(text)
        self.tick()

    def tick(self):
        waited = time.monotonic() - self._begin
        if self._is_quiet or not sys.stderr.isatty() and waited < self._PATIENCE_S:
            return
        for text in self._pending:
            print(f"lab: {text}", file=sys.stderr, flush=True)
        self._pending.clear()

    @staticmethod
    def warn(text):
        print(f"lab: {text}", file=sys.stderr, flush=True)
