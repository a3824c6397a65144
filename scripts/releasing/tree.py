# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The checkout that a release is made of: its commit, versions, and what is in the way."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SEMVER = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
                     r"(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?")
_NAMED_FILES = 5


class ReleaseError(Exception):
    """Something failed; the text says what, why and what to do."""


@dataclass(frozen=True)
class Commit:
    name: str
    seconds: int  # since 1970
    files: tuple


class Tree:
    """A checkout."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def git(self, *words):
        """What git prints, without the last line's end."""
        process = subprocess.run(["git", "-C", str(self.folder), *words], text=True,
                                 capture_output=True, check=False)
        if process.returncode:
            raise ReleaseError(f"git {words[0]}: {process.stderr.strip()}")
        return process.stdout.rstrip("\n")

    def text(self, path):
        return (self.folder / path).read_text(encoding="utf-8")

    def commit(self):
        files = self.git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
        return Commit(self.git("rev-parse", "HEAD"),
                      int(self.git("log", "-1", "--format=%ct")),
                      tuple(sorted(path for path in files if path)))

    def _manuals(self):
        """Their paths."""
        return sorted(str(path.relative_to(self.folder)) for folder in ("docs", "scripts")
                      for path in (self.folder / folder).glob("*.[1-8]"))

    def versions(self):
        """Of the files that have one; None where it was not found."""
        found = {
            "configure.ac": re.search(r"AC_INIT\(\[triad\], *\[(.*?)\]\)",
                                      self.text("configure.ac")),
            "NEWS": re.match(r"Triad (\S+)\n=+\n", self.text("NEWS")),
            "debian/changelog": re.match(r"triad \((.+?)-[^-)]+\)",
                                         self.text("debian/changelog")),
            "rpm/triad.spec": re.search(r"^Version: +(\S+)$", self.text("rpm/triad.spec"),
                                        re.M),
            **{path: re.search(r'^\.TH .*"triad (\S+)"', self.text(path), re.M)
               for path in self._manuals()},
        }
        # Debian and rpm sort what is behind '~' before a release, as SemVer does with '-'.
        return {path: match and match[1].replace("~", "-")
                for path, match in found.items()}

    def version(self):
        return self.versions()["configure.ac"]

    def objections(self):
        """Why no release can be made of it; all of them."""
        return [*self._unclean(), *self._other_versions(), *self._tagged()]

    def _unclean(self):
        lines = self.git("status", "--porcelain").splitlines()
        if lines:
            names = ", ".join(line[3:] for line in lines[:_NAMED_FILES])
            more = len(lines) - _NAMED_FILES
            yield (f"the work tree has changes: {names}"
                   + (f" and {more} more" if more > 0 else "")
                   + ": commit them, or put them aside with git stash")

    def _other_versions(self):
        versions = self.versions()
        if len(set(versions.values())) > 1 or None in versions.values():
            said = ", ".join(f"{path} {version or 'none'}"
                             for path, version in versions.items())
            yield f"the versions differ: {said}: write the same into all of them"
        version = versions["configure.ac"]
        if not version or not _SEMVER.fullmatch(version):
            yield (f"configure.ac: the version '{version}' is not of SemVer, as 1.2.3 or "
                   "1.2.3-rc.1: see docs/upgrade.md")

    def _tagged(self):
        tag = f"v{self.version()}"
        if not self.git("tag", "--list", tag):
            return
        there, head = self.git("rev-list", "-n", "1", tag), self.git("rev-parse", "HEAD")
        if there != head:
            yield (f"tag {tag} is of another commit, {there[:12]}: this release was made; "
                   "set the next version")
