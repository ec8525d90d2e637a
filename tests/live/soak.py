#!/usr/bin/env python3
"""A thousand engines on sixteen publishers for a while: nothing may be lost between publisher, bus, models and journal, memory
stays flat, and the planner costs part of one core. Prints one line of a table.

Usage: soak.py DYNAPLAN LIVE_LOAD [--seconds S] [--engines N] [--publishers K] [--rate R] [--folder DIR]"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

from processes import Engines, Fault, Planner, replay_each, until

# The journal's buffer of 16 MiB becomes memory in its first lap, in the twenty seconds that 20,000 reports a second take to
# fill it once; before that nothing can be said of memory.
LAP_BYTES = 16 << 20
# Of the median in the last third against the first one: allocators keep what a checkpoint took.
GROWTH_MOST = 0.05
GROWTH_MOST_KB = 4096


class Samples:
    def __init__(self, planner: Planner):
        self.planner = planner
        self.rows: list[tuple[float, int, float]] = []  # time, kB, processor seconds
        self.warm_at: int | None = None  # the first row after the lap

    def take(self) -> None:
        written = sum(path.stat().st_size for path in self.planner.journal.iterdir())
        if self.warm_at is None and written > LAP_BYTES:
            self.warm_at = len(self.rows)
        self.rows.append((time.monotonic(), self.planner.resident_kb(), self.planner.cpu_s()))

    def check_memory(self) -> tuple[float, float]:
        """The medians of the first and the last third after the lap, MB."""
        rows = self.rows[self.warm_at:] if self.warm_at is not None else []
        third = len(rows) // 3
        if third < 3:
            raise Fault(f"{len(rows)} samples after the first lap of the journal's buffer: --seconds is too short")
        first, last = (statistics.median(row[1] for row in part) for part in (rows[:third], rows[-third:]))
        if last > first * (1 + GROWTH_MOST) and last > first + GROWTH_MOST_KB:
            raise Fault(f"memory grew from {first:g} kB to {last:g} kB")
        return first / 1024, last / 1024

    def of_one_core(self) -> float:
        (began, _, before), (ended, _, after) = self.rows[0], self.rows[-1]
        return (after - before) / (ended - began)


def measure(arguments: argparse.Namespace, folder: pathlib.Path) -> dict:
    n = arguments.engines
    with Engines(arguments.load, "--engines", str(n), "--publishers", str(arguments.publishers), "--rate", str(arguments.rate),
                 "--seconds", str(arguments.seconds)) as engines:
        with Planner(arguments.program, folder, engines.endpoints(arguments.publishers)) as planner:
            engines.started()
            samples = Samples(planner)
            end = time.monotonic() + arguments.seconds
            while time.monotonic() < end and engines.process.poll() is None:
                samples.take()
                planner.call("GET", "/metrics")  # as a Prometheus would, rather more often
                time.sleep(0.5)
            load = engines.summary()
            until("everything that was sent is received",
                  lambda: planner.metric("dynaplan_fpm_received_total") >= load["sent"], 10.0)
            counts = {name: planner.metric(f"dynaplan_{name}_total") for name in
                      ("fpm_received", "fpm_observed", "fpm_refused", "fpm_gap", "journal_dropped", "stalls", "proposals")}
            state = planner.state()
            if planner.end() != 0:
                raise Fault("serve did not stop cleanly")
    expected = {"fpm_received": load["sent"], "fpm_observed": load["sent"], "fpm_refused": 0, "fpm_gap": 0,
                "journal_dropped": 0, "stalls": 0, "proposals": 0}
    wrong = {name: (counts[name], wanted) for name, wanted in expected.items() if counts[name] != wanted}
    if wrong or load["dropped"]:
        raise Fault(f"found, wanted: {wrong}; lost by publishers: {load['dropped']}; journal: {state['journal']}")
    if len(state["engines"]) != n or state["journal"]["state"] != "ok":
        raise Fault(f"{len(state['engines'])} engines, journal {state['journal']}")
    first, last = samples.check_memory()
    segments = replay_each(arguments.program, planner.journal)
    return {"engines": n, "publishers": arguments.publishers, "seconds": load["seconds"],
            "fpm_per_s": round(load["sent"] / load["seconds"]), "sent": load["sent"], "first_mb": first,
            "last_mb": last, "core": samples.of_one_core(), "late_p99_us": load["late_p99_us"], "segments": segments}


def main() -> int:
    parser = argparse.ArgumentParser(description="many engines for a while: no drop, flat memory, part of one core")
    parser.add_argument("program")
    parser.add_argument("load")
    parser.add_argument("--seconds", type=float, default=28.0)
    parser.add_argument("--engines", type=int, default=1000)
    parser.add_argument("--publishers", type=int, default=16)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--folder", help="where the journal is written; default: the system's temporary folder")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        try:
            found = measure(arguments, pathlib.Path(folder))
        except (Fault, ConnectionError) as fault:
            print(f"soak: {fault}")
            print("0 passed, 1 failed")
            return 1
    print("| engines | publishers | s | reports | FPM/s | lost | memory MB, first and last third | of one core | segments replayed |")
    print(f"| {found['engines']} | {found['publishers']} | {found['seconds']:.0f} | {found['sent']} | {found['fpm_per_s']} | 0 "
          f"| {found['first_mb']:.1f}, {found['last_mb']:.1f} | {100 * found['core']:.1f} % | {found['segments']} |")
    print(json.dumps(found))
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
