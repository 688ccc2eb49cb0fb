"""What a monitoring system sees: the text it can parse, numbers that move, counts that outlive a restart."""

import http.client
import math
import re
import socket
import subprocess
import tempfile
import unittest

import samples
import service
from service import PATIENCE, QUICK, Client, Service

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
VALUE = r"[+-]?(?:Inf|[0-9.]+(?:e[+-]?[0-9]+)?)|NaN"
SERIES = re.compile(rf"({NAME})(?:\{{(.*)\}})? ({VALUE})")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)')

ROWS = [  # relayer-api 10
    "relayer_http_requests_total", "relayer_http_responses_total",
    "relayer_http_request_duration_seconds", "relayer_queue_size_count",
    "relayer_retry_after_raw_eta_seconds", "relayer_user_decrypt_signature_precheck_total",
    "relayer_db_query_duration_seconds", "relayer_db_errors_total", "relayer_request_count",
    "relayer_request_status_duration_seconds", "relayer_transaction_count",
    "relayer_transaction_pending_gauge", "relayer_transaction_duration_secs",
    "relayer_transaction_errors_total"]


class Page:
    """An answer of /metrics, read by the rules of the text format 0.0.4; a ValueError names what breaks them."""

    def __init__(self, text):
        self.types = {}
        self.helps = {}
        self.series = {}
        if not text.endswith("\n"):
            raise ValueError("the last line does not end")
        family = None
        closed = set()
        for line in text.splitlines():
            if line.startswith("# HELP "):
                name = line.split(" ", 3)[2]
                self.once(self.helps, name, line)
                closed.add(family)
                family = name
                if name in closed:
                    raise ValueError(f"the lines of {name} do not stand together")
            elif line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                if name != family or kind not in ("counter", "gauge", "histogram"):
                    raise ValueError(line)
                self.once(self.types, name, kind)
            else:
                self.read_series(line, family)
        for name, kind in self.types.items():
            if kind == "histogram":
                self.check_histogram(name)

    @staticmethod
    def once(table, name, value):
        if name in table:
            raise ValueError(f"{name} is declared twice")
        table[name] = value

    def read_series(self, line, family):
        match = SERIES.fullmatch(line)
        if not match:
            raise ValueError(f"no series: {line!r}")
        name, inside, value = match.groups()
        allowed = {family}
        if self.types.get(family) == "histogram":
            allowed = {f"{family}_bucket", f"{family}_sum", f"{family}_count"}
        if name not in allowed:
            raise ValueError(f"{name} stands below {family}")
        labels = LABEL.findall(inside or "")
        if "".join(f'{key}="{text}",' for key, text in labels).rstrip(",") != (inside or ""):
            raise ValueError(f"labels: {line!r}")
        if len({key for key, _ in labels}) != len(labels):
            raise ValueError(f"a label twice: {line!r}")
        self.once(self.series, (name, frozenset(labels)), float(value))

    def check_histogram(self, family):
        buckets = {}
        for (name, labels), value in self.series.items():
            if name == f"{family}_bucket":
                bound = float(dict(labels)["le"])
                rest = frozenset(label for label in labels if label[0] != "le")
                buckets.setdefault(rest, []).append((bound, value))
        counts = {labels: value for (name, labels), value in self.series.items()
                  if name == f"{family}_count"}
        if counts.keys() != buckets.keys():
            raise ValueError(f"{family}: buckets and counts differ")
        for labels, found in buckets.items():
            found.sort()
            values = [value for _, value in found]
            if found[-1] != (math.inf, counts[labels]) or values != sorted(values):
                raise ValueError(f"{family}: buckets {found}")
            if (f"{family}_sum", labels) not in self.series:
                raise ValueError(f"{family}: no sum")

    def value(self, name, **labels):
        return self.series[name, frozenset(labels.items())]

    def sum(self, name, **labels):
        wanted = set(labels.items())
        return sum(value for (found, given), value in self.series.items()
                   if found == name and wanted <= given)


def metrics_port(running):
    return int(re.search(r"listening metrics=\S+:(\d+)$", running.log(), re.MULTILINE).group(1))


def ask(port, path="/metrics", method="GET"):
    client = Client(port)
    try:
        return client.ask(method, path)
    finally:
        client.close()


def scrape(running):
    answer = ask(metrics_port(running))
    assert answer.status == 200, answer
    return Page(answer.body.decode("utf-8"))


def scrape_counted(running):
    """The counts of requests come a moment after the start."""
    def counted():
        page = scrape(running)
        return page if "relayer_request_count" in page.types else None

    return service.wait_until(counted, 20, "the counts of requests")


class MetricsTest(unittest.TestCase):
    def submit_all(self, running):
        """One of each family, run to its end."""
        asked = [(samples.PUBLIC_DECRYPT, samples.body("public-decrypt.json")),
                 (samples.USER_DECRYPT, samples.body("user-decrypt.json")),
                 (samples.INPUT_PROOF, samples.body("input-proof-1-value.json")),
                 (samples.SHARES, samples.body("vote-share.json"))]
        for path, body in asked:
            answer = running.post(path, body, headers={
                "Content-Type": "application/json", "zama-sdk-name": "@zama-fhe/relayer-sdk",
                "zama-sdk-version": "0.5.1"})
            self.assertIn(answer.status, (200, 202), answer)
            if path != samples.SHARES:
                running.poll(path, answer.json["job_id"])
        running.wait_until_all_ended()

    def test_the_running_service_and_a_restart(self):
        with Service(QUICK + "\n[helper]\nexpose_timing = true\n") as running:
            running.start()
            self.submit_all(running)
            page = scrape_counted(running)
            for name in ROWS:
                self.assertIn(name, page.types)
            for req_type in ("public_decrypt", "user_decrypt", "input_proof", "vote_share"):
                self.assertEqual(page.value("relayer_request_count", req_type=req_type,
                                            status="completed"), 1, req_type)
            self.assertEqual(page.sum("relayer_request_count"), 4)
            self.assertEqual(page.sum("relayer_transaction_count", transaction_status="confirmed"), 3)
            self.assertEqual(page.sum("relayer_transaction_duration_secs_count"), 3)
            self.assertEqual(page.sum("relayer_transaction_pending_gauge"), 0)
            self.assertEqual(page.sum("relayer_http_requests_total", method="POST",
                                      relayer_sdk_name="@zama-fhe/relayer-sdk",
                                      relayer_sdk_version="0.5"), 3)
            self.assertEqual(page.sum("relayer_http_responses_total", status="202", method="POST"), 3)
            self.assertEqual(page.sum("relayer_http_responses_total", status="200", method="GET"), 3)
            self.assertEqual(page.sum("relayer_retry_after_raw_eta_seconds_count"), 3)
            self.assertGreater(page.sum("relayer_db_query_duration_seconds_count"), 2)
            self.assertGreater(page.value("posthouse_commit_duration_seconds_count"), 3)
            self.assertGreater(page.value("process_resident_memory_bytes"), 1 << 20)
            self.assertEqual(page.sum("posthouse_recovered_requests"), 0)

            running.kill()
            running.start()
            page = scrape_counted(running)
            self.assertEqual(page.sum("relayer_request_count", status="completed"), 4)
            self.assertEqual(page.sum("relayer_request_count"), 4)
            self.assertEqual(page.sum("relayer_transaction_count"), 0)
            self.assertEqual(page.sum("relayer_http_requests_total"), 0)

    def test_what_is_in_work_is_counted_anew_after_a_crash(self):
        with Service(QUICK + 'outages = [{start = "0s", duration = "1h"}]\n') as running:
            running.start()
            variants = samples.Variants(74)
            ids = [running.post(samples.PUBLIC_DECRYPT,
                                samples.text(variants.public_decrypt())).json["job_id"]
                   for _ in range(3)]

            def trouble():
                page = scrape_counted(running)
                return page.sum("relayer_request_count") == 3 and page

            page = service.wait_until(trouble, 20, "three requests")
            self.assertEqual(page.sum("relayer_request_count", status="completed"), 0)
            service.wait_until(lambda: scrape(running).value(
                "posthouse_oldest_age_seconds", req_type="public_decrypt", status="queued") > 1, 20,
                "an age")
            running.kill()
            running.start()
            page = scrape_counted(running)
            self.assertEqual(page.sum("relayer_request_count", req_type="public_decrypt"), 3)
            self.assertGreater(page.value("posthouse_oldest_age_seconds", req_type="public_decrypt",
                                          status="queued"), 1)
            text = ask(metrics_port(running)).body.decode("utf-8")
            for job_id in ids:
                self.assertNotIn(job_id, text)

    def test_the_server_of_the_metrics(self):
        with Service() as running:
            running.start()
            port = metrics_port(running)
            answer = ask(port)
            self.assertEqual(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8")
            self.assertEqual(ask(port, method="HEAD").headers["content-type"],
                             answer.headers["content-type"])
            health = ask(port, "/health")
            self.assertEqual((health.status, health.body), (200, b""))
            self.assertEqual(ask(port, "/").status, 404)
            self.assertEqual(ask(port, "/v2/public-decrypt/x").status, 404)
            self.assertEqual(ask(port, method="POST").status, 405)
            self.assertEqual(running.get("/metrics").status, 404)
            self.assertEqual(running.stop()[0], 0)
            with self.assertRaises((ConnectionError, http.client.HTTPException)):
                ask(port)

    def test_a_few_silent_connections_keep_nobody_out(self):
        with Service() as running:
            running.start()
            port = metrics_port(running)
            silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(8)]
            self.assertEqual(ask(port).status, 200)
            for connection in silent:
                connection.close()

    def run_briefly(self, directory, **variables):
        command = [service.binary(), "serve", "--data-dir", directory, "--listen", "127.0.0.1:0"]
        return subprocess.run(command, env=service.environment(**variables), timeout=PATIENCE, text=True,
                              capture_output=True, check=False)

    def test_a_port_that_is_taken_stops_the_start(self):
        with socket.socket() as taken, tempfile.TemporaryDirectory() as directory:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            process = self.run_briefly(directory, POSTHOUSE_METRICS__ENDPOINT=address)
        self.assertEqual(process.returncode, 1, process)
        last = process.stderr.splitlines()[-1]
        for part in (address, "Address already in use", "metrics.endpoint"):
            self.assertIn(part, last)

    def test_without_an_address_there_are_none(self):
        with tempfile.TemporaryDirectory() as directory:
            command = [service.binary(), "serve", "--data-dir", directory, "--listen", "127.0.0.1:0"]
            process = subprocess.Popen(
                command, env=service.environment(POSTHOUSE_METRICS__ENDPOINT=""), text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            try:
                lines = []
                for line in process.stdout:
                    lines.append(line)
                    if "listening http=" in line:
                        break
                self.assertIn("listening http=", lines[-1])
                self.assertNotIn("metrics=", "".join(lines))
            finally:
                process.kill()
                process.communicate()


class PageTest(unittest.TestCase):
    """The reader of the format would notice."""

    HEAD = "# HELP a_total A.\n# TYPE a_total counter\n"
    HISTOGRAM = ('# HELP h H.\n# TYPE h histogram\nh_count 2\nh_sum 3\nh_bucket{le="1"} %s\n'
                 'h_bucket{le="+Inf"} %s\n')

    def test_what_is_right(self):
        page = Page(self.HEAD + 'a_total{b="c",d=""} 1\na_total{b="x\\"y"} 2.5e+10\n'
                    + self.HISTOGRAM % (1, 2))
        self.assertEqual(page.value("a_total", b="c", d=""), 1)

    def test_what_is_wrong(self):
        for text in ("a_total 1\n", self.HEAD + "a_total 1", self.HEAD + "a_total one\n",
                     self.HEAD + "a_total 1\na_total 2\n", self.HEAD + "b_total 1\n",
                     self.HEAD + self.HEAD, self.HEAD + 'a_total{b="c} 1\n',
                     self.HEAD + 'a_total{b="c",b="d"} 1\n', self.HEAD + 'a_total{b="c"d="e"} 1\n',
                     self.HISTOGRAM % (3, 2), self.HISTOGRAM % (1, 3),
                     (self.HISTOGRAM % (1, 2)).replace("h_sum 3\n", "")):
            with self.subTest(text):
                with self.assertRaises((ValueError, KeyError)):
                    Page(text)


if __name__ == "__main__":
    unittest.main()
