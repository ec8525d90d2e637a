"""A way to a server that can be shut: what clients send is kept, and delivered when it is opened again, whether or not they still
wait for an answer. As a network does that holds packets back."""

import socket
import threading

from processes import BOUND_S

TRANSACTION = b"/v3/kv/txn"


class Valve:
    def __init__(self, port: int):
        self.target = port
        self.open = threading.Event()
        self.open.set()
        self.lock = threading.Lock()
        self.kept = 0  # transactions that were held back
        self.answers: list[bytes] = []  # to those
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.sockets: list[socket.socket] = [self.listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.open.set()
        with self.lock:
            for one in self.sockets:
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it was closed by the other side
                one.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                return  # the valve is closed, or the server has gone
            with self.lock:
                self.sockets += [client, server]
            line = Line(self, client, server)
            threading.Thread(target=line.up, daemon=True).start()
            threading.Thread(target=line.down, daemon=True).start()


class Line:
    """One connection through the valve."""

    def __init__(self, valve: Valve, client: socket.socket, server: socket.socket):
        self.valve, self.client, self.server = valve, client, server
        self.late = False  # its request was held back, and is not answered yet
        self.answered = threading.Event()

    def up(self) -> None:
        try:
            while piece := self.client.recv(65536):
                if not self.valve.open.is_set() and TRANSACTION in piece:
                    self.late = True
                    with self.valve.lock:
                        self.valve.kept += 1
                self.valve.open.wait()
                self.server.sendall(piece)
            # etcd gives a request up whose client hangs up, and this one is to be judged.
            if self.late:
                self.answered.wait(BOUND_S)
            self.server.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one of both sides has ended the connection

    def down(self) -> None:
        try:
            while piece := self.server.recv(65536):
                if self.late:
                    with self.valve.lock:
                        self.valve.answers.append(piece)
                    self.late = False
                    self.answered.set()
                self.client.sendall(piece)
            self.client.shutdown(socket.SHUT_WR)
        except OSError:
            pass
