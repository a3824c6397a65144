# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Runs commands against a lab."""

import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass

from . import cluster, environment, netfile, nodes
from .errors import LabError, UsageError

# They reach the plugin through sockets and files.  The library that leads to ibsim
# would only be in their way.
NOT_ATTACHED = ("triadctl", "curl", "promtool")


@dataclass(frozen=True)
class Call:
    """How to start a command: the arguments of os.execve() and subprocess.Popen()."""

    program: str
    command: list[str]
    variables: dict[str, str]


def run(lab, command, node=None, sm_index=None, host_index=None):
    """Runs the command and returns its exit status, as a shell would; does not
    return for commands that need not be attached to the fabric.  On a host, node and
    SM are the host's unless others are named."""
    if not is_attached(command):
        call = prepare(lab, command, None, node, sm_index, host_index)
        os.execve(call.program, call.command, call.variables)
    with tempfile.TemporaryDirectory(prefix="run-", dir=lab.folder) as scratch:
        call = prepare(lab, command, scratch, node, sm_index, host_index)
        return _run_and_wait(call, scratch)


def is_attached(command):
    """Whether it is led to the fabric."""
    return os.path.basename(command[0]) not in NOT_ATTACHED


def prepare(lab, command, scratch, node=None, sm_index=None, host_index=None):
    """How to start the command.  One that is attached to the fabric needs a folder of
    its own to work in, 'scratch': what leads it there writes files, and umad2sim cleans
    up only when the program ends by itself."""
    host = _host(lab, host_index)
    if host:
        node = node or lab.sms[host_index].node
    if sm_index is None:
        sm_index = host_index or 0
    if not is_attached(command):
        variables = environment.plain(lab)
    elif lab.simulator is None or not lab.simulator.is_alive():
        raise LabError(f"the lab in {lab.folder} does not run; lab up starts one")
    else:
        variables = environment.attached(lab, _node_id(lab, node), scratch, host=host)
    variables |= {"TRIAD_LAB": lab.folder,
                  "TRIAD_SOCKET": _control_socket(lab, sm_index)}
    program = _find(command[0], variables)
    if host:
        command = [*cluster.entrance(host, scratch or os.getcwd()), program,
                   *command[1:]]
        program = _find(command[0], variables)
    return Call(program, command, variables)


def _host(lab, index):
    if index is None:
        return None
    if not 0 <= index < len(lab.hosts):
        raise UsageError(f"--host {index}: the lab in {lab.folder} has {len(lab.hosts)} "
                         "hosts, numbered from 0; lab up --cluster makes them")
    return lab.hosts[index]


def _control_socket(lab, sm_index):
    if not 0 <= sm_index < len(lab.sms):
        raise UsageError(f"--sm {sm_index}: the lab in {lab.folder} has SMs 0 to "
                         f"{len(lab.sms) - 1}")
    return lab.sms[sm_index].control_socket


def _node_id(lab, name):
    if name is None:
        return lab.run_node
    return nodes.find(netfile.read(lab.net), name).node_id


def _find(name, variables):
    path = shutil.which(name, path=variables["PATH"])
    if path is None:
        raise CommandNotFound(f"{name}: there is no such command in {variables['PATH']}"
                              if "/" not in name else f"{name}: cannot be run")
    return os.path.abspath(path)


class CommandNotFound(LabError):
    """Told like a shell does."""

    exit_status = 127


def _run_and_wait(call, folder):
    """A terminal sends its signals to the child itself; others are passed on, those too
    that come before the child is known here, though it runs."""
    child, early = None, []

    def pass_on(number, _frame):
        if child:
            child.send_signal(number)
        else:
            early.append(number)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, pass_on)
    child = subprocess.Popen(call.command, executable=call.program, env=call.variables,
                             cwd=folder)
    # Not before: the child would ignore them, too.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    for number in early:
        child.send_signal(number)
    status = child.wait()
    return status if status >= 0 else 128 - status
