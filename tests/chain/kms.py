"""A stand-in for AWS KMS with one key, and for whoever tells its credentials: STS for a web identity,
the endpoint of a container, the metadata of an instance. It checks signature version 4 of every request by its own reading of the rules (IAM User Guide, "Create a
signed AWS API request"), and says what KMS would say."""

import base64
import collections
import datetime
import hashlib
import hmac
import http.server
import json
import random
import re
import threading
import time
import urllib.parse

from abi import word
from proxy import Server
from signing import N, address_of, multiply

SPKI = bytes.fromhex("3056301006072a8648ce3d020106052b8104000a034200")
AUTHORIZATION = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, "
                           r"SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})")
CLOCK_SKEW = datetime.timedelta(minutes=5)
ROLE = "arn:aws:iam::111122223333:role/relayer"
STS_ANSWER = """<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
<AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>{}</AccessKeyId><SecretAccessKey>{}</SecretAccessKey>
<SessionToken>{}</SessionToken><Expiration>{}</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>"""
STS_REFUSAL = "<ErrorResponse><Error><Type>Sender</Type><Code>InvalidIdentityToken</Code></Error></ErrorResponse>"


class Refused(Exception):
    """With the type of KMS's error."""


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signature(secret, method, path, headers, signed, body, scope, moment):
    """`headers` by lower-case name; `signed`: their names; `scope`: date, region, service."""
    canonical = "\n".join([method, path, "", *(f"{name}:{' '.join(headers[name].split())}" for name in signed),
                           "", ";".join(signed), hashlib.sha256(body).hexdigest()])
    to_sign = "\n".join(["AWS4-HMAC-SHA256", moment, "/".join([*scope, "aws4_request"]),
                         hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + secret).encode()
    for part in (*scope, "aws4_request"):
        key = mac(key, part)
    return mac(key, to_sign).hex()


def der_integer(number):
    content = number.to_bytes((number.bit_length() + 8) // 8, "big")
    return bytes([2, len(content)]) + content


class Kms:
    """`delay` of each signature in seconds; `denied`: operations; `expired`: the credentials are."""

    def __init__(self, key, region="eu-central-1", key_id="alias/relayer"):
        self.key, self.region, self.key_id = key, region, key_id
        self.access_key, self.secret, self.token = "ASIAEXAMPLE", "secret/of+KMS", "session-token"
        self.delay = 0.0
        self.denied = set()
        self.expired = False
        self.random = random.Random(1)
        self.lock = threading.Lock()
        self.counts = collections.Counter()  # of answers, by operation or error
        self.under_way = self.peak = 0
        self.server = Server(("127.0.0.1", 0), handler(self))
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    @property
    def address(self):
        return address_of(self.key)

    @property
    def settings(self):
        table = "gateway.tx_engine.signer."
        return {table + "type": "aws_kms", table + "key_id": self.key_id, table + "region": self.region,
                table + "endpoint": self.url, table + "private_key": None}

    @property
    def variables(self):
        return {"AWS_ACCESS_KEY_ID": self.access_key, "AWS_SECRET_ACCESS_KEY": self.secret,
                "AWS_SESSION_TOKEN": self.token, "AWS_EC2_METADATA_DISABLED": "true"}

    @property
    def metadata_variables(self):
        return {"AWS_EC2_METADATA_SERVICE_ENDPOINT": self.url, "HOME": "/nowhere"}

    @property
    def container_variables(self):
        return {"AWS_CONTAINER_CREDENTIALS_FULL_URI": self.url + "/container", "HOME": "/nowhere",
                "AWS_CONTAINER_AUTHORIZATION_TOKEN": "container-token"}

    def profile_variables(self, directory):
        """Of a profile in files there."""
        file = directory / "aws-credentials"
        file.write_text(f"[relayer]\naws_access_key_id = {self.access_key}\naws_secret_access_key = {self.secret}\n"
                        f"aws_session_token = {self.token}\n", encoding="utf-8")
        return {"AWS_SHARED_CREDENTIALS_FILE": str(file), "AWS_PROFILE": "relayer", "HOME": "/nowhere"}

    def web_identity_variables(self, directory, token="identity-token"):
        file = directory / "identity-token"
        file.write_text(token + "\n", encoding="utf-8")
        return {"AWS_ROLE_ARN": ROLE, "AWS_WEB_IDENTITY_TOKEN_FILE": str(file), "HOME": "/nowhere",
                "AWS_ENDPOINT_URL_STS": self.url + "/sts"}

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def check(self, method, path, headers, body):
        match = AUTHORIZATION.fullmatch(headers.get("authorization", ""))
        if not match:
            raise Refused("IncompleteSignature")
        access_key, date, region, service, names, given = match.groups()
        if access_key != self.access_key or headers.get("x-amz-security-token") != self.token:
            raise Refused("UnrecognizedClientException")
        moment = headers.get("x-amz-date", "")
        signed = names.split(";")
        needed = {"host", "x-amz-date", "x-amz-target", "x-amz-security-token"}
        if signed != sorted(signed) or not needed <= set(signed) or not moment.startswith(date):
            raise Refused("IncompleteSignature")
        said = datetime.datetime.strptime(moment, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if abs(datetime.datetime.now(datetime.timezone.utc) - said) > CLOCK_SKEW:
            raise Refused("InvalidSignatureException")
        expected = signature(self.secret, method, path, headers, signed, body, (date, region, service), moment)
        if given != expected or (region, service) != (self.region, "kms"):
            raise Refused("InvalidSignatureException")
        if self.expired:
            raise Refused("ExpiredTokenException")

    def operate(self, operation, asked):
        if operation in self.denied:
            raise Refused("AccessDeniedException")
        if asked.get("KeyId") != self.key_id:
            raise Refused("NotFoundException")
        if operation == "GetPublicKey":
            x, y = multiply(self.key)
            return {"PublicKey": base64.b64encode(SPKI + b"\4" + word(x) + word(y)).decode(),
                    "KeySpec": "ECC_SECG_P256K1", "KeyUsage": "SIGN_VERIFY"}
        if operation != "Sign":
            raise Refused("UnsupportedOperationException")
        digest = base64.b64decode(asked["Message"])
        if (asked["MessageType"], asked["SigningAlgorithm"]) != ("DIGEST", "ECDSA_SHA_256") or len(digest) != 32:
            raise Refused("ValidationException")
        time.sleep(self.delay)
        return {"Signature": base64.b64encode(self.sign(digest)).decode()}

    def sign(self, digest):
        """Not deterministic, and with s in either half, as KMS gives them."""
        with self.lock:
            k = self.random.randrange(1, N)
        r = multiply(k)[0] % N
        s = pow(k, -1, N) * (int.from_bytes(digest, "big") + r * self.key) % N
        body = der_integer(r) + der_integer(s)
        return bytes([0x30, len(body)]) + body

    def end(self):
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=6)
        return end.strftime("%Y-%m-%dT%H:%M:%SZ")

    def credentials(self):
        return json.dumps({"Code": "Success", "AccessKeyId": self.access_key, "SecretAccessKey": self.secret,
                           "Token": self.token, "Expiration": self.end()})

    def assume_role(self, body):
        """AssumeRoleWithWebIdentity of STS: status and XML."""
        asked = dict(urllib.parse.parse_qsl(body.decode()))
        wanted = {"Action": "AssumeRoleWithWebIdentity", "Version": "2011-06-15", "RoleArn": ROLE,
                  "RoleSessionName": "posthouse", "WebIdentityToken": "identity-token"}
        if asked != wanted:
            return 400, STS_REFUSAL
        return 200, STS_ANSWER.format(self.access_key, self.secret, self.token, self.end())

    def metadata(self, method, path, headers):
        """The endpoint of a container, and IMDSv2."""
        if path == "/container":
            return self.credentials() if headers.get("authorization") == "container-token" else None
        if method == "PUT" and path == "/latest/api/token":
            return "imds-token" if "x-aws-ec2-metadata-token-ttl-seconds" in headers else None
        if headers.get("x-aws-ec2-metadata-token") != "imds-token":
            return None
        role = "/latest/meta-data/iam/security-credentials/"
        if path == role:
            return "signer"
        if path == role + "signer":
            return self.credentials()
        return None


def handler(kms):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            """Nothing."""

        def reply(self, status, content):
            body = content.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def lowered(self):
            return {name.lower(): value for name, value in self.headers.items()}

        def do_PUT(self):  # noqa: N802
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.do_GET()

        def do_GET(self):  # noqa: N802
            found = kms.metadata(self.command, self.path, self.lowered())
            self.reply(200 if found is not None else 401, found or "")

        def do_POST(self):  # noqa: N802
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.path == "/sts":
                self.reply(*kms.assume_role(body))
                return
            operation = self.headers.get("X-Amz-Target", "").removeprefix("TrentService.")
            with kms.lock:
                kms.under_way += 1
                kms.peak = max(kms.peak, kms.under_way)
            try:
                kms.check("POST", self.path, self.lowered(), body)
                answer = (200, kms.operate(operation, json.loads(body)))
            except Refused as refusal:
                operation = str(refusal)
                answer = (400, {"__type": operation, "message": f"arn:aws:kms:{kms.region}:1:key/SECRET-ID"})
            finally:
                with kms.lock:
                    kms.under_way -= 1
            with kms.lock:
                kms.counts[operation] += 1
            self.reply(answer[0], json.dumps(answer[1]))

    return Handler
