# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fabrics of any size: folded Clos trees, tori and dragonflies.

Each kind has a plan, which checks what was asked for and knows every number,
and a build(), which makes nodes and links of it.  Plans are deterministic: the
same numbers give the same names, GUIDs and ports.

Every host is an HCA with one port; hosts have the lowest port numbers of
their switch.  Limits are those of InfiniBand: a switch has ports 1 to 254, a
subnet unicast LIDs 1 to 49,151 (one a host, one a switch), and a directed
route, with which a subnet manager finds everything, has 63 hops.
"""

import itertools
import math
from dataclasses import dataclass

from .errors import UsageError
from .netfile import HCA, SWITCH, Fabric, Node

MAX_HOSTS = 48_000
MAX_LIDS = 0xBFFF
MAX_RADIX = 254
MAX_HOPS = 63

# Locally administered EUI-64s; a port's GUID is its node's plus its number.
_HOST_GUIDS = 0x0200_0001_0000_0000
_SWITCH_GUIDS = 0x0200_0002_0000_0000
_GUID_STRIDE = 0x10

# What switches on the market have.
_COMMON_RADIXES = (36, 40, 64)


def _require(condition, sentence):
    if not condition:
        raise UsageError(sentence)


def _check_lids(what, hosts, switches):
    _require(hosts + switches <= MAX_LIDS,
             f"{what} has {hosts} hosts and {switches} switches, which need "
             f"{hosts + switches} LIDs; a subnet has {MAX_LIDS}: take fewer hosts "
             "or switches with more ports")


class _Builder:
    """Names, numbers and wires what the plans describe."""

    def __init__(self, n_hosts):
        self.fabric = Fabric()
        self._n_hosts = 0
        self._n_switches = 0
        self._host_digits = max(4, len(str(n_hosts)))

    def switch(self, name, radix):
        self._n_switches += 1
        guid = _SWITCH_GUIDS + self._n_switches * _GUID_STRIDE
        return self.fabric.add(Node(SWITCH, name, radix, name, guid))

    def host(self, switch, port):
        self._n_hosts += 1
        name = f"host-{self._n_hosts:0{self._host_digits}d}"
        guid = _HOST_GUIDS + self._n_hosts * _GUID_STRIDE
        node = self.fabric.add(Node(HCA, name, 1, f"{name} HCA-1", guid))
        self.fabric.link(node, 1, switch, port)

    def cable(self, low, low_port, high, high_port, n_cables):
        """Parallel cables between consecutive ports from those given."""
        for i in range(n_cables):
            self.fabric.link(low, low_port + i, high, high_port + i)


def _numbered(prefix, count):
    """'leaf-01', 'leaf-02', ...: as many digits as the last one needs."""
    digits = max(2, len(str(count)))
    return [f"{prefix}-{i:0{digits}d}" for i in range(1, count + 1)]


# --- fat trees ---------------------------------------------------------------

def _smallest_divisor(number, at_least):
    """The smallest divisor of 'number' that is 'at_least' or more."""
    return next(d for d in range(math.ceil(at_least), number + 1)
                if number % d == 0)


@dataclass(frozen=True)
class FatTree:
    """A folded Clos network of switches with 'radix' ports, with full
    bisection: a leaf has as many ports up as down.

    A tree that is not full has fewer spines, each with several cables to a
    leaf.  The number of spines divides the number of a leaf's uplinks, so that
    all leaves look alike; the same holds between spines and cores.

    Two levels: 'pods' is 1 and there are no cores.  Three levels: each pod is a
    two-level tree whose spines have half of their ports up; the n-th spine of
    every pod is wired to the n-th group of cores."""

    levels: int
    radix: int
    hosts: int
    leaves: int
    pods: int
    spines_in_pod: int
    cores_in_group: int

    @staticmethod
    def capacity(levels, radix):
        """Hosts of a full tree."""
        return 2 * (radix // 2) ** levels

    @classmethod
    def plan(cls, levels=None, radix=None, hosts=None):
        """The tree asked for; what is None is chosen.

        Without hosts: a full tree, by default of two levels and 36 ports.
        With hosts: the smallest one that holds them and has LIDs for all."""
        _require(levels in (None, 2, 3),
                 f"a fat tree has 2 or 3 levels, not {levels}")
        _require(radix is None or (4 <= radix <= MAX_RADIX and radix % 2 == 0),
                 f"a fat tree needs an even radix from 4 to {MAX_RADIX}, not {radix}")
        _require(hosts is None or 1 <= hosts <= MAX_HOSTS,
                 f"a fat tree has 1 to {MAX_HOSTS} hosts, not {hosts}")
        if hosts is None:
            levels, radix = levels or 2, radix or 36
            hosts = cls.capacity(levels, radix)
        tree = cls._smallest(levels, radix, hosts)
        _require(tree, _too_many(levels, radix, hosts))
        _check_lids("this fat tree", tree.hosts, tree.switches)
        return tree

    @classmethod
    def _smallest(cls, levels, radix, hosts):
        """None when nothing is large enough.  A radix that was asked for is
        taken whether or not the LIDs suffice."""
        radixes = [radix] if radix else _radixes_to_try()
        for n_ports, n_levels in itertools.product(
                radixes, [levels] if levels else [2, 3]):
            if hosts <= cls.capacity(n_levels, n_ports):
                tree = cls._shape(n_levels, n_ports, hosts)
                if radix or tree.hosts + tree.switches <= MAX_LIDS:
                    return tree
        return None

    @classmethod
    def _shape(cls, levels, radix, hosts):
        half = radix // 2
        leaves = math.ceil(hosts / half)
        if levels == 2:
            spines = _smallest_divisor(half, leaves / 2)
            return cls(2, radix, hosts, leaves, 1, spines, 0)
        pods = math.ceil(leaves / half)
        spines = _smallest_divisor(half, math.ceil(leaves / pods))
        cores = _smallest_divisor(half, pods / 2)
        return cls(3, radix, hosts, leaves, pods, spines, cores)

    @property
    def spines(self):
        return self.pods * self.spines_in_pod

    @property
    def cores(self):
        return self.spines_in_pod * self.cores_in_group

    @property
    def switches(self):
        return self.leaves + self.spines + self.cores

    def __str__(self):
        return (f"fat-tree --levels {self.levels} --radix {self.radix} "
                f"--hosts {self.hosts}")

    def build(self):
        builder = _Builder(self.hosts)
        leaves, spines = [], []
        for pod in range(self.pods):
            pod_leaves, pod_spines = self._build_pod(builder, pod)
            leaves += pod_leaves
            spines.append(pod_spines)
        if self.levels == 3:
            self._build_cores(builder, spines)
        half = self.radix // 2
        for i in range(self.hosts):
            builder.host(leaves[i // half], 1 + i % half)
        return builder.fabric

    def _build_pod(self, builder, pod):
        """Leaves are spread evenly over the pods."""
        n_leaves = self.leaves // self.pods + (pod < self.leaves % self.pods)
        infix = "" if self.levels == 2 else \
            f"-{pod + 1:0{max(2, len(str(self.pods)))}d}"
        leaves = [builder.switch(name, self.radix)
                  for name in _numbered("leaf" + infix, n_leaves)]
        spines = [builder.switch(name, self.radix)
                  for name in _numbered("spine" + infix, self.spines_in_pod)]
        half = self.radix // 2
        n_cables = half // self.spines_in_pod
        for (i, leaf), (k, spine) in itertools.product(
                enumerate(leaves), enumerate(spines)):
            builder.cable(leaf, half + k * n_cables + 1,
                          spine, i * n_cables + 1, n_cables)
        return leaves, spines

    def _build_cores(self, builder, spines):
        half = self.radix // 2
        n_cables = half // self.cores_in_group
        for k, group in enumerate(_numbered("core", self.spines_in_pod)):
            cores = [builder.switch(name, self.radix)
                     for name in _numbered(group, self.cores_in_group)]
            for (pod, pod_spines), (i, core) in itertools.product(
                    enumerate(spines), enumerate(cores)):
                builder.cable(pod_spines[k], half + i * n_cables + 1,
                              core, pod * n_cables + 1, n_cables)


def _radixes_to_try():
    """Those on the market; beyond, the largest fabrics need switches with so
    many ports that a subnet has LIDs for all of them."""
    beyond = range(_COMMON_RADIXES[-1] + 2, MAX_RADIX + 1, 2)
    return [*_COMMON_RADIXES, *beyond]


def _too_many(levels, radix, hosts):
    if not radix:
        return (f"no fat tree of {levels or '2 or 3'} levels holds {hosts} hosts: "
                "leave --levels out")
    levels = levels or 3
    limit = FatTree.capacity(levels, radix)
    return (f"{levels} levels of {radix}-port switches hold at most {limit} hosts, "
            f"not {hosts}: use a larger --radix"
            + (" or --levels 3" if levels == 2 else ""))


# --- tori --------------------------------------------------------------------

@dataclass(frozen=True)
class Torus:
    """A torus of two or three dimensions.  A dimension of two switches has one
    link between them, not two."""

    dims: tuple[int, ...]
    hosts_per_switch: int

    @classmethod
    def plan(cls, dims, hosts_per_switch=1):
        torus = cls(tuple(dims), hosts_per_switch)
        _require(len(torus.dims) in (2, 3) and min(torus.dims) >= 2,
                 "a torus has 2 or 3 dimensions of at least 2 switches each, "
                 "for example --dims 4,4,4")
        _require(hosts_per_switch >= 1 and torus.radix <= MAX_RADIX,
                 f"a torus of {len(dims)} dimensions has 1 to "
                 f"{MAX_RADIX - 2 * len(dims)} hosts a switch, "
                 f"not {hosts_per_switch}")
        _check_lids("this torus", torus.hosts, torus.switches)
        _require(torus.hops <= MAX_HOPS,
                 f"this torus needs {torus.hops} hops from a host to the farthest "
                 f"one; a directed route has {MAX_HOPS}: make its sides more alike")
        return torus

    @property
    def switches(self):
        return math.prod(self.dims)

    @property
    def hosts(self):
        return self.switches * self.hosts_per_switch

    @property
    def radix(self):
        return self.hosts_per_switch + 2 * len(self.dims)

    @property
    def hops(self):
        """From one host to the farthest one."""
        return 2 + sum(size // 2 for size in self.dims)

    def __str__(self):
        return (f"torus --dims {','.join(map(str, self.dims))} "
                f"--hosts-per-switch {self.hosts_per_switch}")

    def build(self):
        builder = _Builder(self.hosts)
        digits = [len(str(size - 1)) for size in self.dims]
        places = list(itertools.product(*map(range, self.dims)))
        switches = {}
        for place in places:
            name = "-".join(f"{c:0{d}d}" for c, d in zip(place, digits))
            switches[place] = builder.switch(f"switch-{name}", self.radix)
        for place, axis in itertools.product(places, range(len(self.dims))):
            self._link_to_next(builder, switches, place, axis)
        for place, port in itertools.product(
                places, range(1, self.hosts_per_switch + 1)):
            builder.host(switches[place], port)
        return builder.fabric

    def _link_to_next(self, builder, switches, place, axis):
        """Towards higher coordinates, round the edge."""
        size = self.dims[axis]
        if size == 2 and place[axis] == 1:
            return
        following = list(place)
        following[axis] = (place[axis] + 1) % size
        upwards = self.hosts_per_switch + 2 * axis + 1
        builder.cable(switches[place], upwards,
                      switches[tuple(following)], upwards + 1, 1)


# --- dragonflies -------------------------------------------------------------

@dataclass(frozen=True)
class Dragonfly:
    """Groups of routers; every router is linked to every other of its group,
    every group to every other group.

    Each pair of groups has the same number of links, as many as the global
    ports allow; ports that are left over stay free.  A group deals its links
    to its routers in turn, so that none has more than one link above another."""

    groups: int
    routers: int
    hosts_per_router: int
    global_links: int

    @classmethod
    def plan(cls, groups, routers, hosts_per_router=None, global_links=None):
        """By default half as many hosts as routers in a group, and just enough
        global links ('global_links' is a number a router)."""
        _require(groups >= 1 and routers >= 1,
                 "a dragonfly has at least 1 group of at least 1 router")
        if hosts_per_router is None:
            hosts_per_router = max(1, routers // 2)
        needed = math.ceil((groups - 1) / routers)
        if global_links is None:
            global_links = needed
        _require(hosts_per_router >= 1, "a router has at least 1 host")
        _require(global_links >= needed,
                 f"a group with {routers} routers of {global_links} global links "
                 f"each cannot reach {groups - 1} other groups: use at least "
                 f"--global-links {needed} or at most "
                 f"--groups {routers * max(0, global_links) + 1}")
        plan = cls(groups, routers, hosts_per_router, global_links)
        _require(plan.radix <= MAX_RADIX,
                 f"a router of this dragonfly needs {plan.radix} ports "
                 f"({hosts_per_router} hosts, {routers - 1} routers of its group, "
                 f"{global_links} global links); a switch has {MAX_RADIX}")
        _check_lids("this dragonfly", plan.hosts, plan.switches)
        return plan

    @property
    def switches(self):
        return self.groups * self.routers

    @property
    def hosts(self):
        return self.switches * self.hosts_per_router

    @property
    def radix(self):
        return self.hosts_per_router + self.routers - 1 + self.global_links

    @property
    def links_in_pair(self):
        """Links between two groups."""
        if self.groups == 1:
            return 0
        return self.routers * self.global_links // (self.groups - 1)

    def __str__(self):
        return (f"dragonfly --groups {self.groups} --routers {self.routers} "
                f"--hosts-per-router {self.hosts_per_router} "
                f"--global-links {self.global_links}")

    def build(self):
        builder = _Builder(self.hosts)
        groups = [[builder.switch(name, self.radix)
                   for name in _numbered(group, self.routers)]
                  for group in _numbered("router", self.groups)]
        for group in groups:
            self._link_routers(builder, group)
        for near, far in itertools.combinations(range(self.groups), 2):
            self._link_groups(builder, groups, near, far)
        for router in itertools.chain.from_iterable(groups):
            for port in range(1, self.hosts_per_router + 1):
                builder.host(router, port)
        return builder.fabric

    def _link_routers(self, builder, group):
        """A router's ports within its group are in the order of its peers."""
        first = self.hosts_per_router + 1
        for a, b in itertools.combinations(range(self.routers), 2):
            builder.cable(group[a], first + b - 1, group[b], first + a, 1)

    def _link_groups(self, builder, groups, near, far):
        for copy in range(self.links_in_pair):
            router, port = self._global_port(far - near, copy)
            peer, peer_port = self._global_port(self.groups + near - far, copy)
            builder.cable(groups[near][router], port,
                          groups[far][peer], peer_port, 1)

    def _global_port(self, distance, copy):
        """Where a group's link to the group 'distance' further on is: the
        router's index in the group, and its port."""
        slot = (distance - 1) * self.links_in_pair + copy
        first = self.hosts_per_router + self.routers
        return slot % self.routers, first + slot // self.routers
