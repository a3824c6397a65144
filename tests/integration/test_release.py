# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""scripts/release, on a clone of a few files: what it refuses, and what it makes but for
packages."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile

import pytest

from checks import failed, mentions, succeeded
from labs import SRCDIR

pytestmark = [pytest.mark.scripts, pytest.mark.full]

FILES = ("configure.ac", "NEWS", "debian/changelog", "debian/control", "rpm/triad.spec",
         "docs/osmtriad.7", "scripts/triad-lab.1", "scripts/deps", "scripts/release",
         "lib/text.c")

PAGE_BUILD = """\
#!/bin/sh
set -e
cd "$(dirname "$0")/../page"
mkdir -p dist/vendor
echo '// SPDX-License-Identifier: GPL-2.0-only' >dist/main.js
echo 'let forces;' >dist/vendor/forces.mjs
"""


def git(folder, *words):
    return succeeded(subprocess.run(
        ["git", "-C", folder, "-c", "user.name=x", "-c", "user.email=x@example",
         "-c", "commit.gpgsign=false", *words], text=True, capture_output=True,
        check=False)).stdout


@pytest.fixture(name="tree")
def fixture_tree(tmp_path):
    folder = tmp_path / "tree"
    paths = [*map(SRCDIR.joinpath, FILES), *(SRCDIR / "scripts/releasing").glob("*.py")]
    for path in paths:
        target = folder / path.relative_to(SRCDIR)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)
    (folder / ".gitignore").write_text("__pycache__/\n/page/dist/\n", encoding="ascii")
    # Stands for the page and its libraries.
    (folder / "page").mkdir()
    (folder / "page/api.js").touch()
    build = folder / "scripts/page-build"
    build.write_text(PAGE_BUILD, encoding="ascii")
    build.chmod(0o755)
    git(tmp_path, "init", "-q", folder)
    commit(folder)
    return folder


def commit(folder):
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x")


def release(tree, *options, umask=0o022, **variables):
    return subprocess.run([tree / "scripts/release", *options], text=True, check=False,
                          capture_output=True, umask=umask,
                          env={**os.environ, **variables})


def edit(path, *change):
    path.write_text(path.read_text(encoding="utf-8").replace(*change), encoding="utf-8")


def test_every_objection_is_reported_at_once(tree):
    git(tree, "tag", "v1.2")
    edit(tree / "configure.ac", "[0.1.0]", "[1.2]")
    edit(tree / "NEWS", "Triad 0.1.0", "Triad 0.3.0")
    edit(tree / "rpm/triad.spec", "0.1.0\n", "0.1.0~rc.1\n")
    edit(tree / "docs/osmtriad.7", "triad 0.1.0", "triad 0.4.0")
    commit(tree)
    (tree / "lib" / "new.c").touch()
    process = release(tree, "--out", tree / "out")
    failed(process, 1, "lib/new.c")
    for words in ("configure.ac 1.2 NEWS 0.3.0 debian/changelog 0.1.0 rpm/triad.spec "
                  "0.1.0-rc.1 docs/osmtriad.7 0.4.0 scripts/triad-lab.1 0.1.0",
                  "'1.2' SemVer", "tag v1.2 commit"):
        assert mentions(process.stderr, words), process.stderr
    assert not (tree / "out").exists(), "nothing is made"


def test_release_is_complete_and_the_same_for_another_user(tree, tmp_path):
    git(tree, "tag", "v0.1.0")
    succeeded(release(tree, "--no-packages", "--out", tmp_path / "one"))
    other = tmp_path / "a longer name"
    git(tmp_path, "clone", "-q", tree, other)
    succeeded(release(other, "--no-packages", "--out", tmp_path / "two", umask=0o077,
                      TZ="Asia/Tokyo", LC_ALL="C"))
    names = ["SHA256SUMS", "triad-0.1.0.spdx.json", "triad-0.1.0.tar.xz"]
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == names
    for name in names:
        assert (tmp_path / "one" / name).read_bytes() == \
            (tmp_path / "two" / name).read_bytes(), name
    succeeded(subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"],
                             cwd=tmp_path / "one", text=True, capture_output=True,
                             check=False))
    failed(release(tree, "--no-packages", "--out", tmp_path / "one"), 1, "isn't empty")
    with tarfile.open(tmp_path / "one" / names[2]) as archive:
        members = {member.name: member for member in archive}
    assert {f"triad-0.1.0/{path}" for path in FILES} <= members.keys(), "files"
    assert {(it.uid, it.uname) for it in members.values()} == {(0, "root")}, "owners"
    document = json.loads((tmp_path / "one" / names[1]).read_text("utf-8"))
    check_sbom(tree, document)
    listed = {f"triad-0.1.0/{it['fileName'][2:]}": it for it in document["files"]}
    assert listed.keys() == {name for name, it in members.items() if not it.isdir()}, \
        "files that are listed, and those of the archive"
    page = {name: listed[f"triad-0.1.0/page/dist/{name}"]["licenseInfoInFiles"]
            for name in ("main.js", "vendor/forces.mjs")}
    assert page == {"main.js": ["GPL-2.0-only"], "vendor/forces.mjs": ["BSD-3-Clause"]}
    assert document["packages"][0]["licenseDeclared"].endswith(") AND BSD-3-Clause"), "licence"


def check_sbom(tree, document):
    """[SPDX 2.3]: members that there must be, ids that lead somewhere, sums, licences."""
    assert document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0"
    assert document["SPDXID"] == "SPDXRef-DOCUMENT"
    assert re.fullmatch(r"https://[^#\s]+", document["documentNamespace"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ",
                        document["creationInfo"]["created"])
    elements = [document, *document["packages"], *document["files"]]
    ids = [element["SPDXID"] for element in elements]
    assert len(set(ids)) == len(ids), "each id once"
    assert all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", name) for name in ids), ids
    for one in document["relationships"]:
        assert {one["spdxElementId"], one["relatedSpdxElement"]} <= set(ids), one
    assert {"DESCRIBES", "CONTAINS", "BUILD_DEPENDENCY_OF"} == {
        one["relationshipType"] for one in document["relationships"]}
    sums = []
    for file in document["files"]:
        octets = (tree / file["fileName"]).read_bytes()
        digests = {it["algorithm"]: it["checksumValue"] for it in file["checksums"]}
        assert digests == {"SHA1": hashlib.sha1(octets).hexdigest(),
                           "SHA256": hashlib.sha256(octets).hexdigest()}, file
        sums.append(digests["SHA1"])
    triad, *libraries = document["packages"]
    assert triad["packageVerificationCode"]["packageVerificationCodeValue"] == \
        hashlib.sha1("".join(sorted(sums)).encode()).hexdigest()
    source = next(file for file in document["files"] if file["fileName"] == "./lib/text.c")
    assert source["licenseInfoInFiles"] == ["GPL-2.0-only", "Linux-OpenIB"], source
    glib = next(it for it in libraries if it["name"] == "libglib2.0-dev")
    version = subprocess.run(["dpkg-query", "-W", "-f=${Version}", glib["name"]], text=True,
                             capture_output=True, check=True).stdout
    assert glib["versionInfo"] == version, glib


def test_release_on_debian_has_no_rpm_packages_and_says_so(tree, tmp_path):
    for script, name in (("package-deb", "triad_0.1.0-1_amd64.deb"),
                         ("package-rpm", "triad-0.1.0-1.x86_64.rpm")):
        program = tree / "scripts" / script
        program.write_text(f'#!/bin/sh\necho of us >"$2/{name}"\n', encoding="ascii")
        program.chmod(0o755)
    commit(tree)
    process = succeeded(release(tree, "--out", tmp_path / "out"))
    assert "no .rpm packages are made" in process.stderr, process.stderr
    made = {path.name for path in (tmp_path / "out").iterdir()}
    assert made == {"SHA256SUMS", "triad-0.1.0.spdx.json", "triad-0.1.0.tar.xz",
                    "triad_0.1.0-1_amd64.deb"}, made


def test_changelogs_are_made_of_news(tree):
    deb = succeeded(release(tree, "--changelog", "deb")).stdout
    assert deb.startswith("triad (0.1.0-1) unstable; urgency=medium\n\n  * libosmtriad.so")
    assert re.search(r"\n -- The Triad authors <\S+>  \w{3}, \d\d \w{3} \d{4} "
                     r"[\d:]+ [-+]0000\n$", deb), deb
    (tree / "debian/changelog").write_text(deb, encoding="utf-8")
    parsed = subprocess.run(["dpkg-parsechangelog", "-S", "Version"], cwd=tree, text=True,
                            capture_output=True, check=False)
    assert (parsed.stdout, parsed.stderr) == ("0.1.0-1\n", "")
    rpm = succeeded(release(tree, "--changelog", "rpm")).stdout
    assert re.match(r"\* \w{3} \w{3} \d\d \d{4} The Triad authors <\S+> - 0.1.0-1\n"
                    "- libosm", rpm), rpm
    news = re.findall(r"^\* ", (tree / "NEWS").read_text("utf-8"), re.M)
    assert len(re.findall("^- ", rpm, re.M)) == len(news), "items"


def test_usage(tree):
    assert "Usage: scripts/release" in succeeded(release(tree, "--help")).stdout
    failed(release(tree, "--changelog", "tar"), 2, "invalid choice")
    failed(release(tree, "--check-reproducible", "--out", "x"), 2, "--out is for")
