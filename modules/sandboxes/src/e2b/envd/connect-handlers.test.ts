import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Sandbox } from '../../domain/sandbox.ts';
import { createConnectHandlers } from './connect-handlers.ts';
import { describeProcess } from './messages/process.ts';
import type { RpcMethod } from './rpc-service.ts';

/** Longer than any stall of a busy machine: only the clock reaches it. */
const LIMIT_MS = 600_000;
const EVENT = { event: { event: { case: 'keepalive', value: {} } } };

/** The messages of a call of `Start` with a time limit, in JSON. */
async function startWith(stream: () => AsyncIterable<object>): Promise<unknown[]> {
  const method: RpcMethod = { action: 'sandbox:exec', stream };
  const service = { name: 'process.Process', describe: describeProcess, methods: { Start: method } };
  const start = (await createConnectHandlers([service])).get('/process.Process/Start');
  const message = Buffer.from('{}');
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  const response = await start?.({
    httpVersion: '1.1',
    method: 'POST',
    host: 'localhost',
    header: new Headers({ 'content-type': 'application/connect+json', 'connect-timeout-ms': String(LIMIT_MS) }),
    body: (async function* () {
      yield Buffer.concat([head, message]);
    })(),
    signal: new AbortController().signal,
    sandbox: {} as Sandbox, // the method does not look at it
    cut: () => undefined,
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response?.body ?? []) chunks.push(chunk);
  return parseEnvelopes(Buffer.concat(chunks));
}

function parseEnvelopes(bytes: Buffer): unknown[] {
  const messages: unknown[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    messages.push(JSON.parse(bytes.subarray(at + 5, end).toString()));
    at = end;
  }
  return messages;
}

/** The timer of the library has not run by then. */
function passTheLimit(): void {
  vi.setSystemTime(Date.now() + LIMIT_MS + 1);
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

it('says that the time limit is over if the process ends before the timer of the library runs', async () => {
  const received = await startWith(async function* () {
    yield EVENT;
    passTheLimit();
    yield EVENT;
  });
  expect(received).toEqual([
    { event: { keepalive: {} } },
    { error: { code: 'deadline_exceeded', message: expect.any(String) } },
  ]);
});

it('ends without an error in time', async () => {
  const received = await startWith(async function* () {
    yield EVENT;
  });
  expect(received).toEqual([{ event: { keepalive: {} } }, {}]);
});
