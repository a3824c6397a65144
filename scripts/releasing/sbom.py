# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A list of what is in a release, as SPDX 2.3 in JSON: its files with their licences, and
the libraries that it was built with."""

import hashlib
import json
import re
import subprocess
import time

from releasing.tree import ReleaseError

_LICENSE = re.compile(r"SPDX-License-Identifier: *([A-Za-z0-9.+() -]+?) *(?:\*/|-->|\\|$)")
_DOCUMENT, _PACKAGE = "SPDXRef-DOCUMENT", "SPDXRef-triad"
# A licence stands in the first lines of a file.
_HEAD_OCTETS = 1024
_NONE = "NOASSERTION"
# Of files without such a line, such as inputs of tests (debian/copyright).
_DECLARED = "GPL-2.0-only OR Linux-OpenIB"
# Files of the page that are another's, d3-force and what it needs (scripts/page-build).
_VENDOR, _VENDORS_LICENSE = "page/dist/vendor/", "BSD-3-Clause"


def _license_of(octets):
    head = octets[:_HEAD_OCTETS].decode("utf-8", "replace")
    for line in head.splitlines():
        found = _LICENSE.search(line)
        if found:
            return found[1]
    return None


def _identifiers(expression):
    words = re.findall(r"[A-Za-z0-9.+-]+", expression)
    return sorted({word for word in words if word not in ("AND", "OR", "WITH")})


def _file(tree, path, number):
    """A link is what it names."""
    place = tree.folder / path
    octets = str(place.readlink()).encode() if place.is_symlink() else place.read_bytes()
    expression = _VENDORS_LICENSE if path.startswith(_VENDOR) else _license_of(octets)
    return {
        "SPDXID": f"SPDXRef-file-{number}", "fileName": f"./{path}",
        "checksums": [{"algorithm": name, "checksumValue":
                       hashlib.new(name.lower(), octets).hexdigest()}
                      for name in ("SHA1", "SHA256")],
        "licenseConcluded": expression or _DECLARED,
        "licenseInfoInFiles": _identifiers(expression) if expression else [_NONE],
        "copyrightText": _NONE,
    }


def _verification_code(files):
    """[SPDX 2.3, 7.9]"""
    sums = sorted(file["checksums"][0]["checksumValue"] for file in files)
    return hashlib.sha1("".join(sums).encode()).hexdigest()


def _libraries(tree):
    """(package, version) of each library that the build needs, as it is installed."""
    listed = subprocess.run([tree.folder / "scripts" / "deps", "build", "--list"],
                            text=True, capture_output=True, check=True).stdout
    names = sorted(line.split()[0] for line in listed.splitlines()
                   if line.split()[0].endswith("-dev"))
    process = subprocess.run(
        ["dpkg-query", "-W", "-f=${db:Status-Abbrev} ${Package} ${Version}\\n", *names],
        text=True, capture_output=True, check=False)
    found = {name: version for state, name, version in
             (line.split() for line in process.stdout.splitlines() if line.count(" ") >= 2)
             if state == "ii"}
    missing = [name for name in names if name not in found]
    if missing:
        raise ReleaseError(f"{', '.join(missing)}: not installed, so their versions are "
                           "not known: run 'scripts/deps build' as root")
    return sorted(found.items())


def _library(name, version):
    return {
        "SPDXID": f"SPDXRef-library-{re.sub('[^A-Za-z0-9.-]', '-', name)}", "name": name,
        "versionInfo": version, "downloadLocation": _NONE, "filesAnalyzed": False,
        "licenseConcluded": _NONE, "licenseDeclared": _NONE, "copyrightText": _NONE,
        "supplier": "Organization: Debian",
        "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                          "referenceLocator": f"pkg:deb/debian/{name}@"
                          + version.replace("+", "%2B").replace(":", "%3A")}],
    }


def _package(version, files, has_vendor, tarball, digest):
    declared = f"({_DECLARED}) AND {_VENDORS_LICENSE}" if has_vendor else _DECLARED
    found = sorted({name for file in files for name in file["licenseInfoInFiles"]})
    return {
        "SPDXID": _PACKAGE, "name": "triad", "versionInfo": version,
        "packageFileName": tarball, "downloadLocation": _NONE, "filesAnalyzed": True,
        "packageVerificationCode": {"packageVerificationCodeValue":
                                    _verification_code(files)},
        "checksums": [{"algorithm": "SHA256", "checksumValue": digest}],
        "licenseConcluded": declared, "licenseDeclared": declared,
        "licenseInfoFromFiles": found, "copyrightText": _NONE,
        "supplier": "Organization: The Triad authors",
        "primaryPackagePurpose": "SOURCE",
    }


def _relation(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def make(tree, commit, page, tarball, digest):
    """The text, of the tarball of that name and SHA-256, which has the commit's files and
    'page', those that were built for the browser."""
    version = tree.version()
    has_vendor = any(path.startswith(_VENDOR) for path in page)
    files = [_file(tree, path, number)
             for number, path in enumerate([*commit.files, *page], 1)]
    libraries = [_library(*one) for one in _libraries(tree)]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(commit.seconds))
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": _DOCUMENT,
        "name": f"triad-{version}",
        "documentNamespace": f"https://triad.example/spdx/triad-{version}-{digest[:16]}",
        "creationInfo": {"created": created,
                         "creators": [f"Tool: triad-release-{version}"]},
        "packages": [_package(version, files, has_vendor, tarball, digest), *libraries],
        "files": files,
        "relationships": [
            _relation(_DOCUMENT, "DESCRIBES", _PACKAGE),
            *(_relation(_PACKAGE, "CONTAINS", file["SPDXID"]) for file in files),
            *(_relation(library["SPDXID"], "BUILD_DEPENDENCY_OF", _PACKAGE)
              for library in libraries)],
    }
    return json.dumps(document, indent=1) + "\n"
