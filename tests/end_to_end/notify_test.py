"""What systemd is told: ready, alive, how things are, and that it stops."""

import os
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

import samples
from service import PATIENCE, QUICK, ROOT, Service, wait_until

UNIT = ROOT / "packaging/posthouse.service"


class Manager:
    """Hears what a service says on NOTIFY_SOCKET."""

    def __init__(self, folder):
        self.path = f"{folder}/notify"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.setblocking(False)
        self.lines = []

    def hear(self):
        """What came since the last call."""
        new = []
        while True:
            try:
                new += self.socket.recv(4096).decode().splitlines()
            except BlockingIOError:
                self.lines += new
                return new

    def has_heard(self, pattern):
        self.hear()
        return any(re.fullmatch(pattern, line) for line in self.lines)

    def close(self):
        self.socket.close()


class NotifyTest(unittest.TestCase):
    def setUp(self):
        self.service = Service(QUICK)
        self.addCleanup(self.service.close)
        self.manager = Manager(self.service.home)
        self.addCleanup(self.manager.close)

    def start(self, watchdog_ms):
        # exec keeps the process id, so that the watchdog is meant for the service.
        script = 'export WATCHDOG_PID=$$; exec "$@"'
        self.service.spawn(prefix=("env", f"NOTIFY_SOCKET={self.manager.path}",
                                   f"WATCHDOG_USEC={watchdog_ms * 1000}", "sh", "-c", script, "sh"))
        self.service.wait_until_listening()

    def beats(self):
        self.manager.hear()
        return self.manager.lines.count("WATCHDOG=1")

    def test_a_process_that_is_stopped_is_heard_no_more(self):
        self.start(watchdog_ms=600)
        wait_until(lambda: self.manager.has_heard("READY=1"), 20, "ready")
        begin = time.monotonic()
        wait_until(lambda: self.beats() > 8, 20, "beats of a process that has nothing to do")
        self.assertGreater(time.monotonic() - begin, 1)  # not at every turn
        os.kill(self.service.process.pid, signal.SIGSTOP)
        time.sleep(0.3)
        self.manager.hear()
        time.sleep(1)
        self.assertEqual(self.manager.hear(), [])
        os.kill(self.service.process.pid, signal.SIGCONT)
        wait_until(lambda: "WATCHDOG=1" in self.manager.hear(), 20, "a beat after SIGCONT")
        self.assertEqual(self.service.stop()[0], 0)

    def test_how_things_are_is_one_line(self):
        self.service.configure(QUICK.replace('confirmation = "10ms"', 'confirmation = "60s"')
                               + "[gateway.tx_engine.tx_throttlers]\ninput_proof.per_seconds = 1\n"
                               + "[engine]\nstop_grace = \"0ms\"\n")
        self.start(watchdog_ms=300)
        wait_until(lambda: self.manager.has_heard("STATUS=in service, 0 requests wait"), 20, "an idle line")
        variants = samples.Variants(1)
        for _ in range(4):
            body = samples.text(variants.input_proof())
            self.assertEqual(self.service.post(samples.INPUT_PROOF, body).status, 202)
        wait_until(lambda: self.manager.has_heard(r"STATUS=in service, [1-4] requests wait"), 20, "a line of the load")
        self.assertEqual(self.service.stop()[0], 0)
        self.manager.hear()
        self.assertEqual([line for line in self.manager.lines if line.startswith("STATUS=")][0], "STATUS=recovering")
        self.assertIn("STOPPING=1", self.manager.lines)
        self.assertEqual([line for line in self.manager.lines if line.startswith("STATUS=")][-1], "STATUS=stopping")

    def test_a_long_grace_gets_its_time(self):
        self.service.configure(QUICK + '[engine]\nstop_grace = "40s"\n')
        self.start(watchdog_ms=600)
        self.assertEqual(self.service.stop()[0], 0)
        self.manager.hear()
        told = self.manager.lines[self.manager.lines.index("STOPPING=1"):]
        extensions = [int(line.split("=")[1]) for line in told if line.startswith("EXTEND_TIMEOUT_USEC=")]
        self.assertEqual(len(extensions), 1)
        self.assertGreater(extensions[0], 42_000_000)  # draining too

    def test_the_journal_has_priorities_from_the_first_line_on(self):
        self.service.configure("[http]\nworkers = 0\n")
        with open(self.service.home / "journal", "w+b") as journal:
            facts = os.fstat(journal.fileno())
            process = subprocess.run(self.service.command(), stderr=journal, check=False, timeout=PATIENCE,
                                     env={"JOURNAL_STREAM": f"{facts.st_dev}:{facts.st_ino}"})
            journal.seek(0)
            lines = journal.read().decode().splitlines()
        self.assertEqual(process.returncode, 2)
        self.assertEqual([line[:3] for line in lines], ["<3>"])


class UnitTest(unittest.TestCase):
    def setting(self, name):
        return re.search(rf"^{name}=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE).group(1)

    def test_the_start_limit_can_trigger(self):
        starts = int(self.setting("StartLimitBurst"))
        # A request that kills the process is set aside before; what is signed has three times as many.
        example = (ROOT / "config.example.toml").read_text(encoding="utf-8")
        self.assertGreater(starts, 3 * int(re.search(r"^crashes_max = (\d+)$", example, re.MULTILINE).group(1)))
        window = int(re.fullmatch(r"(\d+)min", self.setting("StartLimitIntervalSec")).group(1)) * 60
        # Each start may take as long again as the pause, and then some.
        self.assertGreater(window, starts * int(self.setting("RestartSec")) * 3)

    def test_it_starts_after_the_clock_was_set_where_that_is_waited_for(self):
        self.assertIn("time-sync.target", self.setting("After").split())

    def test_a_beat_may_be_late(self):
        self.assertGreaterEqual(int(self.setting("WatchdogSec")), 30)

    def test_a_prover_out_of_memory_is_no_end_of_the_service(self):
        self.assertEqual(self.setting("OOMPolicy"), "continue")

    def test_a_core_is_stopped_where_it_is_piped_to_a_program(self):
        self.assertEqual(self.setting("LimitCORE"), "1")  # core(5); 0 would also keep provers from it

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
    def test_little_is_exposed(self):
        process = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", str(UNIT)],
                                 capture_output=True, text=True, timeout=PATIENCE, check=True)
        level = float(re.search(r"exposure level .*: ([\d.]+)", process.stdout).group(1))
        self.assertLessEqual(level, 1.1)


if __name__ == "__main__":
    unittest.main()
