#!/usr/bin/env python3
"""A scheduler for Dynaplan over HTTP, here of pretended replicas. Usage: scheduler.py http://127.0.0.1:9086"""
import http.client
import json
import sys
import time
import urllib.error
import urllib.request


def call(method, path, body=None):
    """The answer, None for an empty one; asks again while the planner is away, stands by or is busy."""
    while True:
        request = urllib.request.Request(sys.argv[1] + path, json.dumps(body).encode() if body else None, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:
                sys.exit(f"{method} {path}: {error.code} {error.read().decode()}")
        except (OSError, http.client.HTTPException):
            pass
        time.sleep(1)


state = call("GET", "/v1/state")
fleet = {role: [f"{role}-{i}" for i in range(seen["ready"])] for role, seen in state["inventory"].items()}
after = -1
if state["decision"]:  # the newest comes again if it is open: its acknowledgement may have been lost
    after = state["decision"]["decision_id"] - (state["decision"]["state"] == "published")
while True:
    decision = call("GET", f"/v1/decisions/next?after={after}&wait=30s")
    if decision is None:
        continue  # nothing new in 30 s
    after = decision["decision_id"]
    if decision["state"] != "published":
        continue  # over before we came to it
    for role, replicas in fleet.items():
        wanted = len(replicas) if decision[role] is None else decision[role]
        fleet[role] = [f"{role}-{i}" for i in range(wanted)]  # a real one starts and stops engines here
    call("PUT", "/v1/inventory", {role: {"ready": len(r), "expected": len(r)} for role, r in fleet.items()})
    settled = call("POST", f"/v1/decisions/{after}/complete")
    print(after, settled["state"], {role: len(replicas) for role, replicas in fleet.items()}, flush=True)
