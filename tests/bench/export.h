/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of the benchmark of exports; each prints what it measured. */
#ifndef TRIAD_TESTS_BENCH_EXPORT_H
#define TRIAD_TESTS_BENCH_EXPORT_H

#include <stdbool.h>

void bench_sflow(unsigned n_ports, bool as_json);
void bench_metrics(unsigned n_ports, bool as_json);

#endif
