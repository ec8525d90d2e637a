#!/usr/bin/env python3
"""How many step lines a second `dynaplan step` takes from a pipe and answers.

usage: pipe_lines.py DYNAPLAN [LINES]      prints lines/s by the clock and by the processor time of the program

One report of each of 100 decode engines every 10 ms of recorded time, with the ticks in between; the lines are made
beforehand, so that only the program is measured.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

ENGINES = 100


def lines(count: int):
    yield json.dumps({"t": 0, "event": "inventory", "role": "decode", "ready": ENGINES, "expected": ENGINES})
    for i in range(count):
        turn, engine = divmod(i, ENGINES)
        requests = 1 + (i * 7919) % 200
        kv = requests * (500 + (i * 104729) % 3500)
        yield json.dumps({"t": round(0.01 * turn, 2), "event": "fpm", "role": "decode", "fpm": {
            "version": 1, "worker_id": str(7000000000000000000 + engine), "dp_rank": 0, "counter_id": turn,
            "wall_time": 0.0048 + 2e-5 * requests + 2.6e-8 * kv,
            "scheduled_requests": {"num_prefill_requests": 0, "sum_prefill_tokens": 0, "var_prefill_length": 0.0,
                                   "sum_prefill_kv_tokens": 0, "num_decode_requests": requests,
                                   "sum_decode_kv_tokens": kv, "var_decode_kv_tokens": 0.0},
            "queued_requests": {"num_prefill_requests": 0, "sum_prefill_tokens": 0, "var_prefill_length": 0.0,
                                "num_decode_requests": 0, "sum_decode_kv_tokens": 0, "var_decode_kv_tokens": 0.0}}})


def main() -> int:
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 400_000
    data = ("\n".join(lines(count)) + "\n").encode()
    with tempfile.TemporaryFile() as answers:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        process = subprocess.Popen([program, "step", "--set", "mode=decode", "--set", "itl=60"],
                                   stdin=subprocess.PIPE, stdout=answers)
        process.stdin.write(data)
        process.stdin.close()
        code = process.wait()
        seconds = time.monotonic() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        answers.seek(0)
        done = sum(1 for line in answers if b'"effect":"done"' in line)
    if code != 0 or done != count + 1:
        print(f"{program} step: exit code {code}, {done} of {count + 1} lines answered", file=sys.stderr)
        return 1
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{count} lines: {count / seconds:,.0f} lines/s by the clock, {count / processor:,.0f} by processor time")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    sys.exit(main())
