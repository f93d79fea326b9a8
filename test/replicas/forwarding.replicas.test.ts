import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request as sendPlain, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { startTestAgent, type TestAgent } from '@svc/agent/testing';
import { openDatabase } from '@svc/sql';
import { describeRequiring, waitFor } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { apiClient } from '../system/api-client.ts';
import { runSvc, type RunningPlatform } from '../system/running-platform.ts';
import { startEcho, type EchoService } from '../tunnel/echo-service.ts';
import { tunnelOpened } from '../tunnel/tunnel-fixture.ts';
import { createReplicas, type Replicas } from './replicas.ts';

interface NewCluster {
  readonly id: string;
  readonly name: string;
  readonly token: string;
}

interface Tables {
  replica: { id: string; url: string | null };
  sealed_secret: { name: string; wrapper: string; box: string };
  account_audit: { request_id: string };
}

describeRequiring(['postgres'], 'a tunnel to one of two replicas', () => {
  let replicas: Replicas;
  let holder: RunningPlatform;
  let other: RunningPlatform;
  let echo: EchoService;
  let agent: TestAgent;
  let cluster: NewCluster;

  beforeEach(async () => {
    replicas = await createReplicas('["clusters"]');
    holder = await replicas.start({ name: 'holder' });
    other = await replicas.start({ name: 'other' });
    echo = await startEcho();
    cluster = await apiClient(holder.ready).post<NewCluster>('/v1/clusters', { name: 'production' });
    const file = join(replicas.folder, 'agent.yaml');
    await writeFile(file, JSON.stringify({ tunnel: { forwards: [{ name: 'echo', local_addr: echo.address }] } }));
    agent = await startTestAgent({
      platformUrl: holder.ready.url,
      file,
      environment: {
        CLUSTER_NAME: cluster.name,
        SVC_CLUSTER_ID: cluster.id,
        SVC_TOKEN: cluster.token,
        TUNNEL_ENABLED: 'true',
      },
    });
    await tunnelOpened(holder, cluster.id);
  });
  afterEach(async () => {
    await agent.stop();
    await echo[Symbol.asyncDispose]();
    await replicas[Symbol.asyncDispose]();
  });

  const at = (path: string): string => `${other.ready.url}/v1/clusters/${cluster.id}/tunnel/echo${path}`;
  const authorization = () => ({ authorization: `Bearer ${other.ready.token}` });
  const read = async <Row>(work: (database: ReturnType<typeof openDatabase<Tables>>) => Promise<Row>): Promise<Row> => {
    const database = openDatabase<Tables>({ url: replicas.databaseUrl, maxConnections: 1 });
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  };
  const internalUrls = (): Promise<string[]> =>
    read(async ({ kysely }) => {
      const rows = await kysely.selectFrom('replica').select('url').execute();
      return rows.map(({ url }) => url ?? '');
    });

  it('is used at the other one, by its id and by its name', async () => {
    const body = 'x'.repeat(5_000_000);
    const answer = await fetch(at('/a?b=c'), { method: 'POST', headers: authorization(), body });
    expect(answer.status).toBe(200);
    const echoed = (await answer.json()) as { path: string; body: string; headers: Record<string, string> };
    expect([echoed.path, echoed.body.length]).toEqual(['/a?b=c', body.length]);
    expect(echoed.headers).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'http' });
    expect(Object.keys(echoed.headers)).not.toContain('x-svc-hop');
    const byName = await fetch(at('/').replace(cluster.id, cluster.name), { headers: authorization() });
    expect(byName.status).toBe(200);
  });

  it('records a change once, with the request id of the client', async () => {
    const headers = { ...authorization(), 'x-request-id': 'one-change-at-the-other' };
    expect((await fetch(at('/'), { method: 'POST', headers, body: 'x' })).status).toBe(200);
    const rows = () =>
      read(({ kysely }) =>
        kysely.selectFrom('account_audit').selectAll().where('request_id', '=', headers['x-request-id']).execute(),
      );
    await waitFor(async () => (await rows()).length > 0, { description: 'the entry' });
    expect(await rows()).toHaveLength(1);
  });

  it('passes WebSockets', async () => {
    const socket = new WebSocket(at('/').replace('http', 'ws'), { headers: authorization() });
    await once(socket, 'open');
    socket.send('hello');
    const [data] = (await once(socket, 'message')) as [Buffer];
    expect(data.toString()).toBe('hello');
    socket.terminate();
  });

  it('is reported as unreachable while its replica is dead', async () => {
    await holder.kill();
    const answer = await fetch(at('/'), { headers: authorization() });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1']);
  });

  it('leaves no way in for anyone but replicas', async () => {
    for (const url of await internalUrls()) {
      expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
      await expect(fetch(url)).rejects.toThrow();
      expect(await answerTo({ host: '127.0.0.1', port: Number(new URL(url).port) })).toBe('');
    }
    const headers = { ...authorization(), 'x-svc-hop': 'e30.AAAA' };
    const refused = sendPlain(at('/'), { headers }).end();
    const [response] = (await once(refused, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(403);
    response.resume();
  });

  it('seals the authority of the replicas under the master key', async () => {
    const sealed = await read(({ kysely }) =>
      kysely.selectFrom('sealed_secret').selectAll().where('name', '=', 'internal-authority').executeTakeFirstOrThrow(),
    );
    expect(sealed.wrapper).toMatch(/^local/);
    expect(Buffer.from(sealed.box, 'base64').toString('latin1')).not.toMatch(/PRIVATE KEY|CERTIFICATE/);
  });

  it('is used at the other one after a change of the master key', async () => {
    const changed = { SVC_MASTER_KEY: randomBytes(32).toString('hex') };
    const both = { ...changed, SVC_MASTER_KEY_PREVIOUS: replicas.masterKey };
    const restartOther = async (environment: Readonly<Record<string, string>>): Promise<void> => {
      await other.stop();
      other = await replicas.start({ name: 'other', environment });
      expect((await fetch(at('/'), { headers: authorization() })).status).toBe(200);
    };
    await restartOther(both);
    const rotated = await runSvc(['admin', 'rotate-keys', '--master', '--data', replicas.dataFolder('other')], {
      SVC_DATABASE_URL: replicas.databaseUrl,
      SVC_SERVICES: '["clusters"]',
      ...both,
    });
    expect(rotated).toMatchObject({ exitCode: 0 });
    await restartOther(changed);
  });
});

/** What a server sends to a client without a certificate before it ends the connection. */
async function answerTo(server: ConnectionOptions): Promise<string> {
  const socket = connect({ ...server, rejectUnauthorized: false }); // the authority is private to the replicas
  let received = '';
  socket.on('secureConnect', () => socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'));
  socket.on('data', (bytes: Buffer) => (received += bytes.toString('latin1')));
  socket.on('error', () => undefined); // `close` follows
  await new Promise((resolve) => socket.once('close', resolve));
  return received;
}
