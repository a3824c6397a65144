# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Mutants, which of them a seed chooses, and the lists they are kept in.

A mutant says what one statement, or the condition of one, becomes. Comments and layout
do not count, nor what else changes in its function.

Everything is ordered by a hash of the seed and what it stands for: first an area's
functions, then in a function the operators, then the places. So a seed chooses the same
mutants everywhere, and leaving one out moves no other.
"""

import dataclasses
import hashlib
import re

from . import areas, operators, source
from .errors import MutateError

LISTS = "tests/mutants"
EQUIVALENTS = f"{LISTS}/equivalent"


@dataclasses.dataclass
class Mutant:
    """'which' of the function's 'n_alike' statements that read 'old' becomes 'new'."""

    file: str
    function: str
    operator: str
    which: int
    n_alike: int
    old: str
    new: str
    name: str = ""

    @property
    def id(self):
        return _digest(self.file, self.function, self.which, *source.words(self.old), "to",
                       *source.words(self.new))[:12]

    def __str__(self):
        return f"{self.file}, {self.function}(): '{self.old}' becomes '{self.new}'"

    def applied(self, text):
        """Its file's text with the change, all lines where they were; None where the
        statement is gone."""
        words = source.words(self.old)
        places = [piece for function in source.functions(text)
                  if function.name == self.function
                  for piece in function.pieces if piece.words == words]
        if len(places) != self.n_alike:
            return None
        tokens = places[self.which - 1].tokens
        start, end = tokens[0].start, tokens[-1].end
        return text[:start] + self.new + "\n" * text.count("\n", start, end) + text[end:]


def _digest(*words):
    return hashlib.sha256("\0".join(map(str, words)).encode()).hexdigest()


def c_files(root, area):
    return sorted(str(path.relative_to(root)) for folder in areas.folders(area)
                  for path in (root / folder).rglob("*.c"))


def ordered(root, area, seed):
    """For each function of the area, in the seed's order, its mutants in the seed's
    order."""
    functions = []
    for name in c_files(root, area):
        text = (root / name).read_text(encoding="utf-8")
        functions += [(name, text, it) for it in source.functions(text)]
    functions.sort(key=lambda it: _digest(seed, it[0], it[2].name))
    for name, text, function in functions:
        yield text, _mutants(name, source.blank(text), function, seed)


def _mutants(name, code, function, seed):
    def key(mutant):
        return (_digest(seed, name, function.name, mutant.operator),
                _digest(seed, mutant.id))

    found = []
    for operator, piece, old, new in operators.changes(function, code):
        alike = [it for it in function.pieces if it.words == piece.words]
        found.append(Mutant(name, function.name, operator, alike.index(piece) + 1,
                            len(alike), old, new))
    return sorted(found, key=key)


def equivalents(root):
    """The ids of mutants that no test can kill."""
    path = root / EQUIVALENTS
    if not path.exists():
        return set()
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if line.strip() and line[0] != "#"}


# --- lists -------------------------------------------------------------------

def write_list(path, heading, mutants):
    path.write_text(f"# {heading}\n" + "".join(
        f"\n{it.name} {it.file} {it.function} {it.which}/{it.n_alike} {it.operator}\n"
        f"- {it.old}\n+ {it.new}\n" for it in mutants), encoding="utf-8")


def read_lists(root):
    return [mutant for area in areas.AREAS if (root / LISTS / area).exists()
            for mutant in read_list(root / LISTS / area)]


def read_list(path):
    text = re.sub(r"^#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [_read_mutant(entry, path) for entry in re.split(r"\n{2,}", text.strip())]


def _read_mutant(entry, path):
    match = re.fullmatch(
        r"(\S+) (\S+) (\w+) (\d+)/(\d+) ([a-z ]+)\n- (.+)\n\+ (.+)", entry)
    if not match:
        raise MutateError(f"{path}: no mutant as 'mutate make' writes them:\n{entry}")
    name, file, function, which, n_alike, operator, old, new = match.groups()
    return Mutant(file, function, operator, int(which), int(n_alike), old, new, name)
