"""A full disk: no promise without a row, no crash, no flood of lines, and it heals by itself."""

import os
import pathlib
import shutil
import sqlite3
import subprocess
import tempfile
import time
import unittest

import samples
from service import QUICK, Service, wait_until

# In flight for so long that the disk is full before they end.
SLOW = QUICK.replace('response = "10ms"', 'response = "4s"')


def may_mount():
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    probe = subprocess.run(["unshare", "-m", "sh", "-c", "mount -t tmpfs none /mnt"],
                           capture_output=True, check=False)
    return probe.returncode == 0


class OnSmallDisk(Service):
    """The process has a private mount of a few MiB over its data directory."""

    def __init__(self, config, mebibytes=8):
        super().__init__(config)
        self.mebibytes = mebibytes
        self.data.mkdir()
        self.seen_from_here = self.data

    def start(self, **options):
        script = f'mount -t tmpfs -o size={self.mebibytes}m none "$0" && exec "$@"'
        # exec all the way: the process id is that of the service.
        self.spawn(prefix=("unshare", "-m", "sh", "-c", script, str(self.data)), **options)
        self.wait_until_listening()
        inside = pathlib.Path(f"/proc/{self.process.pid}/root")
        self.seen_from_here = inside / self.data.relative_to("/")
        return self

    def rows(self, sql, *values, database="posthouse.db"):
        """From a copy: the mount is not ours, and a reader must not disturb a full disk."""
        with tempfile.TemporaryDirectory(prefix="posthouse-") as folder:
            for suffix in ("", "-wal"):
                source = self.seen_from_here / (database + suffix)
                if source.exists():
                    shutil.copy(source, pathlib.Path(folder) / (database + suffix))
            connection = sqlite3.connect(pathlib.Path(folder) / database)
            try:
                return connection.execute(sql, values).fetchall()
            finally:
                connection.close()


@unittest.skipUnless(may_mount(), "needs root and a private mount namespace")
class DiskFullTest(unittest.TestCase):
    def fill(self, service, variants, promised):
        """Posts until the disk is full; how many answers said so."""
        for _ in range(2_000):
            path, request = samples.INPUT_PROOF, variants.input_proof()
            answer = service.post(path, samples.text(request))
            if answer.status == 503:
                return answer
            self.assertEqual(answer.status, 202, answer)
            promised.append((path, answer.json["job_id"]))
        raise AssertionError("the disk never filled")

    def check(self, config):
        with OnSmallDisk(config) as service:
            service.start()
            filler = service.seen_from_here / "filler"
            filler.write_bytes(bytes(3 << 20))
            variants = samples.Variants(3)
            promised = []
            refused = self.fill(service, variants, promised)
            self.assertRegex(refused.headers["retry-after"], r"^[1-9][0-9]*$")
            self.assertEqual(refused.json["status"], "failed")

            begin = time.monotonic()
            while time.monotonic() - begin < 8:
                answer = service.post(samples.PUBLIC_DECRYPT,
                                      samples.text(variants.public_decrypt()))
                if answer.status == 202:
                    promised.append((samples.PUBLIC_DECRYPT, answer.json["job_id"]))
                self.assertIn(answer.status, (202, 503), answer)
                self.assertEqual(service.get("/liveness").status, 200)
                time.sleep(0.05)
            self.assertEqual(service.get("/healthz").status, 503)
            self.assertEqual(service.get("{}/{}".format(*promised[0])).status // 100, 2)
            alarms = [line for line in service.log().splitlines() if " info " not in line]
            self.assertLessEqual(len(alarms), 6, service.log())
            self.assertNotIn("storage_healed", service.log(), "it is as full as before")

            filler.unlink()

            def taken():
                answer = service.post(samples.PUBLIC_DECRYPT,
                                      samples.text(variants.public_decrypt()))
                if answer.status != 202:
                    time.sleep(0.2)
                    return False
                promised.append((samples.PUBLIC_DECRYPT, answer.json["job_id"]))
                return True

            wait_until(taken, 30, "new requests are taken again")
            # The chain looks again in its own time.
            wait_until(lambda: service.get("/healthz").status == 200, 10, "that all is well")
            for path, job_id in promised:
                self.assertEqual(service.poll(path, job_id, 45).status, 200)
            stored = {row[0] for row in service.rows("select id from request")}
            self.assertLessEqual({samples.sequence_of(job_id) for _, job_id in promised}, stored)
            self.assertIsNone(service.process.poll())

    def test_only_the_requests_are_on_the_full_disk(self):
        with tempfile.TemporaryDirectory(prefix="posthouse-") as elsewhere:
            self.check(SLOW + f'ledger = "{elsewhere}/loopback.db"\n')

    def test_the_chain_is_on_the_full_disk_as_well(self):
        self.check(SLOW)


if __name__ == "__main__":
    unittest.main()
