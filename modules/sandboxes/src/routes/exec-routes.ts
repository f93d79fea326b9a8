import { grantOf, type HttpApp } from '@svc/http';
import type { Clock } from '@svc/runtime';
import { sandboxErrors } from '../errors.ts';
import { CapturedOutput } from '../domain/exec/captured-output.ts';
import type { CommandEnd } from '../domain/exec/command.ts';
import type { CommandService } from '../domain/exec/command-service.ts';
import { toExecRequest, type ExecRequest } from './exec-request.ts';
import { execBody, execResultSchema, execTimeoutSchema, type ExecResult } from './exec-schemas.ts';
import { ExecEvents } from './exec-events.ts';
import { goneSignal } from './request-signal.ts';
import { idParamsSchema, workspaceQuerySchema } from './schemas.ts';

/** Captured bytes per output in a response without streaming. */
const MAX_CAPTURED_BYTES = 1024 * 1024;
/** Extra time for a sandbox that is being created, and for ending a command after its timeout. */
const HOLD_MS = 120_000;
const MAX_BODY_BYTES = 16 * 1024 * 1024;

export interface ExecRoutesOptions {
  readonly prefix: string;
  readonly commands: CommandService;
  readonly clock: Clock;
}

export function registerExecRoutes(app: HttpApp, { prefix, commands, clock }: ExecRoutesOptions): void {
  app.post(
    `${prefix}/:id/exec`,
    {
      bodyLimit: MAX_BODY_BYTES,
      config: { action: 'sandbox:exec' },
      schema: {
        tags: ['sandboxes'],
        summary: 'Run a command and return its output and exit code, or stream the output',
        description:
          'A string runs in `sh -c`; a list runs without a shell. With `stream: true` or `Accept: ' +
          'text/event-stream`, the response is server-sent events: `started {pid}`, `stdout {data}` and `stderr ' +
          '{data}`, and finally `exit {exit_code, signal, duration_ms, timed_out}`. The command is killed at its ' +
          'time limit or when the caller disconnects.',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        body: execBody,
        response: { 200: execResultSchema, 504: execTimeoutSchema },
      },
    },
    async (request, reply) => {
      const exec = toExecRequest(request.body);
      const { workspaceUuid } = grantOf(request);
      const signal = goneSignal(reply);
      reply.raw.setTimeout(HOLD_MS + exec.timeoutMs); // a silent command is not a dead connection
      const streams = request.body.stream ?? request.headers.accept?.startsWith('text/event-stream') === true;
      if (streams) {
        const events = new ExecEvents(reply, exec.encoding, clock);
        return await events.follow((listener) =>
          commands.run(workspaceUuid, request.params.id, exec, listener, signal),
        );
      }
      const outputs = new Outputs();
      const end = await commands.run(workspaceUuid, request.params.id, exec, outputs, signal);
      const result = outputs.resultOf(exec, end);
      if (!end.timedOut) return result;
      const details = { timeout_seconds: exec.timeoutSeconds };
      const { message, code } = sandboxErrors.COMMAND_TIMEOUT({ details });
      // The error's own code.
      const error = { error: message, code: code as 'COMMAND_TIMEOUT', message, status: 504 as const };
      return await reply.status(504).send({ ...error, request_id: request.id, details, ...result });
    },
  );
}

/** Captures stdout and stderr, separately and combined. */
class Outputs {
  readonly #stdout = new CapturedOutput(MAX_CAPTURED_BYTES);
  readonly #stderr = new CapturedOutput(MAX_CAPTURED_BYTES);
  readonly #both = new CapturedOutput(MAX_CAPTURED_BYTES);

  output(bytes: Buffer, channel: 1 | 2, done: () => void): void {
    (channel === 1 ? this.#stdout : this.#stderr).push(bytes);
    this.#both.push(bytes);
    done();
  }

  resultOf({ command, encoding }: ExecRequest, end: CommandEnd): ExecResult {
    // Like a shell, report a missing command on stderr.
    if (end.error !== null) this.output(Buffer.from(`${end.error.message}\n`), 2, () => undefined);
    const show = (output: CapturedOutput): string =>
      output.bytes((bytes) => `\n[${bytes} bytes omitted]\n`).toString(encoding === 'utf-8' ? 'utf8' : 'base64');
    return {
      command,
      stdout: show(this.#stdout),
      stderr: show(this.#stderr),
      output: show(this.#both),
      encoding,
      exit_code: end.timedOut ? -1 : end.exitCode,
      signal: end.signal,
      duration_ms: end.durationMs,
      truncated: this.#stdout.truncated || this.#stderr.truncated || this.#both.truncated,
      stdout_bytes: this.#stdout.totalBytes,
      stderr_bytes: this.#stderr.totalBytes,
      timed_out: end.timedOut,
    };
  }
}
