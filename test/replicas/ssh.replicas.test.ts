import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { createClient } from '@svc/sdk';
import { describeRequiring, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeSandboxes } from '../system/remove-sandboxes.ts';
import type { RunningPlatform } from '../system/running-platform.ts';
import { createReplicas, type Replicas } from './replicas.ts';

const NEEDS = [
  'postgres',
  'linux',
  'root',
  'cgroups',
  'command:crun',
  'command:mkfs.ext4',
  'command:nft',
  'command:busybox',
  'command:ssh',
  'command:scp',
] as const;
const ENVIRONMENT = { SVC_SANDBOXES_SSH_PORT: '0' };
const LARGE_BYTES = 24 * 1024 * 1024;
const hash = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describeRequiring([...NEEDS], 'SSH at a replica that does not hold the sandbox', () => {
  let replicas: Replicas;
  let holder: RunningPlatform;
  let asked: RunningPlatform;
  let id: string;
  let options: string[];

  beforeAll(async () => {
    replicas = await createReplicas('sandboxes');
    holder = await replicas.start({ name: 'holder', environment: ENVIRONMENT });
    asked = await replicas.start({ name: 'asked', environment: ENVIRONMENT });
    const { url, token } = holder.ready;
    const client = createClient({ baseUrl: url, credential: { kind: 'token', token } });
    const sandbox = await client.sandboxes.create({ image: 'busybox', name: 'far', environment: { COLOR: 'blue' } });
    ({ id } = sandbox);
    const there = createClient({ baseUrl: asked.ready.url, credential: { kind: 'token', token: asked.ready.token } });
    const { port, host_key: key } = await there.sandboxes.ssh();
    const known = join(replicas.folder, 'known_hosts');
    await writeFile(known, `svc ${key ?? ''}\n`);
    const askpass = join(replicas.folder, 'askpass');
    await writeFile(askpass, '#!/bin/sh\nprintf "%s\\n" "$TEST_PASSWORD"\n');
    await chmod(askpass, 0o700);
    const wanted = { Port: port, HostKeyAlias: 'svc', UserKnownHostsFile: known, StrictHostKeyChecking: 'yes' };
    const others = { PreferredAuthentications: 'password', LogLevel: 'ERROR' };
    options = Object.entries({ ...wanted, ...others }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  });
  afterAll(async () => {
    const { url, token } = holder.ready;
    await removeSandboxes(createClient({ baseUrl: url, credential: { kind: 'token', token } }));
    await replicas[Symbol.asyncDispose]();
  });

  const start = (program: string, args: readonly string[]) => {
    const child = spawn(program, ['-F', 'none', ...options, ...args], {
      env: {
        PATH: process.env['PATH'],
        SSH_ASKPASS: join(replicas.folder, 'askpass'),
        SSH_ASKPASS_REQUIRE: 'force',
        TEST_PASSWORD: asked.ready.token,
      },
    });
    child.stdin.on('error', () => undefined);
    const ended = Promise.all([buffer(child.stdout), text(child.stderr), once(child, 'close')]).then(
      ([stdout, stderr]) => ({ code: child.exitCode, stdout, stderr }),
    );
    return { child, ended };
  };
  const run = async (args: readonly string[], input = Buffer.alloc(0)) => {
    const { child, ended } = start('ssh', [`${id}@127.0.0.1`, ...args]);
    child.stdin.end(input);
    return await ended;
  };

  it('runs commands with both outputs, the exit code and the environment of the sandbox', async () => {
    const { code, stdout, stderr } = await run(['echo out $COLOR; echo err >&2; exit 3']);
    expect({ code, stdout: stdout.toString(), stderr }).toEqual({ code: 3, stdout: 'out blue\n', stderr: 'err\n' });
  });

  it('passes much more than all windows hold, in both directions and on both outputs', async () => {
    const input = randomBytes(LARGE_BYTES);
    const { code, stdout } = await run(['cat'], input);
    expect([code, hash(stdout)]).toEqual([0, hash(input)]);
    const both = await run([`head -c ${LARGE_BYTES} /dev/zero >&2 & head -c ${LARGE_BYTES} /dev/zero; wait`]);
    expect([both.code, both.stdout.length, both.stderr.length]).toEqual([0, LARGE_BYTES, LARGE_BYTES]);
  });

  it('has terminals that follow the size of the window', async () => {
    const { child, ended } = start('ssh', ['-tt', `${id}@127.0.0.1`, 'test -t 0 && stty size && exit 5']);
    child.stdin.end();
    expect(await ended).toMatchObject({ code: 5 });
  });

  it('copies files', async () => {
    const content = randomBytes(5_000_000);
    await writeFile(join(replicas.folder, 'sent'), content);
    const send = start('scp', [join(replicas.folder, 'sent'), `${id}@127.0.0.1:/root/file`]);
    expect(await send.ended).toMatchObject({ code: 0, stderr: '' });
    const fetched = join(replicas.folder, 'fetched');
    expect(await start('scp', [`${id}@127.0.0.1:/root/file`, fetched]).ended).toMatchObject({ code: 0, stderr: '' });
    expect(hash(await readFile(fetched))).toBe(hash(content));
  });

  it('reaches ports, whose connections end on each side alone', async () => {
    const server = start('ssh', [`${id}@127.0.0.1`, 'echo ready; exec nc -l -p 8080 -e sh -c "cat; echo bye"']);
    await once(server.child.stdout, 'data');
    const { child, ended } = start('ssh', ['-W127.0.0.1:8080', `${id}@127.0.0.1`]);
    child.stdin.end('hello\n');
    expect((await ended).stdout.toString()).toBe('hello\nbye\n');
    server.child.kill();
    expect(await start('ssh', ['-W127.0.0.1:9', `${id}@127.0.0.1`]).ended).toMatchObject({
      code: 255,
      stderr: expect.stringContaining('stdio forwarding failed'),
    });
  });

  it('ends the session when the replica of the sandbox dies', async () => {
    const open = start('ssh', [`${id}@127.0.0.1`, 'echo ready; exec sleep 1000']);
    await once(open.child.stdout, 'data');
    await holder.kill();
    expect((await open.ended).code).toBe(255);
    expect(await run(['true'])).toMatchObject({ code: 255, stderr: expect.stringMatching(/^svc: (REPLICA|SANDBOX)_/) });
    holder = await replicas.start({ name: 'holder', environment: ENVIRONMENT });
    await waitFor(async () => (await run(['echo back'])).stdout.toString() === 'back\n', { timeoutMs: 60_000 });
  });
});
