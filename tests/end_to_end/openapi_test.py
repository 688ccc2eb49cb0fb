"""The OpenAPI document of the running service: well made, and true to the last example."""

import json
import re
import subprocess
import unittest

import replay
import samples
from admin_test import CONFIG, TOKEN, AdminService
from json_schema import Checker, UnknownKeyword
from metrics_test import metrics_port
from service import HERE, PATIENCE, Client, wait_until

TOOLS = HERE.parent / "tools"
METHODS = ("get", "post")


def normal(body, example):
    """The answer with what differs from call to call as the example has it."""
    if isinstance(body, dict) and "requestId" in body and "requestId" in example:
        return {**body, "requestId": example["requestId"]}
    return body


class OpenApiTest(unittest.TestCase):
    service = None

    @classmethod
    def setUpClass(cls):
        cls.service = AdminService(CONFIG + "\n[helper]\nexpose_queue_status = true\n").start()
        cls.servers = {"main": (cls.service.port, {}),
                       "admin": (cls.service.admin_port(), {"Authorization": "Bearer " + TOKEN}),
                       "metrics": (metrics_port(cls.service), {})}
        cls.text = cls.service.get("/docs/openapi.json").body
        cls.document = json.loads(cls.text)
        cls.checker = Checker(cls.document)
        cls.resolve = cls.checker.resolve

    @classmethod
    def tearDownClass(cls):
        cls.service.close()

    # --- what the document holds ---

    def operations(self, here=True):
        """Those of the main server; `here=False`: of the other listeners."""
        for path, item in self.document["paths"].items():
            if here == ("servers" not in item):
                yield from ((method, path, item[method]) for method in METHODS if method in item)

    def of_server(self, name):
        return [entry for entry in self.operations(here=False)
                if entry[1].startswith("/admin/") == (name == "admin")]

    def ask(self, server, method, path, body=None):
        port, headers = self.servers[server]
        client = Client(port)
        try:
            if body is not None:
                headers = {**headers, "Content-Type": "application/json"}
            return client.ask(method, path, body, headers)
        finally:
            client.close()

    def answers(self):
        for here in (True, False):
            for method, path, operation in self.operations(here):
                for status, response in operation["responses"].items():
                    yield f"{method.upper()} {path} {status}", self.resolve(response)

    def examples(self, media):
        for name, example in media["examples"].items():
            yield name, self.resolve(example)

    # --- what an answer must be ---

    def hold(self, answer, operation, name):
        """Status, headers and body are as documented."""
        self.assertIn(str(answer.status), operation["responses"], f"{name}: {answer}")
        response = self.resolve(operation["responses"][str(answer.status)])
        self.hold_headers(answer, response, name)
        self.hold_body(answer, response, name)

    def hold_headers(self, answer, response, name):
        documented = {n.lower(): self.resolve(h) for n, h in response.get("headers", {}).items()}
        for header, rule in documented.items():
            value = answer.headers.get(header)
            if value is None:
                self.assertFalse(rule.get("required"), f"{name}: no {header} in {answer}")
                continue
            whole = self.resolve(rule["schema"]).get("type") == "integer"
            self.assertEqual(
                self.checker.problems(int(value) if whole else value, rule["schema"]), [], name)
        ordinary = {"content-type", "content-length", "date", "connection", "keep-alive"}
        self.assertLessEqual(set(answer.headers) - ordinary, set(documented), f"{name}: {answer}")

    def hold_body(self, answer, response, name):
        kind = answer.headers.get("content-type", "").split(";")[0]
        content = response.get("content", {})
        if not content:
            self.assertEqual((kind, answer.body), ("", b""), f"{name}: {answer}")
            return
        self.assertIn(kind, content, f"{name}: {answer}")
        value = answer.json if kind == "application/json" else answer.body.decode()
        self.assertEqual(self.checker.problems(value, content[kind]["schema"]), [], f"{name}: {answer}")

    # --- tests ---

    def test_a_linter_finds_nothing(self):
        self.assertTrue((TOOLS / "node_modules").is_dir(),
                        "the linter is missing: run scripts/test, or `npm ci` in tests/tools")
        lint = subprocess.run(["node", str(TOOLS / "lint_openapi.js")], input=self.text, timeout=2 * PATIENCE,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual((lint.returncode, lint.stdout.decode()), (0, "0 problems\n"))

    def test_it_is_the_document_of_this_version(self):
        self.assertTrue(self.document["openapi"].startswith("3.1."))
        version = self.service.get("/version").json
        self.assertEqual(self.document["info"]["version"], version["version"])
        self.assertRegex(version["build"], r"(clean|dirty)$")
        self.assertIn(version["version"], self.service.get("/docs").body.decode())

    def test_every_answer_with_a_body_has_examples_and_they_fit(self):
        for name, response in self.answers():
            for media in response.get("content", {}).values():
                self.assertTrue(media["examples"], name)
                for label, example in self.examples(media):
                    with self.subTest(name, example=label):
                        problems = self.checker.problems(example["value"], media["schema"])
                        self.assertEqual(problems, [])

    def test_every_request_parameter_and_header_has_an_example_and_it_fits(self):
        for here in (True, False):
            for method, path, operation in self.operations(here):
                for parameter in map(self.resolve, operation.get("parameters", [])):
                    with self.subTest(path, parameter=parameter["name"]):
                        self.assertEqual(
                            self.checker.problems(parameter["example"], parameter["schema"]), [])
                if method == "get":
                    continue
                media = operation["requestBody"]["content"]["application/json"]
                self.assertTrue(media["examples"], path)
                for label, example in self.examples(media):
                    with self.subTest(path, example=label):
                        self.assertEqual(
                            self.checker.problems(example["value"], media["schema"]), [])
        for name, header in self.document["components"]["headers"].items():
            with self.subTest(header=name):
                self.assertEqual(self.checker.problems(header["example"], header["schema"]), [])

    def test_every_request_example_runs_to_its_end(self):
        ran = []
        for method, path, operation in self.operations():
            if method != "post":
                continue
            media = operation["requestBody"]["content"]["application/json"]
            for label, example in self.examples(media):
                with self.subTest(path, example=label):
                    body = json.dumps(example["value"]).encode()
                    answer = self.service.post(path, body)
                    self.hold(answer, operation, path)
                    self.assertIn(answer.status, (200, 202))
                    if answer.status == 202:
                        self.poll_to_the_end(path, answer.json["result"]["jobId"])
                    again = self.service.post(path, body)
                    self.hold(again, operation, path)
                    ran.append(label)
        self.assertEqual(len(ran), 7, ran)

    def poll_to_the_end(self, path, job_id):
        operation = self.document["paths"][path + "/{job_id}"]["get"]
        client = Client(self.service.port)
        self.addCleanup(client.close)

        def ended():
            answer = client.ask("GET", f"{path}/{job_id}")
            self.hold(answer, operation, path)
            return answer.status != 202 and answer

        self.assertEqual(wait_until(ended, 30, f"the end of {path}/{job_id}").status, 200)

    def test_every_other_route_answers_as_documented(self):
        asked = []
        for method, path, operation in self.operations():
            if method == "get" and "{" not in path:
                with self.subTest(path):
                    answer = self.service.get(path)
                    self.assertEqual(answer.status, 200)
                    self.hold(answer, operation, path)
                    head = self.service.ask("HEAD", path)
                    self.assertEqual((head.status, head.body), (200, b""))
                    self.assertEqual({**head.headers, "date": ""}, {**answer.headers, "date": ""})
                    asked.append(path)
        self.assertEqual(len(asked), 8, asked)

    def test_the_admin_listener_answers_as_documented(self):
        read, change = (operation for _, path, operation in self.of_server("admin") if path == "/admin/config")
        answers = change["responses"]["200"]["content"]["application/json"]["examples"]
        results = {example["value"]["value"] for _, example in self.examples({"examples": answers})}
        found = set()
        for label, example in self.examples(change["requestBody"]["content"]["application/json"]):
            with self.subTest(label):
                body = json.dumps(example["value"])
                answer = self.ask("admin", "POST", "/admin/config", body)
                self.assertEqual(answer.status, 200)
                self.hold(answer, change, label)
                value = answer.json["value"]
                if example["value"]["param"] == "input_proof_throttler_tps":
                    found.add(value)
                else:
                    self.assertEqual(value, example["value"]["value"])
        self.assertEqual(found, results)
        self.service.set("copro_kms_backoff_intervals", None)
        self.service.set("input_proof_throttler_tps", 50)
        answer = self.ask("admin", "GET", "/admin/config")
        self.hold(answer, read, "GET /admin/config")
        (_, example), = self.examples(read["responses"]["200"]["content"]["application/json"])
        self.assertEqual(answer.json, example["value"])
        head = self.ask("admin", "HEAD", "/admin/config")
        self.assertEqual((head.status, head.body), (200, b""))
        self.assertEqual({**head.headers, "date": ""}, {**answer.headers, "date": ""})

    def test_what_it_says_of_jobs_is_documented(self):
        accepted = self.service.post(samples.INPUT_PROOF, samples.body("input-proof-1-value.json"))
        job = accepted.json["result"]["jobId"]
        self.service.poll(samples.INPUT_PROOF, job)
        for path, query in (("/admin/jobs", "?status=completed&limit=1"), ("/admin/jobs/{job_id}", ""),
                            ("/admin/status", "")):
            with self.subTest(path):
                answer = self.ask("admin", "GET", path.replace("{job_id}", job) + query)
                self.assertEqual(answer.status, 200)
                self.hold(answer, self.document["paths"][path]["get"], path)
                known = self.document["components"]["schemas"]
                schema = {"/admin/jobs": "AdminJobs", "/admin/status": "AdminStatus"}.get(path, "AdminJob")
                self.assertLessEqual(set(answer.json), set(known[schema]["properties"]))
                for one in answer.json.get("jobs", []):
                    self.assertLessEqual(set(one), set(known["AdminJob"]["properties"]))

    def test_what_an_operator_orders_is_answered_as_documented(self):
        def job():
            accepted = self.service.post(samples.INPUT_PROOF, samples.body("input-proof-1-value.json"))
            return accepted.json["result"]["jobId"]

        done = set()

        def order(path, status=200, body=None, **parts):
            answer = self.ask("admin", "POST", path.format(**parts), json.dumps(body or {}))
            with self.subTest(path):
                self.assertEqual(answer.status, status, answer)
                self.hold(answer, self.document["paths"][path]["post"], path)
            done.add(path)

        order("/admin/kinds/{kind}/pause", kind="input_proof")
        waiting = job()
        order("/admin/jobs/{job_id}/cancel", job_id=waiting)
        order("/admin/jobs/{job_id}/retry", job_id=waiting)
        order("/admin/release", body={"jobs": [waiting]})
        order("/admin/kinds/{kind}/resume", kind="input_proof")
        order("/admin/log-level/{level}", level="debug")
        order("/admin/backup", 202, {"file": str(self.service.home / "copy.backup")})
        order("/admin/backup/cancel")
        order("/admin/reload")
        # It is in no cluster.
        order("/admin/cluster/step-down", 409)
        # The loopback takes no fees.
        done.add("/admin/approval")
        posts = {path for method, path, _ in self.of_server("admin") if method == "post"}
        self.assertEqual(done, posts - {"/admin/config"})

    def test_either_scheme_opens_the_admin_listener_and_nothing_else_does(self):
        schemes = [self.document["components"]["securitySchemes"][name]
                   for wanted in self.document["paths"]["/admin/config"]["get"]["security"]
                   for name in wanted]
        headers = [{scheme["name"]: TOKEN} if scheme["type"] == "apiKey"
                   else {"Authorization": "Bearer " + TOKEN} for scheme in schemes]
        self.assertEqual(len(headers), 2)
        client = Client(self.servers["admin"][0])
        self.addCleanup(client.close)
        for given, status in [*((header, 200) for header in headers), ({}, 401), ({"x-api-key": TOKEN}, 401)]:
            with self.subTest(given=list(given)):
                self.assertEqual(client.ask("GET", "/admin/config", headers=given).status, status)

    def test_the_metrics_listener_answers_as_documented_and_its_example_is_real(self):
        self.service.post(samples.PUBLIC_DECRYPT, samples.body("public-decrypt.json"), headers={
            "Content-Type": "application/json", "zama-sdk-name": "@zama-fhe/relayer-sdk",
            "zama-sdk-version": "0.5.1"})
        for _, path, operation in self.of_server("metrics"):
            with self.subTest(path):
                answer = self.ask("metrics", "GET", path)
                self.assertEqual(answer.status, 200)
                self.hold(answer, operation, path)
        found = self.ask("metrics", "GET", "/metrics").body.decode()
        names = {line if line.startswith("#") else line.rsplit(" ", 1)[0] for line in found.splitlines()}
        example = self.document["components"]["examples"]["MetricsText"]["value"]
        lines = example.splitlines()
        self.assertTrue(example.endswith("\n"))
        self.assertGreater(len(lines), 20)
        for line in lines:
            self.assertIn(line if line.startswith("#") else line.rsplit(" ", 1)[0], names)

    def test_every_error_example_with_a_request_is_what_that_request_gets(self):
        seen = set()
        for name, response in self.answers():
            status = int(name.rsplit(" ", 1)[1])
            for media in response.get("content", {}).values():
                for reference in media["examples"].values():
                    example = self.resolve(reference)
                    label = reference.get("$ref", "").rsplit("/", 1)[-1]
                    if "x-posthouse-request" not in example or label in seen:
                        continue
                    seen.add(label)
                    with self.subTest(label):
                        self.check_trigger(label, example, status, response)
        servers = [self.document["components"]["examples"][label]["x-posthouse-request"].get("server", "main")
                   for label in seen]
        self.assertEqual({name: servers.count(name) > limit for name, limit in
                          (("main", 24), ("admin", 20), ("metrics", 6))}, dict.fromkeys(self.servers, True))

    def check_trigger(self, label, example, status, response):
        answer = replay.send(self.servers, example["x-posthouse-request"], self.resolve)
        is_text = answer.headers.get("content-type", "").startswith("text/plain")
        found = (answer.status, answer.body.decode() if is_text else normal(answer.json, example["value"]))
        self.assertEqual(found, (status, example["value"]))
        self.hold_headers(answer, response, label)
        self.hold_body(answer, response, label)

    def test_every_400_in_json_names_its_request(self):
        # What only a chain or an option brings about can not be asked for.
        by_circumstance = {"NotAllowedOnHostAcl", "SignatureReverted", "ShareUnknownRound",
                           "AdminTruncated"}
        for name, response in self.answers():
            if not name.endswith(" 400") or "application/json" not in response["content"]:
                continue
            for reference in response["content"]["application/json"]["examples"].values():
                label = reference["$ref"].rsplit("/", 1)[-1]
                asked = "x-posthouse-request" in self.resolve(reference)
                self.assertEqual(asked, label not in by_circumstance, f"{name}: {label}")

    def test_wrong_methods_are_answered_as_documented(self):
        of_path = {"/metrics": "metrics", "/health": "metrics",
                   **{path: "admin" for path in self.document["paths"] if path.startswith("/admin/")}}
        for path, item in self.document["paths"].items():
            with self.subTest(path):
                response = self.resolve(item["x-posthouse-other-methods"])
                server = of_path.get(path, "main")
                answer = self.ask(server, "DELETE", re.sub("{[^}]*}", "x", path))
                self.assertEqual(answer.status, 405)
                self.hold_headers(answer, response, path)
                allowed = [text for method, text in (("get", "GET, HEAD"), ("post", "POST")) if method in item]
                self.assertEqual(answer.headers["allow"], ", ".join(allowed))


class CheckerTest(unittest.TestCase):
    """The checker finds what it is there for."""

    def test_mismatches_are_found(self):
        checker = Checker({"s": {"type": "integer", "minimum": 3}})
        thing = {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/s"}}}
        rows = (
            ({"a": 3}, thing, 0), ({"a": 2}, thing, 1), ({}, thing, 1), ({"a": 3, "b": 1}, thing, 1),
            ({"a": True}, thing, 1), ([], thing, 1), ({"b": 1}, {**thing, "additionalProperties": False}, 2),
            ({"a": 3, "b": 1}, {**thing, "additionalProperties": True}, 0),
            ({"x": "no"}, {"type": "object", "additionalProperties": {"enum": ["ok"]}}, 1),
            ("ab", {"type": "string", "minLength": 3}, 1), ("ab", {"maxLength": 1}, 1),
            ("ab\n", {"pattern": "^ab$"}, 1), ("ab", {"pattern": "^a"}, 0),
            ([1, "x"], {"items": {"type": "integer"}}, 1), ([], {"minItems": 1}, 1),
            ([1, 2], {"maxItems": 1}, 1), (1, {"const": True}, 1), (4, {"maximum": 3}, 1),
            (4, {"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 1), (4, {"anyOf": [{"minimum": 5}]}, 1),
            ("4", {"type": ["string", "integer"]}, 0), (4.5, {"type": "integer"}, 1),
        )
        for value, schema, count in rows:
            with self.subTest(value=value, schema=schema):
                self.assertEqual(len(checker.problems(value, schema)), count)

    def test_a_keyword_nobody_knows_is_never_skipped(self):
        for keyword in ("not", "allOf", "uniqueItems", "patternProperties"):
            with self.assertRaises(UnknownKeyword):
                Checker({}).problems({}, {keyword: []})


if __name__ == "__main__":
    unittest.main()
