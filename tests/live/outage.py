#!/usr/bin/env python3
"""A server is stopped under load and started again, etcd on its data, at the same address. Nothing else is restarted.

etcd: engines breach their target all the while, a scheduler acknowledges. Meanwhile the planner answers, says what holds its
decisions and until when, and goes on with its journal; the next decision comes soon after etcd is back. nats-server: reports stop
and come again; meanwhile engines_missing is held, and nothing shrinks for it. Prints a line of a table for each.

Usage: outage.py DYNAPLAN LIVE_LOAD etcd|nats [--seconds S] [--lease-s S]"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

from live_servers import BOUND_S as SERVER_BOUND_S
from live_servers import Nats
from processes import BOUND_S, Engines, Fault, Http, Planner, Process, replay_each, until
from record import Record
from schedulers import Scheduler
from stores import EtcdStore, live_main

RESUMED_S = 2.0  # after its return, as issue 3 has it
ANSWER_S = 1.0  # of the planner's API, at the most, whatever its servers do
ENGINES = 10
SETTINGS = ("load_adjustment_interval=1", "policy.reaction_min_interval_s=0.02", "policy.guard_deadline_s=0.05")
SILENT_S = 2.0  # policy.engine_silent_s: how long after an outage shrinking is held


class States(threading.Thread):
    """Asks for /v1/state all the time; every answer has to come soon."""

    def __init__(self, address: str):
        super().__init__(daemon=True)
        self.http = Http(address)
        self.stopping, self.fault = threading.Event(), ""
        self.seen: dict[str, dict] = {}  # of each reason to hold, the first hold that told its end, or else the first
        self.slowest_s, self.answers = 0.0, 0

    def stop(self) -> None:
        self.stopping.set()
        self.join()
        self.http.hang_up()
        if self.fault:
            raise Fault(self.fault)

    def run(self) -> None:
        while not self.stopping.wait(0.05):
            began = time.monotonic()
            try:
                code, state = self.http.call("GET", "/v1/state")
            except ConnectionError as error:
                self.fault = f"during the outage: {error}"
                return
            self.slowest_s = max(self.slowest_s, time.monotonic() - began)
            if code == 429:
                continue
            self.answers += 1
            for hold in state["holds"]:
                known = self.seen.setdefault(hold["reason"], hold)
                if known["deadline"] is None and hold["deadline"] is not None:
                    self.seen[hold["reason"]] = hold

    def check(self, planner: Planner) -> None:
        if self.slowest_s > ANSWER_S:
            raise Fault(f"an answer took {self.slowest_s:.2f} s")
        if planner.process.poll() is not None:
            raise Fault(f"serve ended with {planner.process.returncode}")


def journal_bytes(planner: Planner) -> int:
    return sum(path.stat().st_size for path in planner.journal.iterdir())


def newest(planner: Planner) -> int:
    decisions = planner.decisions()
    return decisions[-1]["decision_id"] if decisions else -1


def check_journal(planner: Planner, before: int, what: str) -> None:
    # What is written lies in a buffer for a moment.
    until(f"the journal goes on {what}", lambda: journal_bytes(planner) > before, 5.0)
    journal = planner.state()["journal"]
    if journal["state"] != "ok" or journal["dropped"]:
        raise Fault(f"the journal {what}: {journal}")


def etcd_outage(arguments: argparse.Namespace, folder: pathlib.Path) -> str:
    with EtcdStore(folder, arguments.lease_s) as store, \
            Engines(arguments.load, "--engines", str(ENGINES), "--rate", "100", "--drops") as engines, \
            Planner(arguments.program, folder, engines.endpoints(), *SETTINGS, *store.settings) as planner:
        record = Record()
        scheduler = Scheduler(lambda: [planner.url], record, 1, answers={"complete": 1})
        scheduler.start()
        engines.started()
        engines.breach()
        until("decisions are made", lambda: newest(planner) >= 2)
        states = States(planner.url)
        states.start()
        written = journal_bytes(planner)
        store.server.stop()
        stopped = time.monotonic()
        planner.state_when("the store is seen to be away", lambda s: s["store"]["reason"] != "", arguments.seconds)
        time.sleep(max(0.0, arguments.seconds - (time.monotonic() - stopped)))
        check_journal(planner, written, "without etcd")
        states.stop()
        last = newest(planner)
        store.server.start()
        until("etcd takes a key", lambda: store.server.takes("live-test/back", "x"), SERVER_BOUND_S)
        returned = time.monotonic()
        until("the next decision", lambda: newest(planner) > last)
        resumed_s = time.monotonic() - returned
        states.check(planner)
        engines.calm()
        until("all decisions are acknowledged", lambda: all(d["state"] != "published" for d in planner.decisions()))
        scheduler.stop()
        record.listed(planner.decisions())
        if planner.end() != 0:
            raise Fault("serve did not stop cleanly")
        store.read_end(record)
        counts = record.check_end()
    if not states.seen.keys() & {"store_unavailable", "standby"}:
        raise Fault(f"without etcd nothing was held for it: {states.seen}")
    if states.seen.get("store_unavailable", {"deadline": ""})["deadline"] is None:
        raise Fault(f"a hold without a deadline: {states.seen['store_unavailable']}")
    segments = replay_each(arguments.program, planner.journal)
    row = (f"| etcd, lease {arguments.lease_s:g} s | {arguments.seconds:g} | {', '.join(sorted(states.seen))} | {states.slowest_s * 1e3:.0f} "
           f"| {resumed_s:.2f} | {counts['acknowledged']} of {len(record.state)} acknowledged | {segments} |")
    return finish(row, resumed_s)


def trace_line(engine: int, counter: int, at_ms: int, noise: random.Random) -> str:
    """A calm pass as live_load makes them: between the threshold for shrinking and the target."""
    requests, tokens = 60 + noise.randrange(8), 190_000 + noise.randrange(12_000)
    wall_s = 0.010 + 0.0001 * requests + 1e-7 * tokens
    nothing = {"num_prefill_requests": 0, "sum_prefill_tokens": 0, "var_prefill_length": 0.0, "num_decode_requests": 0,
               "sum_decode_kv_tokens": 0, "var_decode_kv_tokens": 0.0}
    scheduled = {**nothing, "sum_prefill_kv_tokens": 0, "num_decode_requests": requests, "sum_decode_kv_tokens": tokens,
                 "var_decode_kv_tokens": 1.0e6}
    fpm = {"version": 1, "worker_id": str(engine), "dp_rank": 0, "counter_id": counter, "wall_time": wall_s,
           "scheduled_requests": scheduled, "queued_requests": nothing}
    return json.dumps({"timestamp": at_ms, "event": {
        "schema": "dynamo.fpm.trace.v1", "source": {"namespace": "dynamo", "component": "backend", "producer_id": str(engine)},
        "capture_mode": "full", "observed_at_unix_ms": 1_776_800_000_000 + at_ms, "fpm": fpm}})


class Publisher:
    """`dynaplan publish` onto NATS, which ends when its server does: started again until it stays."""

    def __init__(self, program: str, folder: pathlib.Path, url: str):
        self.command = [program, "publish", str(folder / "trace.jsonl"), "--bus", "nats", "--server", url]
        self.program, self.folder, self.starts = program, folder, 0
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)
        noise, rate, seconds = random.Random(1), 20, 120
        with open(folder / "trace.jsonl", "w", encoding="utf-8") as trace:
            for counter in range(rate * seconds):
                for engine in range(1, ENGINES + 1):
                    trace.write(trace_line(engine, counter, counter * 1000 // rate, noise) + "\n")

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.stopping.set()
        self.thread.join()

    def _run(self) -> None:
        while not self.stopping.is_set():
            self.starts += 1
            with Process(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as publisher:
                while publisher.process.poll() is None and not self.stopping.wait(0.02):
                    pass
            self.stopping.wait(0.1)  # so that a server that is away is not asked too often


def nats_outage(arguments: argparse.Namespace, folder: pathlib.Path) -> str:
    nats = Nats()
    nats.start()
    try:
        with Publisher(arguments.program, folder, nats.url) as publisher, \
                Planner(arguments.program, folder, [], *SETTINGS, "bus.transport=nats", f"bus.server={nats.url}", "bus.endpoints=[]",
                        f"policy.engine_silent_s={SILENT_S}") as planner:
            everything = lambda s: len(s["engines"]) == ENGINES and not s["missing"] and not s["holds"]  # noqa: E731
            planner.state_when("every engine is heard, and nothing is held", everything)
            states = States(planner.url)
            states.start()
            written = journal_bytes(planner)
            nats.stop()
            stopped = time.monotonic()
            planner.state_when("the outage is seen", lambda s: not s["bus"]["connected"] and s["bus"]["reason"] != "" and "engines_missing" in
                               [hold["reason"] for hold in s["holds"]], arguments.seconds)
            time.sleep(max(0.0, arguments.seconds - (time.monotonic() - stopped)))
            check_journal(planner, written, "without NATS")
            states.stop()
            before = planner.metric("dynaplan_fpm_decoded_total")
            nats.start()
            returned = time.monotonic()
            until("reports flow again", lambda: planner.metric("dynaplan_fpm_decoded_total") > before, BOUND_S)
            resumed_s = time.monotonic() - returned
            states.check(planner)
            planner.state_when("every engine is heard again, and nothing is held", everything)
            # Two ticks later a planner that took silence for absence would have said so.
            ticks = planner.metric("dynaplan_load_ticks_total")
            until("two more ticks", lambda: planner.metric("dynaplan_load_ticks_total") >= ticks + 2)
            proposals = planner.metric("dynaplan_proposals_total")
            if proposals:
                raise Fault(f"{proposals:g} proposals for a fleet that was calm all the while: {planner.decisions()}")
            if planner.end() != 0:
                raise Fault("serve did not stop cleanly")
        segments = replay_each(arguments.program, planner.journal)
        row = (f"| nats-server | {arguments.seconds:g} | {', '.join(sorted(states.seen))} | {states.slowest_s * 1e3:.0f} | {resumed_s:.2f} "
               f"| no proposal, publisher started {publisher.starts} times | {segments} |")
        return finish(row, resumed_s)
    finally:
        nats.stop()


def finish(row: str, resumed_s: float) -> str:
    print("| server | away s | held meanwhile | slowest answer ms | resumed s after its return | outcome | segments replayed |")
    print(row)
    if resumed_s > RESUMED_S:
        raise Fault(f"resumed {resumed_s:.2f} s after the return, the bound is {RESUMED_S:g} s")
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description="a server stopped under load and started again")
    parser.add_argument("program")
    parser.add_argument("load")
    parser.add_argument("server", choices=["etcd", "nats"])
    parser.add_argument("--seconds", type=float, default=3.0, help="how long the server is away")
    parser.add_argument("--lease-s", type=float, default=2.0, help="etcd: of the leader's lease; etcd grants no less than 2")
    arguments = parser.parse_args()

    def body() -> None:
        with tempfile.TemporaryDirectory() as folder:
            (etcd_outage if arguments.server == "etcd" else nats_outage)(arguments, pathlib.Path(folder))
    return live_main("outage", body, "etcd" if arguments.server == "etcd" else "nats-server")


if __name__ == "__main__":
    sys.exit(main())
