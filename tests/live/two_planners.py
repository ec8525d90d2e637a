#!/usr/bin/env python3
"""Two planners on one store: the leader is killed (SIGKILL) or frozen (SIGSTOP, then SIGCONT), over and over, while engines
report and schedulers answer both. At no time may two lead; ids stay unique and the record consistent; a frozen planner that
goes on must not take its own sleep for a loss of engines. The time of each take-over is measured.

With the file store the lock is the kernel's: a frozen process keeps it, so nobody takes over until it goes on or ends, and
then it leads on. With etcd leadership is a lease: the stand-by has to take over meanwhile, and who was frozen must write nothing
more. Then each planner's journal says which decisions it published, and etcd's history who led at that revision.

Usage: two_planners.py DYNAPLAN LIVE_LOAD [--store etcd] [--lease-s S] [--kills N] [--freezes N] [--seed S]"""

import argparse
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

from etcd_record import process_of
from processes import BOUND_S, Engines, Fault, Http, Planner, quantile, replay_each, until
from record import TERMINAL, Record
from schedulers import Scheduler
from stores import add_options, live_main, open_store, servers_of

TIMEOUT_S = 2.0
ENGINES = 10
SETTINGS = ("load_adjustment_interval=1", "policy.reaction_min_interval_s=0.02", "policy.guard_deadline_s=0.05",
            f"decisions.timeout_s={TIMEOUT_S}", "policy.engine_silent_s=4")
# Longer than engine_silent_s: to a planner that has slept so long, every engine looks silent.
STALL_S = 5.0  # a process that stood still for longer says so, and counts its engines anew
DEPOSED_S = 1.0  # that is how soon one whose lease has ended says so when it goes on
LOCK_RETRY_S = 1.0  # how often a stand-by asks for the lock


class Watch(threading.Thread):
    """Looks at both planners all the time: who leads. Two who say so one after the other lead at once if the first one still
    says so after the second."""

    def __init__(self, addresses):
        super().__init__(daemon=True)
        self.addresses, self.stopping, self.both, self.looks = addresses, threading.Event(), "", 0

    def stop(self) -> None:
        self.stopping.set()
        self.join()
        if self.both:
            raise Fault(self.both)

    def run(self) -> None:
        while not self.stopping.wait(0.02):
            leaders = []
            for address in self.addresses():
                http = Http(address, timeout_s=0.3)
                try:
                    if http.call("GET", "/v1/state")[1]["leader"]:
                        leaders.append(address)
                except (ConnectionError, TypeError, KeyError):
                    pass  # dead, frozen, or over its rate
                finally:
                    http.hang_up()
            self.looks += 1
            if len(leaders) > 1:
                # The first may have ended between the two answers: it leads no more if it does not say so again.
                again = Http(leaders[0], timeout_s=0.3)
                try:
                    if again.call("GET", "/v1/state")[1]["leader"]:
                        self.both = f"two planners lead: {leaders}"
                        return
                except (ConnectionError, TypeError, KeyError):
                    pass
                finally:
                    again.hang_up()


class Run:
    def __init__(self, arguments: argparse.Namespace, folder: pathlib.Path, store):
        self.arguments, self.folder, self.store = arguments, folder, store
        self.random = random.Random(arguments.seed)
        self.record = Record()
        self.planners: dict[str, Planner] = {}
        self.take_over_s: list[float] = []
        self.take_over_after_freeze_s: list[float] = []
        self.journals: dict[pathlib.Path, int] = {}  # each segment, and the process that wrote it

    def addresses(self) -> list[str]:
        return [planner.url for planner in list(self.planners.values())]

    def start(self, name: str, buses: list[str]) -> None:
        self.planners[name] = Planner(self.arguments.program, self.folder, buses, *SETTINGS, *self.arguments.set,
                                      *self.store.settings, journal=f"journal-{name}")

    def end(self, name: str) -> None:
        planner = self.planners.pop(name)
        planner.__exit__()
        for segment in planner.journal.iterdir():
            self.journals.setdefault(segment, planner.pid)

    def leader(self) -> str:
        def look():
            for name, planner in self.planners.items():
                if planner.state()["leader"]:
                    return name
            return ""
        return until("one planner leads", look)

    def other(self, name: str) -> str:
        return next(n for n in self.planners if n != name)

    def traffic(self, engines: Engines, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            engines.breach()
            time.sleep(self.random.uniform(0.0, 0.05))
            engines.calm()
            time.sleep(self.random.uniform(0.0, 0.1))

    def read(self) -> None:
        self.store.read(self.record)
        for planner in self.planners.values():
            self.record.listed(planner.decisions())

    def kill(self, engines: Engines, buses: list[str]) -> None:
        leader = self.leader()
        standby = self.planners[self.other(leader)]
        self.traffic(engines, self.random.uniform(0.1, 0.8))
        engines.breach()
        time.sleep(self.random.uniform(0.0, 0.004))
        killed = time.monotonic()
        self.planners[leader].send(signal.SIGKILL)
        self.planners[leader].process.wait(timeout=BOUND_S)
        standby.state_when("the stand-by leads", lambda s: s["leader"])
        self.take_over_s.append(time.monotonic() - killed)
        self.end(leader)
        engines.calm()
        self.read()
        self.start(leader, buses)

    def freeze(self, engines: Engines, seconds: float) -> None:
        leader = self.leader()
        frozen, standby = self.planners[leader], self.planners[self.other(leader)]
        frozen.state_when("every engine has been heard", lambda s: len(s["engines"]) == ENGINES)
        stalls, last = frozen.metric("dynaplan_stalls_total"), frozen.decisions()[-1:]
        frozen.send(signal.SIGSTOP)
        began = time.monotonic()
        # An acknowledgement that reaches the frozen planner now is answered when it goes on.
        late = Http(frozen.url, timeout_s=BOUND_S)
        answer: list = []
        number = last[0]["decision_id"] if last else 0
        asking = threading.Thread(target=lambda: answer.append(late.call("POST", f"/v1/decisions/{number}/complete")))
        asking.start()
        while time.monotonic() - began < seconds:
            took_over = standby.state()["leader"]
            if took_over and self.store.lease_s is None:
                frozen.send(signal.SIGCONT)
                raise Fault("the stand-by leads although the frozen planner holds the lock")
            if took_over and len(self.take_over_after_freeze_s) < self.frozen_so_far + 1:
                self.take_over_after_freeze_s.append(time.monotonic() - began)
            time.sleep(0.02)
        self.frozen_so_far += 1
        frozen.send(signal.SIGCONT)
        asking.join()
        late.hang_up()
        code, settled = answer[0]
        if code == 200:
            self.record.answered(settled)
        elif code not in (409, 503):
            raise Fault(f"a late acknowledgement was answered {code} {settled}")
        if self.store.lease_s is None:
            self.awake(frozen, stalls, seconds)
        else:
            self.deposed(frozen)
        self.traffic(engines, 0.3)
        self.read()

    frozen_so_far = 0

    def awake(self, planner: Planner, stalls: float, seconds: float) -> None:
        state = planner.state()
        if not state["leader"]:
            raise Fault("the planner lost the lock while it was frozen")
        if len(state["engines"]) != ENGINES:
            raise Fault(f"{len(state['engines'])} engines after the freeze, {ENGINES} before")
        grown = planner.metric("dynaplan_stalls_total") - stalls
        if seconds > STALL_S + 1.5 and grown != 1:
            raise Fault(f"frozen for {seconds:.1f} s, counted as {grown:g} stalls")
        if seconds > STALL_S + 1.5 and "engines_missing" not in [hold["reason"] for hold in state["holds"]]:
            raise Fault("after a long freeze shrinking is not held")
        planner.state_when("every engine is heard again",
                           lambda s: s["inventory"]["decode"]["ready"] == ENGINES and s["bus"]["connected"])

    def deposed(self, planner: Planner) -> None:
        if len(self.take_over_after_freeze_s) < self.frozen_so_far:
            raise Fault("nobody took over from the frozen planner")
        state = planner.state_when("the frozen planner stands by", lambda s: not s["leader"], DEPOSED_S)
        if "standby" not in [hold["reason"] for hold in state["holds"]]:
            raise Fault(f"a planner that stands by holds {state['holds']}")
        code, answer = planner.call("POST", "/v1/decisions/0/complete")
        if code != 503:
            raise Fault(f"a planner that stands by answered an acknowledgement with {code} {answer}")
        planner.state_when("the deposed planner hears its engines", lambda s: len(s["engines"]) == ENGINES)

    def check_writers(self, leaders: dict[int, str]) -> None:
        """Each decision is in the journal of the process that led when etcd took it, and in no other."""
        published: dict[int, set[int]] = {}
        for segment, process in self.journals.items():
            effects = self.folder / "effects.jsonl"
            subprocess.run([self.arguments.program, "replay", segment, "--effects", effects], check=True, capture_output=True)
            for line in effects.read_text().splitlines():
                if (number := json.loads(line).get("decision_id")) is not None:
                    published.setdefault(number, set()).add(process)
        for number, leader in leaders.items():
            writers = published.pop(number, set())
            # The last moments of one that was killed may be missing in its journal.
            if writers - {process_of(leader)}:
                raise Fault(f"decision {number} was published by processes {sorted(writers)} while '{leader}' led")
            self.proven += len(writers)
        if self.store.lease_s is not None and published:
            raise Fault(f"decisions {sorted(published)} stand in journals and never stood in etcd")

    proven = 0

    def freeze_s(self, i: int) -> float:
        if self.store.lease_s is not None:
            return self.store.lease_s + self.random.uniform(1.0, 2.0) + (STALL_S if i % 4 == 0 else 0.0)
        # One freeze in two is long enough to be a stall.
        return self.random.uniform(0.3, 3.0) if i % 2 else STALL_S + self.random.uniform(2.0, 3.0)

    def check_growth(self) -> None:
        """Breaches are all that happens to this fleet: whoever proposes fewer than report has lost engines falsely."""
        for planner in self.planners.values():
            for decision in planner.decisions():
                if decision["decode"] < ENGINES or decision["reason"] == "scale_down":
                    raise Fault(f"a scale-down that nothing asked for: {decision}")


def run(arguments: argparse.Namespace, folder: pathlib.Path, store) -> None:
    this = Run(arguments, folder, store)
    schedulers = [Scheduler(this.addresses, this.record, arguments.seed + i) for i in (1, 2)]
    watch = Watch(this.addresses)
    with Engines(arguments.load, "--engines", str(ENGINES), "--rate", "100", "--drops") as engines:
        buses = engines.endpoints()
        try:
            this.start("a", buses)
            engines.started()
            this.start("b", buses)
            for thread in (*schedulers, watch):
                thread.start()
            rounds = ["kill"] * arguments.kills + ["freeze"] * arguments.freezes
            this.random.shuffle(rounds)
            for i, what in enumerate(rounds):
                if what == "kill":
                    this.kill(engines, buses)
                else:
                    this.freeze(engines, this.freeze_s(i))
                this.check_growth()
            for thread in (*schedulers, watch):
                thread.stop()
            # Without reports there are no new decisions, which would not have the time to end.
            engines.summary(quit_now=True)
            leader = this.planners[this.leader()]
            until("all decisions have ended", lambda: all(d["state"] in TERMINAL for d in leader.decisions()),
                  TIMEOUT_S + BOUND_S)
            this.read()
            for planner in this.planners.values():
                if planner.end() != 0:
                    raise Fault("a planner did not end cleanly")
        finally:
            for name in list(this.planners):
                this.end(name)
    leaders = store.read_end(this.record)
    counts = this.record.check_end()
    this.check_writers(leaders)
    segments = sum(replay_each(arguments.program, folder / f"journal-{name}") for name in ("a", "b"))
    print(f"seed {arguments.seed}, {watch.looks} looks at who leads; decisions: {counts}")
    if leaders:
        print(f"of {len(leaders)} decisions in etcd {this.proven} stand in the journal of the one that led, none in another's")
    took = this.take_over_s + this.take_over_after_freeze_s
    print("| store | kills | freezes | decisions | take-over p50 s | largest s | segments replayed |")
    print(f"| {arguments.store} | {arguments.kills} | {arguments.freezes} | {len(this.record.state)} "
          f"| {quantile(took, 0.5):.2f} | {max(took):.2f} | {segments} |")
    if len(this.record.state) < len(rounds):
        raise Fault(f"only {len(this.record.state)} decisions in {len(rounds)} rounds: the breaches do not reach the planners")
    bound = (store.lease_s if store.lease_s is not None else LOCK_RETRY_S) + 1.0
    late = [s for s in took if s >= bound]
    if late:
        raise Fault(f"take-overs took {late} s, the bound is {bound:g} s")


def main() -> int:
    parser = argparse.ArgumentParser(description="two planners on one store, the leader killed or frozen")
    parser.add_argument("program")
    parser.add_argument("load")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="more settings of both planners")
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--freezes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    add_options(parser)
    arguments = parser.parse_args()

    def body() -> None:
        with tempfile.TemporaryDirectory() as folder, open_store(arguments, pathlib.Path(folder)) as store:
            run(arguments, pathlib.Path(folder), store)
    return live_main(f"two_planners, seed {arguments.seed}", body, *servers_of(arguments))


if __name__ == "__main__":
    sys.exit(main())
