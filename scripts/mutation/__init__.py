# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Mutation testing: what scripts/mutate is made of.

    areas       which sources an area has, which integration tests can see them
    source      C text: functions, statements, conditions
    operators   the small changes that can be made in a function
    choose      a mutant; which of them a seed chooses; the lists they are kept in
    scratch     a copy of the checkout with a build tree, where mutants are built
    process     programs with a time limit, and the end of all they started
    tests       runs one test program or one file of integration tests
    trial       tries one mutant: which tests, in which order, what they say
    report      the table and the JSON document

A mutant is the product with one small change that should break something. A test that
fails then kills it; a mutant that survives shows what no test looks at.
"""
