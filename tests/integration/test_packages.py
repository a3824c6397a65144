# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""debian/: what it says agrees with the rest, as far as that shows without a build of the
packages (scripts/package-deb, scripts/package-test)."""

import fnmatch
import re
import subprocess

import pytest

from labs import BUILDDIR, SRCDIR

pytestmark = pytest.mark.scripts

DEBIAN = SRCDIR / "debian"
# What 'make install' writes into the documentation's folder is put there by debhelper.
DOC = "usr/share/doc/triad/*"


def text_of(path):
    return (SRCDIR / path).read_text(encoding="utf-8")


def patterns(*names):
    """The first words of their lines."""
    return [line.split()[0] for name in names
            for line in (DEBIAN / name).read_text(encoding="utf-8").splitlines()
            if line.strip() and not line.startswith("#")]


def install_lists():
    return sorted(path.name for path in DEBIAN.glob("*.install"))


def is_in(path, pattern):
    return fnmatch.fnmatch(path, pattern) or path.startswith(pattern.rstrip("/") + "/")


def test_version_is_that_of_configure():
    version = re.search(r"AC_INIT\(\[triad\], \[([\d.]+)\]\)", text_of("configure.ac"))[1]
    packaged = re.match(r"triad \(([\d.]+)-[^)]+\)", text_of("debian/changelog"))[1]
    news = re.match(r"Triad ([\d.]+)\n", text_of("NEWS"))[1]
    assert packaged == news == version, (packaged, news, version)


def test_build_dependencies_are_those_of_deps():
    listed = subprocess.run([SRCDIR / "scripts" / "deps", "build", "--list"], check=True,
                            text=True, capture_output=True).stdout.splitlines()
    libraries = {line.split()[0] for line in listed if line.split()[0].endswith("-dev")}
    field = re.search(r"Build-Depends: (.*?)\n\S", text_of("debian/control"), re.S)[1]
    wanted = {item.split()[0] for item in field.split(",")}
    # The C library's comes with the compiler, which Debian takes for granted.
    assert libraries - {"libc6-dev"} == {it for it in wanted if it.endswith("-dev")}


@pytest.fixture(scope="module", name="installed")
def fixture_installed(tmp_path_factory):
    """What 'make install' writes, as the packages configure it."""
    folder = tmp_path_factory.mktemp("installed")
    made = subprocess.run(
        ["make", "-s", "-C", BUILDDIR, "install", f"DESTDIR={folder}", "prefix=/usr",
         "libdir=/usr/lib/multiarch", "sysconfdir=/etc", "localstatedir=/var"],
        check=False, text=True, capture_output=True)
    assert made.returncode == 0, made.stderr
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                  if not path.is_dir())


def test_installed_files_are_in_one_package_each(installed):
    assert len(installed) > 20, installed
    packaged = patterns(*install_lists())
    left_out = [*patterns("not-installed"), DOC]
    for path in installed:
        owners = [it for it in packaged if is_in(path, it)]
        assert len(owners) + any(is_in(path, it) for it in left_out) == 1, (path, owners)


def test_packages_name_only_files_that_are_there(installed):
    for pattern in patterns(*install_lists()):
        built = [*SRCDIR.glob(pattern), *BUILDDIR.glob(pattern)]
        assert built or any(is_in(path, pattern) for path in installed), pattern
    for path in patterns("triadctl.docs", "triadctl.examples", "triad-lab.manpages"):
        assert (SRCDIR / path).exists(), path
