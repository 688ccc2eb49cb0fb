"""Settings that are changed while it runs outlive a kill, and the token shows up nowhere."""

import json
import os
import pathlib
import re
import socket
import subprocess
import time
import unittest

import samples
from service import PATIENCE, QUICK, Client, Service, environment, wait_until

TOKEN = "correct-horse-battery-staple"
ADMIN = """
[http]
enable_admin_endpoint = true
admin_endpoint = "127.0.0.1:0"
"""
CONFIG = ADMIN + 'admin_token_file = "{token_file}"\n' + QUICK


class AdminService(Service):
    """With a token file, and the admin interface on a port of its own."""

    def __init__(self, config=CONFIG, mode=0o600):
        super().__init__("")
        self.token_file = self.home / "token"
        self.token_file.write_text(TOKEN + "\n", encoding="utf-8")
        os.chmod(self.token_file, mode)
        self.configure(config.replace("{token_file}", str(self.token_file)))

    def admin_port(self):
        def port():
            found = re.search(r"listening admin=127\.0\.0\.1:(\d+)$", self.log(), re.MULTILINE)
            return found and int(found.group(1))

        return wait_until(port, 10, "a line that says where the admin interface is")

    def admin(self, method, body=None, token=TOKEN, path="/admin/config"):
        headers = {"Authorization": "Bearer " + token}
        if body is not None:
            headers["Content-Type"] = "application/json"
        client = Client(self.admin_port())
        try:
            return client.ask(method, path, body, headers)
        finally:
            client.close()

    def set(self, name, value):
        return self.admin("POST", json.dumps({"param": name, "value": value}))

    def state(self):
        return self.admin("GET").json


class AdminTest(unittest.TestCase):
    def test_a_change_is_in_force_at_once_and_after_kill_9_until_it_is_taken_back(self):
        with AdminService() as service:
            service.start()
            before = service.state()
            self.assertEqual(before["overridden"], [])
            self.assertEqual(service.set("user_decrypt_throttler_tps", 77).status, 200)
            self.assertEqual(service.set("retry_after_min_seconds", 50).json["value"], 50)
            self.assertEqual(service.set("retry_after_safety_margin", 0.125).status, 200)
            intervals = [[0, 60], [120, 90]]
            self.assertEqual(service.set("copro_kms_backoff_intervals", intervals).status, 200)
            answer = service.post(samples.PUBLIC_DECRYPT, samples.body("public-decrypt.json"))
            self.assertEqual((answer.status, answer.headers["retry-after"]), (202, "50"))

            service.kill()
            service.start()
            self.assertIn("settings_restored names=copro_kms_backoff_intervals,"
                          "retry_after_min_seconds,retry_after_safety_margin,"
                          "user_decrypt_throttler_tps", service.log())
            after = service.state()
            expected = dict(before["values"], UserDecryptThrottlerTps=77, RetryAfterMinSeconds=50,
                            RetryAfterSafetyMargin=0.125, CoproKmsBackoffIntervals=intervals)
            self.assertEqual(after["values"], expected)
            self.assertEqual(after["overridden"],
                             ["copro_kms_backoff_intervals", "retry_after_min_seconds",
                              "retry_after_safety_margin", "user_decrypt_throttler_tps"])
            # A new one: the first may have its receipt by now, and waits as copro_kms_… says.
            answer = service.post(samples.PUBLIC_DECRYPT, samples.body("public-decrypt-8-handles.json"))
            self.assertEqual((answer.status, answer.headers["retry-after"]), (202, "50"))

            for name in after["overridden"]:
                self.assertEqual(service.set(name, None).status, 200, name)
            self.assertEqual(service.state(), before)
            service.kill()
            service.start()
            self.assertEqual(service.state(), before)
            self.assertNotIn("settings_restored", service.log())

    def test_the_file_stays_the_base_and_a_change_that_fits_no_longer_is_left_out(self):
        with AdminService() as service:
            service.start()
            self.assertEqual(service.set("retry_after_min_seconds", 50).status, 200)
            self.assertEqual(service.set("input_proof_throttler_tps", 7).status, 200)
            self.assertEqual(service.stop()[0], 0)
            service.configure(service.config.read_text("utf-8") +
                              "[http.retry_after]\nmax_seconds = 40\n"
                              "[gateway.tx_engine.tx_throttlers]\n"
                              "public_decrypt.per_seconds = 9\n"
                              "input_proof.per_seconds = 8\n")
            service.start()
            values = service.state()["values"]
            self.assertEqual([values[name] for name in
                              ("RetryAfterMinSeconds", "RetryAfterMaxSeconds",
                               "PublicDecryptThrottlerTps", "InputProofThrottlerTps")],
                             [1, 40, 9, 7])
            warnings = [line for line in service.log().splitlines() if "setting_not_restored" in line]
            self.assertEqual(len(warnings), 1)
            self.assertIn("name=retry_after_min_seconds", warnings[0])
            self.assertIn("warning", warnings[0])

    def test_the_log_names_changes_and_the_token_is_nowhere(self):
        with AdminService() as service:
            service.start()
            answers = [service.state(), service.set("input_proof_throttler_tps", 50).body,
                       service.set("input_proof_throttler_tps", 0).body,
                       service.admin("GET", token="wrong-" + TOKEN).body,
                       service.get("/admin/config").body,
                       service.get("/admin/config", headers={"Authorization": "Bearer " + TOKEN}).body]
            lines = [line for line in service.log().splitlines() if "setting_" in line]
            self.assertEqual(len(lines), 2)
            self.assertIn("info posthouse: setting_changed name=input_proof_throttler_tps old=20 new=50 by=admin",
                          lines[0])
            self.assertIn("warning posthouse: setting_refused name=input_proof_throttler_tps", lines[1])
            self.assertEqual(service.log().count("warning posthouse: admin_denied remote=127.0.0.1 "), 1)
            shown = pathlib.Path(f"/proc/{service.process.pid}/cmdline").read_bytes()
            answers += [shown.decode(), service.log()]
            for answer in answers:
                self.assertNotIn(TOKEN, str(answer))
            service.stop()
            for file in service.data.iterdir():
                self.assertNotIn(TOKEN.encode(), file.read_bytes(), file)

    def test_T_004_the_listener_of_the_requests_answers_403(self):
        body = '{"param": "input_proof_throttler_tps", "value": 50}'
        with Service() as service:
            service.start()
            for answer in (service.post("/admin/config", body), service.get("/admin/config")):
                self.assertEqual(answer.status, 403)
                self.assertEqual(answer.json, {"error": "Admin endpoints are not enabled"})
            self.assertNotIn("listening admin=", service.log())
        with AdminService() as service:
            service.start()
            headers = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"}
            answer = service.post("/admin/config", body, headers=headers)
            self.assertEqual(answer.status, 403)
            self.assertIn("not enabled on this address", answer.json["error"])
            self.assertEqual(service.state()["values"]["InputProofThrottlerTps"], 20)

    def test_T_009_a_rate_of_1_and_at_once_1000_lets_what_waits_go(self):
        with AdminService() as service:
            service.start()
            self.assertEqual(service.set("public_decrypt_throttler_tps", 1).status, 200)
            request = samples.value("public-decrypt.json")
            handle = request["ciphertextHandles"][0]
            jobs = []
            for number in range(20):
                request["ciphertextHandles"] = [f"0x{number:08x}{handle[10:]}"]
                jobs.append(service.post(samples.PUBLIC_DECRYPT, samples.text(request)).json["job_id"])
            time.sleep(0.2)  # one has left, the rest waits for its second
            begin = time.monotonic()
            for rate in (1, 1000):
                self.assertEqual(service.set("public_decrypt_throttler_tps", rate).status, 200)
            for job in jobs:
                self.assertEqual(service.poll(samples.PUBLIC_DECRYPT, job).status, 200)
            self.assertLess(time.monotonic() - begin, 10)  # 19 s at the old rate

    def test_without_a_token_or_with_an_open_file_it_does_not_start(self):
        cases = ((ADMIN, 0o600, "http.enable_admin_endpoint: needs a token"),
                 (CONFIG, 0o644, "run chmod o= "))
        for config, mode, text in cases:
            with self.subTest(text), AdminService(config, mode) as service:
                ended = subprocess.run(service.command(), env=environment(), capture_output=True,
                                       text=True, timeout=PATIENCE, check=False)
                self.assertEqual(ended.returncode, 2, ended.stderr)
                self.assertIn(text, ended.stderr)
                self.assertNotIn(TOKEN, ended.stderr)

    def test_a_port_that_is_taken_ends_the_start_and_is_named_with_its_setting(self):
        with socket.socket() as taken, AdminService() as service:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            ended = subprocess.run(service.command(), env=environment(POSTHOUSE_HTTP__ADMIN_ENDPOINT=address),
                                   capture_output=True, text=True, timeout=PATIENCE, check=False)
            self.assertEqual(ended.returncode, 1, ended.stderr)
            for part in (f"cannot listen on {address}", "with http.admin_endpoint"):
                self.assertIn(part, ended.stderr.splitlines()[-1])

    def test_an_endpoint_others_can_reach_is_warned_of(self):
        config = CONFIG.replace("127.0.0.1:0", "0.0.0.0:0")
        with AdminService(config) as service:
            service.start()
            self.assertIn("warning posthouse: admin_endpoint_open http.admin_endpoint=0.0.0.0:0", service.log())
            wait_until(lambda: "listening admin=0.0.0.0:" in service.log(), 10, "the listener")


if __name__ == "__main__":
    unittest.main()
