"""TCP connections on their way, and what befalls them: cut, frozen, slow."""

import asyncio
import concurrent.futures
import threading

PIECE = 1 << 16


class Relay:
    """Listens at `port` for what leads to another one of this machine. Made by Relays; any thread."""

    def __init__(self, relays, target):
        self.relays = relays
        self.target = target
        self.port = None
        self.server = None
        self.is_cut = False
        self.seconds = 0.0
        self.flows = asyncio.Event()
        self.flows.set()
        self.writers = set()
        self.tasks = set()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    # --- what befalls it ---

    def cut(self):
        """Connections are reset, and new ones as well."""
        self.relays.call(self._cut)

    def freeze(self):
        """Nothing moves any more, and nobody is told."""
        self.relays.call(self.flows.clear)

    def delay(self, seconds):
        """Each piece waits so long, in both directions."""
        self.relays.call(lambda: setattr(self, "seconds", seconds))

    def heal(self):
        self.relays.call(self._heal)

    def _cut(self):
        self.is_cut = True
        for writer in list(self.writers):
            writer.transport.abort()

    def _heal(self):
        self.is_cut = False
        self.seconds = 0.0
        self.flows.set()

    # --- in the thread of the loop ---

    async def listen(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]

    async def serve(self, reader, writer):
        self.tasks.add(asyncio.current_task())
        self.writers.add(writer)
        away = None
        try:
            if self.is_cut:
                return
            await self.flows.wait()
            from_target, away = await asyncio.open_connection("127.0.0.1", self.target)
            self.writers.add(away)
            ways = [asyncio.ensure_future(self.pump(*way)) for way in ((reader, away), (from_target, writer))]
            try:
                await asyncio.gather(*ways)
            finally:
                for way in ways:
                    way.cancel()
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for end in (writer, away):
                if end is not None:
                    self.writers.discard(end)
                    end.transport.abort() if self.is_cut else end.close()
            self.tasks.discard(asyncio.current_task())

    async def pump(self, reader, writer):
        while data := await reader.read(PIECE):
            if self.seconds:
                await asyncio.sleep(self.seconds)
            await self.flows.wait()
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


class Relays:
    """Entered: they run, in a thread of their own."""

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.made = []

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self.close(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()

    async def close(self):
        tasks = [task for relay in self.made for task in relay.tasks]
        for relay in self.made:
            relay.server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def to(self, port):
        relay = Relay(self, port)
        asyncio.run_coroutine_threadsafe(relay.listen(), self.loop).result(10)
        self.made.append(relay)
        return relay

    def call(self, action):
        done = concurrent.futures.Future()
        self.loop.call_soon_threadsafe(lambda: done.set_result(action()))
        done.result(10)
