# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What goes wrong, in words for the user."""


class MutateError(Exception):
    """Something failed; the text says what."""

    exit_status = 3


class UsageError(MutateError):
    """The command line is wrong."""

    exit_status = 2
