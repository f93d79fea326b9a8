import { generateKeyPairSync, sign } from 'node:crypto';
import { once, type EventEmitter } from 'node:events';
import ssh2 from 'ssh2';

interface RawChannel extends EventEmitter {
  readonly outgoing: { readonly id: number };
}

/** A key as the client uses it. */
interface RawKey {
  readonly type: string;
  getPublicSSH(): Buffer;
  sign(): Buffer;
}

type Opened = (error: Error | undefined, channel: RawChannel) => void;

interface RawClient extends EventEmitter {
  readonly _protocol: { channelData(id: number, data: Buffer): void };
  connect(options: {
    host: string;
    port: number;
    username: string;
    password?: string;
    authHandler?: (left: unknown, partial: unknown, next: (attempt: object | false) => void) => void;
  }): void;
  exec(command: string, callback: Opened): void;
  subsys(name: string, callback: Opened): void;
  forwardOut(fromHost: string, fromPort: number, toHost: string, toPort: number, callback: Opened): void;
  end(): void;
}

/** The client of ssh2, and the part of its inside that a hostile client needs. The listener's types leave both out. */
const { Client } = ssh2 as unknown as { Client: new () => RawClient };

/** Starts a command and sends it input without regard to the window. Resolves when the connection is closed. */
export async function ignoreWindow(
  port: number,
  { username, password, command }: { username: string; password: string; command: string },
  sizeBytes: number,
): Promise<void> {
  const client = new Client();
  client.on('error', () => undefined); // a reset, when the connection is cut
  const ready = once(client, 'ready');
  client.connect({ host: '127.0.0.1', port, username, password });
  await ready;
  const channel = await new Promise<RawChannel>((resolve, reject) => {
    client.exec(command, (error, opened) => (error === undefined ? resolve(opened) : reject(error)));
  });
  // Unlike `once`, this does not reject on the reset.
  const closed = new Promise<void>((resolve) => client.on('close', () => resolve()));
  // No divisor of the window: ssh2 drops data only when its count is exactly zero.
  const piece = Buffer.alloc(30_000);
  for (let sent = 0; sent < sizeBytes; sent += piece.length) {
    const { _protocol: protocol } = client;
    protocol.channelData(channel.outgoing.id, piece);
  }
  await closed;
}

/** What a client got after one login. */
export interface SshDoors {
  readonly exec: boolean;
  readonly sftp: boolean;
  /** Also false if nothing listens there. */
  readonly forward: boolean;
}

/** Logs in once and opens a channel of each kind. Null if the login was refused. */
export async function openDoors(
  port: number,
  login: { readonly username: string; readonly password: string },
  toPort: number,
): Promise<SshDoors | null> {
  const client = new Client();
  const isIn = new Promise<boolean>((resolve) => {
    client.once('ready', () => resolve(true));
    client.on('error', () => resolve(false));
  });
  client.connect({ host: '127.0.0.1', port, ...login });
  if (!(await isIn)) return null;
  const isOpen = (open: (callback: Opened) => void): Promise<boolean> =>
    new Promise((resolve) => open((error) => resolve(error === undefined)));
  const doors = {
    exec: await isOpen((callback) => client.exec('exit 0', callback)),
    sftp: await isOpen((callback) => client.subsys('sftp', callback)),
    forward: await isOpen((callback) => client.forwardOut('127.0.0.1', 1, '127.0.0.1', toPort, callback)),
  };
  client.end();
  return doors;
}

/** Logs in with a public key in these bytes and an ECDSA signature by another one. Resolves when the connection is closed. */
export async function offerKey(port: number, username: string, type: string, publicBytes: Buffer): Promise<void> {
  const client = new Client();
  client.on('error', () => undefined); // all authentication methods failed
  const closed = new Promise<void>((resolve) => client.on('close', () => resolve()));
  // The library takes only keys that it has parsed.
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { private: parsable } = ssh2.utils.generateKeyPairSync('ed25519');
  const key = Object.create(ssh2.utils.parseKey(parsable), {
    type: { value: type },
    getPublicSSH: { value: () => publicBytes },
    sign: { value: (blob: Buffer) => sign('sha256', blob, privateKey) },
  }) as RawKey;
  let attempts = 0;
  client.connect({
    host: '127.0.0.1',
    port,
    username,
    authHandler: (_left, _partial, next) => {
      attempts += 1;
      next(attempts === 1 ? { type: 'publickey', username, key } : false);
    },
  });
  await closed;
}
