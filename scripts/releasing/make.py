# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Makes the files of a release, and makes them twice to compare."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from releasing import sbom
from releasing.tree import ReleaseError

SUMS = "SHA256SUMS"
# Left out is what a build tells of itself, its time and machine: *.buildinfo, *.changes.
_PACKAGES = ("*.deb", "*.dsc", "*.tar.xz")
# Two builders: nothing that differs between them may show.
_BUILDERS = (
    ("a", 0o022, {"TZ": "UTC", "LC_ALL": "C.UTF-8", "HOME": "/root"}),
    ("the-other-builder/of-this", 0o027,
     {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "HOME": "/tmp", "USER": "somebody"}))


def say(text):
    print(f"release: {text}", file=sys.stderr, flush=True)


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _page(tree):
    """Makes the page for the browser, of the commit and of the library that is installed;
    returns the paths of its files."""
    program = tree.folder / "scripts" / "page-build"
    if not program.exists():
        return []
    say("scripts/page-build")
    process = subprocess.run([program], stdout=subprocess.DEVNULL, check=False)
    if process.returncode:
        raise ReleaseError("the page could not be built: look at what scripts/page-build "
                           "said")
    folder = tree.folder / "page" / "dist"
    return sorted(str(path.relative_to(tree.folder)) for path in folder.rglob("*")
                  if path.is_file())


def make_tarball(tree, page, out):
    """What git knows at HEAD, and the page.  Its octets are of the commit alone: git sorts,
    sets the commit's time, and names no user."""
    name = f"triad-{tree.version()}"
    target = out / f"{name}.tar.xz"
    added = [option for path in page for option in
             (f"--prefix={name}/{Path(path).parent}/", f"--add-file={tree.folder / path}")]
    with open(target, "wb") as stream:
        archive = subprocess.Popen(
            ["git", "-C", str(tree.folder), "-c", "tar.umask=0022", "archive",
             "--format=tar", *added, f"--prefix={name}/", "HEAD"],
            stdout=subprocess.PIPE)
        packed = subprocess.run(["xz", "-6", "-T1", "-c"], stdin=archive.stdout,
                                stdout=stream, check=False)
        archive.stdout.close()
        if archive.wait() or packed.returncode:
            raise ReleaseError(
                f"{target} could not be written: look at what git and xz said")
    return target


def make_packages(tree, out, seconds):
    """Debian's, where the tree has the script.  No .rpm: libraries are Debian's here (see
    sbom.py), and what was linked with them does not run elsewhere."""
    script = "scripts/package-deb"
    program = tree.folder / script
    if program.exists():
        say(script)
        with tempfile.TemporaryDirectory(prefix="triad-release-") as folder:
            process = subprocess.run(
                [program, "--out", folder], check=False,
                env={**os.environ, "SOURCE_DATE_EPOCH": str(seconds)})
            if process.returncode:
                raise ReleaseError(f"{script} failed: see above")
            for path in sorted({path for pattern in _PACKAGES
                                for path in Path(folder).glob(pattern)}):
                shutil.move(path, out / path.name)
    say("no .rpm packages are made, because those of Debian's libraries work nowhere else: "
        "build them of this commit with scripts/page-build and scripts/package-rpm, on each "
        "system that they are for")


def make(tree, out, with_packages):
    """Writes all files of a release into 'out', which has none of another one."""
    commit = tree.commit()
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise ReleaseError(f"{out} isn't empty: name another folder with --out")
    page = _page(tree)
    tarball = make_tarball(tree, page, out)
    text = sbom.make(tree, commit, page, tarball.name, _digest(tarball))
    (out / f"triad-{tree.version()}.spdx.json").write_text(text, encoding="utf-8")
    if with_packages:
        make_packages(tree, out, commit.seconds)
    sums = "".join(f"{_digest(path)}  {path.name}\n" for path in sorted(out.iterdir()))
    (out / SUMS).write_text(sums, encoding="ascii")
    return sums


def _make_elsewhere(tree, folder, umask, variables, options):
    """Sums of what the script makes of a clone."""
    clone = folder / "triad"
    clone.parent.mkdir(parents=True)
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(tree.folder), str(clone)],
                   check=True, umask=umask)
    process = subprocess.run(
        [clone / "scripts" / "release", "--out", folder / "out", *options], check=False,
        stdout=subprocess.DEVNULL, env={**os.environ, **variables}, umask=umask)
    if process.returncode:
        raise ReleaseError(f"the build in {clone} failed: see above")
    return dict(reversed(line.split()) for line in
                (folder / "out" / SUMS).read_text(encoding="ascii").splitlines())


def compare(tree, options):
    """Makes it twice, in other folders, with another umask and time zone; returns the sums
    and the names of files that differ."""
    with tempfile.TemporaryDirectory(prefix="triad-release-") as name:
        one, other = (_make_elsewhere(tree, Path(name, builder), umask, variables, options)
                      for builder, umask, variables in _BUILDERS)
    return one, sorted(path for path in one.keys() | other.keys()
                       if one.get(path) != other.get(path))
