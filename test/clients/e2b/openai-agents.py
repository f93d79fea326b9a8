"""The E2B provider of the OpenAI Agents SDK: an agent that works in a sandbox, and what its sessions can do."""

import asyncio
import io
import json
from pathlib import Path

from agents import ModelResponse, RunConfig, Runner, Usage, set_tracing_disabled
from agents.extensions.sandbox.e2b import E2BSandboxClient, E2BSandboxClientOptions
from agents.models.interface import Model
from agents.sandbox import Manifest, SandboxAgent, SandboxRunConfig
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

OPTIONS = {"sandbox_type": "e2b", "template": "busybox", "timeout": 300}


class Script(Model):
    """Stands in for a language model: calls the tools in order, then answers with all that they returned."""

    def __init__(self, calls):
        self.calls = list(calls)

    async def get_response(self, system_instructions, input, *rest, **more):
        if self.calls:
            name, arguments = self.calls.pop(0)
            output = ResponseFunctionToolCall(
                type="function_call", call_id=f"call-{len(self.calls)}", name=name, arguments=json.dumps(arguments)
            )
        else:
            results = [str(item["output"]) for item in input if item.get("type") == "function_call_output"]
            text = ResponseOutputText(type="output_text", text="\n".join(results), annotations=[])
            output = ResponseOutputMessage(
                id="message", type="message", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *rest, **more):
        raise NotImplementedError


async def agent_works():
    calls = [
        ("exec_command", {"cmd": "echo made > note.txt; pwd"}),
        ("exec_command", {"cmd": "cat note.txt; exit 3"}),
    ]
    agent = SandboxAgent(name="worker", instructions="Work.", model=Script(calls), default_manifest=Manifest())
    sandbox = SandboxRunConfig(client=E2BSandboxClient(), options=E2BSandboxClientOptions(**OPTIONS))
    result = await Runner.run(agent, "Begin.", run_config=RunConfig(sandbox=sandbox))
    for part in ("/workspace", "made", "exited with code 3"):
        assert part in result.final_output, result.final_output
    print("works")


async def session_lives(persistence):
    """Writes, runs, types into a terminal, saves and restores the workspace, and attaches again."""
    client = E2BSandboxClient()
    options = E2BSandboxClientOptions(
        **OPTIONS, exposed_ports=(8080,), workspace_persistence=persistence, envs={"COLOR": "green"}
    )
    session = await client.create(options=options)
    await session.start()
    path = Path("data/one.txt")
    await session.write(path, io.BytesIO(b"one"))
    done = await session.exec("sh", "-c", "echo $COLOR; echo wrong >&2; exit 4", shell=False)
    assert (done.exit_code, done.stdout, done.stderr) == (4, b"green\n", b"wrong\n"), done
    assert [entry.path for entry in await session.ls(Path("data"))] == ["/workspace/data/one.txt"]
    terminal = await session.pty_exec_start("sh", shell=False, tty=True)
    typed = await session.pty_write_stdin(session_id=terminal.process_id, chars="echo $((6*7))\n")
    assert b"42" in terminal.output + typed.output, typed
    await session.pty_terminate_all()
    assert (await session.resolve_exposed_port(8080)).host.startswith("8080-")
    saved = await session.persist_workspace()
    await session.exec("rm", "-r", "data", shell=False)
    await session.hydrate_workspace(saved)
    assert (await session.read(path)).read() == b"one"
    state = client.deserialize_session_state(json.loads(session.state.model_dump_json()))
    attached = await client.resume(state)
    await attached.start()
    assert (await attached.read(path)).read() == b"one"
    await attached.aclose()
    assert not await attached.running()
    print("lives")


async def main():
    set_tracing_disabled(True)
    await agent_works()
    for persistence in ("tar", "snapshot"):
        await session_lives(persistence)


asyncio.run(main())
