"""A loopback chat server that answers every request after a fixed time, in a separate process."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

_ANSWER = {
    "id": "steady",
    "object": "chat.completion",
    "created": 0,
    "model": "steady",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "In the spring."},
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 500, "completion_tokens": 5, "total_tokens": 505},
}


@contextmanager
def steady_server(delay_s: float) -> Iterator[str]:
    """Yield the base URL of a server whose answers take `delay_s`; it stops with the block."""
    spawn = multiprocessing.get_context("spawn")  # a fork would copy the caller's threads
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_run, args=(theirs, delay_s), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def _run(started: Connection, delay_s: float) -> None:
    asyncio.run(_serve(started, delay_s))


async def _serve(started: Connection, delay_s: float) -> None:
    body = json.dumps(_ANSWER).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    reply = head.encode() + b"\r\n\r\n" + body

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                asked = (await reader.readuntil(b"\r\n\r\n")).lower()
                length = int(asked.split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                await asyncio.sleep(delay_s)
                writer.write(reply)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    started.send(server.sockets[0].getsockname()[1])
    await server.serve_forever()
