import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { QuotaLimits } from '@svc/quotas';
import { describeRequiring, fakeClock, waitFor, type FakeCaller, type FakeClock } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SandboxesConfig } from '../../src/config.ts';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { ignoreWindow, offerKey } from '../support/raw-ssh-client.ts';
import { SshClient } from '../support/ssh-client.ts';

const REFUSED = { code: 255, stderr: expect.stringContaining('Permission denied') };

describeRequiring(['command:ssh'], 'SSH to a sandbox', () => {
  let driver: FakeDriver;
  let platform: TestPlatform;
  let ssh: SshClient;
  let id: string;

  const start = async (
    config: Partial<SandboxesConfig> = {},
    more: { clock?: FakeClock; quotaLimits?: () => QuotaLimits } = {},
  ): Promise<void> => {
    driver = new FakeDriver();
    platform = await startPlatform({ driver, config: { ssh: { port: 0, max_connections: 100 }, ...config }, ...more });
    ssh = await SshClient.create(platform);
    const body = { image: 'busybox', name: 'web' };
    id = String((await platform.call('POST', '/api/containers?wait_ms=10000', { body })).body['id']);
  };
  beforeEach(async () => {
    await start();
  });
  afterEach(async () => {
    await ssh.dispose();
    await platform.dispose();
    await driver.dispose();
  });
  const restart = async (...settings: Parameters<typeof start>): Promise<void> => {
    await ssh.dispose();
    await platform.dispose();
    await driver.dispose();
    await start(...settings);
  };
  const member = (role: 'admin' | 'member' | 'guest'): { caller: FakeCaller; user: string; team: string } => {
    const team = platform.access.team(platform.owner.workspaceUuid);
    const caller = platform.access.user(role);
    platform.access.join(team, caller, role);
    return { caller, user: `${id}+${team}`, team };
  };
  /** A session that echoes its input, once it does. */
  const openEcho = async (user: string, caller: FakeCaller) => {
    const open = ssh.open(user, ['cat'], { caller });
    const shown: Buffer[] = [];
    open.child.stdout.on('data', (chunk: Buffer) => shown.push(chunk));
    open.child.stdin.on('error', () => undefined);
    open.child.stdin.write('hello\n');
    await waitFor(() => Buffer.concat(shown).toString().includes('hello'));
    return open;
  };

  it('runs a command by ID and by name, and is recorded like a terminal', async () => {
    expect(await ssh.run(id, ['exit 3'])).toMatchObject({ code: 3, stderr: '' });
    expect(await ssh.run('web', ['exit 4'])).toMatchObject({ code: 4 });
    expect(platform.audit.entries.at(-1)).toMatchObject({
      action: 'sandbox:exec',
      resource: `sandbox/${id}`,
      outcome: 'success',
      remoteAddress: '127.0.0.1',
      principal: { id: platform.owner.principal.id },
      details: { via: 'ssh', request: 'exec' },
    });
  });

  it('refuses a public key that the library fails to parse, and serves others', async () => {
    const field = (bytes: Buffer | string): Buffer =>
      Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), Buffer.from(bytes)]);
    const type = 'ecdsa-sha2-nistp256';
    await offerKey(platform.sshPort ?? 0, id, type, Buffer.concat([type, 'nistp256', ''].map(field)));
    expect(await ssh.run(id, ['exit 3'])).toMatchObject({ code: 3 });
  });

  it('reports port and host key', async () => {
    const first = (await platform.call('GET', '/api/ssh')).body;
    expect(first).toMatchObject({
      enabled: true,
      port: platform.sshPort,
      host_key: expect.stringMatching(/^ssh-ed25519 [A-Za-z0-9+/]{68}$/),
      fingerprint: expect.stringMatching(/^SHA256:[A-Za-z0-9+/]{43}$/),
    });
    expect((await platform.call('GET', '/api/ssh', { caller: null })).status).toBe(401);
    expect((await platform.call('GET', '/api/ssh', { caller: platform.access.guest() })).status).toBe(200);
  });

  it('is off without a port', async () => {
    await restart({ ssh: { max_connections: 100 } });
    expect(platform.sshPort).toBeNull();
    expect((await platform.call('GET', '/api/ssh')).body).toEqual({
      enabled: false,
      port: null,
      host_key: null,
      fingerprint: null,
    });
  });

  it('admits the callers that may open a terminal, and no others', async () => {
    const scoped = (scope: 'read' | 'write') => platform.access.serviceAccount(platform.owner.workspaceUuid, [scope]);
    const stranger = platform.access.user('stranger');
    const { user } = member('member');
    const allowed: [string, FakeCaller][] = [
      [user, member('admin').caller],
      [user, member('member').caller],
      [id, scoped('write')],
      ['web', scoped('write')],
    ];
    for (const [name, caller] of allowed)
      expect(await ssh.run(name, ['exit 0'], { caller })).toMatchObject({ code: 0 });
    const refused: [string, FakeCaller][] = [
      [user, member('guest').caller],
      [id, member('member').caller], // without its team
      [id, stranger],
      ['web', stranger],
      [id, scoped('read')],
      [id, platform.access.guest()],
    ];
    for (const [name, caller] of refused) expect(await ssh.run(name, ['exit 0'], { caller })).toMatchObject(REFUSED);
    expect(platform.audit.entries.at(-1)).toMatchObject({ outcome: 'refused', details: { via: 'ssh' } });
  });

  it('refuses a wrong token, an unknown and a deleted sandbox, and other methods', async () => {
    expect(await ssh.run(id, ['exit 0'], { password: 'wrong' })).toMatchObject(REFUSED);
    expect(await ssh.run('other', ['exit 0'])).toMatchObject(REFUSED);
    expect((await platform.call('DELETE', `/api/containers/${id}`)).status).toBe(200);
    expect(await ssh.run(id, ['exit 0'])).toMatchObject(REFUSED);
  });

  it.each([
    ['Ed25519', '-t', 'ed25519'],
    ['ECDSA with 256 bits', '-t', 'ecdsa', '-b', '256'],
    ['ECDSA with 384 bits', '-t', 'ecdsa', '-b', '384'],
    ['ECDSA with 521 bits', '-t', 'ecdsa', '-b', '521'],
    ['RSA with SHA-2', '-t', 'rsa', '-b', '2048'],
  ])('admits the holder of a registered key: %s', async (_what, ...options) => {
    const { path, fingerprint } = await ssh.generateKey('key', ...options);
    expect(await ssh.run(id, ['exit 0'], { keys: [path] })).toMatchObject(REFUSED);
    platform.access.sshKey(platform.owner, fingerprint);
    expect(await ssh.run(id, ['exit 3'], { keys: [path] })).toMatchObject({ code: 3, stderr: '' });
    expect(await ssh.run('web', ['exit 4'], { keys: [path] })).toMatchObject({ code: 4 });
    expect(platform.audit.entries.at(-1)).toMatchObject({
      outcome: 'success',
      principal: { id: platform.owner.principal.id, credential: 'ssh_key' },
      details: { via: 'ssh', request: 'exec' },
    });
  });

  it('admits keys with the rights of their user, no more', async () => {
    const { user, caller } = member('member');
    const roles = { member: caller, guest: member('guest').caller, stranger: platform.access.user('stranger') };
    for (const [name, each] of Object.entries(roles)) {
      const { path, fingerprint } = await ssh.generateKey(name, '-t', 'ed25519');
      platform.access.sshKey(each, fingerprint);
      const expected = name === 'member' ? { code: 0 } : REFUSED;
      expect(await ssh.run(user, ['exit 0'], { keys: [path] }), name).toMatchObject(expected);
      expect(await ssh.run(id, ['exit 0'], { keys: [path] }), name).toMatchObject(REFUSED); // without the team
    }
    expect(platform.audit.entries.at(-1)).toMatchObject({
      outcome: 'refused',
      principal: { credential: 'ssh_key' },
      details: { via: 'ssh' },
    });
  });

  it('admits no RSA key with SHA-1', async () => {
    const { path, fingerprint } = await ssh.generateKey('key', '-t', 'rsa', '-b', '2048');
    platform.access.sshKey(platform.owner, fingerprint);
    const sha1 = ['-oPubkeyAcceptedAlgorithms=ssh-rsa', 'exit 0'];
    expect(await ssh.run(id, sha1, { keys: [path] })).toMatchObject(REFUSED);
    expect(await ssh.run(id, ['exit 0'], { keys: [path] })).toMatchObject({ code: 0 });
  });

  it('tries six keys of a client, and forgives those that came before the right one', async () => {
    await restart({}, { clock: fakeClock() }); // nothing is forgotten over time
    const names = ['a', 'b', 'c', 'd', 'e', 'f', 'right'];
    const made = await Promise.all(names.map((name) => ssh.generateKey(name, '-t', 'ed25519')));
    const right = made.at(-1) ?? { path: '', fingerprint: '' };
    const wrong = made.slice(0, -1).map(({ path }) => path);
    platform.access.sshKey(platform.owner, right.fingerprint);
    for (let round = 0; round < 3; round += 1) {
      expect((await ssh.run(id, ['exit 0'], { keys: [...wrong.slice(1), right.path] })).code).toBe(0);
    }
    const password = platform.owner.token;
    expect((await ssh.run(id, ['exit 0'], { keys: [...wrong, right.path], password })).code).toBe(0);
    expect((await ssh.run(id, ['exit 0'], { keys: [...wrong, right.path] })).code).toBe(255);
    for (let round = 0; round < 4; round += 1) await ssh.run(id, ['exit 0'], { keys: wrong.slice(0, 1) });
    expect((await ssh.run(id, ['exit 0'], { keys: [right.path] })).code).toBe(255);
  });

  it('ends when the key is removed', async () => {
    const { path, fingerprint } = await ssh.generateKey('key', '-t', 'ed25519');
    const byKey = platform.access.sshKey(platform.owner, fingerprint);
    const kept = await openEcho(id, platform.owner);
    const idle = ssh.open(id, ['-N'], { keys: [path] });
    await waitFor(() => platform.module.ssh?.connectionCount() === 2);
    platform.access.revoke(byKey);
    expect((await idle.result).code).toBe(255);
    expect(kept.child.exitCode).toBeNull();
    kept.child.stdin.write('exit 5\n');
    expect((await kept.result).code).toBe(5);
  });

  it.each([
    ['the token is revoked', (caller: FakeCaller) => platform.access.revoke(caller)],
    [
      'the member leaves',
      (caller: FakeCaller) => platform.access.leave(platform.access.team(platform.owner.workspaceUuid), caller),
    ],
    [
      'the role is lowered',
      (caller: FakeCaller) => platform.access.join(platform.access.team(platform.owner.workspaceUuid), caller, 'guest'),
    ],
  ])('ends when %s: sessions, SFTP and forwarded ports', async (_what, take) => {
    const { caller, user } = member('member');
    const others = await openEcho(id, platform.owner);
    const exec = await openEcho(user, caller);
    const sftp = ssh.open(user, ['-s', 'sftp'], { caller });
    sftp.child.stdin.write('x');
    await once(sftp.child.stdout, 'data');
    const forward = ssh.open(user, ['-W127.0.0.1:80'], { caller });
    forward.child.stdin.write('x');
    await once(forward.child.stdout, 'data');
    take(caller);
    const results = await Promise.all([exec.result, sftp.result, forward.result]);
    expect(results.map(({ code }) => code)).toEqual([255, 255, 255]);
    expect(others.child.exitCode).toBeNull();
    others.child.stdin.write('exit 5\n');
    expect((await others.result).code).toBe(5);
  });

  it('ends a connection that does nothing, too', async () => {
    const { caller, user } = member('member');
    const idle = ssh.open(user, ['-N'], { caller });
    await waitFor(() => platform.module.ssh?.connectionCount() === 1);
    platform.access.revoke(caller);
    expect((await idle.result).code).toBe(255);
  });

  it('forwards to ports of the sandbox only, and nothing back', async () => {
    for (const target of ['example.com:80', '10.0.0.1:80', '127.0.0.2:80']) {
      const refused = await ssh.run(id, [`-W${target}`]);
      expect(refused, target).toMatchObject({ code: 255, stderr: expect.stringContaining('stdio forwarding failed') });
    }
    const back = await ssh.run(id, ['-oExitOnForwardFailure=yes', '-R0:127.0.0.1:1', 'exit 0']);
    expect(back).toMatchObject({ code: 255, stderr: expect.stringContaining('remote port forwarding failed') });
    expect((await ssh.run(id, ['-s', 'netconf'])).code).not.toBe(0);
  });

  it('counts as a terminal', async () => {
    await restart({ max_terminals: 1 });
    const first = await openEcho(id, platform.owner);
    expect(await ssh.run(id, ['exit 0'])).toMatchObject({
      code: 255,
      stderr: 'svc: TOO_MANY_TERMINALS: Too many terminals are open in this sandbox\n',
    });
    first.child.stdin.write('exit 0\n');
    await first.result;
    await waitFor(async () => (await ssh.run(id, ['exit 0'])).code === 0);
  });

  it('counts against the quota of the workspace', async () => {
    const limits: QuotaLimits = {
      readLimits: async (workspaceUuid) => ({
        workspaceUuid,
        ownerId: null,
        ownerWorkspaces: [workspaceUuid],
        workspace: { terminals: 0 },
        owner: {},
      }),
      shareOf: (workspaceUuid) => workspaceUuid,
    };
    await restart({}, { quotaLimits: () => limits });
    expect(await ssh.run(id, ['exit 0'])).toMatchObject({
      code: 255,
      stderr: expect.stringContaining('svc: QUOTA_EXCEEDED: '),
    });
  });

  it('shares the rate limit of terminals', async () => {
    await restart({ max_terminals_per_minute: 1 }, { clock: fakeClock() });
    expect((await ssh.run(id, ['exit 0'])).code).toBe(0);
    expect((await ssh.run(id, ['exit 0'])).stderr).toMatch(/^svc: RATE_LIMITED: /);
  });

  it('names the state of a sandbox that is not running', async () => {
    await platform.call('POST', `/api/containers/${id}/stop`);
    expect(await ssh.run(id, ['exit 0'])).toMatchObject({
      code: 255,
      stderr: 'svc: SANDBOX_NOT_RUNNING: The sandbox is not running: its status is stopped\n',
    });
  });

  it('tells that a session lost its sandbox', async () => {
    const open = await openEcho(id, platform.owner);
    await platform.call('POST', `/api/containers/${id}/stop`);
    expect(await open.result).toMatchObject({ code: 255, stderr: 'svc: the sandbox was stopped or deleted\n' });
  });

  it('slows down an address that fails too often', async () => {
    const clock = fakeClock();
    await restart({}, { clock });
    for (let count = 0; count < 10; count += 1) await ssh.run(id, ['exit 0'], { password: 'wrong' });
    expect(await ssh.run(id, ['exit 0'])).toMatchObject({ code: 255 });
    await clock.advance(6_000);
    expect(await ssh.run(id, ['exit 0'])).toMatchObject({ code: 0 });
  });

  it('closes connections that do not log in: after a time, and beyond a number from one address', async () => {
    const clock = fakeClock();
    await restart({}, { clock });
    const dial = async () => {
      const socket = connect(platform.sshPort ?? 0, '127.0.0.1');
      socket.on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    };
    const waiting = [];
    for (let count = 0; count < 10; count += 1) waiting.push(await dial());
    await waitFor(() => platform.module.ssh?.connectionCount() === 10);
    const eleventh = await dial();
    await once(eleventh.resume(), 'close');
    for (const socket of waiting) socket.resume();
    const ended = Promise.all(waiting.map((socket) => once(socket, 'close')));
    await clock.advance(30_000);
    await ended;
    expect((await ssh.run(id, ['exit 0'])).code).toBe(0);
  });

  it('has room for other networks, however many addresses of one network do not log in', async () => {
    const isServed = async (localAddress: string): Promise<boolean> => {
      const socket = connect({ port: platform.sshPort ?? 0, host: '127.0.0.1', localAddress });
      open.push(socket);
      socket.on('error', () => undefined);
      // The first bytes are the server's version.
      return await Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)]);
    };
    const open: Socket[] = [];
    let served = 0;
    for (let address = 2; address < 14; address += 1) {
      for (let count = 0; count < 10; count += 1) if (await isServed(`127.0.0.${address}`)) served += 1;
    }
    expect(served).toBe(50);
    expect(await isServed('127.0.1.2')).toBe(true);
    for (const socket of open) socket.destroy();
  });

  it('serves other workspaces while one holds its share of the connections, and says so there', async () => {
    await restart({ ssh: { port: 0, max_connections: 4 } });
    const bob = platform.access.user('bob@example.org');
    const body = { image: 'busybox' };
    const ofBob = await platform.call('POST', '/api/containers?wait_ms=10000', { caller: bob, body });
    await openEcho(id, platform.owner);
    const second = await openEcho(id, platform.owner);
    expect(await ssh.run(id, ['exit 0'])).toEqual({
      code: 255,
      stdout: Buffer.alloc(0),
      stderr:
        'svc: TOO_MANY_CONNECTIONS: Too many SSH connections: this workspace has 2 of the 4 that a replica accepts; ' +
        'close some, or ask the operator to raise sandboxes.ssh.max_connections\n',
    });
    expect(await ssh.run(String(ofBob.body['id']), ['exit 0'], { caller: bob })).toMatchObject({ code: 0 });
    second.child.stdin.write('exit 0\n');
    await second.result;
    await waitFor(async () => (await ssh.run(id, ['exit 0'])).code === 0);
  });

  it('cuts a client that ignores its window', async () => {
    const password = platform.owner.token;
    driver.sandboxes.get(id)?.helper?.freeze(); // nothing reads the input
    await ignoreWindow(platform.sshPort ?? 0, { username: id, password, command: 'cat' }, 16 * 1024 * 1024);
    await waitFor(() => platform.module.ssh?.connectionCount() === 0);
    driver.sandboxes.get(id)?.helper?.thaw();
  });

  it('ends its connections when the platform stops', async () => {
    const open = await openEcho(id, platform.owner);
    await platform.close();
    expect((await open.result).code).toBe(255);
  });
});
