# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
EXTRA_DIST += rpm/macros.debian rpm/rpmlint.toml rpm/triad.spec
