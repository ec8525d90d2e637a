#!/usr/bin/env python3
"""Every answer of the HTTP API, on every path and with every status, is one that proto/decisions-api.yaml allows; and the
document and the program have the same routes. Usage: api_contract_test.py DYNAPLAN MAKE_RECORDING SOURCE_ROOT"""

import contextlib
import http.client
import io
import json
import pathlib
import re
import signal
import socket
import sys
import zlib

ROOT = pathlib.Path(sys.argv[3])
sys.path[:0] = [str(ROOT / "tests" / "lint"), str(pathlib.Path(__file__).parent)]

from api_document import ApiDocument, jsonschema  # noqa: E402
import case_runner  # noqa: E402
from live_programs import BOUND_S, LiveCase, Planner, until  # noqa: E402

LiveCase.dynaplan, LiveCase.recorder = sys.argv[1:3]
sys.argv = sys.argv[:1]

NOWHERE = "tcp://127.0.0.1:9"  # a bus that never connects


class Contract(LiveCase):
    document = ApiDocument(ROOT / "proto" / "decisions-api.yaml")

    def ask(self, planner: Planner, method: str, target: str, body: object = None, headers: dict | None = None) -> tuple[int, object]:
        """The answer, which the document has allowed."""
        connection = http.client.HTTPConnection(planner.listen, timeout=BOUND_S)
        with contextlib.closing(connection):
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, target, data, headers or {})
            answer = connection.getresponse()
            text = answer.read().decode()
        self.document.judge(method, target, answer.status, answer.msg, text)
        return answer.status, json.loads(text) if text.startswith(("{", "[")) else text

    def expect(self, status: int, planner: Planner, method: str, target: str, body: object = None, headers: dict | None = None) -> object:
        got, answer = self.ask(planner, method, target, body, headers)
        self.assertEqual(got, status, f"{method} {target}: {answer}")
        return answer

    def test_0_live_traffic_from_the_first_decision_to_its_end(self) -> None:
        planner = self.planner()
        self.expect(200, planner, "GET", "/v1/decisions/next?after=-1&wait=30s")
        self.expect(204, planner, "GET", "/v1/decisions/next?after=0&wait=1ms")
        self.expect(200, planner, "GET", "/v1/decisions")
        self.expect(200, planner, "GET", "/v1/decisions/0")
        self.assertTrue(self.expect(200, planner, "GET", "/v1/state")["holds"])
        self.expect(200, planner, "POST", "/v1/decisions/0/fail")
        self.expect(200, planner, "GET", "/v1/decisions/next?after=0&wait=30s")
        self.expect(200, planner, "POST", "/v1/decisions/1/complete")
        self.expect(204, planner, "PUT", "/v1/inventory", {"decode": {"ready": 3, "expected": None, "rolling": True}})
        until(lambda: self.ask(planner, "GET", "/readyz")[0] == 200, "the planner is ready")
        state = self.expect(200, planner, "GET", "/v1/state")
        self.assertEqual((state["ready"], len(state["engines"])), (True, 2))
        self.expect(200, planner, "GET", "/healthz")
        self.expect(200, planner, "GET", "/metrics")

    def test_0_refusals(self) -> None:
        planner = self.planner(NOWHERE)
        self.expect(200, planner, "GET", "/v1/state")
        self.expect(200, planner, "GET", "/v1/decisions")
        self.expect(503, planner, "GET", "/readyz")
        for query in ("after=x", "after=-2", "wait=61s", "more=1"):
            self.expect(400, planner, "GET", "/v1/decisions/next?" + query)
        self.expect(400, planner, "GET", "/v1/decisions/x")
        self.expect(404, planner, "GET", "/v1/decisions/5")
        for verb in ("complete", "fail"):
            self.expect(400, planner, "POST", f"/v1/decisions/x/{verb}")
            self.expect(409, planner, "POST", f"/v1/decisions/5/{verb}")
        told = self.document.document["components"]["schemas"]["InventoryTold"]
        for body in ([], {}, {"decode": 3}, {"decode": {"ready": -1}}, {"decode": {"reddy": 1}}, {"decode": {"ready": 1.5}},
                     {"decode": {"rolling": None}}, {"router": {"ready": 1}}):
            with self.assertRaises(jsonschema.ValidationError, msg=f"{told} allows {body}"):
                self.document.validate({"$ref": "#/components/schemas/InventoryTold"}, body)
            self.expect(400, planner, "PUT", "/v1/inventory", body)
        for body in ({"decode": {}}, {"decode": {"ready": 0}}, {"decode": {"ready": None, "expected": 1000000, "rolling": False}}):
            self.document.validate({"$ref": "#/components/schemas/InventoryTold"}, body)
            self.expect(204, planner, "PUT", "/v1/inventory", body)
        self.expect(413, planner, "PUT", "/v1/inventory", headers={"Content-Length": str(2 << 20)})
        self.expect(414, planner, "GET", "/v1/state?" + "x" * 9000)
        self.expect(431, planner, "GET", "/v1/state", headers={"X-Long": "x" * 17000})

    def test_0_a_token_is_asked_for_where_something_changes(self) -> None:
        (self.folder / "token").write_text("s3cret")
        planner = self.planner(NOWHERE, "--set", f"http.token_file={self.folder}/token")
        for headers in ({}, {"Authorization": "Bearer other"}):
            for verb in ("complete", "fail"):
                self.expect(401, planner, "POST", f"/v1/decisions/0/{verb}", headers=headers)
            self.expect(401, planner, "PUT", "/v1/inventory", {"decode": {"ready": 1}}, headers)
        self.expect(204, planner, "PUT", "/v1/inventory", {"decode": {"ready": 1}}, {"Authorization": "Bearer s3cret"})
        self.expect(200, planner, "GET", "/v1/state")

    def test_0_a_stand_by(self) -> None:
        self.planner(NOWHERE)
        second = self.planner(NOWHERE, "--set", f"journal.dir={self.folder}/journal2")
        for verb in ("complete", "fail"):
            self.expect(503, second, "POST", f"/v1/decisions/0/{verb}")
        self.assertIn("leader", self.expect(503, second, "GET", "/readyz")["missing"])
        state = self.expect(200, second, "GET", "/v1/state")
        self.assertEqual((state["leader"], state["store"]["state"]), (False, "unavailable"))
        self.expect(200, second, "GET", "/v1/decisions")

    def test_0_a_decision_that_is_no_longer_kept(self) -> None:
        record = {"decision_id": 200, "proposal": 0, "state": "published", "timeout_s": 1e6}
        state = json.dumps({"state": {"revision": 0, "current": 200, "records": [record]}}).encode()
        (self.folder / "decisions").mkdir()
        (self.folder / "decisions" / "decisions").write_bytes(
            b"dynaplan decisions 1\n%08x %08x %s\n" % (len(state), zlib.crc32(state), state))
        planner = self.planner(NOWHERE)
        decision = self.expect(200, planner, "GET", "/v1/decisions/200")
        self.assertEqual((decision["decode"], decision["reason"], decision["published_at"]), (None, None, None))
        self.assertEqual(self.expect(200, planner, "POST", "/v1/decisions/7/complete"), {"decision_id": 7})
        self.assertEqual(self.expect(200, planner, "POST", "/v1/decisions/7/fail"), {"decision_id": 7})
        self.expect(404, planner, "GET", "/v1/decisions/7")
        self.expect(409, planner, "POST", "/v1/decisions/201/complete")

    def test_0_clients_that_wait_are_bounded_and_do_not_keep_others_out(self) -> None:
        planner = self.planner(NOWHERE)
        with contextlib.ExitStack() as sockets:
            host, port = planner.listen.split(":")
            waiting = []
            for _ in range(128):
                client = sockets.enter_context(socket.create_connection((host, int(port))))
                client.sendall(b"GET /v1/decisions/next?after=-1&wait=60s HTTP/1.1\r\nHost: x\r\n\r\n")
                waiting.append(client)
            until(lambda: planner.metric("dynaplan_waiters") == 128, "all wait")
            answer = self.expect(503, planner, "GET", "/v1/decisions/next?after=-1&wait=60s")
            self.assertIn("too many clients wait", answer["error"])
            self.expect(409, planner, "POST", "/v1/decisions/0/complete")
            planner.process.send_signal(signal.SIGTERM)
            stopped = http.client.HTTPResponse(waiting[0])
            stopped.begin()
            self.document.judge("GET", "/v1/decisions/next", stopped.status, stopped.msg, stopped.read().decode())
            self.assertEqual(stopped.status, 503)
        self.assertEqual(planner.wait(), 0)

    def test_0_too_many_requests(self) -> None:
        planner = self.planner(NOWHERE)
        host, port = planner.listen.split(":")
        with socket.create_connection((host, int(port)), timeout=BOUND_S) as client:
            client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 999 +
                           b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            answers = io.BytesIO(b"".join(iter(lambda: client.recv(1 << 16), b"")))
        statuses = set()
        while line := answers.readline().decode():
            statuses.add(status := int(line.split()[1]))
            headers = http.client.parse_headers(answers)
            self.document.judge("GET", "/healthz", status, headers, answers.read(int(headers["Content-Length"])).decode())
            self.assertEqual("Retry-After" in headers, status == 429)
        self.assertTrue({200, 429} <= statuses, statuses)

    def test_0_the_program_has_the_documents_routes_and_no_others(self) -> None:
        source = "".join(path.read_text() for folder in ("edge/runtime", "app") for path in (ROOT / "src" / folder).glob("*.cpp"))
        routes = re.findall(r'\brouter_?\.add\(\s*"([A-Z]+)",\s*"([^"]+)"', source)
        self.assertEqual(set(routes), self.document.operations())
        self.assertEqual(len(re.findall(r"\brouter_?\.add\(", source)), len(routes), "a route that this test cannot read")
        planner = self.planner(NOWHERE)
        for path in self.document.document["paths"]:
            methods = {method for method, of in self.document.operations() if of == path}
            connection = http.client.HTTPConnection(planner.listen, timeout=BOUND_S)
            with contextlib.closing(connection):
                connection.request("DELETE", path.replace("{id}", "1"))
                answer = connection.getresponse()
                self.assertEqual(answer.status, 405, path)
                allowed = set(answer.headers["Allow"].split(", "))
            self.assertEqual(allowed, methods | ({"HEAD"} if "GET" in methods else set()), path)

    def test_1_each_documented_status_has_been_seen(self) -> None:
        """Runs last, by its name; unittest sorts them."""
        self.assertEqual(self.document.documented() - self.document.seen, set())


if __name__ == "__main__":
    case_runner.run()
