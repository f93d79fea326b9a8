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
import { kubeconfigOf, type Kubeconfig, type KubeconfigOptions } from './kubeconfig.ts';
import { readLogs, type LogOptions, type LogPiece, type LogRequest } from './logs.ts';
import { ClusterShell, type ShellRequest } from './shell.ts';

export interface DeployOptions extends CallOptions {
  /** The same request with the same key is one deployment. */
  idempotencyKey?: string | undefined;
}

export type DeploymentEvent = CommandEvent<Deployment>;

export interface ObjectQuery extends PageQuery {
  namespace?: string | undefined;
  /** Part of the name. */
  name?: string | undefined;
}

export interface PodQuery extends ObjectQuery {
  node?: string | undefined;
  /** Such as `app=web`; the `selector` of a workload finds its pods. */
  labelSelector?: string | undefined;
}

/** One cluster, by its name or id. Nothing is asked before a method is called. */
export class Cluster {
  readonly name: string;
  readonly #scope: ClusterScope;
  readonly #path: string;

  constructor(scope: ClusterScope, nameOrId: string) {
    this.name = nameOrId;
    this.#scope = scope;
    this.#path = `/${encodeURIComponent(nameOrId)}`;
  }

  get(options: CallOptions = {}): Promise<ClusterInfo> {
    return this.#scope.call('GET', this.#path, options);
  }

  /** With its history; its agent is sent away. What it deployed stays in the cluster. */
  async delete(options: CallOptions = {}): Promise<void> {
    await this.#scope.call('DELETE', this.#path, options);
  }

  /** A new token of the agent; the older one ends at once, or after the overlap. */
  rotateToken({ overlapSeconds, ...options }: CallOptions & { overlapSeconds?: number } = {}): Promise<RotatedToken> {
    const body = overlapSeconds === undefined ? {} : { overlap_seconds: overlapSeconds };
    return this.#scope.call('POST', `${this.#path}/token`, { body, ...options });
  }

  /** Live state and the heartbeats since then (ISO 8601), of the last hour by default. */
  status(query: { since?: string; limit?: number } = {}, options: CallOptions = {}): Promise<ClusterStatus> {
    return this.#scope.call('GET', `${this.#path}/status`, { query, ...options });
  }

  /** Answers when it is accepted; `follow` and `deployAndWait` tell what becomes of it. */
  deploy(deployment: NewDeployment, { idempotencyKey, ...options }: DeployOptions = {}): Promise<Deployment> {
    const headers = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return this.#scope.call('POST', `${this.#path}/deploy`, { body: deployment, headers, ...options });
  }

  /** Answers the finished deployment, which may have failed: its `status` says so, `error` and `resultOf` say why. */
  async deployAndWait(
    deployment: NewDeployment,
    { onEvent, ...options }: DeployOptions & { onEvent?: (event: DeploymentEvent) => void } = {},
  ): Promise<Deployment> {
    const { id } = await this.deploy(deployment, options);
    const { signal } = options;
    return resultOfCommand(this.followDeployment(id, { signal }), (event) => onEvent?.(event));
  }

  /** Its states and progress from the beginning, and its result, over lost connections. */
  followDeployment(id: string, { signal }: Pick<CallOptions, 'signal'> = {}): AsyncGenerator<DeploymentEvent, void> {
    return followCommand(this.#scope, `${this.#path}/deployments/${encodeURIComponent(id)}/events`, { signal });
  }

  /** Newest first. */
  deployments(
    { projectId, ...page }: PageQuery & { projectId?: string } = {},
    options: CallOptions = {},
  ): Promise<Page<Deployment>> {
    return this.#list('deployments', { ...pageParameters(page), project_id: projectId }, options);
  }

  deployment(id: string, options: CallOptions = {}): Promise<Deployment> {
    return this.#scope.call('GET', `${this.#path}/deployments/${encodeURIComponent(id)}`, options);
  }

  /** A finished one stays as it is. */
  cancelDeployment(id: string, options: CallOptions = {}): Promise<Deployment> {
    return this.#scope.call('DELETE', `${this.#path}/deployments/${encodeURIComponent(id)}`, options);
  }

  /** Runs a command to its end. Without input or a terminal; `shell` has both. */
  exec(request: ExecRequest, options: ExecOptions = {}): Promise<ExecResult> {
    return execInContainer(this.#scope, this.#path, request, options);
  }

  /** A process in a container, with input, outputs and a terminal. Needs the agent's tunnel. */
  shell(request: ShellRequest, options: CallOptions = {}): Promise<ClusterShell> {
    return ClusterShell.open(this.#scope, this.#path, request, options);
  }

  /** The log of a container, as it is or as it comes; what is followed goes on over lost connections, each line once. */
  logs(request: LogRequest, options: LogOptions = {}): AsyncGenerator<LogPiece, void> {
    return readLogs(this.#scope, this.#path, request, options);
  }

  /** What has happened in the cluster, newest first. */
  events(
    { eventType, namespace, ...page }: PageQuery & { eventType?: string; namespace?: string } = {},
    options: CallOptions = {},
  ): Promise<Page<ClusterEvent>> {
    return this.#list('events', { ...pageParameters(page), event_type: eventType, namespace }, options);
  }

  /** What happens in the cluster, from now on or after an event, over lost connections, until it is left. */
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

  /** Read from the cluster itself. Needs the agent's tunnel, as `workloads` and `pods` do. */
  nodes({ name, ...page }: Omit<ObjectQuery, 'namespace'> = {}, options: CallOptions = {}): Promise<Page<ClusterNode>> {
    return this.#list('nodes', { ...pageParameters(page), name }, options);
  }

  /** Deployments, StatefulSets, DaemonSets, CronJobs and Jobs, kind after kind. */
  workloads(
    { name, namespace, kind, ...page }: ObjectQuery & { kind?: WorkloadKind | undefined } = {},
    options: CallOptions = {},
  ): Promise<Page<Workload>> {
    return this.#list('workloads', { ...pageParameters(page), name, namespace, kind }, options);
  }

  pods(
    { name, namespace, node, labelSelector, ...page }: PodQuery = {},
    options: CallOptions = {},
  ): Promise<Page<Pod>> {
    const query = { ...pageParameters(page), name, namespace, node, label_selector: labelSelector };
    return this.#list('pods', query, options);
  }

  /** Where services of the cluster and its API server are reached. */
  endpoints(options: CallOptions = {}): Promise<TunnelEndpoints> {
    return this.#scope.call('GET', `${this.#path}/tunnel-endpoints`, options);
  }

  /** For kubectl and others, through the tunnel. Holds a token: keep it like one. */
  async kubeconfig(
    { token, namespace = 'default' }: KubeconfigOptions = {},
    options: CallOptions = {},
  ): Promise<Kubeconfig> {
    const { credential } = this.#scope.transport;
    const known = token ?? (credential.kind === 'token' ? credential.token : undefined);
    if (known === undefined) throw noToken();
    return kubeconfigOf(await this.endpoints(options), known, namespace);
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
