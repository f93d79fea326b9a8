import type { Page } from '../accounts-types.ts';
import { UnauthorizedError } from '../errors.ts';
import { listPage, pageParameters, type PageQuery } from '../pages.ts';
import type { CallOptions, QueryValue } from '../transport.ts';
import type { ClusterScope } from './cluster-scope.ts';
import type {
  ClusterEvent,
  ClusterInfo,
  ClusterNode,
  ClusterStatus,
  Deployment,
  NewDeployment,
  Pod,
  RotatedToken,
  TunnelEndpoints,
  Workload,
  WorkloadKind,
} from './cluster-types.ts';
import { followCommand, resultOfCommand, type CommandEvent } from './command-events.ts';
import { execInContainer, type ExecOptions, type ExecRequest, type ExecResult } from './exec.ts';
import { followServerEvents } from './follow-events.ts';
import { createKubeconfig, type Kubeconfig, type KubeconfigOptions } from './kubeconfig.ts';
import { readLogs, type LogOptions, type LogPiece, type LogRequest } from './logs.ts';
import { ClusterShell, type ShellRequest } from './shell.ts';

/** Options of a deployment. */
export interface DeployOptions extends CallOptions {
  /** Repeating the same request with the same key returns the same deployment. */
  idempotencyKey?: string | undefined;
}

/** A state change, progress or the result of a deployment. */
export type DeploymentEvent = CommandEvent<Deployment>;

/** Filters for lists of Kubernetes objects. */
export interface ObjectQuery extends PageQuery {
  namespace?: string | undefined;
  /** Matches part of the name. */
  name?: string | undefined;
}

/** Filters for lists of pods. */
export interface PodQuery extends ObjectQuery {
  node?: string | undefined;
  /** A label selector, such as `app=web`. The `selector` of a workload matches its pods. */
  labelSelector?: string | undefined;
}

/**
 * A cluster, by name or id. Creating this object makes no request.
 *
 * @example
 * ```ts
 * const cluster = svc.clusters.of('production');
 * const { exitCode } = await cluster.exec({ pod: 'web-0', namespace: 'default', command: ['date'] });
 * ```
 */
export class Cluster {
  /** The name or id given for this cluster. */
  readonly name: string;
  readonly #scope: ClusterScope;
  readonly #path: string;

  constructor(scope: ClusterScope, nameOrId: string) {
    this.name = nameOrId;
    this.#scope = scope;
    this.#path = `/${encodeURIComponent(nameOrId)}`;
  }

  /** Returns the cluster. */
  get(options: CallOptions = {}): Promise<ClusterInfo> {
    return this.#scope.call('GET', this.#path, options);
  }

  /** Deletes the cluster with its history and disconnects its agent. Deployed objects stay in the cluster. */
  async delete(options: CallOptions = {}): Promise<void> {
    await this.#scope.call('DELETE', this.#path, options);
  }

  /** Creates a new agent token. The old one ends immediately, or after the overlap. */
  rotateToken({ overlapSeconds, ...options }: CallOptions & { overlapSeconds?: number } = {}): Promise<RotatedToken> {
    const body = overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds };
    return this.#scope.call('POST', `${this.#path}/token`, { body, ...options });
  }

  /** Returns the live state and the heartbeats since a time (ISO 8601); the last hour by default. */
  status(query: { since?: string; limit?: number } = {}, options: CallOptions = {}): Promise<ClusterStatus> {
    return this.#scope.call('GET', `${this.#path}/status`, { query, ...options });
  }

  /**
   * Starts a deployment and returns when it is accepted. Use `deployAndWait` or `followDeployment` for its outcome.
   */
  deploy(deployment: NewDeployment, { idempotencyKey, ...options }: DeployOptions = {}): Promise<Deployment> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return this.#scope.call('POST', `${this.#path}/deploy`, { body: deployment, headers, ...options });
  }

  /**
   * Deploys and waits for the end. A failed deployment does not throw: check `status`, and see `error` and `resultOf`
   * for the reason.
   */
  async deployAndWait(
    deployment: NewDeployment,
    { onEvent, ...options }: DeployOptions & { onEvent?: (event: DeploymentEvent) => void } = {},
  ): Promise<Deployment> {
    const { id } = await this.deploy(deployment, options);
    const { signal } = options;
    return resultOfCommand(this.followDeployment(id, { signal }), (event) => onEvent?.(event));
  }

  /**
   * Streams states, progress and the result of a deployment from its beginning. Reconnects if the connection is lost.
   */
  followDeployment(id: string, { signal }: Pick<CallOptions, 'signal'> = {}): AsyncGenerator<DeploymentEvent, void> {
    return followCommand(this.#scope, `${this.#path}/deployments/${encodeURIComponent(id)}/events`, { signal });
  }

  /** Lists one page of deployments, newest first. */
  deployments(
    { projectId, ...page }: PageQuery & { projectId?: string } = {},
    options: CallOptions = {},
  ): Promise<Page<Deployment>> {
    return this.#list('deployments', { ...pageParameters(page), project_id: projectId }, options);
  }

  /** Returns a deployment. */
  deployment(id: string, options: CallOptions = {}): Promise<Deployment> {
    return this.#scope.call('GET', `${this.#path}/deployments/${encodeURIComponent(id)}`, options);
  }

  /** Cancels a deployment. A finished one does not change. */
  cancelDeployment(id: string, options: CallOptions = {}): Promise<Deployment> {
    return this.#scope.call('DELETE', `${this.#path}/deployments/${encodeURIComponent(id)}`, options);
  }

  /** Runs a command to completion, without input or a terminal. Use `shell` for those. */
  exec(request: ExecRequest, options: ExecOptions = {}): Promise<ExecResult> {
    return execInContainer(this.#scope, this.#path, request, options);
  }

  /** Starts a process in a container, with input, output and optionally a terminal. Requires the agent's tunnel. */
  shell(request: ShellRequest, options: CallOptions = {}): Promise<ClusterShell> {
    return ClusterShell.open(this.#scope, this.#path, request, options);
  }

  /**
   * Reads or follows the log of a container. Following reconnects if the connection is lost and yields each line once.
   */
  logs(request: LogRequest, options: LogOptions = {}): AsyncGenerator<LogPiece, void> {
    return readLogs(this.#scope, this.#path, request, options);
  }

  /** Lists one page of events in the cluster, newest first. */
  events(
    { eventType, namespace, ...page }: PageQuery & { eventType?: string; namespace?: string } = {},
    options: CallOptions = {},
  ): Promise<Page<ClusterEvent>> {
    return this.#list('events', { ...pageParameters(page), event_type: eventType, namespace }, options);
  }

  /**
   * Streams events in the cluster, from now on or after a given event. Reconnects if the connection is lost, until the
   * iteration ends.
   */
  async *followEvents(
    query: { eventType?: string; namespace?: string; after?: number } = {},
    { signal }: Pick<CallOptions, 'signal'> = {},
  ): AsyncGenerator<ClusterEvent, void> {
    const after = query.after ?? (await this.events({ pageSize: 1 }, { signal })).items[0]?.sequence ?? 0;
    const filter = { event_type: query.eventType, namespace: query.namespace };
    const request = { path: `${this.#path}/events`, query: filter, after: String(after), signal };
    for await (const { data } of followServerEvents(this.#scope, request)) {
      yield JSON.parse(data) as ClusterEvent; // the route's documented event
    }
  }

  /** Lists the nodes, read from the cluster. Requires the agent's tunnel, like `workloads` and `pods`. */
  nodes({ name, ...page }: Omit<ObjectQuery, 'namespace'> = {}, options: CallOptions = {}): Promise<Page<ClusterNode>> {
    return this.#list('nodes', { ...pageParameters(page), name }, options);
  }

  /** Lists Deployments, StatefulSets, DaemonSets, CronJobs and Jobs, in that order. */
  workloads(
    { name, namespace, kind, ...page }: ObjectQuery & { kind?: WorkloadKind | undefined } = {},
    options: CallOptions = {},
  ): Promise<Page<Workload>> {
    return this.#list('workloads', { ...pageParameters(page), name, namespace, kind }, options);
  }

  /** Lists the pods. Requires the agent's tunnel. */
  pods(
    { name, namespace, node, labelSelector, ...page }: PodQuery = {},
    options: CallOptions = {},
  ): Promise<Page<Pod>> {
    const query = { ...pageParameters(page), name, namespace, node, label_selector: labelSelector };
    return this.#list('pods', query, options);
  }

  /** Returns the addresses of the cluster's API server and forwarded services. */
  endpoints(options: CallOptions = {}): Promise<TunnelEndpoints> {
    return this.#scope.call('GET', `${this.#path}/tunnel-endpoints`, options);
  }

  /**
   * Returns a kubeconfig for kubectl and other clients, through the tunnel. It contains a token, so keep it secret.
   */
  async kubeconfig(
    { token, namespace = 'default' }: KubeconfigOptions = {},
    options: CallOptions = {},
  ): Promise<Kubeconfig> {
    const { credential } = this.#scope.transport;
    const known = token ?? (credential.kind === 'token' ? credential.token : undefined);
    if (known === undefined) throw noToken();
    return createKubeconfig(await this.endpoints(options), known, namespace);
  }

  #list<Item>(name: string, query: Record<string, QueryValue>, options: CallOptions): Promise<Page<Item>> {
    return listPage(this.#scope.transport, name, this.#scope.request(`${this.#path}/${name}`, { query, ...options }));
  }
}

function noToken(): Error {
  const message = 'A kubeconfig needs a token: pass one, since kubectl cannot use the session of a browser';
  const fields = { status: 401, code: 'UNAUTHORIZED', message, requestId: null, details: {}, retryAfterSeconds: null };
  return new UnauthorizedError(fields);
}
