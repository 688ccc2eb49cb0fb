"""posthouse reload: the answer says what was read again, and what was not."""

import json
import subprocess
import unittest

from service import PATIENCE, QUICK, Service, binary, environment

FIRST = "4c3f6f0fd1a94d0c8be2a6a3c1ad0d7e"
SECOND = "9b0d5a5e1e7f4b6f8d3c2b1a09f8e7d6"
NOBODY = "/v2/public-decrypt/019e8006-3403-7000-a5b4-9cf6e8d41c02"


class ReloadTest(unittest.TestCase):
    def setUp(self):
        self.service = Service(QUICK)
        self.addCleanup(self.service.close)
        self.keys = self.service.home / "client_keys"

    def write(self, text):
        self.keys.write_text(text, encoding="utf-8")
        self.keys.chmod(0o600)

    def reload(self, *more):
        return subprocess.run([binary(), "reload", "--config", str(self.service.config), "--data-dir",
                               str(self.service.data), *more], env=environment(), capture_output=True, text=True,
                              timeout=PATIENCE, check=False)

    def start_guarded(self, file, **variables):
        self.write(f"web {FIRST}\n")
        self.service.configure(f'[http]\nclient_keys_file = "{file}"\n' + QUICK)
        self.service.spawn(prefix=("env", *(f"{name}={value}" for name, value in variables.items())))
        self.service.wait_until_listening()

    def lets_in(self, key):
        return self.service.get(NOBODY, headers={"x-api-key": key}).status != 401

    def test_what_was_read_again_is_in_force_when_the_answer_is_there(self):
        self.start_guarded(self.keys)
        self.write(f"web {SECOND}\nbatch {FIRST[::-1]}\n")
        done = self.reload()
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "Read again: client_keys keys=2\n", ""))
        self.assertTrue(self.lets_in(SECOND))
        self.assertFalse(self.lets_in(FIRST))
        self.assertEqual(json.loads(self.reload("--json").stdout), {"message": "Read again: client_keys keys=2"})

    def test_a_file_that_is_no_good_fails_it_and_the_old_keys_stay(self):
        self.start_guarded(self.keys)
        for spoil, problem in ((lambda: self.write(f"web {FIRST}\nweb {SECOND}\n"), ":2: the name is that of line 1"),
                               (lambda: self.keys.chmod(0o644), "has mode 0644"), (self.keys.unlink, "is not there")):
            with self.subTest(problem):
                spoil()
                done = self.reload()
                self.assertEqual((done.returncode, done.stdout), (1, ""), done)
                self.assertTrue(done.stderr.startswith(f"posthouse: reload: client_keys: {self.keys}"), done.stderr)
                self.assertIn(problem, done.stderr)
                self.assertTrue(done.stderr.endswith("; the old ones stay\n"))
                self.assertNotIn(SECOND, done.stderr)
                self.assertTrue(self.lets_in(FIRST))

    def test_a_credential_is_said_to_be_a_copy(self):
        self.start_guarded("credential:client_keys", CREDENTIALS_DIRECTORY=self.service.home)
        done = self.reload()
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, "Read again: client_keys keys=1, a credential: systemd copied its file at the "
                                      "start, so what changed there since comes with a restart\n")

    def test_without_files_there_is_nothing_to_read_again(self):
        self.service.start()
        done = self.reload()
        self.assertEqual(done.returncode, 0, done)
        self.assertIn("Nothing to read again", done.stdout)
        self.assertEqual(self.service.get("/liveness").status, 200)

    def test_without_a_process_it_fails(self):
        done = self.reload()
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("no process runs on", done.stderr)


if __name__ == "__main__":
    unittest.main()
