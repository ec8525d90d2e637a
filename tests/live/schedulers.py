"""Schedulers as a fleet may have them: they wait for decisions and answer them at random, rightly, twice, late or never."""

import random
import threading

from processes import Fault, Http
from record import Record


class Scheduler(threading.Thread):
    """Asks whoever `addresses()` names, one after the other, until stop(). `answers` are weights of what it does with a decision;
    what it did is counted in `did`."""

    def __init__(self, addresses, record: Record, seed: int, answers: dict[str, int] | None = None):
        super().__init__(daemon=True)
        self.addresses, self.record, self.random = addresses, record, random.Random(seed)
        self.answers = answers or {"complete": 60, "fail": 20, "ignored": 20}
        self.stopping = threading.Event()
        self.did = {"complete": 0, "fail": 0, "ignored": 0, "unreachable": 0, "not_leading": 0}
        self.last = -1
        self.fault: Fault | None = None

    def stop(self) -> None:
        self.stopping.set()
        self.join()
        if self.fault is not None:
            raise self.fault

    def run(self) -> None:
        try:
            while not self.stopping.is_set():
                for address in self.addresses():
                    self._serve(address)
                self.stopping.wait(0.01)  # a planner that is being started again is asked again, at a bounded rate
        except Fault as fault:
            self.fault = fault

    def _serve(self, address: str) -> None:
        http = Http(address, timeout_s=3.0)
        try:
            code, decision = http.call("GET", f"/v1/decisions/next?after={self.last}&wait=300ms")
            if code == 200:
                number = self.record.given(decision)
                if number <= self.last:
                    raise Fault(f"asked for what follows {self.last}, was given {number}")
                if self._answer(http, number):
                    self.last = number
        except ConnectionError:
            self.did["unreachable"] += 1
        finally:
            http.hang_up()

    def _answer(self, http: Http, number: int) -> bool:
        """False when this planner only stands by: the one that leads gives the same decision, and takes the answer."""
        what = self.random.choices(list(self.answers), list(self.answers.values()))[0]
        if what == "ignored":
            self.did[what] += 1
            return True
        for _ in range(self.random.choice([1, 1, 2])):
            code, settled = http.call("POST", f"/v1/decisions/{number}/{what}")
            if code == 200 and "state" in settled:
                self.record.answered(settled)
                self.did[what] += 1
            elif code == 503:
                self.did["not_leading"] += 1
                return False
            elif code != 429:  # too many requests: asked again with the next decision
                raise Fault(f"decision {number}: {what} was answered {code} {settled}")
        return True
