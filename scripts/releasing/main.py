# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The command line of scripts/release."""

import argparse
from pathlib import Path

from releasing import make, news
from releasing.tree import ReleaseError, Tree

HELP = """\
Usage: scripts/release [--out DIR] [--no-packages]
       scripts/release --check-reproducible [--no-packages]
       scripts/release --changelog deb|rpm

Makes a release of the commit that is checked out: the source as git knows it, as
triad-VERSION.tar.xz; packages of scripts/package-deb; a list of files, licences and
libraries, as triad-VERSION.spdx.json (SPDX 2.3); and SHA256SUMS of all of them.  The same
commit gives the same octets on hosts with the same packages installed.  .rpm packages are
to be built on RHEL or Fedora, by scripts/package-rpm: those that are linked on Debian work
nowhere else.  HACKING.md says what to do before and after.

It refuses, with all reasons, when the work tree has changes, the versions in configure.ac,
NEWS, debian/changelog, rpm/triad.spec and the manuals differ, the version is not of SemVer,
or its tag is of another commit.

  --out DIR             where to put it, a folder that is empty [release]
  --no-packages         source, list and sums alone
  --check-reproducible  make it twice, in folders of other names, with another umask, time
                        zone and user, and compare; nothing is kept
  --changelog FORM      print what NEWS has on this version as an entry of debian/changelog
                        (deb) or of a spec's %changelog (rpm)
  --help                print this text

'scripts/deps package' installs the tools.

Example: scripts/release --check-reproducible && scripts/release --out /tmp/triad-0.1.0

Exit status: 0 done, 1 refused, failed or not reproducible, 2 usage.
"""


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(2, f"release: {message} (see scripts/release --help)\n")


def _parse():
    parser = _Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--no-packages", action="store_true")
    parser.add_argument("--check-reproducible", action="store_true")
    parser.add_argument("--changelog", choices=sorted(news.FORMS))
    parser.add_argument("--help", "-h", action="store_true")
    options = parser.parse_args()
    if options.out and (options.check_reproducible or options.changelog):
        parser.error("--out is for a release that is kept")
    return options


def _check(tree, options):
    sums, different = make.compare(tree, ["--no-packages"] if options.no_packages else [])
    for path, digest in sorted(sums.items()):
        print(f"{digest}  {path}{'  DIFFERS' if path in different else ''}")
    if different:
        raise ReleaseError(
            f"{len(different)} of {len(sums)} files differ between two builds")
    make.say(f"{len(sums)} files, the same octets twice")


def _run(options):
    tree = Tree(Path(__file__).resolve().parents[2])
    if options.changelog:
        print(news.entry(tree, options.changelog), end="")
        return 0
    objections = tree.objections()
    for objection in objections:
        make.say(objection)
    if objections:
        return 1
    if options.check_reproducible:
        _check(tree, options)
        return 0
    out = (options.out or tree.folder / "release").resolve()
    print(make.make(tree, out, not options.no_packages), end="")
    make.say(f"done in {out}; check it, then tag {tree.commit().name[:12]} as "
             f"v{tree.version()}")
    return 0


def main():
    options = _parse()
    if options.help:
        print(HELP, end="")
        return 0
    try:
        return _run(options)
    except ReleaseError as error:
        make.say(error)
    except OSError as error:
        make.say(f"{error}: install it, or look after the disk")
    return 1
