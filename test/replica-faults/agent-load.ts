import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { startTestAgent, type TestAgent } from '@svc/agent/testing';
import { startCuttableProxy, waitFor, type CuttableProxy } from '@svc/testing';
import { sql } from 'kysely';
import { pick } from '../sandbox-kills/client.ts';
import { apiClient } from '../system/api-client.ts';
import { call, persist, type Client } from './client.ts';
import type { LineState } from './journal.ts';
import type { Replica, World } from './world.ts';

const FORWARD = 'counter';
const TAKEOVER_LIMIT_MS = 120_000;
const LOOK_EVERY_MS = 50;
const PAUSE_MS = 100;
/**
 * Attempts of the agent that may fail in one takeover. With its default settings, the third attempt begins within 7 s, so
 * 12 s are kept on a machine that is not too busy to connect (`takeover.test.ts`).
 */
export const MOST_FAILED_ATTEMPTS = 2;

/** A takeover, as the agent's own log shows it. */
interface Takeover {
  readonly tookMs: number;
  /** Attempts to connect that failed although the database was there. */
  readonly failedAttempts: number;
}

/**
 * An agent that reaches the replicas through a balancer, and a service behind its tunnel that counts what arrives. Requests
 * carry numbers, so a request that arrives twice shows.
 */
export class AgentLoad implements AsyncDisposable {
  readonly #world: World;
  readonly #balancer: CuttableProxy;
  readonly #service: Server;
  readonly #agent: TestAgent;
  readonly #clusterId: string;
  readonly #arrived: Map<number, number>;
  readonly #sent = new Map<number, LineState>();
  /** From the kill of the replica with the agent's tunnel to the next answer through it. */
  readonly takeovers: Takeover[] = [];
  #judgedTakeovers = 0;

  private constructor(
    parts: { world: World; balancer: CuttableProxy; service: Server; agent: TestAgent },
    clusterId: string,
    arrived: Map<number, number>,
  ) {
    this.#world = parts.world;
    this.#balancer = parts.balancer;
    this.#service = parts.service;
    this.#agent = parts.agent;
    this.#clusterId = clusterId;
    this.#arrived = arrived;
  }

  static async start(world: World, folder: string, random: () => number): Promise<AgentLoad> {
    const ready = world.replicas[0]?.ready;
    if (ready === null || ready === undefined) throw new Error('there are no replicas');
    const arrived = new Map<number, number>();
    const service = createServer((request, response) => {
      const number = Number(request.url?.slice(1));
      if (request.method === 'POST') arrived.set(number, (arrived.get(number) ?? 0) + 1);
      response.setHeader('content-type', 'application/json').end('{}');
    }).listen(0, '127.0.0.1');
    await once(service, 'listening');
    // Like a balancer without health checks: it leads to paused replicas too.
    const balancer = await startCuttableProxy({
      host: '127.0.0.1',
      get port() {
        return Number(new URL(pick(random, world.running)?.ready?.url ?? 'http://127.0.0.1:1').port);
      },
    });
    const cluster = await apiClient(ready).post<{ id: string; token: string }>('/v1/clusters', { name: 'campaign' });
    const { port } = service.address() as AddressInfo; // a TCP server has no other kind of address
    const file = join(folder, 'agent.yaml');
    await writeFile(
      file,
      JSON.stringify({ tunnel: { forwards: [{ name: FORWARD, local_addr: `127.0.0.1:${port}` }] } }),
    );
    const agent = await startTestAgent({
      platformUrl: `http://127.0.0.1:${balancer.port}`,
      file,
      environment: {
        CLUSTER_NAME: 'campaign',
        SVC_CLUSTER_ID: cluster.id,
        SVC_TOKEN: cluster.token,
        TUNNEL_ENABLED: 'true',
      },
    });
    const load = new AgentLoad({ world, balancer, service, agent }, cluster.id, arrived);
    await waitFor(() => load.#answers(world.replicas), { timeoutMs: TAKEOVER_LIMIT_MS, description: 'the tunnel' });
    return load;
  }

  /** Sends numbered requests through any replica until the signal. */
  async use(client: Client, signal: AbortSignal): Promise<void> {
    const { journal } = client;
    while (!signal.aborted) {
      const number = journal.nextNumber();
      this.#sent.set(number, 'open');
      const answer = await persist(client, (replica) => call(replica, 'POST', this.#path(number)), false);
      if (answer?.status === 200) this.#sent.set(number, 'done');
      if (answer?.status === 503) this.#sent.set(number, 'refused');
      if (answer?.status === 200) journal.count('tunnel requests');
      await delay(PAUSE_MS);
    }
  }

  /** Whether this replica has the tunnel. Null if the database does not say. */
  async isHeldBy({ nodeId }: Replica): Promise<boolean | null> {
    const find = this.#world.database.query(async ({ kysely }) => {
      const { rows } = await sql<{ replica_id: string | null }>`select replica_id from cluster_tunnel`.execute(kysely);
      return rows.some(({ replica_id: id }) => id === nodeId);
    });
    return find.catch(() => null);
  }

  /** Measures the time until the tunnel answers at a replica other than the one that was killed. */
  async measureTakeover(killed: Replica): Promise<void> {
    const startedAt = performance.now();
    const logged = this.#agent.logLines.length;
    const others = this.#world.replicas.filter((replica) => replica !== killed);
    const options = { timeoutMs: TAKEOVER_LIMIT_MS, intervalMs: LOOK_EVERY_MS, description: 'the tunnel to return' };
    await waitFor(() => this.#answers(others), options);
    const failedAttempts = this.#agent.logLines.slice(logged).filter(isFailedAttempt).length;
    this.takeovers.push({ tookMs: Math.round(performance.now() - startedAt), failedAttempts });
  }

  /** Checks that the tunnel answers everywhere, compares what was sent with what arrived, and forgets both. */
  async audit(limitMs: number): Promise<string[]> {
    const findings: string[] = [];
    for (const replica of this.#world.replicas) {
      const options = { timeoutMs: limitMs, intervalMs: LOOK_EVERY_MS };
      const answers = await waitFor(() => this.#answers([replica]), options).catch(() => false);
      if (!answers) findings.push(`the tunnel does not answer at ${replica.name}`);
    }
    for (const [number, state] of this.#sent) {
      const times = this.#arrived.get(number) ?? 0;
      if (times > 1) findings.push(`tunnel request ${number} arrived ${times} times`);
      if (times === 0 && state === 'done') findings.push(`tunnel request ${number} was answered and did not arrive`);
      if (times > 0 && state === 'refused') findings.push(`tunnel request ${number} was refused and arrived`);
    }
    for (const { failedAttempts } of this.takeovers.slice(this.#judgedTakeovers)) {
      if (failedAttempts > MOST_FAILED_ATTEMPTS)
        findings.push(`the agent needed ${failedAttempts + 1} attempts to connect to another replica`);
    }
    this.#judgedTakeovers = this.takeovers.length;
    this.#sent.clear();
    this.#arrived.clear();
    return findings;
  }

  /** Plants a takeover that took too many attempts; for the proof of the auditor. */
  plantTakeover(): () => void {
    this.takeovers.push({ tookMs: 0, failedAttempts: MOST_FAILED_ATTEMPTS + 1 });
    return () => {
      this.takeovers.pop();
      this.#judgedTakeovers = this.takeovers.length;
    };
  }

  /** Plants requests that arrived twice, never, and though they were refused; for the proof of the auditor. */
  plant(): void {
    for (const [number, state, times] of [
      [-1, 'done', 2],
      [-2, 'done', 0],
      [-3, 'refused', 1],
    ] as const) {
      this.#sent.set(number, state);
      this.#arrived.set(number, times);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.stop();
    await this.#balancer[Symbol.asyncDispose]();
    this.#service.close();
    this.#service.closeAllConnections();
  }

  #path(number: number): string {
    return `/v1/clusters/${this.#clusterId}/tunnel/${FORWARD}/${number}`;
  }

  /** Whether the tunnel answers at one of these replicas. */
  async #answers(replicas: readonly Replica[]): Promise<boolean> {
    const answers = await Promise.all(replicas.map((replica) => call(replica, 'GET', this.#path(0))));
    return answers.some((answer) => answer?.status === 200);
  }
}

/** A line of the agent's log. Nothing can take the agent over while the database is away. */
function isFailedAttempt(line: string): boolean {
  return line.includes('no tunnel to the platform') && !line.includes('DATABASE_UNAVAILABLE');
}
