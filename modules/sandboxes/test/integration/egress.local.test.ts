import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { requirement, skippedTitle, startNameServer, type NameServer } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HelperConnection } from '../../src/domain/helper/helper-connection.ts';
import { EVERYTHING } from '../../src/domain/egress-hosts.ts';
import { complementOf } from '../../src/domain/egress-ranges.ts';
import { localDriverReason, localSubject, type LocalSubject } from '../support/local-subject.ts';
import { runInSandbox } from '../support/run-in-sandbox.ts';
import { sampleSpec } from '../support/sample-spec.ts';

const reason = localDriverReason() ?? requirement('command:ip');
const title = 'egress of a sandbox that may reach named hosts only';

const NAMESPACE = 'svc-test-hosts';
const ALLOWED = '12.12.12.2';
const OTHER = '12.12.12.6';
const SERVER = `
  const net = require('node:net');
  for (const [address, port] of [['${ALLOWED}', 8080], ['${OTHER}', 8080], ['${OTHER}', 53], ['${OTHER}', 443]]) {
    net.createServer((socket) => socket.end('reached')).listen(port, address);
  }
  net.createServer((socket) => socket.pipe(socket)).listen(9090, '${OTHER}');
  require('node:dgram').createSocket('udp4').on('message', () => console.log('asked')).bind(53, '${OTHER}', () => console.log('up'));
`;

/** Neighbours with public addresses, in a network namespace. The control is a sandbox without an allowlist. */
describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let subject: LocalSubject;
  let names: NameServer;
  let server: ChildProcess;
  const refused: string[] = [];
  const connections = new Map<string, HelperConnection>();
  const ip = (...args: string[]): string => execFileSync('ip', args, { encoding: 'utf8' });

  const begin = async (name: string, egressAllow: readonly string[] | null): Promise<HelperConnection> => {
    const spec = sampleSpec(name, { network: 'egress', egressAllow });
    await subject.driver.create(spec, AbortSignal.timeout(60_000));
    await subject.driver.start(spec, AbortSignal.timeout(60_000));
    const connection = await subject.driver.connect(spec.id, AbortSignal.timeout(10_000));
    connections.set(name, connection);
    return connection;
  };
  const run = async (name: string, script: string): Promise<string> => {
    const connection = connections.get(name);
    if (connection === undefined) throw new Error(`no sandbox ${name}`);
    return (await runInSandbox(connection, ['sh', '-c', script])).stdout.trim();
  };
  const reach = (name: string, host: string, port = 8080): Promise<string> =>
    run(name, `nc -w 3 ${host} ${port} </dev/null 2>/dev/null || true`);

  beforeAll(async () => {
    ip('netns', 'add', NAMESPACE);
    ip('link', 'add', 'svctest1', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', NAMESPACE);
    ip('addr', 'add', '12.12.12.1/24', 'dev', 'svctest1');
    ip('link', 'set', 'svctest1', 'up');
    for (const address of [ALLOWED, OTHER]) ip('-n', NAMESPACE, 'addr', 'add', `${address}/24`, 'dev', 'eth0');
    ip('-n', NAMESPACE, 'link', 'set', 'eth0', 'up');
    ip('-n', NAMESPACE, 'link', 'set', 'lo', 'up');
    server = spawn('ip', ['netns', 'exec', NAMESPACE, process.execPath, '-e', SERVER], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    if (server.stdout !== null) await once(server.stdout, 'data');
    names = await startNameServer(
      {
        'allowed.example': [ALLOWED],
        'deep.below.wild.example': [ALLOWED],
        'wild.example': [OTHER],
        'other.example': [OTHER],
        'inside.example': ['127.0.0.1', '169.254.169.254', '100.96.0.1'],
      },
      300,
    );
    subject = await localSubject('builtin', {
      nameservers: [names.address],
      refused: (_id, host) => refused.push(host),
    });
    await subject.driver.open();
    await begin('hostsfree', null);
    await begin('hostslisted', ['allowed.example', '*.wild.example', 'inside.example', 'unknown.example']);
  });
  afterAll(async () => {
    server.kill('SIGKILL');
    await subject.dispose();
    await names.close();
    ip('netns', 'del', NAMESPACE);
  });

  it('does not restrict a sandbox without an allowlist', async () => {
    expect(await reach('hostsfree', ALLOWED)).toBe('reached');
    expect(await reach('hostsfree', OTHER)).toBe('reached');
    expect(await reach('hostsfree', OTHER, 53)).toBe('reached');
  });

  it('allows an address only after an allowed name resolved to it', async () => {
    expect(await reach('hostslisted', ALLOWED)).toBe('');
    await expect.poll(() => reach('hostslisted', 'allowed.example')).toBe('reached');
    await expect.poll(() => reach('hostslisted', ALLOWED)).toBe('reached');
    await expect.poll(() => reach('hostslisted', 'deep.below.wild.example')).toBe('reached');
  });

  it('refuses every other name and reports it', async () => {
    expect(await reach('hostslisted', 'other.example')).toBe('');
    expect(await reach('hostslisted', 'wild.example')).toBe('');
    expect(refused).toEqual(expect.arrayContaining(['other.example', 'wild.example']));
    expect(names.asked).not.toContain('other.example');
    expect(await run('hostslisted', 'nslookup unknown.example >/dev/null 2>&1; echo $?')).not.toBe('0');
    expect(refused).not.toContain('unknown.example');
  });

  it('refuses addresses, other resolvers and DNS over HTTPS, even to root with changed settings', async () => {
    await run(
      'hostslisted',
      `echo nameserver ${OTHER} > /etc/resolv.conf; ip route add default dev eth0 2>/dev/null; true`,
    );
    expect(await reach('hostslisted', 'allowed.example')).toBe('');
    expect(await reach('hostslisted', OTHER)).toBe('');
    expect(await reach('hostslisted', OTHER, 53)).toBe('');
    expect(await reach('hostslisted', OTHER, 443)).toBe('');
    let asked = '';
    server.stdout?.on('data', (text: Buffer) => (asked += text.toString()));
    const ask = `timeout 2 nslookup allowed.example ${OTHER} >/dev/null 2>&1; true`;
    await run('hostslisted', ask);
    expect(asked).toBe('');
    await run('hostsfree', ask);
    await expect.poll(() => asked).toContain('asked');
    await run('hostslisted', 'echo nameserver 100.96.0.1 > /etc/resolv.conf');
    await expect.poll(() => reach('hostslisted', 'allowed.example')).toBe('reached');
  });

  it('keeps private addresses blocked, even if an allowed name resolves to one', async () => {
    await run('hostslisted', 'nslookup inside.example >/dev/null 2>&1; true');
    for (const port of [22, 53, 80, 8080]) expect(await reach('hostslisted', '100.96.0.1', port)).toBe('');
    expect(await reach('hostslisted', '169.254.169.254', 80)).toBe('');
  });

  it('allows addresses and ranges without a name, and no name because of them', async () => {
    await begin('ranges', [`${ALLOWED}/32`]);
    expect(await reach('ranges', ALLOWED)).toBe('reached');
    expect(await reach('ranges', OTHER)).toBe('');
    expect(await reach('ranges', 'allowed.example')).toBe('');
    await subject.driver.remove('sbx_ranges');
  });

  it('resolves every name with *, but only to addresses of its ranges', async () => {
    await begin('denying', ['*', ...complementOf([`${OTHER}/32`]), 'wild.example']);
    expect(await reach('denying', ALLOWED)).toBe('reached');
    expect(await reach('denying', OTHER)).toBe('');
    await expect.poll(() => reach('denying', 'allowed.example')).toBe('reached');
    expect(await reach('denying', 'other.example')).toBe('');
    // A listed name opens its addresses, even one that is in no range.
    await expect.poll(() => reach('denying', 'wild.example')).toBe('reached');
    expect(await reach('denying', '100.96.0.1', 53)).toBe('');
    await subject.driver.remove('sbx_denying');
  });

  it('changes while the sandbox runs, cuts its connections, and lasts beyond a restart of the driver', async () => {
    await begin('changing', null);
    await run('changing', 'echo nameserver 100.96.0.1 > /etc/resolv.conf'); // the test's own is out of reach
    const change = (allowed: readonly string[]) => subject.driver.changeEgress('sbx_changing', allowed);
    expect(await reach('changing', OTHER)).toBe('reached');
    const held = run('changing', `(sleep 2; echo more) | timeout 5 nc ${OTHER} 9090 || true`);
    await change([]);
    expect(await reach('changing', OTHER)).toBe('');
    expect(await reach('changing', 'allowed.example')).toBe('');
    expect(await held).not.toContain('more');
    await change(['allowed.example']);
    await expect.poll(() => reach('changing', 'allowed.example')).toBe('reached');
    expect(await reach('changing', OTHER)).toBe('');
    await subject.driver.close();
    expect((await subject.driver.open()).available).toBe(true);
    expect(await reach('changing', OTHER)).toBe('');
    await change(EVERYTHING);
    expect(await reach('changing', OTHER)).toBe('reached');
    await expect.poll(() => reach('changing', 'other.example')).toBe('reached');
    expect(await reach('changing', '100.96.0.1', 22)).toBe('');
    await subject.driver.remove('sbx_changing');
    await expect(change([])).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
  });

  it('answers only address queries, and only sandboxes with an allowlist', async () => {
    expect(await run('hostslisted', 'nslookup -type=txt allowed.example 2>&1 | grep -c text || true')).toBe('0');
    expect(await run('hostsfree', 'nslookup allowed.example 100.96.0.1 >/dev/null 2>&1; echo $?')).not.toBe('0');
  });

  it('keeps the allowlist when the driver restarts, and removes its table with the sandbox', async () => {
    // By the host's end of its network pair: other tests have tables of their own.
    const peer = /@if(\d+)/.exec(await run('hostslisted', 'ip link show eth0'))?.[1];
    const host = execFileSync('ip', ['-o', 'link'], { encoding: 'utf8' });
    const table = `svc_egress_${new RegExp(`^${peer}: ([^@:]+)`, 'm').exec(host)?.[1]}`;
    const tables = (): string[] => execFileSync('nft', ['list', 'tables'], { encoding: 'utf8' }).split(/\s+/);
    expect(tables()).toContain(table);
    await subject.driver.close();
    expect(await reach('hostslisted', 'allowed.example')).toBe('');
    expect((await subject.driver.open()).available).toBe(true);
    await expect.poll(() => reach('hostslisted', 'allowed.example')).toBe('reached');
    expect(await reach('hostslisted', OTHER)).toBe('');
    await subject.driver.remove('sbx_hostslisted');
    expect(tables()).not.toContain(table);
  });
});
