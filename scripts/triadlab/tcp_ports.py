# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""TCP ports for programs that are told where to listen."""

import random
import socket
from pathlib import Path

from .errors import LabError

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 10000
_TRIES = 100


def free_port():
    """One where nothing listens, on any address.  It is not of those that the kernel
    gives to connections: one of these could have it before the program listens."""
    end = int(_RANGE.read_text(encoding="ascii").split()[0])
    for _ in range(_TRIES):
        port = random.SystemRandom().randrange(_LOWEST, max(end, _LOWEST + 1000))
        with socket.socket(socket.AF_INET6) as probe:
            try:
                probe.bind(("::", port))
            except OSError:
                continue
        return port
    raise LabError(f"no TCP port from {_LOWEST} to {end} is free")


def free_address():
    return f"127.0.0.1:{free_port()}"
