# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""triadctl as a program: a plugin that is played here, pipes and terminals."""

import os
import pty
import shlex
import socket
import struct
import subprocess
import threading

from checks import succeeded, wait_until
from labs import BUILDDIR, SRCDIR


TRIADCTL = BUILDDIR / "triadctl"


# --- the plugin's part -------------------------------------------------------

def frame(kind, payload=b"", version=1):
    return struct.pack(">cBHI", kind, version, 0, len(payload)) + payload


OUTPUT = b"O"
MESSAGE = b"E"
PROGRESS = b"P"


def exit_frame(status):
    return frame(b"X", bytes([status]))


DONE = exit_frame(0)


class Plugin:
    """Listens on a socket; each connection gets its request read, which is kept in
    'requests' as a list of words, and then 'answer(connection)'.  An answer that is
    bytes is sent."""

    def __init__(self, scratch, answer, read_request=True, path=None):
        self.path = path or str(scratch.folder() / "triad.sock")
        self.requests = []
        self._answer = answer
        self._read_request = read_request
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self.path)
        self._listener.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        scratch.callback(self.stop)

    def stop(self):
        """Ends once the connection that is served, if any, is."""
        if self._thread.is_alive():
            self._listener.shutdown(socket.SHUT_RDWR)
            self._thread.join()
        self._listener.close()

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                try:
                    self._serve_one(connection)
                except (BrokenPipeError, ConnectionResetError):
                    pass

    def _serve_one(self, connection):
        if self._read_request:
            self.requests.append(read_request(connection))
        if callable(self._answer):
            self._answer(connection)
        else:
            connection.sendall(self._answer)


def read_exactly(connection, size):
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        assert piece, "the client went before its request was complete"
        data += piece
    return data


def read_request(connection):
    kind, version, reserved, size = struct.unpack(">cBHI", read_exactly(connection, 8))
    assert (kind, version, reserved) == (b"R", 1, 0), (kind, version, reserved)
    payload = read_exactly(connection, size)
    assert payload.endswith(b"\0"), payload
    return payload[:-1].decode().split("\0")


# --- running triadctl --------------------------------------------------------

def environment(**variables):
    kept = {name: value for name, value in os.environ.items()
            if name not in ("TRIAD_SOCKET", "NO_COLOR", "TERM")}
    return {**kept, "TERM": "xterm", "TRIAD_SETUP": str(SRCDIR / "cli" / "setup"),
            "TRIAD_LAB_PROGRAM": str(SRCDIR / "scripts" / "lab"), **variables}


def run(*arguments, env=None, **options):
    silent = {} if "input" in options else {"stdin": subprocess.DEVNULL}
    return subprocess.run([TRIADCTL, *map(str, arguments)], timeout=60, check=False,
                          env=env or environment(), **silent,
                          **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                             "text": True, **options})


def ask(plugin, *arguments, **options):
    return run("--socket", plugin.path, *arguments, **options)


def read_terminal(master):
    """All that was written to a terminal whose other side is closed."""
    data = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:  # EIO: nobody has the other side open
            return data
        if not piece:
            return data
        data += piece


def ask_on_terminal(scratch, plugin, *arguments, stream="stdout", env=None):
    """Runs with 'stream' on a terminal; returns the process and what that got."""
    master, slave = pty.openpty()
    scratch.callback(os.close, master)
    options = {stream: slave}
    try:
        process = ask(plugin, *arguments, env=env, **options)
    finally:
        os.close(slave)
    return process, read_terminal(master)


# --- tables (include/triad/table.h) ------------------------------------------

TABLE = b"T"
NUMBER, LONG, SPARE = 1, 2, 4
PLAIN, YELLOW, RED = 0, 1, 2


def record(kind, payload):
    return kind + struct.pack(">H", len(payload)) + payload


def text(value):
    return value.encode() + b"\0"


def begin(*columns, indent=""):
    """Columns are (title, flags) or (title, flags, JSON's name)."""
    packed = b"".join(bytes([column[1]]) + text(column[2] if len(column) > 2 else "") +
                      text(column[0]) for column in columns)
    return record(b"T", text(indent) + bytes([len(columns)]) + packed)


def row(*cells):
    """Cells are what people see; (that, value); or (that, value, color)."""
    packed = b""
    for cell in cells:
        cell = (cell,) if isinstance(cell, str) else cell
        shown, value, color = (cell + ("", PLAIN)[len(cell) - 1:])
        packed += bytes([color]) + text(shown) + text(value)
    return record(b"R", packed)


def note(line):
    return record(b"N", text(line))


def table(*records):
    """Frames with these records."""
    octets = b"".join(records)
    return b"".join(frame(TABLE, octets[at:at + 8192])
                    for at in range(0, len(octets), 8192))


# --- a terminal as people have them ------------------------------------------

class Terminal:
    """A shell in a tmux of its own, of this size, without configuration."""

    def __init__(self, scratch, columns, rows, env=None):
        self._socket = str(scratch.folder() / "tmux")
        self._env = env or environment()
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows,
                   "env", "PS1=$ ", "sh")
        scratch.callback(self._tmux, "kill-server")
        # One row is not tmux's own.
        self._tmux("set-option", "-g", "status", "off")
        self._tmux("resize-window", "-x", columns, "-y", rows)
        wait_until(lambda: "$" in self.shown(), what="a prompt")

    def _tmux(self, *words):
        return succeeded(subprocess.run(
            ["tmux", "-u", "-S", self._socket, *map(str, words)], env=self._env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
            check=False)).stdout

    def type(self, *words, then=""):
        self.type_line(shlex.join(map(str, words)) + then)

    def type_line(self, line, enter=True):
        self._tmux("send-keys", "-l", line)
        if enter:
            self._tmux("send-keys", "Enter")

    def clear_line(self):
        self._tmux("send-keys", "C-u")

    def press(self, *keys):
        self._tmux("send-keys", *keys)

    def resize(self, columns, rows):
        self._tmux("resize-window", "-x", columns, "-y", rows)

    def shown(self, history=False, colors=False):
        """What the screen has; with 'history', from the first line on.  A line that
        the terminal wrapped is two."""
        options = (["-S", "-"] if history else []) + (["-e"] if colors else [])
        return self._tmux("capture-pane", "-p", *options)

    def cursor(self):
        """(its row, whether it can be seen)"""
        row_text, flag = self._tmux("display-message", "-p",
                                    "#{cursor_y} #{cursor_flag}").split()
        return int(row_text), flag == "1"
