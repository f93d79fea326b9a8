import { setTimeout as delay } from 'node:timers/promises';
import { createKubeClient, type KubeClient } from '@svc/kube';
import { PROTOCOL_TIMES, type EventType } from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import { openClusterAccess } from './cluster-access.ts';
import { openJournal, type CommandJournal } from './commands/journal.ts';
import { createPlatformToken } from './config/platform-token.ts';
import { Expectations } from './drift/expectations.ts';
import { watchEventLoop, type EventLoopWatch } from './health/event-loop-watch.ts';
import { Health } from './health/health.ts';
import { KubernetesWatch } from './health/kubernetes-watch.ts';
import { startAgentHttp, type AgentHttp } from './http/agent-http.ts';
import { createAgentMetrics, type AgentMetrics } from './metrics.ts';
import type { Outbox } from './channel/outbox.ts';
import { openEventState, type EventState } from './state/event-state.ts';
import { claimStateFolder } from './state/state-folder.ts';
import { Limitations } from './status/limitations.ts';
import { createTunnelDial } from './tunnel/dial-tunnel.ts';
import { createKubernetesService } from './tunnel/kubernetes-service.ts';
import { AgentTunnel } from './tunnel/tunnel.ts';
import { assembleAgent, type AgentDependencies, type AgentAssembly, type Resources } from './assemble-agent.ts';

export interface Agent {
  readonly httpPort: number;
  /** Null if metrics have no port of their own. */
  readonly metricsPort: number | null;
  /** Ends the pause before the next attempt, after a change of token or configuration. */
  reconnectNow(): void;
  /** Cancels running commands, delivers what it can, and closes every listener, socket and file. */
  stop(): Promise<void>;
}

/** Time for the platform to confirm the last results and events before the connection closes. */
const LAST_DELIVERY_MS = 3000;

/** Assembles and starts the agent; resolves when its endpoints are listening. */
export async function startAgent(dependencies: AgentDependencies): Promise<Agent> {
  const { config, clock, log, pod } = dependencies;
  const startedAt = clock.now();
  const metrics = createAgentMetrics(startedAt);
  const { close: closeState, ...opened } = await openState(dependencies, metrics);
  const access = await openClusterAccess(config.current.kubernetes, pod, () => clock.nowMs(), log);
  const client = createKubeClient(access, { nowMs: () => clock.nowMs(), observe: () => metrics.kubernetesRequest() });
  const watch = new KubernetesWatch(client, clock, log);
  const limitations = new Limitations();
  const resources = { startedAt, metrics, ...opened, client, watch, limitations };
  const assembly = assembleAgent(dependencies, resources);
  const tunnel = createTunnel(dependencies, metrics, client, limitations);
  const eventLoop = watchEventLoop(clock, (lagSeconds) => metrics.setEventLoopLag(lagSeconds));
  const health = createHealth(
    dependencies,
    startedAt,
    { ...assembly, tunnel, limitations, watch },
    eventLoop,
    () => http?.listening() ?? true,
  );
  let http: AgentHttp | undefined;
  try {
    http = await startAgentHttp({
      ...dependencies,
      health,
      metrics,
      clusterId: () => assembly.channel.clusterId,
      kubernetesVersion: () => watch.health.version,
      autoScaling: () => watch.autoScaling,
      limitations,
    });
    await assembly.runner.settleInterrupted();
  } catch (error) {
    eventLoop.stop();
    client.close();
    await closeState();
    await http?.close();
    throw error;
  }
  const emitAgentEvent = (type: EventType): void => {
    assembly.report({ type, namespace: config.current.agent.namespace, resource: 'agent', details: {} });
  };
  emitAgentEvent('agent_started');
  const loops = runLoops(assembly, watch, tunnel);
  log.info({ port: http.port, metrics_port: http.metricsPort }, 'the agent is running');
  return {
    httpPort: http.port,
    metricsPort: http.metricsPort,
    reconnectNow: () => {
      assembly.channel.retryNow();
      tunnel.retryNow();
    },
    stop: () =>
      stopAgent({
        ...opened,
        closeState,
        emitAgentEvent,
        assembly,
        loops,
        http,
        client,
        metrics,
        health,
        eventLoop,
        log,
      }),
  };
}

function createTunnel(
  { config, clock, log, random }: AgentDependencies,
  metrics: AgentMetrics,
  client: KubeClient,
  limitations: Limitations,
): AgentTunnel {
  const kubernetes = createKubernetesService({ client, config, metrics });
  const dial = createTunnelDial(config, createPlatformToken(config));
  return new AgentTunnel({ dial, kubernetes, config, clock, random, log, metrics, limitations });
}

/** Opens the state left by earlier processes of this cluster's agent. The folder is locked until `close`. */
async function openState(
  { config, clock, log }: AgentDependencies,
  metrics: AgentMetrics,
): Promise<Pick<Resources, 'journal' | 'state' | 'expectations'> & { close: () => Promise<void> }> {
  const { agent, svc } = config.current;
  const folder = agent.state_dir;
  const owner = { clusterId: svc.cluster_id ?? null, clusterName: agent.cluster_name };
  const lock = await claimStateFolder({ folder, owner, clock, log });
  try {
    const journal = await openJournal(folder, clock);
    const changed = ({ length, sizeBytes }: Outbox): void => metrics.setOutbox(length, sizeBytes);
    const state = await openEventState({ folder, clock, log, changed });
    const close = async (): Promise<void> => {
      await journal.close();
      await state.close();
      lock.release();
    };
    return { journal, state, expectations: await Expectations.open(folder), close };
  } catch (error) {
    lock.release();
    throw error;
  }
}

function createHealth(
  { clock }: AgentDependencies,
  startedAt: Date,
  assembly: Pick<AgentAssembly, 'channel'> & Pick<Resources, 'limitations' | 'watch'> & { tunnel: AgentTunnel },
  eventLoop: EventLoopWatch,
  listening: () => boolean,
): Health {
  const { channel, tunnel, limitations, watch } = assembly;
  return new Health({
    clock,
    startedAt,
    reconnectGraceMs: PROTOCOL_TIMES.heartbeatIntervalMs * PROTOCOL_TIMES.missedHeartbeats,
    sources: {
      channel: () => channel.health,
      kubernetes: () => watch.health,
      tunnel: () => tunnel.health,
      degraded: (part) => limitations.degrades(part),
      processFaults: () => [
        ...(eventLoop.blocked() ? ['event_loop_blocked'] : []),
        ...(listening() ? [] : ['listener_failed']),
      ],
    },
  });
}

interface Loops {
  abort: AbortController;
  done: Promise<unknown>;
}

function runLoops(
  { channel, reporter, events, drift }: AgentAssembly,
  watch: KubernetesWatch,
  tunnel: AgentTunnel,
): Loops {
  const abort = new AbortController();
  const done = Promise.all([
    channel.run(abort.signal),
    reporter.run(abort.signal),
    watch.run(abort.signal),
    events.run(abort.signal),
    drift.run(abort.signal),
    tunnel.run(abort.signal),
  ]);
  return { abort, done };
}

interface StopRequest {
  emitAgentEvent: (type: EventType) => void;
  assembly: AgentAssembly;
  loops: Loops;
  http: AgentHttp;
  journal: CommandJournal;
  state: EventState;
  closeState: () => Promise<void>;
  client: KubeClient;
  metrics: AgentMetrics;
  health: Health;
  eventLoop: EventLoopWatch;
  log: Logger;
}

async function stopAgent({
  emitAgentEvent,
  assembly,
  loops,
  http,
  journal,
  state,
  closeState,
  client,
  metrics,
  health,
  eventLoop,
  log,
}: StopRequest): Promise<void> {
  health.beginShutdown();
  metrics.setDown();
  emitAgentEvent('agent_stopping');
  await assembly.runner.stop();
  const deadline = performance.now() + LAST_DELIVERY_MS;
  const waiting = (): boolean => journal.unacknowledgedIds().length > 0 || state.outbox.length > 0;
  const reachable = (): boolean => (assembly.channel.session?.mode ?? 'waiting') !== 'waiting';
  while (reachable() && waiting() && performance.now() < deadline) await delay(20);
  assembly.delivery.stop();
  loops.abort.abort(new Error('the agent is stopping'));
  const session = assembly.channel.session;
  await Promise.allSettled([loops.done, session?.ended]);
  eventLoop.stop();
  await http.close();
  client.close();
  await closeState();
  log.info('the agent stopped');
}
