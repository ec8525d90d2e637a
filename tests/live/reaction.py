#!/usr/bin/env python3
"""From the first breach in a report, after a quiet policy.reaction_min_interval_s, to the decision in the hands of a client
that waits for it. The file store on this disk; in the same run, on the same disk, a bare append and fdatasync. Or etcd's; in the
same run, on the same etcd, a bare put until a watch that was opened before tells it.

policy.reaction_min_interval_s is lowered to 0.05 and policy.guard_deadline_s to 0.2, so that a hundred breaches take a
minute; neither is on the measured way. Load ticks of the grid are 100 s apart: what answers is the breach.

Usage: reaction.py DYNAPLAN LIVE_LOAD [--store etcd] [--breaches N] [--engines N] [--rate R] [--publishers K] [--folder DIR]"""

import argparse
import json
import os
import pathlib
import socket
import sys
import tempfile
import time

from etcd_record import encoded
from processes import BOUND_S, Engines, Fault, Planner, quantile, replay_each, until
from stores import add_options, live_main, open_store, servers_of

REACTION_MIN_S = 0.05
GUARD_S = 0.2
BARE_BYTES = 512  # a transaction's, about


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
        self.line = b"x" * (BARE_BYTES - 1) + b"\n"

    def measure_ms(self) -> float:
        began = time.monotonic_ns()
        os.write(self.file, self.line)
        os.fdatasync(self.file)
        return (time.monotonic_ns() - began) / 1e6

    def close(self) -> None:
        os.close(self.file)


class BarePut:
    """What etcd takes at least: a put, until the event is there. Both connections are kept, the watch was opened before."""

    def __init__(self, url: str):
        self.address = url.removeprefix("http://")
        key = encoded("live-test/bare")
        self.put = self._request("/v3/kv/put", {"key": key, "value": encoded("x" * BARE_BYTES)})
        self.puts, self.watch = self._connect(), self._connect()
        self.watch.sendall(self._request("/v3/watch", {"create_request": {"key": key}}))
        self._read_until(self.watch, b"created")

    def _connect(self) -> socket.socket:
        host, port = self.address.split(":")
        connection = socket.create_connection((host, int(port)), timeout=BOUND_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection

    def _request(self, path: str, body: dict) -> bytes:
        text = json.dumps(body)
        return f"POST {path} HTTP/1.1\r\nHost: {self.address}\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode()

    @staticmethod
    def _read_until(connection: socket.socket, word: bytes) -> None:
        text = b""
        while word not in text or not text.endswith(b"\n"):
            piece = connection.recv(65536)
            if not piece:
                raise Fault("etcd closed the connection")
            text += piece

    def measure_ms(self) -> float:
        began = time.monotonic_ns()
        self.puts.sendall(self.put)
        self._read_until(self.watch, b"mod_revision")
        took_ms = (time.monotonic_ns() - began) / 1e6
        answer = b""
        while b"raft_term" not in answer:
            answer += self.puts.recv(65536)
        return took_ms

    def close(self) -> None:
        self.puts.close()
        self.watch.close()


def measure(arguments: argparse.Namespace, folder: pathlib.Path, store) -> dict:
    with Engines(arguments.load, "--engines", str(arguments.engines), "--publishers", str(arguments.publishers), "--rate",
                 str(arguments.rate)) as engines:
        with Planner(arguments.program, folder, engines.endpoints(arguments.publishers), "load_adjustment_interval=100",
                     f"policy.reaction_min_interval_s={REACTION_MIN_S}", f"policy.guard_deadline_s={GUARD_S}",
                     *store.settings, *arguments.set) as planner:
            engines.started()
            planner.state_when("every engine's model is ready", lambda s: len(s["engines"]) == arguments.engines and
                               not s["missing"] and s["bus"]["decoded"] >= 10 * arguments.engines)
            poll = Poll(planner.url)
            comparison = BarePut(store.server.url) if arguments.store == "etcd" else BareAppend(folder / "bare")
            latencies, bare, targets, last, n = [], [], [], -1, 0
            while n < arguments.breaches:
                poll.ask(last)
                # Quiet for reaction_min_interval_s and out of the guard; a breach needs one round of reports to spread.
                # Half-way the comparison, as far from the store's last sync as the decision will be from it.
                half_s = max(REACTION_MIN_S, GUARD_S) * 0.7
                time.sleep(half_s)
                bare.append(comparison.measure_ms())
                time.sleep(half_s)
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
                targets.append(decision["decode"])
                n += 1
            poll.close()
            comparison.close()
            if targets != sorted(set(targets)):
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


def report(arguments: argparse.Namespace, found: dict) -> None:
    bare = "put until watched" if arguments.store == "etcd" else "append+fdatasync"
    print(f"| store | breaches | FPM/s | reaction p50 ms | p99 ms | largest ms | {bare} p50 ms | p99 ms | ratio p50 | p99 |")
    ratios = {q: found[f"{q}_ms"] / found[f"bare_{q}_ms"] for q in ("p50", "p99")}
    print(f"| {arguments.store} | {found['breaches']} | {found['fpm_per_s']} | {found['p50_ms']:.2f} | {found['p99_ms']:.2f} "
          f"| {found['most_ms']:.2f} | {found['bare_p50_ms']:.2f} | {found['bare_p99_ms']:.2f} | {ratios['p50']:.2f} | {ratios['p99']:.2f} |")
    print(json.dumps(found))


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
    add_options(parser)
    arguments = parser.parse_args()

    def body() -> None:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder, \
                open_store(arguments, pathlib.Path(folder), fsync=True) as store:
            report(arguments, measure(arguments, pathlib.Path(folder), store))
    return live_main("reaction", body, *servers_of(arguments))


if __name__ == "__main__":
    sys.exit(main())
