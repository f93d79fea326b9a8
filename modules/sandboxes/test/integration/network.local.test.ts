import { spawn, type ChildProcess } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { requirement, skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HelperConnection } from '../../src/domain/helper/helper-connection.ts';
import { localDriverReason, localSubject, type LocalSubject } from '../support/local-subject.ts';
import { runInSandbox } from '../support/run-in-sandbox.ts';
import { sampleSpec } from '../support/sample-spec.ts';

const reason = localDriverReason() ?? requirement('command:ip');
const title = 'egress of a local sandbox';

const NAMESPACE = 'svc-test-outside';
const OUTSIDE = '11.11.11.2';
/** A resolver at a private address, which only platforms that name it may reach. */
const RESOLVER = '10.251.0.2';
const SERVER = `
  const net = require('node:net');
  net.createServer((socket) => socket.end('resolver')).listen(53, '${RESOLVER}');
  net.createServer((socket) => socket.end(socket.remoteAddress)).listen(8080, '${OUTSIDE}', () => console.log('up'));
`;

/** A neighbour with a public address, in a network namespace: the control that makes a refusal meaningful. */
describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let subject: LocalSubject;
  let connection: HelperConnection;
  let server: ChildProcess;
  const ip = (...args: string[]): string => execFileSync('ip', args, { encoding: 'utf8' });

  beforeAll(async () => {
    ip('netns', 'add', NAMESPACE);
    ip('link', 'add', 'svctest0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', NAMESPACE);
    ip('addr', 'add', '11.11.11.1/30', 'dev', 'svctest0');
    ip('link', 'set', 'svctest0', 'up');
    ip('-n', NAMESPACE, 'addr', 'add', `${OUTSIDE}/30`, 'dev', 'eth0');
    ip('-n', NAMESPACE, 'addr', 'add', `${RESOLVER}/32`, 'dev', 'eth0');
    ip('route', 'add', `${RESOLVER}/32`, 'via', OUTSIDE, 'dev', 'svctest0', 'onlink');
    ip('-n', NAMESPACE, 'link', 'set', 'eth0', 'up');
    ip('-n', NAMESPACE, 'route', 'add', '100.96.0.0/16', 'via', '11.11.11.1');
    server = spawn('ip', ['netns', 'exec', NAMESPACE, process.execPath, '-e', SERVER], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (server.stdout !== null) await once(server.stdout, 'data');
    subject = await localSubject('builtin', { nameservers: [RESOLVER] });
    await subject.driver.open();
    const spec = sampleSpec('egress', { network: 'egress' });
    await subject.driver.create(spec, AbortSignal.timeout(60_000));
    await subject.driver.start(spec, AbortSignal.timeout(60_000));
    connection = await subject.driver.connect(spec.id, AbortSignal.timeout(10_000));
  });
  afterAll(async () => {
    server.kill('SIGKILL');
    await subject.dispose();
    ip('netns', 'del', NAMESPACE);
  });

  const fetchOutside = (address: string, port = 8080) =>
    runInSandbox(connection, ['sh', '-c', `nc -w 2 ${address} ${port} </dev/null`]);

  it("reaches a public address, which sees this host's address", async () => {
    expect(await fetchOutside(OUTSIDE)).toMatchObject({ exitCode: 0, stdout: '11.11.11.1' });
  });

  it('cannot reach this host at the address the neighbour sees', async () => {
    const here = (await import('node:net')).createServer((socket) => socket.end('reached')).listen(8081, '11.11.11.1');
    await once(here, 'listening');
    expect((await fetchOutside('11.11.11.1', 8081)).stdout).toBe('');
    await new Promise((resolve) => here.close(resolve));
  });

  it('cannot be reached by the neighbour', async () => {
    const found = await runInSandbox(connection, ['ip', '-4', 'addr', 'show', 'eth0']);
    const address = /inet ([0-9.]+)/.exec(found.stdout)?.[1] ?? '';
    const listener = runInSandbox(connection, ['timeout', '3', 'nc', '-l', '-p', '9000']);
    await waitFor(async () => (await runInSandbox(connection, ['netstat', '-ltn'])).stdout.includes(':9000'));
    const probe = `require('node:net').connect(9000, '${address}').setTimeout(1000).once('connect', () => process.exit(0))
      .once('timeout', () => process.exit(7)).once('error', () => process.exit(8))`;
    const client = spawn('ip', ['netns', 'exec', NAMESPACE, process.execPath, '-e', probe], { stdio: 'ignore' });
    const [code] = (await once(client, 'exit')) as [number];
    expect([7, 8]).toContain(code);
    await listener;
  });

  it('keeps its resolver when a platform with another one starts on the same machine', async () => {
    expect(await fetchOutside(RESOLVER, 53)).toMatchObject({ exitCode: 0, stdout: 'resolver' });
    const other = await localSubject('builtin', { nameservers: ['10.251.0.3'] });
    try {
      await other.driver.open();
      const spec = sampleSpec('egress-elsewhere', { network: 'egress' });
      await other.driver.create(spec, AbortSignal.timeout(60_000));
      await other.driver.start(spec, AbortSignal.timeout(60_000));
      const elsewhere = await other.driver.connect(spec.id, AbortSignal.timeout(10_000));
      const reach = (address: string, port: number) =>
        runInSandbox(elsewhere, ['sh', '-c', `nc -w 2 ${address} ${port} </dev/null`]);
      expect(await reach(OUTSIDE, 8080)).toMatchObject({ exitCode: 0, stdout: '11.11.11.1' });
      expect((await reach(RESOLVER, 53)).stdout).toBe('');
      expect(await fetchOutside(RESOLVER, 53)).toMatchObject({ exitCode: 0, stdout: 'resolver' });
    } finally {
      await other.dispose();
    }
    expect(await fetchOutside(RESOLVER, 53)).toMatchObject({ exitCode: 0, stdout: 'resolver' });
  });

  it('cannot spoof another address', async () => {
    const spoofed = await runInSandbox(connection, ['ip', 'addr', 'add', '100.96.200.200/32', 'dev', 'eth0']);
    expect(spoofed.exitCode).not.toBe(0);
  });
});
