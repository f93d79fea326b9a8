import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { createKubeClient, type KubeClient } from '@svc/kube';
import {
  PROTOCOL_LIMITS,
  PROTOCOL_TIMES,
  PROTOCOL_VERSION,
  createPlatformMessageDecoder,
  type EventType,
} from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import type { BuildInfo } from './build-info.ts';
import { PlatformChannel } from './channel/channel.ts';
import { Delivery } from './channel/delivery.ts';
import { createDial } from './channel/dial.ts';
import type { Clock } from './clock.ts';
import { openClusterAccess, type PodEnvironment } from './cluster-access.ts';
import { CommandRunner } from './commands/command-runner.ts';
import { openJournal, type CommandJournal } from './commands/journal.ts';
import { routeMessage, routeRefusal } from './commands/message-router.ts';
import type { LiveConfig } from './config/live-config.ts';
import { createPlatformToken } from './config/platform-token.ts';
import { createDeployHandler } from './deploy/deploy-handler.ts';
import { DriftWatch } from './drift/drift-watch.ts';
import { Expectations } from './drift/expectations.ts';
import { createExecHandler } from './exec/exec-handler.ts';
import { ClusterEvents } from './events/cluster-events.ts';
import { reportOf, type ClusterEvent } from './events/cluster-event.ts';
import { watchEventLoop, type EventLoopWatch } from './health/event-loop-watch.ts';
import { Health } from './health/health.ts';
import { KubernetesWatch } from './health/kubernetes-watch.ts';
import { startAgentHttp, type AgentHttp } from './http/agent-http.ts';
import { createLogsHandler } from './logs/logs-handler.ts';
import { createAgentMetrics, type AgentMetrics } from './metrics.ts';
import type { Outbox } from './channel/outbox.ts';
import { openEventState, type EventState } from './state/event-state.ts';
import { claimStateFolder } from './state/state-folder.ts';
import { createClusterNumbers } from './status/cluster-numbers.ts';
import { Limitations } from './status/limitations.ts';
import { StatusReporter } from './status/reporter.ts';
import { createTunnelDial } from './tunnel/dial-tunnel.ts';
import { createKubernetesService } from './tunnel/kubernetes-service.ts';
import { AgentTunnel } from './tunnel/tunnel.ts';

export interface AgentDependencies {
  config: LiveConfig;
  build: BuildInfo;
  clock: Clock;
  random: () => number;
  log: Logger;
  pod: PodEnvironment;
}

export interface Agent {
  readonly httpPort: number;
  /** Null when metrics have no port of their own. */
  readonly metricsPort: number | null;
  /** The token or the configuration changed: a pause before the next attempt ends. */
  reconnectNow(): void;
  /** Cancels what runs, delivers what it can, closes every listener, socket and file. */
  stop(): Promise<void>;
}

/** Time for the platform to confirm the last results and events before the connection closes. */
const LAST_DELIVERY_MS = 3000;

/** Puts the agent together and starts it; resolves when its endpoints listen. */
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
  const parts = connectParts(dependencies, resources);
  const tunnel = createTunnel(dependencies, metrics, client, limitations);
  const eventLoop = watchEventLoop(clock, (lagSeconds) => metrics.setEventLoopLag(lagSeconds));
  const health = healthOf(
    dependencies,
    startedAt,
    { ...parts, tunnel, limitations, watch },
    eventLoop,
    () => http?.listening() ?? true,
  );
  let http: AgentHttp | undefined;
  try {
    http = await startAgentHttp({
      ...dependencies,
      health,
      metrics,
      clusterId: () => parts.channel.clusterId,
      kubernetesVersion: () => watch.health.version,
      autoScaling: () => watch.autoScaling,
      limitations,
    });
    await parts.runner.settleInterrupted();
  } catch (error) {
    eventLoop.stop();
    client.close();
    await closeState();
    await http?.close();
    throw error;
  }
  const tellOfUs = (type: EventType): void => {
    parts.report({ type, namespace: config.current.agent.namespace, resource: 'agent', details: {} });
  };
  tellOfUs('agent_started');
  const loops = runLoops(parts, watch, tunnel);
  log.info({ port: http.port, metrics_port: http.metricsPort }, 'the agent is up');
  return {
    httpPort: http.port,
    metricsPort: http.metricsPort,
    reconnectNow: () => {
      parts.channel.retryNow();
      tunnel.retryNow();
    },
    stop: () =>
      stopAgent({ ...opened, closeState, tellOfUs, parts, loops, http, client, metrics, health, eventLoop, log }),
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

/** What earlier processes of this cluster's agent left, in a folder that is ours alone until `close`. */
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

interface Resources {
  startedAt: Date;
  metrics: AgentMetrics;
  journal: CommandJournal;
  state: EventState;
  expectations: Expectations;
  client: KubeClient;
  watch: KubernetesWatch;
  limitations: Limitations;
}

interface Parts {
  channel: PlatformChannel;
  delivery: Delivery;
  runner: CommandRunner;
  reporter: StatusReporter;
  events: ClusterEvents;
  drift: DriftWatch;
  report: (event: ClusterEvent) => void;
}

function connectParts(dependencies: AgentDependencies, resources: Resources): Parts {
  const { config, clock, log, random, build } = dependencies;
  const { journal, state, expectations, metrics, client, watch, startedAt, limitations } = resources;
  const instanceId = randomUUID();
  const delivery = new Delivery({ journal, events: state, clock, instanceId, log });
  state.onStored = () => delivery.eventsWaiting();
  const channel = new PlatformChannel({
    config,
    clock,
    random,
    log,
    metrics,
    dial: createDial(config, createPlatformToken(config)),
    decoder: createPlatformMessageDecoder(),
    hello: () => ({
      protocol: PROTOCOL_VERSION,
      agent_version: build.version,
      instance_id: instanceId,
      started_at: startedAt.toISOString(),
      cluster_name: config.current.agent.cluster_name,
      ...(watch.health.version === '' ? {} : { kubernetes_version: watch.health.version }),
      outbox_id: state.outbox.id,
      ...(state.outbox.range === null ? {} : { outbox: state.outbox.range }),
      in_flight: runner.openCommandIds.slice(-PROTOCOL_LIMITS.idsPerMessage),
      capabilities: ['deploy', 'exec', 'logs', ...(config.current.events.enabled ? ['events'] : [])],
    }),
    handlers: {
      connected: (session) => {
        runner.reconnected();
        delivery.begin(session);
        reporter.connected();
      },
      welcomed: () => delivery.welcomed(),
      message: (_session, message) => routeMessage({ runner, delivery, log }, message),
      refused: (_session, envelope, error) => routeRefusal(runner, envelope, error),
    },
  });
  const report = (event: ClusterEvent): void => state.report(reportOf(event, clock.now()));
  const drift = new DriftWatch({ client, config, clock, random, log, expectations, limitations, report });
  const handlers = {
    deploy: createDeployHandler({ client, config, clock, log, report, drift }),
    exec: createExecHandler({ client, clock }),
    logs: createLogsHandler({ client, clock }),
  };
  const runner: CommandRunner = new CommandRunner({
    journal,
    delivery,
    channel,
    config,
    clock,
    log,
    metrics,
    handlers,
  });
  const { events: rules, agent, kubernetes } = config.current;
  const look = { client, namespaces: kubernetes.namespaces, limitations };
  const numbers = createClusterNumbers({ ...look, kubernetesVersion: () => watch.health.version });
  const reporter: StatusReporter = new StatusReporter({ channel, numbers, limitations, clock, log });
  const events = new ClusterEvents({ ...look, clock, random, log, rules, keyPrefix: agent.key_prefix, state });
  return { channel, delivery, runner, reporter, events, drift, report };
}

function healthOf(
  { clock }: AgentDependencies,
  startedAt: Date,
  parts: Pick<Parts, 'channel'> & Pick<Resources, 'limitations' | 'watch'> & { tunnel: AgentTunnel },
  eventLoop: EventLoopWatch,
  listening: () => boolean,
): Health {
  const { channel, tunnel, limitations, watch } = parts;
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

function runLoops({ channel, reporter, events, drift }: Parts, watch: KubernetesWatch, tunnel: AgentTunnel): Loops {
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
  tellOfUs: (type: EventType) => void;
  parts: Parts;
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
  tellOfUs,
  parts,
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
  tellOfUs('agent_stopping');
  await parts.runner.stop();
  const deadline = performance.now() + LAST_DELIVERY_MS;
  const waiting = (): boolean => journal.unacknowledgedIds().length > 0 || state.outbox.length > 0;
  const reachable = (): boolean => (parts.channel.session?.mode ?? 'waiting') !== 'waiting';
  while (reachable() && waiting() && performance.now() < deadline) await delay(20);
  parts.delivery.stop();
  loops.abort.abort(new Error('the agent stops'));
  const session = parts.channel.session;
  await Promise.allSettled([loops.done, session?.ended]);
  eventLoop.stop();
  await http.close();
  client.close();
  await closeState();
  log.info('the agent stopped');
}
