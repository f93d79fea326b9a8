import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PlayedKubernetes, startTestAgent, type TestAgent } from '@svc/agent/testing';
import { createClient, type Cluster, type Deployment, type SandboxHandle } from '@svc/sdk';
import { describeRequiring, freePort, waitFor } from '@svc/testing';
import { expect, it } from 'vitest';
import { CommandLine } from '../command-line/command-line.ts';
import { apiClient } from '../system/api-client.ts';
import { removeSandboxes } from '../system/remove-sandboxes.ts';
import { PROJECT_ROOT, type RunningPlatform } from '../system/running-platform.ts';
import { forwardPort } from '../tunnel/forwarded-port.ts';
import { tunnelOpened } from '../tunnel/tunnel-fixture.ts';
import { PROXIES, startProxy, type ReplicaPorts } from './proxies.ts';
import { createReplicas, type Replicas } from './replicas.ts';

const NEEDS = [
  'postgres',
  'linux',
  'root',
  'cgroups',
  'command:haproxy',
  'command:nginx',
  'command:crun',
  'command:mkfs.ext4',
  'command:nft',
  'command:busybox',
  'command:script',
] as const;
const BUSY_MS = 240_000;
const PASSWORD = 'correct horse battery staple';
/** What each client does before, between and after the restarts. */
const STEPS = 15;
const PAUSE_MS = 100;
const SETTINGS = '/api/v1/namespaces/shop/configmaps/settings';
const WEB = '/apis/apps/v1/namespaces/shop/deployments/web';
const READY = { observedGeneration: 1, updatedReplicas: 1, availableReplicas: 1, replicas: 1 };

/** A client that works until the end, and counts what it has done. */
interface Client {
  readonly done: number;
  /** Ends the work; resolves when it has ended, and rejects if something went wrong. */
  finish(): Promise<void>;
}

/** Numbers from one to the count, as the lines of a file. */
const lines = (count: number): string => Array.from({ length: count }, (_, index) => `${index + 1}\n`).join('');

/** Types numbered lines into the shell of a session, without waiting for their output. */
async function typeBySdk(sandbox: SandboxHandle, session: string): Promise<Client> {
  const terminal = await sandbox.terminal({ session });
  let shown = '';
  let done = 0;
  terminal.onData(({ bytes }) => void (shown += Buffer.from(bytes).toString()));
  const stop = new AbortController();
  const type = async (): Promise<void> => {
    await terminal.write('stty -echo; PS1=\n');
    while (!stop.signal.aborted) {
      await terminal.write(`echo ${done + 1} >> /root/${session}; echo "shown ${done + 1}"\n`);
      done += 1;
      await delay(PAUSE_MS);
    }
  };
  const typing = type();
  typing.catch(() => undefined); // `finish` reports it
  return {
    get done() {
      return done;
    },
    finish: async () => {
      stop.abort();
      await typing;
      await waitFor(() => shown.includes(`shown ${done}\r`), { timeoutMs: BUSY_MS, description: `line ${done}` });
      const numbers = [...shown.matchAll(/^shown (\d+)\r$/gm)].map(([, number]) => `${number}\n`);
      expect(numbers.join('')).toBe(lines(done));
      expect((await sandbox.run(`cat /root/${session}`)).stdout).toBe(lines(done));
      terminal.close();
    },
  };
}

/** Types numbered lines on a terminal of `svc sandbox shell`. */
async function typeByCommand(sandbox: SandboxHandle, environment: Record<string, string>): Promise<Client> {
  const command = `${join(PROJECT_ROOT, 'svc')} sandbox shell ${sandbox.id} --session typed`;
  const child: ChildProcess = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const gone = once(child, 'close');
  let shown = '';
  let done = 0;
  child.stdout?.on('data', (bytes: Buffer) => void (shown += bytes.toString()));
  child.stderr?.on('data', (bytes: Buffer) => void (shown += bytes.toString()));
  child.stdin?.on('error', () => undefined); // the line that is missing shows it
  const type = (text: string): void => void child.stdin?.write(text);
  await waitFor(() => /[#$] /.test(shown), { timeoutMs: BUSY_MS, description: () => `a prompt in ${shown}` });
  const timer = setInterval(() => type(`echo ${(done += 1)} >> /root/typed; echo "shown $((${done}))"\r`), PAUSE_MS);
  return {
    get done() {
      return done;
    },
    finish: async () => {
      clearInterval(timer);
      const last = new RegExp(`^shown ${done}\r?$`, 'm');
      await waitFor(() => last.test(shown), { timeoutMs: BUSY_MS, description: () => `line ${done} in ${shown}` });
      expect((await sandbox.run('cat /root/typed')).stdout).toBe(lines(done));
      type('exit\r');
      await gone;
      expect(child.exitCode).toBe(0);
    },
  };
}

/** A service in the cluster that counts the numbered requests which arrive. */
async function startService(): Promise<{ server: Server; arrived: Map<number, number> }> {
  const arrived = new Map<number, number>();
  const server = createServer((request, response) => {
    const number = Number(request.url?.slice(1));
    arrived.set(number, (arrived.get(number) ?? 0) + 1);
    response.setHeader('connection', 'close').end('counted');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, arrived };
}

/** Sends numbered requests through the port of `svc forward`, and goes on after those that were cut. */
async function useForward(svc: CommandLine, arrived: ReadonlyMap<number, number>): Promise<Client> {
  const forwarded = await forwardPort(svc, 'counter');
  const answered: number[] = [];
  const stop = new AbortController();
  const use = async (): Promise<void> => {
    for (let number = 1; !stop.signal.aborted; number += 1) {
      const answer = await fetch(`http://127.0.0.1:${forwarded.port}/${number}`, { method: 'POST' }).then(
        (response) => response.text(),
        () => 'cut',
      );
      if (answer === 'counted') answered.push(number);
      await delay(PAUSE_MS);
    }
  };
  const using = use();
  return {
    get done() {
      return answered.length;
    },
    finish: async () => {
      stop.abort();
      await using;
      expect(answered.filter((number) => arrived.get(number) !== 1)).toEqual([]);
      expect([...arrived].filter(([, times]) => times > 1)).toEqual([]);
      await forwarded[Symbol.asyncDispose]();
    },
  };
}

function manifest(): string {
  const settings = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings' }, data: { color: 'blue' } };
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'main', image: 'web:1' }] } };
  const spec = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template };
  const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec };
  return [settings, web].map((document) => JSON.stringify(document)).join('\n---\n');
}

/** Starts a deployment that waits for its pods; `ended` is what the caller who follows it sees. */
async function beginDeployment(cluster: Cluster): Promise<{ ended: Promise<Deployment> }> {
  const { id } = await cluster.deploy({ project_id: 'shop', namespace: 'shop', manifest: manifest() });
  const waiting = Promise.withResolvers<void>();
  const follow = async (): Promise<Deployment> => {
    for await (const event of cluster.followDeployment(id)) {
      if (event.type === 'progress' && event.phase === 'waiting') waiting.resolve();
      if (event.type === 'result') return event.result;
    }
    throw new Error('the events ended without a result');
  };
  const ended = follow();
  await Promise.race([waiting.promise, ended]);
  return { ended };
}

/** Unlike the token of a start, it does not end with the next one. */
async function createToken({ ready: { url } }: RunningPlatform): Promise<string> {
  const signIn = { email: 'owner@localhost', password: PASSWORD };
  const { access_token: token } = await apiClient({ url }).post<{ access_token: string }>('/api/auth/login', signIn);
  return (await apiClient({ url, token }).post<{ token: string }>('/api/tokens', { name: 'clients' })).token;
}

/** An agent that reaches the replicas through the proxy, with a service and an API server in its cluster. */
async function startAgent(
  platform: RunningPlatform,
  { folder }: Replicas,
  { kubernetes, port, proxyUrl }: { kubernetes: PlayedKubernetes; port: number; proxyUrl: string },
): Promise<{ agent: TestAgent; clusterId: string }> {
  const kubeconfig = join(folder, 'kubeconfig');
  await writeFile(kubeconfig, kubernetes.kubeconfig);
  const file = join(folder, 'agent.yaml');
  const forwards = [{ name: 'counter', local_addr: `127.0.0.1:${port}` }];
  await writeFile(file, JSON.stringify({ tunnel: { forwards } }));
  const made = await apiClient(platform.ready).post<{ id: string; token: string }>('/v1/clusters', {
    name: 'production',
  });
  const agent = await startTestAgent({
    platformUrl: proxyUrl,
    file,
    environment: {
      CLUSTER_NAME: 'production',
      SVC_CLUSTER_ID: made.id,
      SVC_TOKEN: made.token,
      TUNNEL_ENABLED: 'true',
      SVC_EVENTS_ENABLED: 'false',
      KUBECONFIG: kubeconfig,
    },
  });
  await tunnelOpened(platform, made.id);
  return { agent, clusterId: made.id };
}

describeRequiring([...NEEDS], 'a rolling restart under clients that keep connections', () => {
  it.each(['haproxy', 'nginx'] as const)('is not seen by them behind %s', { timeout: 900_000 }, async (kind) => {
    await using replicas = await createReplicas('["clusters","sandboxes"]');
    const environment = {
      SVC_OWNER_PASSWORD: PASSWORD,
      SVC_SHUTDOWN_LAME_DUCK_SECONDS: '5', // the default with PostgreSQL
      SVC_TRUSTED_PROXIES: '["127.0.0.1/32"]',
    };
    const ports: ReplicaPorts[] = [];
    for (let index = 0; index < 2; index += 1) ports.push({ platform: await freePort(), s3: await freePort() });
    const start = (index: number): Promise<RunningPlatform> =>
      replicas.start({
        name: `svc-${index + 1}`,
        environment,
        flags: ['--port', String(ports[index]?.platform), '--s3-port', String(ports[index]?.s3)],
      });
    const first = await start(0);
    const platforms = [first, await start(1)];
    await using proxy = await startProxy(PROXIES[kind], ports, replicas.folder);
    const token = await createToken(first);
    const client = createClient({ baseUrl: proxy.url, credential: { kind: 'token', token } });
    const variables = { HOME: replicas.folder, SVC_URL: proxy.url, SVC_TOKEN: token };
    const { server, arrived } = await startService();
    const kubernetes = await PlayedKubernetes.start();
    const { port } = server.address() as AddressInfo; // a TCP server has no other kind of address
    const { agent, clusterId } = await startAgent(first, replicas, { kubernetes, port, proxyUrl: proxy.url });
    try {
      const direct = createClient({ baseUrl: first.ready.url, credential: { kind: 'token', token } });
      const { id } = await direct.sandboxes.create({ image: 'busybox', network: 'none' }); // held by the first
      const sandbox = client.sandboxes.of(id);
      await waitFor(async () => (await sandbox.get()).status === 'running', { timeoutMs: BUSY_MS });
      const clients = [
        await typeBySdk(sandbox, 'one'),
        await typeBySdk(sandbox, 'two'), // the proxy gives each connection to another replica
        await typeByCommand(sandbox, variables),
        await useForward(new CommandLine(variables, replicas.folder), arrived),
      ];
      const deployment = await beginDeployment(client.clusters.of(clusterId));
      const more = (): Promise<unknown> => {
        const wanted = clients.map(({ done }) => done + STEPS);
        const isEnough = (): boolean => clients.every(({ done }, index) => done >= (wanted[index] ?? 0));
        const description = (): string => `the work of all clients, now ${clients.map(({ done }) => done).join()}`;
        return waitFor(isEnough, { timeoutMs: BUSY_MS, description });
      };
      await more();
      for (const [index, platform] of platforms.entries()) {
        expect(await platform.stop()).toBe(0);
        await start(index);
        await more();
      }
      for (const each of clients) await each.finish();
      kubernetes.setStatus(WEB, READY);
      expect(await deployment.ended).toMatchObject({ status: 'succeeded' });
      expect(kubernetes.changes.filter((path) => path === WEB || path === SETTINGS)).toEqual([SETTINGS, WEB]);
    } finally {
      await removeSandboxes(client).catch(() => undefined); // the failure above counts
      await agent.stop();
      await kubernetes.close();
      server.close();
      server.closeAllConnections();
    }
  });
});
