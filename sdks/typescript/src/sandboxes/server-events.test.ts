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

describe('the parser for server-sent events', () => {
  it('joins chunks split anywhere, and handles ids, comments and carriage returns', async () => {
    const text = ': hello\n\nid: 4\nevent: running\r\ndata: {"a":\ndata: 1}\n\ndata:x\n\n';
    const expected = [
      { id: '4', event: 'running', data: '{"a":\n1}' },
      { id: '4', event: 'message', data: 'x' },
    ];
    expect(await read(text)).toEqual(expected);
    expect(await read(...text)).toEqual(expected);
  });

  it('drops an unterminated event, whose rest may never have been sent', async () => {
    expect(await read('data: whole\n\n', 'data: hal')).toEqual([{ id: '', event: 'message', data: 'whole' }]);
  });

  it('gives up on an endless line', async () => {
    const piece = 'x'.repeat(1024 * 1024);
    await expect(read(...Array<string>(9).fill(piece))).rejects.toBeInstanceOf(UnexpectedAnswerError);
  });
});
