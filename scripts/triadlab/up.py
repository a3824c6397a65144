# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Starts labs: ibsim, the hosts of a cluster, then opensm on one node after the
other."""

from __future__ import annotations  # 'int | None' before Python 3.10

import contextlib
import os
import secrets
import shutil
import signal
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from . import agents, cluster, environment, netfile, nodes, opensm, process, simulator, \
    state, tcp_ports, triadd
from .down import end
from .errors import LabError
from .feedback import Progress, tail
from .site import Site

# sun_path of a UNIX socket, without the 0 at its end.
_MAX_SOCKET_PATH = 107

# More than the 4 that opensm starts with: large fabrics are up sooner.
_WIRE_SMPS = 32

_POLL_S = 0.02

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(Exception):
    """A signal asks this process to end."""

    def __init__(self, number):
        super().__init__(signal.strsignal(number))
        self.exit_status = 128 + number


@dataclass
class Wishes:
    """What 'lab up' was asked for; the texts are those of the user's files."""

    folder: Path
    net: str
    sms: list[str] = field(default_factory=list)
    opensm_conf: str = ""
    triad_conf: str = ""
    plugin: str = "yes"
    builddir: str | None = None
    console: str = "off"
    umad2sim: bool = False
    preload: list[str] = field(default_factory=list)
    cluster: str = cluster.NONE
    agents: int = 0
    # True: a triadd beside each SM, also where nothing of triad.conf is to be served yet.
    triadd: bool = False
    retrain: bool = False
    withhold: bool = False
    # The fabric that was read from 'net' or made of it; None: read it.
    fabric: netfile.Fabric | None = None
    # What is taken of a site's SM.
    site: Site | None = None
    quiet: bool = False
    # Typed into ibsim's console before the first SM starts.
    before_sms: list[str] = field(default_factory=list)
    timeout_s: float | None = None
    # Added to the environment of opensm and triad-agent.
    variables: dict[str, str] = field(default_factory=dict)


def up(wishes):
    """Returns the lab, running, with what the SMs logged."""
    environment.require_programs()
    cluster.check(wishes.folder, wishes.cluster, wishes.umad2sim)
    opensm.check_user_conf(wishes.opensm_conf)
    fabric = wishes.fabric or netfile.read(wishes.net)
    sm_nodes = nodes.choose_for_sms(fabric, wishes.sms)
    agent_nodes = agents.check(wishes, fabric, sm_nodes)
    wishes.folder.mkdir(parents=True, exist_ok=True)
    with state.locked(wishes.folder):
        _refuse_live_lab(wishes.folder)
        state.clean(wishes.folder)
        return _Start(wishes, fabric, sm_nodes, agent_nodes).run()


def _refuse_live_lab(folder):
    lab = state.load(folder)
    if lab and any(it.is_alive() for it in lab.processes().values()):
        raise LabError(f"{folder} has a lab that runs; end it with "
                       f"lab down --dir {folder}, or take another folder")


@contextlib.contextmanager
def _signals_raised():
    """Turns signals that would end this process at once into exceptions."""
    def interrupt(number, _frame):
        raise Interrupted(number)

    previous = {number: signal.signal(number, interrupt) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class _Start:
    """One 'lab up': everything between an empty folder and a fabric that works.

    SMs are started one after the other and have falling priorities, so that the
    first one is master unless the user's opensm.conf says otherwise."""

    def __init__(self, wishes, fabric, sm_nodes, agent_nodes):
        self._wishes = wishes
        self._fabric = fabric
        self._sm_nodes = sm_nodes
        self._agent_nodes = agent_nodes
        self._progress = Progress(wishes.quiet)
        self._logs = []
        self._children = {}
        timeout_s = wishes.timeout_s or 120 + len(fabric.nodes) / 100
        self._deadline = time.monotonic() + timeout_s
        builddir = environment.find_builddir(wishes.builddir)
        preload = environment.sanitizer(builddir)
        self._lab = state.Lab(
            folder=str(wishes.folder), token=secrets.token_hex(6),
            net=str(wishes.folder / "fabric.net"), n_nodes=len(fabric.nodes),
            run_node=nodes.choose_for_commands(fabric, sm_nodes).node_id,
            builddir=builddir, port_library=self._find_port_library(builddir),
            preload=[*wishes.preload, *preload],
            variables=environment.to_keep() | wishes.variables,
            cluster=wishes.cluster, retrain=wishes.retrain,
            withhold=wishes.withhold)

    def run(self):
        with _signals_raised():
            try:
                self._prepare()
                self._start_simulator()
                self._start_hosts()
                self._start_broker()
                for index in range(len(self._sm_nodes)):
                    self._start_sm(index)
                self._wait(self._is_settled, "the SMs agreed on a master")
                for index, node in enumerate(self._agent_nodes):
                    self._start_agent(index, node)
                self._finish()
            except BaseException:
                self._give_up()
                raise
        return self._lab, self._logs

    def _prepare(self):
        # First of all, so that what is left of a start that was killed is known
        # to be a lab's.
        self._lab.save()
        if self._fabric.is_text_of_ibsim:
            shutil.copyfile(self._wishes.net, self._lab.net)
        else:
            with open(self._lab.net, "w", encoding="utf-8") as net:
                netfile.write(self._fabric, net, f"from {self._wishes.net}")
        cluster.give_guids(self._lab, self._sm_nodes)
        simulator.write_rates(self._lab, self._fabric)
        self._lab.library_path = self._find_plugin()
        self._may_queue = simulator.raise_queue_limit(self._progress)

    def _give_up(self):
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        end(self._lab)
        cluster.remove_network(self._lab)
        self._lab.phase = state.FAILED
        self._lab.save()

    def _find_port_library(self, builddir):
        """What leads programs to ibsim."""
        library = None if self._wishes.umad2sim else environment.find_labumad(builddir)
        if library:
            return library
        if not self._wishes.umad2sim:
            missing = f"liblabumad.so is not in {builddir or 'build'}/tests/lab/.libs"
            if self._wishes.plugin == "yes":
                raise LabError(f"{missing}: run make or scripts/build, name the build "
                               "tree with --builddir, or use --umad2sim")
            self._progress.warn(
                f"{missing}: umad2sim takes its place, which drops time-outs, retries "
                "and long answers; scripts/build makes it")
        return environment.find_umad2sim()

    def _find_plugin(self):
        """The folder to load the plugin from, or None for none."""
        wanted = self._wishes.plugin
        if wanted == "no":
            return None
        if wanted != "yes":
            folder = self._lab.path("plugin")
            folder.mkdir()
            shutil.copyfile(wanted, folder / environment.PLUGIN)
            return str(folder)
        plugin = environment.find_plugin(self._lab.builddir)
        if not plugin:
            where = self._lab.builddir or "build or the source folder"
            raise LabError(f"{environment.PLUGIN} is not in .libs of {where}: run "
                           "make, name the build tree with --builddir, or use "
                           "--plugin no")
        return os.path.dirname(plugin)

    # --- processes ---

    def _launch(self, name, started, variables, begin):
        """Starts a process by begin(variables), with lab.json right before and
        after."""
        self._lab.save()
        child = begin(variables | {process.MARK: started.mark})
        self._children[name] = child
        record = process.record_of(child.pid)
        if record:
            started.pid, started.start_time = record.pid, record.start_time
        self._lab.save()

    def _start_simulator(self):
        counts = self._fabric.counts()
        self._progress.say(f"ibsim reads {counts['hosts']} hosts and "
                           f"{counts['switches']} switches from {self._wishes.net}")
        started = state.Started(f"{self._lab.token}/ibsim")
        self._lab.simulator = started
        self._launch("ibsim", started, environment.simulator(self._lab),
                     partial(simulator.start, self._lab, self._fabric))
        self._wait(lambda: simulator.is_ready(self._lab), "it was ready")
        self._type_commands()

    def _type_commands(self):
        """Counters and cables that the file of the fabric has, and what the user wants."""
        commands = self._wishes.before_sms + self._fabric.commands
        for command, answer, is_refused in simulator.Console(
                self._lab, self._deadline - time.monotonic()).ask(commands):
            if is_refused:
                self._progress.warn(f"{command}: {answer}")

    def _start_hosts(self):
        """In a lab with a cluster: the network, and Corosync on all hosts."""
        if self._lab.cluster == cluster.NONE:
            return
        self._lab.hosts = cluster.make_hosts(self._lab, len(self._sm_nodes))
        self._lab.save()
        cluster.make_network(self._lab)
        for host in self._lab.hosts:
            Path(host.folder).mkdir()
        if self._lab.cluster == cluster.COROSYNC:
            self._start_corosyncs()
        else:
            cluster.make_key(self._lab)

    def _start_corosyncs(self):
        lab = self._lab
        self._progress.say(f"Corosync starts on {len(lab.hosts)} hosts")
        for host in lab.hosts:
            host.holder = state.Started(f"{lab.token}/host-{host.index}")
            self._launch(f"host-{host.index}", host.holder, environment.plain(lab),
                         partial(cluster.start_holder, host))
        for host in lab.hosts:
            self._wait(lambda host=host: cluster.is_holder_ready(host),
                       f"host {host.index} was there")
            cluster.write_corosync_conf(lab, host)
            host.corosync = state.Started(f"{lab.token}/corosync-{host.index}")
            self._launch(f"corosync-{host.index}", host.corosync,
                         environment.plain(lab), partial(cluster.start_corosync, host))
        self._wait(lambda: cluster.is_whole(lab), "all hosts were one cluster")

    def _start_broker(self):
        if not self._agent_nodes:
            return
        lab = self._lab
        lab.broker_port = tcp_ports.free_port()
        lab.broker = state.Started(f"{lab.token}/broker")
        self._launch("broker", lab.broker, environment.plain(lab),
                     partial(agents.start_broker, lab))
        self._wait(lambda: agents.broker_listens(lab), "the broker listened")

    def _start_agent(self, index, node):
        lab = self._lab
        agent = agents.make(lab, index, node,
                            opensm.section_of(self._wishes.triad_conf, "perfmgr"))
        lab.agents.append(agent)
        self._progress.say(f"triad-agent collects from {agent.node}")
        self._launch(agent.name, agent.process, {}, partial(agents.start, lab, agent))
        self._wait(lambda: Path(agent.control_socket).is_socket(),
                   f"the agent on {agent.node} could be asked")

    def _start_triadd(self, owner):
        """Beside an SM, when there is something to serve."""
        lab = self._lab
        wanted = triadd.work(Path(owner.folder, "triad.conf").read_text(encoding="utf-8"))
        if not lab.library_path or not (wanted or self._wishes.triadd):
            return
        it = triadd.make(lab, owner)
        lab.triadds.append(it)
        self._launch(it.name, it.process, {}, partial(triadd.start, lab, it))
        self._wait(lambda: triadd.is_ready(it.log, wanted), f"triadd served for {owner.name}")

    def _start_sm(self, index):
        sm = self._configure_sm(index)
        log = opensm.Log(sm.log)
        self._logs.append(log)
        self._lab.sms.append(sm)
        self._progress.say(f"opensm sweeps from {sm.node}")
        host = cluster.host_of(self._lab, index)
        entrance = cluster.entrance(host, f"{sm.folder}/cwd")
        self._launch(sm.name, sm.process, environment.opensm(self._lab, sm, host),
                     partial(opensm.start, sm, entrance=entrance))
        self._wait(lambda: log.is_settled,
                   f"the SM on {sm.node} was standby, or master with the subnet up")

    # --- configuration ---

    def _configure_sm(self, index):
        """Writes its folder with opensm.conf and triad.conf."""
        folder = self._lab.path(f"sm-{index}")
        folder.mkdir(exist_ok=True)
        log = f"{folder}/opensm.log"
        conf = opensm.make_conf(self._conf_keys(index, folder, log),
                                self._wishes.opensm_conf)
        (folder / "opensm.conf").write_text(conf, encoding="utf-8")
        files = {"partitions.conf": self._fabric.partitions} if self._fabric.partitions else {}
        for name, text in (files | (self._wishes.site or Site()).files).items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        keys = opensm.conf_keys(conf)
        port = keys.get("console_port") if keys["console"] == "loopback" else None
        return state.Sm(
            index=index, node=self._sm_nodes[index].node_id, folder=str(folder),
            log=log, control_socket=self._write_triad_conf(index, folder),
            console=keys["console"], console_port=port and int(port),
            process=state.Started(f"{self._lab.token}/sm-{index}"))

    def _conf_keys(self, index, folder, log):
        keys = opensm.default_keys(folder, log)
        keys |= opensm.console_keys(self._wishes.console)
        if self._wishes.site:
            keys |= self._wishes.site.keys
            keys |= {key: f"{folder}/{name}"
                     for key, name in self._wishes.site.file_keys.items()}
        keys["sm_priority"] = str(len(self._sm_nodes) - 1 - index)
        if self._may_queue:
            keys["max_wire_smps"] = str(_WIRE_SMPS)
        if self._lab.library_path:
            keys["event_plugin_name"] = "osmtriad"
            keys["event_plugin_options"] = f"conf={folder}/triad.conf"
        return keys

    def _write_triad_conf(self, index, folder):
        """Returns the control socket's path."""
        text = self._wishes.triad_conf
        path = opensm.user_socket(text)
        if path is None:
            path = f"{folder}/triad.sock"
            if len(path.encode()) > _MAX_SOCKET_PATH:
                path = f"/tmp/triad-lab-{self._lab.token}-{folder.name}.sock"
            text = opensm.add_socket(text, path)
        text = opensm.add_state(text, f"{folder}/state")
        text = cluster.add_election(self._lab, cluster.host_of(self._lab, index),
                                    self._sm_nodes, text)
        text = agents.add_manager(self._lab, text)
        (folder / "triad.conf").write_text(text, encoding="utf-8")
        return path

    # --- waiting ---

    def _wait(self, condition, what):
        """Waits until the condition holds, as long as everything lives."""
        while True:
            for log in self._logs:
                log.update()
            if condition():
                return
            for name, child in self._children.items():
                if child.poll() is not None:
                    raise LabError(self._explain_death(name, child.returncode, what))
            if time.monotonic() > self._deadline:
                raise LabError(f"time was up before {what}; --timeout S allows more"
                               + self._tails(name))
            self._progress.tick()
            time.sleep(_POLL_S)

    def _explain_death(self, name, status, what):
        how = f"with status {status}" if status >= 0 else \
            f"of signal {-status} ({signal.strsignal(-status)})"
        program = f"opensm ({name})" if name.startswith("sm-") else name
        return f"{program} ended {how} before {what}" + self._tails(name)

    def _tails(self, name):
        """The ends of what a process wrote."""
        files = [self._lab.path("sim.out"), self._lab.path("sim.err")]
        for sm in self._lab.sms:
            if sm.name == name:
                files = [sm.output, sm.log]
        for agent in self._lab.agents:
            if agent.name == name:
                files = [f"{agent.folder}/agent.log"]
        for it in self._lab.triadds:
            if it.name == name:
                files = [it.log]
        for host in self._lab.hosts:
            if name == f"host-{host.index}":
                files = [f"{host.folder}/host.err"]
            elif name == f"corosync-{host.index}":
                files = [f"{host.folder}/corosync.out", f"{host.folder}/corosync.log"]
        return "".join(f"\n  the end of {path}:{tail(path)}" for path in files)

    def _is_settled(self):
        return all(log.is_settled for log in self._logs) \
            and any(log.is_master for log in self._logs)

    def _finish(self):
        for sm, log in zip(self._lab.sms, self._logs):
            sm.port_guid = log.port_guid
            if opensm.user_socket(self._wishes.triad_conf):
                sm.control_socket = opensm.resolve_socket(sm.control_socket,
                                                          log.port_guid)
            if log.plugin_refusal:
                self._progress.warn(f"plugin not loaded: {log.plugin_refusal}")
        for sm in self._lab.sms:
            self._start_triadd(sm)
        self._lab.phase = state.UP
        self._lab.save()
