# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A copy of the checkout with a build tree, where mutants are built.

It follows the checkout, with what isn't committed. Only files that differ are copied,
so that make builds only what changed; the checkout itself is never touched.
"""

import contextlib
import fcntl
import filecmp
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import MutateError

_PRINT = """include Makefile
$(info $(%s))
.PHONY: mutate-print
mutate-print: ;@:
"""


class Scratch:
    def __init__(self, checkout, folder, jobs, sanitize=False):
        self.checkout = checkout
        self.folder = Path(folder).resolve()
        self.source = self.folder / "source"
        self.build = self.source / ("build-sanitize" if sanitize else "build")
        self.logs = self.folder / "logs"
        self.jobs = jobs
        self.sanitize = sanitize

    # --- the copy -------------------------------------------------------------

    @contextlib.contextmanager
    def locked(self):
        """One 'mutate' at a time in a folder."""
        self.logs.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "w", encoding="utf-8") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise MutateError(f"another mutate works in {self.folder}: wait for it, "
                                  "or give another folder with --build") from None
            yield

    def prepare(self):
        """Brings copy and build tree to what the checkout is now."""
        listed = self._git("ls-files", "-co", "--exclude-standard", "-z")
        for name in filter(None, listed.split("\0")):
            path = self.checkout / name
            if path.is_file() and self.folder not in path.parents:
                self._copy(name)
        options = ["--enable-sanitizers"] if self.sanitize else []
        is_new = not (self.build / "config.status").exists()
        self._step([self.source / "scripts/build", "--dir", self.build,
                    *(options if is_new else [])], self.source)

    def _copy(self, name):
        path, copy = self.checkout / name, self.source / name
        if not copy.exists() or not filecmp.cmp(path, copy, shallow=False):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)

    def version(self, folders=(".",)):
        """The commit that last changed these folders; '-dirty' if there is more in them
        by now."""
        commit = self._git("log", "-1", "--format=%h", "--abbrev=12", "--", *folders)
        changed = self._git("status", "--porcelain", "--", *folders)
        return commit.strip() + ("-dirty" if changed else "")

    def _git(self, *arguments):
        return subprocess.run(["git", "-C", self.checkout, *arguments], check=True,
                              text=True, stdout=subprocess.PIPE).stdout

    def read(self, name):
        path = self.source / name
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @contextlib.contextmanager
    def written(self, name, text):
        """The copy with another text in this file, while it lasts."""
        try:
            (self.source / name).write_text(text, encoding="utf-8")
            yield
        finally:
            self._copy(name)

    # --- building -------------------------------------------------------------

    def _step(self, command, cwd):
        done = subprocess.run(list(map(str, command)), cwd=cwd, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            raise MutateError(f"{' '.join(map(str, command))} failed:\n"
                              + "\n".join(done.stdout.splitlines()[-30:]))

    def make(self, *targets):
        """Whether make could build these."""
        with open(self.logs / "make.log", "wb") as log:
            return subprocess.run(
                ["make", "-C", self.build, f"-j{self.jobs}", *map(str, targets)],
                check=False, stdout=log, stderr=subprocess.STDOUT).returncode == 0

    def make_or_fail(self, *targets):
        if not self.make(*targets):
            raise MutateError("what has no mutant does not build; see "
                              f"{self.logs / 'make.log'}")

    def text_of(self, variable):
        """What a variable of the Makefile stands for."""
        return subprocess.run(["make", "-s", "-f", "-", "mutate-print"], cwd=self.build,
                              input=_PRINT % variable, check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()

    def words_of(self, variable):
        return self.text_of(variable).split()

    def compiled(self, name):
        """What a source compiles to, without debug information; None if it doesn't."""
        target = self._object(name)
        if not self.make(target):
            return None
        path = self.build / target
        if target.endswith(".lo"):
            pic = re.search(r"^pic_object='(.*)'", path.read_text(), re.MULTILINE)[1]
            path = path.parent / pic
        with tempfile.NamedTemporaryFile(dir=self.logs) as stripped:
            subprocess.run(["objcopy", "--strip-debug", path, stripped.name], check=True)
            return Path(stripped.name).read_bytes()

    def _object(self, name):
        """The make target that a source is compiled to: the library's, if there are
        several."""
        path = Path(name)
        found = []
        for rules in (self.build / path.parent / ".deps").glob(f"*{path.stem}.P*o"):
            match = re.match(r"(\S+):[\s\\]*(\S+)", rules.read_text(encoding="utf-8"))
            if match and match[2].endswith("/" + name):
                found.append(match[1])
        if not found:
            raise MutateError(f"{name} is not part of the build in {self.build}")
        return min(found, key=lambda it: (not it.endswith(".lo"), "tests_" in it, it))
