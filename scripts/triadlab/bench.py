# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What benchmarks share: the fabric that they measure on, and a lab that ends."""

import contextlib
import subprocess
import sys
from pathlib import Path

from . import down, up

_GEN_FABRIC = Path(__file__).resolve().parent.parent / "gen-fabric"


def make_net(folder, hosts):
    """A fat tree of 36-port switches, the smallest that holds the hosts."""
    path = folder / f"{hosts}.net"
    levels = "2" if hosts <= 648 else "3"
    subprocess.run([sys.executable, str(_GEN_FABRIC), "fat-tree", "--levels", levels,
                    "--radix", "36", "--hosts", str(hosts), "-o", str(path)],
                   check=True)
    return str(path)


@contextlib.contextmanager
def lab(folder, net, builddir, **wishes):
    running, _ = up.up(up.Wishes(folder=folder, net=net, builddir=builddir, **wishes))
    try:
        yield running
    finally:
        down.down(folder)
