"""A database remembers whose it is."""

import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "chain"))

import samples  # noqa: E402
from config import config_text  # noqa: E402
from service import PATIENCE, QUICK, Service, binary, environment  # noqa: E402

NOBODY = "http://127.0.0.1:9"  # a chain that can not be reached is no reason not to start


def configure(service, **settings):
    """For a real chain; the file holds a key."""
    service.config.touch(mode=0o600)
    service.config.chmod(0o600)
    service.configure(config_text(NOBODY, **settings))


class AdoptTest(unittest.TestCase):
    def run_to_its_end(self, command):
        return subprocess.run(command, env=environment(), timeout=PATIENCE, capture_output=True, text=True,
                              check=False)

    def adopt(self, service):
        return self.run_to_its_end([binary(), "adopt", "--config", str(service.config), "--data-dir",
                                    str(service.data)])

    def refused(self, process, *parts):
        self.assertEqual(process.returncode, 6, process)
        line = process.stderr.splitlines()[-1]
        for part in ("posthouse.db", "choose another --data-dir", *parts):
            self.assertIn(part, line)

    def test_results_of_the_loopback_are_never_served_as_real(self):
        with Service(QUICK) as service:
            service.start()
            body = samples.body("public-decrypt.json")
            job_id = service.post(samples.PUBLIC_DECRYPT, body).json["job_id"]
            self.assertEqual(service.poll(samples.PUBLIC_DECRYPT, job_id).status, 200)
            service.stop()
            configure(service)
            self.refused(self.run_to_its_end(service.command()), "never becomes")
            self.refused(self.adopt(service), "never becomes")
            service.configure(QUICK)
            service.start()
            self.assertEqual(service.get(f"{samples.PUBLIC_DECRYPT}/{job_id}").status, 200)

    def test_what_waits_for_one_chain_is_not_given_to_another(self):
        with Service() as service:
            configure(service)
            service.start()
            body = samples.body("public-decrypt.json")
            job_id = service.post(samples.PUBLIC_DECRYPT, body).json["job_id"]
            service.stop()
            configure(service, **{"gateway.blockchain_rpc.chain_id": 4242})
            self.refused(self.run_to_its_end(service.command()), "chain_id=4242",
                         "let 1 request end", "posthouse adopt")
            self.refused(self.adopt(service), "let 1 request end")
            configure(service)
            service.start()
            self.assertEqual(service.get(f"{samples.PUBLIC_DECRYPT}/{job_id}").status, 202)

    def test_an_empty_database_is_anybodys(self):
        with Service(QUICK) as service:
            service.start()
            service.stop()
            configure(service)
            service.start()
            service.stop()
            process = self.adopt(service)
            self.assertEqual((process.returncode, process.stderr), (0, ""))
            self.assertIn("gateway: evm chain_id=", process.stdout)


if __name__ == "__main__":
    unittest.main()
