"""What an operator sees of requests on the command line: through the running process, and from its files."""

import hashlib
import json
import os
import shutil
import socket
import stat
import subprocess
import unittest

import samples
from service import PATIENCE, QUICK, Service, binary, environment, wait_until

NOBODY = 65534
KEY = "4c3f6f0fd1a94d0c8be2a6a3c1ad0d7e"
# Public decryptions never become ready, everything else ends at once.
STUCK = QUICK.replace('readiness = "5ms"', 'readiness = "1h"')


class Operated(Service):
    def __init__(self, config=STUCK, **options):
        super().__init__(config, **options)

    def command(self, *words, **options):
        if not words:
            return super().command(**options)
        return [binary(), *words, "--data-dir", str(self.data)]

    def run(self, *words, **options):
        return subprocess.run(self.command(*words), env=environment(), timeout=PATIENCE, capture_output=True, text=True,
                              check=False, **options)

    def say(self, *words):
        done = self.run(*words)
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"{words}: {done}")
        return done.stdout

    def tell(self, *words):
        return json.loads(self.say(*words, "--json"))

    def accept(self, name, **headers):
        answer = self.post(samples.path_of(name), samples.body(name),
                           headers={"Content-Type": "application/json", **headers})
        assert answer.status == 202, answer
        return answer.json["result"]["jobId"]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class JobsTest(unittest.TestCase):
    def refused(self, done, text):
        self.assertEqual(done.returncode, 1, done)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("posthouse: "), done.stderr)
        self.assertIn(text, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def look(self, service, waiting, ended):
        """Lists, single jobs and filters say what is stored."""
        def ids(*words):
            return [job["job_id"] for job in service.tell("jobs", *words)["jobs"]]

        statuses = {job["job_id"]: job["status"] for job in service.tell("jobs")["jobs"]}
        self.assertEqual(statuses, {ended: "completed", waiting: "queued"})
        self.assertEqual(ids(), [ended, waiting])
        self.assertEqual(ids("--status", "unfinished"), [waiting])
        self.assertEqual(ids("--kind", "input_proof", "--limit", "1"), [ended])
        self.assertEqual(ids("--older", "10m"), [])
        self.assertEqual(ids("--client", "nobody"), [])
        self.assertEqual(ids("--label", "reverted"), [])
        page = service.tell("jobs", "--limit", "1")
        self.assertEqual(ids("--before", page["next"]), [waiting])
        one = service.tell("job", ended.replace("-", "").upper())
        self.assertEqual(one["transactions"][0]["fate"], "included")
        self.assertRegex(one["transactions"][0]["hash"], "^0x[0-9a-f]{64}$")
        self.assertEqual([stage["stage"] for stage in one["history"]],
                         ["processing", "tx_in_flight", "receipt_received", "completed"])
        self.assertIn(one["transactions"][0]["hash"], service.say("job", ended))
        self.assertIn("readiness check", service.say("job", waiting))
        self.assertIn("readiness check", service.say("jobs"))
        self.refused(service.run("job", "019a0000-0000-7000-8000-000000000001"), "No such job")
        self.refused(service.run("job", "7"), "no job id")
        self.refused(service.run("jobs", "--status", "stuck"), "status: no such status; allowed: unfinished")

    def test_the_same_is_said_by_the_process_and_by_its_files(self):
        with Operated() as service:
            service.start()
            waiting = service.accept("public-decrypt.json")
            ended = service.accept("input-proof-1-value.json")
            service.poll(samples.INPUT_PROOF, ended)
            status = service.tell("status")
            self.assertEqual((status["running"], status["pid"]), (True, service.process.pid))
            self.assertEqual(status["last_minute"]["accepted"], 2)
            self.look(service, waiting, ended)
            self.assertEqual(status["in_work"][0]["kind"], "public_decrypt")
            self.assertEqual([(one["client"], one["in_work"], one["last_hour"]["accepted"])
                              for one in status["clients"]], [("-", 1, 2)])
            self.assertIn("runs for", service.say("status"))
            self.assertIn(f"request_ended job_id={ended} kind=input_proof status=completed", service.log())

            service.kill()  # the socket stays behind, and the write-ahead log
            self.assertTrue((service.data / "posthouse.sock").is_socket())
            before = digest(service.data / "posthouse.db"), digest(service.data / "posthouse.db-wal")
            self.look(service, waiting, ended)
            self.assertFalse(service.tell("status")["running"])
            self.assertIn("none runs", service.say("status"))
            self.assertEqual(before, (digest(service.data / "posthouse.db"),
                                      digest(service.data / "posthouse.db-wal")))

            service.start()
            self.look(service, waiting, ended)
            self.assertEqual(service.stop()[0], 0)
            self.assertFalse((service.data / "posthouse.sock").exists())
            before = digest(service.data / "posthouse.db")
            self.look(service, waiting, ended)
            self.assertEqual(digest(service.data / "posthouse.db"), before)

    def test_the_socket_is_the_owners_and_the_admin_port_stays_shut(self):
        with Operated() as service:
            service.start()
            place = service.data / "posthouse.sock"
            self.assertEqual(stat.S_IMODE(place.stat().st_mode), 0o600)
            self.assertNotIn("listening admin=", service.log())
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(place))
                client.sendall(b"GET /admin/config HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                self.assertTrue(client.recv(100).startswith(b"HTTP/1.1 200 "))

    def test_clients_are_named(self):
        with Operated() as service:
            keys = service.home / "keys"
            keys.write_text(f"web {KEY}\n", encoding="utf-8")
            keys.chmod(0o600)
            service.configure(f'[http]\nclient_keys_file = "{keys}"\n' + STUCK)
            service.start()
            job = service.accept("public-decrypt.json", **{"x-api-key": KEY})
            self.assertEqual(service.tell("jobs", "--client", "web")["jobs"][0]["client"], "web")
            self.assertEqual(service.tell("job", job)["client"], "web")
            [web] = service.tell("status")["clients"]
            self.assertEqual((web["client"], web["in_work"], web["since_start"]["accepted"]), ("web", 1, 1))
            self.assertIn("web: 1 in work; posts of the last hour: 1 accepted", service.say("status"))
            self.assertNotIn(KEY, service.say("jobs"))
            service.stop()
            with_config = service.run("job", job, "--config", str(service.config))
            self.assertRegex(with_config.stdout, "client +web")

    def test_no_share_is_shown_unless_times_are(self):
        for shown in (False, True):
            with self.subTest(shown=shown), Operated() as service:
                config = f"[helper]\nexpose_timing = {str(shown).lower()}\n"
                service.configure(config + STUCK)
                service.start()
                self.assertEqual(service.post(samples.SHARES, samples.body("vote-share.json")).status, 200)
                self.assertEqual(len(service.tell("jobs")["jobs"]), int(shown))
                self.assertEqual(len(service.tell("jobs", "--kind", "share")["jobs"]), int(shown))
                service.kill()
                without_file = service.tell("jobs")["jobs"]
                self.assertEqual(without_file, [])  # nobody said that times may be told

    def test_who_can_not_be_served_is_told_why(self):
        with Operated() as service:
            self.refused(service.run("jobs"), "can not look into")
            service.data.mkdir()
            self.refused(service.run("status"), "there is no database")
            service.start()
            service.stop()
            # One that starts or stops holds the directory and does not answer.
            holder = subprocess.Popen(["flock", "--no-fork", str(service.data / "posthouse.lock"), "sleep", "60"])
            try:
                wait_until(lambda: subprocess.run(["flock", "-n", str(service.data / "posthouse.lock"), "true"],
                                                  check=False).returncode, 10, "the lock")
                self.refused(service.run("jobs"), "it starts or stops")
            finally:
                holder.kill()
                holder.wait()

    def test_requests_are_cancelled_and_retried_through_the_process(self):
        with Operated(STUCK + "[engine.readiness_timeout]\npublic_decrypt = \"1s\"\n") as service:
            service.start()
            job = service.accept("public-decrypt.json")
            self.assertEqual(service.say("cancel", job), f"Cancelled {job}\n")
            ended = service.poll(samples.PUBLIC_DECRYPT, job)
            self.assertEqual(ended.status, 500)
            self.assertEqual(ended.json["error"], {"label": "internal_server_error",
                                                   "message": "Cancelled by the operator"})
            self.refused(service.run("cancel", job), f"{job}: Not cancelled: it has ended: failure")

            said = service.say("retry", job)
            self.assertRegex(said, f"^{job} Asked anew as [0-9a-f-]{{36}}\n$")
            anew = said.split()[-1]
            self.assertEqual(service.tell("job", job)["retried_as"], anew)
            self.assertEqual(service.tell("job", anew)["retry_of"], job)
            self.assertIn(job, service.say("job", anew))
            self.refused(service.run("retry", job), f"the same is asked already, as {anew}")
            self.assertEqual(service.accept("public-decrypt.json"), anew)

            both = service.run("cancel", anew, "019a0000-0000-7000-8000-000000000001")
            self.assertEqual((both.returncode, both.stdout), (1, f"Cancelled {anew}\n"))
            self.assertIn("No such job", both.stderr)

            paid = service.accept("input-proof-1-value.json")
            service.poll(samples.INPUT_PROOF, paid)
            self.refused(service.run("retry", paid), "it is completed")
            self.assertEqual(service.run("retry", "--json", paid).stdout,
                             '{"error":"Not retried: it is completed"}\n')
            service.stop()
            self.refused(service.run("retry", job), "start it first")
            self.assertEqual(service.tell("job", job)["retried_as"], anew)

    def test_a_share_is_cancelled_only_where_it_may_be_seen_and_with_a_yes(self):
        with Operated("[helper]\nexpose_timing = true\n[gateway.loopback]\nproof = \"1h\"\n") as service:
            service.start()
            self.assertEqual(service.post(samples.SHARES, samples.body("vote-share.json")).status, 200)
            share = service.tell("jobs")["jobs"][0]["job_id"]
            self.refused(service.run("cancel", share), "say --yes")
            self.assertEqual(service.rows("select count(*) from payload")[0][0], 1)
            self.assertEqual(service.say("cancel", "--yes", share), f"Cancelled {share}\n")
            self.assertEqual(service.rows("select count(*) from payload")[0][0], 0)
            self.assertEqual(service.rows("select failed from round")[0][0], 1)
            self.refused(service.run("retry", share), "never sent again")

    def test_a_paused_kind_waits_also_after_a_restart(self):
        with Operated(QUICK) as service:
            service.start()
            self.assertEqual(service.say("pause", "public_decrypt"), "Paused public_decrypt\n")
            answer = service.post(samples.PUBLIC_DECRYPT, samples.body("public-decrypt.json"))
            self.assertEqual((answer.status, answer.headers["retry-after"]), (202, "300"))
            job = answer.json["result"]["jobId"]
            self.assertEqual(service.tell("status")["paused"], ["public_decrypt"])
            self.assertIn("PAUSED", service.say("status"))
            self.assertIn("its kind to be resumed", service.say("job", job))
            ended = service.accept("input-proof-1-value.json")
            self.assertEqual(service.poll(samples.INPUT_PROOF, ended).status, 200)
            service.kill()
            service.start()
            self.assertIn("kind_paused kind=public_decrypt since=earlier", service.log())
            self.assertEqual(service.get(f"{samples.PUBLIC_DECRYPT}/{job}").status, 202)
            self.assertEqual(service.say("resume", "public_decrypt"), "Resumed public_decrypt\n")
            self.assertEqual(service.poll(samples.PUBLIC_DECRYPT, job).status, 200)
            self.assertEqual(service.tell("status")["paused"], [])
            self.refused(service.run("pause", "proofs"), "No such kind; allowed: input_proof")

    def test_approve_needs_a_process_and_a_chain_with_fees(self):
        with Operated() as service:
            self.refused(service.run("approve", "--amount", "1", "--yes"), "approve is done by the running process")
            service.start()
            self.refused(service.run("approve", "--amount", "1", "--yes"),
                         "nothing is approved: the loopback is no chain: its requests cost nothing")

    def test_the_log_level_is_changed_and_remembered(self):
        with Operated() as service:
            service.start()
            service.accept("public-decrypt.json")
            self.assertNotIn("accepted job_id=", service.log())
            self.assertEqual(service.say("log-level", "debug"), "Log level debug\n")
            service.accept("input-proof-1-value.json")
            wait_until(lambda: "accepted job_id=" in service.log(), 10, "a line at level debug")
            self.refused(service.run("log-level", "loud"), "No such level; allowed: debug")
            service.stop()
            service.start()
            self.assertEqual(service.tell("status")["log_level"], "debug")
            self.assertEqual(service.say("log-level", "error"), "Log level error\n")
            service.stop()
            self.assertNotIn("stopped", service.log())

    @unittest.skipUnless(os.geteuid() == 0, "only root can be somebody else")
    def test_root_leaves_nothing_of_its_own_behind_and_others_are_refused(self):
        with Operated() as service:
            service.home.chmod(0o755)
            program = shutil.copy(binary(), service.home / "posthouse")
            service.start()
            job = service.accept("public-decrypt.json")
            for path in (service.home, service.data):
                path.chmod(0o755)
            other = subprocess.run([program, "job", job, "--data-dir", str(service.data)], env=environment(),
                                   timeout=PATIENCE, capture_output=True, text=True, check=False, user=NOBODY)
            self.refused(other, "run this as root or as the user of the service")
            service.kill()
            service.data.chmod(0o700)
            for path in (service.data, *service.data.iterdir()):
                os.chown(path, NOBODY, NOBODY)
            (service.data / "posthouse.db-shm").unlink()
            (service.data / "posthouse.lock").unlink()
            self.assertEqual(service.tell("job", job)["job_id"], job)
            self.assertEqual({path.stat().st_uid for path in service.data.iterdir()}, {NOBODY})


if __name__ == "__main__":
    unittest.main()
