import type { Readable } from 'node:stream';
import type { ClusterAccess } from './access.ts';
import { assertAccepted, readJson, readText, parseWarnings } from './answers.ts';
import { createDiscovery, type Discovery, type ResourceKind } from './discovery.ts';
import { isStatusError } from './errors.ts';
import { listObjects, type ListOptions, type ListPage } from './list.ts';
import type { KindReference, KubeObject, ObjectReference } from './objects.ts';
import { resourcePath, segment } from './paths.ts';
import { createTransport, type RequestObserver, type Transport } from './transport.ts';
import { streamEvents, type WatchEvent } from './watch.ts';

/** Options of a server-side apply. */
export interface ApplyOptions {
  fieldManager: string;
  /** Takes over fields owned by other managers. */
  force?: boolean;
  dryRun?: boolean;
  /** `Strict` refuses unknown fields; `Warn`, the server's default, reports them as warnings. */
  fieldValidation?: 'Ignore' | 'Warn' | 'Strict';
  signal?: AbortSignal | undefined;
}

/** Outcome of a server-side apply. */
export interface Applied {
  object: KubeObject;
  /** False if the object already existed; compare `resourceVersion` to see whether it changed. */
  created: boolean;
  warnings: string[];
}

/** Options of a delete. */
export interface DeleteOptions {
  /** Deletes only this object, not a later one with the same name. */
  uid?: string;
  resourceVersion?: string;
  propagation?: 'Foreground' | 'Background' | 'Orphan';
  dryRun?: boolean;
  signal?: AbortSignal | undefined;
}

/** Options of a watch. */
export interface WatchOptions {
  namespace?: string;
  labelSelector?: string;
  fieldSelector?: string;
  resourceVersion: string;
  timeoutSeconds?: number;
  idleTimeoutMs?: number;
  metadataOnly?: boolean;
  signal?: AbortSignal | undefined;
}

/** Options for reading a container's log. */
export interface LogOptions {
  container?: string;
  follow?: boolean;
  previous?: boolean;
  timestamps?: boolean;
  tailLines?: number;
  sinceSeconds?: number;
  sinceTime?: string;
  limitBytes?: number;
  signal?: AbortSignal | undefined;
}

/** Version of the API server. */
export interface KubeVersion {
  gitVersion: string;
  major: string;
  minor: string;
  platform: string;
}

/**
 * A Kubernetes API server, accessed as one identity. Every call accepts an AbortSignal; refusals are
 * `KubernetesStatusError`.
 */
export interface KubeClient {
  readonly access: ClusterAccess;
  readonly discovery: Discovery;
  readonly transport: Transport;
  /** Returns null if the object does not exist. */
  get(reference: ObjectReference, signal?: AbortSignal): Promise<KubeObject | null>;
  list(kind: KindReference, options?: ListOptions): AsyncGenerator<ListPage>;
  watch(kind: KindReference, options: WatchOptions): AsyncGenerator<WatchEvent>;
  /** Server-side apply: `object` holds only the fields that we own. */
  apply(object: KubeObject, options: ApplyOptions): Promise<Applied>;
  /** Returns false if the object was already gone. */
  delete(reference: ObjectReference, options?: DeleteOptions): Promise<boolean>;
  create(object: KubeObject, signal?: AbortSignal): Promise<KubeObject>;
  logs(pod: { namespace: string; name: string }, options?: LogOptions): Promise<Readable>;
  /** Gets any path as JSON, such as `/apis/metrics.k8s.io/v1beta1/nodes`. */
  raw(path: string, signal?: AbortSignal): Promise<Record<string, unknown>>;
  version(signal?: AbortSignal): Promise<KubeVersion>;
  /** Resolves if the API server reports ready. */
  ready(signal?: AbortSignal): Promise<void>;
  close(): void;
}

/** Options of the client. */
export interface KubeClientOptions {
  nowMs?: () => number;
  observe?: RequestObserver;
}

const METADATA_ONLY = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** Creates a client of one API server as one identity. */
export function createKubeClient(access: ClusterAccess, options: KubeClientOptions = {}): KubeClient {
  const transport = createTransport(access, options.observe);
  const discovery = createDiscovery(transport, options.nowMs ?? Date.now);
  return {
    access,
    discovery,
    transport,
    get: (reference, signal) => getObject(transport, discovery, reference, signal),
    list: (kind, listOptions) => listObjects(transport, discovery, kind, listOptions),
    watch: (kind, watchOptions) => watchObjects(transport, discovery, kind, watchOptions),
    apply: (object, applyOptions) => applyObject(transport, discovery, object, applyOptions),
    delete: (reference, deleteOptions) => deleteObject(transport, discovery, reference, deleteOptions),
    create: (object, signal) => createObject(transport, discovery, object, signal),
    logs: (pod, logOptions) => openLogs(transport, pod, logOptions),
    raw: async (path, signal) => readJson(await transport.send({ method: 'GET', path, signal })),
    version: (signal) => readVersion(transport, signal),
    ready: async (signal) => {
      const response = await transport.send({ method: 'GET', path: '/readyz', signal, timeoutMs: 10_000 });
      await assertAccepted(response);
      await readText(response, 65_536);
    },
    close: () => transport.close(),
  };
}

async function getObject(
  transport: Transport,
  discovery: Discovery,
  reference: ObjectReference,
  signal?: AbortSignal,
): Promise<KubeObject | null> {
  const kind = await discovery.find(reference, signal);
  const path = resourcePath(kind, reference.namespace, reference.name);
  try {
    return asObject(kind, await readJson(await transport.send({ method: 'GET', path, signal })));
  } catch (error) {
    if (isStatusError(error, 404)) return null;
    throw error;
  }
}

async function applyObject(
  transport: Transport,
  discovery: Discovery,
  object: KubeObject,
  options: ApplyOptions,
): Promise<Applied> {
  const kind = await discovery.find(object, options.signal);
  const response = await transport.send({
    method: 'PATCH',
    path: resourcePath(kind, object.metadata.namespace, object.metadata.name),
    query: {
      fieldManager: options.fieldManager,
      force: options.force ?? false,
      fieldValidation: options.fieldValidation,
      dryRun: options.dryRun === true ? 'All' : undefined,
    },
    headers: { 'content-type': 'application/apply-patch+yaml' }, // JSON is valid YAML
    body: JSON.stringify(object),
    signal: options.signal,
  });
  const created = response.statusCode === 201;
  const warnings = parseWarnings(response);
  return { object: asObject(kind, await readJson(response)), created, warnings };
}

async function createObject(
  transport: Transport,
  discovery: Discovery,
  object: KubeObject,
  signal?: AbortSignal,
): Promise<KubeObject> {
  const kind = await discovery.find(object, signal);
  const path = resourcePath(kind, object.metadata.namespace);
  return asObject(
    kind,
    await readJson(await transport.send({ method: 'POST', path, body: JSON.stringify(object), signal })),
  );
}

async function deleteObject(
  transport: Transport,
  discovery: Discovery,
  reference: ObjectReference,
  options: DeleteOptions = {},
): Promise<boolean> {
  const { uid, resourceVersion, propagation = 'Background', dryRun, signal } = options;
  const kind = await discovery.find(reference, signal);
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  const body = JSON.stringify({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    preconditions,
    propagationPolicy: propagation,
    ...(dryRun === true ? { dryRun: ['All'] } : {}),
  });
  const path = resourcePath(kind, reference.namespace, reference.name);
  try {
    await readJson(await transport.send({ method: 'DELETE', path, body, signal }));
    return true;
  } catch (error) {
    if (isStatusError(error, 404)) return false;
    throw error;
  }
}

async function* watchObjects(
  transport: Transport,
  discovery: Discovery,
  reference: KindReference,
  options: WatchOptions,
): AsyncGenerator<WatchEvent> {
  const kind = await discovery.find(reference, options.signal);
  const timeoutSeconds = options.timeoutSeconds ?? 290;
  yield* streamEvents(
    transport,
    {
      method: 'GET',
      path: resourcePath(kind, options.namespace),
      query: {
        watch: true,
        allowWatchBookmarks: true,
        resourceVersion: options.resourceVersion,
        timeoutSeconds,
        labelSelector: options.labelSelector,
        fieldSelector: options.fieldSelector,
      },
      headers: options.metadataOnly === true ? { accept: METADATA_ONLY } : {},
      signal: options.signal,
    },
    options.idleTimeoutMs ?? (timeoutSeconds + 30) * 1000,
  );
}

async function openLogs(
  transport: Transport,
  pod: { namespace: string; name: string },
  options: LogOptions = {},
): Promise<Readable> {
  const { signal, ...query } = options;
  const path = `/api/v1/namespaces/${segment(pod.namespace)}/pods/${segment(pod.name)}/log`;
  // A kubelet sends the head with the first line; a quiet container may take hours.
  const waits = query.follow === true ? { timeoutMs: 0 } : {};
  const response = await transport.send({ method: 'GET', path, query: { ...query }, signal, ...waits });
  await assertAccepted(response);
  return response;
}

async function readVersion(transport: Transport, signal?: AbortSignal): Promise<KubeVersion> {
  const answer = await readJson(await transport.send({ method: 'GET', path: '/version', signal, timeoutMs: 10_000 }));
  const text = (name: string): string => (typeof answer[name] === 'string' ? answer[name] : '');
  return { gitVersion: text('gitVersion'), major: text('major'), minor: text('minor'), platform: text('platform') };
}

function asObject(kind: ResourceKind, value: Record<string, unknown>): KubeObject {
  // The API server responded for this kind, so the shape is correct.
  return { ...value, apiVersion: kind.apiVersion, kind: kind.kind } as KubeObject;
}
