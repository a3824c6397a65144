# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""scripts/deps: which packages who needs.  It installs none here."""

import re
import subprocess

import pytest

from labs import SRCDIR

pytestmark = pytest.mark.scripts


def deps(*words):
    return subprocess.run([SRCDIR / "scripts" / "deps", *words], check=False, text=True,
                          capture_output=True)


def packages(*words):
    process = deps(*words, "--list")
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    assert all(len(line.split(None, 1)) == 2 for line in lines), "what each is for"
    return {line.split()[0] for line in lines}


def test_each_tier_has_those_before_it():
    build, demo, check = packages("build"), packages("demo"), packages("check")
    assert build < demo < check == packages(), "tiers"
    matrix = packages("matrix")
    assert check < matrix and matrix - check == {"bison", "debootstrap", "flex",
                                                   "libwrap0-dev"}, matrix
    assert {"gcc", "libopensm-dev", "libibumad-dev"} <= build, build
    assert not {"opensm", "ibsim-utils", "python3-pytest", "check", "clang"} & build, build
    assert {"opensm", "ibsim-utils", "python3"} <= demo, demo
    assert packages("package") - build == {
        "build-essential", "bzip2", "check", "checkpolicy", "debhelper", "dpkg-dev", "elfutils",
        "fakeroot", "git", "lintian", "python3", "rpm", "rpmlint",
        "selinux-policy-dev", "semodule-utils", "xz-utils"}, "package"


def test_what_debian_packages_are_built_with_is_in_the_tier():
    """Alternatives with conditions are named, too; debhelper-compat is debhelper's, and pkgconf pkg-config's."""
    control = (SRCDIR / "debian" / "control").read_text(encoding="utf-8")
    needed = re.search(r"^Build-Depends:(.*?)^\S", control, re.DOTALL | re.MULTILINE)[1]
    names = {name.split()[0] for name in needed.split(",") if name.split()}
    assert len(names) > 10 and names - packages("package") == {"debhelper-compat", "pkgconf"}


def test_every_library_of_configure_is_for_the_build():
    """By the file that pkg-config reads; configure itself does without some of them."""
    text = (SRCDIR / "configure.ac").read_text(encoding="utf-8")
    modules = set(re.findall(r"PKG_CHECK_MODULES\(\[\w+\], \[([\w.+-]+)", text)) - {"check"}
    assert len(modules) > 4, modules
    for module in modules:
        owner = subprocess.run(["dpkg-query", "-S", f"*/pkgconfig/{module}.pc"],
                               check=True, text=True, capture_output=True).stdout
        assert owner.split(":")[0] in packages("build"), (module, owner)


def test_word_that_is_none_is_refused():
    process = deps("everything")
    assert process.returncode == 2 and "'everything' is not understood" in process.stderr
