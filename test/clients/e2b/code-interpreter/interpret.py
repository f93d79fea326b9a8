"""Uses the PyPI package `e2b_code_interpreter` as its documentation does: first the synchronous class, then the
asynchronous one. Prints each step."""

import asyncio
import inspect

from e2b import NotFoundException, SandboxException, TimeoutException
from e2b_code_interpreter import AsyncSandbox, Sandbox

RICH = '''
class Rich:
    def _repr_html_(self): return "<b>rich</b>"
    def _repr_png_(self): return b"\\x89PNG"
    def _repr_json_(self): return {"rich": True}
Rich()'''


def expect(what, is_so):
    if not is_so:
        raise AssertionError(what)
    print(what)


async def settled(value):
    """Waits for what the asynchronous class returns."""
    return await value if inspect.isawaitable(value) else value


async def failure(call):
    try:
        await settled(call())
        return None
    except Exception as error:
        return error


async def use_results(run):
    first = await run("x = 20")
    expect("runs code without a result", first.text is None and first.results == [])
    second = await run("x + 1")
    expect("keeps its state", second.text == "21" and second.results[0].is_main_result)
    expect("counts executions", second.execution_count == first.execution_count + 1)
    rich = (await run(RICH)).results[0]
    expect("returns rich results", (rich.html, rich.png.strip(), rich.json) == ("<b>rich</b>", "iVBORw==", {"rich": True}))
    error = (await run("1 / 0")).error
    expect("names errors", (error.name, error.value) == ("ZeroDivisionError", "division by zero"))
    expect("traces errors", "ZeroDivisionError" in error.traceback)
    lines, results, errors = [], [], []
    code = 'import sys\nprint("one")\nprint("two", file=sys.stderr)\n3'
    await run(code, on_stdout=lines.append, on_stderr=lines.append, on_result=results.append)
    is_told = sorted((str(line).strip(), line.error) for line in lines) == [("one", False), ("two", True)]
    expect("calls back", is_told and results[0].text == "3")
    await run('int("x")', on_error=errors.append)
    expect("calls back for errors", errors[0].name == "ValueError")


async def use_contexts(sandbox, run):
    other = await settled(sandbox.create_code_context(cwd="/tmp"))
    place = await run("import os; os.getcwd()", context=other)
    expect("makes a context in a folder", (place.text, other.cwd, other.language) == ("/tmp", "/tmp", "python"))
    expect("keeps contexts apart", (await run("x", context=other)).error.name == "NameError")
    listed = await settled(sandbox.list_code_contexts())
    expect("lists contexts", other.id in [context.id for context in listed])
    await settled(sandbox.restart_code_context(other))
    expect("restarts a context", (await run("1 + 1", context=other)).text == "2")
    await settled(sandbox.remove_code_context(other))
    gone = await failure(lambda: sandbox.run_code("1", context=other))
    expect("removes a context", isinstance(gone, NotFoundException))


async def use_limits(sandbox, run):
    read = 'import os; os.environ.get("FROM_SANDBOX"), os.environ.get("OWN")'
    expect("passes variables", (await run(read, envs={"OWN": "too"})).text == "('yes', 'too')")
    expect("forgets variables of a run", (await run(read)).text == "('yes', None)")
    late = await failure(lambda: sandbox.run_code("while True: pass", timeout=0.5))
    expect("stops code at its timeout", isinstance(late, TimeoutException) and (await run("x")).text == "20")
    refused = await failure(lambda: sandbox.run_code("1", language="r"))
    expect("refuses other languages", isinstance(refused, SandboxException) and "no kernel for r" in str(refused))


async def interpret(kind):
    sandbox = await settled(kind.create(timeout=120, envs={"FROM_SANDBOX": "yes"}))

    async def run(code, **options):
        return await settled(sandbox.run_code(code, **options))

    try:
        await use_results(run)
        await use_contexts(sandbox, run)
        await use_limits(sandbox, run)
    finally:
        await settled(sandbox.kill())
        print("kills")


for sandbox_class in (Sandbox, AsyncSandbox):
    asyncio.run(interpret(sandbox_class))
