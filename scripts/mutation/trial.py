# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tries one mutant: which tests can see it, in which order, and what they say.

Programs come first: those whose debug information names the mutant's file, the tests of
its folder before others, quick ones before slow ones. Then come the integration tests
that areas.py has for it.
"""

import dataclasses
import hashlib
import json
import re
import subprocess
import time
from pathlib import PurePath

from . import areas, tests
from .errors import MutateError

# So many programs are linked at once: more would be for nothing if the first one fails.
_BATCH = 4


@dataclasses.dataclass
class Row:
    """One mutant's result; 'status' is killed, survived, stale (its statement is
    gone), broken (it does not compile) or doubtful (the test that failed does so without
    the mutant, too). 'cases' are those of the file that failed."""

    mutant: str
    id: str
    file: str
    function: str
    operator: str
    words: str
    status: str = "survived"
    level: str = ""
    killed_by: str = ""
    cases: list = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    n_tests: int = 0
    unsteady: list = dataclasses.field(default_factory=list)


class Trial:
    def __init__(self, scratch, say):
        self._scratch = scratch
        self._say = say
        self._programs = {}

    # --- without a mutant -----------------------------------------------------

    def measure(self, mutants):
        """Runs, without a mutant, all programs that can see one of these: how
        long they take, and which fail anyway. What is known from before is kept."""
        names = [it for it in self._scratch.words_of("TESTS") if not it.endswith(".py")]
        self._scratch.make_or_fail(*names)
        files = {mutant.file for mutant in mutants}
        known = self._read_known()
        self._programs = {name: known_for(self._scratch.build / name, known.get(name))
                          for name in names}
        for name, facts in self._programs.items():
            if "seconds" not in facts and files & set(facts["sources"]):
                outcome = tests.run_program(self._scratch, name)
                facts.update(seconds=round(outcome.seconds, 2), failure=outcome.failure)
                if outcome.failure:
                    self._say(f"{name} is left out: it fails without a mutant "
                              f"({outcome.failure})")
        self._known_path().write_text(json.dumps(self._programs, indent=1),
                                      encoding="utf-8")

    def _known_path(self):
        return self._scratch.build / "mutate-programs.json"

    def _read_known(self):
        try:
            return json.loads(self._known_path().read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def programs(self, file):
        """The programs that can see a change of this source, in the order to try."""
        def key(name):
            facts = self._programs[name]
            is_near = PurePath(name).parts[:2] == ("tests", "unit") and \
                PurePath(name).parts[2] == PurePath(file).parts[0]
            return (not is_near, facts["seconds"])

        return sorted((name for name, facts in self._programs.items()
                       if file in facts["sources"] and not facts["failure"]), key=key)

    # --- with one --------------------------------------------------------------

    def run(self, mutant, levels, all_files):
        row = Row(mutant.name, mutant.id, mutant.file, mutant.function, mutant.operator,
                  str(mutant))
        begin = time.monotonic()
        text = mutant.applied(self._scratch.read(mutant.file))
        if text is None:
            row.status = "stale"
        else:
            with self._scratch.written(mutant.file, text):
                for level in levels:
                    if row.status == "survived":
                        getattr(self, f"_run_{level}")(row, all_files)
        row.seconds = round(time.monotonic() - begin, 1)
        return row

    def _run_unit(self, row, _all_files):
        names = self.programs(row.file)
        for i in range(0, len(names), _BATCH):
            batch = names[i:i + _BATCH]
            if not self._scratch.make(*batch):
                row.status = "broken"
                return
            for name in batch:
                row.n_tests += 1
                if failure := tests.run_program(self._scratch, name).failure:
                    _kill(row, "unit", f"{name}: {failure}")
                    return

    def _run_integration(self, row, all_files):
        if not self._scratch.make("all-am", *self._helpers()):
            row.status = "broken"
            return
        for name in self._integration_files(row.file, all_files):
            outcome = tests.run_integration_file(self._scratch, name)
            row.n_tests += 1
            if outcome.failure and self._fails_again(name, outcome):
                _kill(row, "integration", f"{name}: {outcome.failure}")
                row.cases = outcome.cases[:1]
                return
            if outcome.failure:
                row.unsteady.append(f"{name}: {outcome.failure}")

    def doubt(self, rows):
        """Runs without a mutant the integration tests that killed some; rows become
        doubtful where those fail."""
        rows = [row for row in rows if row.level == "integration"]
        if rows:
            self._scratch.make_or_fail("all-am", *self._helpers())
        outcomes = {}
        for row in rows:
            what = (row.killed_by.partition(":")[0], *row.cases)
            if what not in outcomes:
                outcomes[what] = tests.run_integration_file(
                    self._scratch, what[0], what[1:])
            if outcomes[what].failure:
                row.status = "doubtful"

    # 'all' would start a second make beside the one that makes these.
    def _helpers(self):
        return [name for variable in ("check_PROGRAMS", "check_LTLIBRARIES")
                for name in self._scratch.words_of(variable)
                if name.startswith(("tests/integration/", "tests/lab/"))]

    def _integration_files(self, file, all_files):
        chosen = areas.integration_files(file)
        if all_files:
            rest = (self._scratch.source / "tests/integration").glob("test_*.py")
            chosen += sorted({str(it.relative_to(self._scratch.source)) for it in rest}
                             - set(chosen))
        for name in chosen:
            if not (self._scratch.source / name).exists():
                raise MutateError(f"{name} is in the table of scripts/mutation/areas.py, "
                                  "but there is no such file")
        return chosen

    def _fails_again(self, name, outcome):
        """Whether what failed does so a second time: a loaded machine kills no mutant.
        A time-out isn't tried again."""
        if not outcome.cases:
            return True
        return bool(tests.run_integration_file(self._scratch, name,
                                               outcome.cases[:1]).failure)


def _kill(row, level, test):
    row.status, row.level, row.killed_by = "killed", level, test


def known_for(path, known):
    """What is known of a program, if it is still the same and did not fail."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if known and known["digest"] == digest and not known.get("failure"):
        return known
    return {"digest": digest, "sources": sources_of(path)}


def sources_of(path):
    """The sources that a program is made of, as its debug information names them,
    relative to the source tree."""
    shown = subprocess.run(
        ["readelf", "--wide", "--debug-dump=info", "--dwarf-depth=1", path],
        check=True, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL).stdout
    found = re.findall(r"DW_AT_name *:.*?(\S+\.c)$", shown, re.MULTILINE)
    return sorted({name.rpartition("/source/")[2] for name in found})
