import { describe, expect, it } from 'vitest';
import { UnexpectedAnswerError } from '../errors.ts';
import { readServerEvents, type ServerEvent } from './server-events.ts';

async function read(...chunks: string[]): Promise<ServerEvent[]> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
  const events: ServerEvent[] = [];
  for await (const event of readServerEvents(body)) events.push(event);
  return events;
}

describe('reading server-sent events', () => {
  it('puts together what was cut anywhere, and heeds ids, comments and carriage returns', async () => {
    const text = ': hello\n\nid: 4\nevent: running\r\ndata: {"a":\ndata: 1}\n\ndata:x\n\n';
    const expected = [
      { id: '4', event: 'running', data: '{"a":\n1}' },
      { id: '4', event: 'message', data: 'x' },
    ];
    expect(await read(text)).toEqual(expected);
    expect(await read(...text)).toEqual(expected);
  });

  it('leaves out an event without an end, since the rest of it may never have been sent', async () => {
    expect(await read('data: whole\n\n', 'data: hal')).toEqual([{ id: '', event: 'message', data: 'whole' }]);
  });

  it('gives up on a line that never ends', async () => {
    const piece = 'x'.repeat(1024 * 1024);
    await expect(read(...Array<string>(9).fill(piece))).rejects.toBeInstanceOf(UnexpectedAnswerError);
  });
});
