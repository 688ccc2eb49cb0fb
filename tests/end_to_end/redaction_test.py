"""Field report 62: secrets are fed in everywhere, and no output may hold one."""

import base64
import json
import pathlib
import subprocess
import unittest

import samples
from admin_test import ADMIN, TOKEN, AdminService
from service import PATIENCE, QUICK, Client, Service, binary, environment, wait_until

# Each appears nowhere else. What a witness or a ciphertext holds may be stored, never said.
WORDS = {name: f"s3cr3t-{name}-7f3a91" for name in
         ("token", "guess", "header", "query", "path", "cookie", "password", "urlpath", "urlquery")}
BLIND = bytes(range(0x41, 0x41 + 32))

CONFIG = QUICK.replace("[gateway.loopback]", """[log]
level = "debug"
[helper]
api_token = "%(token)s"
[gateway.blockchain_rpc]
http_url = "http://user:%(password)s@127.0.0.1:1/v2/%(urlpath)s?key=%(urlquery)s"
read_http_url = "http://user:%(password)s@127.0.0.1:1/v2/%(urlpath)s?key=%(urlquery)s"
[gateway.loopback]
unreachable_sends = 300
lost_replies = 200
reverts = 300
unreachable_checks = 200""" % WORDS)


def share_with_secret():
    share = samples.value("vote-share.json")
    share["primary_blind"] = base64.b64encode(BLIND).decode()
    return json.dumps(share)


class RedactionTest(unittest.TestCase):
    def test_no_secret_is_in_an_answer_a_header_the_log_or_a_table(self):
        outputs = []
        with Service(CONFIG) as service:
            service.start()

            def ask(*arguments, **options):
                answer = service.ask(*arguments, **options)
                outputs.append((arguments[:2], repr(answer.headers) + answer.body.decode()))
                return answer

            hostile = {"Content-Type": "application/json",
                       "X-Helper-Token": WORDS["guess"],
                       "X-API-Key": WORDS["header"],
                       "Authorization": f"Bearer {WORDS['header']}",
                       "Cookie": f"x-api-key={WORDS['cookie']}",
                       "zama-sdk-name": WORDS["header"],
                       "Idempotency-Key": WORDS["header"] + " not visible"}
            tokened = {"Content-Type": "application/json", "X-Helper-Token": WORDS["token"]}
            self.assertEqual(ask("POST", samples.SHARES, share_with_secret(), hostile).status, 401)
            self.assertEqual(ask("POST", samples.SHARES, share_with_secret(), tokened).status, 200)
            self.assertEqual(ask("POST", samples.SHARES, share_with_secret(), tokened).json,
                             {"status": "duplicate"})
            for path in ("/v2/input-proof", "/v2/public-decrypt", "/v2/user-decrypt",
                         "/v3/user-decrypt", "/v2/" + WORDS["path"], "/" + WORDS["path"]):
                for body in ("{", "{}", json.dumps({"extraData": WORDS["query"]}), "[" * 300):
                    ask("POST", path, body, hostile)
                ask("GET", f"{path}/{WORDS['path']}?key={WORDS['query']}", headers=hostile)
                ask("PUT", path, "x", headers=hostile)
            for path in ("/healthz", "/version", "/liveness", "/v2/keyurl", "/docs",
                         "/docs/openapi.json", "/metrics", "/admin/config"):
                ask("GET", path + "?token=" + WORDS["query"], headers=hostile)

            jobs = []
            variants = samples.Variants(1)
            for _ in range(20):
                body = samples.text(variants.public_decrypt())
                jobs.append(ask("POST", samples.PUBLIC_DECRYPT, body).json["job_id"])
            for job_id in jobs:
                service.poll(samples.PUBLIC_DECRYPT, job_id, seconds=60)
                ask("GET", f"{samples.PUBLIC_DECRYPT}/{job_id}")
            service.wait_until_all_ended(60)
            outputs.append(("arguments", pathlib.Path(
                f"/proc/{service.process.pid}/cmdline").read_text(encoding="utf-8")))
            outputs.append(("tables", repr(service.rows(
                "select kind, status, reason, detail from request") + service.rows(
                "select name, value from setting") + service.rows("select * from cursor"))))
            outputs.append(("log", service.log()))
            self.assertEqual(service.stop()[0], 0)
            outputs.append(("log to the end", service.log()))

        secrets = [*WORDS.values(), base64.b64encode(BLIND).decode(), BLIND.hex(),
                   BLIND.decode()]
        for where, text in outputs:
            for secret in secrets:
                self.assertNotIn(secret, text, where)
                self.assertNotIn(base64.b64encode(secret.encode()).decode(), text, where)

    def test_no_secret_is_in_what_operators_see_of_shares_and_keys(self):
        """With helper.expose_timing, by routes, commands, the page, and what is exported."""
        config = (ADMIN + 'admin_token_file = "{token_file}"\n' +
                  CONFIG.replace("[helper]", "[helper]\nexpose_timing = true"))
        outputs = []
        with AdminService(config) as service:
            service.start()
            tokened = {"Content-Type": "application/json", "X-Helper-Token": WORDS["token"]}
            self.assertEqual(service.post(samples.SHARES, share_with_secret(), headers=tokened).status, 200)
            job = service.post(samples.PUBLIC_DECRYPT, samples.body("public-decrypt.json")).json["job_id"]
            service.poll(samples.PUBLIC_DECRYPT, job, seconds=60)
            client = Client(service.admin_port())
            form = {"Content-Type": "application/x-www-form-urlencoded"}
            cookie = client.ask("POST", "/login", f"token={TOKEN}", form).headers["set-cookie"].split(";")[0]

            def commands(*words):
                done = subprocess.run([binary(), *words, "--config", str(service.config), "--data-dir",
                                       str(service.data)], env=environment(), capture_output=True, text=True,
                                      timeout=PATIENCE, check=True)
                outputs.append((words, done.stdout + done.stderr))

            def look():
                listed = service.admin("GET", path="/admin/jobs").json["jobs"]
                outputs.append(("/admin/jobs", json.dumps(listed)))
                for path in ("/admin/status", *(f"/admin/jobs/{one['job_id']}" for one in listed)):
                    outputs.append((path, service.admin("GET", path=path).body.decode()))
                for path in ("/", "/jobs", *(f"/jobs/{one['job_id']}" for one in listed)):
                    page = client.ask("GET", path, headers={"Cookie": cookie})
                    self.assertEqual(page.status, 200, page)
                    outputs.append((path, repr(page.headers) + page.body.decode()))
                client.close()  # the service does not wait for the next look
                for words in (("jobs",), ("status",), ("export", "--jsonl"),
                              *(("job", one["job_id"]) for one in listed)):
                    commands(*words)
                return {one["kind"] for one in listed}

            self.assertEqual(look(), {"share", "public_decrypt"})
            wait_until(lambda: service.rows("select count(*) from request where lane = 11")[0][0], 60,
                       "the end of the share")
            self.assertEqual(look(), {"share", "public_decrypt"})
            outputs.append(("log", service.log()))
        self.assertTrue(any('"kind":"share"' in text for where, text in outputs if where[0] == "export"))
        for where, text in outputs:
            for secret in [*WORDS.values(), TOKEN, base64.b64encode(BLIND).decode(), BLIND.hex(), BLIND.decode()]:
                self.assertNotIn(secret, text, where)

    def test_no_secret_is_in_a_configuration_error(self):
        with Service(CONFIG + '[http]\nworkers = "many"\n[helper2]\nx = 1\n') as service:
            service.spawn()
            self.assertEqual(service.wait(), 2)
            for secret in WORDS.values():
                self.assertNotIn(secret, service.log())


if __name__ == "__main__":
    unittest.main()
