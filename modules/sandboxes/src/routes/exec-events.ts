import { PassThrough } from 'node:stream';
import type { Clock } from '@svc/runtime';
import type { FastifyReply } from 'fastify';
import type { CommandEnd, CommandListener } from '../domain/exec/command.ts';

/** Periodic comments keep proxies and the listener from closing the connection of a silent command. */
const HEARTBEAT_EVERY_MS = 15_000;

/**
 * Sends a command's output as server-sent events (WHATWG HTML, section 9.2). The response starts with the command, so
 * that earlier errors keep their own status.
 */
export class ExecEvents {
  readonly #reply: FastifyReply;
  readonly #encoding: 'utf-8' | 'base64';
  readonly #clock: Clock;
  readonly #stream = new PassThrough();
  readonly #decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
  #begun = false;
  #cancelHeartbeat: () => void = () => undefined;

  constructor(reply: FastifyReply, encoding: 'utf-8' | 'base64', clock: Clock) {
    this.#reply = reply;
    this.#encoding = encoding;
    this.#clock = clock;
    this.#stream.on('error', () => undefined); // the client disconnected; the signal ends the command
  }

  /** Resolves when the response has ended. Rejects with an error that occurs before it starts. */
  async follow(run: (listener: CommandListener) => Promise<CommandEnd>): Promise<FastifyReply> {
    try {
      const end = await run({
        started: (pid) => this.#begin(pid),
        output: (bytes, channel, done) => this.#output(bytes, channel, done),
        notice: ({ code, message, stopsAt }) => this.#notice({ code, message, stops_at: stopsAt }),
      });
      this.#begin(null);
      this.#end(end);
    } catch (error) {
      if (!this.#begun) throw error;
      this.#write('error', { message: error instanceof Error ? error.message : 'The command was lost' });
    } finally {
      this.#cancelHeartbeat();
      this.#stream.end();
    }
    return this.#reply;
  }

  #begin(pid: number | null): void {
    if (this.#begun) return;
    this.#begun = true;
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
    void this.#reply.headers(headers).send(this.#stream);
    if (pid !== null) this.#write('started', { pid });
    this.#beat();
  }

  #beat(): void {
    this.#cancelHeartbeat = this.#clock.setTimer(() => {
      this.#stream.write(': still running\n\n');
      this.#beat();
    }, HEARTBEAT_EVERY_MS);
  }

  /** Before the response starts, the command does not run yet. */
  #notice(data: object): void {
    if (this.#begun) this.#write('notice', data);
  }

  #output(bytes: Buffer, channel: 1 | 2, done: () => void): void {
    const name = channel === 1 ? 'stdout' : 'stderr';
    const data = this.#encoding === 'base64' ? bytes.toString('base64') : this.#text(bytes, channel);
    if (data === '') done();
    else this.#write(name, { data }, done);
  }

  /** Holds partial characters back until they are complete. */
  #text(bytes: Buffer, channel: 1 | 2): string {
    return this.#decoders[channel].decode(bytes, { stream: true });
  }

  #end(end: CommandEnd): void {
    for (const channel of [1, 2] as const) {
      const rest = this.#decoders[channel].decode();
      if (rest !== '') this.#write(channel === 1 ? 'stdout' : 'stderr', { data: rest });
    }
    const { exitCode, signal, durationMs, timedOut, error } = end;
    if (error !== null) this.#write('error', error);
    const exit_code = timedOut ? -1 : exitCode;
    this.#write('exit', { exit_code, signal, duration_ms: durationMs, timed_out: timedOut });
  }

  #write(event: string, data: unknown, done: () => void = () => undefined): void {
    this.#stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`, () => done());
  }
}
