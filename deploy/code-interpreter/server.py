"""Runs code in Jupyter kernels for clients of E2B's code interpreter, on port 49999.

POST /execute streams events as lines of JSON; /contexts lists, creates, restarts and removes kernels. Needs
jupyter_client and tornado, which ipykernel brings along.
"""

import asyncio
import json
import os
import queue
import sys
import time
import uuid

from jupyter_client import AsyncKernelManager
from tornado import httpserver, iostream, web

PORT = 49999
MAX_CONTEXTS = 20
MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_EVENT_BYTES = 64 * 1024 * 1024
KERNEL_START_SECONDS = 60
POLL_SECONDS = 1
LANGUAGES = ("python", "python3")

# The parts of a result, by the names that clients give them.
FORMATS = {
    "text/html": "html",
    "text/markdown": "markdown",
    "image/svg+xml": "svg",
    "image/png": "png",
    "image/jpeg": "jpeg",
    "application/pdf": "pdf",
    "text/latex": "latex",
    "application/json": "json",
    "application/javascript": "javascript",
}


class Refused(Exception):
    """A request that cannot be served, with its status."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Context:
    """One kernel, which runs one piece of code at a time and keeps its variables."""

    def __init__(self, cwd):
        self.id = str(uuid.uuid4())
        self.cwd = cwd
        self.turn = asyncio.Lock()
        self.manager = AsyncKernelManager(kernel_name="python3")
        self.client = None

    def describe(self):
        return {"id": self.id, "language": "python", "cwd": self.cwd}

    async def start(self):
        try:
            await self.manager.start_kernel(cwd=self.cwd)
            await self.connect()
        except BaseException:
            await self.stop()
            raise

    async def connect(self):
        self.client = self.manager.client()
        self.client.start_channels()
        await self.client.wait_for_ready(timeout=KERNEL_START_SECONDS)

    async def stop(self):
        client, self.client = self.client, None
        if self.manager.has_kernel:
            await self.manager.shutdown_kernel(now=True)
        if client is not None:
            async with self.turn:
                client.stop_channels()

    async def restart(self):
        client, self.client = self.client, None
        if client is None:
            raise Refused(409, f"Context {self.id} is being restarted or removed")
        await self.manager.restart_kernel(now=True)
        async with self.turn:  # code in progress notices that its client was replaced
            client.stop_channels()
            await self.connect()

    async def run(self, code, env, send):
        """Runs code and sends its events until the kernel is idle again."""
        async with self.turn:
            client = self.client
            if client is None:
                raise Refused(409, f"Context {self.id} is being restarted or removed")
            try:
                if env:
                    client.execute(with_variables(env), silent=True, store_history=False)
                request = client.execute(code, allow_stdin=False, stop_on_error=False)
                await self.follow(client, request, send)
            except BaseException:
                # The client has left, so its code need not go on.
                if self.client is client and self.manager.has_kernel:
                    await self.manager.interrupt_kernel()
                raise
            finally:
                if env and self.client is client:
                    client.execute(WITHOUT_VARIABLES, silent=True, store_history=False)

    async def follow(self, client, request, send):
        while True:
            try:
                message = await client.get_iopub_msg(timeout=POLL_SECONDS)
            except queue.Empty:
                if self.client is not client:
                    await send(failure("ContextRestarted", "The context was restarted or removed while its code ran"))
                    return
                if not await self.manager.is_alive():
                    await send(failure("KernelDied", "The kernel ended while it ran the code; its variables are lost"))
                    await self.manager.restart_kernel(now=True)
                    client.stop_channels()
                    await self.connect()
                    return
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                return
            event = to_event(kind, content)
            if event is not None:
                await send(event)


def failure(name, value):
    return {"type": "error", "name": name, "value": value, "traceback": f"{name}: {value}"}


def to_event(kind, content):
    """Returns the event for a message of the kernel; None for those that clients do not see."""
    if kind == "stream":
        return {"type": content["name"], "text": content["text"], "timestamp": time.time_ns()}
    if kind in ("execute_result", "display_data"):
        return to_result(content["data"], is_main=kind == "execute_result")
    if kind == "error":
        traceback = "\n".join(content["traceback"])
        return {"type": "error", "name": content["ename"], "value": content["evalue"], "traceback": traceback}
    if kind == "execute_input":
        return {"type": "number_of_executions", "execution_count": content["execution_count"]}
    return None


def to_result(data, is_main):
    event = {"type": "result", "is_main_result": is_main}
    extra = {}
    for mime_type, value in data.items():
        if mime_type == "text/plain":
            event["text"] = without_quotes(value)
        elif mime_type in FORMATS:
            event[FORMATS[mime_type]] = value
        else:
            extra[mime_type] = value
    if extra:
        event["extra"] = extra
    return event


def without_quotes(text):
    """Clients expect the text of a string without its quotes."""
    is_quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if is_quoted else text


def with_variables(env):
    """Returns code that sets variables for one run. They arrive as JSON in a string, so that none is code."""
    text = json.dumps(json.dumps(env))
    return (
        "import os as _svc_os, json as _svc_json\n"
        f"_svc_env = _svc_json.loads({text})\n"
        "_svc_before = {name: _svc_os.environ.get(name) for name in _svc_env}\n"
        "_svc_os.environ.update(_svc_env)\n"
    )


WITHOUT_VARIABLES = """
for _svc_name, _svc_value in globals().pop("_svc_before", {}).items():
    if _svc_value is None:
        _svc_os.environ.pop(_svc_name, None)
    else:
        _svc_os.environ[_svc_name] = _svc_value
for _svc_name in ("_svc_env", "_svc_os", "_svc_json", "_svc_value", "_svc_name"):
    globals().pop(_svc_name, None)
"""


class Contexts:
    """The contexts of the sandbox. The default one is there from the start."""

    def __init__(self, cwd):
        self.cwd = cwd
        self.default = None
        self.by_id = {}
        self.starting = 0

    async def create(self, cwd=None):
        if len(self.by_id) + self.starting >= MAX_CONTEXTS:
            raise Refused(429, f"A sandbox has at most {MAX_CONTEXTS} contexts")
        folder = cwd or self.cwd
        if not os.path.isdir(folder):
            raise Refused(400, f"{folder} is not a folder")
        self.starting += 1
        try:
            context = Context(folder)
            await context.start()
        finally:
            self.starting -= 1
        self.by_id[context.id] = context
        return context

    async def start_default(self):
        self.default = await self.create()

    def get(self, context_id):
        context = self.default if context_id is None else self.by_id.get(context_id)
        if context is None:
            raise Refused(404, f"Context {context_id or 'default'} not found")
        return context

    async def remove(self, context_id):
        context = self.get(context_id)
        del self.by_id[context.id]
        if context is self.default:
            self.default = None
        await context.stop()


class Handler(web.RequestHandler):
    def initialize(self, contexts):
        self.contexts = contexts

    def body(self):
        try:
            value = json.loads(self.request.body or b"{}")
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise Refused(400, "The body is not a JSON object")
        return value

    def text(self, body, name):
        value = body.get(name)
        if value is not None and not isinstance(value, str):
            raise Refused(400, f"{name} is not a string")
        return value

    def assert_language(self, body):
        language = self.text(body, "language")
        if language is not None and language.lower() not in LANGUAGES:
            raise Refused(400, f"This template has no kernel for {language}; it runs python")

    def reply(self, value, status=200):
        self.set_status(status)
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(value))

    def write_error(self, status_code, **kwargs):
        error = kwargs.get("exc_info", (None, None, None))[1]
        status = error.status if isinstance(error, Refused) else status_code
        message = str(error) if isinstance(error, Refused) else self._reason
        self.reply({"code": status, "message": message}, status)

    def log_exception(self, kind, value, trace):
        if not isinstance(value, (Refused, iostream.StreamClosedError)):
            super().log_exception(kind, value, trace)


class Health(Handler):
    async def get(self):
        self.contexts.get(None)
        self.finish("")


class Execute(Handler):
    async def post(self):
        body = self.body()
        code, context_id = self.text(body, "code"), self.text(body, "context_id")
        if code is None:
            raise Refused(400, "code is missing")
        env = body.get("env_vars") or {}
        if not isinstance(env, dict) or not all(isinstance(value, str) for value in env.values()):
            raise Refused(400, "env_vars is not an object of strings")
        self.assert_language(body)
        context = self.contexts.get(context_id)
        self.set_header("Content-Type", "application/x-ndjson")
        await self.follow_until_closed(context.run(code, env, self.send))
        await self.send({"type": "end_of_execution"})

    async def follow_until_closed(self, run):
        """Ends the run when its client leaves, even if the code prints nothing."""
        self.run = asyncio.ensure_future(run)
        try:
            await self.run
        except asyncio.CancelledError:
            raise iostream.StreamClosedError() from None

    def on_connection_close(self):
        run = getattr(self, "run", None)
        if run is not None:
            run.cancel()

    async def send(self, event):
        line = json.dumps(event).encode() + b"\n"
        if len(line) > MAX_EVENT_BYTES:
            line = json.dumps(failure("OutputTooLarge", f"One output exceeds {MAX_EVENT_BYTES} bytes")).encode() + b"\n"
        self.write(line)
        await self.flush()


class ContextList(Handler):
    async def get(self):
        self.reply([context.describe() for context in self.contexts.by_id.values()])

    async def post(self):
        body = self.body()
        self.assert_language(body)
        context = await self.contexts.create(self.text(body, "cwd"))
        self.reply(context.describe())


class OneContext(Handler):
    async def delete(self, context_id):
        await self.contexts.remove(context_id)
        self.set_status(204)
        self.finish()


class ContextRestart(Handler):
    async def post(self, context_id):
        await self.contexts.get(context_id).restart()
        self.set_status(204)
        self.finish()


async def main():
    contexts = Contexts(os.environ.get("HOME") or os.getcwd())
    given = {"contexts": contexts}
    application = web.Application(
        [
            ("/health", Health, given),
            ("/execute", Execute, given),
            ("/contexts", ContextList, given),
            ("/contexts/([0-9a-f-]{1,64})", OneContext, given),
            ("/contexts/([0-9a-f-]{1,64})/restart", ContextRestart, given),
        ],
        log_function=lambda handler: None,
    )
    server = httpserver.HTTPServer(application, max_body_size=MAX_BODY_BYTES)
    await contexts.start_default()
    server.listen(int(sys.argv[1]) if len(sys.argv) > 1 else PORT, "127.0.0.1")
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
