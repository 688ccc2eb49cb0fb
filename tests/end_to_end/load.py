"""Clients that post until they are told to stop, and note what they were promised."""

import dataclasses
import http.client
import random
import threading
import time

import samples
from service import Client


@dataclasses.dataclass(frozen=True)
class Promise:
    """An answer that says the request is safe."""

    path: str
    job_id: str | None  # None: a share
    body: bytes
    share: dict | None = None


class Load:
    """Threads with one keep-alive connection each; a lost connection ends its thread."""

    def __init__(self, port, seed, threads=4, pause=0.0, shares_until=3, repeat=()):
        self.port = port
        self.pause = pause
        self.shares_until = shares_until
        self.repeat = list(repeat)
        self.lock = threading.Lock()
        self.promises = []
        self.repeated = []  # (promise, job id now)
        self.refusals = []  # answers that promise nothing and do not say "later"
        self.bounced = 0
        self.ending = False
        self.threads = [threading.Thread(target=self.run, args=(seed * 1000 + n,), daemon=True)
                        for n in range(threads)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.ending = True
        for thread in self.threads:
            thread.join()

    def variants(self, seed):
        return samples.Variants(seed)

    def choose(self, chance, variants):
        kind = chance.choices(("proof", "public", "user", "delegated", "unified", "share", "again"),
                              (12, 24, 18, 14, 2, 28, 2 if self.repeat else 0))[0]
        if kind == "proof":
            return samples.INPUT_PROOF, variants.input_proof()
        if kind == "public":
            return samples.PUBLIC_DECRYPT, variants.public_decrypt()
        if kind == "user":
            return samples.USER_DECRYPT, variants.user_decrypt()
        if kind == "delegated":
            return samples.DELEGATED, variants.delegated()
        if kind == "unified":
            return samples.UNIFIED, samples.value("user-decrypt-v3.json")
        if kind == "share":
            ahead = chance.randint(-1, self.shares_until)
            return samples.SHARES, variants.share(int(time.time()) + ahead if ahead >= 0 else 0)
        return None, chance.choice(self.repeat)

    def run(self, seed):
        chance = random.Random(seed)
        variants = self.variants(seed)
        client = Client(self.port)
        try:
            while not self.ending:
                self.post_one(client, *self.choose(chance, variants))
                time.sleep(self.pause * chance.random())
        except (OSError, http.client.HTTPException):
            return  # the process was killed, and whatever it did not answer was not promised
        finally:
            client.close()

    def post_one(self, client, path, request):
        earlier = request if path is None else None
        if earlier:
            path, body = earlier.path, earlier.body
        else:
            body = samples.text(request)
        answer = client.ask("POST", path, body)
        with self.lock:
            if answer.status in (429, 503):
                self.bounced += 1
            elif answer.status == 202:
                promise = Promise(path, answer.json["job_id"], body)
                self.promises.append(promise)
                if earlier:
                    self.repeated.append((earlier, promise.job_id))
            elif answer.status == 200 and path == samples.SHARES:
                if earlier:
                    if answer.json != {"status": "duplicate"}:
                        self.refusals.append(answer)
                else:
                    self.promises.append(Promise(path, None, body, request))
            else:
                self.refusals.append(answer)
