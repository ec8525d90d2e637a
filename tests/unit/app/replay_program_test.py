#!/usr/bin/env python3
"""`dynaplan` and its `replay` as a user runs them. Usage: replay_program_test.py DYNAPLAN SOURCE_ROOT"""

import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import zlib

PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "lint")]
sys.argv = sys.argv[:1]

import case_runner  # noqa: E402

START_MS = 1_767_225_600_000


def record(ms: int, component: str, worker: str, counter: int, **fpm: object) -> str:
    report = {"version": 1, "worker_id": worker, "dp_rank": 0, "counter_id": counter, **fpm}
    return json.dumps({"timestamp": ms, "event": {
        "schema": "dynamo.fpm.trace.v1", "source": {"namespace": "test", "component": component, "producer_id": worker},
        "capture_mode": "full", "observed_at_unix_ms": START_MS + ms, "fpm": report}})


def decode_pass(i: int) -> dict:
    requests = 4 + i % 29
    kv = requests * (1500 + 37 * (i % 11))
    return {"wall_time": 0.012 + 1e-6 * kv + 1e-4 * requests,
            "scheduled_requests": {"num_decode_requests": requests, "sum_decode_kv_tokens": kv}}


def decode_trace(seconds: int = 30, component: str = "backend", worker: str = "7", from_ms: int = 0) -> list[str]:
    """A decode engine at 10 passes a second that needs more than 30 ms a pass on average."""
    return [record(from_ms + 100 * i, component, worker, i, **decode_pass(i)) for i in range(10 * seconds)]


class Case(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name: str) -> str:
        return str(self.folder / name)

    def write(self, name: str, content: object) -> str:
        if isinstance(content, list):
            content = "".join(line + "\n" for line in content)
        data = content if isinstance(content, bytes) else content.encode()
        (self.folder / name).write_bytes(data)
        return self.path(name)

    def run_program(self, *arguments: str, code: int = 0) -> subprocess.CompletedProcess:
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120, errors="replace")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def replay(self, *arguments: str, code: int = 0) -> dict:
        return json.loads(self.run_program("replay", *arguments, "--json", code=code).stdout)


class CommandLine(Case):
    def test_help_and_version(self) -> None:
        self.assertRegex(self.run_program("--version").stdout, r"^dynaplan \d+\.\d+\.\d+\n$")
        for command in ([], ["replay"], ["step"], ["config"]):
            text = self.run_program(*command, "--help").stdout
            self.assertIn("Examples:", text)
        self.assertNotIn("simulate", self.run_program("--help").stdout)

    def test_wrong_usage_is_2(self) -> None:
        trace = self.write("t.jsonl", decode_trace(1))
        for arguments in ([], ["serve"], ["replay"], ["replay", trace, "--bogus"], ["replay", trace, "--assume", "maybe"],
                          ["replay", trace, "--role", "x"], ["replay", trace, "--role", "x=foo"],
                          ["replay", trace, "--set", "itl=-1"], ["replay", trace, "--config", "nowhere.yaml"],
                          ["replay", trace, "--journal", trace], ["replay", trace, "--effects", self.path("no/where")]):
            with self.subTest(arguments=arguments):
                self.assertTrue(self.run_program(*arguments, code=2).stderr)
        self.assertEqual(len(pathlib.Path(trace).read_text().splitlines()), 10, "an input is never written to")


class Traces(Case):
    def test_decisions_with_reasons_and_the_inferred_configuration(self) -> None:
        trace = self.write("t.jsonl", decode_trace())
        said = self.replay(trace, "--set", "itl=30")
        self.assertEqual((said["kind"], said["mode"], said["preset"]), ("trace", "decode", "dynaplan"))
        self.assertTrue(any("max_kv_tokens" in note for note in said["inferred"]))
        first = said["decisions"][0]
        self.assertEqual((first["reason"], first["ready_decode"], first["decode"]), ("scale_up", 1, 2))
        self.assertEqual((first["decision_id"], first["outcome"]), (0, "acknowledged"))
        self.assertEqual(said["summary"]["fpm"]["taken"], 300)
        self.assertEqual(said["summary"]["engines"], {"prefill": 0, "decode": 1})
        text = self.run_program("replay", trace, "--set", "itl=30").stdout
        self.assertIn("1 -> 2", text)
        self.assertIn("scale_up", text)
        self.assertIn("FPM/s", text)

    def test_assume_never_shows_the_hold(self) -> None:
        said = self.replay(self.write("t.jsonl", decode_trace()), "--set", "itl=30", "--assume", "never")
        self.assertEqual(len(said["decisions"]), 1)
        self.assertIsNone(said["decisions"][0]["outcome"])
        self.assertIn("decision_pending", [h["reason"] for h in said["holds"]])

    def test_gzip_members_and_a_quoted_glob_give_the_same_as_plain_text(self) -> None:
        lines = decode_trace()
        plain = self.replay(self.write("t.jsonl", lines), "--set", "itl=30")
        half = "".join(line + "\n" for line in lines[:150]).encode(), "".join(line + "\n" for line in lines[150:]).encode()
        self.write("s.7.000000.jsonl.gz", gzip.compress(half[0][:5000]) + gzip.compress(half[0][5000:]))
        self.write("s.7.000001.jsonl.gz", gzip.compress(half[1]))
        zipped = self.replay(self.path("s.7.*.jsonl.gz"), "--set", "itl=30")
        self.assertEqual(plain["decisions"], zipped["decisions"])
        self.assertEqual(len(zipped["files"]), 2)

    def test_files_are_merged_by_time(self) -> None:
        both = self.replay(self.write("a.jsonl", decode_trace(worker="1")), self.write("b.jsonl", decode_trace(worker="2")))
        lines = [line for pair in zip(decode_trace(worker="1"), decode_trace(worker="2")) for line in pair]
        one = self.replay(self.write("one.jsonl", lines))
        self.assertEqual(both["decisions"], one["decisions"])
        self.assertEqual(both["summary"]["fpm"], one["summary"]["fpm"])

    def test_roles(self) -> None:
        odd = self.write("odd.jsonl", decode_trace(component="vllm_worker"))
        self.assertIn("vllm_worker", self.run_program("replay", odd, code=2).stderr)
        self.assertEqual(self.replay(odd, "--role", "vllm_worker=decode")["mode"], "decode")
        self.assertEqual(self.replay(odd, "--set", "mode=agg")["summary"]["engines"]["decode"], 1)
        mixed = self.write("mixed.jsonl", decode_trace(component="other", worker="9"))
        said = self.replay(self.write("t.jsonl", decode_trace()), mixed)
        self.assertEqual(said["summary"]["refused_by_cause"]["unknown_role: component 'other'"]["count"], 300)
        self.assertTrue(any("--role" in warning for warning in said["warnings"]))

    def test_step_lines_bring_traffic_and_inventory(self) -> None:
        lines = decode_trace(190)
        lines.insert(5, '{"t":0.4,"event":"inventory","role":"decode","ready":1,"expected":1,"rolling":false}')
        lines.append('{"t":179.9,"event":"traffic","window_s":180,"num_req":540,"isl":1500,"osl":200}')
        said = self.replay(self.write("t.jsonl", lines[:-1]), self.write("steps.jsonl", lines[-1:]))
        self.assertEqual(said["summary"]["throughput_ticks"], 1)
        self.assertNotIn("traffic_unknown", said["summary"]["throughput_reasons"])
        self.assertEqual(self.replay(self.write("u.jsonl", decode_trace(190)))["summary"]["throughput_ticks"], 0)

    def test_effects_file(self) -> None:
        trace = self.write("t.jsonl", decode_trace())
        said = self.replay(trace, "--set", "itl=30", "--effects", self.path("e.jsonl"))
        effects = [json.loads(line) for line in (self.folder / "e.jsonl").read_text().splitlines()]
        self.assertEqual([e["decision_id"] for e in effects], [d["decision_id"] for d in said["decisions"]])
        self.assertTrue(all(e["effect"] == "scale_to" and "why" in e for e in effects))


class BadTraces(Case):
    def test_unreadable_files_are_1_and_the_rest_is_processed(self) -> None:
        trace = self.write("t.jsonl", decode_trace())
        bomb = gzip.compress(b"\n" * (1 << 20)) * 200
        bad = {"missing": self.path("missing"), "directory": str(self.folder), "empty": self.write("empty", b"")}
        for name, path in bad.items():
            with self.subTest(name):
                told = self.run_program("replay", path, code=1).stderr
                self.assertIn(path, told)
                self.assertEqual(self.replay(trace, path, code=1)["summary"]["fpm"]["taken"], 300)
        self.assertIn("nothing is replayed", self.run_program("replay", self.write("bomb.gz", bomb), code=1).stderr)

    def test_binary_rubbish_is_refused_and_counted(self) -> None:
        rubbish = bytes(range(256)) * 64
        told = self.run_program("replay", self.write("binary", rubbish), code=1)
        self.assertIn("bad_json", told.stdout)
        self.assertNotIn("\x1b", told.stdout)

    def test_lines_that_are_not_used_are_counted_by_cause_with_their_place(self) -> None:
        lines = decode_trace()
        bad = ["not json", '{"event":{"schema":"dynamo.fpm.trace.v1"}}', record(0, "backend", "7", 1, wall_time=-1),
               record(0, "backend", "7", 1, wall_time="x"), '{"t":1,"event":"tock"}', '{"other":1}']
        said = self.replay(self.write("t.jsonl", lines[:10] + bad + lines[10:]))
        causes = said["summary"]["refused_by_cause"]
        self.assertEqual({name: c["count"] for name, c in causes.items()},
                         {"bad_json": 1, "missing_field": 1, "bad_fpm: negative": 1, "bad_fpm: wrong_type": 1, "step_line": 2})
        self.assertEqual(causes["bad_json"]["places"][0]["line"], 11)
        self.assertEqual(said["summary"]["fpm"]["taken"], 300)

    def test_a_cut_end_is_a_warning_and_damage_is_1(self) -> None:
        member = gzip.compress("".join(line + "\n" for line in decode_trace()).encode())
        cut = self.replay(self.write("cut.gz", member + gzip.compress(b"x" * 99)[:20]))
        self.assertEqual(cut["summary"]["fpm"]["taken"], 300)
        self.assertIn("cut_member", cut["warnings"][0])
        torn = self.replay(self.write("cut.jsonl", "".join(line + "\n" for line in decode_trace()) + '{"timest'))
        self.assertIn("cut_line", torn["warnings"][0])
        broken = bytearray(member)
        broken[len(broken) // 2] ^= 0xFF
        damaged = self.replay(self.write("bad.gz", bytes(broken) + member), code=1)
        self.assertIn("bad_member", damaged["problems"][0])
        self.assertGreaterEqual(damaged["summary"]["fpm"]["taken"], 300)

    def test_disorder_and_wrong_clocks(self) -> None:
        lines = decode_trace()
        swapped = lines[:100] + lines[110:115] + lines[100:110] + lines[115:]
        self.assertEqual(self.replay(self.write("a.jsonl", swapped))["decisions"],
                         self.replay(self.write("b.jsonl", lines))["decisions"])
        late = lines[:200] + [record(1000, "backend", "7", 9999, **decode_pass(1))] + lines[200:]
        self.assertEqual(self.replay(self.write("c.jsonl", late))["summary"]["fpm"]["late"], 1)
        jumps = lines + [record(10**13, "backend", "7", 9998, **decode_pass(1))]
        said = self.replay(self.write("d.jsonl", jumps))
        self.assertEqual(said["summary"]["refused_by_cause"]["time_jump"]["count"], 1)
        self.assertLess(said["summary"]["span_s"], 60)


class Interrupt(Case):
    def test_ctrl_c_ends_with_the_summary_and_130(self) -> None:
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        process = subprocess.Popen([PROGRAM, "replay", pipe, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        lines = "".join(line + "\n" for line in decode_trace(600)).encode()
        try:
            with open(pipe, "wb") as out:
                out.write(lines)  # more than one piece: the program is reading when this returns
                out.flush()
                process.send_signal(signal.SIGINT)
                out.write(lines)
        except BrokenPipeError:
            pass  # it has stopped reading
        told, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130)
        self.assertTrue(json.loads(told)["summary"]["interrupted"])


class Journals(Case):
    def journal(self, *arguments: str) -> str:
        trace = self.write("t.jsonl", decode_trace())
        self.replay(trace, "--set", "itl=30", "--journal", self.path("run.journal"), *arguments)
        return self.path("run.journal")

    def test_a_run_that_was_kept_replays_to_the_same_effects(self) -> None:
        path = self.journal()
        said = self.replay(path)
        self.assertEqual(said["kind"], "journal")
        self.assertGreater(said["summary"]["effects_verified"], 5)
        self.assertEqual(said["decisions"], self.replay(self.path("t.jsonl"), "--set", "itl=30")["decisions"])
        self.assertIn("all the same", self.run_program("replay", path).stdout)

    def test_effects_of_a_journal_have_their_fate(self) -> None:
        self.run_program("replay", self.journal("--effects", self.path("a")), "--effects", self.path("b"))
        self.assertEqual((self.folder / "a").read_text(), (self.folder / "b").read_text())

    def test_an_altered_effect_is_3_with_both_sides(self) -> None:
        path = self.journal()
        data = bytearray(pathlib.Path(path).read_bytes())
        at = data.find(b'"effect":"scale_to"')
        start = data.rfind(b"\xd7\x4a", 0, at)
        data[data.find(b'"decode":2', at) + 9] = ord("7")
        end = data.find(b"\xd7\x4a", at)
        data[start + 2:start + 6] = zlib.crc32(bytes(data[start + 6:end])).to_bytes(4, "little")
        changed = self.write("changed.journal", bytes(data))
        said = self.replay(changed, code=3)
        self.assertIn('"decode":7', said["differences"][0]["recorded"])
        self.assertIn('"decode":2', said["differences"][0]["replayed"])
        self.assertIn(f"offset {start}", said["differences"][0]["where"])
        self.assertIn('"decode":7', self.run_program("replay", changed, code=3).stdout)

    def test_a_torn_tail_is_a_warning_and_damage_in_the_middle_is_1(self) -> None:
        path = self.journal()
        data = pathlib.Path(path).read_bytes()
        torn = self.replay(self.write("torn", data[:-5]))
        self.assertIn("torn tail", torn["warnings"][0])
        broken = bytearray(data)
        broken[len(data) // 2] ^= 0xFF
        damaged = self.replay(self.write("broken", bytes(broken)), code=1)
        self.assertIn("offset", damaged["problems"][0])
        self.assertIn("cut off", self.run_program("replay", self.write("head", data[:12]), code=1).stderr)

    def test_another_policy_on_the_same_events(self) -> None:
        path = self.journal()
        said = self.replay(path, "--set", "itl=500", "--effects", self.path("e"))
        self.assertIsNone(said["summary"]["effects_verified"])
        self.assertEqual(said["summary"]["fpm"]["taken"], 300)
        self.assertNotIn("scale_up", said["summary"]["decisions_by_reason"])
        self.assertEqual(self.replay(path, "--preset", "dynamo")["preset"], "dynamo")

    def test_a_journal_that_is_only_verified_is_not_written_again(self) -> None:
        path, out, effects = self.journal(), self.path("again.journal"), self.path("e")
        told = self.run_program("replay", path, "--journal", out, "--effects", effects, code=2).stderr
        self.assertIn("--set", told)
        self.assertFalse(os.path.exists(out) or os.path.exists(effects))
        self.replay(path, "--set", "itl=500", "--journal", out)
        self.assertGreater(self.replay(out)["summary"]["effects_verified"], 5)

    def test_kinds_do_not_mix(self) -> None:
        self.assertIn("together", self.run_program("replay", self.journal(), self.path("t.jsonl"), code=2).stderr)


class Scenarios(Case):
    LINES = ['{"why":"a tick of an engine that nobody has heard holds"}',
             '{"config":{"mode":"decode","decode_engine_num_gpu":1}}',
             '{"t":0,"event":"inventory","role":"decode","ready":1,"expected":1}',
             '{"t":5,"event":"tick"}']

    def test_expectations_are_checked(self) -> None:
        good = self.LINES + ['{"expect":{"no":"scale_to","diagnostics":{"ran_load":true,"ready_decode":1}}}']
        self.assertEqual(self.replay(self.write("good.jsonl", good))["summary"]["expectations"], 1)
        bad = self.LINES + ['{"expect":{"diagnostics":{"ready_decode":2}}}', '{"expect":{"scale_to":{"decode":2}}}']
        said = self.replay(self.write("bad.jsonl", bad), code=3)
        self.assertEqual(len(said["differences"]), 2)
        self.assertIn(":5:", said["differences"][0]["where"])
        self.assertIn("ready_decode", said["differences"][0]["recorded"])
        self.assertIn("expected 2, got 1", said["differences"][0]["replayed"])
        self.run_program("replay", self.write("odd.jsonl", self.LINES + ['{"expect":{"scale_tu":{}}}']), code=3)

    def test_a_wrong_configuration_line_is_2_with_its_place(self) -> None:
        path = self.write("c.jsonl", ['{"config":{"itl":-1}}', self.LINES[2]])
        self.assertIn("c.jsonl:1", self.run_program("replay", path, code=2).stderr)

    def test_core_scenarios_are_compared_and_the_first_difference_is_3(self) -> None:
        files = sorted((ROOT / "tests" / "vectors" / "core").glob("*.json"))[:12]
        self.assertTrue(files)
        said = self.replay(*map(str, files))
        self.assertEqual(said["kind"], "core scenario")
        self.assertGreater(said["summary"]["ticks"], 12)
        for path in files:
            scenario = json.loads(path.read_text())
            decided = [t for t in scenario["ticks"] if t["out"].get("scale_to")]
            if decided:
                side = next(k for k, v in decided[0]["out"]["scale_to"].items() if v is not None)
                decided[0]["out"]["scale_to"][side] += 1
                changed = self.replay(self.write("changed.json", json.dumps(scenario)), code=3)
                self.assertEqual(len(changed["differences"]), 1)
                return
        self.fail("no golden file decides anything")

    def golden(self) -> tuple[str, dict]:
        path = ROOT / "tests" / "vectors" / "core" / "many_engines_24x2.json"
        return str(path), json.loads(path.read_text())

    def test_a_core_scenario_has_no_journal_and_no_file_is_left(self) -> None:
        path, _ = self.golden()
        out, effects = self.path("out.journal"), self.path("e.jsonl")
        told = self.run_program("replay", path, "--journal", out, "--effects", effects, code=2)
        self.assertEqual(told.stdout, "")
        self.assertIn(out, told.stderr)
        self.assertIn("--effects", told.stderr)
        self.assertFalse(os.path.exists(out) or os.path.exists(effects))
        kept = self.write("kept.journal", b"of an earlier run")
        self.run_program("replay", path, "--journal", kept, code=2)
        self.assertEqual(pathlib.Path(kept).read_bytes(), b"of an earlier run")
        said = self.replay(path, "--effects", effects)
        self.assertEqual(len(pathlib.Path(effects).read_text().splitlines()), len(said["decisions"]))

    def test_a_damaged_core_scenario_is_1_with_its_place_and_what_is_sound_before_it_counts(self) -> None:
        _, scenario = self.golden()
        scenario["ticks"][3]["in"]["now_s"] = "soon"
        path = self.write("bad.json", json.dumps(scenario))
        said = self.replay(path, code=1)
        self.assertEqual(said["problems"], [
            f'{path}: ticks[3].in.now_s: must be a number, "NaN", "Infinity" or "-Infinity", not "soon"'])
        self.assertEqual(said["summary"]["ticks"], 3)
        cut = self.run_program("replay", self.write("cut.json", json.dumps(scenario)[:5000]), code=1).stderr
        self.assertRegex(cut, r"cut\.json: not JSON: parse error at line 1, column \d+")


if __name__ == "__main__":
    case_runner.run()
