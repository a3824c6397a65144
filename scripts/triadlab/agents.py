# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""triad-agents on nodes of a lab, the broker between them and the SMs, and what makes
the plugin their manager."""

import os
import shutil
import socket
import subprocess

from . import environment, opensm, state
from .errors import LabError, UsageError
from .nodes import MAX_SMS, usable_hosts

_BROKER = "nats-server"
_PROGRAM = "triad-agent"


def check(wishes, fabric, sm_nodes):
    """The nodes that agents run on, evenly spread over those without an SM."""
    if not wishes.agents:
        return []
    if wishes.plugin == "no":
        raise UsageError("--agents needs the plugin, which is their manager")
    if wishes.agents + len(sm_nodes) > MAX_SMS:
        raise UsageError(f"{wishes.agents} agents and {len(sm_nodes)} SMs: ibsim serves "
                         f"{MAX_SMS}, and commands")
    free = [node for node in usable_hosts(fabric) if node not in sm_nodes]
    if wishes.agents > len(free):
        raise UsageError(f"{wishes.agents} agents: the fabric has {len(free)} hosts "
                         "without an SM")
    environment.require_programs(_BROKER)
    return [free[i * len(free) // wishes.agents] for i in range(wishes.agents)]


# --- the broker ------------------------------------------------------------------

def start_broker(lab, variables):
    program = shutil.which(_BROKER, path=variables["PATH"])
    return subprocess.Popen(
        [program, "-a", "127.0.0.1", "-p", str(lab.broker_port), "-l",
         str(lab.path("broker.log"))], env=variables, cwd=lab.folder,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, start_new_session=True)


def broker_listens(lab):
    try:
        socket.create_connection(("127.0.0.1", lab.broker_port), 1).close()
    except OSError:
        return False
    return True


# --- configuration ---------------------------------------------------------------

def _keys(lab, mode):
    return {"mode": mode, "servers": f"nats://127.0.0.1:{lab.broker_port}",
            "fabric": "lab", "min_change": "0"}


def add_manager(lab, text):
    """Makes the SM of a triad.conf their manager, but for what the user's file has."""
    if lab.broker_port is None:
        return text
    return opensm.add_missing_keys(text, "collect", _keys(lab, "manager"))


def make(lab, index, node, perfmgr):
    """Writes the folder of an agent, whose [perfmgr] is that of the SM."""
    folder = lab.path(f"agent-{index}")
    folder.mkdir(exist_ok=True)
    agent = state.Agent(
        index=index, node=node.node_id, folder=str(folder),
        control_socket=f"{folder}/agent.sock",
        process=state.Started(f"{lab.token}/agent-{index}"))
    keys = _keys(lab, "agent") | {"name": node.node_id}
    text = opensm.add_missing_keys(perfmgr, "collect", keys)
    # No triadd keeps images beside agents of a lab.
    text = opensm.add_missing_keys(text, "history", {"dir": ""})
    text = opensm.add_state(text, f"{folder}/state")
    (folder / "agent.conf").write_text(
        opensm.add_socket(text, agent.control_socket), encoding="utf-8")
    return agent


def start(lab, agent, variables):
    program = environment.find_built(lab.builddir, _PROGRAM)
    if not program:
        raise LabError(f"{_PROGRAM} is not in {lab.builddir}: libibnetdisc-dev was missing "
                       "when it was configured (scripts/deps installs it)")
    os.makedirs(f"{agent.folder}/cwd", exist_ok=True)
    with open(f"{agent.folder}/agent.log", "ab") as log:
        return subprocess.Popen(
            [program, "--conf", f"{agent.folder}/agent.conf"],
            env=environment.attached(lab, agent.node, f"{agent.folder}/cwd",
                                     lab.preload) | lab.variables | variables,
            cwd=f"{agent.folder}/cwd", stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, start_new_session=True)
