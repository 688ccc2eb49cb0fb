"""Clients that ask for a fixed list of things, poll until each has ended, and keep every answer."""

import http.client
import threading
import time

import samples
from load import Promise
from service import PATIENCE, Client

SHARE_AHEAD = 1  # seconds, of a share that has to wait


class Gone(Exception):
    """The process has ended."""


class Errand:
    """One body that a client posts, in each life of the service, until it is promised."""

    def __init__(self, path, request):
        self.path = path
        self.share = request if path == samples.SHARES else None
        self.body = samples.text(request)
        self.promise = None
        self.end = None  # status and body of the answer that said how it ended
        self.contradicted = False


def errands(seed, unified=True):
    """Every kind of request, one of them twice. There is one unified body only, so it is the same for all."""
    variants = samples.Variants(seed)
    soon = int(time.time()) + SHARE_AHEAD
    asked = [(samples.INPUT_PROOF, variants.input_proof()),
             (samples.SHARES, variants.share()),
             (samples.PUBLIC_DECRYPT, variants.public_decrypt()),
             (samples.SHARES, variants.share(soon)),
             (samples.USER_DECRYPT, variants.user_decrypt()),
             (samples.DELEGATED, variants.delegated()),
             (samples.SHARES, variants.share()),
             (samples.PUBLIC_DECRYPT, variants.public_decrypt()),
             (samples.INPUT_PROOF, variants.input_proof())]
    asked.append(asked[2])
    if unified:
        asked.append((samples.UNIFIED, samples.value("user-decrypt-v3.json")))
    return [Errand(path, request) for path, request in asked]


class Visitor:
    """Runs its errands against one life of `service`. While `faults_allowed` what fails is asked again."""

    def __init__(self, service, errands_to_run, faults_allowed, waits=True):
        self.service = service
        self.errands = errands_to_run
        self.faults_allowed = faults_allowed
        self.waits = waits
        self.repeated = []  # (promise, job id that the same body got now)
        self.contradictions = []
        self.refusals = []
        self.client = Client(service.port)
        self.until = time.monotonic() + PATIENCE
        self.thread = threading.Thread(target=self.run, daemon=True)

    def run(self):
        try:
            for number, errand in enumerate(self.errands):
                self.post(errand)
                if self.waits:
                    self.poll(self.errands[number // 2])
            while self.waits and not all([self.poll(errand) for errand in self.errands]):
                time.sleep(0.02)
                self.within_time()
        except Gone:
            return
        finally:
            self.client.close()

    def within_time(self):
        if time.monotonic() > self.until:
            self.refusals.append(f"not done after {PATIENCE:.0f} s")
            raise Gone

    def ask(self, method, path, body=None):
        while True:
            try:
                return self.client.ask(method, path, body)
            except (OSError, http.client.HTTPException):
                # Without a fault nothing but its end breaks a connection.
                if not self.faults_allowed or self.service.process.poll() is not None:
                    raise Gone from None
                self.within_time()
                time.sleep(0.05)
                self.client.close()

    def post(self, errand):
        while True:
            answer = self.ask("POST", errand.path, errand.body)
            is_later = answer.status in (429, 503) or (self.faults_allowed and answer.status >= 500)
            if not is_later:
                return self.take(errand, answer)
            self.within_time()
            time.sleep(0.05)

    def take(self, errand, answer):
        if errand.share is not None:
            allowed = ("duplicate",) if errand.promise else ("duplicate", "queued")
            if answer.status != 200 or answer.json.get("status") not in allowed:
                return self.refusals.append(f"of a share {', '.join(allowed)} was due: {answer}")
            errand.promise = Promise(errand.path, None, errand.body, errand.share)
        elif answer.status == 202:
            promise = Promise(errand.path, answer.json["job_id"], errand.body)
            if errand.promise:
                self.repeated.append((errand.promise, promise.job_id))
            errand.promise = errand.promise or promise
        else:
            self.refusals.append(f"a valid request was refused: {answer}")

    def poll(self, errand):
        """Whether it has ended, as far as a client can know."""
        if errand.promise is None or errand.promise.job_id is None or errand.contradicted:
            return True
        answer = self.ask("GET", f"{errand.path}/{errand.promise.job_id}")
        if answer.status == 202:
            if errand.end is not None:
                self.contradict(errand, f"had ended and goes on: {answer}")
            return False
        if self.faults_allowed and answer.status >= 500:
            return True  # of the job or of the moment, which only its row tells
        end = answer.status, {name: value for name, value in answer.json.items() if name != "requestId"}
        errand.end = errand.end or end
        if answer.status == 404 or errand.end != end:
            self.contradict(errand, f"said {errand.end}, now {end}")
        return True

    def contradict(self, errand, how):
        errand.contradicted = True
        self.contradictions.append(f"{errand.promise.job_id} {how}")


def visit(visitors):
    for visitor in visitors:
        visitor.thread.start()
    for visitor in visitors:
        visitor.thread.join()
