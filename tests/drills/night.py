#!/usr/bin/env python3
"""An hour of somebody on call: the chain includes nothing any more while one client floods.

    tests/drills/night.py [--stopped SECONDS] [--flood SECONDS] [--seed S] [--binary FILE]

Only commands are used, as an operator has them; each is printed with what it took and what it said. What
has to come of it is judged by the answers of the service and by the chain: the cause and the flooding
client are named, one request is cancelled, one retried, a backup taken in the middle is restored elsewhere
after the machine is lost, and no request is on the chain twice. After ten minutes without a block (the
default) the status says by itself that nothing is included.
"""

import json
import shutil
import subprocess
import threading
import time

from evm_drill import SETTINGS
from evm import World
from chain import key_in_body
from rounds import Drill, arguments_of, parser_of
from service import Client, Service, binary, environment, wait_until

import samples

FLOOD_KEY = "flood-4c3f6f0fd1a94d0c8be2a6a3c1ad0d7e"
WEB_KEY = "web-77d4a1f09b7c4a0ab6b1f2f4a4f4ce55"
LONGEST_SHOWN = 18  # lines of what a command says

NIGHT = {
    **SETTINGS,
    # So slow that a flood stands in line behind it.
    "gateway.tx_engine.tx_throttlers.public_decrypt.per_seconds": 4,
    "engine.fair_queues": True,
}


class Night(Drill):
    def __init__(self, seed, stopped, flood):
        super().__init__(1, seed)
        self.stopped = stopped
        self.flood_seconds = flood
        self.world = World(seed=seed, starts=False, **NIGHT)
        self.begun = time.monotonic()
        self.accepted = {}  # job id -> (path, body), of everybody
        self.flooding = threading.Event()

    @property
    def service(self):
        return self.world.service

    # --- what an operator does ---

    def say(self, text):
        print(f"{time.monotonic() - self.begun:7.1f} s  {text}", flush=True)

    def command(self, *words, data=None, fails=False, shown=None):
        """Standard output of a command; printed as it would be seen."""
        begin = time.monotonic()
        done = subprocess.run([binary(), *words, "--data-dir", str(data or self.service.data)],
                              env=environment(), capture_output=True, text=True, timeout=120, check=False)
        took = time.monotonic() - begin
        self.say(f"$ posthouse {shown or ' '.join(words)}    # {took:.2f} s")
        lines = (done.stdout + done.stderr).splitlines()
        for line in lines[:LONGEST_SHOWN]:
            print(f"             {line[:170]}")
        if len(lines) > LONGEST_SHOWN:
            print(f"             … {len(lines) - LONGEST_SHOWN} more lines")
        if (done.returncode != 0) != fails:
            self.violation(f"{words[0]} ended with {done.returncode}: {done.stderr}")
        self.counts["commands"] += 1
        return done.stdout

    def tell(self, *words, data=None):
        """The same as JSON, not printed."""
        done = subprocess.run([binary(), *words, "--json", "--data-dir", str(data or self.service.data)],
                              env=environment(), capture_output=True, text=True, timeout=120, check=True)
        return json.loads(done.stdout)

    def unfinished(self, data):
        """All of them, page by page."""
        jobs, before = [], []
        while True:
            page = self.tell("jobs", "--status", "unfinished", "--limit", "200", *before, data=data)
            jobs += page["jobs"]
            if "next" not in page:
                return jobs
            before = ["--before", page["next"]]

    def expect(self, condition, text):
        if not condition:
            self.violation(text)

    # --- what clients do ---

    def post(self, client, path, body, key):
        answer = client.ask("POST", path, samples.text(body),
                            {"Content-Type": "application/json", "x-api-key": key})
        if answer.status == 202:
            self.accepted[answer.json["result"]["jobId"]] = (path, body)
            return answer.json["result"]["jobId"]
        self.counts[f"answers {answer.status}"] += 1
        return None

    def flood(self):
        client = Client(self.service.port)
        end = time.monotonic() + self.flood_seconds
        try:
            while self.flooding.is_set() and time.monotonic() < end:
                self.post(client, samples.PUBLIC_DECRYPT, self.world.variants.public_decrypt(), FLOOD_KEY)
                time.sleep(0.02)
        finally:
            client.close()

    def web(self, body, path=samples.INPUT_PROOF):
        client = Client(self.service.port)
        try:
            job = self.post(client, path, body, WEB_KEY)
        finally:
            client.close()
        self.expect(job, "a request of the web client was not accepted")
        return job

    # --- the night ---

    def run(self):
        with self.world:
            keys = self.service.home / "keys"
            keys.write_text(f"web {WEB_KEY}\nflood {FLOOD_KEY} 8 10\n", encoding="utf-8")
            keys.chmod(0o600)
            self.world.settings["http.client_keys_file"] = str(keys)
            self.world.configure()
            self.service.start()
            failed = self.evening()
            cancelled = self.trouble()
            backup = self.backup()
            self.recovery(cancelled, failed)
            self.loss(backup)
            self.judge(cancelled)
        return self.report()

    def evening(self):
        """All is well, but for one proof that the contract refuses while it is paused."""
        self.say("all is well")
        for _ in range(3):
            job = self.web(self.world.variants.input_proof())
            self.service_end(job)
        body = self.world.variants.input_proof()
        self.world.chain.set_mode(6)
        failed = self.web(body)
        answer = self.service_end(failed)
        self.expect(answer.status != 200, "what the contract refuses did not fail")
        self.world.chain.set_mode(0)
        return failed

    def trouble(self):
        """Returns the request that was cancelled."""
        self.say("the chain stops, and a client floods")
        self.world.anvil.pause_mining()
        stuck = self.web(self.world.variants.input_proof())
        self.flooding.set()
        thread = threading.Thread(target=self.flood, daemon=True)
        thread.start()
        time.sleep(min(5, self.stopped))
        for _ in range(2):
            self.web(self.world.variants.input_proof())
        time.sleep(max(self.stopped - 5, 0))

        self.command("status")
        status = self.tell("status")
        first = status["clients"][0]
        self.expect(first["client"] == "flood", f"the flooding client is not named first: {status['clients']}")
        self.expect(first["last_hour"]["too_often"] > 0, f"nothing of the flood was turned away: {first}")
        self.expect(status["chain"]["signer_pending"] > 0, "the status does not say that nothing is included")
        if self.stopped > 700:
            self.expect(any("nothing is included" in alert for alert in status["alerts"]),
                        f"no alert names the cause: {status['alerts']}")
        self.command("job", stuck)
        why = self.tell("job", stuck)
        self.expect(why["status"] == "tx_in_flight" and "waits_for" in why, f"the job does not say why: {why}")
        self.command("jobs", "--client", "web", "--status", "unfinished")
        self.command("jobs", "--client", "flood", "--status", "unfinished", "--limit", "5")
        queued = [job["job_id"] for job in self.tell("jobs", "--client", "flood", "--status",
                                                     "unfinished", "--limit", "200")["jobs"]
                  if job["status"] in ("queued", "processing")]
        self.expect(queued, "nothing of the flood waits")
        self.command("cancel", queued[0])
        self.command("job", queued[0])
        self.expect(self.tell("job", queued[0])["status"] == "failure", "it was not cancelled")
        self.command("cancel", stuck, fails=True)  # signed: its end is the chain's
        self.command("pause", "public_decrypt")
        self.flooding.clear()
        thread.join()
        return queued[0]

    def backup(self):
        file = self.service.home / "night.backup"
        self.command("backup", str(file))
        self.command("verify", str(file))
        return file

    def recovery(self, cancelled, failed):
        self.say("the chain goes on")
        self.world.anvil.mine_by_time(0)
        self.command("resume", "public_decrypt")
        self.command("retry", failed)
        retried = self.tell("job", failed)["retried_as"]
        path, body = self.accepted[failed]
        self.accepted[retried] = (path, body)
        for job in self.accepted:
            if job not in (cancelled, failed):
                answer = self.service_end(job, 300)
                self.expect(answer.status == 200, f"{job} ended with {answer}")
        self.command("status")
        self.expect(self.tell("status")["alerts"] == [], "alerts are left")

    def loss(self, backup):
        """The machine is lost; its backup is older than the chain."""
        self.say("the machine is lost; the backup is restored elsewhere")
        self.service.kill()
        sent = self.world.chain.nonce()
        restored = Service("")
        try:
            shutil.copy(self.service.config, restored.config)
            self.command("restore", str(backup), data=restored.data)
            restored.start()
            self.command("status", data=restored.data)
            held = [job["job_id"] for job in self.unfinished(restored.data) if job.get("held")]
            self.counts["held"] = len(held)
            self.expect(held, "nothing is held after the restore")
            alerts = self.tell("status", data=restored.data)["alerts"]
            self.expect(any(f"{len(held)} requests are held" in alert for alert in alerts),
                        f"no alert names what is held: {alerts}")
            self.command("jobs", "--status", "unfinished", "--limit", "5", data=restored.data)
            self.command("job", held[0], data=restored.data)
            # The old machine sent all of them: the chain has them, and they are not sent again.
            self.command("cancel", *held, data=restored.data, shown="cancel ID… (all that are held)")

            def none_left():
                return not self.unfinished(restored.data)

            wait_until(none_left, 60, "the end of what was signed before the backup")
            self.command("status", data=restored.data)
            self.expect(self.world.chain.nonce() == sent,
                        f"{self.world.chain.nonce() - sent} transactions after the restore")
        finally:
            restored.close()

    def service_end(self, job, seconds=60):
        path, _ = self.accepted[job]
        key = {"x-api-key": WEB_KEY}

        def answer():
            found = self.service.get(f"{path}/{job}", headers=key)
            return found if found.status != 202 else None

        return wait_until(answer, seconds, f"the end of {job}")

    # --- the verdict ---

    def judge(self, cancelled):
        on_chain = {}
        for request in self.world.chain.requests():
            on_chain[request.key] = on_chain.get(request.key, 0) + 1
        twice = [key for key, times in on_chain.items() if times > 1]
        self.counts["included twice"] = len(twice)
        self.expect(not twice, f"{len(twice)} requests are on the chain twice")
        bodies = {key_in_body(body) for job, (_, body) in self.accepted.items() if job != cancelled}
        never = [key for key in bodies if key not in on_chain]
        self.counts["included never"] = len(never)
        self.expect(not never, f"{len(never)} accepted requests are not on the chain")
        self.expect(key_in_body(self.accepted[cancelled][1]) not in on_chain, "what was cancelled was sent")
        for fault in self.world.chain.nonce_faults():
            self.violation(fault)

    def report(self):
        print(f"accepted {len(self.accepted)}")
        for name in ("commands", "answers 429", "held", "included never", "included twice"):
            print(f"{name} {self.counts[name]}")
        return self.verdict()


def main():
    parser = parser_of(__doc__, 1)
    parser.add_argument("--stopped", type=float, default=720, help="seconds without a block, default: 720")
    parser.add_argument("--flood", type=float, default=20, help="seconds in which a client floods, default: 20")
    arguments = arguments_of(parser)
    print(f"seed {arguments.seed}")
    raise SystemExit(Night(arguments.seed, arguments.stopped, arguments.flood).run())


if __name__ == "__main__":
    main()
