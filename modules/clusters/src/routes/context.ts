import { grantOf, principalOf } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Changes, Subscription } from '../domain/changes.ts';
import type { Clock } from '@svc/runtime';
import type { ClusterRegistry } from '../domain/cluster-registry.ts';
import type { Cluster, ClusterStore } from '../domain/cluster.ts';
import type { CommandDispatcher } from '../domain/command-dispatcher.ts';
import type { CommandOrigin, CommandRequests } from '../domain/command-requests.ts';
import type { CommandStore, DeploymentStore } from '../domain/command.ts';
import type { InstallCommands } from '../domain/install.ts';
import type { OutputRelays } from '../domain/output-relays.ts';
import type { TelemetryStore } from '../domain/telemetry.ts';
import { clusterErrors } from '../errors.ts';
import { parseIdempotencyKey } from './parameters.ts';
import { streamSignal } from './event-stream.ts';

/** Dependencies shared by the routes. */
export interface RouteContext {
  registry: ClusterRegistry;
  clusters: ClusterStore;
  commands: CommandStore;
  deployments: DeploymentStore;
  telemetry: TelemetryStore;
  requests: CommandRequests;
  dispatcher: CommandDispatcher;
  relays: OutputRelays;
  changes: Changes;
  clock: Clock;
  offlineAfterMs: number;
  maxStreams: number;
  /** Aborts when the module stops, which ends streams and waiting calls. */
  stopping: AbortSignal;
  install: (cluster: Cluster, token: string) => Promise<InstallCommands>;
}

interface ClusterRequest extends FastifyRequest {
  params: { cluster: string };
}

export function findCluster(context: RouteContext, request: FastifyRequest): Promise<Cluster> {
  const { cluster } = (request as ClusterRequest).params; // required by the schema of every calling route
  return context.registry.find(grantOf(request).workspaceUuid, cluster);
}

export function originOf(request: FastifyRequest, cluster: Cluster, queueIfOffline: boolean): CommandOrigin {
  const { id, name } = principalOf(request);
  return { cluster, actor: { id, name }, idempotencyKey: parseIdempotencyKey(request.headers), queueIfOffline };
}

/** The caller's identity, for the agent's audit line and for impersonation. */
export function actorOf(request: FastifyRequest): { user: string; groups: string[] } {
  return { user: `svc:user:${principalOf(request).id}`, groups: [`svc:role:${grantOf(request).role}`] };
}

/** Opens a subscription that ends with the response. Throws `TOO_MANY_STREAMS`. */
export function openStream(
  context: RouteContext,
  reply: FastifyReply,
  key: string,
): { signal: AbortSignal; subscription: Subscription } {
  const { changes, maxStreams, stopping } = context;
  if (changes.count(key) >= maxStreams) {
    throw clusterErrors.TOO_MANY_STREAMS({ details: { limit: maxStreams }, headers: { 'retry-after': '10' } });
  }
  const signal = streamSignal(reply, stopping);
  const subscription = changes.subscribe(key);
  if (signal.aborted) subscription.end();
  else signal.addEventListener('abort', () => subscription.end(), { once: true });
  return { signal, subscription };
}
