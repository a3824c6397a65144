# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""scripts/opensm-matrix where nothing can be built; building takes minutes."""

import subprocess
import tarfile

import pytest

from labs import SRCDIR

pytestmark = pytest.mark.scripts


def matrix(*words):
    return subprocess.run([SRCDIR / "scripts" / "opensm-matrix", *map(str, words)],
                          check=False, text=True, capture_output=True)


def test_version_that_does_not_build_is_a_row_and_the_next_is_tried(tmp_path):
    (tmp_path / "opensm-3.3.99").mkdir()
    (tmp_path / "opensm-3.3.99" / "README").write_text("no sources\n", encoding="ascii")
    with tarfile.open(tmp_path / "opensm-3.3.99.tar.xz", "w:xz") as tar:
        tar.add(tmp_path / "opensm-3.3.99", "opensm-3.3.99")
    process = matrix("--no-deps", "--sources", tmp_path, "--cache", tmp_path / "cache",
                     "3.3.99", "3.3.98", "3.3.98-debug")
    assert process.returncode == 1, process.stderr
    heading, first, second, variant = process.stdout.splitlines()
    assert heading.split() == ["OPENSM", "TESTS", "PASSED", "FAILED", "SKIPPED", "SECONDS",
                               "OUTCOME"], heading
    log = tmp_path / "cache" / "3.3.99" / "opensm.log"
    assert first.startswith("3.3.99") and first.endswith(f"failed: see {log}"), first
    assert "autoreconf" in log.read_text(encoding="utf-8"), "the log"
    assert second.endswith(f"no {tmp_path}/opensm-3.3.98.tar.*"), second
    assert variant.endswith(f"no {tmp_path}/opensm-3.3.98.tar.*"), variant
    assert variant.split()[:2] == ["3.3.98-debug", "plain"], variant


def test_words_wrong_are_reported(tmp_path):
    process = matrix("3.3.24")
    assert process.returncode == 2 and "--sources is missing" in process.stderr, process
    process = matrix("--sources", tmp_path)
    assert process.returncode == 2 and "has no opensm-VERSION" in process.stderr, process
    process = matrix("--tests", "test_none.py")
    assert process.returncode == 2 and "has no test_none.py" in process.stderr, process


def test_version_behind_a_file_of_tests_is_a_version(tmp_path):
    (tmp_path / "opensm-3.3.97.tar.xz").touch()
    process = matrix("--no-deps", "--sources", tmp_path, "--cache", tmp_path / "cache",
                     "--tests", "test_conf.py", "--tests", "test_web.py", "3.3.99")
    _, row = process.stdout.splitlines()
    assert row.startswith("3.3.99"), row
