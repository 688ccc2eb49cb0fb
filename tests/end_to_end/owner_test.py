"""One process per data directory."""

import subprocess
import time
import unittest

import samples
from service import PATIENCE, SLOWNESS, Service, environment


class OwnerTest(unittest.TestCase):
    def second(self, service, data):
        begin = time.monotonic()
        process = subprocess.run(service.command(data=data), env=environment(), timeout=PATIENCE,
                                 capture_output=True, text=True, check=False)
        return process, time.monotonic() - begin

    def test_a_second_process_leaves_at_once_and_names_the_first(self):
        with Service() as service:
            service.start()
            job_id = service.post(samples.PUBLIC_DECRYPT,
                                  samples.body("public-decrypt.json")).json["job_id"]
            link = service.home / "link"
            link.symlink_to(service.data)
            for data in (service.data, link):
                with self.subTest(data=data.name):
                    process, seconds = self.second(service, data)
                    self.assertEqual(process.returncode, 1)
                    self.assertIn(f"(pid {service.process.pid})", process.stderr)
                    self.assertEqual(len(process.stderr.splitlines()), 1, process.stderr)
                    self.assertLess(seconds, 1 * SLOWNESS)
            self.assertEqual(service.poll(samples.PUBLIC_DECRYPT, job_id).status, 200)

            service.kill()
            service.start()
            self.assertEqual(service.get(f"{samples.PUBLIC_DECRYPT}/{job_id}").status, 200)


if __name__ == "__main__":
    unittest.main()
