# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Options of the tests.  pytest reads this file, but not those in folders below, before it
reads the command line."""


def pytest_addoption(parser):
    parser.addoption("--keep-labs", action="store_true",
                     help="leave a lab running that a test failed in; its folder is in "
                          "the report")
