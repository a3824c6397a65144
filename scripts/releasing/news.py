# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Changelogs of packages, made of NEWS."""

import email.utils
import re
import textwrap
import time

from releasing.tree import ReleaseError

_WIDTH = 78


def items(text, version):
    """What NEWS lists of a version, each in one line."""
    match = re.search(rf"^Triad {re.escape(version)}\n=+\n(.*?)(?=^Triad \S+\n=|\Z)", text,
                      re.M | re.S)
    if not match:
        raise ReleaseError(f"NEWS has nothing on {version}: write what is new")
    return [" ".join(item.split())
            for item in re.findall(r"^\* (.*?)(?=^\* |^\S|\Z)", match[1], re.M | re.S)]


def _lines(entries, mark, indent):
    return "\n".join(textwrap.fill(entry, _WIDTH, initial_indent=mark,
                                   subsequent_indent=indent, break_long_words=False,
                                   break_on_hyphens=False)
                     for entry in entries)


def debian(entries, version, maintainer, seconds):
    """An entry of debian/changelog."""
    return (f"triad ({version.replace('-', '~')}-1) unstable; urgency=medium\n\n"
            f"{_lines(entries, '  * ', '    ')}\n\n"
            f" -- {maintainer}  {email.utils.formatdate(seconds)}\n")


def rpm(entries, version, maintainer, seconds):
    """An entry of a spec's %changelog, which wants English days and no '%'."""
    day = time.strftime("%a %b %d %Y", time.gmtime(seconds))
    entries = [entry.replace("%", "%%") for entry in entries]
    return (f"* {day} {maintainer} - {version.replace('-', '~')}-1\n"
            f"{_lines(entries, '- ', '  ')}\n")


FORMS = {"deb": debian, "rpm": rpm}


def entry(tree, form):
    maintainer = re.search(r"^Maintainer: (.*)$", tree.text("debian/control"), re.M)[1]
    version = tree.version()
    return FORMS[form](items(tree.text("NEWS"), version), version, maintainer,
                       tree.commit().seconds)
