"""A model behind OpenAI's protocol that answers every question after a fixed time: what waiting for one is measured by.

    python benchmarks/side_by_side/slow_model.py SECONDS [TEXT]

Prints its address and serves until its input ends, in one process of its own with nothing but the standard library.
"""

from __future__ import annotations

import asyncio
import json
import sys

TEXT = sys.argv[2] if len(sys.argv) > 2 else '{"reason": "as asked", "grade": 2}'
ANSWER = {
    "model": "slow",
    "choices": [{"index": 0, "message": {"content": TEXT}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 700, "completion_tokens": 12},
}
BODY = json.dumps(ANSWER).encode()
REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(BODY), BODY)
)  # fmt: skip


async def serve(seconds: float) -> None:
    """Answer until standard input ends."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
                await reader.readexactly(int(length.partition(b":")[2]))
                await asyncio.sleep(seconds)
                writer.write(REPLY)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=256)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
