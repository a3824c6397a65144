# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What 'make install' puts where, and that texts and programs name the same folders."""

import re
import subprocess
import tempfile
from pathlib import Path

import pytest

from checks import failed, succeeded
from labs import AGENT, BUILDDIR, SRCDIR, TRIADD, need

pytestmark = [pytest.mark.scripts, pytest.mark.full, pytest.mark.row("N14")]

NAME_FOLDERS = SRCDIR / "scripts" / "name-folders"


def run(*words):
    return subprocess.run([*map(str, words)], check=False, text=True, capture_output=True,
                          timeout=120)


@pytest.fixture(scope="module", name="root")
def installed():
    need(AGENT, TRIADD)
    with tempfile.TemporaryDirectory(prefix="triad-test-") as root:
        succeeded(run("make", "-C", BUILDDIR, "install", f"DESTDIR={root}"))
        yield Path(root)


def found(root, name):
    """The one file whose path ends so."""
    files = [path for path in root.rglob("*") if str(path).endswith("/" + name)]
    assert len(files) == 1, f"{name}: {files}"
    return files[0]


def test_all_that_a_host_needs_is_installed(root):
    for name in ("bin/triadctl", "libexec/triad/setup", "libexec/triad/opensm_conf.awk",
                 "sbin/triad-agent", "sbin/triadd", "libosmtriad.so",
                 "man1/triadctl.1", "man8/triad-agent.8", "man8/triadd.8",
                 "sysusers.d/triadd.conf", "doc/triad/README.md",
                 "doc/triad/COPYING", "doc/triad/triad.conf.example",
                 "system/triad-agent.service", "system/triad-check.service",
                 "system/triadd.service", "system/triadd@.service",
                 "logrotate.d/osmtriad", "completions/triadctl",
                 "site-functions/_triadctl", "triadctl.fish",
                 "prometheus/triad-alerts.rules.yml", "qos/qos-policy.xml"):
        assert found(root, name).exists(), name
    for folder in ("etc/osmtriad", "var/lib/osmtriad", "var/log/osmtriad"):
        assert (root / folder).is_dir(), folder
    assert not list(root.rglob("*.new")), "what editing left"


def test_texts_name_the_folders_that_programs_use(root):
    asked = succeeded(run(found(root, "triad-agent"), "--help")).stdout
    configuration = re.search(r"\[(\S+)/agent\.conf", asked)[1]
    assert f"{configuration}/agent.conf" in found(root, "triad-agent.8").read_text(), \
        "manual"
    assert f"{configuration}/triad.conf" in found(root, "README.md").read_text(), "README"
    process = run(found(root, "bin/triadctl"), "--port-guid", "0xabcdef", "status")
    sockets = re.search(r"(/\S+)/0x0000000000abcdef\.sock", process.stderr)[1]
    assert f"#socket = {sockets}/%g.sock" in \
        found(root, "triad.conf.example").read_text(), "example"
    assert f"{sockets}/" in found(root, "triadctl.1").read_text(), "manual of triadctl"


def test_units_start_what_was_installed(root):
    for unit in ("triad-agent.service", "triad-check.service", "triadd.service",
                 "triadd@.service"):
        program = re.search(r"^ExecStart=(\S+)", found(root, unit).read_text(), re.M)[1]
        assert (root / program[1:]).exists(), f"{unit}: {program}"


def test_triadd_runs_as_the_user_that_is_installed(root):
    users = found(root, "sysusers.d/triadd.conf").read_text()
    user = re.search(r"^u (\w+) ", users, re.M)[1]
    unit, of_port = (found(root, f"system/{name}.service").read_text().splitlines()
                     for name in ("triadd", "triadd@"))
    assert {f"User={user}", f"Group={user}"} <= set(unit), unit
    start = next(line for line in unit if line.startswith("ExecStart="))
    assert start.endswith("/triadd $TRIADD_OPTIONS"), start
    assert start.replace("/triadd ", "/triadd --port-guid %i ") in of_port, of_port
    settings = [[line for line in text if not line.startswith(("#", "Description=", "Exec"))]
                for text in (unit, of_port)]
    assert settings[0] == settings[1], "an instance has the rights of the other unit"


TEXT = """\
/etc/osmtriad/triad.conf /run/osmtriad/x.sock /var/lib/osmtriad /var/log/osmtriad
RuntimeDirectory=osmtriad
RuntimeDirectoryPreserve=yes
StateDirectory=osmtriad
LogsDirectory=osmtriad
ExecStart=/usr/bin/env triad-agent
"""


def named(folder, name, *folders):
    path = folder / name
    path.write_text(TEXT, encoding="ascii")
    path.chmod(0o640)
    succeeded(run(NAME_FOLDERS, "/b", "/sb", *folders, path))
    assert path.stat().st_mode & 0o777 == 0o640, "mode"
    return path.read_text(encoding="ascii").splitlines()


def test_folders_of_ones_own_are_named_as_they_are_spelt(tmp_path):
    assert named(tmp_path, "a.service", "/o-1/a&b", "/o-1/va|r", "/o-1/run") == [
        "/o-1/a&b/osmtriad/triad.conf /o-1/run/osmtriad/x.sock "
        "/o-1/va|r/lib/osmtriad /o-1/va|r/log/osmtriad",
        "ReadWritePaths=-/o-1/run/osmtriad",
        "ReadWritePaths=-/o-1/va|r/lib/osmtriad",
        "ReadWritePaths=-/o-1/va|r/log/osmtriad",
        "ExecStart=/sb/triad-agent"], "text"
    assert named(tmp_path, "a.5", "/o-1/e", "/o-1/v", "/o-1/r")[0] == \
        r"/o\-1/e/osmtriad/triad.conf /o\-1/r/osmtriad/x.sock " \
        r"/o\-1/v/lib/osmtriad /o\-1/v/log/osmtriad", "for roff"


def test_folders_that_configure_chooses_stay(tmp_path):
    assert named(tmp_path, "a.service", "/etc", "/var", "/run") == \
        TEXT.replace("/usr/bin/env triad-agent", "/sb/triad-agent").splitlines(), "text"


def test_naming_without_files_is_refused():
    failed(run(NAME_FOLDERS, "/b", "/sb", "/etc", "/var", "/run"), 2, "Usage:")
