import { create, toBinary, toJsonString, type DescService } from '@bufbuild/protobuf';
import { describeFuzz } from '@svc/testing';
import { beforeAll, expect } from 'vitest';
import type { Sandbox } from '../../domain/sandbox.ts';
import { createConnectHandlers, type ConnectHandler } from './connect-handlers.ts';
import { describeFilesystem } from './messages/filesystem.ts';
import { describeProcess } from './messages/process.ts';
import type { RpcMethod, RpcService } from './rpc-service.ts';

/** Far above what an input can hold, far below what a length in it can name. */
const MOST_BYTES = 64 * 1024;
const TYPES = [
  'application/json',
  'application/proto',
  'application/connect+json',
  'application/connect+proto',
] as const;
/** `internal` and `unknown` would be errors of our methods. */
const ERRORS = ['invalid_argument', 'resource_exhausted', 'unimplemented'];
/** Messages of JavaScript's own errors, which tell a fault from a refusal. */
const FAULTS = /Cannot |is not a function|is not iterable|not defined|Invalid array length|call stack/;
/** By the first byte of an input. */
const CALLS = [
  ['process.Process', 'List'],
  ['process.Process', 'Start'],
  ['process.Process', 'StreamInput'],
  ['process.Process', 'SendInput'],
  ['process.Process', 'SendSignal'],
  ['filesystem.Filesystem', 'ListDir'],
  ['filesystem.Filesystem', 'WatchDir'],
] as const;

let handlers: ReadonlyMap<string, ConnectHandler>;
let services: ReadonlyMap<string, DescService>;
/** Messages that reached a method. */
let received: unknown[];

/** Echoes nothing: takes every message. */
function methodOf(kind: string): RpcMethod {
  const action = 'sandbox:exec';
  const take = (message: unknown): void => void received.push(message);
  if (kind === 'client_streaming') {
    return {
      action,
      collect: async (messages) => {
        for await (const message of messages) take(message);
        return {};
      },
    };
  }
  if (kind === 'server_streaming') {
    return {
      action,
      stream: async function* (message) {
        take(message);
        yield* [];
      },
    };
  }
  return {
    action,
    unary: async (message) => {
      take(message);
      return {};
    },
  };
}

beforeAll(async () => {
  const described = new Map<string, DescService>([
    ['process.Process', await describeProcess()],
    ['filesystem.Filesystem', await describeFilesystem()],
  ]);
  services = described;
  const served = [...described].map(([name, description]): RpcService => ({
    name,
    describe: async () => description,
    methods: Object.fromEntries(description.methods.map((method) => [method.name, methodOf(method.methodKind)])),
  }));
  handlers = await createConnectHandlers(served);
});

const [processes, files] = [await describeProcess(), await describeFilesystem()];

/** A message in an envelope (connectrpc.com/docs/protocol): flags, length, content. */
function envelope(content: Uint8Array | string, flags = 0): Buffer {
  const bytes = Buffer.from(content);
  const head = Buffer.alloc(5);
  head.writeUInt8(flags);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

function messageOf(service: DescService, name: string, value: Record<string, unknown>) {
  const input = service.methods.find((method) => method.name === name)?.input;
  if (input === undefined) throw new Error(`no method ${name}`);
  const message = create(input, value);
  return { json: toJsonString(input, message), binary: toBinary(input, message) };
}

const start = messageOf(processes, 'Start', {
  process: { cmd: 'sh', args: ['-c', 'x'], envs: { A: 'b' }, cwd: '/' },
  pty: { size: { cols: 80, rows: 24 } },
  tag: 't',
});
const typed = messageOf(processes, 'StreamInput', {
  event: { case: 'start', value: { process: { selector: { case: 'pid', value: 7 } } } },
});
const listed = messageOf(files, 'ListDir', { path: '/a', depth: 3 });
/** Two bytes select the call and the content type. */
const callOf = (call: number, type: number, body: Uint8Array | string): Buffer =>
  Buffer.concat([Buffer.from([call, type]), Buffer.from(body)]);

async function ask(call: number, type: number, pieces: readonly Buffer[]) {
  const [service, method] = CALLS[call % CALLS.length] ?? CALLS[0];
  const contentType = TYPES[type % TYPES.length] ?? TYPES[0];
  received = [];
  const response = await handlers.get(`/${service}/${method}`)?.({
    httpVersion: '1.1',
    method: 'POST',
    host: 'localhost',
    header: new Headers({ 'content-type': contentType, 'connect-protocol-version': '1' }),
    body: (async function* () {
      yield* pieces;
    })(),
    signal: new AbortController().signal,
    sandbox: {} as Sandbox, // no method looks at it
    cut: () => undefined,
  });
  const chunks: Uint8Array[] = [];
  if (response?.body !== undefined) for await (const chunk of response.body) chunks.push(chunk);
  return { service, method, status: response?.status, bytes: Buffer.concat(chunks), messages: received };
}

/** Codes of errors in an answer, as JSON has them. */
const errorsIn = (bytes: Buffer): string[] =>
  [...bytes.toString('latin1').matchAll(/"code":"([a-z_]+)"/g)].map(([, code = '']) => code);

describeFuzz({
  name: 'calls of E2B clients',
  corpus: new URL('./corpus/connect/', import.meta.url),
  seeds: [
    callOf(0, 0, '{}'),
    callOf(1, 2, envelope(start.json)),
    callOf(1, 3, envelope(start.binary)),
    callOf(2, 3, Buffer.concat([envelope(typed.binary), envelope(typed.binary), envelope('', 2)])),
    callOf(2, 2, Buffer.concat([envelope(typed.json), envelope('{"metadata":{}}', 2)])),
    callOf(3, 1, typed.binary),
    callOf(4, 0, '{"process":{"pid":7},"signal":"SIGNAL_SIGKILL"}'),
    callOf(5, 1, listed.binary),
    callOf(5, 0, listed.json),
    callOf(6, 2, envelope('{"path":"/","recursive":true}', 1)),
  ],
  dictionary: [
    '\0\0\0\0',
    '\0\xff\xff\xff\xff',
    '\x01',
    '\x02',
    '\x0a',
    '\xff\xff\xff\xff\x0f',
    '{"',
    '":',
    '"__proto__":{}',
    'null',
    '"envs":{"',
    '1e999',
    '\\ud800',
    '\x80',
    '\x0b\x0b\x0b',
    '}',
  ],
  run: async (input) => {
    const [call = 0, type = 0] = input;
    const body = input.subarray(2);
    const answer = await ask(call, type, body.length === 0 ? [] : [body]);
    expect(answer.status).toBeGreaterThanOrEqual(200);
    for (const code of errorsIn(answer.bytes)) expect(ERRORS, answer.bytes.toString()).toContain(code);
    expect(answer.bytes.toString()).not.toMatch(FAULTS);
    expect(answer.bytes.length).toBeLessThan(MOST_BYTES);
    // How the network cuts the body makes no difference, except to which of several faults is found first.
    const cut = Math.floor(body.length / 2);
    const again = await ask(
      call,
      type,
      [body.subarray(0, cut), body.subarray(cut)].filter(({ length }) => length > 0),
    );
    const isRefused = errorsIn(answer.bytes).length > 0;
    expect(errorsIn(again.bytes).length > 0).toBe(isRefused);
    if (!isRefused) expect([again.status, again.messages]).toEqual([answer.status, answer.messages]);
    // What a method receives can be sent as it is.
    const description = services.get(answer.service)?.methods.find(({ name }) => name === answer.method);
    if (description === undefined) throw new Error('unreachable');
    for (const message of answer.messages) {
      expect(toBinary(description.input, message as Parameters<typeof toBinary>[1]).length).toBeLessThan(MOST_BYTES);
    }
  },
});
