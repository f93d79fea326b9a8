import { writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { startTestAgent, type TestAgent } from '@svc/agent/testing';
import { temporaryFolder, waitFor } from '@svc/testing';
import { apiClient, type ApiClient } from '../system/api-client.ts';
import { startPlatform, type RunningPlatform } from '../system/running-platform.ts';

export interface TunnelFixtureOptions {
  /** Forwards of the agent: names and `host:port`. */
  forwards: Readonly<Record<string, string>>;
  agentEnvironment?: Record<string, string>;
  /** Another address for the agent, such as that of a proxy in front of the platform. */
  agentUrl?: (platformUrl: string) => string;
}

export interface TunnelFixture extends AsyncDisposable {
  readonly platform: RunningPlatform;
  readonly api: ApiClient;
  readonly cluster: { id: string; name: string; token: string };
  readonly agent: TestAgent;
  /** `tunnel-cls-….localhost`. */
  readonly host: string;
  readonly authorization: { authorization: string };
  /** Sends one request on the cluster's own host, like a client that knows the name. */
  send(options: SentRequest): Promise<SentAnswer>;
  /** Stops the agent and starts another one. */
  restartAgent(): Promise<void>;
}

export interface SentRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer | readonly (string | Buffer)[];
  trailers?: Record<string, string>;
  /** Defaults to the cluster's own host, with the owner's token. */
  host?: string;
  anonymous?: boolean;
}

export interface SentAnswer {
  status: number;
  headers: IncomingMessage['headers'];
  trailers: IncomingMessage['trailers'];
  text: string;
  continued: boolean;
}

/** Starts a platform with one cluster whose agent offers these forwards; resolves when the tunnel is up. */
export async function startTunnels(options: TunnelFixtureOptions): Promise<TunnelFixture> {
  const folder = await temporaryFolder('svc-tunnel-');
  const platform = await startPlatform({
    dataFolder: join(folder.path, 'data'),
    environment: { SVC_SERVICES: '["clusters"]' },
  });
  const api = apiClient(platform.ready);
  const cluster = await api.post<{ id: string; name: string; token: string }>('/v1/clusters', { name: 'production' });
  const file = join(folder.path, 'agent.yaml');
  const forwards = Object.entries(options.forwards).map(([name, address]) => ({ name, local_addr: address }));
  await writeFile(file, JSON.stringify({ tunnel: { forwards } }));
  const startAgent = (): Promise<TestAgent> =>
    startTestAgent({
      platformUrl: options.agentUrl?.(platform.ready.url) ?? platform.ready.url,
      file,
      environment: {
        CLUSTER_NAME: cluster.name,
        SVC_CLUSTER_ID: cluster.id,
        SVC_TOKEN: cluster.token,
        TUNNEL_ENABLED: 'true',
        ...options.agentEnvironment,
      },
    });
  let agent: TestAgent;
  try {
    agent = await startAgent();
    await tunnelOpened(platform, cluster.id);
  } catch (error) {
    await platform.stop();
    await folder.remove();
    throw error;
  }
  const host = `tunnel-${cluster.id}.localhost`;
  const authorization = { authorization: `Bearer ${platform.ready.token}` };
  return {
    platform,
    api,
    cluster,
    get agent() {
      return agent;
    },
    host,
    authorization,
    send: (sent) => send(platform.ready.url, { host, ...sent }, sent.anonymous === true ? {} : authorization),
    restartAgent: async () => {
      await agent.stop();
      agent = await startAgent();
      await tunnelOpened(platform, cluster.id);
    },
    [Symbol.asyncDispose]: async () => {
      await agent.stop();
      await platform.stop();
      await folder.remove();
    },
  };
}

/** Resolves when requests reach the cluster's agent. The agent counts its tunnel a moment before the platform does. */
export async function tunnelOpened({ ready }: RunningPlatform, clusterId: string): Promise<void> {
  const url = `${ready.url}/v1/clusters/${clusterId}/tunnel/no-such-forward/`;
  const headers = { authorization: `Bearer ${ready.token}` };
  const answered = async (): Promise<boolean> => (await fetch(url, { headers })).status === 404;
  await waitFor(answered, { timeoutMs: 60_000, description: 'the tunnel' });
}

export async function tunnelsOf(agent: TestAgent): Promise<number> {
  const body = (await (await agent.get('/livez')).json()) as {
    components: { tunnel_manager: { active_tunnels: number } };
  };
  return body.components.tunnel_manager.active_tunnels;
}

/** Plain `node:http`, since `fetch` sets neither `Host` nor trailers. */
function send(url: string, sent: SentRequest, authorization: Record<string, string>): Promise<SentAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      hostname,
      port,
      method: sent.method ?? 'GET',
      path: sent.path,
      agent: false,
      headers: { host: `${sent.host}:${port}`, ...authorization, ...sent.headers },
    });
    let continued = false;
    outgoing.once('continue', () => {
      continued = true;
      finish();
    });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        const { statusCode = 0, headers, trailers } = response;
        resolve({ status: statusCode, headers, trailers, text: Buffer.concat(chunks).toString(), continued });
      });
    });
    const finish = (): void => {
      for (const part of partsOf(sent.body)) outgoing.write(part);
      if (sent.trailers !== undefined) outgoing.addTrailers(sent.trailers);
      outgoing.end();
    };
    if (sent.headers?.['expect'] === undefined) finish();
    else outgoing.flushHeaders();
  });
}

function partsOf(body: SentRequest['body']): readonly (string | Buffer)[] {
  if (body === undefined) return [];
  return typeof body === 'string' || Buffer.isBuffer(body) ? [body] : body;
}
