# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The table and the JSON document about mutants that were tried."""

import dataclasses
import json

_FORMAT = "{:<21} {:<9} {:>7}  {}"


def print_head():
    print(_FORMAT.format("MUTANT", "RESULT", "SECONDS", "KILLED BY, OR WHAT IT IS"))


def print_row(row):
    what = row.killed_by or f"{row.id} {row.words}"
    print(_FORMAT.format(row.mutant, row.status, f"{row.seconds:.1f}", what), flush=True)
    for failure in row.unsteady:
        print(f"{'':<21} failed only once, which does not count: {failure}", flush=True)


def print_sum(rows):
    for row in rows:
        if row.status == "doubtful":
            print(f"{row.mutant} is doubtful, because without it this fails, too: "
                  f"{row.killed_by}")
    counts = {status: sum(row.status == status for row in rows)
              for status in ("killed", "survived", "stale", "broken", "doubtful")}
    print(", ".join(f"{n} {status}" for status, n in counts.items()
                    if n or status in ("killed", "survived")))


def write_json(path, rows, version):
    document = {"commit": version, "mutants": [dataclasses.asdict(row) for row in rows]}
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
