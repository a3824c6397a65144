# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""On which nodes of a fabric programs run.

A program attaches to the first port of a node, and ibsim takes the node's name
from it in a field of fixed size."""

from .errors import UsageError
from .netfile import HCA, SWITCH

# ibsim serves ten clients, SMs and agents; one is left for commands.
MAX_SMS = 9

_MAX_NAME_LENGTH = 31

# As ibnetdiscover shows the HCAs of switches that compute.
_AGGREGATION = "Aggregation Node"


def _reason_against(node):
    """Why no program can attach to this node; None when one can."""
    if len(node.node_id) > _MAX_NAME_LENGTH:
        return (f"ibsim lets nobody attach to a node whose id has more than "
                f"{_MAX_NAME_LENGTH} characters")
    if node.kind != SWITCH and 1 not in node.links:
        return "it has no link on port 1, where programs attach"
    return None


def find(fabric, name):
    """The node with that id or description, on which a program can be."""
    node = fabric.find(name)
    if node is None:
        some = ", ".join(dict.fromkeys([*list(fabric.nodes)[:3],
                                        *list(fabric.nodes)[-2:]]))
        raise UsageError(f"node {name!r} is not in the net file; it has, for "
                         f"example: {some}")
    reason = _reason_against(node)
    if reason:
        raise UsageError(f"node {node.node_id!r}: {reason}")
    return node


def choose_for_sms(fabric, names):
    """The nodes named; when none is, the first host of the file."""
    if not names:
        hosts = usable_hosts(fabric)
        if not hosts:
            raise UsageError("no Hca of the net file has a link on its port 1; name "
                             "a node for the SM with --sm")
        return hosts[:1]
    if len(names) > MAX_SMS:
        raise UsageError(f"{len(names)} SMs: ibsim serves {MAX_SMS}, and commands")
    nodes = [find(fabric, name) for name in names]
    for i, node in enumerate(nodes):
        if node in nodes[:i]:
            raise UsageError(f"--sm {names[i]}: node {node.node_id} has an SM "
                             "already; give each a node of its own")
    return nodes


def choose_for_commands(fabric, sm_nodes):
    """The last host that has no SM: far from the SM on most fabrics."""
    for node in reversed(usable_hosts(fabric)):
        if node not in sm_nodes:
            return node
    return sm_nodes[0]


def usable_hosts(fabric):
    """Those that a program can attach to; aggregation nodes, which are inside of switches, only
    when there is nothing else."""
    usable = [node for node in fabric.of_kind(HCA) if _reason_against(node) is None]
    return [node for node in usable if not is_in_switch(node)] or usable


def is_in_switch(node):
    """Whether it is a switch's own HCA."""
    return _AGGREGATION in node.description
