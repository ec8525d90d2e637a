"""What was ever seen of decisions, from the store, from /v1/decisions and by clients, and what must hold of it."""

import json
import pathlib
import threading
import zlib

from processes import Fault

TERMINAL = {"acknowledged", "failed", "timed_out", "superseded"}
# Of a decision, whatever becomes of it: in both forms, and in each.
FIXED = ("prefill", "decode", "reason", "timeout_s")
FIXED_IN = {"store": ("proposal", "published_wall_ms", "forced", "why"), "answer": ("published_at",)}


class Record:
    """Takes sightings from any thread; raises Fault at the first that contradicts an earlier one."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.content: dict[tuple[int, str], tuple] = {}
        self.state: dict[int, str] = {}
        self.stored: set[int] = set()  # ids that stood in the store
        self.seen: set[int] = set()  # ids that a client was given
        self.settled: dict[int, set[str]] = {}  # what clients were answered: the states

    def _check(self, decision: dict, form: str) -> int:
        number = decision["decision_id"]
        for kind, names in (("both", FIXED), (form, FIXED_IN[form])):
            content = tuple(decision.get(name) for name in names)
            known = self.content.setdefault((number, kind), content)
            if known != content:
                raise Fault(f"decision {number} is {content} in one {form}, was {known}")
        state, before = decision["state"], self.state.get(number)
        if before in TERMINAL and state in TERMINAL and state != before:
            raise Fault(f"decision {number} is {state} in one {form}, was {before}")
        if state in TERMINAL:
            self.state[number] = state
        else:
            self.state.setdefault(number, state)
        return number

    def given(self, decision: dict) -> int:
        with self.lock:
            number = self._check(decision, "answer")
            self.seen.add(number)
            return number

    def answered(self, decision: dict) -> None:
        with self.lock:
            number = self._check(decision, "answer")
            self.settled.setdefault(number, set()).add(decision["state"])

    def listed(self, decisions: list[dict]) -> None:
        with self.lock:
            numbers = [self._check(decision, "answer") for decision in decisions]
            if numbers != sorted(set(numbers)):
                raise Fault(f"/v1/decisions is not in growing order: {numbers}")
            self.seen.update(numbers)

    def read(self, path: pathlib.Path) -> None:
        """The store's file. A torn last line is what a kill leaves; anything else that is not whole is a fault."""
        if not path.exists():
            return
        lines = path.read_bytes().split(b"\n")
        if lines[0] != b"dynaplan decisions 1":
            raise Fault(f"{path}: begins with {lines[0][:40]!r}")
        revision, published, states = -1, -1, {}
        with self.lock:
            for position, line in enumerate(lines[1:-1]):  # behind the last newline: torn, or nothing
                where, text = f"{path}: line {position + 2}", line[18:]
                if len(text) != int(line[:8], 16) or zlib.crc32(text) != int(line[9:17], 16):
                    raise Fault(f"{where} is damaged")
                entry = json.loads(text)
                fresh = entry.get("state")
                if (fresh is None) == (position == 0):
                    raise Fault(f"{where}: the state stands first, and only there")
                entry = fresh or entry
                if fresh is None and entry["revision"] != revision:
                    raise Fault(f"{where} expects revision {entry['revision']}, the file is at {revision}")
                revision = entry["revision"]
                if (current := entry.get("current")) is not None:
                    if current <= published:
                        raise Fault(f"{where}: decision {current} is published after {published}")
                    published = current
                    revision += 0 if fresh else 1
                self._stored_as(entry["records" if fresh else "put"], states, where)

    def stored_as(self, decisions: list[dict], states: dict[int, str], where: str) -> None:
        """What one transaction put into the store. `states` is the caller's: what the store held before."""
        with self.lock:
            self._stored_as(decisions, states, where)

    def _stored_as(self, decisions: list[dict], states: dict[int, str], where: str) -> None:
        for decision in decisions:
            number = self._check(decision, "store")
            before = states.get(number)
            if before in TERMINAL and decision["state"] != before:
                raise Fault(f"{where}: decision {number} is {decision['state']}, was {before}")
            states[number] = decision["state"]
            self.stored.add(number)

    def check_end(self) -> dict[str, int]:
        """When no planner runs any more and the last file has been read."""
        missing = sorted(self.seen - self.stored)
        if missing:
            raise Fault(f"clients were given decisions {missing} that are in no record")
        open_still = sorted(number for number, state in self.state.items() if state not in TERMINAL)
        if open_still:
            raise Fault(f"decisions {open_still} never ended")
        numbers = sorted(self.state)
        if numbers and numbers != list(range(numbers[0], numbers[-1] + 1)):
            raise Fault(f"ids have holes: {numbers}")
        for number, answers in self.settled.items():
            if answers - {self.state[number]} - {"published"}:
                raise Fault(f"decision {number} was answered {sorted(answers)}, its record says {self.state[number]}")
        counts = dict.fromkeys(sorted(TERMINAL), 0)
        for state in self.state.values():
            counts[state] += 1
        return counts
