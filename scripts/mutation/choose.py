# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Which mutants a seed chooses, and the patches they are kept in.

Everything is ordered by a hash of the seed and what it stands for: first an area's
functions, then in a function the operators, then the places. So a seed chooses the same
mutants everywhere, and leaving one out moves no other.
"""

import dataclasses
import difflib
import hashlib
import re
from pathlib import Path

from . import areas, operators, source
from .errors import MutateError

PATCHES = "tests/mutants"
EQUIVALENTS = f"{PATCHES}/equivalent"


@dataclasses.dataclass
class Mutant:
    file: str
    function: str
    change: operators.Change
    before: str
    after: str
    offset: int

    @property
    def id(self):
        """Stays the same as long as the function does, up to the change."""
        return _digest(self.file, self.function, self.offset, self.change.operator,
                       self.change.new)[:12]

    @property
    def line(self):
        return self.before.count("\n", 0, self.change.start) + 1

    def patch(self):
        return "".join(difflib.unified_diff(
            self.before.splitlines(True), self.after.splitlines(True),
            f"a/{self.file}", f"b/{self.file}"))


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
        yield _mutants(name, text, function, seed)


def _mutants(name, text, function, seed):
    def key(mutant):
        operator = mutant.change.operator
        return (_digest(seed, name, function.name, operator), _digest(seed, mutant.id))

    found = [Mutant(name, function.name, change, text,
                    text[:change.start] + change.new + text[change.end:],
                    change.start - function.start)
             for change in operators.changes(function, text)]
    return sorted(found, key=key)


def equivalents(root):
    """The ids of mutants that no test can kill."""
    path = root / EQUIVALENTS
    if not path.exists():
        return set()
    lines = path.read_text(encoding="utf-8").splitlines()
    return {line.split()[0] for line in lines if line.strip() and line[0] != "#"}


# --- patch files -------------------------------------------------------------

def write_patch(folder, area, number, mutant, seed, version):
    path = folder / f"{area}-{number}.patch"
    change = mutant.change
    path.write_text(f"""\
{mutant.file}:{mutant.line}, function {mutant.function}, {change.operator}: {change.words}
Mutant {mutant.id}, chosen by: scripts/mutate make --seed {seed} --area {area}
in the sources of commit {version}

{mutant.patch()}""", encoding="utf-8")
    return path


@dataclasses.dataclass
class Patch:
    """A mutant as its patch tells it."""

    path: Path
    area: str
    id: str
    file: str
    function: str
    operator: str
    words: str

    @property
    def name(self):
        return self.path.stem


def read_patch(path):
    path = Path(path)
    text = path.read_text(encoding="utf-8")
    match = re.match(r"(\S+):\d+, function (\w+), ([\w ]+): (.*)\nMutant (\w+)", text)
    if not match:
        raise MutateError(f"{path} is no patch of 'mutate make': its first line must say "
                          "file, function and operator")
    file, function, operator, words, mutant_id = match.groups()
    return Patch(path, path.stem.rpartition("-")[0], mutant_id, file, function, operator,
                 words)
