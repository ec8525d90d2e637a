#!/usr/bin/env python3
"""kill -9 at random points, while engines report and two schedulers answer, and each time a restart on the same store. At
the end: every decision that anybody was ever given is in the store's record and has ended, ids grow, no decision was ever two
things, and every journal segment replays to the effects that it holds.

A third of the kills come at a random time, a third within 4 ms of a breach, when the decision is being stored, and a third
while the planner starts. In etcd the leadership of the one that was killed lasts until its lease has ended: to start is
there to wait for it, and a kill at that time may hit the new planner as it takes over.

Usage: kill_test.py DYNAPLAN LIVE_LOAD [--store etcd] [--kills N] [--seed S]"""

import argparse
import pathlib
import random
import signal
import sys
import tempfile
import time

from processes import BOUND_S, Engines, Fault, Planner, replay_each, until
from record import TERMINAL, Record
from schedulers import Scheduler
from stores import add_options, live_main, open_store, servers_of

TIMEOUT_S = 2.0
START_S = 0.12  # what a planner takes to start, about; with a lease, also until it leads
SETTINGS = ("load_adjustment_interval=1", "policy.reaction_min_interval_s=0.02", "policy.guard_deadline_s=0.05",
            f"decisions.timeout_s={TIMEOUT_S}")


class Run:
    def __init__(self, arguments: argparse.Namespace, folder: pathlib.Path, store):
        self.program, self.folder, self.store = arguments.program, folder, store
        self.settings = SETTINGS + store.settings
        self.random = random.Random(arguments.seed)
        self.record = Record()
        self.address = ""
        self.kills = {"any time": 0, "after a breach": 0, "while starting": 0}
        self.restart_s: list[float] = []

    def addresses(self) -> list[str]:
        return [self.address] if self.address else []

    def life(self, engines: Engines, buses: list[str]) -> None:
        how = self.random.choice(list(self.kills))
        self.kills[how] += 1
        began = time.monotonic()
        with Planner(self.program, self.folder, buses, *self.settings, wait=False) as planner:
            if how == "while starting":
                time.sleep(self.random.uniform(0.0, START_S + (self.store.lease_s or 0.0)))
            else:
                planner.wait_listening()
                planner.state_when("the planner leads", lambda s: s["leader"])
                self.restart_s.append(time.monotonic() - began)
                self.address = planner.url
                self.traffic(engines, planner, self.random.uniform(0.2, 1.0))
                if how == "after a breach":
                    engines.breach()
                    time.sleep(self.random.uniform(0.0, 0.004))
            planner.send(signal.SIGKILL)
            code = planner.process.wait(timeout=BOUND_S)
            self.address = ""
            if code != -signal.SIGKILL:
                raise Fault(f"serve ended by itself with {code}: {''.join(planner.log[-5:])}")
        if engines.in_breach:
            engines.calm()
        self.store.read(self.record)

    # Breaches at random until the time is over.
    def traffic(self, engines: Engines, planner: Planner, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            engines.breach()
            time.sleep(self.random.uniform(0.0, 0.05))
            engines.calm()
            time.sleep(self.random.uniform(0.0, 0.1))
        self.record.listed(planner.decisions())

    def last_life(self, buses: list[str]) -> None:
        with Planner(self.program, self.folder, buses, *self.settings) as planner:
            planner.state_when("the planner leads", lambda s: s["leader"])
            until("all decisions have ended", lambda: all(d["state"] in TERMINAL for d in planner.decisions()),
                  TIMEOUT_S + BOUND_S)
            self.record.listed(planner.decisions())
            dropped = planner.metric("dynaplan_journal_dropped_total")
            if planner.end() != 0 or dropped:
                raise Fault(f"the last life did not end cleanly, or its journal dropped {dropped:g} records")
        self.store.read_end(self.record)


def run(arguments: argparse.Namespace, folder: pathlib.Path, store) -> None:
    this = Run(arguments, folder, store)
    schedulers = [Scheduler(this.addresses, this.record, arguments.seed + i) for i in (1, 2)]
    with Engines(arguments.load, "--engines", "10", "--rate", "100", "--drops") as engines:
        buses = engines.endpoints()
        for scheduler in schedulers:
            scheduler.start()
        # The engines start with their first reader.
        with Planner(this.program, folder, buses, *this.settings):
            engines.started()
        for _ in range(arguments.kills):
            this.life(engines, buses)
        for scheduler in schedulers:
            scheduler.stop()
        # Without reports there are no new decisions, which would not have the time to end.
        engines.summary(quit_now=True)
        this.last_life(buses)
    counts = this.record.check_end()
    segments = replay_each(arguments.program, folder / "journal")
    did = {what: sum(s.did[what] for s in schedulers) for what in schedulers[0].did}
    print(f"kills: {this.kills}, seed {arguments.seed}; schedulers: {did}")
    print("| store | kills | decisions | acknowledged | failed | timed out | superseded | segments replayed | restart to lead, longest s |")
    print(f"| {arguments.store} | {arguments.kills} | {len(this.record.state)} | {counts['acknowledged']} | {counts['failed']} | {counts['timed_out']} "
          f"| {counts['superseded']} | {segments} | {max(this.restart_s, default=0.0):.2f} |")
    if len(this.record.state) < arguments.kills:
        raise Fault(f"only {len(this.record.state)} decisions: the traffic does not reach the planner")


def main() -> int:
    parser = argparse.ArgumentParser(description="kill -9 at random points, restart, and look at the record")
    parser.add_argument("program")
    parser.add_argument("load")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    add_options(parser)
    arguments = parser.parse_args()

    def body() -> None:
        with tempfile.TemporaryDirectory() as folder, open_store(arguments, pathlib.Path(folder)) as store:
            run(arguments, pathlib.Path(folder), store)
    return live_main(f"kill_test, seed {arguments.seed}", body, *servers_of(arguments))


if __name__ == "__main__":
    sys.exit(main())
