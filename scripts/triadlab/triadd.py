# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""triadd beside the SMs and agents of a lab: it serves what they know."""

import re
import subprocess
from pathlib import Path

from . import cluster, environment, opensm, state
from .errors import LabError

_PROGRAM = "triadd"
_ENDING = ".triadd"
# What it does: section, key, its value, and the words of the log that say so, or why not.
_WORK = (("prometheus", "listen", r"\S", " prometheus: "), ("web", "listen", r"\S", " web: "),
         ("alerts", "webhook", r"\S", ""), ("profile", "file", r"\S", ""),
         ("history", "dir", r"\S", ""), ("collect", "mode", "manager", ""))


def work(text):
    """What triadd is to do for a triad.conf: the words that its log then has."""
    return [words for section, key, value, words in _WORK
            if re.search(rf"^[ \t]*{key}[ \t]*=[ \t]*{value}", opensm.section_of(text, section),
                         re.MULTILINE)]


def socket_of(control_socket):
    """What it asks, beside triadctl's socket."""
    return control_socket.removesuffix(".sock") + _ENDING


def make(lab, owner):
    """For an SM or an agent; not started yet."""
    return state.Triadd(owner=owner.name, socket=socket_of(owner.control_socket),
                        log=f"{owner.folder}/triadd.log",
                        process=state.Started(f"{lab.token}/triadd-{owner.name}"))


def start(lab, triadd, variables):
    """In the network of the host, if the SM has one of its own."""
    program = environment.find_built(lab.builddir, _PROGRAM)
    if not program:
        raise LabError(f"{_PROGRAM} is not in {lab.builddir}: a library was missing when "
                       "it was configured (scripts/deps installs all)")
    index = next((sm.index for sm in lab.sms if sm.name == triadd.owner), None)
    entrance = cluster.entrance(cluster.host_of(lab, index), lab.folder) \
        if index is not None else []
    with open(triadd.log, "ab") as log:
        return subprocess.Popen(
            [*entrance, program, "--socket", triadd.socket],
            env=environment.plain(lab) | lab.variables | variables, cwd=lab.folder,
            stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            start_new_session=True)


def is_ready(log, wanted):
    """Whether its log has said of all work() that it is done, or why not."""
    path = Path(log)
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    return all(words in text for words in [": serves for ", *wanted])

