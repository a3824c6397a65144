# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Harm to the hosts of SMs, and care of them.

A host has the number of its SM, and two programs: "opensm" and "corosync"; "all" is both
or, where something dies or is started again, the whole node: its HCA loses its link, too.
What concerns opensm works in labs without a cluster as well.

Functions take a lab that state.load_required() or up.up() returned, and return when what
they do is done.  They keep that lab and lab.json up to date, also when several run at the
same time."""

import contextlib
import re
import signal
import time
from pathlib import Path

from . import cluster, environment, opensm, process, simulator, state
from .errors import LabError, UsageError

OPENSM, COROSYNC, ALL = PROGRAMS = ("opensm", "corosync", "all")

_TIMEOUT_S = 30
_POLL_S = 0.002

# What opensm logs when its port is an SM's.
_IS_BOUND = b"Setting IS_SM on port"


# --- what there is -----------------------------------------------------------

def _sm(lab, index):
    if not 0 <= index < len(lab.sms):
        raise UsageError(f"host {index}: the lab in {lab.folder} has SMs 0 to "
                         f"{len(lab.sms) - 1}")
    return lab.sms[index]


def _host(lab, index):
    _sm(lab, index)
    if not lab.hosts:
        raise UsageError(f"the lab in {lab.folder} has no hosts; lab up --cluster makes "
                         "them")
    return lab.hosts[index]


def programs(lab, index, what):
    """What lab.json knows of those programs of the host, by their names there."""
    found = {}
    if what in (OPENSM, ALL):
        found[_sm(lab, index).name] = _sm(lab, index).process
    if what == COROSYNC and not (lab.hosts and _host(lab, index).corosync):
        raise UsageError(f"the lab in {lab.folder} runs without Corosync")
    if what in (COROSYNC, ALL) and lab.hosts and _host(lab, index).corosync:
        found[f"corosync-{index}"] = _host(lab, index).corosync
    if not found:
        raise UsageError(f"{what}: a host has {', '.join(PROGRAMS)}")
    return found


def _alive(lab, index, what):
    """Their processes; at least one."""
    found = {name: record for name, it in programs(lab, index, what).items()
             if process.is_alive(record := it.record())}
    if not found:
        raise LabError(f"{what} of host {index} is dead; lab host start starts it again")
    return found


def _wait(condition, what, timeout_s=_TIMEOUT_S):
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise LabError(f"not within {timeout_s} s: {what}")
        time.sleep(_POLL_S)


# --- lab.json ----------------------------------------------------------------

@contextlib.contextmanager
def _saved(lab):
    """Gives the lab as lab.json has it, to be changed."""
    with state.locked(lab.folder, must_wait=True):
        saved = state.load_required(lab.folder)
        if saved.phase != state.UP:
            raise LabError(f"the lab in {lab.folder} is {saved.phase}; lab up starts one")
        yield saved
        saved.save()


def _set_unlinked(lab, index, is_unlinked):
    with _saved(lab) as saved:
        saved.sms[index].is_unlinked = is_unlinked
    lab.sms[index].is_unlinked = is_unlinked


def _launch(lab, index, name, begin):
    """Starts a program again, as 'lab up' did: with lab.json written before and
    after."""
    with _saved(lab) as saved:
        started = programs(saved, index, ALL)[name]
        if started.is_alive():
            raise LabError(f"{name} lives already")
        started.pid = started.start_time = None
        saved.save()
        child = begin({process.MARK: started.mark})
        record = process.record_of(child.pid)
        if record:
            started.pid, started.start_time = record.pid, record.start_time
    own = programs(lab, index, ALL)[name]
    own.pid, own.start_time = started.pid, started.start_time
    return child


# --- death and pauses --------------------------------------------------------

def signal_program(lab, index, what, number):
    """Sends a signal and doesn't wait for what it does; returns who got it."""
    found = _alive(lab, index, what)
    for record in found.values():
        process.signal_record(record, number)
    return found


def kill(lab, index, what=OPENSM):
    """SIGKILL; a whole node also loses its HCA's link.  When it returns, ibsim knows
    that the SM is gone; whoever needs no more than the signal uses signal_program()."""
    found = {} if _is_dead_node(lab, index, what) else _alive(lab, index, what)
    # Those say to ibsim what the killed ones can't any more.
    guardians = [child for it in found.values() for child in process.children_of(it)]
    for record in found.values():
        process.signal_record(record, signal.SIGKILL)
    if not process.wait_for_end([*found.values(), *guardians], _TIMEOUT_S):
        raise LabError(f"{', '.join(found)} lives after SIGKILL")
    if what == ALL and not lab.sms[index].is_unlinked:
        hca_link(lab, index, False)


def hca_link(lab, index, is_up):
    """The links of the host's HCA."""
    _ask_simulator(lab, f'{"ReLink" if is_up else "Unlink"} "{_sm(lab, index).node}"')
    _set_unlinked(lab, index, not is_up)


def _is_dead_node(lab, index, what):
    """Whether only the link is left to be cut."""
    return what == ALL and not lab.sms[index].is_unlinked and not any(
        it.is_alive() for it in programs(lab, index, ALL).values())


def pause(lab, index, what=OPENSM):
    """SIGSTOP."""
    found = signal_program(lab, index, what, signal.SIGSTOP)
    _wait(lambda: all(map(process.is_stopped, found.values())),
          f"{', '.join(found)} stopped")


def resume(lab, index, what=OPENSM):
    """SIGCONT."""
    found = signal_program(lab, index, what, signal.SIGCONT)
    _wait(lambda: not any(map(process.is_stopped, found.values())),
          f"{', '.join(found)} went on")


def _ask_simulator(lab, command):
    for _, answer, is_refused in simulator.Console(lab, _TIMEOUT_S).ask([command]):
        if is_refused:
            raise LabError(f"ibsim refused {command}: {answer}")


# --- life --------------------------------------------------------------------

def start(lab, index, what=OPENSM):
    """Starts what is dead of the host again, in the same folder with the same
    configuration."""
    dead = [name for name, it in programs(lab, index, what).items()
            if not it.is_alive()]
    if not dead and not (what == ALL and lab.sms[index].is_unlinked):
        raise LabError(f"{what} of host {index} lives already")
    if what == ALL and lab.sms[index].is_unlinked:
        hca_link(lab, index, True)
    if f"corosync-{index}" in dead:
        start_corosync(lab, index)
    if lab.sms[index].name in dead:
        start_opensm(lab, index)


def start_corosync(lab, index):
    """Returns when it answers, with a quorum or without."""
    host = _host(lab, index)
    child = _launch(lab, index, f"corosync-{index}", lambda mark: cluster.start_corosync(
        host, environment.plain(lab) | mark))
    _wait(lambda: cluster.quorum(host) or child.poll() is not None,
          f"Corosync of host {index} answered")
    _check_life(child, f"Corosync of host {index}", f"{host.folder}/corosync.log")


def start_opensm(lab, index, must_wait=True):
    """Returns when it has its port, or, if it must not wait, when it runs."""
    sm, host = _sm(lab, index), cluster.host_of(lab, index)
    log = Path(sm.log)
    offset = log.stat().st_size if log.exists() else 0
    entrance = cluster.entrance(host, f"{sm.folder}/cwd")
    child = _launch(lab, index, sm.name, lambda mark: opensm.start(
        sm, environment.opensm(lab, sm, host) | mark, entrance))
    if must_wait:
        _wait(lambda: _is_bound(log, offset) or child.poll() is not None,
              f"opensm of host {index} had its port")
        _check_life(child, f"opensm of host {index}", sm.log)
    return child


def _is_bound(log, offset):
    with open(log, "rb") as stream:
        # It may have been told not to keep what it logged before.
        stream.seek(min(offset, log.stat().st_size))
        return _IS_BOUND in stream.read()


def _check_life(child, what, log):
    if child.poll() is not None:
        raise LabError(f"{what} ended at once, with status {child.returncode}; see {log}")


# --- the network -------------------------------------------------------------

def link(lab, index, is_up):
    """The host's wire, at the bridge's end."""
    host = _host(lab, index)
    cluster.ip("-n", cluster.network(lab), "link", "set", cluster.port(host),
               "up" if is_up else "down")


def partition(lab, groups):
    """Hosts of different groups no longer hear each other; those that are in no group
    are one, too."""
    hosts = [_host(lab, index) for group in groups for index in group]
    if len({host.index for host in hosts}) < len(hosts):
        raise UsageError("a host can be in one group only")
    place = {index: number for number, group in enumerate(groups, 1) for index in group}
    bridges = _bridges(lab)
    for number in range(1, len(groups) + 1):
        if number not in bridges:
            cluster.add_bridge(lab, number)
    for host in lab.hosts:
        cluster.ip("-n", cluster.network(lab), "link", "set", cluster.port(host),
                   "master", f"br{place.get(host.index, 0)}")


def heal(lab):
    """All hosts hear each other again; a wire that is down stays so."""
    _host(lab, 0)
    partition(lab, [])


def _bridges(lab):
    shown = cluster.ip("-n", cluster.network(lab), "-o", "link", "show", "type", "bridge")
    return {int(number) for number in re.findall(r"^\d+: br(\d+):", shown, re.MULTILINE)}
