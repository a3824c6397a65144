# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""tests/model: the election does, step by step, what its model does.  That the model is right
in all its states is checked by tests/model/run."""

import subprocess

import pytest

from labs import BUILDDIR, SRCDIR

pytestmark = pytest.mark.row("N17")

REPLAY = BUILDDIR / "tests/sim/model_replay"
MODEL = SRCDIR / "tests/model/election.pml"
N_RUNS = 6


def replay(folder, seed, *definitions):
    """A random run of the model, repeated by the code."""
    run = subprocess.run(["spin", "-T", f"-n{seed}", "-u9000", "-DPRINTS", *definitions, MODEL],
                         cwd=folder, check=False, capture_output=True, text=True)
    return subprocess.run([REPLAY], input=run.stdout, check=False, capture_output=True, text=True)


@pytest.mark.plain
@pytest.mark.parametrize("definitions", [(), ("-DANY_ORDER",), ("-DANY_ORDER", "-DSTARTS")],
                         ids=["in_turn", "any_order", "start"])
def test_election_does_what_the_model_does(tmp_path, definitions):
    for seed in range(1, N_RUNS + 1):
        process = replay(tmp_path, seed, *definitions)
        assert process.returncode == 0, f"seed {seed}: {process.stdout}{process.stderr}"


@pytest.mark.full
@pytest.mark.parametrize("rule", ["ELECTING", "DISK", "DIFFERS", "HIGHER"])
def test_model_without_a_rule_does_something_else(tmp_path, rule):
    different = [seed for seed in range(1, 31)
                 if replay(tmp_path, seed, f"-DUNDO_{rule}").returncode]
    assert different, "no run shows the rule"
