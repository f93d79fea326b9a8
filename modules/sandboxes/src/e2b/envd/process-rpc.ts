import type { Clock } from '@svc/runtime';
import { isAppError } from '@svc/errors';
import type { ExitStatus } from '../../domain/helper/exit-status.ts';
import type { ProcessSelector } from '../../domain/processes/process-info.ts';
import type { ProcessRequest, ProcessService, SandboxProcesses } from '../../domain/processes/process-service.ts';
import type { ProcessOutput, ProcessStream } from '../../domain/processes/process-stream.ts';
import { sandboxErrors } from '../../errors.ts';
import { isMissingUser, usualUser } from './users.ts';
import { withKeepalive } from './keepalive.ts';
import {
  describeProcess,
  type InputEventMessage,
  type InputMessage,
  type InputRequestMessage,
  type ProcessEventMessage,
  type SelectedMessage,
  type SignalMessage,
  type StartMessage,
  type UpdateMessage,
} from './messages/process.ts';
import type { Call, RpcService } from './rpc-service.ts';

/** Clients run every command with this shell, which small images do not have. */
const BASH = '/bin/bash';
const SHELL = '/bin/sh';
const SIGNALS: Readonly<Record<number, string>> = { 9: 'SIGKILL', 15: 'SIGTERM' };
const DEFAULT_SIZE = { cols: 80, rows: 24 };
const KEEPALIVE: ProcessEventMessage = { event: { event: { case: 'keepalive', value: {} } } };

export interface ProcessRpcDeps {
  readonly processes: ProcessService;
  readonly clock: Clock;
}

/** `process.Process` over the processes of a sandbox. Messages are parsed by their descriptors, hence the casts. */
export function createProcessRpc({ processes, clock }: ProcessRpcDeps): RpcService {
  const action = 'sandbox:exec';
  const of = ({ sandbox, signal }: Call): Promise<SandboxProcesses> =>
    processes.of(sandbox.workspaceUuid, sandbox.id, signal);
  return {
    name: 'process.Process',
    describe: describeProcess,
    methods: {
      Start: { action, stream: (message, call) => start(message as StartMessage, call, clock, of) },
      Connect: { action, stream: (message, call) => connect(message as SelectedMessage, call, clock, of) },
      List: {
        action,
        isUnaudited: true,
        unary: async (_message, call) => ({ processes: await listed(await of(call)) }),
      },
      SendSignal: {
        action,
        unary: async (message, call) => {
          const { signal, ...selected } = message as SignalMessage;
          const name = SIGNALS[signal];
          if (name === undefined) throw invalid('signal', 'is neither SIGTERM nor SIGKILL');
          await (await of(call)).signal(selectorOf(selected), name);
          return {};
        },
      },
      SendInput: {
        action,
        isUnaudited: true,
        unary: async (message, call) => {
          const { input, ...selected } = message as InputRequestMessage;
          await (await of(call)).write(selectorOf(selected), bytesOf(input), call.signal);
          return {};
        },
      },
      StreamInput: {
        action,
        isUnaudited: true,
        collect: async (messages, call) => typeAll(messages as AsyncIterable<InputEventMessage>, await of(call), call),
      },
      CloseStdin: {
        action,
        unary: async (message, call) => {
          await (await of(call)).closeInput(selectorOf(message as SelectedMessage));
          return {};
        },
      },
      Update: {
        action,
        isUnaudited: true,
        unary: async (message, call) => {
          const { pty, ...selected } = message as UpdateMessage;
          await (await of(call)).resize(selectorOf(selected), pty?.size ?? DEFAULT_SIZE);
          return {};
        },
      },
    },
  };
}

type Open = (call: Call) => Promise<SandboxProcesses>;

/** A client that disconnects leaves the process running, until its time limit. */
async function* start(message: StartMessage, call: Call, clock: Clock, open: Open): AsyncGenerator<object, void> {
  const request = toRequest(message, call);
  const stream = await startAdapted(await open(call), request, call.user === null);
  if (message.stdin !== true && request.tty === null) stream.finishInput();
  try {
    yield* follow(stream, request.tty !== null, call, clock);
  } finally {
    stream.close();
  }
}

async function* connect(message: SelectedMessage, call: Call, clock: Clock, open: Open): AsyncGenerator<object, void> {
  const of = await open(call);
  const stream = await of.attach(selectorOf(message));
  try {
    const isTerminal = (await of.list()).some(({ pid, tty }) => pid === stream.pid && tty);
    yield* follow(stream, isTerminal, call, clock);
  } finally {
    stream.close();
  }
}

async function* follow(
  stream: ProcessStream,
  isTerminal: boolean,
  { signal, keepaliveMs }: Call,
  clock: Clock,
): AsyncGenerator<ProcessEventMessage, void> {
  const close = (): void => stream.close();
  signal.addEventListener('abort', close, { once: true });
  try {
    yield { event: { event: { case: 'start', value: { pid: stream.pid } } } };
    yield* withKeepalive(eventsOf(stream, isTerminal), KEEPALIVE, keepaliveMs, clock, signal);
  } finally {
    signal.removeEventListener('abort', close);
  }
}

async function* eventsOf(stream: ProcessStream, isTerminal: boolean): AsyncGenerator<ProcessEventMessage, void> {
  for await (const output of stream.output())
    yield { event: { event: { case: 'data', value: toOutputMessage(output, isTerminal) } } };
  yield { event: { event: { case: 'end', value: toEndMessage(await stream.exit()) } } };
}

function toOutputMessage({ channel, bytes }: ProcessOutput, isTerminal: boolean) {
  const name = isTerminal ? 'pty' : channel === 1 ? 'stdout' : 'stderr';
  return { output: { case: name, value: bytes } } as const;
}

/** The words of Go's exec, which clients show: `exit status 1`, `signal: killed`. */
function toEndMessage({ exitCode, signal }: ExitStatus) {
  const status = signal === null ? `exit status ${exitCode}` : `signal: ${signal}`;
  const isFailed = signal !== null || exitCode !== 0;
  // A process that a signal ended has no exit code of its own.
  return {
    exitCode: signal === null ? exitCode : -1,
    exited: signal === null,
    status,
    ...(isFailed ? { error: status } : {}),
  };
}

/** Starts the process as the default user where there is one, and with another shell where bash is missing. */
async function startAdapted(
  of: SandboxProcesses,
  request: ProcessRequest,
  isDefaultUser: boolean,
): Promise<ProcessStream> {
  try {
    return await of.start(request);
  } catch (error) {
    if (isDefaultUser && isMissingUser(error)) return startAdapted(of, { ...request, user: null }, false);
    const isMissing = isAppError(error) && error.code === 'COMMAND_NOT_FOUND' && request.argv[0] === BASH;
    if (!isMissing) throw error;
    return startAdapted(of, { ...request, argv: [SHELL, ...request.argv.slice(1)] }, isDefaultUser);
  }
}

function toRequest({ process, pty, tag }: StartMessage, { sandbox, user, timeoutMs }: Call): ProcessRequest {
  if (process === undefined || process.cmd === '') throw invalid('process', 'is missing');
  const { cmd, args, envs, cwd } = process;
  const size = pty?.size;
  return {
    argv: [cmd, ...args],
    env: envs,
    cwd: cwd === undefined || cwd === '' ? (sandbox.template?.workingFolder ?? null) : cwd,
    user: user ?? usualUser(sandbox),
    tag: tag ?? null,
    timeoutMs,
    tty: pty === undefined ? null : size === undefined ? DEFAULT_SIZE : { cols: size.cols, rows: size.rows },
  };
}

async function listed(of: SandboxProcesses): Promise<object[]> {
  return (await of.list()).map(({ pid, tag, argv: [cmd = '', ...args], env, cwd }) => ({
    pid,
    ...(tag === null ? {} : { tag }),
    config: { cmd, args, envs: env, cwd },
  }));
}

/** The first event selects the process; the others are its input, in order. */
async function typeAll(events: AsyncIterable<InputEventMessage>, of: SandboxProcesses, call: Call): Promise<object> {
  let selector: ProcessSelector | null = null;
  for await (const { event } of events) {
    if (event.case === 'start') selector = selectorOf(event.value);
    if (event.case !== 'data') continue;
    if (selector === null) throw invalid('event', 'is data before the start');
    await of.write(selector, bytesOf(event.value.input), call.signal);
  }
  return {};
}

function selectorOf({ process }: SelectedMessage): ProcessSelector {
  const selector = process?.selector;
  if (selector?.case === 'pid') return { pid: selector.value };
  if (selector?.case === 'tag' && selector.value !== '') return { tag: selector.value };
  throw invalid('process', 'names neither a pid nor a tag');
}

function bytesOf(input: InputMessage | undefined): Uint8Array {
  if (input?.input.case === undefined) throw invalid('input', 'is missing');
  return input.input.value;
}

function invalid(field: string, reason: string): Error {
  return sandboxErrors.INVALID_FIELD({ details: { field, reason } });
}
