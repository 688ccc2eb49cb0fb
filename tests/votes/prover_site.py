"""A prover behind HTTP."""

import threading

from votes.prover import Prover
from votes.site_server import Site


class ProverSite(Site):
    """Proves whatever is posted with the token and counts what comes."""

    def __init__(self, token="", **options):
        super().__init__()
        self.token = token
        self.prover = Prover(**options)
        self.lock = threading.Lock()
        self.proved = 0
        self.unauthorised = 0

    def post(self, exchange):
        body = exchange.body()
        if self.token and exchange.headers.get("Authorization") != f"Bearer {self.token}":
            with self.lock:
                self.unauthorised += 1
            exchange.send(401, {"error": "unauthorised"})
            return
        with self.lock:
            self.proved += 1
        exchange.send(200, self.prover.json_answer(body))
