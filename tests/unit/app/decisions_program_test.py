#!/usr/bin/env python3
"""`dynaplan decisions` against a real `dynaplan serve` that a recording drives.
Usage: decisions_program_test.py DYNAPLAN MAKE_RECORDING SOURCE_ROOT"""

import json
import os
import pathlib
import pty
import signal
import socket
import subprocess
import sys

ROOT = pathlib.Path(sys.argv[3])
sys.path[:0] = [str(ROOT / "tests" / "lint"), str(pathlib.Path(__file__).parent)]

import case_runner  # noqa: E402
from live_programs import LiveCase, until  # noqa: E402

LiveCase.dynaplan, LiveCase.recorder = sys.argv[1:3]
sys.argv = sys.argv[:1]

NOWHERE = "tcp://127.0.0.1:9"  # a bus that never connects


class OneQuestion(LiveCase):
    def test_wait_show_and_complete_print_the_decision_as_json_in_a_pipe(self) -> None:
        planner = self.planner()
        place = ("--url", planner.url)
        waiting = self.decisions("wait", "--timeout", "60", *place)
        self.assertEqual(waiting.wait(), 0, waiting.err.text)
        decision = json.loads(waiting.out.text)
        self.assertEqual((decision["decision_id"], decision["state"], decision["reason"]), (0, "published", "scale_up"))
        for words in (("show",), ("show", "0"), ("show", "--all"), ("wait", "--after", "-1")):
            shown = self.decisions(*words, *place, "--json")
            self.assertEqual(shown.wait(), 0, shown.err.text)
            self.assertEqual(json.loads(shown.out.text), planner.call("GET", "/v1/decisions/0")[1], words)
        completed = self.decisions("complete", "0", *place)
        self.assertEqual(completed.wait(), 0)
        self.assertEqual(json.loads(completed.out.text), {**decision, "state": "acknowledged"})

    def test_on_a_terminal_a_decision_is_a_line_to_read(self) -> None:
        planner = self.planner()
        decision = planner.decision(0)
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        subprocess.run([self.dynaplan, "decisions", "show", "--url", planner.url], stdout=theirs, check=True)
        os.close(theirs)
        self.assertEqual(os.read(ours, 4096).decode().rstrip(),
                         f"decision 0 published: decode {decision['decode']} (scale_up), {decision['published_at']}")

    def test_an_old_decision_is_accepted_again_and_stays_as_it_was(self) -> None:
        planner = self.planner()
        planner.decision(0)
        for command, state in (("fail", "failed"), ("complete", "failed"), ("fail", "failed")):
            done = self.decisions(command, "0", "--url", planner.url)
            self.assertEqual(done.wait(), 0)
            self.assertEqual(json.loads(done.out.text)["state"], state)

    def test_an_unknown_or_future_id_is_refused_with_the_planners_message(self) -> None:
        planner = self.planner(NOWHERE)
        for words, said in ((("complete", "77"), "decision 77 was never published"), (("fail", "77"), "never published"),
                            (("show", "77"), "decision 77 is not known"), (("show",), "no decision has been published")):
            done = self.decisions(*words, "--url", planner.url)
            self.assertEqual((done.wait(), done.out.text), (1, ""), words)
            self.assertIn(said, done.err.text)
        shown = self.decisions("show", "--all", "--url", planner.url)
        self.assertEqual((shown.wait(), shown.out.text), (0, ""))

    def test_two_that_acknowledge_at_once_both_succeed(self) -> None:
        planner = self.planner()
        planner.decision(0)
        both = [self.decisions("complete", "0", "--url", planner.url) for _ in range(2)]
        self.assertEqual([b.wait() for b in both], [0, 0])
        self.assertEqual([json.loads(b.out.text)["state"] for b in both], ["acknowledged"] * 2)

    def test_wait_ends_with_4_when_its_time_is_over(self) -> None:
        planner = self.planner(NOWHERE)
        for timeout in ("0", "0.3"):
            waiting = self.decisions("wait", "--timeout", timeout, "--url", planner.url)
            self.assertEqual((waiting.wait(), waiting.out.text), (4, ""))

    def test_nobody_there_is_said_with_the_remedy(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        for words in (("wait",), ("show",), ("show", "3"), ("complete", "3"), ("fail", "3")):
            done = self.decisions(*words, "--url", url)
            self.assertEqual(done.wait(), 1, words)
            self.assertIn("Connection refused", done.err.text)
            self.assertIn("--url", done.err.text)
            self.assertEqual(len(done.err.lines), 1)

    def test_wrong_usage_ends_with_2(self) -> None:
        (self.folder / "planner.yaml").write_text("mode: decode\nhtpp: {}\n")
        (self.folder / "free.yaml").write_text('mode: decode\nhttp: {listen: "127.0.0.1:0"}\n')
        (self.folder / "empty").write_text("\n")
        for words, said in ((("wait", "--url", "planner:x"), "--url"), (("complete",), "ID"), (("complete", "-1"), "ID"),
                            (("wait", "--after", "-2"), "--after"), (("watch", "--exec-timeout", "3"), "--exec"),
                            (("show", "3", "--all"), "--all"), ((), "subcommand"),
                            (("show", "--config", self.folder / "planner.yaml"), "planner.yaml:2"),
                            (("show", "--config", self.folder / "free.yaml"), "give --url"),
                            (("show", "--token-file", self.folder / "empty"), "no token"),
                            (("show", "--token-file", self.folder / "none"), "none")):
            done = self.decisions(*words)
            self.assertEqual(done.wait(), 2, words)
            self.assertIn(said, done.out.text + done.err.text, words)

    def test_address_and_token_come_from_the_planners_configuration(self) -> None:
        token = self.folder / "token"
        token.write_text("s3cret\n")
        planner = self.planner("", "--set", f"http.token_file={token}")
        planner.decision(0)
        refused = self.decisions("complete", "0", "--url", planner.url)
        self.assertEqual(refused.wait(), 1)
        self.assertIn("give --token-file", refused.err.text)
        config = self.folder / "planner.yaml"
        config.write_text(f'mode: decode\ndecode_engine_num_gpu: 1\nhttp: {{listen: "{planner.listen}", token_file: {token}}}\n')
        completed = self.decisions("complete", "0", "--config", config)
        self.assertEqual(completed.wait(), 0, completed.err.text)
        again = self.decisions("fail", "0", "--url", planner.url, "--token-file", token)
        self.assertEqual(again.wait(), 0, again.err.text)

    def test_a_stand_by_is_asked_until_the_time_is_over(self) -> None:
        self.planner(NOWHERE)
        second = self.planner(NOWHERE, "--set", f"journal.dir={self.folder}/journal2")
        done = self.decisions("complete", "0", "--url", second.url, "--timeout", "0.4")
        self.assertEqual(done.wait(), 4)
        self.assertIn("503, this planner stands by", done.err.text)

    def test_help_has_examples(self) -> None:
        for name in ("watch", "wait", "show", "complete", "fail"):
            shown = self.decisions(name, "--help")
            self.assertEqual(shown.wait(), 0)
            self.assertIn(f"dynaplan decisions {name}", shown.out.text)

    def test_a_client_that_hangs_up_in_mid_poll_is_forgotten(self) -> None:
        planner = self.planner(NOWHERE)
        host, port = planner.listen.split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(b"GET /v1/decisions/next?after=-1&wait=60s HTTP/1.1\r\nHost: x\r\n\r\n")
            until(lambda: planner.metric("dynaplan_waiters") == 1, "the client waits")
        until(lambda: planner.metric("dynaplan_waiters") == 0, "it is forgotten")
        waiting = self.decisions("wait", "--url", planner.url)
        until(lambda: planner.metric("dynaplan_waiters") == 1, "the command waits")
        self.assertEqual(waiting.stop(signal.SIGINT), 130)
        until(lambda: planner.metric("dynaplan_waiters") == 0, "it is forgotten too")


class Watch(LiveCase):
    def test_each_decision_comes_once_also_when_the_planner_is_killed_meanwhile(self) -> None:
        planner = self.planner()
        watch = self.decisions("watch", "--url", planner.url)
        self.assertEqual(json.loads(watch.out.line(0))["decision_id"], 0)
        planner.stop(signal.SIGKILL)
        watch.err.until("trying again")
        planner = self.planner(listen=planner.listen)
        watch.err.until("the planner answers again")
        planner.decision(0)
        self.assertEqual(planner.call("POST", "/v1/decisions/0/fail")[0], 200)
        self.assertEqual(json.loads(watch.out.line(1))["decision_id"], 1)
        self.assertEqual(watch.stop(signal.SIGINT), 130)
        self.assertEqual(len(watch.out.lines), 2, watch.out.text)
        self.assertEqual(watch.err.text.count("trying again"), 1, watch.err.text)

    def test_it_begins_with_an_open_decision_and_with_no_other(self) -> None:
        planner = self.planner()
        planner.decision(0)
        planner.call("POST", "/v1/decisions/0/fail")
        planner.decision(1)
        first = self.decisions("watch", "--url", planner.url, "--count", "1")
        self.assertEqual(first.wait(), 0)
        self.assertEqual(json.loads(first.out.text)["decision_id"], 1)
        planner.call("POST", "/v1/decisions/1/complete")
        second = self.decisions("watch", "--url", planner.url, "--timeout", "0")
        self.assertEqual((second.wait(), second.out.text), (4, ""))
        third = self.decisions("watch", "--url", planner.url, "--after", "-1", "--count", "2")
        self.assertEqual(third.wait(), 0)
        self.assertEqual([json.loads(line)["decision_id"] for line in third.out.lines], [0, 1])

    def test_a_planner_that_comes_later_is_waited_for(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            listen = f"127.0.0.1:{taken.getsockname()[1]}"
        watch = self.decisions("watch", "--url", f"http://{listen}", "--count", "1")
        watch.err.until("Connection refused.*trying again")
        self.planner(listen=listen)
        self.assertEqual(watch.wait(), 0)
        self.assertEqual(json.loads(watch.out.text)["decision_id"], 0)

    def test_ids_that_go_back_end_it_instead_of_stalling_it(self) -> None:
        planner = self.planner("", "--set", "decisions.store=memory")
        watch = self.decisions("watch", "--url", planner.url)
        watch.out.line(0)
        planner.stop(signal.SIGKILL)
        (self.folder / "journal").rename(self.folder / "journal-of-before")
        self.planner(NOWHERE, "--set", "decisions.store=memory", listen=planner.listen)
        self.assertEqual(watch.wait(), 1)
        self.assertIn("newest decision is -1 after 0 was seen", watch.err.text)


class Carrying(LiveCase):
    """watch --exec. The commands speak through files, so that nothing depends on time."""

    def script(self, text: str) -> str:
        path = self.folder / "scale.sh"
        path.write_text("#!/bin/sh\ncd \"$(dirname \"$0\")\"\n" + text)
        path.chmod(0o755)
        return str(path)

    def file(self, name: str) -> str:
        path = self.folder / name
        return until(lambda: path.exists() and path.read_text(), f"file {name}")

    def test_the_targets_are_in_the_environment_and_exit_0_acknowledges(self) -> None:
        planner = self.planner()
        command = self.script('env | grep ^DYNAPLAN_ > seen; cat >> seen; echo "scaling to $DYNAPLAN_DECODE"\n')
        watch = self.decisions("watch", "--url", planner.url, "--exec", command, "--count", "1",
                               env={"DYNAPLAN_PREFILL": "of another time"})
        self.assertEqual(watch.wait(), 0, watch.err.text)
        decision = planner.decision(0)
        self.assertEqual(decision["state"], "acknowledged")
        seen = dict(line.split("=", 1) for line in self.file("seen").splitlines())
        self.assertEqual(json.loads(seen.pop("DYNAPLAN_DECISION")), {**decision, "state": "published"})
        self.assertEqual(seen, {"DYNAPLAN_DECISION_ID": "0", "DYNAPLAN_PREFILL": "", "DYNAPLAN_DECODE": str(decision["decode"]),
                                "DYNAPLAN_REASON": "scale_up"})
        self.assertEqual(watch.out.text, f"scaling to {decision['decode']}")
        self.assertIn("decision 0 is acknowledged", watch.err.text)

    def test_another_exit_status_a_signal_and_a_time_out_fail_the_decision(self) -> None:
        planner = self.planner()
        command = self.script('case $DYNAPLAN_DECISION_ID in\n0) exit 3;;\n1) kill -9 $$;;\n2) sleep 600;;\nesac\n')
        watch = self.decisions("watch", "--url", planner.url, "--exec", "exec " + command, "--exec-timeout", "0.5", "--count", "4", "--json")
        self.assertEqual(watch.wait(), 1, watch.err.text)
        self.assertEqual([json.loads(line)["state"] for line in watch.out.lines], ["failed", "failed", "failed", "acknowledged"])
        for said in ("decision 0: the command ended with 3", "decision 1: the command was killed by signal 9",
                     "decision 2: the command took longer than 0.5 s", "decision 3 is acknowledged"):
            self.assertIn(said, watch.err.text)

    def test_a_command_that_does_not_exist_fails_the_decision(self) -> None:
        planner = self.planner()
        watch = self.decisions("watch", "--url", planner.url, "--exec", "/nowhere/scale", "--count", "1")
        self.assertEqual(watch.wait(), 1)
        self.assertEqual(planner.decision(0)["state"], "failed")

    def test_an_interrupt_goes_on_to_the_command_and_nothing_is_acknowledged(self) -> None:
        planner = self.planner()
        command = self.script("trap 'echo TERM > got; exit 0' TERM\necho $$ > started\nwhile :; do sleep 0.05; done\n")
        watch = self.decisions("watch", "--url", planner.url, "--exec", command)
        self.file("started")
        self.assertEqual(watch.stop(signal.SIGTERM), 130)
        self.assertEqual(self.file("got"), "TERM\n")
        self.assertIn("decision 0 stays open", watch.err.text)
        self.assertEqual(planner.decision(0)["state"], "published")
        again = self.decisions("watch", "--url", planner.url, "--exec", "true", "--count", "1")
        self.assertEqual(again.wait(), 0)
        self.assertEqual(planner.decision(0)["state"], "acknowledged")

    def test_a_second_interrupt_kills_a_command_that_ignores_the_first(self) -> None:
        planner = self.planner()
        command = self.script("trap 'echo > ignored' INT\necho > started\nwhile :; do sleep 0.05; done\n")
        watch = self.decisions("watch", "--url", planner.url, "--exec", command)
        self.file("started")
        watch.process.send_signal(signal.SIGINT)
        self.file("ignored")
        self.assertEqual(watch.stop(signal.SIGINT), 130)
        self.assertIn("stays open: its command was interrupted and was killed by signal 9", watch.err.text)
        self.assertEqual(planner.decision(0)["state"], "published")

    def test_the_acknowledgement_is_repeated_until_the_planner_is_back(self) -> None:
        planner = self.planner()
        command = self.script("echo run >> runs\nwhile [ ! -e go ]; do sleep 0.05; done\n")
        watch = self.decisions("watch", "--url", planner.url, "--exec", command, "--count", "1")
        self.file("runs")
        planner.stop(signal.SIGKILL)
        (self.folder / "go").touch()
        watch.err.until("trying again")
        planner = self.planner(NOWHERE, listen=planner.listen)
        self.assertEqual(watch.wait(), 0, watch.err.text)
        self.assertEqual(planner.decision(0)["state"], "acknowledged")
        self.assertEqual(self.file("runs"), "run\n")

    def test_what_was_overtaken_while_a_command_ran_is_left_out(self) -> None:
        planner = self.planner("", "--set", "decisions.timeout_s=1")
        command = self.script('echo "$DYNAPLAN_DECISION_ID" >> runs\nwhile [ ! -e go ]; do sleep 0.05; done\n')
        watch = self.decisions("watch", "--url", planner.url, "--exec", command, "--count", "2")
        self.file("runs")
        planner.decision(2)
        (self.folder / "go").touch()
        self.assertEqual(watch.wait(), 0, watch.err.text)
        self.assertIn("decision 0 is timed_out", watch.err.text)
        self.assertIn("decision 1 is timed_out already: left out", watch.err.text)
        runs = [int(line) for line in self.file("runs").splitlines()]
        self.assertEqual(len(runs), 2)
        self.assertGreater(runs[1], 1)

    def test_a_stand_by_that_takes_over_gets_its_open_decision_carried_out(self) -> None:
        bus = self.engines()
        first = self.planner(bus)
        first.decision(0)
        second = self.planner(bus, "--set", f"journal.dir={self.folder}/journal2")
        watch = self.decisions("watch", "--url", second.url, "--exec", "true", "--count", "1")
        watch.err.until("stands by.*trying again")
        self.assertEqual(first.decision(0)["state"], "published")
        first.stop(signal.SIGKILL)
        self.assertEqual(watch.wait(), 0, watch.err.text)
        self.assertEqual(second.decision(0)["state"], "acknowledged")
        self.assertEqual(watch.err.text.count("trying again"), 1, watch.err.text)


if __name__ == "__main__":
    case_runner.run()
