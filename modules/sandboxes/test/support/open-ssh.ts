import { once, type EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import ssh2 from 'ssh2';

interface Connection extends EventEmitter {
  connect(options: SshCredentials & { host: string; strictVendor: false; agent: string; readyTimeout: number }): void;
  exec(command: string, options: SshExecOptions, done: Opened<Duplex>): void;
  subsys(name: string, done: Opened<Duplex>): void;
  sftp(done: Opened<SftpClient>): void;
  forwardOut(fromHost: string, fromPort: number, host: string, port: number, done: Opened<Duplex>): void;
  forwardIn(host: string, port: number, done: (error: Error | undefined) => void): void;
  openssh_forwardOutStreamLocal(path: string, done: Opened<Duplex>): void;
  openssh_forwardInStreamLocal(path: string, done: (error: Error | undefined) => void): void;
  end(): void;
  destroy(): void;
}
type Opened<Channel> = (error: Error | undefined, channel: Channel) => void;
type Done = (error: Error | null | undefined) => void;

/** What the tests use of an SFTP session. */
export interface SftpClient extends EventEmitter {
  readFile(path: string, done: (error: Error | undefined, content: Buffer) => void): void;
  writeFile(path: string, content: string, done: Done): void;
  ext_openssh_rename(from: string, to: string, done: Done): void;
}

export interface SshExecOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly agentForward?: boolean;
  readonly x11?: boolean;
}

/** The client of ssh2, which the listener's types leave out. */
const { Client } = ssh2 as unknown as { Client: new () => Connection };

export interface SshCredentials {
  readonly port: number;
  readonly username: string;
  readonly password?: string;
  /** In OpenSSH's format. */
  readonly privateKey?: string;
  /** Address that the client has; failed logins count for it. */
  readonly localAddress?: string;
}

/** A connection of an SSH client in this process. Each request rejects if the server refuses it. */
export interface OpenSsh {
  exec(command: string, options?: SshExecOptions): Promise<Duplex>;
  subsystem(name: string): Promise<Duplex>;
  sftp(): Promise<SftpClient>;
  /** To a port of the host, by default of the loopback there. */
  forward(port: number, host?: string): Promise<Duplex>;
  /** To a Unix socket there. */
  forwardSocket(path: string): Promise<Duplex>;
  /** Asks the server to listen: on a port, or on a Unix socket. */
  listen(address: string | { readonly host: string; readonly port: number }): Promise<void>;
  close(): void;
}

/** Logs in. Rejects if the login is refused. */
export async function openSsh(credentials: SshCredentials): Promise<OpenSsh> {
  const client = new Client();
  client.on('error', () => undefined); // a reset, when the connection is cut or not accepted
  const ready = once(client, 'ready');
  const cut = once(client, 'close').then(() => Promise.reject(new Error('the connection was cut')));
  cut.catch(() => undefined); // after the login, requests fail
  // The agent is only offered.
  const readyTimeout = 60_000; // a busy machine takes its time
  client.connect({ host: '127.0.0.1', strictVendor: false, agent: '/nonexistent', readyTimeout, ...credentials });
  await Promise.race([ready, cut]);
  const opened = <Channel>(start: (done: Opened<Channel>) => void): Promise<Channel> =>
    new Promise((resolve, reject) => {
      start((error, channel) => (error === undefined ? resolve(channel) : reject(error)));
    });
  return {
    exec: (command, options = {}) => opened((done) => client.exec(command, options, done)),
    subsystem: (name) => opened((done) => client.subsys(name, done)),
    sftp: () => opened((done) => client.sftp(done)),
    forward: (port, host = '127.0.0.1') => opened((done) => client.forwardOut('127.0.0.1', 0, host, port, done)),
    forwardSocket: (path) => opened((done) => client.openssh_forwardOutStreamLocal(path, done)),
    listen: (address) =>
      opened<void>((done) => {
        const answered = (error: Error | undefined): void => done(error, undefined);
        if (typeof address === 'string') client.openssh_forwardInStreamLocal(address, answered);
        else client.forwardIn(address.host, address.port, answered);
      }),
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
