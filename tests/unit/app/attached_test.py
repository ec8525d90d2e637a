#!/usr/bin/env python3
"""`dynaplan serve` attached to what a Dynamo deployment has: the event plane over ZeroMQ and NATS, discovery in files and etcd,
decisions in etcd. Real servers on the loopback. Usage: attached_test.py DYNAPLAN MAKE_RECORDING SOURCE_ROOT"""

import json
import pathlib
import signal
import sys

DYNAPLAN, RECORDER, ROOT = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
sys.path[:0] = [str(ROOT / "tests" / part) for part in ("lint", "unit/app", "live")]
sys.argv = sys.argv[:1]

import case_runner  # noqa: E402
from dynamo_records import card, card_key, channel, channel_key, file_name  # noqa: E402
from live_programs import LiveCase, Program, until  # noqa: E402
from live_servers import Etcd, Nats, need  # noqa: E402

class Attached(LiveCase):
    dynaplan, recorder = DYNAPLAN, RECORDER

    def server(self, server):
        self.addCleanup(server.stop)
        server.start()
        return server

    def serve(self, *more: str):
        # No address of the engines: the later --set wins.
        return self.planner("tcp://127.0.0.1:9", "--set", "bus.endpoints=[]", *more)

    def publish(self, *more: str) -> Program:
        return self.start(Program(self.dynaplan, "publish", self.recording, "--speed", "20", *more))

    def replays(self) -> None:
        for segment in sorted((self.folder / "journal").iterdir()):
            replay = self.start(Program(self.dynaplan, "replay", segment))
            self.assertEqual(replay.wait(), 0, replay.err.text)

    def first_decision(self, planner) -> dict:
        code, decision = planner.call("GET", "/v1/decisions/next?after=-1&wait=30s")
        self.assertEqual((code, decision["reason"]), (200, "scale_up"))
        return decision

    def test_publishers_and_workers_found_in_files_and_a_card_that_goes_takes_its_engine_with_it(self) -> None:
        store = self.folder / "store" / "v1"
        for bucket in ("mdc", "event_channels"):
            (store / bucket).mkdir(parents=True)
        publisher = self.publish("--plane", "event", "--bind", "tcp://127.0.0.1:*")
        url = publisher.out.until(r"(tcp://\S+)")
        first, second = self.workers()
        planner = self.serve("--set", "bus.plane=event", "--set", "discovery.backend=file", "--set",
                             f"discovery.path={self.folder}/store")
        self.assertIn("bus", planner.call("GET", "/readyz")[1]["missing"])
        for worker in (first, second):
            (store / "mdc" / file_name(card_key(worker))).write_text(json.dumps(card(worker)))
        (store / "event_channels" / file_name(channel_key(77))).write_text(json.dumps(channel(77, url)))
        self.first_decision(planner)
        state = planner.call("GET", "/v1/state")[1]
        self.assertEqual(state["discovery"]["backend"], "file")
        self.assertEqual(sorted(int(e["worker_id"]) for e in state["engines"]), [first, second])
        self.assertGreater(planner.metric("dynaplan_fpm_lag_seconds_count"), 0)
        (store / "mdc" / file_name(card_key(second))).unlink()
        until(lambda: [int(e["worker_id"]) for e in planner.call("GET", "/v1/state")[1]["engines"]] == [first], "one engine")
        refused = 'dynaplan_fpm_refused_total{reason="unknown_worker"}'
        until(lambda: refused in planner.call("GET", "/metrics")[1], "reports of a worker that has gone are refused")
        self.assertEqual(planner.stop(), 0)
        self.replays()

    def test_reports_over_nats_under_the_subjects_of_both_eras_and_a_server_that_comes_back(self) -> None:
        need("nats-server")
        nats = self.server(Nats())
        planner = self.serve("--set", "bus.transport=nats", "--set", f"bus.server={nats.url}")
        until(lambda: planner.metric("dynaplan_bus_connected") == 1, "the bus connected")
        april = self.publish("--bus", "nats", "--server", nats.url, "--era", "april")
        self.first_decision(planner)
        april.close()
        before = planner.metric("dynaplan_fpm_decoded_total")
        nats.stop()
        until(lambda: planner.metric("dynaplan_bus_connected") == 0, "the bus gone")
        state = planner.call("GET", "/v1/state")[1]
        self.assertIn("engines_missing", [hold["reason"] for hold in state["holds"]])
        self.assertNotEqual(state["bus"]["reason"], "")
        nats.start()
        until(lambda: planner.metric("dynaplan_bus_connected") == 1, "the bus back")
        self.publish("--bus", "nats", "--server", nats.url, "--era", "august")
        until(lambda: planner.metric("dynaplan_fpm_decoded_total") > before, "reports again")
        self.assertEqual(planner.stop(), 0)
        self.replays()

    def test_an_existing_client_of_the_etcd_keys_follows_and_acknowledges_decisions(self) -> None:
        need("etcd")
        etcd = self.server(Etcd(self.folder))
        publisher = self.publish("--plane", "event", "--bind", "tcp://127.0.0.1:*")
        url = publisher.out.until(r"(tcp://\S+)")
        for worker in self.workers():
            etcd.put(card_key(worker), card(worker))
        etcd.put(channel_key(5), channel(5, url))
        planner = self.serve("--set", "bus.plane=event", "--set", "discovery.backend=etcd", "--set", "decisions.store=etcd",
                             "--set", f"etcd.endpoints={etcd.url}", "--set", "decisions.path=unused")
        decision = self.first_decision(planner)
        root = "v1/dynamo/planner/"
        self.assertEqual(etcd.get(root + "decision_id"), str(decision["decision_id"]))
        self.assertEqual(etcd.get(root + "num_decode_workers"), str(decision["decode"]))
        etcd.put(root + "scaled_decision_id", str(decision["decision_id"]))
        self.assertEqual(planner.settled(decision["decision_id"]), "acknowledged")
        etcd.delete(card_key(self.workers()[0]))
        until(lambda: len(planner.call("GET", "/v1/state")[1]["engines"]) == 1, "one engine")
        self.assertEqual(planner.stop(), 0)
        self.replays()

    def test_a_stand_by_on_etcd_shows_the_leaders_decisions_and_takes_over_within_the_lease(self) -> None:
        need("etcd")
        etcd = self.server(Etcd(self.folder))
        bus = self.engines()
        store = ("--set", "decisions.store=etcd", "--set", f"etcd.endpoints={etcd.url}", "--set", "etcd.lease_ttl_s=2")
        leader = self.planner(bus, *store)
        decision = self.first_decision(leader)
        follower = self.planner("tcp://127.0.0.1:9", *store, "--set", f"journal.dir={self.folder}/journal2")
        shown = until(lambda: follower.call("GET", "/v1/decisions")[1]["decisions"], "the leader's decisions")
        self.assertEqual(shown[-1]["decision_id"], decision["decision_id"])
        state = follower.call("GET", "/v1/state")[1]
        self.assertFalse(state["leader"])
        self.assertRegex(state["store"]["reason"], f"pid {leader.process.pid}")
        self.assertEqual(follower.call("POST", f"/v1/decisions/{decision['decision_id']}/complete")[0], 503)
        leader.stop(signal.SIGKILL)
        until(lambda: follower.call("GET", "/v1/state")[1]["leader"], "the take-over")
        # It leads before it has read the store: until then the answer is 503, ask again.
        def complete():
            code, answer = follower.call("POST", f"/v1/decisions/{decision['decision_id']}/complete")
            return (code, answer) if code != 503 else None

        code, settled = until(complete, "an answer to the acknowledgement")
        self.assertEqual((code, settled["state"]), (200, "acknowledged"))
        self.assertEqual(follower.stop(), 0)


if __name__ == "__main__":
    case_runner.run()
