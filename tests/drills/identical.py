#!/usr/bin/env python3
"""Many clients post the same body at the same moment, round after round.

Each round is one new request, sent by every client on a connection of its own; the last byte goes out to
all of them at once. Every round must give one job id, one row and one inclusion on the ledger of the
embedded chain. Prints counts; ends with 1 when anything was violated.
"""

import json
import pathlib
import socket
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))

import rounds as drills  # noqa: E402
import samples  # noqa: E402
from service import QUICK, Service  # noqa: E402

# The rate limiter is not what is looked at.
CONFIG = QUICK + """
[gateway.tx_engine.tx_throttlers]
input_proof.per_seconds = 1000
public_decrypt.per_seconds = 1000
user_decrypt.per_seconds = 1000
"""


class Connection:
    """A keep-alive connection that can hold the last byte of a request back."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.received = b""

    def send(self, data):
        self.socket.sendall(data)

    def receive_until(self, ready):
        while not ready():
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError("closed before the answer was there")
            self.received += data

    def answer(self):
        """Status and body of the next answer."""
        self.receive_until(lambda: b"\r\n\r\n" in self.received)
        head, _, rest = self.received.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n")
                      if line.lower().startswith(b"content-length:"))
        self.received = rest
        self.receive_until(lambda: len(self.received) >= length)
        body, self.received = self.received[:length], self.received[length:]
        return int(head.split(b" ")[1]), json.loads(body)


def request(path, body):
    return (f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode() + body


class Drill(drills.Drill):
    def __init__(self, rounds, clients, seed):
        super().__init__(rounds, seed)
        self.clients = clients
        self.variants = samples.Variants(seed)
        self.kinds = ((samples.INPUT_PROOF, self.variants.input_proof),
                      (samples.PUBLIC_DECRYPT, self.variants.public_decrypt),
                      (samples.USER_DECRYPT, self.variants.user_decrypt),
                      (samples.DELEGATED, self.variants.delegated))
        self.service = Service(CONFIG)
        self.jobs = []  # (path, job id) of each round

    def run(self):
        self.service.start()
        connections = [Connection(self.service.port) for _ in range(self.clients)]
        begin = time.monotonic()
        for turn in range(self.rounds):
            path, make = self.kinds[turn % len(self.kinds)]
            self.one_round(turn, connections, path, samples.text(make()))
        self.seconds = time.monotonic() - begin
        for connection in connections:
            connection.socket.close()
        self.service.wait_until_all_ended(120)
        self.judge()
        return self.report()

    def one_round(self, turn, connections, path, body):
        data = request(path, body)
        for connection in connections:
            connection.send(data[:-1])
        for connection in connections:
            connection.send(data[-1:])
        ids = set()
        for connection in connections:
            status, answer = connection.answer()
            self.counts["answers"] += 1
            if status != 202:
                self.violation(f"round {turn}: {status} {answer}")
                continue
            ids.add(answer["result"]["jobId"])
        self.counts["job ids"] += len(ids)
        if len(ids) != 1:
            self.violation(f"round {turn}: {len(ids)} job ids")
        self.jobs += [(path, job_id) for job_id in ids]

    def judge(self):
        for path, job_id in self.jobs:
            status = self.service.get(f"{path}/{job_id}").status
            self.counts[f"ended with {status}"] += 1
            if status != 200:
                self.violation(f"{path}/{job_id} answers {status}")
        [(rows,)] = self.service.rows("select count(*) from request")
        [(sealed,)] = self.service.rows("select count(*) from attempt")
        [(included,)] = self.service.ledger("select count(*) from inclusion")
        doubles = self.service.double_inclusions()
        self.counts.update({"rows": rows, "transactions": sealed, "inclusions": included,
                            "double inclusions": len(doubles)})
        for name in ("job ids", "rows", "transactions", "inclusions"):
            if self.counts[name] != self.rounds:
                self.violation(f"{name}: {self.counts[name]} in {self.rounds} rounds")
        if doubles:
            self.violation(f"double inclusions: {doubles[:5]}")

    def report(self):
        print(f"seed {self.seed}")
        print(f"rounds {self.rounds}, clients {self.clients}, {self.seconds:.1f} s")
        for name in ("answers", "job ids", "rows", "transactions", "inclusions",
                     "double inclusions", "ended with 200"):
            print(f"{name} {self.counts[name]}")
        return self.verdict()


def main():
    parser = drills.parser_of(__doc__, 1000)
    parser.add_argument("--clients", type=int, default=64)
    arguments = drills.arguments_of(parser)
    drill = Drill(arguments.rounds, arguments.clients, arguments.seed)
    try:
        status = drill.run()
    finally:
        drill.service.close()
    sys.exit(status)


if __name__ == "__main__":
    main()
