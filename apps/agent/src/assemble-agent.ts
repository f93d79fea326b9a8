import { randomUUID } from 'node:crypto';
import type { KubeClient } from '@svc/kube';
import { PROTOCOL_LIMITS, PROTOCOL_VERSION, createPlatformMessageDecoder } from '@svc/protocol';
import type { Logger } from '@svc/telemetry';
import type { BuildInfo } from './build-info.ts';
import { PlatformChannel } from './channel/channel.ts';
import { Delivery } from './channel/delivery.ts';
import { createDial } from './channel/dial.ts';
import type { Clock } from '@svc/runtime';
import type { PodEnvironment } from './cluster-access.ts';
import { CommandRunner } from './commands/command-runner.ts';
import type { CommandJournal } from './commands/journal.ts';
import { routeMessage, routeRefusal } from './commands/message-router.ts';
import type { LiveConfig } from './config/live-config.ts';
import { createPlatformToken } from './config/platform-token.ts';
import { createDeployHandler } from './deploy/deploy-handler.ts';
import { DriftWatch } from './drift/drift-watch.ts';
import type { Expectations } from './drift/expectations.ts';
import { createExecHandler } from './exec/exec-handler.ts';
import { ClusterEvents } from './events/cluster-events.ts';
import { reportOf, type ClusterEvent } from './events/cluster-event.ts';
import type { KubernetesWatch } from './health/kubernetes-watch.ts';
import { createLogsHandler } from './logs/logs-handler.ts';
import type { AgentMetrics } from './metrics.ts';
import type { EventState } from './state/event-state.ts';
import { createClusterNumbers } from './status/cluster-numbers.ts';
import type { Limitations } from './status/limitations.ts';
import { StatusReporter } from './status/reporter.ts';

export interface AgentDependencies {
  config: LiveConfig;
  build: BuildInfo;
  clock: Clock;
  random: () => number;
  log: Logger;
  pod: PodEnvironment;
}

/** Resources shared by the parts; their creator closes them. */
export interface Resources {
  startedAt: Date;
  metrics: AgentMetrics;
  journal: CommandJournal;
  state: EventState;
  expectations: Expectations;
  client: KubeClient;
  watch: KubernetesWatch;
  limitations: Limitations;
}

/** The assembled parts of the agent. Nothing is running yet. */
export interface AgentAssembly {
  channel: PlatformChannel;
  delivery: Delivery;
  runner: CommandRunner;
  reporter: StatusReporter;
  events: ClusterEvents;
  drift: DriftWatch;
  report: (event: ClusterEvent) => void;
}

export function assembleAgent(dependencies: AgentDependencies, resources: Resources): AgentAssembly {
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
  const reachable = (signal: AbortSignal): Promise<void> => watch.reachable(signal);
  const handlers = {
    deploy: createDeployHandler({ client, config, clock, log, report, drift, reachable }),
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
