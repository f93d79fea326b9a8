import type { Clock } from '@svc/runtime';
import type { HelperConnection } from '../helper/helper-connection.ts';
import type { HelperStream, Channel, Outcome } from '../helper/helper-stream.ts';
import { exitStatusOf, type ExitStatus } from '../helper/exit-status.ts';
import type { SandboxNotice } from '../notice.ts';

export interface CommandRequest {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; null for the home directory. */
  readonly cwd: string | null;
  /** A user of the sandbox, by name or number; null for root. */
  readonly user: string | null;
  readonly stdin: Uint8Array;
  readonly timeoutMs: number;
}

export interface CommandListener {
  started?(pid: number): void;
  /** Call `done` once the bytes have been passed on: the command waits for it. */
  output(bytes: Buffer, channel: Channel, done: () => void): void;
  /** Something is about to happen to the sandbox. */
  notice?(notice: SandboxNotice): void;
}

export interface CommandEnd extends ExitStatus {
  readonly timedOut: boolean;
  readonly durationMs: number;
  /** The connection to the sandbox was lost before the command ended. */
  readonly lost: boolean;
}

/** A command that ignores SIGTERM is killed after this delay, and abandoned after the same delay again. */
const KILL_AFTER_MS = 2_000;

const CANCELLED: Outcome = { ok: false, code: 'ABORTED', message: 'the command was cancelled' };

/** Runs one command with pipes until it ends, times out, or the signal aborts. */
export async function runCommand(
  connection: HelperConnection,
  request: CommandRequest,
  listener: CommandListener,
  clock: Clock,
  signal: AbortSignal,
): Promise<CommandEnd> {
  const { argv, env, cwd, user, stdin, timeoutMs } = request;
  if (user !== null) connection.require('users');
  const startedAtMs = clock.nowMs();
  const stream: HelperStream = connection.start(
    { op: 'process.start', argv, env, ...(cwd === null ? {} : { cwd }), ...(user === null ? {} : { user }) },
    {
      event: ({ type, pid }) => {
        if (type === 'started') listener.started?.(typeof pid === 'number' ? pid : 0);
      },
      data: (bytes, channel) => listener.output(bytes, channel, () => stream.consumed(bytes.length)),
    },
  );
  const limit = limitTime(stream, timeoutMs, clock);
  const abandon = (): void => stream.abandon(); // the helper ends the command
  signal.addEventListener('abort', abandon, { once: true });
  if (signal.aborted) abandon();
  const typed = stream.write(stdin).then(() => stream.finishInput());
  try {
    const outcome = await Promise.race([stream.outcome, limit.givenUp]);
    const durationMs = clock.nowMs() - startedAtMs;
    const lost = !outcome.ok && outcome.code === 'LOST';
    return { ...exitStatusOf(outcome), timedOut: limit.isOver(), durationMs, lost };
  } finally {
    limit.cancel();
    signal.removeEventListener('abort', abandon);
    stream.abandon(); // no-op if it has ended
    await typed; // ends with the stream
  }
}

interface TimeLimit {
  isOver(): boolean;
  /** Resolves when the command survives even SIGKILL, which only happens with a broken helper. */
  readonly givenUp: Promise<Outcome>;
  cancel(): void;
}

function limitTime(stream: HelperStream, timeoutMs: number, clock: Clock): TimeLimit {
  const { promise: givenUp, resolve } = Promise.withResolvers<Outcome>();
  let over = false;
  let cancel = clock.setTimer(() => {
    over = true;
    stream.control({ type: 'signal', name: 'SIGTERM' });
    cancel = clock.setTimer(() => {
      stream.control({ type: 'signal', name: 'SIGKILL' });
      cancel = clock.setTimer(() => resolve(CANCELLED), KILL_AFTER_MS);
    }, KILL_AFTER_MS);
  }, timeoutMs);
  return { isOver: () => over, givenUp, cancel: () => cancel() };
}
