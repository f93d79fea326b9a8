import { once, type EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import ssh2 from 'ssh2';

interface Connection extends EventEmitter {
  connect(options: SshCredentials & { host: string }): void;
  exec(command: string, done: Opened<Duplex>): void;
  sftp(done: Opened<EventEmitter>): void;
  forwardOut(fromHost: string, fromPort: number, host: string, port: number, done: Opened<Duplex>): void;
  end(): void;
  destroy(): void;
}
type Opened<Channel> = (error: Error | undefined, channel: Channel) => void;

/** The client of ssh2, which the listener's types leave out. */
const { Client } = ssh2 as unknown as { Client: new () => Connection };

export interface SshCredentials {
  readonly port: number;
  readonly username: string;
  readonly password?: string;
  /** In OpenSSH's format. */
  readonly privateKey?: string;
}

/** A connection of an SSH client in this process. */
export interface OpenSsh {
  exec(command: string): Promise<Duplex>;
  sftp(): Promise<EventEmitter>;
  forward(port: number): Promise<Duplex>;
  close(): void;
}

/** Logs in. Rejects if the login is refused. */
export async function openSsh(credentials: SshCredentials): Promise<OpenSsh> {
  const client = new Client();
  client.on('error', () => undefined); // a reset, when the connection is cut or not accepted
  const ready = once(client, 'ready');
  client.connect({ host: '127.0.0.1', ...credentials });
  await ready;
  const opened = <Channel>(start: (done: Opened<Channel>) => void): Promise<Channel> =>
    new Promise((resolve, reject) => {
      start((error, channel) => (error === undefined ? resolve(channel) : reject(error)));
    });
  return {
    exec: (command) => opened((done) => client.exec(command, done)),
    sftp: () => opened((done) => client.sftp(done)),
    forward: (port) => opened((done) => client.forwardOut('127.0.0.1', 0, '127.0.0.1', port, done)),
    close: () => client.destroy(),
  };
}

/** A new key pair: the private key for `openSsh`, the public one for the API. */
export function createSshKey(): { privateKey: string; publicKey: string } {
  const { utils } = ssh2 as unknown as {
    utils: { generateKeyPairSync(kind: string): { private: string; public: string } };
  };
  const pair = utils.generateKeyPairSync('ed25519');
  return { privateKey: pair.private, publicKey: pair.public };
}
