"""An HTTP server on loopback that can go away and come back at the same port, and be rude."""

import http.server
import json
import socket
import threading


class Cut(Exception):
    """Close the connection without another byte."""


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, address, handler):
        super().__init__(address, handler)
        self.lock = threading.Lock()
        self.connections = set()

    def process_request(self, request, client_address):
        with self.lock:
            self.connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        with self.lock:
            self.connections.discard(request)
        super().shutdown_request(request)

    def cut_all(self):
        with self.lock:
            connections = list(self.connections)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def handle_error(self, *_):
        """Clients that go away are no news here."""


class Site:
    """Listens while entered. A subclass answers: `get(exchange)` and `post(exchange)` with the
    exchange's methods, or by raising Cut."""

    def __init__(self):
        self.server = None
        self.port = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        self.listen()
        return self

    def __exit__(self, *_):
        self.vanish()

    def listen(self):
        """At the port it had before, if any."""
        self.server = Server(("127.0.0.1", self.port), handler(self))
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def vanish(self):
        """Connections are refused from now on, and those there are end."""
        server, self.server = self.server, None
        if server is not None:
            server.shutdown()
            server.server_close()
            server.cut_all()

    def get(self, exchange):
        raise NotImplementedError

    def post(self, exchange):
        raise NotImplementedError


def handler(site):
    class Exchange(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self):
            self.answer(site.get)

        def do_POST(self):
            self.answer(site.post)

        def answer(self, answer):
            try:
                answer(self)
            except (Cut, OSError):
                self.cut()

        def body(self):
            return self.rfile.read(int(self.headers.get("Content-Length", "0")))

        def send(self, status, data, claimed=None):
            """`claimed`: what Content-Length says if it lies; the connection ends then."""
            data = data if isinstance(data, bytes) else json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data) if claimed is None else claimed))
            self.end_headers()
            self.wfile.write(data)
            if claimed is not None:
                raise Cut

        def cut(self):
            self.close_connection = True
            try:
                self.connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

        def log_message(self, *_):
            pass

    return Exchange
