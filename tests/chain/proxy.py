"""Stands between a relayer and its node, counts the calls, and can be cut off."""

import collections
import http.client
import http.server
import json
import socket
import threading
import time

JSON = {"Content-Type": "application/json"}


class Cut(Exception):
    """Close the connection without another byte."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        """Clients that go away are no news here."""


class Exchange:
    """One HTTP request on its way: the calls in it and the answer to come."""

    def __init__(self, proxy, body):
        self.proxy = proxy
        self.body = body
        content = json.loads(body)
        self.batch = isinstance(content, list)
        self.calls = content if self.batch else [content]

    def methods(self):
        return [call["method"] for call in self.calls]

    def forward(self):
        """What the node answers to everything: [answer]."""
        content = json.loads(self.proxy.forward(self.body))
        return content if isinstance(content, list) else [content]

    def written(self, answers):
        return json.dumps(answers if self.batch else answers[0]).encode()


class Proxy:
    """`open` False: connections are refused their answer until it is True again. A subclass overrides
    `answer`."""

    def __init__(self, node_port):
        self.node_port = node_port
        self.open = True
        self.local = threading.local()
        self.lock = threading.Lock()
        self.calls = collections.Counter()
        self.seen = []  # (monotonic time, method)
        self.server = Server(("127.0.0.1", 0), handler(self))
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def note(self, exchange):
        now = time.monotonic()
        with self.lock:
            self.calls.update(exchange.methods())
            self.seen += [(now, method) for method in exchange.methods()]

    def forward(self, body):
        for last in (False, True):
            connection = getattr(self.local, "connection", None)
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", self.node_port, timeout=60)
                self.local.connection = connection
            try:
                connection.request("POST", "/", body, JSON)
                return connection.getresponse().read()
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self.local.connection = None
                # Sent again only when the node never saw it: a kept connection that was closed.
                if last or not isinstance(error, (http.client.RemoteDisconnected, BrokenPipeError)):
                    raise Cut from error
        raise AssertionError("not reached")

    def answer(self, exchange):
        """(status, headers, body)"""
        return 200, JSON, exchange.written(exchange.forward())


def handler(proxy):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self):
            try:
                exchange = Exchange(proxy, self.rfile.read(int(self.headers["Content-Length"])))
                if not proxy.open:
                    raise Cut
                proxy.note(exchange)
                status, headers, body = proxy.answer(exchange)
                if not proxy.open:
                    raise Cut
                self.send_response(status)
                headers = {"Content-Length": str(len(body)), **headers}
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                if int(headers["Content-Length"]) != len(body):
                    raise Cut
            except (Cut, OSError):
                self.close_connection = True
                try:
                    self.connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

        def log_message(self, *_):
            pass

    return Handler
