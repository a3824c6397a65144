# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Errors that are told to the user in one sentence, without a traceback."""


class LabError(Exception):
    """Something failed; the text says what, why and what to do."""

    exit_status = 1


class UsageError(LabError):
    """The user asked for something that cannot be."""

    exit_status = 2
