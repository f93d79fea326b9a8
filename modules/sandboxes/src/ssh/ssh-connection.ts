import type { Socket } from 'node:net';
import type { HeldRights } from '@svc/access';
import { isAppError, toAppError, type AppError } from '@svc/errors';
import type { Logger } from '@svc/telemetry';
import ssh2, { type AuthContext, type Connection, type ServerChannel } from 'ssh2';
import { forwardPort, isForwardable } from './ssh-forward.ts';
import { isUsableKey, verifyKey } from './ssh-keys.ts';
import type { SshCredential, SshGrant, SshLogin } from './ssh-login.ts';
import { SshSandbox, type SshSandboxDeps } from './ssh-sandbox.ts';
import { SshSession } from './ssh-session.ts';

const IDENT = 'svc';
const MAX_PASSWORDS = 3;
/** Clients try every key that they have, then the password. */
const MAX_KEYS = 6;
const MAX_SESSIONS = 32;
const MAX_FORWARDS = 64;
/** Above this much unsent data, output waits in the sandbox. */
const FULL_BYTES = 256 * 1024;
/** A client that reads nothing but makes this much be sent, such as replies, is cut. */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024;
/** ssh2 buffers one window and grants another one; a client that sends more ignores its window. */
const MAX_UNREAD_BYTES = 6 * 1024 * 1024;
const KEEPALIVE = { keepaliveInterval: 20_000, keepaliveCountMax: 2 } as const;
/** Time for the client to receive a disconnect message. */
const FAREWELL_MS = 250;
/** Without SHA-1, CBC, DSA, small groups and compression. */
const ALGORITHMS = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group16-sha512',
    'diffie-hellman-group18-sha512',
  ],
  cipher: [
    'aes128-gcm@openssh.com',
    'aes256-gcm@openssh.com',
    'chacha20-poly1305@openssh.com',
    'aes128-ctr',
    'aes256-ctr',
  ],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
} as const;

export interface SshConnectionDeps extends SshSandboxDeps {
  readonly login: SshLogin;
  readonly rights: HeldRights;
  readonly log: Logger;
}

export interface SshConnectionOptions {
  readonly socket: Socket;
  readonly remoteAddress: string;
  readonly requestId: string;
  readonly hostKey: string;
  /** Called when the client has logged in. Returns the error that its sessions end with, if it has to go. */
  readonly onLogin: (grant: SshGrant) => Promise<AppError | null>;
}

/** One SSH connection: one login to one sandbox. Everything in it ends with it, and it ends with its right. */
export class SshConnection {
  readonly #deps: SshConnectionDeps;
  readonly #options: SshConnectionOptions;
  readonly #gone = new AbortController();
  readonly #channels = new Set<ServerChannel>();
  readonly #log: Logger;
  #client: Connection | null = null;
  #grant: SshGrant | null = null;
  #sandbox: SshSandbox | null = null;
  #refusal: AppError | null = null;
  #passwords = 0;
  #keys = 0;
  #sessions = 0;
  #forwards = 0;
  #drained: Promise<void> | null = null;

  constructor(deps: SshConnectionDeps, options: SshConnectionOptions) {
    this.#deps = deps;
    this.#options = options;
    const { socket, hostKey, remoteAddress, requestId } = options;
    this.#log = deps.log.child({ request_id: requestId, remote: remoteAddress });
    // ssh2 does not tell which socket a client has, so each socket gets its own server.
    const server = new ssh2.Server(
      { hostKeys: [hostKey], ident: IDENT, algorithms: ALGORITHMS, ...KEEPALIVE },
      (client) => this.#begin(client),
    );
    server.injectSocket(socket);
    socket.on('data', () => this.#guard());
    socket.once('close', () => this.#gone.abort());
  }

  /** Sends a disconnect message, and cuts the connection soon after it. */
  end(): void {
    const { socket } = this.#options;
    if (this.#client === null || socket.writableLength > 0) {
      // The message would queue behind unread output, and the client would still receive all of that.
      socket.destroy();
      return;
    }
    this.#client.end();
    socket.once(
      'close',
      this.#deps.clock.setTimer(() => socket.destroy(), FAREWELL_MS),
    );
  }

  #begin(client: Connection): void {
    this.#client = client;
    client.on('error', (error) => {
      this.#log.debug({ err: error }, 'an SSH connection failed');
      this.#options.socket.destroy();
    });
    client.on('authentication', (context) => {
      this.#authenticate(context).catch((error: unknown) => {
        this.#log.error({ err: error }, 'an SSH login failed');
        this.#options.socket.destroy();
      });
    });
    client.on('session', (accept, reject) => {
      const session = this.#grant !== null && this.#sessions < MAX_SESSIONS ? accept() : undefined;
      if (session === undefined || this.#grant === null) reject();
      else this.#watch(new SshSession(session, this.#workDeps(this.#grant)));
    });
    client.on('tcpip', (accept, reject, target) => {
      if (this.#grant === null || this.#forwards >= MAX_FORWARDS || !isForwardable(target)) return reject();
      this.#forwards += 1;
      const done = forwardPort(target.destPort, accept, reject, this.#workDeps(this.#grant));
      void done.finally(() => (this.#forwards -= 1));
    });
  }

  /** ssh2 waits for an answer before it passes on the next attempt. */
  async #authenticate(context: AuthContext): Promise<void> {
    const { socket } = this.#options;
    const methods = this.#methods();
    if (!methods.includes(context.method)) {
      context.reject(methods);
      return;
    }
    if (context.method === 'publickey' && context.signature === undefined && isUsableKey(context)) {
      context.accept(); // to sign with the key: whether it is registered is told only to its holder
      return;
    }
    const credential = readCredential(context);
    if (credential === null) {
      context.reject(methods);
      return;
    }
    const grant = await this.#login(context.username, credential);
    if (socket.destroyed) return;
    if (grant !== null) {
      this.#hold(grant);
      context.accept();
      return;
    }
    if (credential.kind === 'key') this.#keys += 1;
    else this.#passwords += 1;
    context.reject(this.#methods());
    if (this.#passwords >= MAX_PASSWORDS) this.end();
  }

  #methods(): readonly string[] {
    return this.#keys < MAX_KEYS ? ['publickey', 'password'] : ['password'];
  }

  async #login(userName: string, credential: SshCredential): Promise<SshGrant | null> {
    const { remoteAddress, requestId, onLogin } = this.#options;
    const refusedKeys = this.#keys;
    try {
      const attempt = { userName, credential, refusedKeys, remoteAddress, requestId };
      const grant = await this.#deps.login.login(attempt);
      this.#refusal = await onLogin(grant);
      return grant;
    } catch (raw) {
      const error = toAppError(raw);
      if (error.status >= 500) this.#log.error({ err: raw }, 'an SSH login failed');
      else this.#log.info({ code: error.code }, 'an SSH login was refused');
      return null;
    }
  }

  #hold(grant: SshGrant): void {
    const { socket } = this.#options;
    const { principal, sandboxId, right } = grant;
    this.#grant = grant;
    const release = this.#deps.rights.hold(right, (refusal) => {
      this.#log.info({ code: refusal.code }, 'an SSH connection was ended: its right was revoked');
      this.end();
    });
    socket.once('close', release);
    this.#log.info({ sandbox: sandboxId, principal: principal.id }, 'an SSH client has logged in');
  }

  #workDeps(grant: SshGrant) {
    const { remoteAddress, requestId } = this.#options;
    this.#sandbox ??= new SshSandbox(this.#deps, { grant, remoteAddress, requestId }, this.#refusal);
    return {
      sandbox: this.#sandbox,
      drained: () => this.#whenDrained(),
      gone: this.#gone.signal,
      failed: (error: unknown) => this.#note(error),
      opened: (channel: ServerChannel) => this.#track(channel),
    };
  }

  #watch(session: SshSession): void {
    this.#sessions += 1;
    void session.closed.then(() => (this.#sessions -= 1));
  }

  #track(channel: ServerChannel): void {
    this.#channels.add(channel);
    channel.once('close', () => this.#channels.delete(channel));
    channel.stderr.once('finish', () => this.#channels.delete(channel));
  }

  #note(error: unknown): void {
    if (isAppError(error) && error.status < 500) this.#log.info({ code: error.code }, 'an SSH request was refused');
    else if (isAppError(error)) this.#log.warn({ code: error.code }, 'an SSH request failed');
    else this.#log.error({ err: error }, 'an SSH request failed');
  }

  /** ssh2 sends without regard to how much the socket holds already, so output waits here. */
  #whenDrained(): Promise<void> {
    const { socket } = this.#options;
    if (socket.writableLength <= FULL_BYTES || socket.destroyed) return Promise.resolve();
    this.#drained ??= new Promise((resolve) => {
      const done = (): void => {
        socket.off('drain', done);
        socket.off('close', done);
        this.#drained = null;
        resolve();
      };
      socket.once('drain', done);
      socket.once('close', done);
    });
    return this.#drained;
  }

  /** ssh2 enforces neither of these limits. */
  #guard(): void {
    const { socket } = this.#options;
    const isFlooded = [...this.#channels].some((channel) => channel.readableLength > MAX_UNREAD_BYTES);
    if (!isFlooded && socket.writableLength <= MAX_UNSENT_BYTES) return;
    this.#log.warn({ unsent_bytes: socket.writableLength }, 'an SSH client ignored its window, or read nothing');
    socket.destroy();
  }
}

/** Null for other methods, and a key that cannot be used. */
function readCredential(context: AuthContext): SshCredential | null {
  const { method, password } = context;
  if (method === 'password' && password !== undefined) return { kind: 'password', password };
  if (method === 'publickey' && context.signature !== undefined && isUsableKey(context)) {
    return { kind: 'key', fingerprint: verifyKey(context) };
  }
  return null;
}
