"""An existing scheduler's side of the contract in etcd, as clients of the reference behave: plain reads, a watch from
"now" that ends with the first event of any kind, and an acknowledgement that is put without looking, on the client's own
lease. Written from the contract's description alone, on etcd's JSON gateway and the standard library; it shares no code
with the planner.
"""

import base64
import json
import threading
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Callable


class EtcdError(Exception):
    """etcd refused a request, or cannot be reached."""


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def decoded(text: str) -> str:
    return base64.b64decode(text).decode()


class Gateway:
    """The few requests of etcd's v3 JSON gateway that a client needs."""

    def __init__(self, url: str) -> None:
        self.url = url

    def open(self, path: str, body: dict, timeout_s: float):
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            return urllib.request.urlopen(request, timeout=timeout_s)
        except urllib.error.HTTPError as error:
            raise EtcdError(error.read().decode()) from error
        except OSError as error:
            raise EtcdError(str(error)) from error

    def post(self, path: str, body: dict) -> dict:
        with self.open(path, body, timeout_s=10) as answer:
            return json.load(answer)

    @staticmethod
    def prefix(prefix: str) -> dict:
        return {"key": encoded(prefix), "range_end": encoded(prefix[:-1] + chr(ord(prefix[-1]) + 1))}

    def list(self, prefix: str) -> dict[str, str]:
        pairs = self.post("/v3/kv/range", self.prefix(prefix)).get("kvs", [])
        return {decoded(pair["key"]): decoded(pair.get("value", "")) for pair in pairs}

    def put(self, key: str, value: str, lease: str = "0") -> None:
        self.post("/v3/kv/put", {"key": encoded(key), "value": encoded(value), "lease": lease})


class PrimaryLease:
    """The lease on which all keys of a process hang, renewed at half of its time and revoked at a clean stop."""

    def __init__(self, gateway: Gateway, ttl_s: int = 10) -> None:
        self.gateway = gateway
        grant = gateway.post("/v3/lease/grant", {"TTL": str(ttl_s)})
        self.id = grant["ID"]
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._renew, args=(int(grant["TTL"]) / 2,), daemon=True)
        self._thread.start()

    def _renew(self, interval_s: float) -> None:
        while not self._stopped.wait(interval_s):
            self.gateway.post("/v3/lease/keepalive", {"ID": self.id})

    def revoke(self) -> None:
        self._stopped.set()
        self._thread.join()
        self.gateway.post("/v3/lease/revoke", {"ID": self.id})


@dataclass(frozen=True)
class ScalingDecision:
    num_prefill_workers: int = -1
    num_decode_workers: int = -1
    decision_id: int = -1


class VirtualConnectorClient:
    def __init__(self, url: str, namespace: str) -> None:
        self.gateway = Gateway(url)
        self.root = f"v1/{namespace}/planner/"
        self.lease = PrimaryLease(self.gateway)

    def get(self) -> ScalingDecision:
        """What is wanted now. Keys are known by how they end; a value that is no number fails the whole call."""
        found = {"num_prefill_workers": -1, "num_decode_workers": -1, "decision_id": -1}
        for key, value in self.gateway.list(self.root).items():
            for name in found:
                if key.endswith("/" + name):
                    found[name] = int(value)
        return ScalingDecision(**found)

    def wait(self, on_watching: Callable[[], None] = lambda: None, timeout_s: float = 30) -> None:
        """Until anything changes under the root, be it our own acknowledgement. Nothing is remembered between calls."""
        with self.gateway.open("/v3/watch", {"create_request": Gateway.prefix(self.root)}, timeout_s) as stream:
            for line in stream:
                result = json.loads(line).get("result", {})
                if result.get("events"):
                    return
                if result.get("created"):
                    on_watching()

    def complete(self, decision: ScalingDecision) -> None:
        """Whatever stands there, and be it -1."""
        self.gateway.put(self.root + "scaled_decision_id", str(decision.decision_id), self.lease.id)

    def stop(self) -> None:
        self.lease.revoke()
