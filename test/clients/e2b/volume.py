"""Uses the files of a volume with the installed version of the PyPI package `e2b`, as its documentation does: without a
sandbox, and together with one that mounts the volume. First synchronous, then asynchronous. Prints each step."""

import asyncio
import inspect
from importlib.metadata import version
from io import BytesIO

from e2b import AsyncSandbox, AsyncVolume, Sandbox, Volume

VERSION = version("e2b")


def expect(what, is_so):
    if not is_so:
        raise AssertionError(f"{VERSION}: {what}")
    print(what)


async def settled(value):
    """Waits for what the asynchronous classes return."""
    return await value if inspect.isawaitable(value) else value


async def refused(call):
    try:
        await settled(call())
    except Exception as error:  # each version has its own classes
        return error
    return None


async def collect(stream):
    stream = await settled(stream)
    if hasattr(stream, "__aiter__"):
        return b"".join([chunk async for chunk in stream])
    return b"".join(stream)


async def use_volume(volume):
    written = await settled(volume.write_file("/hello.txt", "hello", uid=1000, gid=1000, mode=0o640))
    expect("writes a file", (written.size, written.uid, written.mode) == (5, 1000, 0o640))
    expect("reads text", await settled(volume.read_file("/hello.txt")) == "hello")
    content = bytes(index % 251 for index in range(3_000_000))
    await settled(volume.write_file("/large", BytesIO(content)))
    expect("streams both ways", await collect(volume.read_file("/large", format="stream")) == content)
    expect("reads bytes", await settled(volume.read_file("/large", format="bytes")) == content)
    await settled(volume.make_dir("/a/b", force=True))
    paths = [entry.path for entry in await settled(volume.list("/", depth=2))]
    expect("lists folders", paths == ["/a", "/a/b", "/hello.txt", "/large"])
    changed = await settled(volume.update_metadata("/hello.txt", mode=0o600))
    expect("changes metadata", changed.mode == 0o600 and changed.mtime.year >= 2026)
    expect("reports a missing path", await refused(lambda: volume.read_file("/none")) is not None)
    expect("knows what exists", await settled(volume.exists("/large")) and not await settled(volume.exists("/none")))
    refusal = await refused(lambda: volume.write_file("/large", "", force=False))
    expect("refuses to overwrite", refusal is not None and "exists" in str(refusal))


async def use_sandbox(volume, sandbox):
    await settled(sandbox.commands.run("cat /data/large > /data/copy; ln -s /etc/passwd /data/link"))
    expect("shares files with a sandbox", (await settled(volume.get_info("/copy"))).size == 3_000_000)
    await settled(volume.write_file("/from-sdk", "while it runs"))
    expect("writes beside a sandbox", await settled(sandbox.files.read("/data/from-sdk")) == "while it runs")
    for path in ("/link", "/../etc/passwd", "/proc/self/environ"):
        expect(f"keeps {path} inside", await refused(lambda: volume.read_file(path)) is not None)


async def smoke(volume_class, sandbox_class):
    name = f"pypi-{VERSION.replace('.', '-')}-{volume_class.__name__}"
    volume = await settled(volume_class.create(name))
    try:
        await use_volume(volume)
        mounts = {"/data": volume}
        sandbox = await settled(sandbox_class.create("busybox", timeout=120, volume_mounts=mounts))
        try:
            await use_sandbox(volume, sandbox)
        finally:
            await settled(sandbox.kill())
        again = await settled(volume_class.connect(volume.volume_id))
        await settled(again.remove("/a"))
        expect("removes a folder", not await settled(again.exists("/a")))
    finally:
        expect("destroys", await settled(volume_class.destroy(volume.volume_id)))


for classes in ((Volume, Sandbox), (AsyncVolume, AsyncSandbox)):
    asyncio.run(smoke(*classes))
