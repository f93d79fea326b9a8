import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { whenClosed } from '@svc/http';
import { clusterErrors } from '../errors.ts';

export interface ServerEvent {
  id: number;
  event: string;
  data: unknown;
}

/** `null` = no event for a while: a comment keeps proxies from closing the stream. */
export type ServerEvents = AsyncGenerator<ServerEvent | null, void, undefined>;

/** Aborts when the response ends for any reason, or when the module stops. */
export function streamSignal(reply: FastifyReply, stopping: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (stopping.aborted) abort();
  else stopping.addEventListener('abort', abort, { once: true });
  whenClosed(reply.raw, () => {
    stopping.removeEventListener('abort', abort);
    abort();
  });
  return controller.signal;
}

/** Sends server-sent events (HTML standard, section 9.2). Backpressure propagates to `events`. */
export function sendEvents(reply: FastifyReply, events: ServerEvents): FastifyReply {
  return reply
    .header('content-type', 'text/event-stream; charset=utf-8')
    .header('cache-control', 'no-store')
    .header('x-accel-buffering', 'no') // keeps nginx from buffering events
    .send(Readable.from(encode(events), { objectMode: false, highWaterMark: 64 * 1024 }));
}

/** The number after which a stream resumes; undefined if the reader has seen nothing. */
export function parseLastEventId(request: FastifyRequest): number | undefined {
  const value = request.headers['last-event-id'];
  if (value === undefined || value === '') return undefined;
  if (typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  throw clusterErrors.INVALID_REQUEST({
    details: { field: 'Last-Event-ID', reason: 'Last-Event-ID must be the id of an event of this stream' },
  });
}

export function wantsEvents(request: FastifyRequest): boolean {
  return request.headers.accept?.includes('text/event-stream') ?? false;
}

async function* encode(events: ServerEvents): AsyncGenerator<string, void, undefined> {
  yield 'retry: 2000\n\n';
  for await (const event of events) {
    // JSON has no raw line breaks, so one data line always suffices.
    yield event === null
      ? ': keep-alive\n\n'
      : `id: ${event.id}\nevent: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`;
  }
}
