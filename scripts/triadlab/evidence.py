# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a lab's SMs did, from what they leave behind: who had permission (election.trace_file),
which Sets of a port's physical state were sent (tests/lab/record.c), and which links were in
place then.  Nothing here asks Triad.

All moments are microseconds of CLOCK_BOOTTIME.  Files are read on, never twice."""

from collections import defaultdict
from dataclasses import dataclass

_SET, _PORT_INFO, _SMP_CLASSES = "2", "15", ("1", "81")
_AT_PHYS_STATE = 2 * 33  # of hexadecimal digits: the upper half of an octet
POLLING, DISABLED = 2, 3


class Tail:
    """The whole lines that a file has gained."""

    def __init__(self, path):
        self._path, self._offset = path, 0

    def lines(self):
        try:
            with open(self._path, "rb") as stream:
                stream.seek(self._offset)
                text = stream.read()
        except FileNotFoundError:
            return []
        text = text[:text.rfind(b"\n") + 1]
        self._offset += len(text)
        return text.decode("ascii", "replace").splitlines()


# --- permission ----------------------------------------------------------------

@dataclass
class Held:
    """Permission of 'who' in [begin, end)."""

    who: str
    term: int
    begin: int
    end: int


class Trace:
    """The permissions of one SM."""

    def __init__(self, who, path):
        self.held = []
        self._who, self._tail = who, Tail(path)

    def update(self):
        for line in self._tail.lines():
            moment, word, *rest = line.split()
            if self.held and self.held[-1].end > int(moment):
                self.held[-1].end = int(moment)
            if word == "given":
                self._take(int(moment), int(rest[0]), int(rest[1]))
        return self.held

    def _take(self, moment, term, deadline):
        last = self.held[-1] if self.held else None
        if last and last.term == term and last.end == moment:
            last.end = deadline
        else:
            self.held.append(Held(self._who, term, moment, deadline))


def overlaps(held):
    """Pairs of different SMs that had permission at one time."""
    found, latest = [], {}
    for one in sorted(held, key=lambda it: it.begin):
        found += [(other, one) for who, other in latest.items()
                  if who != one.who and other.end > one.begin]
        if one.who not in latest or latest[one.who].end < one.end:
            latest[one.who] = one
    return found


def old_terms(held):
    """Permissions in a term that is not above those of others before."""
    found, before = [], None
    for one in sorted(held, key=lambda it: it.begin):
        if before and (one.term < before.term or
                       (one.term == before.term and one.who != before.who)):
            found.append((before, one))
        before = one
    return found


# --- Sets ----------------------------------------------------------------------

@dataclass(frozen=True)
class PortSet:
    """A Set of the physical state of a switch's port; 'sender' is a node."""

    at: int
    sender: str
    switch: str
    port: int
    state: int


class Record:
    """The Sets that all SMs sent."""

    def __init__(self, net, path):
        self._net, self._tail = net, Tail(path)
        self.sets = []

    def update(self):
        """Returns those that are new."""
        new = [it for line in self._tail.lines() if (it := self._read(line.split()))]
        self.sets += new
        return new

    def _read(self, words):
        if len(words) != 12 or words[1:3] != [_SET, _PORT_INFO] or \
                words[0] not in _SMP_CLASSES or words[9] == "-":
            return None
        state = int(words[9][_AT_PHYS_STATE], 16)
        if not state:
            return None
        return PortSet(int(words[10]), words[11], self._far_end(words[11], words[8]),
                       int(words[6], 16), state)

    def _far_end(self, node, path):
        for hop in path.rstrip(",").split(",") if path != "-" else []:
            node = self._net.nodes[node].links[int(hop, 16)][0]
        return node


def unpermitted(sets, held_at):
    """'held_at' has the permissions of all that send from a node."""
    return [it for it in sets
            if not any(one.begin <= it.at < one.end for one in held_at[it.sender])]


# --- links ---------------------------------------------------------------------

class Wires:
    """Which links are in place, and what a Set then cuts off."""

    def __init__(self, net):
        self._net = net
        self._unplugged, self._disabled = set(), set()
        self._events = []

    def plug(self, at, node, port, is_in):
        self._events.append((at, node, port, is_in))

    def enable(self, at, node, port):
        """A port that is enabled though a Set that was sent had disabled it."""
        self._events.append((at, node, port, None))

    def update(self, moment):
        """All Sets until that moment have been judged."""
        self._events.sort(key=lambda event: event[0])
        while self._events and self._events[0][0] <= moment:
            _, node, port, is_in = self._events.pop(0)
            if is_in is None:
                self._disabled.discard((node, port))
                continue
            far = self._net.nodes[node].links[port]
            for end in ((node, port), far):
                (self._unplugged.discard if is_in else self._unplugged.add)(end)

    def reached(self, begin):
        seen, todo = {begin}, [begin]
        while todo:
            node = todo.pop()
            for port, far in self._net.nodes[node].links.items():
                if far[0] not in seen and not {(node, port), far} & \
                        (self._unplugged | self._disabled):
                    seen.add(far[0])
                    todo.append(far[0])
        return seen

    def cuts(self, new_sets, may_lose):
        """(Set, nodes lost by it) of those that are new, but for the host at a switch's
        own port if may_lose(switch, port)."""
        found = []
        for it in sorted(new_sets, key=lambda one: one.at):
            self.update(it.at)
            before = self.reached(it.sender)
            end = (it.switch, it.port)
            if it.state == DISABLED:
                self._disabled.add(end)
            else:
                self._disabled.discard(end)
            lost = before - self.reached(it.sender)
            if may_lose(*end):
                lost.discard(self._net.nodes[it.switch].links[it.port][0])
            if lost:
                found.append((it, sorted(lost)))
        return found


# --- generations -----------------------------------------------------------------

class Generations:
    """What each expected configuration said of each port, and since when it was known to
    be in force."""

    def __init__(self):
        self._rows, self._since = {}, {}

    def add(self, generation, rows):
        self._rows[generation] = rows

    def note(self, generation, at):
        if generation in self._rows:
            self._since.setdefault(generation, at)

    def newest(self):
        return self._rows[max(self._rows)]

    def old(self, sets, slack_us):
        """Sets that no configuration asks for which was the newest one then, or came
        later: 'test' and 'enabled' may mean up, 'test' and 'disabled' down."""
        found = []
        for it in sets:
            floor = max((number for number, at in self._since.items()
                         if at + slack_us < it.at), default=0)
            states = {rows.get((it.switch, it.port), "none")
                      for number, rows in self._rows.items() if number >= floor}
            wanted = {"disabled", "test"} if it.state == DISABLED else {"enabled", "test"}
            if states and not states & wanted:
                found.append((it, floor))
        return found


def differences(answers):
    """How many of the answers, by SM, are unlike the most frequent one."""
    counts = defaultdict(int)
    for text in answers.values():
        counts[text] += 1
    return len(answers) - max(counts.values())
