"""Answers that a subscription tells of, long before anybody would poll; also after it was cut off."""

import socket
import threading
import time
import unittest

# First: it says where the modules of tests/chain are.
from evm import World, check_result

import samples
from config import write_config
from service import wait_until

POLL_SECONDS = 60
SOON = 10


class Cable:
    """Passes bytes between its port and the node's. Pulled: open connections are cut, new ones closed."""

    def __init__(self, node_port):
        self.node_port = node_port
        self.plugged = True
        self.lock = threading.Lock()
        self.ends = set()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self.accept, daemon=True)

    @property
    def url(self):
        return f"ws://127.0.0.1:{self.server.getsockname()[1]}"

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.pull()
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()
        self.thread.join()

    def accept(self):
        while True:
            try:
                near, _ = self.server.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.node_port), 5)
            except OSError:
                near.close()
                continue
            with self.lock:
                if not self.plugged:
                    near.close()
                    far.close()
                    continue
                self.ends |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self.pump, args=(source, sink), daemon=True).start()

    def pump(self, source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        self.cut({source, sink})

    def cut(self, ends):
        with self.lock:
            found = ends & self.ends
            self.ends -= found
        for end in found:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def pull(self):
        with self.lock:
            self.plugged = False
            ends = set(self.ends)
        self.cut(ends)

    def plug(self):
        self.plugged = True


class SubscriptionWorld(World):
    """Subscribes through the cable; the other listener asks the node itself, once in a while."""

    def configure(self):
        write_config(self.service.config, self.anvil.url, listeners=[self.node.url, self.anvil.url],
                     **{"gateway.listener_pool.poll_interval_ms": POLL_SECONDS * 1000})


class EvmSubscriptionTest(unittest.TestCase):
    def setUp(self):
        self.world = SubscriptionWorld(node=Cable, keeps=True)
        self.world.__enter__()
        self.addCleanup(self.world.__exit__)
        self.began = time.monotonic()

    def complete(self, path, body):
        answer = self.world.outcome(path, body, SOON)
        self.assertEqual(answer.status, 200, f"{answer}\n{self.world.service.log()[-3000:]}")
        check_result(self, path, body, answer.json["result"])

    def tearDown(self):
        # What comes later may have been polled.
        self.assertLess(time.monotonic() - self.began, POLL_SECONDS)

    def test_every_kind(self):
        for path, body in self.world.variants.all_kinds():
            with self.subTest(path):
                self.complete(path, body)

    def test_cut_and_connected_again(self):
        self.complete(samples.PUBLIC_DECRYPT, self.world.variants.public_decrypt())
        cable = self.world.node
        cable.pull()
        path, body = samples.USER_DECRYPT, self.world.variants.user_decrypt()
        job = self.world.post(path, body)
        wait_until(lambda: self.world.requests_of(body), SOON, "the request on chain")
        responder, chain = self.world.responder, self.world.chain
        wait_until(lambda: not responder.open and responder.cursor == chain.head(), SOON, "the answer")
        time.sleep(0.5)
        self.assertEqual(self.world.service.get(f"{path}/{job}").status, 202)
        cable.plug()
        answer = self.world.service.poll(path, job, SOON)
        self.assertEqual(answer.status, 200, answer)
        check_result(self, path, body, answer.json["result"])
        self.complete(samples.PUBLIC_DECRYPT, self.world.variants.public_decrypt())

    def test_the_node_starts_anew(self):
        self.complete(samples.INPUT_PROOF, self.world.variants.input_proof())
        self.world.anvil.stop()
        time.sleep(0.3)
        self.world.anvil.start()
        for path, body in self.world.variants.all_kinds()[:3]:
            with self.subTest(path):
                self.complete(path, body)


if __name__ == "__main__":
    unittest.main()
