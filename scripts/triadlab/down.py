# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Ends labs, whatever state they are in."""

import shutil
from pathlib import Path

from . import cluster, opensm, process, state, triadd

# opensm with MADs on the way may take long to notice that it shall end.
_GRACE_S = 5


def end(lab):
    """Ends what lives of a lab: triadds, agents, the SMs, then Corosync, then the rest.  Returns their
    names."""
    alive = {name: record for name, it in lab.processes().items()
             if process.is_alive(record := it.record())}
    for names in ("triadd-", "agent-", "sm-", "corosync-", ""):
        process.end([record for name, record in alive.items()
                     if name.startswith(names)], _GRACE_S)
    return list(alive)


def down(folder):
    """Ends the lab in the folder.  Returns it and the names of the processes that
    were ended; None when there is nothing to do."""
    if state.load(folder) is None:
        return None
    with state.locked(folder):
        lab = state.load(folder)
        ended = end(lab)
        cluster.remove_network(lab)
        _remove_endpoints(lab)
        was_down = lab.phase == state.DOWN
        lab.phase = state.DOWN
        lab.save()
    return None if was_down and not ended else (lab, ended)


def _remove_endpoints(lab):
    """Sockets, FIFOs and what commands that were killed left."""
    paths = [lab.path("sim.in")]
    for sm in lab.sms:
        paths += [Path(sm.control_socket), Path(opensm.console_fifo(sm))]
        shutil.rmtree(Path(sm.folder, "cwd"), ignore_errors=True)
    paths += [Path(agent.control_socket) for agent in lab.agents]
    paths += [Path(triadd.socket_of(it.control_socket)) for it in [*lab.sms, *lab.agents]]
    for path in paths:
        if path.is_socket() or path.is_fifo():
            path.unlink(missing_ok=True)
    for path in Path(lab.folder).glob("run-*"):
        shutil.rmtree(path, ignore_errors=True)
