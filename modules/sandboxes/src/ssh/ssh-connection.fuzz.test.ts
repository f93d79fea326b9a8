import { once, type EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { accessErrors, createHeldRights } from '@svc/access';
import { systemClock } from '@svc/runtime';
import { createLogger } from '@svc/telemetry';
import { describeFuzz } from '@svc/testing';
import ssh2 from 'ssh2';
import { expect, it } from 'vitest';
import type { Outcome } from '../domain/helper/helper-stream.ts';
import { SshConnection, type SshConnectionDeps } from './ssh-connection.ts';
import type { SshGrant } from './ssh-login.ts';

const unused = (): void => undefined;
const log = createLogger({ level: 'silent', name: 'test' });
const hostKey = ssh2.utils.generateKeyPairSync('ed25519').private;
const PASSWORD = 'svc_pat_right';
const USER = `sbx_${'a'.repeat(26)}`;
const SANDBOX = { id: USER, workspaceUuid: 'w', environment: {}, egressRules: [] };
const FAILED: Outcome = { ok: false, code: 'PORT_UNREACHABLE', message: 'nothing listens' };

/** One end of a connection. Like a socket, it delivers in another turn of the event loop. */
class End extends Duplex {
  other: End | null = null;

  override _read(): void {
    // Everything is pushed at once.
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    setImmediate(() => {
      if (this.other?.destroyed === false) this.other.push(Buffer.concat(chunks.map(({ chunk }) => chunk)));
      done();
    });
  }
}

function connectedEnds(): [End, End] {
  const ends: [End, End] = [new End(), new End()];
  for (const end of ends) end.on('error', unused);
  [ends[0].other, ends[1].other] = [ends[1], ends[0]];
  return ends;
}

/** What a connection did with the sandbox. */
interface Used {
  logins: number;
  refusals: number;
  readonly operations: string[];
  /** Channels in the sandbox that were not left yet. */
  inside: number;
  running: number;
}

function depsOf(used: Used): SshConnectionDeps {
  const enter = (): (() => void) => {
    used.inside += 1;
    return () => (used.inside -= 1);
  };
  const connection = {
    start: ({ op }: { op: string }) => {
      used.operations.push(op);
      used.running += 1;
      const { promise: outcome, resolve } = Promise.withResolvers<Outcome>();
      void outcome.then(() => (used.running -= 1));
      if (op === 'port.dial') resolve(FAILED);
      const abandon = (): void => resolve({ ok: false, code: 'ABORTED', message: 'abandoned' });
      const input = { write: async () => undefined, finishInput: unused, consumed: unused, end: unused };
      return { outcome, abandon, control: unused, ...input };
    },
  };
  const login = async ({ credential }: { credential: { password?: string } }): Promise<SshGrant> => {
    if (credential.password !== PASSWORD) {
      used.refusals += 1;
      throw accessErrors.UNAUTHORIZED();
    }
    used.logins += 1;
    const right = { key: 'k', exactKey: 'k', confirmedAtMs: Date.now(), check: async () => undefined };
    return { principal: { id: 'p' }, granted: {}, right, workspaceUuid: 'w', sandboxId: USER } as unknown as SshGrant; // what the connection reads
  };
  const service = {
    held: async () => SANDBOX,
    settled: async () => SANDBOX,
    byId: async () => SANDBOX,
    connectionTo: () => connection,
  };
  return {
    login: { login },
    rights,
    log,
    clock: systemClock,
    service,
    forwarding: { connect: async () => null },
    limiter: { admit: async () => undefined },
    audit: { record: async () => undefined },
    recorder: { record: unused },
    slots: { take: async () => enter() },
    live: { begin: () => enter(), use: unused, active: unused },
    ports: { enter: () => enter() },
  } as unknown as SshConnectionDeps; // what the connection uses of them
}

const rights = createHeldRights(log);

interface Served {
  readonly client: Duplex;
  readonly used: Used;
  /** Ends the connection and waits until nothing of it is left. */
  finish(): Promise<void>;
}

function serve(): Served {
  const used: Used = { logins: 0, refusals: 0, operations: [], inside: 0, running: 0 };
  const [client, accepted] = connectedEnds();
  const connection = new SshConnection(depsOf(used), {
    socket: accepted as unknown as Socket, // a connection uses what all streams have
    remoteAddress: '127.0.0.1',
    requestId: 'r',
    hostKey,
    onLogin: async () => null,
  });
  const finish = async (): Promise<void> => {
    connection.end();
    accepted.destroy();
    client.destroy();
    const left = (): number => used.inside + used.running + rights.size;
    for (let turn = 0; turn < 200 && left() > 0; turn += 1) await nextTurn();
    expect({ ...used, rights: rights.size }).toMatchObject({ inside: 0, running: 0, rights: 0 });
  };
  return { client, used, finish };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await nextTurn();
}

describeFuzz({
  name: 'bytes of SSH clients that have not logged in',
  corpus: new URL('./corpus/ssh-bytes/', import.meta.url),
  inputs: 500,
  seeds: ['SSH-2.0-x\r\n', 'SSH-1.5-x\r\n', 'SSH-2.0-x\r\n\0\0\0\x0c\x0a\x14', 'GET / HTTP/1.1\r\n\r\n'],
  dictionary: ['SSH-2.0-', '\r\n', '\0\0\0\x01', '\xff\xff\xff\xff', '\x7f\xff\xff\xff', 'none', 'ext-info-c', ','],
  maxBytes: 8_192,
  run: async (bytes) => {
    const { client, used, finish } = serve();
    client.resume();
    client.write(bytes);
    await turns(8);
    await finish();
    expect(used).toMatchObject({ logins: 0, operations: [] });
  },
});

/** The client of ssh2, and the part of its inside that sends any packet. */
interface RawClient extends EventEmitter {
  readonly _protocol: {
    readonly _cipher: { encrypt(packet: Buffer): void };
    readonly _packetRW: {
      readonly write: { allocStart: number; alloc(size: number): Buffer; finalize(packet: Buffer): Buffer };
    };
  };
  connect(options: object): void;
}
const { Client } = ssh2 as unknown as { Client: new () => RawClient };

function sendPacket({ _protocol: { _cipher, _packetRW } }: RawClient, payload: Buffer): void {
  const { write } = _packetRW;
  const start = write.allocStart;
  const packet = write.alloc(payload.length);
  payload.copy(packet, start);
  _cipher.encrypt(write.finalize(packet));
}

/** A client after the exchange of keys, and after its login if `isIn`. It reacts to nothing any more. */
async function handshake(stream: Duplex, isIn: boolean): Promise<RawClient> {
  const client = new Client();
  client.on('error', unused);
  const ready = once(client, isIn ? 'ready' : 'handshake');
  const never = { authHandler: () => undefined };
  client.connect({ sock: stream, username: USER, ...(isIn ? { password: PASSWORD } : never) });
  await ready;
  stream.removeAllListeners('data');
  stream.resume();
  return client;
}

/** A string of the protocol. */
function text(value: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(value, 'latin1'));
  return Buffer.concat([length, Buffer.from(value, 'latin1')]);
}

const bytes = (...values: number[]): Buffer => Buffer.from(values);
const number = (value: number): Buffer => bytes(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255);
const packet = (...parts: Buffer[]): Buffer => Buffer.concat(parts);
const openSession = packet(bytes(90), text('session'), number(0), number(2 ** 21), number(32_768));
const ask = (kind: string, ...parts: Buffer[]): Buffer => packet(bytes(98), number(0), text(kind), bytes(1), ...parts);
const data = (content: string): Buffer => packet(bytes(94), number(0), text(content));
const authenticate = (method: string, ...parts: Buffer[]): Buffer =>
  packet(bytes(50), text(USER), text('ssh-connection'), text(method), ...parts);

/** The first byte: whether the client is in. Each packet follows its length. */
const input = (isIn: boolean, ...packets: readonly Buffer[]): Buffer =>
  Buffer.concat([
    bytes(Number(isIn)),
    ...packets.flatMap((each) => [bytes(each.length >> 8, each.length & 255), each]),
  ]);

function packetsOf(bytesOfAll: Buffer): Buffer[] {
  const packets: Buffer[] = [];
  for (let at = 1; at + 2 < bytesOfAll.length;) {
    const length = bytesOfAll.readUInt16BE(at);
    packets.push(bytesOfAll.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  return packets.filter((each) => each.length > 0);
}

const service = packet(bytes(5), text('ssh-userauth'));

describeFuzz({
  name: 'packets of SSH clients',
  corpus: new URL('./corpus/ssh-packets/', import.meta.url),
  inputs: 200,
  seeds: [
    input(false, service, authenticate('none'), authenticate('password', bytes(0), text('wrong'))),
    input(
      false,
      service,
      authenticate('publickey', bytes(1), text('ssh-ed25519'), text('\0\0\0\x0bssh-ed25519'), text('x')),
    ),
    input(false, service, authenticate('keyboard-interactive', text(''), text('')), packet(bytes(61), number(0))),
    input(false, openSession, ask('exec', text('id'))),
    input(
      true,
      openSession,
      ask('env', text('A'), text('b')),
      ask('exec', text('cat')),
      data('hello'),
      packet(bytes(96), number(0)),
    ),
    input(
      true,
      openSession,
      ask('pty-req', text('xterm'), number(80), number(24), number(0), number(0), text('')),
      ask('shell'),
      ask('window-change', number(1), number(1), number(0), number(0)),
      ask('signal', text('TERM')),
    ),
    input(
      true,
      openSession,
      ask('subsystem', text('sftp')),
      data('\0\0\0\x05\x01\0\0\0\x03'),
      packet(bytes(93), number(0), number(0xffff_ffff)),
      packet(bytes(97), number(0)),
    ),
    input(
      true,
      packet(
        bytes(90),
        text('direct-tcpip'),
        number(0),
        number(2 ** 21),
        number(32_768),
        text('127.0.0.1'),
        number(80),
        text('::1'),
        number(1),
      ),
      data('GET /'),
    ),
    input(
      true,
      packet(bytes(80), text('tcpip-forward'), bytes(1), text(''), number(0)),
      packet(bytes(2), text('x')),
      packet(bytes(1), number(11), text(''), text('')),
    ),
    input(
      true,
      openSession,
      packet(bytes(95), number(0), number(1), text('err')),
      packet(bytes(99), number(0)),
      packet(bytes(20), Buffer.alloc(16)),
    ),
    input(
      true,
      openSession,
      openSession,
      ask('auth-agent-req@openssh.com'),
      ask('x11-req', bytes(1), text('a'), text('b'), number(0)),
    ),
  ],
  dictionary: [
    '\0\0\0\x07session',
    '\0\0\0\x04exec',
    '\0\0\0\x05shell',
    '\xff\xff\xff\xff',
    '\0\0\0\0',
    '\x5a',
    '\x62',
    '\x5d',
    '\x5e',
    '\x14',
    'subsystem',
    'sftp',
    'direct-tcpip',
    'keepalive@openssh.com',
  ],
  run: async (given) => {
    await deliver(given);
  },
});

/** Sends packets, and returns what they did. */
async function deliver(given: Buffer): Promise<Used> {
  const isIn = (given[0] ?? 0) % 2 === 1;
  const { client: stream, used, finish } = serve();
  const client = await handshake(stream, isIn);
  for (const each of packetsOf(given)) if (!stream.destroyed) sendPacket(client, each);
  await turns(12);
  await finish();
  if (isIn) expect(used.logins).toBe(1);
  // Only the right password logs in, and without a login nothing reaches the sandbox.
  else if (!given.includes(PASSWORD)) expect(used).toMatchObject({ logins: 0, operations: [] });
  for (const op of used.operations) expect(['process.start', 'sftp', 'port.dial']).toContain(op);
  return used;
}

it('reaches the login, and the sandbox after it', async () => {
  const wrong = input(false, service, authenticate('password', bytes(0), text('wrong')));
  expect(await deliver(wrong)).toMatchObject({ refusals: 1, operations: [] });
  const forward = [text('127.0.0.1'), number(80), text('::1'), number(1)];
  const port = packet(bytes(90), text('direct-tcpip'), number(1), number(2 ** 21), number(32_768), ...forward);
  const right = input(true, openSession, ask('exec', text('cat')), port);
  expect((await deliver(right)).operations.toSorted()).toEqual(['port.dial', 'process.start']);
});
