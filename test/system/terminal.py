"""Drives a sandbox terminal as a plain client of the Python library websockets does.

Reads {"url", "token"} as JSON from standard input and prints what happened as JSON: the size of the terminal before and
after a resize, the output of a command, and how the connection was closed after `exit 7`.
"""
import asyncio
import json
import sys

import websockets

TIMEOUT_SECONDS = 60


async def read_until(socket, marker):
    text = ""
    while marker not in text:
        frame = await asyncio.wait_for(socket.recv(), TIMEOUT_SECONDS)
        text += frame if isinstance(frame, str) else frame.decode("utf-8", "replace")
    return text


async def size_of(socket, marker):
    # The marker is built by the shell, so that its echo of the typed line is not taken for the answer.
    await socket.send(("stty size; echo %s$((1+1))\n" % marker).encode())
    text = await read_until(socket, marker + "2")
    lines = [line.strip() for line in text.replace("\r", "\n").split("\n")]
    return next(line for line in reversed(lines) if line.replace(" ", "").isdigit() and " " in line)


async def main():
    given = json.load(sys.stdin)
    headers = {"Authorization": "Bearer " + given["token"]}
    major = int(websockets.__version__.split(".")[0])
    option = {"additional_headers": headers} if major >= 14 else {"extra_headers": headers}
    async with websockets.connect(given["url"], **option) as socket:
        before = await size_of(socket, "before")
        await socket.send(json.dumps({"type": "resize", "cols": 120, "rows": 40}))
        after = await size_of(socket, "after")
        await socket.send(b"echo sum $((40+2))\n")
        output = await read_until(socket, "sum 42")
        await socket.send(b"exit 7\n")
        try:
            while True:
                await asyncio.wait_for(socket.recv(), TIMEOUT_SECONDS)
        except websockets.exceptions.ConnectionClosed as closed:
            code, reason = (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (None, "")
    print(json.dumps({"before": before, "after": after, "output": output, "code": code, "reason": reason}))


asyncio.run(main())
