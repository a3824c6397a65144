# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""debian/, rpm/ and selinux/: what they say agrees with the rest, as far as that shows
without a build of the packages (scripts/package-deb, package-test, package-rpm,
package-rpm-test)."""

import fnmatch
import os
import re
import shutil
import subprocess

import pytest

from checks import failed
from labs import BUILDDIR, SRCDIR

pytestmark = [pytest.mark.scripts, pytest.mark.full]

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
    manuals = [*SRCDIR.glob("docs/*.[1-8]"), *SRCDIR.glob("scripts/*.[1-8]")]
    assert len(manuals) > 5, manuals
    for path in manuals:
        heading = re.search(r"^\.TH .*", path.read_text(encoding="utf-8"), re.M)[0]
        assert f'"triad {version}"' in heading, (path, heading)


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


@pytest.mark.row("N3")
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


# --- scripts/package-deb and package-rpm, with programs that build nothing ---

STUBS = {
    "dpkg-parsechangelog": 'case $2 in Version) echo 0.1.0-1 ;; *) echo 0 ;; esac',
    "rpm": 'echo "${2%%[%]*}"',
    **dict.fromkeys(("dpkg-buildpackage", "rpmbuild"), "echo none is built; exit 1"),
    **dict.fromkeys(("dh", "lintian", "checkmodule", "semodule_package"), "exit 0")}
# What each makes, and the same of another version.
MADE = (("package-deb", "triad_0.1.0-1_amd64.deb", "triadctl_0.1.0-2_amd64.deb"),
        ("package-deb", "triad_0.1.0-1_amd64.changes", "triad_0.0.9-1_amd64.changes"),
        ("package-rpm", "triad-0.1.0-1.x86_64.rpm", "triad-lab-0.1.0-2.x86_64.rpm"))


@pytest.fixture(name="package")
def fixture_package(tmp_path):
    """Calls one of the scripts in a checkout of a few files, for the folder 'out'."""
    tree, programs = tmp_path / "tree", tmp_path / "bin"
    for path in ("scripts/package-deb", "scripts/package-rpm", "debian/changelog",
                 "debian/control", "rpm/triad.spec"):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(SRCDIR / path, tree / path)
    subprocess.run(["git", "init", "-q", tree], check=True)
    subprocess.run(["git", "-C", tree, "add", "-A"], check=True)
    programs.mkdir()
    for name, does in STUBS.items():
        (programs / name).write_text(f"#!/bin/bash\n{does}\n", encoding="ascii")
        (programs / name).chmod(0o755)

    def package(script, *options):
        return subprocess.run(
            [tree / "scripts" / script, "--out", "out", *options], text=True, check=False,
            cwd=tmp_path, capture_output=True,
            env={**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"})

    (tmp_path / "out").mkdir()
    return package


@pytest.mark.parametrize("script, own, other", MADE)
def test_packages_of_two_versions_do_not_mix(package, tmp_path, script, own, other):
    (tmp_path / "out" / own).touch()
    failed(package(script), 1, "none is built")
    (tmp_path / "out" / other).touch()
    process = package(script)
    failed(process, 1, f"0.1.0-1 {other} --out")
    assert "none is built" not in process.stderr, process.stderr
    assert {own, other} <= {path.name for path in (tmp_path / "out").iterdir()}, "kept"
    option = {"package-deb": ("--version", "3:0.1.0-2"), "package-rpm": ("--release", "2")}
    (tmp_path / "out" / own).unlink()
    if "0.1.0-2" in other:
        failed(package(script, *option[script]), 1, "none is built")


def test_packages_without_the_page_are_reported_to_be_so(package, tmp_path):
    failed(package("package-rpm"), 1, "no page/dist scripts/page-build")
    (tmp_path / "tree/page/dist").mkdir(parents=True)
    (tmp_path / "tree/page/dist/index.html").touch()
    process = package("package-rpm")
    failed(process, 1, "none is built")
    assert "page/dist" not in process.stderr, process.stderr


# --- rpm/triad.spec ---

MACROS = {"_bindir": "usr/bin", "_sbindir": "usr/sbin", "_libexecdir": "usr/libexec",
          "_libdir": "usr/lib/multiarch",
          "_datadir": "usr/share", "_mandir": "usr/share/man", "_sysconfdir": "etc",
          "_localstatedir": "var", "_unitdir": "usr/lib/systemd/system",
          "_sysusersdir": "usr/lib/sysusers.d",
          "selinux_modules": "usr/share/selinux/packages/targeted"}
# Where debhelper and rpm put documents and licences is theirs.
WORDS = ("%license", "%doc")


def spec_sections():
    """The text of each section by its first line; that of the preamble by ''."""
    heads = "package|description|prep|build|install|check|files|changelog|" \
        "pre|post|preun|postun|posttrans"
    parts = re.split(rf"^%((?:{heads})\b.*)\n", text_of("rpm/triad.spec"), flags=re.M)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2]))}


def spec_package(heading):
    """As in 'files -n triadctl', 'files agent' and 'files'."""
    words = heading.split()[1:]
    return words[-1] if words[:1] == ["-n"] else "-".join(["triad", *words])


def expand(path):
    return re.sub(r"%\{(\w+)\}", lambda macro: MACROS[macro[1]], path).lstrip("/")


def spec_files():
    """What each package lists, without documents."""
    return {spec_package(heading): [
        expand(line.split()[-1]) for line in text.splitlines()
        if line.strip() and not line.startswith(("#", *WORDS))]
            for heading, text in spec_sections().items() if heading.startswith("files")}


def owners_in(lists, path):
    return [package for package, patterns_of_it in lists.items()
            if any(is_in(path, it) for it in patterns_of_it)]


def test_spec_has_the_version_of_configure():
    version = re.search(r"AC_INIT\(\[triad\], \[([\d.]+)\]\)", text_of("configure.ac"))[1]
    sections = spec_sections()
    assert re.search(r"^Version: +(\S+)$", sections[""], re.M)[1] == version, "Version"
    assert re.search(r"> - ([\d.]+)-", sections["changelog"])[1] == version, "changelog"


def test_spec_requires_every_library_of_configure():
    checks = re.findall(
        r"(?:PKG_CHECK_MODULES|TRIAD_FEATURE)\(\[\w+\],(?: \[\$\w+\],)?\s+\[([^\]]+)\]",
        text_of("configure.ac"))
    modules = {word for words in checks for word in words.split() if word[0].isalpha()}
    required = set(re.findall(r"^BuildRequires: +pkgconfig\(([^)]+)\)",
                              text_of("rpm/triad.spec"), re.M))
    assert len(modules) > 10 and modules == required, (modules, required)


@pytest.mark.row("N3")
def test_spec_has_each_installed_file_in_the_package_that_debian_has_it_in(installed):
    debian = {name.removesuffix(".install"): patterns(name) for name in install_lists()}
    rpm = spec_files()
    debian["triad"] += [path for path in installed if path.endswith("triad-check.service")]
    debian["triad-agent"] += [
        path for path in installed if path.endswith("triad-agent.service")]
    debian["triadd"] += [path for path in installed
                         if path.endswith(("triadd.service", "triadd@.service"))]
    for path in installed:
        # '%install' removes these.
        if is_in(path, DOC) or path.endswith(".la"):
            continue
        owners = owners_in(rpm, path)
        assert len(owners) == 1 and owners == owners_in(debian, path), (path, owners)


def test_spec_names_only_files_that_are_there(installed):
    sections = spec_sections()
    for package, listed in spec_files().items():
        for path in listed:
            made = path.rstrip("*").rpartition("/")[2] in sections["install"]
            is_ours = path in ("etc/osmtriad", "var/lib/osmtriad", "var/log/osmtriad")
            assert made or is_ours or any(is_in(it, path) for it in installed), \
                (package, path)
    for heading, text in sections.items():
        for line in text.splitlines() if heading.startswith("files") else []:
            for path in line.split()[1:] if line.startswith(WORDS) else []:
                assert (SRCDIR / path).exists(), path


def test_packages_have_the_same_documents_and_those_that_their_guide_names():
    debian = set(patterns("triadctl.docs", "triadctl.examples"))
    text = spec_sections()["files -n triadctl"]
    rpm = {path for line in text.splitlines() if line.startswith("%doc")
           for path in line.split()[1:]}
    # debhelper is told of NEWS as the changelog.
    assert rpm - {"NEWS"} == debian
    links = re.findall(r"\]\(([\w.-]+)\)", text_of("docs/install.md"))
    assert links and {f"docs/{path}" for path in links} <= debian, links


def test_packages_have_the_same_folders():
    text = spec_sections()["files -n triadctl"]
    folders = {expand(path) for path in re.findall(r"^%dir (\S+)$", text, re.M)}
    assert folders == set(patterns("triadctl.dirs"))


def test_spec_describes_packages_as_debian_does():
    described = {}
    for stanza in text_of("debian/control").split("\n\n")[1:]:
        text = re.search(r"^Description: .*\n((?: .*\n?)*)", stanza, re.M)[1]
        package = re.match(r"Package: (\S+)", stanza)[1]
        described[package] = text.replace("\n .\n", "\n").split()
    for heading, text in spec_sections().items():
        package = spec_package(heading)
        if heading.startswith("description") and package != "triad-selinux":
            assert text.split() == described.pop(package), package
    assert not described, described


def test_selinux_module_knows_triads_folders_and_port():
    contexts = text_of("selinux/triad.fc")
    for folder in ("/etc", "/var/lib", "/var/log", "/run"):
        assert f"\n{folder}/osmtriad(/.*)?" in contexts, folder
    types = set(re.findall(r"object_r:(\w+)", contexts + text_of("selinux/triad_port.cil")))
    declared = set(re.findall(r"^type (\w+);", text_of("selinux/triad.te"), re.M))
    assert types <= declared, (types, declared)
    port = re.search(r"\(portcon tcp (\d+) ", text_of("selinux/triad_port.cil"))[1]
    assert f"127.0.0.1:{port}" in text_of("docs/triad.conf.example"), port
    assert f"({port})" in text_of("rpm/triad.spec"), port
