# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Harm to SMs, their hosts, disks, clocks, network and fabric, that begins and ends: kinds
beyond those of failover.py.  Each is a context that a World and the number of an SM go
into; it ends where all that was harmed has been mended and started again."""

import contextlib
import dataclasses
import re
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

from . import cluster, environment, evidence, faults, hosts, netfile, opensm, process, simulator
from .errors import LabError
from .failover import now_us
from .plugin import triadctl

_DISK_KIB = 2048
# Of the file that tests/lab/clock_step.c maps.
_STEP_OCTETS = 32
_CLOCK_FILE = "clock-step"
_END_S = 30
SLOW_KBIT = 24


class World:
    """A lab with what can be harmed in it.  'releases' are folders with a plugin, the
    present one first; 'release' says which one each SM runs."""

    def __init__(self, lab, folder, net, cables, dice, releases):
        self.lab, self.folder, self.net = lab, folder, net
        self.cables, self.wires = cables, cables.wires
        self.dice, self.releases = dice, releases
        self.release = [0] * len(lab.sms)
        self.backups = [[] for _ in lab.sms]
        for sm in range(len(lab.sms)):
            self.set_clock(sm, 0)
        self.twin = None

    # --- opensm ---

    def start(self, sm):
        library_path = self.releases[self.release[sm]]
        hosts.start_opensm(dataclasses.replace(self.lab, library_path=library_path), sm)

    def end(self, sm):
        """As 'systemctl stop' does."""
        record = self.lab.sms[sm].process.record()
        helpers = process.children_of(record)
        process.signal_record(record, signal.SIGTERM)
        if not process.wait_for_end([record, *helpers], _END_S):
            raise LabError(f"opensm of host {sm} lives {_END_S} s after SIGTERM")

    # --- its state ---

    def state_folder(self, sm):
        return state_folder(self.folder, self.lab.sms[sm].port_guid)

    def back_up(self, sm):
        kept = self.folder / f"backup-{sm}-{len(self.backups[sm])}"
        with contextlib.suppress(shutil.Error, FileNotFoundError):
            shutil.copytree(self.state_folder(sm), kept)
        self.backups[sm].append(kept)

    def wipe(self, sm):
        for path in self.state_folder(sm).iterdir():
            path.unlink() if path.is_file() else shutil.rmtree(path)

    # --- its clock ---

    def set_clock(self, sm, seconds):
        """Of an opensm that may have mapped the file, or may be about to."""
        path = Path(self.lab.sms[sm].folder, "cwd", _CLOCK_FILE)
        content = str(seconds).encode().ljust(_STEP_OCTETS, b"\0")
        if path.exists():
            with open(path, "r+b") as stream:
                stream.write(content)
        else:
            path.with_suffix(".new").write_bytes(content)
            path.with_suffix(".new").rename(path)

    # --- links ---

    def plug(self, links, is_in):
        for end in links:
            self.cables.plug(end, is_in)

    def links_of(self, node, kind=netfile.SWITCH):
        """[(node, port)] of those that lead to nodes of that kind."""
        return [(node, port) for port, far in self.net.nodes[node].links.items()
                if self.net.nodes[far[0]].kind == kind]

    def leaf_of(self, sm):
        return self.net.nodes[self.lab.sms[sm].node].links[1][0]


class Cables:
    """Has each link up while it is plugged in and both of its ports are enabled: ibsim alone
    leaves the far end of a disabled port up, and enables both when it joins them.

    SMs say in their record what they are about to set, and wait WAIT_MS before they disable a
    port.  A port that is disabled in the record but not in ibsim, because that SM was killed
    or the MAD lost, is enabled again."""

    WAIT_MS = 200
    _POLL_S, _LOOK_S = 0.025, 2

    def __init__(self, lab, net, record):
        self._lab, self._net, self._record = lab, net, record
        self.wires = evidence.Wires(net)
        # When ports were disabled, ends that are unplugged, and links that are down.
        self._disabled, self._unplugged, self._down = {}, set(), set()
        self._lock, self._ends = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_exception):
        self._ends.set()
        self._thread.join()

    def plug(self, end, is_in):
        with self._lock:
            for it in self._both(end):
                (self._unplugged.discard if is_in else self._unplugged.add)(it)
            at = now_us()
            self._join(end)
            # To be judged as it was for sure.
            self.wires.plug(now_us() if is_in else at, *end, is_in)

    def _both(self, end):
        return frozenset((end, self._net.nodes[end[0]].links[end[1]]))

    def _join(self, end):
        """Makes of the link what it should be."""
        link = self._both(end)
        is_down = bool(link & (self._unplugged | self._disabled.keys()))
        if is_down == (link in self._down):
            return
        (self._down.add if is_down else self._down.discard)(link)
        self._ask(f'{"Unlink" if is_down else "ReLink"} "{end[0]}"[{end[1]}]')

    def _enable(self, end, is_enabled):
        if is_enabled:
            self._disabled.pop(end, None)
        else:
            self._disabled[end] = time.monotonic()
        self._join(end)

    def _enable_lost(self):
        """Those whose Set never came."""
        late = [end for end, at in self._disabled.items()
                if time.monotonic() - at > self._LOOK_S and self._is_polling(*end)]
        for end in late:
            self._enable(end, True)
            self.wires.enable(now_us(), *end)

    def _run(self):
        looked = time.monotonic()
        while not self._ends.wait(self._POLL_S):
            with self._lock:
                for it in self._record.update():
                    self._enable((it.switch, it.port), it.state != evidence.DISABLED)
                if time.monotonic() - looked > self._LOOK_S:
                    self._enable_lost()
                    looked = time.monotonic()

    def _is_polling(self, node, port):
        text = self._ask(f'Dump "{node}"') or ""
        return re.search(rf"\[{port}\]\s+\S+\s+\S+ Down/Polling", text) is not None

    def _ask(self, command):
        """The answer, or None if ibsim refused."""
        with contextlib.suppress(LabError):
            for _, answer, is_refused in simulator.Console(self._lab, _END_S).ask([command]):
                return None if is_refused else answer
        return None


def state_folder(folder, guid):
    return folder / f"state-{guid}"


@contextlib.contextmanager
def small_disks(folder, guids):
    """One for each SM's state; to be there before the lab is.  What they had in the end is in
    folders end-..."""
    with contextlib.ExitStack() as stack:
        for guid in guids:
            path = state_folder(folder, guid)
            path.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"mode=0700,size={_DISK_KIB}k",
                            "tmpfs", path], check=True)
            stack.callback(subprocess.run, ["umount", "-l", path], check=False)
            stack.callback(subprocess.run, ["cp", "-a", path, folder / f"end-{path.name}"],
                           check=False)
        yield


# --- processes -------------------------------------------------------------------

@contextlib.contextmanager
def killed(world, sm):
    hosts.kill(world.lab, sm)
    yield
    world.start(sm)


@contextlib.contextmanager
def ended(world, sm):
    world.end(sm)
    yield
    world.start(sm)


@contextlib.contextmanager
def stopped(world, sm, what=hosts.OPENSM):
    hosts.signal_program(world.lab, sm, what, signal.SIGSTOP)
    yield
    hosts.resume(world.lab, sm, what)


@contextlib.contextmanager
def host_killed(world, sm):
    node = world.lab.sms[sm].node
    at = now_us()
    hosts.kill(world.lab, sm, hosts.ALL)
    world.wires.plug(at, node, 1, False)
    yield
    hosts.hca_link(world.lab, sm, True)
    world.wires.plug(now_us(), node, 1, True)
    if world.lab.cluster == cluster.COROSYNC:
        hosts.start_corosync(world.lab, sm)
    world.start(sm)


@contextlib.contextmanager
def corosync_killed(world, sm):
    hosts.kill(world.lab, sm, hosts.COROSYNC)
    yield
    hosts.start_corosync(world.lab, sm)


@contextlib.contextmanager
def upgraded(world, sm):
    """To the other release, or back to the present one; it stays so."""
    world.end(sm)
    world.release[sm] = (world.release[sm] + 1) % len(world.releases)
    world.start(sm)
    yield


@contextlib.contextmanager
def twin(world, sm):
    """A second opensm on the same port, so with the same GUID; half of them with Triad,
    which has a copy of the first one's state."""
    folder = world.folder / "twin"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    own = Path(world.lab.sms[sm].folder)
    with contextlib.suppress(shutil.Error):
        shutil.copytree(world.state_folder(sm), folder / world.state_folder(sm).name)
    conf = (own / "triad.conf").read_text(encoding="utf-8")
    conf = conf.replace(str(world.folder) + "/state-%g", f"{folder}/state-%g")
    conf = conf.replace(str(world.folder) + "/%g.trace", f"{folder}/%g.trace")
    conf = conf.replace(str(own), str(folder))
    (folder / "triad.conf").write_text(conf, encoding="utf-8")
    text = (own / "opensm.conf").read_text(encoding="utf-8").replace(str(own), str(folder))
    if world.dice.random() < 0.5:
        text = "".join(line for line in text.splitlines(keepends=True)
                       if not line.startswith("event_plugin"))
    (folder / "opensm.conf").write_text(text, encoding="utf-8")
    copy = dataclasses.replace(world.lab.sms[sm], folder=str(folder))
    host = cluster.host_of(world.lab, sm)
    (folder / "cwd").mkdir()
    (folder / "cwd" / _CLOCK_FILE).write_bytes(b"0".ljust(_STEP_OCTETS, b"\0"))
    child = opensm.start(copy, environment.opensm(world.lab, copy, host),
                         cluster.entrance(host, f"{folder}/cwd"))
    yield
    child.kill()
    child.wait()


# --- state and disks ---------------------------------------------------------------

@contextlib.contextmanager
def old_state(world, sm):
    """An old backup put back."""
    hosts.kill(world.lab, sm)
    world.wipe(sm)
    for path in world.dice.choice(world.backups[sm]).iterdir():
        shutil.copy2(path, world.state_folder(sm))
    yield
    world.start(sm)


@contextlib.contextmanager
def lost_state(world, sm):
    hosts.kill(world.lab, sm)
    world.wipe(sm)
    yield
    world.start(sm)


@contextlib.contextmanager
def full_disk(world, sm):
    filler = world.state_folder(sm) / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(512))
    yield
    filler.unlink()


# --- clocks ------------------------------------------------------------------------

@contextlib.contextmanager
def clock_jumped(world, sm):
    """There, and for most of them back again."""
    world.set_clock(sm, world.dice.choice([1, -1, 30, -30, 3600, -3600, 86400, -86400,
                                           10 ** 8]))
    yield
    if world.dice.random() < 0.7:
        world.set_clock(sm, 0)


# --- the network ---------------------------------------------------------------------

@contextlib.contextmanager
def cut(world, sm):
    hosts.link(world.lab, sm, False)
    yield
    hosts.link(world.lab, sm, True)


@contextlib.contextmanager
def partitioned(world, sm):
    others = [index for index in range(len(world.lab.sms)) if index != sm]
    hosts.partition(world.lab, world.dice.choice([[[sm], others], [[sm], *([it] for it in
                                                                         others)]]))
    yield
    hosts.heal(world.lab)


def _nft(namespace, text):
    done = subprocess.run(["ip", "netns", "exec", namespace, "nft", "-f", "-"], input=text,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError(f"nft: {done.stderr.strip()}")


@contextlib.contextmanager
def _rules(namespace, family, text):
    _nft(namespace, f"table {family} harm {{\n{text}\n}}\n")
    yield
    _nft(namespace, f"delete table {family} harm\n")


@contextlib.contextmanager
def one_way(world, sm):
    """The host no longer hears another, or any, but is heard."""
    others = [host.address for host in world.lab.hosts if host.index != sm]
    whom = world.dice.choice([others, [world.dice.choice(others)]])
    with _rules(world.lab.hosts[sm].namespace, "ip",
                "chain heard { type filter hook input priority 0;\n"
                f"ip saddr {{ {', '.join(whom)} }} drop\n}}"):
        yield


@contextlib.contextmanager
def bad_network(world, sm):
    """A third of what the host hears is lost, a third of what it says comes twice, and a
    third of it late, behind what was said afterwards."""
    host = world.lab.hosts[sm]
    tc = ["tc", "-n", host.namespace]
    copies = "\n".join(
        f'numgen random mod 6 < 1 dup to "{cluster.port(other)}"'
        for other in world.lab.hosts if other.index != sm)
    for words in (["qdisc", "add", "dev", "eth0", "root", "handle", "1:", "htb", "default",
                   "1"],
                  ["class", "add", "dev", "eth0", "parent", "1:", "classid", "1:1", "htb",
                   "rate", "1gbit"],
                  ["class", "add", "dev", "eth0", "parent", "1:", "classid", "1:2", "htb",
                   "rate", f"{SLOW_KBIT}kbit", "burst", "1b"]):
        subprocess.run([*tc, *words], check=True)
    with _rules(host.namespace, "ip",
                "chain heard { type filter hook input priority 0;\n"
                "numgen random mod 3 < 1 drop\n}\n"
                "chain said { type filter hook postrouting priority 0;\n"
                "numgen random mod 3 < 1 meta priority set 1:2\n}"), \
            _rules(cluster.network(world.lab), "netdev",
                   f'chain said {{ type filter hook ingress device "{cluster.port(host)}" '
                   f"priority 0;\n{copies}\n}}"):
        yield
    subprocess.run([*tc, "qdisc", "del", "dev", "eth0", "root"], check=True)


# --- the fabric ----------------------------------------------------------------------

_MADS = ("lose probability 0.1\n", "duplicate probability 0.3\n",
         "delay ms 80 probability 0.5\n",
         "lose class 0x3d probability 0.3\nduplicate class 0x3d probability 0.3\n"
         "delay class 0x3d ms 120 probability 0.3\n",
         "lose class 0x03 probability 0.3\n")


@contextlib.contextmanager
def bad_mads(world, _sm):
    faults.install(world.lab, f"seed {world.dice.randrange(10 ** 6)}\n" +
                   world.dice.choice(_MADS), "soak")
    yield
    faults.clear(world.lab)


@contextlib.contextmanager
def _unplugged(world, links):
    world.plug(links, False)
    yield
    world.plug(links, True)


def split(world, sm):
    """The SM's leaf loses its way to the others."""
    return _unplugged(world, world.links_of(world.leaf_of(sm)))


def spine_lost(world, _sm):
    spine = world.dice.choice([node.node_id for node in world.net.of_kind(netfile.SWITCH)
                               if not world.links_of(node.node_id, netfile.HCA)])
    return _unplugged(world, world.links_of(spine))


def port_down(world, sm):
    return _unplugged(world, [(world.lab.sms[sm].node, 1)])


@contextlib.contextmanager
def handed_over(world, sm):
    triadctl(world.lab, "port", "priority", "12", sm=sm)
    yield
    triadctl(world.lab, "port", "priority", "8", sm=sm)


_NETWORKS = (cluster.COROSYNC, cluster.PEERS)
# Kind: (the harm, the clusters in which there is such harm).
KINDS = {
    "kill": (killed, cluster.KINDS), "end": (ended, cluster.KINDS),
    "stop": (stopped, cluster.KINDS), "host-kill": (host_killed, cluster.KINDS),
    "host-stop": (lambda world, sm: stopped(world, sm, hosts.ALL), cluster.KINDS),
    "corosync-kill": (corosync_killed, (cluster.COROSYNC,)),
    "net-cut": (cut, _NETWORKS), "one-way": (one_way, _NETWORKS),
    "partition": (partitioned, _NETWORKS), "bad-network": (bad_network, _NETWORKS),
    "bad-mads": (bad_mads, cluster.KINDS), "old-state": (old_state, cluster.KINDS),
    "lost-state": (lost_state, cluster.KINDS), "full-disk": (full_disk, cluster.KINDS),
    "fabric-split": (split, cluster.KINDS), "spine-lost": (spine_lost, cluster.KINDS),
    "port-down": (port_down, cluster.KINDS), "clock-jump": (clock_jumped, cluster.KINDS),
    "twin": (twin, cluster.KINDS), "upgrade": (upgraded, cluster.KINDS),
    "hand-over": (handed_over, cluster.KINDS),
}
# What these are made with is not always installed.
BY_NFT = ("one-way", "bad-network")
# After these, hosts were away from a master, whose SA forgot them.
CUTS = ("host-kill", "fabric-split", "spine-lost", "port-down", "bad-mads", "twin")
