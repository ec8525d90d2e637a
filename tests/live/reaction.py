#!/usr/bin/env python3
"""From the first breach in a report, after a quiet policy.reaction_min_interval_s, to the decision in the hands of a client
that waits for it. The file store on this disk; in the same run, on the same disk, a bare append and fdatasync.

policy.reaction_min_interval_s is lowered to 0.05 and policy.guard_deadline_s to 0.2, so that a hundred breaches take a
minute; neither is on the measured way. Load ticks of the grid are 100 s apart: what answers is the breach.

Usage: reaction.py DYNAPLAN LIVE_LOAD [--breaches N] [--engines N] [--rate R] [--publishers K] [--folder DIR]"""

import argparse
import json
import os
import pathlib
import socket
import sys
import tempfile
import time

from processes import BOUND_S, Engines, Fault, Planner, quantile, replay_each, until

REACTION_MIN_S = 0.05
GUARD_S = 0.2


class Poll:
    """A long poll on a raw socket: the clock is read as soon as the answer is there."""

    def __init__(self, url: str):
        host, port = url.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=BOUND_S)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, after: int) -> None:
        self.socket.sendall(f"GET /v1/decisions/next?after={after}&wait=30s HTTP/1.1\r\nHost: x\r\n\r\n".encode())

    def answer(self) -> tuple[int, dict]:
        """The monotonic time, ns, and the decision."""
        text = b""
        while b"\r\n\r\n" not in text:
            text += self._more()
        head, body = text.split(b"\r\n\r\n", 1)
        if b" 200 " not in head.splitlines()[0]:
            raise Fault(f"the long poll was answered {head.splitlines()[0].decode()}")
        length = next(int(line.split(b":")[1]) for line in head.lower().splitlines() if line.startswith(b"content-length"))
        while len(body) < length:
            body += self._more()
        at = time.monotonic_ns()
        return at, json.loads(body)

    def _more(self) -> bytes:
        piece = self.socket.recv(65536)
        if not piece:
            raise Fault("the planner closed the long poll")
        return piece

    def close(self) -> None:
        self.socket.close()


class BareAppend:
    """What the store has to do at least: append a line of a transaction's length, fdatasync."""

    def __init__(self, path: pathlib.Path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.line = b"x" * 511 + b"\n"

    def measure_ms(self) -> float:
        began = time.monotonic_ns()
        os.write(self.file, self.line)
        os.fdatasync(self.file)
        return (time.monotonic_ns() - began) / 1e6

    def close(self) -> None:
        os.close(self.file)


def measure(arguments: argparse.Namespace, folder: pathlib.Path) -> dict:
    with Engines(arguments.load, "--engines", str(arguments.engines), "--publishers", str(arguments.publishers), "--rate",
                 str(arguments.rate)) as engines:
        with Planner(arguments.program, folder, engines.endpoints(arguments.publishers), "load_adjustment_interval=100",
                     f"policy.reaction_min_interval_s={REACTION_MIN_S}", f"policy.guard_deadline_s={GUARD_S}",
                     *arguments.set) as planner:
            engines.started()
            planner.state_when("every engine's model is ready", lambda s: len(s["engines"]) == arguments.engines and
                               not s["missing"] and s["bus"]["decoded"] >= 10 * arguments.engines)
            poll, disk = Poll(planner.url), BareAppend(folder / "bare")
            latencies, bare, late, last, n = [], [], [], -1, 0
            while n < arguments.breaches:
                poll.ask(last)
                # Quiet for reaction_min_interval_s and out of the guard; a breach needs one round of reports to spread.
                time.sleep(max(REACTION_MIN_S, GUARD_S) * 1.25)
                sent = engines.breach()
                at, decision = poll.answer()
                engines.calm()
                if decision["decision_id"] != last + 1:
                    raise Fault(f"decision {decision['decision_id']} after {last}")
                last = decision["decision_id"]
                if at <= sent:
                    raise Fault(f"decision {last} came before its breach: the load does not hold still")
                code, settled = planner.call("POST", f"/v1/decisions/{last}/complete")
                if code != 200 or settled["state"] != "acknowledged":
                    raise Fault(f"decision {last} was not acknowledged: {code} {settled}")
                latencies.append((at - sent) / 1e6)
                late.append(decision["decode"])
                bare.append(disk.measure_ms())
                n += 1
            poll.close()
            disk.close()
            if late != sorted(set(late)):
                raise Fault("targets did not grow with each breach")
            dropped = planner.metric("dynaplan_journal_dropped_total")
            if dropped:
                raise Fault(f"the journal dropped {dropped:g} records")
            summary = engines.summary(quit_now=True)
            until("all is received", lambda: planner.metric("dynaplan_fpm_received_total") == summary["sent"])
            if planner.end() != 0:
                raise Fault("serve did not stop cleanly")
            replay_each(arguments.program, planner.journal)
    return {"breaches": n, "fpm_per_s": round(summary["sent"] / summary["seconds"]), "p50_ms": quantile(latencies, 0.5),
            "p99_ms": quantile(latencies, 0.99), "most_ms": max(latencies), "bare_p50_ms": quantile(bare, 0.5),
            "bare_p99_ms": quantile(bare, 0.99), "publishers_lost": summary["dropped"]}


def main() -> int:
    parser = argparse.ArgumentParser(description="reaction time from a breach to a decision that can be read")
    parser.add_argument("program")
    parser.add_argument("load")
    parser.add_argument("--breaches", type=int, default=150)
    parser.add_argument("--engines", type=int, default=500)
    parser.add_argument("--rate", type=float, default=20.0)
    parser.add_argument("--publishers", type=int, default=4)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="more settings, as decisions.store=memory")
    parser.add_argument("--folder", help="on the disk to be measured; default: the system's temporary folder")
    arguments = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            found = measure(arguments, pathlib.Path(folder))
    except (Fault, ConnectionError) as fault:
        print(f"reaction: {fault}")
        print("0 passed, 1 failed")
        return 1
    print("| breaches | FPM/s | reaction p50 ms | p99 ms | largest ms | append+fdatasync p50 ms | p99 ms |")
    print(f"| {found['breaches']} | {found['fpm_per_s']} | {found['p50_ms']:.2f} | {found['p99_ms']:.2f} | {found['most_ms']:.2f} "
          f"| {found['bare_p50_ms']:.2f} | {found['bare_p99_ms']:.2f} |")
    print(json.dumps(found))
    print("1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
