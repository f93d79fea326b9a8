import { execFile, spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { collectStream, temporaryFolder, type FakeCaller, type TemporaryFolder } from '@svc/testing';
import type { TestPlatform } from './platform.ts';

export interface SshResult {
  /** Null if a signal ended the client. */
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface SshLoginOptions {
  readonly caller?: FakeCaller;
  readonly password?: string;
  readonly input?: string | Buffer;
  /** Key files to log in with, in this order, before the password if there is one. */
  readonly keys?: readonly string[];
}

/** A key pair in files of the client. */
export interface SshKeyPair {
  readonly path: string;
  readonly fingerprint: string;
}

const run = promisify(execFile);

/** A running client, its input open. */
export interface OpenSsh {
  readonly child: ChildProcessWithoutNullStreams;
  readonly result: Promise<SshResult>;
}

/** The programs of OpenSSH, and rsync over them, as a user of the platform would run them. */
export class SshClient {
  readonly folder: string;
  readonly #platform: TestPlatform;
  readonly #folder: TemporaryFolder;
  readonly #children = new Set<ChildProcessWithoutNullStreams>();

  private constructor(platform: TestPlatform, folder: TemporaryFolder) {
    this.#platform = platform;
    this.#folder = folder;
    this.folder = folder.path;
  }

  /** Trusts only the host key that the API reports. */
  static async create(platform: TestPlatform): Promise<SshClient> {
    const folder = await temporaryFolder('svc-ssh-');
    const { body } = await platform.call('GET', '/api/ssh');
    const client = new SshClient(platform, folder);
    await writeFile(join(folder.path, 'known_hosts'), `svc ${String(body['host_key'])}\n`);
    const askpass = join(folder.path, 'askpass');
    await writeFile(askpass, '#!/bin/sh\nprintf "%s\\n" "$TEST_PASSWORD"\n');
    await chmod(askpass, 0o700);
    return client;
  }

  /** Generates a key pair with `ssh-keygen`; `options` are its type and size. */
  async generateKey(name: string, ...options: string[]): Promise<SshKeyPair> {
    const path = join(this.folder, name);
    await run('ssh-keygen', ['-q', ...options, '-N', '', '-f', path]);
    const [, fingerprint = ''] = (await run('ssh-keygen', ['-l', '-f', `${path}.pub`])).stdout.split(' ');
    return { path, fingerprint };
  }

  /** Options for `-o`, the same for each program. */
  get options(): string[] {
    return [
      `Port=${this.#platform.sshPort ?? 0}`,
      'HostKeyAlias=svc',
      `UserKnownHostsFile=${join(this.folder, 'known_hosts')}`,
      'GlobalKnownHostsFile=/dev/null',
      'StrictHostKeyChecking=yes',
      'PreferredAuthentications=password',
      'NumberOfPasswordPrompts=1',
      'LogLevel=ERROR',
    ].flatMap((option) => ['-o', option]);
  }

  /** Runs `ssh` to the end. */
  async run(user: string, args: readonly string[], options: SshLoginOptions = {}): Promise<SshResult> {
    const { child, result } = this.open(user, args, options);
    child.stdin.on('error', () => undefined); // the client may end first
    child.stdin.end(options.input ?? '');
    return await result;
  }

  /** Starts `ssh` with arguments; those that begin with `-` come before the host. */
  open(user: string, args: readonly string[], options: SshLoginOptions = {}): OpenSsh {
    const rest = args.findIndex((each) => !each.startsWith('-'));
    const [before, after] = rest === -1 ? [args, []] : [args.slice(0, rest), args.slice(rest)];
    const login = loginOptions(options);
    return this.start(
      'ssh',
      ['-F', 'none', ...login, ...this.options, ...before, `${user}@127.0.0.1`, ...after],
      options,
    );
  }

  /** Starts any program that runs `ssh`. */
  start(program: string, args: readonly string[], { caller, password }: SshLoginOptions = {}): OpenSsh {
    const child = spawn(program, args, {
      cwd: this.folder,
      env: {
        PATH: process.env['PATH'],
        HOME: this.folder,
        LC_ALL: 'C',
        SSH_ASKPASS: join(this.folder, 'askpass'),
        SSH_ASKPASS_REQUIRE: 'force',
        TEST_PASSWORD: password ?? (caller ?? this.#platform.owner).token,
      },
    });
    this.#children.add(child);
    const result = Promise.all([collectStream(child.stdout), collectStream(child.stderr), once(child, 'close')]).then(
      ([stdout, stderr, [code]]) => ({ code: code as number | null, stdout, stderr: stderr.toString() }),
    );
    void result.finally(() => this.#children.delete(child));
    return { child, result };
  }

  async dispose(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    await this.#folder.remove();
  }
}

/** The first value of an option counts. */
function loginOptions({ keys, password }: SshLoginOptions): string[] {
  if (keys === undefined) return [];
  const methods = password === undefined ? 'publickey' : 'publickey,password';
  const options = [`PreferredAuthentications=${methods}`, 'IdentitiesOnly=yes', 'IdentityAgent=none'];
  return [...options, ...keys.map((path) => `IdentityFile=${path}`)].flatMap((option) => ['-o', option]);
}
