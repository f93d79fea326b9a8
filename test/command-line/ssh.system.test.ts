import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createClient, type SvcClient } from '@svc/sdk';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeSandboxes } from '../system/remove-sandboxes.ts';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { CommandLine } from './command-line.ts';

const ON = { SVC_SANDBOXES_SSH_PORT: '0' };

describeRequiring(['linux', 'root', 'command:ssh'], 'svc ssh-config', () => {
  let folder: TemporaryFolder;
  let platform: RunningPlatform;
  let client: SvcClient;
  let svc: CommandLine;

  const start = async (environment: Record<string, string>): Promise<void> => {
    platform = await startPlatform({ dataFolder: join(folder.path, 'data'), environment });
    const { url, token } = platform.ready;
    client = createClient({ baseUrl: url, credential: { kind: 'token', token } });
    svc = new CommandLine({ HOME: folder.path, SVC_URL: url, SVC_TOKEN: token }, folder.path);
  };
  beforeAll(async () => {
    folder = await temporaryFolder('svc-ssh-config-');
    const askpass = join(folder.path, 'askpass');
    await writeFile(askpass, '#!/bin/sh\nprintf "%s\\n" "$TEST_PASSWORD"\n');
    await chmod(askpass, 0o700);
    await start(ON);
    await client.sandboxes.create({ image: 'busybox', name: 'dev' });
  });
  afterAll(async () => {
    await removeSandboxes(client);
    await platform.stop();
    await folder.remove();
  });

  const config = () => join(folder.path, '.ssh/config');
  /** OpenSSH looks for its files in the folder of the system's user, so the configuration is named. */
  const open = (args: readonly string[], password = platform.ready.token) => {
    const child = spawn('ssh', ['-F', config(), '-o', 'LogLevel=ERROR', ...args], {
      env: {
        PATH: process.env['PATH'],
        SSH_ASKPASS: join(folder.path, 'askpass'),
        SSH_ASKPASS_REQUIRE: 'force',
        TEST_PASSWORD: password,
      },
    });
    const ended = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]).then(
      ([stdout, stderr]) => ({ code: child.exitCode, stdout, stderr }),
    );
    return { child, ended };
  };
  const ssh = async (...args: string[]) => {
    const { child, ended } = open(args);
    child.stdin.end();
    return await ended;
  };

  it('writes an entry with which ssh reaches the sandbox, and verifies the host', async () => {
    const { exitCode, stdout } = await svc.run(['ssh-config', 'dev']);
    expect([exitCode, stdout.toString()]).toEqual([
      0,
      `Saved to ${config()}\nRun ssh dev.svc, with a key of svc ssh-key or an API token as the password\n`,
    ]);
    expect((await stat(config())).mode & 0o777).toBe(0o600);
    expect(await ssh('dev.svc', 'echo', 'hello')).toEqual({ code: 0, stdout: 'hello\n', stderr: '' });
    const known = join(folder.path, '.config/svc/ssh_known_hosts');
    const keys = await readFile(known, 'utf8');
    await writeFile(
      known,
      keys.replace(/ssh-ed25519 .*/, (await client.sandboxes.ssh()).host_key?.slice(0, -4) + 'AAAA'),
    );
    expect(await ssh('dev.svc', 'true')).toMatchObject({ code: 255 });
    await svc.run(['ssh-config', 'dev']);
    expect(await readFile(known, 'utf8')).toBe(keys);
  });

  it('prints the entry, and changes only its own one', async () => {
    const before = await readFile(config(), 'utf8');
    const printed = await svc.run([
      'ssh-config',
      'dev',
      '--print',
      '--alias',
      'box',
      '--host',
      'svc.example',
      '--port',
      '22',
    ]);
    expect(printed.stdout.toString()).toMatch(
      /^Host box\n {2}HostName svc\.example\n {2}Port 22\n {2}User sbx_[a-z2-7]{26}\n/,
    );
    expect(await readFile(config(), 'utf8')).toBe(before);
    await writeFile(config(), `${before}\nHost *\n  Port 1\n`);
    await svc.run(['ssh-config', 'dev']);
    expect(await readFile(config(), 'utf8')).toBe(`${before}\nHost *\n  Port 1\n`);
    for (const wrong of [
      ['--alias', '*'],
      ['--port', '0'],
    ]) {
      expect((await svc.run(['ssh-config', 'dev', ...wrong])).exitCode).toBe(2);
    }
  });

  it('ends a session whose token was deleted', async () => {
    const { url, token: ownerToken, workspace_uuid: workspace } = platform.ready;
    const accounts = `${url}/api/v1/workspaces/${workspace}/service-accounts`;
    const headers = { authorization: `Bearer ${ownerToken}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ name: 'ssh', scopes: ['write'] });
    const created = await fetch(accounts, { method: 'POST', headers, body });
    const { id, token } = (await created.json()) as { id: string; token: string };
    const { child, ended } = open(['dev.svc', 'cat'], token);
    child.stdin.write('ready\n');
    await once(child.stdout, 'data');
    expect(
      (await fetch(`${accounts}/${id}`, { method: 'DELETE', headers: { authorization: headers.authorization } })).ok,
    ).toBe(true);
    expect((await ended).code).toBe(255);
  });

  it('logs in with a key of svc ssh-key, until it is removed', async () => {
    const owner = await readFile(join(folder.path, 'data/owner.json'), 'utf8');
    const { password } = JSON.parse(owner) as { password: string };
    const key = join(folder.path, 'id laptop');
    await promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ann@laptop', '-f', key]);
    const withPassword = (args: readonly string[], input = password) =>
      svc.run([...args, '--password-stdin'], { input: `${input}\n` });
    expect(await withPassword(['ssh-key', 'add', key])).toMatchObject({ exitCode: 2 }); // the private one
    expect(await withPassword(['ssh-key', 'add', `${key}.pub`], 'wrong')).not.toMatchObject({ exitCode: 0 });
    const added = await withPassword(['ssh-key', 'add', `${key}.pub`]);
    expect([added.exitCode, added.stdout.toString()]).toEqual([
      0,
      expect.stringMatching(/^Added SSH key ann@laptop\nSHA256:\S{43}\n$/),
    ]);
    const list = async () =>
      JSON.parse((await svc.run(['ssh-key', 'ls', '--json'])).stdout.toString()) as { fingerprint: string }[];
    const [listed] = await list();
    expect(listed).toMatchObject({ name: 'ann@laptop', type: 'ssh-ed25519' });
    await svc.run(['ssh-config', 'dev', '--identity', key]);
    const { child, ended } = open(['-o', 'PreferredAuthentications=publickey', 'dev.svc', 'cat']);
    child.stdin.write('ready\n');
    await once(child.stdout, 'data');
    expect(await withPassword(['ssh-key', 'rm', listed?.fingerprint ?? ''])).toMatchObject({ exitCode: 0 });
    expect((await ended).code).toBe(255);
    expect(await list()).toEqual([]);
    // What the command opened for the password is closed again.
    const { items } = await client.accounts.audit({ pageSize: 50 });
    expect(items.filter(({ action }) => action === 'session:delete')).toHaveLength(2);
  });

  it('is told when SSH is off, and keeps the host key', async () => {
    const { fingerprint } = await client.sandboxes.ssh();
    await platform.stop();
    await start({});
    const { exitCode, stderr } = await svc.run(['ssh-config', 'dev']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('SSH is off on this platform')]);
    await platform.stop();
    await start(ON);
    expect((await client.sandboxes.ssh()).fingerprint).toBe(fingerprint);
  });
});
