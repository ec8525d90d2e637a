#!/usr/bin/env python3
"""What an old leader wrote in time and the network delivers late: etcd has to refuse it. The way from the leader to etcd is shut
with a decision in it, the stand-by takes over when the lease has ended, and then the way is opened again.

Usage: late_write.py DYNAPLAN LIVE_LOAD [--rounds N] [--lease-s S]"""

import argparse
import pathlib
import sys
import tempfile
import time

from processes import Engines, Fault, Planner, replay_each, until
from record import TERMINAL, Record
from stores import EtcdStore, live_main
from valve import Valve

SETTINGS = ("load_adjustment_interval=1", "policy.reaction_min_interval_s=0.02", "policy.guard_deadline_s=0.05",
            "decisions.timeout_s=1")


def all_ended(planner: Planner) -> bool:
    return all(decision["state"] in TERMINAL for decision in planner.decisions())


def late_round(folder: pathlib.Path, store: EtcdStore, engines: Engines, buses: list[str], program: str, name: str) -> float:
    """The time from the shut way to the take-over, s. Both planners are new: the first leads."""
    with Valve(store.server.port) as valve, \
            Planner(program, folder, buses, *SETTINGS, *store.settings, f"etcd.endpoints={valve.url}", journal=f"{name}-old") as old:
        old.state_when("the first planner leads", lambda s: s["leader"] and s["ready"])
        with Planner(program, folder, buses, *SETTINGS, *store.settings, journal=f"{name}-new") as new:
            new.state_when("the second stands by", lambda s: s["store"]["reason"].startswith("led by") and len(s["engines"]) > 0)
            until("nothing is open", lambda: all_ended(old))
            valve.open.clear()
            shut = time.monotonic()
            engines.breach()
            until("a decision is on its way", lambda: valve.kept > 0, store.lease_s)
            new.state_when("the second planner leads", lambda s: s["leader"])
            took_s = time.monotonic() - shut
            if old.state()["leader"]:
                raise Fault("the first planner leads beside the second")
            until("the second planner decides", lambda: new.decisions()[-1:] and not all_ended(new))
            valve.open.set()
            until("etcd answers what came late", lambda: len(valve.answers) >= valve.kept)
            engines.calm()
            accepted = [answer for answer in valve.answers if b'"succeeded":true' in answer]
            refused = [answer for answer in valve.answers if b'"responses"' in answer and answer not in accepted]
            if accepted or not refused:
                raise Fault(f"what came late was answered {valve.answers}")
            old.state_when("the first planner stands by", lambda s: not s["leader"] and s["store"]["reason"].startswith("led by"))
            until("all decisions have ended", lambda: all_ended(new))
            for planner in (old, new):
                if planner.end() != 0:
                    raise Fault("a planner did not end cleanly")
    for journal in ("old", "new"):
        replay_each(program, folder / f"{name}-{journal}")
    return took_s


def run(arguments: argparse.Namespace, folder: pathlib.Path) -> None:
    record, took = Record(), []
    with EtcdStore(folder, arguments.lease_s) as store, \
            Engines(arguments.load, "--engines", "10", "--rate", "100", "--drops") as engines:
        # The engines start with their first reader.
        with Planner(arguments.program, folder, engines.endpoints(), *SETTINGS, *store.settings, journal="first"):
            engines.started()
        for i in range(arguments.rounds):
            took.append(late_round(folder, store, engines, engines.endpoints(), arguments.program, f"journal-{i}"))
        leaders = store.read_end(record)
    counts = record.check_end()
    print("| late writes | accepted | decisions | of so many leaders | take-over, largest s |")
    print(f"| {arguments.rounds} | 0 | {sum(counts.values())} | {len(set(leaders.values()))} | {max(took):.2f} |")
    if max(took) >= arguments.lease_s + 1.0:
        raise Fault(f"a take-over took {max(took):.2f} s, the bound is {arguments.lease_s + 1.0:g} s")


def main() -> int:
    parser = argparse.ArgumentParser(description="a write of an old leader that is delivered late")
    parser.add_argument("program")
    parser.add_argument("load")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--lease-s", type=float, default=2.0)
    arguments = parser.parse_args()

    def body() -> None:
        with tempfile.TemporaryDirectory() as folder:
            run(arguments, pathlib.Path(folder))
    return live_main("late_write", body, "etcd")


if __name__ == "__main__":
    sys.exit(main())
