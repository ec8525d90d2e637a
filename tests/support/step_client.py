"""Drives `dynaplan step` as a simulator in another language would: one line out, its answers back, up to `done`."""

import json
import subprocess


class StepClient:
    """The program with its pipes. Each send() waits for its answers, so a program that keeps them back would hang."""

    def __init__(self, program: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [program, "step", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def __enter__(self) -> "StepClient":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            pipe.close()

    def send_line(self, line: bytes) -> list[dict]:
        """The answers to one line, the closing `done` included."""
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        answers = []
        while not answers or answers[-1]["effect"] != "done":
            text = self.process.stdout.readline()
            if not text:
                raise AssertionError("the program ended before its done line: " + self.process.stderr.read().decode())
            answers.append(json.loads(text))
        return answers

    def send(self, **event: object) -> list[dict]:
        return self.send_line(json.dumps(event).encode())

    def finish(self) -> tuple[int, str]:
        """Closes the input; exit code and what stood on stderr."""
        self.process.stdin.close()
        rest = self.process.stdout.read()
        assert rest == b"", rest
        return self.process.wait(), self.process.stderr.read().decode()


def fpm(worker_id: str, counter: int, wall: float, **scheduled: int) -> dict:
    return {"version": 1, "worker_id": worker_id, "dp_rank": 0, "counter_id": counter, "wall_time": wall,
            "scheduled_requests": scheduled, "queued_requests": {}}


def overloaded_decode_engine(client: StepClient, until: float, worker_id: str = "7") -> list[dict]:
    """An engine whose passes take longer with each KV token, 44 ms on average: beyond a target of 30. All effects."""
    effects = []
    t, counter = 0.0, 0
    while t < until:
        counter += 1
        requests = 4 + counter % 29
        kv = requests * (1500 + 37 * (counter % 11))
        wall = 0.012 + 1e-6 * kv + 1e-4 * requests
        effects += client.send(t=round(t, 3), event="fpm", role="decode",
                               fpm=fpm(worker_id, counter, wall, num_decode_requests=requests, sum_decode_kv_tokens=kv))
        t += 0.1
    return effects
