# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""tests/mutants: each mutant still fits the code, whatever its comments and layout."""

import pytest

from labs import SRCDIR
from mutation.choose import Mutant, read_lists

pytestmark = pytest.mark.scripts

CODE = """\
static int next(int number)
{
	if (number == 2)
		return 1;
	return number;
}
"""
SAME = """\
int next(int number)
{
	log("return 1;"); /* return 1; */
	if (number)
		return /* not return 2; */
			1;
}
"""


def test_mutants_fit_the_code():
    mutants = read_lists(SRCDIR)
    assert len(mutants) >= 40, "mutants"
    unfit = [str(mutant) for mutant in mutants
             if mutant.applied((SRCDIR / mutant.file).read_text(encoding="utf-8")) is None]
    assert unfit == [], "mutants whose statement is gone"


def test_mutant_changes_one_statement_and_no_comment_or_string():
    mutant = Mutant("next.c", "next", "return value", 1, 1, "return 1;", "return 0;")
    assert mutant.applied(CODE) == CODE.replace("return 1", "return 0")
    assert mutant.applied(SAME).split("\n") == [
        *SAME.split("\n")[:4], "\t\treturn 0;", "", "}", ""]


@pytest.mark.parametrize("code", [
    CODE.replace("next", "last"), CODE.replace("return 1", "return 3"),
    CODE.replace("return number", "return 1")], ids=["function", "statement", "number"])
def test_mutant_without_its_statement_does_not_fit(code):
    mutant = Mutant("next.c", "next", "return value", 1, 1, "return 1;", "return 0;")
    assert mutant.applied(code) is None


def test_mutant_of_some_alike_changes_the_one():
    code = CODE.replace("return number", "return 1")
    mutant = Mutant("next.c", "next", "return value", 2, 2, "return 1;", "return 0;")
    assert mutant.applied(code) == "return 0;".join(code.rsplit("return 1;", 1))
