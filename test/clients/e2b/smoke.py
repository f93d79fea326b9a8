"""Uses the installed version of the PyPI package `e2b` as its documentation does: first the synchronous classes, then the
asynchronous ones. Prints each step."""

import asyncio
import inspect
import time
import urllib.request
from importlib.metadata import version

from e2b import AsyncSandbox, CommandExitException, Sandbox, SandboxQuery

VERSION = version("e2b")


def expect(what, is_so):
    if not is_so:
        raise AssertionError(f"{VERSION}: {what}")
    print(what)


async def settled(value):
    """Waits for what the asynchronous classes return."""
    return await value if inspect.isawaitable(value) else value


async def until(what, is_so):
    deadline = time.monotonic() + 15
    while not await settled(is_so()) and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    expect(what, await settled(is_so()))


def fetch(url, data=None, kind=None):
    headers = {} if kind is None else {"content-type": kind}
    with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as response:
        return response.read()


async def use_commands(sandbox):
    run = sandbox.commands.run
    foreground = await settled(run('echo "$FROM_SANDBOX $OWN"; id -un', envs={"OWN": "too"}))
    expect("runs a command", foreground.exit_code == 0 and foreground.stdout == "yes too\nuser\n")
    try:
        await settled(run("echo no >&2; exit 3"))
        failed = None
    except CommandExitException as error:
        failed = error
    expect("reports a failure", failed is not None and (failed.exit_code, failed.stderr) == (3, "no\n"))

    streamed = []
    command = "read line; echo got $line"
    background = await settled(run(command, background=True, stdin=True))
    listed = await settled(sandbox.commands.list())
    expect("lists the command", any(process.pid == background.pid for process in listed))
    await settled(sandbox.commands.send_stdin(background.pid, "one\n"))
    waiting = background.wait if isinstance(sandbox, AsyncSandbox) else lambda: background.wait(on_stdout=streamed.append)
    result = await settled(waiting())
    expect("takes input", result.stdout == "got one\n")
    await settled(run("echo streamed", on_stdout=streamed.append))
    expect("streams output", "streamed\n" in streamed)
    sleeping = await settled(run("sleep 1000", background=True))
    expect("kills a command", await settled(sleeping.kill()))


async def use_files(sandbox):
    files = sandbox.files
    changes = []
    await settled(files.make_dir("notes"))
    if isinstance(sandbox, AsyncSandbox):
        watch = await files.watch_dir("notes", on_event=changes.append)
    else:
        watch = files.watch_dir("notes")
    await settled(files.write("notes/today.txt", "remember"))

    def is_told():
        if not isinstance(sandbox, AsyncSandbox):
            changes.extend(watch.get_new_events())
        return any((change.type.value, change.name) == ("write", "today.txt") for change in changes)

    await until("watches a folder", is_told)
    await settled(watch.stop())
    expect("reads a file", await settled(files.read("notes/today.txt")) == "remember")
    expect("lists a folder", [entry.name for entry in await settled(files.list("notes"))] == ["today.txt"])
    url = await settled(sandbox.download_url("notes/today.txt", use_signature_expiration=60))
    expect("downloads by a signed URL", await asyncio.to_thread(fetch, url) == b"remember")
    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="sent.txt"\r\n\r\nuploaded\r\n--b--\r\n'
    url = await settled(sandbox.upload_url("sent.txt"))
    await asyncio.to_thread(fetch, url, form, "multipart/form-data; boundary=b")
    expect("uploads by a signed URL", await settled(files.read("sent.txt")) == "uploaded")


async def use_lifecycle(sandbox, metadata):
    kind = type(sandbox)
    before = (await settled(sandbox.get_info())).end_at
    await settled(sandbox.set_timeout(600))
    expect("changes the timeout", (await settled(sandbox.get_info())).end_at > before)
    mine = await settled(kind.list(query=SandboxQuery(metadata=metadata)).next_items())
    expect("lists by metadata", [each.sandbox_id for each in mine] == [sandbox.sandbox_id])
    await settled((getattr(sandbox, "pause", None) or sandbox.beta_pause)())
    expect("pauses", not await settled(sandbox.is_running()))
    again = await settled(kind.connect(sandbox.sandbox_id, timeout=60))
    expect("resumes with its files", await settled(again.files.read("notes/today.txt")) == "remember")


async def smoke(kind):
    print(f"{kind.__name__} {VERSION}")
    metadata = {"smoke": f"pypi-{VERSION}-{kind.__name__}"}
    sandbox = await settled(kind.create("busybox", timeout=120, metadata=metadata, envs={"FROM_SANDBOX": "yes"}))
    try:
        await use_commands(sandbox)
        await use_files(sandbox)
        await use_lifecycle(sandbox, metadata)
    finally:
        await settled(sandbox.kill())
        expect("kills", not await settled(sandbox.is_running()))


for sandbox_class in (Sandbox, AsyncSandbox):
    asyncio.run(smoke(sandbox_class))
