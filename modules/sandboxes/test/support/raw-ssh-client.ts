import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import type { EventEmitter } from 'node:events';
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

interface RawClient extends EventEmitter {
  readonly _protocol: { channelData(id: number, data: Buffer): void };
  connect(options: {
    host: string;
    port: number;
    username: string;
    password?: string;
    authHandler?: (left: unknown, partial: unknown, next: (attempt: object | false) => void) => void;
  }): void;
  exec(command: string, callback: (error: Error | undefined, channel: RawChannel) => void): void;
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
