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

/** Calls a method with bytes that are no message of protobuf. */
async function callWrongly(method: RpcMethod, name: string, contentType: string, bytes: Buffer) {
  const service = { name: 'process.Process', describe: describeProcess, methods: { [name]: method } };
  const handler = (await createConnectHandlers([service])).get(`/process.Process/${name}`);
  const response = await handler?.({
    httpVersion: '1.1',
    method: 'POST',
    host: 'localhost',
    header: new Headers({ 'content-type': contentType }),
    body: (async function* () {
      yield bytes;
    })(),
    signal: new AbortController().signal,
    sandbox: {} as Sandbox, // no method looks at it
    cut: () => undefined,
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of response?.body ?? []) chunks.push(chunk);
  return { status: response?.status, bytes: Buffer.concat(chunks) };
}

/** A field with a length beyond the end. */
const MALFORMED = Buffer.from([0x0a, 0xff, 0x01]);

function enveloped(message: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

it('answers a malformed binary message with invalid_argument, in every kind of call', async () => {
  const action = 'sandbox:exec';
  const refused = { code: 'invalid_argument', message: expect.stringContaining('parse binary') };
  const unary = await callWrongly({ action, unary: async () => ({}) }, 'SendInput', 'application/proto', MALFORMED);
  expect([unary.status, JSON.parse(unary.bytes.toString())]).toEqual([400, refused]);
  async function* stream(): AsyncGenerator<object> {
    yield EVENT;
  }
  const binary = 'application/connect+proto';
  const streamed = await callWrongly({ action, stream }, 'Start', binary, enveloped(MALFORMED));
  expect(parseEnvelopes(streamed.bytes)).toEqual([{ error: refused }]);
  const collect = async (messages: AsyncIterable<unknown>): Promise<object> => {
    const received: unknown[] = [];
    for await (const message of messages) received.push(message);
    return { received };
  };
  const collected = await callWrongly({ action, collect }, 'StreamInput', binary, enveloped(MALFORMED));
  expect(parseEnvelopes(collected.bytes)).toEqual([{ error: refused }]);
});

it('keeps the errors of its methods', async () => {
  const fail = async (): Promise<object> => {
    throw new Error('a fault of ours');
  };
  const failed = await callWrongly(
    { action: 'sandbox:exec', unary: fail },
    'SendInput',
    'application/proto',
    Buffer.alloc(0),
  );
  expect([failed.status, JSON.parse(failed.bytes.toString())]).toMatchObject([500, { code: 'internal' }]);
});
