"""The history of decisions in etcd (proto/decisions-etcd.md), all its revisions, and what must hold of it."""

import base64
import json
import re
import urllib.request

from live_servers import Etcd
from processes import BOUND_S, Fault
from record import TERMINAL, Record

NAMESPACE = "v1/dynamo/"
CURRENT = NAMESPACE + "planner/decision_id"
LEADER = NAMESPACE + "dynaplan/leader"
RECORDS = NAMESPACE + "dynaplan/decisions/"
END = "live-test/end"


def encoded(key: str) -> str:
    return base64.b64encode(key.encode()).decode()


def decoded(text: str) -> str:
    return base64.b64decode(text).decode()


def revisions(etcd: Etcd):
    """(revision, [(key, value or None, created)]) from the first one on. A key that is put now tells where the history ends."""
    etcd.put(END, "end")
    every = base64.b64encode(b"\0").decode()
    body = {"create_request": {"key": every, "range_end": every, "start_revision": "1"}}
    request = urllib.request.Request(etcd.url + "/v3/watch", data=json.dumps(body).encode(), method="POST")
    pending: tuple[int, list] = (0, [])
    with urllib.request.urlopen(request, timeout=BOUND_S) as stream:
        for line in stream:
            for event in json.loads(line)["result"].get("events", []):
                pair = event["kv"]
                revision, key = int(pair["mod_revision"]), decoded(pair["key"])
                if revision != pending[0]:
                    if pending[1]:
                        yield pending
                    pending = (revision, [])
                if key == END:
                    return
                deleted = event.get("type") == "DELETE"
                pending[1].append((key, None if deleted else decoded(pair.get("value", "")), int(pair.get("create_revision", 0))))
    raise Fault("etcd's watch ended before the history did")


def read_history(etcd: Etcd, record: Record) -> dict[int, str]:
    """Gives every record that ever stood there to `record`; who led when it was published, for each decision."""
    leader, published, states, leaders = "", -1, {}, {}
    for revision, events in revisions(etcd):
        where = f"etcd, revision {revision}"
        stored = {}
        for key, value, created in events:
            if key == LEADER:
                if value is not None and created != revision:
                    raise Fault(f"{where}: the leader key is written over: {leader}, {value}")
                leader = value or ""
            elif key.startswith(RECORDS):
                number = int(key.removeprefix(RECORDS))
                if value is None:
                    if states.get(number) not in TERMINAL:
                        raise Fault(f"{where}: decision {number} is forgotten while it is open")
                    continue
                stored[number] = json.loads(value)
                if stored[number]["decision_id"] != number:
                    raise Fault(f"{where}: {key} holds decision {stored[number]['decision_id']}")
        record.stored_as(list(stored.values()), states, where)
        numbers = [int(value) for key, value, _ in events if key == CURRENT and value is not None]
        if (stored or numbers) and not leader:
            raise Fault(f"{where}: decisions {sorted(stored)} are written while nobody leads")
        for number in numbers:
            if number <= published:
                raise Fault(f"{where}: decision {number} is published after {published}")
            if stored.get(number, {}).get("state") != "published":
                raise Fault(f"{where}: decision {number} is published without its record")
            published = number
            leaders[number] = leader
    return leaders


def process_of(leader: str) -> int:
    """The process id in what stands at the leader key."""
    match = re.search(r"pid (\d+)", leader)
    if not match:
        raise Fault(f"the leader key holds '{leader}'")
    return int(match[1])
