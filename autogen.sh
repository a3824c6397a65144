#!/bin/sh
# Makes ./configure from configure.ac; needed only in a git checkout.
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
set -eu
cd "$(dirname "$0")"
mkdir -p build-aux m4
exec autoreconf --install --force --warnings=all,no-obsolete
