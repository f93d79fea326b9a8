/**
 * The part of ssh2 that the SSH listener uses, as it behaves. The published types leave out that `accept` may be absent,
 * and bring the types of another version of Node.
 */
declare module 'ssh2' {
  import type { EventEmitter } from 'node:events';
  import type { Socket } from 'node:net';
  import type { Duplex, Writable } from 'node:stream';

  export interface ServerChannel extends Duplex {
    readonly stderr: Writable;
    eof(): void;
    close(): void;
    exit(code: number): void;
    exit(signal: string, coreDumped: boolean, message: string): void;
  }

  /** Returns undefined if the request was answered, or its channel has ended. */
  type Accept<Result> = () => Result | undefined;
  /** Absent if the client wants no answer. */
  type Answer = (() => void) | undefined;

  export interface WindowSize {
    readonly cols: number;
    readonly rows: number;
  }

  export interface Session extends EventEmitter {
    on(event: 'close', listener: () => void): this;
    on(
      event: 'pty',
      listener: (accept: Answer, reject: Answer, info: WindowSize & { readonly term: string }) => void,
    ): this;
    on(event: 'window-change', listener: (accept: Answer, reject: Answer, info: WindowSize) => void): this;
    on(
      event: 'env',
      listener: (accept: Answer, reject: Answer, info: { readonly key: string; readonly val: string }) => void,
    ): this;
    on(event: 'signal', listener: (accept: Answer, reject: Answer, info: { readonly name: string }) => void): this;
    on(event: 'shell', listener: (accept: Accept<ServerChannel>, reject: Answer) => void): this;
    on(
      event: 'exec',
      listener: (accept: Accept<ServerChannel>, reject: Answer, info: { readonly command: string }) => void,
    ): this;
    on(
      event: 'subsystem',
      listener: (accept: Accept<ServerChannel>, reject: Answer, info: { readonly name: string }) => void,
    ): this;
  }

  export interface AuthContext {
    readonly username: string;
    readonly method: string;
    /** For the method `password` only. */
    readonly password?: string;
    /** For the method `publickey` only. RSA keys have the type `ssh-rsa`, whatever the hash. */
    readonly key?: { readonly algo: string; readonly data: Buffer };
    /** For RSA keys; absent for SHA-1. */
    readonly hashAlgo?: string;
    /** Absent if the client only asks whether it may use the key. */
    readonly signature?: Buffer;
    /** What the signature covers. */
    readonly blob?: Buffer;
    /** Without a signature, tells the client to sign. */
    accept(): void;
    reject(methodsLeft?: readonly string[]): void;
  }

  export interface Target {
    readonly destIP: string;
    readonly destPort: number;
  }

  export interface Connection extends EventEmitter {
    on(event: 'authentication', listener: (context: AuthContext) => void): this;
    on(event: 'error', listener: (error: Error) => void): this;
    on(event: 'session', listener: (accept: Accept<Session>, reject: () => void) => void): this;
    on(event: 'tcpip', listener: (accept: Accept<ServerChannel>, reject: () => void, target: Target) => void): this;
    /** Sends a disconnect message and ends the socket. */
    end(): this;
  }

  export interface ServerOptions {
    readonly hostKeys: readonly string[];
    /** Version in the identification string. */
    readonly ident: string;
    readonly keepaliveInterval: number;
    readonly keepaliveCountMax: number;
    readonly algorithms: {
      readonly kex: readonly string[];
      readonly cipher: readonly string[];
      readonly hmac: readonly string[];
      readonly compress: readonly string[];
    };
  }

  export interface ParsedKey {
    readonly type: string;
    getPublicSSH(): Buffer;
    /** An error if the key or the signature cannot be used. */
    verify(data: Buffer, signature: Buffer, hash?: string): boolean | Error;
  }

  const ssh2: {
    readonly Server: new (
      options: ServerOptions,
      listener: (client: Connection) => void,
    ) => { injectSocket(socket: Socket): void };
    readonly utils: {
      generateKeyPairSync(type: 'ed25519'): { readonly private: string; readonly public: string };
      parseKey(key: string): Error | ParsedKey;
    };
  };
  export default ssh2;
}
