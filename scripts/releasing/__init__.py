# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What scripts/release is made of."""
