import type { AgentConnection } from '../helper/agent-connection.ts';
import type { AgentStream, Channel, Outcome } from '../helper/agent-stream.ts';
import { exitStatusOf, type ExitStatus } from '../helper/exit-status.ts';
import type { Effects } from '../ports.ts';

export interface CommandRequest {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; null = the home directory. */
  readonly cwd: string | null;
  readonly stdin: Uint8Array;
  readonly timeoutMs: number;
}

export interface CommandListener {
  started?(pid: number): void;
  /** `done` is to be called when the bytes have been passed on: the command waits for it. */
  output(bytes: Buffer, channel: Channel, done: () => void): void;
}

export interface CommandEnd extends ExitStatus {
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** The sandbox went before the command had ended. */
  readonly lost: boolean;
}

/** A command that does not heed SIGTERM is killed after this, and given up after as long again. */
const KILL_AFTER_MS = 2_000;

const GIVEN_UP: Outcome = { ok: false, code: 'ABORTED', message: 'the command was given up' };

/** Runs one command with pipes until it ends, its time is over, or nobody waits for it any more. */
export async function runCommand(
  connection: AgentConnection,
  request: CommandRequest,
  listener: CommandListener,
  effects: Effects,
  signal: AbortSignal,
): Promise<CommandEnd> {
  const { argv, env, cwd, stdin, timeoutMs } = request;
  const startedAtMs = effects.now().getTime();
  const stream: AgentStream = connection.start(
    { op: 'process.start', argv, env, ...(cwd === null ? {} : { cwd }) },
    {
      event: ({ type, pid }) => {
        if (type === 'started') listener.started?.(typeof pid === 'number' ? pid : 0);
      },
      data: (bytes, channel) => listener.output(bytes, channel, () => stream.consumed(bytes.length)),
    },
  );
  const limit = limitTime(stream, timeoutMs, effects);
  const abandon = (): void => stream.abandon(); // the helper ends it
  signal.addEventListener('abort', abandon, { once: true });
  if (signal.aborted) abandon();
  const typed = stream.write(stdin).then(() => stream.finishInput());
  try {
    const outcome = await Promise.race([stream.outcome, limit.givenUp]);
    const durationMs = effects.now().getTime() - startedAtMs;
    const lost = !outcome.ok && outcome.code === 'LOST';
    return { ...exitStatusOf(outcome), timedOut: limit.isOver(), durationMs, lost };
  } finally {
    limit.cancel();
    signal.removeEventListener('abort', abandon);
    stream.abandon(); // no-op for one that ended
    await typed; // ends with the stream
  }
}

interface TimeLimit {
  isOver(): boolean;
  /** Resolves when the command outlives even SIGKILL, which only a broken helper lets happen. */
  readonly givenUp: Promise<Outcome>;
  cancel(): void;
}

function limitTime(stream: AgentStream, timeoutMs: number, effects: Effects): TimeLimit {
  const { promise: givenUp, resolve } = Promise.withResolvers<Outcome>();
  let over = false;
  let cancel = effects.setTimer(() => {
    over = true;
    stream.control({ type: 'signal', name: 'SIGTERM' });
    cancel = effects.setTimer(() => {
      stream.control({ type: 'signal', name: 'SIGKILL' });
      cancel = effects.setTimer(() => resolve(GIVEN_UP), KILL_AFTER_MS);
    }, KILL_AFTER_MS);
  }, timeoutMs);
  return { isOver: () => over, givenUp, cancel: () => cancel() };
}
