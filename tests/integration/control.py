# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A client of the control socket (include/triad/control.h): what triadctl gets, without
starting triadctl, which is tested as a program elsewhere."""

import contextlib
import socket
import struct
import subprocess

_HEADER = struct.Struct(">cBHI")
_VERSION = 1


def request(path, *words, timeout_s=60):
    """Sends a command and returns a CompletedProcess as if triadctl had run: output,
    messages and status; 1 when nobody answers."""
    words = [str(word) for word in words]
    payload = b"".join(word.encode() + b"\0" for word in words)
    answer = {b"O": [], b"E": [], b"P": []}
    status = 1
    try:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(timeout_s)
            connection.connect(str(path))
            # Who may not ask is told so before the request was read.
            with contextlib.suppress(BrokenPipeError):
                connection.sendall(
                    _HEADER.pack(b"R", _VERSION, 0, len(payload)) + payload)
            with connection.makefile("rb") as stream:
                status = _read_answer(stream, answer)
    except OSError as error:
        answer[b"E"].append(f"{path}: {error}\n".encode())
    output, messages = (b"".join(answer[kind]).decode() for kind in (b"O", b"E"))
    return subprocess.CompletedProcess(words, status, output, messages)


def _read_answer(stream, answer):
    """Collects the frames' texts by their type; returns the status."""
    while True:
        kind, _, _, size = _HEADER.unpack(_read(stream, _HEADER.size))
        data = _read(stream, size)
        if kind == b"X":
            return data[0]
        answer[kind].append(data)


def _read(stream, size):
    data = stream.read(size)
    if len(data) < size:
        raise ConnectionError("the answer was cut")
    return data
