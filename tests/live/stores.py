"""Where a live test's planners keep their decisions, and what can be read there when they have ended."""

import pathlib
import unittest

from etcd_record import read_history
from live_servers import Etcd, need
from processes import Fault
from record import Record

SKIPPED = 77  # an exit code that meson counts as a test that did not run


class FileStore:
    lease_s: float | None = None

    def __init__(self, folder: pathlib.Path):
        self.path = folder / "decisions" / "decisions"
        self.settings = ("decisions.store=file",)

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        pass

    def read(self, record: Record) -> None:
        """As it stands now; the file is written anew now and then, so it has to be read often."""
        record.read(self.path)

    def read_end(self, record: Record) -> dict[int, str]:
        self.read(record)
        return {}


class EtcdStore:
    """An etcd of the test's own; without fsync where nothing is measured, so that a slow disk does not end leases."""

    def __init__(self, folder: pathlib.Path, lease_s: float, fsync: bool = False):
        self.lease_s: float | None = lease_s
        self.server = Etcd(folder, fsync)
        self.settings = ("decisions.store=etcd", f"etcd.endpoints={self.server.url}", f"etcd.lease_ttl_s={lease_s:g}")

    def __enter__(self):
        self.server.start()
        return self

    def __exit__(self, *_) -> None:
        self.server.stop()

    def read(self, record: Record) -> None:
        """etcd keeps what ever stood there: once, at the end, is enough."""

    def read_end(self, record: Record) -> dict[int, str]:
        """Who led when it was published, for each decision."""
        return read_history(self.server, record)


def add_options(parser) -> None:
    parser.add_argument("--store", default="file", choices=["file", "etcd"])
    parser.add_argument("--lease-s", type=float, default=2.0, help="etcd: of the leader's lease; etcd grants no less than 2")


def open_store(arguments, folder: pathlib.Path, fsync: bool = False):
    if arguments.store == "file":
        return FileStore(folder)
    return EtcdStore(folder, arguments.lease_s, fsync)


def live_main(name: str, body, *servers: str) -> int:
    """Runs `body` where the servers are installed; its exit code, after the line that counts it."""
    try:
        need(*servers)
        body()
    except unittest.SkipTest as skipped:
        print(f"{name}: {skipped}")
        print("0 passed, 0 failed, 1 skipped")
        return SKIPPED
    except (Fault, ConnectionError, AssertionError) as fault:
        print(f"{name}: {fault}")
        print("0 passed, 1 failed")
        return 1
    print("1 passed, 0 failed")
    return 0


def servers_of(arguments) -> tuple[str, ...]:
    return ("etcd",) if arguments.store == "etcd" else ()
