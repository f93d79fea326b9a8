import { once } from 'node:events';
import { request as sendRequest, type IncomingMessage } from 'node:http';
import { createInternalNetwork } from '@svc/forward/testing';
import { migrations } from '@svc/migrations';
import type { Database } from '@svc/sql';
import { describeRequiring, sqliteSource, waitFor, type DatabaseSource, type FakeCaller } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { FakeDriver } from '../support/fake-driver.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { SshClient } from '../support/ssh-client.ts';

/** Status of an upgrade request; 101 if it was accepted. */
async function upgradeStatus(url: string, headers: Record<string, string>): Promise<number> {
  const outgoing = sendRequest(url, { headers }).end();
  outgoing.once('upgrade', (_response, socket) => socket.destroy());
  const [response] = (await Promise.race([once(outgoing, 'response'), once(outgoing, 'upgrade')])) as [IncomingMessage];
  response.resume();
  return response.statusCode ?? 0;
}

describeRequiring(['command:ssh'], 'SSH to a sandbox of another replica', () => {
  let source: DatabaseSource;
  let database: Database<unknown>;
  let drivers: FakeDriver[];
  let asked: TestPlatform;
  let holder: TestPlatform;
  let ssh: SshClient;
  let id: string;
  let live: boolean;

  beforeEach(async () => {
    source = await sqliteSource(migrations);
    database = await source.open<unknown>();
    drivers = [new FakeDriver(), new FakeDriver()];
    live = true;
    const network = await createInternalNetwork();
    const start = (index: 0 | 1, access?: TestPlatform['access']): Promise<TestPlatform> =>
      startPlatform({
        driver: drivers[index] ?? new FakeDriver(),
        node: `node-${index}`,
        network,
        nodes: { isLive: async () => live, live: async () => ['node-0', 'node-1'], silent: async () => [] },
        database,
        config: { ssh: index === 0 ? { port: 0, max_connections: 100 } : { max_connections: 100 }, max_terminals: 2 },
        ...(access === undefined ? {} : { access }),
      });
    asked = await start(0);
    holder = await start(1, asked.access);
    ssh = await SshClient.create(asked);
    const body = { image: 'busybox', name: 'far', environment: { COLOR: 'blue' } };
    id = (await holder.call('POST', '/api/sandboxes?wait_ms=10000', { caller: asked.owner, body })).body['id'];
  });
  afterEach(async () => {
    await ssh.dispose();
    await asked.dispose();
    await holder.dispose();
    await Promise.all(drivers.map((driver) => driver.dispose()));
    await database.close();
    await source.close();
  });

  const member = (): { caller: FakeCaller; user: string } => {
    const team = asked.access.team(asked.owner.workspaceUuid);
    const caller = asked.access.user('member');
    asked.access.join(team, caller, 'member');
    return { caller, user: `${id}+${team}` };
  };
  const openEcho = async (user = id, caller = asked.owner) => {
    const open = ssh.open(user, ['cat'], { caller });
    open.child.stdin.on('error', () => undefined);
    open.child.stdin.write('hello\n');
    await once(open.child.stdout, 'data');
    return open;
  };

  it('runs commands there, by ID and by name, and records them there, once', async () => {
    expect(await ssh.run(id, ['exit 3'])).toMatchObject({ code: 3, stderr: '' });
    expect(await ssh.run('far', ['exit 4'])).toMatchObject({ code: 4, stderr: '' });
    const { path, fingerprint } = await ssh.generateKey('key', '-t', 'ed25519');
    asked.access.sshKey(asked.owner, fingerprint);
    expect(await ssh.run(id, ['exit 5'], { keys: [path] })).toMatchObject({ code: 5, stderr: '' });
    expect(asked.audit.entries.filter(({ action }) => action === 'sandbox:exec')).toEqual([]);
    const recorded = holder.audit.entries.filter(({ action }) => action === 'sandbox:exec');
    expect(recorded).toHaveLength(3);
    expect(recorded.at(-1)).toMatchObject({
      resource: `sandbox/${id}`,
      remoteAddress: '127.0.0.1',
      principal: { id: asked.owner.principal.id, credential: 'ssh_key' },
      details: { via: 'ssh', request: 'exec' },
    });
  });

  it('forwards ports, and records a port once for a connection', async () => {
    const sftp = ssh.open(id, ['-s', 'sftp']);
    sftp.child.stdin.write('x');
    await once(sftp.child.stdout, 'data');
    const forward = ssh.open(id, ['-W127.0.0.1:80']);
    forward.child.stdin.write('x');
    await once(forward.child.stdout, 'data');
    expect(holder.audit.entries.map(({ details }) => details?.['request']).filter(Boolean)).toEqual([
      'sftp',
      'forward',
    ]);
    sftp.child.kill();
    forward.child.kill();
    await Promise.all([sftp.result, forward.result]);
  });

  it('has the limits and errors of the other replica', async () => {
    const open = await Promise.all([openEcho(), openEcho()]);
    expect((await ssh.run(id, ['exit 0'])).stderr).toBe(
      'svc: TOO_MANY_TERMINALS: Too many terminals are open in this sandbox\n',
    );
    for (const { child } of open) child.kill();
    await Promise.all(open.map(({ result }) => result));
    await waitFor(async () => (await ssh.run(id, ['exit 0'])).code === 0); // the slots are free again
    await holder.call('POST', `/api/sandboxes/${id}/stop`, { caller: asked.owner });
    expect(await ssh.run(id, ['exit 0'])).toMatchObject({
      code: 255,
      stderr: 'svc: SANDBOX_NOT_RUNNING: The sandbox is not running: its status is stopped\n',
    });
  });

  it.each([
    ['the token is revoked', (caller: FakeCaller) => asked.access.revoke(caller)],
    [
      'the member leaves',
      (caller: FakeCaller) => asked.access.leave(asked.access.team(asked.owner.workspaceUuid), caller),
    ],
  ])('ends when %s', async (_what, take) => {
    const { caller, user } = member();
    const kept = await openEcho();
    const open = await openEcho(user, caller);
    take(caller);
    expect((await open.result).code).toBe(255);
    expect(kept.child.exitCode).toBeNull();
    kept.child.stdin.write('exit 7\n');
    expect((await kept.result).code).toBe(7);
  });

  it('frees everything at the other replica when the client is gone', async () => {
    const open = await openEcho();
    expect(holder.module.ssh).toBeNull();
    open.child.kill('SIGKILL');
    await open.result;
    await waitFor(async () => (await ssh.run(id, ['exit 0'])).code === 0);
    const both = await Promise.all([openEcho(), openEcho()]);
    for (const { child } of both) child.kill();
    await Promise.all(both.map(({ result }) => result));
  });

  it('ends when the other replica stops, and says then where the sandbox is', async () => {
    const open = await openEcho();
    await holder.close();
    expect(await open.result).toMatchObject({ code: 255 });
    live = false;
    expect(await ssh.run(id, ['exit 0'])).toMatchObject({
      code: 255,
      stderr: expect.stringContaining(
        'svc: SANDBOX_ELSEWHERE: The sandbox is on node node-1: no replica serves that node',
      ),
    });
    await holder.reopen();
  });

  it('leaves no way in for clients', async () => {
    const path = `/internal/ssh/${id}?kind=exec`;
    const headers = { connection: 'Upgrade', upgrade: 'svc-ssh-channel' };
    for (const { url } of [asked, holder]) {
      const answer = await fetch(`${url}${path}`, { headers: asked.owner.headers });
      expect(answer.status).toBe(404);
      expect(await upgradeStatus(`${url}${path}`, { ...headers, ...asked.owner.headers })).toBe(404);
    }
  });
});
