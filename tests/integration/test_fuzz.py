# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""scripts/fuzz, on programs that say what libFuzzer says."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.scripts

SRCDIR = Path(os.environ.get("TRIAD_SRCDIR", Path(__file__).resolve().parents[2]))

GOOD = """\
INFO: Seed: 1
#3	INITED cov: 10 ft: 20 corp: 2/10b exec/s: 0 rss: 30Mb
#900	NEW    cov: 35 ft: 70 corp: 9/90b lim: 4 exec/s: 450 rss: 30Mb L: 3/9 MS: 1 Cross-
#1234	DONE   cov: 35 ft: 71 corp: 9/90b lim: 4 exec/s: 617 rss: 30Mb
stat::number_of_executed_units: 1234
stat::average_exec_per_sec:     617
stat::new_units_added:          7
"""

BAD = """\
#3	INITED cov: 10 ft: 20 corp: 2/10b exec/s: 0 rss: 30Mb
fuzz_pma: a port is reported once
==17== ERROR: libFuzzer: deadly signal
"""

PROGRAM = """\
#!{python}
import sys
options = dict(word[1:].split("=", 1) for word in sys.argv[1:] if word.startswith("-"))
sys.stderr.write({text!r})
if {fails}:
    kept = options["artifact_prefix"] + "crash-1234"
    open(kept, "w").write("input")
    sys.stderr.write("artifact_prefix='./'; Test unit written to " + kept + "\\n")
open({noted!r}, "w").write(" ".join(sys.argv[1:]))
sys.exit(77 if {fails} else 0)
"""


@pytest.fixture
def fuzz(tmp_path):
    """Runs scripts/fuzz on two programs; fuzz_pma fails."""
    programs = tmp_path / "tests" / "fuzz"
    programs.mkdir(parents=True)
    for name, text in {"fuzz_pma": BAD, "fuzz_conf": GOOD}.items():
        program = programs / name
        program.write_text(PROGRAM.format(python=sys.executable, text=text,
                                          fails=text is BAD,
                                          noted=str(tmp_path / f"{name}.words")))
        program.chmod(0o755)

    def run(*words):
        return subprocess.run([SRCDIR / "scripts" / "fuzz", "--no-build", "--dir", tmp_path,
                               "--seconds", "1", *words], check=False, timeout=60,
                              capture_output=True, text=True)
    return run


def test_table_has_a_row_of_what_was_executed(fuzz):
    done = fuzz("fuzz_conf")
    assert done.returncode == 0, done.stderr
    head, row = done.stdout.splitlines()
    assert head.split() == ["target", "executions", "per", "s", "cov", "ft", "new"]
    assert row.split() == ["fuzz_conf", "1234", "617", "35", "71", "7"]


def test_failure_keeps_the_input_and_names_the_command(fuzz, tmp_path):
    done = fuzz("fuzz_pma", "fuzz_conf")
    assert done.returncode == 1
    kept = tmp_path / "crashes" / "fuzz_pma-crash-1234"
    assert kept.read_text() == "input"
    assert f"replay: {tmp_path}/tests/fuzz/fuzz_pma {kept}" in done.stdout
    assert "fuzz_pma FAILED: fuzz_pma: a port is reported once" in done.stderr


def test_json_says_the_same(fuzz):
    rows = json.loads(fuzz("--json", "fuzz_pma", "fuzz_conf").stdout)["targets"]
    assert [row["target"] for row in rows] == ["fuzz_pma", "fuzz_conf"]
    assert [row["failed"] for row in rows] == [True, False]
    assert rows[0]["why"] == "fuzz_pma: a port is reported once"
    assert rows[1]["new_inputs"] == 7


def test_new_inputs_are_kept_where_they_are_wanted(fuzz, tmp_path):
    assert fuzz("fuzz_conf", "--corpus", str(tmp_path / "kept"), "--seed",
                "5").returncode == 0
    words = (tmp_path / "fuzz_conf.words").read_text().split()
    assert words[-2:] == [str(tmp_path / "kept" / "fuzz_conf"),
                          str(SRCDIR / "tests" / "fuzz" / "corpus" / "fuzz_conf")]
    assert "-seed=5" in words and "-max_total_time=1" in words


def test_program_that_is_missing_fails(fuzz):
    done = fuzz("fuzz_sa")
    assert done.returncode == 1
    assert "fuzz_sa FAILED: it ended with No such file or directory" in done.stderr


def test_target_that_is_not_there_is_a_mistake(fuzz):
    done = fuzz("fuzz_nothing")
    assert done.returncode == 2
    assert "no target fuzz_nothing" in done.stderr
