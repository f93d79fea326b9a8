import { UnexpectedAnswerError } from '../errors.ts';

/** A server-sent event. `event` defaults to `message`; lines of `data` are joined with newlines. */
export interface ServerEvent {
  /** Id of the last event that had one, for `Last-Event-ID`. */
  id: string;
  event: string;
  data: string;
}

/** Far above the size of any route's events; bounds memory if a server never ends a line. */
const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024;

/**
 * Parses server-sent events (WHATWG HTML, section 9.2.6) as they arrive. Ends with the stream; leaving early cancels
 * it.
 */
export async function* readServerEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent, void> {
  let id = '';
  let event = '';
  let data: string[] = [];
  for await (const line of readLines(body)) {
    if (line === '') {
      if (data.length > 0) yield { id, event: event === '' ? 'message' : event, data: data.join('\n') };
      [event, data] = ['', []];
      continue;
    }
    const colon = line.indexOf(':');
    if (colon === 0) continue; // a comment that keeps the connection alive
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id' && !value.includes('\0')) id = value;
  }
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let pieces: string[] = [];
  let held = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return; // an unterminated event is discarded
      const parts = decoder.decode(value, { stream: true }).split('\n');
      const last = parts.pop() ?? '';
      for (const part of parts) {
        yield [...pieces, part].join('').replace(/\r$/, '');
        [pieces, held] = [[], 0];
      }
      pieces.push(last);
      held += last.length;
      if (held > MAX_EVENT_CHARACTERS) throw new UnexpectedAnswerError('The server sends an event without an end');
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
