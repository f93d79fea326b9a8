import type { KubeClient, KubeObject } from '@svc/kube';
import { EXEC_PROTOCOLS } from '@svc/kube/values';
import type { ExecCommand, ExecResult } from '@svc/protocol';
import type { Clock } from '@svc/runtime';
import { toMessageError } from '../commands/error-of.ts';
import type { CommandContext, CommandHandler, CommandInput, CommandOutcome } from '../commands/handler.ts';
import { agentErrors } from '../errors.ts';
import { chooseContainer, findPod } from '../pods/container-choice.ts';
import { containerStatus, whyNotRunning } from '../pods/container-status.ts';
import { ExecConnection } from './exec-connection.ts';
import { parseExecEnd, type ExecEnd } from './exec-end.ts';
import { OutputCapture, type CapturedOutput } from './output-capture.ts';

export interface ExecHandlerOptions {
  client: KubeClient;
  clock: Clock;
  /** Subprotocols to offer, best first; defaults to all known ones. */
  protocols?: readonly string[];
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024;
/**
 * Input that the process does not read is buffered up to this limit; then the command ends, because the sender cannot
 * be throttled.
 */
const MAX_WAITING_INPUT_BYTES = 16 * 1024 * 1024;

/** `exec`: `succeeded` for any command that ran, with its exit code; `failed` only if it could not run. */
export function createExecHandler(options: ExecHandlerOptions): CommandHandler<'exec'> {
  return {
    position: () => 0,
    run: async (payload, context) => {
      const pod = await findPod(options.client, payload, context.signal);
      const container = chooseContainer(pod, payload.container);
      const outcome = await runExec(options, payload, container, context);
      if (outcome.error?.code !== 'KUBERNETES_ERROR') return outcome;
      const refusal = notRunning(pod, container);
      return refusal === null ? outcome : { ...outcome, error: toMessageError(refusal) };
    },
  };
}

/**
 * The kubelet says only that it finds no such container. Checked afterwards, because the earlier pod status may be
 * stale.
 */
function notRunning(pod: KubeObject, container: string): Error | null {
  const why = whyNotRunning(containerStatus(pod, container));
  if (why === null) return null;
  const reason = `container ${container} of pod ${pod.metadata.name} does not run: it ${why}`;
  return agentErrors.CONFLICT({ details: { field: 'container', reason: reason.slice(0, 1000) } });
}

async function runExec(
  { client, clock, protocols = EXEC_PROTOCOLS }: ExecHandlerOptions,
  payload: ExecCommand,
  container: string,
  context: CommandContext,
): Promise<CommandOutcome> {
  const { pod, namespace, command, stdin = false, tty = false } = payload;
  const interactive = stdin || tty;
  let opened: ExecConnection | undefined;
  const capture = new OutputCapture({
    clock,
    send: (piece) => context.output(piece),
    live: interactive || (payload.stream ?? false),
    maxBytes: payload.max_output_bytes ?? (interactive ? Number.MAX_SAFE_INTEGER : DEFAULT_MAX_OUTPUT_BYTES),
    hold: () => opened?.pause(),
    release: () => opened?.resume(),
  });
  const target = { namespace, pod, container, command, stdin, tty };
  const listener = { output: (stream: 'stdout' | 'stderr', data: Buffer) => capture.add(stream, data) };
  const connection = await ExecConnection.open(client, target, listener, context.signal, protocols);
  opened = connection;
  context.progress('running', `in container ${container}`);
  if (tty && payload.rows !== undefined && payload.cols !== undefined) connection.resize(payload.rows, payload.cols);
  const stopped = Promise.withResolvers<Stop>();
  const dismissInput = feedInput(connection, context, { stdin, tty }, stopped.resolve);
  const cancelTimer = startTimeout(clock, payload, interactive, () => stopped.resolve({ status: 'timed_out' }));
  const cancel = (): void => stopped.resolve({ status: 'cancelled', reason: context.signal.reason });
  context.signal.addEventListener('abort', cancel, { once: true });
  if (context.signal.aborted) cancel();
  try {
    const first = await Promise.race([connection.ended.then(parseExecEnd), stopped.promise]);
    if ('status' in first) connection.close();
    const output = await capture.end();
    return 'status' in first ? stoppedOutcome(first, container, output) : endedOutcome(first, container, output);
  } finally {
    cancelTimer();
    dismissInput();
    context.signal.removeEventListener('abort', cancel);
    connection.close();
  }
}

/** Why we left a process that may still be running. */
interface Stop {
  status: 'timed_out' | 'cancelled' | 'failed';
  reason?: unknown;
}

function feedInput(
  connection: ExecConnection,
  context: CommandContext,
  { stdin, tty }: { stdin: boolean; tty: boolean },
  stop: (stop: Stop) => void,
): () => void {
  let ended = false;
  let lastSequence = -1;
  const take = (input: CommandInput): void => {
    if (input.type === 'resize') {
      if (tty) connection.resize(input.rows, input.cols);
      return;
    }
    if (!stdin || ended || input.seq <= lastSequence) return; // a repetition after a reconnect
    lastSequence = input.seq;
    if (input.data.length > 0) connection.write(input.data);
    if (input.eof) {
      ended = true;
      if (!connection.endInput()) {
        context.progress('input', 'this API server cannot close the input of the process');
      }
    }
    if (connection.waitingInputBytes <= MAX_WAITING_INPUT_BYTES) return;
    const reason = `the process does not read its input: more than ${MAX_WAITING_INPUT_BYTES} bytes are buffered`;
    stop({ status: 'failed', reason: agentErrors.UNAVAILABLE({ details: { field: 'stdin', reason } }) });
  };
  context.onInput(take);
  return () => context.onInput(() => undefined);
}

function startTimeout(clock: Clock, payload: ExecCommand, interactive: boolean, end: () => void): () => void {
  const { timeout_seconds: seconds } = payload;
  const timeoutMs = seconds === undefined ? (interactive ? 0 : DEFAULT_TIMEOUT_MS) : seconds * 1000;
  return timeoutMs === 0 ? () => undefined : clock.setTimer(end, timeoutMs);
}

function stoppedOutcome({ status, reason }: Stop, container: string, output: CapturedOutput): CommandOutcome {
  const exec: ExecResult = { exit_code: null, container, process_may_be_running: true, ...output };
  const cause =
    status === 'timed_out'
      ? agentErrors.TIMEOUT({ details: { reason: 'the command did not end in time; its process may still run' } })
      : reason;
  return { status, error: toMessageError(cause), exec };
}

function endedOutcome(end: ExecEnd, container: string, output: CapturedOutput): CommandOutcome {
  const exec: ExecResult = { exit_code: null, container, process_may_be_running: false, ...output };
  switch (end.kind) {
    case 'exited':
      return { status: 'succeeded', exec: { ...exec, exit_code: end.exitCode } };
    case 'not_started':
      return { status: 'failed', error: end.error, exec };
    case 'unknown': {
      const reason = 'the connection to the container ended before its command did';
      const error = toMessageError(agentErrors.LOST({ details: { reason } }));
      return { status: 'lost', error, exec: { ...exec, process_may_be_running: true } };
    }
  }
}
