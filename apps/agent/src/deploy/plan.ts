import type { AppError } from '@svc/errors';
import { fieldAt, identityOf, referenceOf, type Discovery, type KubeObject } from '@svc/kube';
import type { AgentConfig } from '../config/schema.ts';
import { agentErrors } from '../errors.ts';
import type { Faults } from './faults.ts';
import type { ManifestObject } from './manifest.ts';
import { markForProject } from './project-marks.ts';

/** One object as it will be applied. */
export interface PlannedObject {
  object: KubeObject;
  field: string;
  namespaced: boolean;
  /** The same manifest creates its kind or namespace, so a dry run before that cannot succeed. */
  dependsOnManifest: boolean;
  /** For an autoscaler: the kind of the workload with its name that becomes its owner. */
  ownerKind?: string;
  /** Replicas pass from us to an autoscaler: their number must be preserved. */
  keepsReplicas?: boolean;
  /** Replicas pass from an autoscaler back to us. */
  takesReplicas?: boolean;
}

export interface PlanRequest {
  objects: readonly ManifestObject[];
  projectId: string;
  namespace: string;
  keyPrefix: string;
  rules: AgentConfig['deploy'];
  discovery: Discovery;
  faults: Faults;
  signal: AbortSignal;
}

/**
 * Plans where each object goes and whether it is allowed: looks up kinds, fills in and checks namespaces, adds marks.
 * Collects the manifest's faults.
 */
export async function planDeploy(request: PlanRequest): Promise<PlannedObject[]> {
  const definedKinds = kindsOfManifest(request.objects);
  const ownNamespaces = new Set(
    request.objects.filter(({ object }) => object.kind === 'Namespace').map(({ object }) => object.metadata.name),
  );
  const planned: PlannedObject[] = [];
  const seen = new Map<string, string>();
  for (const { object, field } of request.objects) {
    const scope = await request.faults.tryLater(() => findScope(request, definedKinds, object, field));
    if (scope === undefined) continue;
    const namespace = request.faults.try(() => guardedNamespace(request, object, field, scope.namespaced));
    if (namespace === undefined && scope.namespaced) continue;
    const clean = withoutServerFields(object, namespace);
    const marked = markForProject(clean, request.projectId, request.keyPrefix);
    const identity = identityOf(referenceOf(marked));
    const earlier = seen.get(identity);
    if (earlier !== undefined) request.faults.add(invalid(field, `is the same object as ${earlier}`));
    seen.set(identity, field);
    const inOwnNamespace = namespace !== undefined && ownNamespaces.has(namespace);
    planned.push({
      object: marked,
      field,
      namespaced: scope.namespaced,
      dependsOnManifest: scope.defined || inOwnNamespace,
    });
  }
  return planned;
}

/** `group/Kind` -> namespaced, for the custom kinds that the manifest itself defines. */
function kindsOfManifest(objects: readonly ManifestObject[]): ReadonlyMap<string, boolean> {
  const kinds = new Map<string, boolean>();
  for (const { object } of objects) {
    if (object.kind !== 'CustomResourceDefinition') continue;
    const group = fieldAt(object, 'spec', 'group');
    const kind = fieldAt(object, 'spec', 'names', 'kind');
    if (typeof group !== 'string' || typeof kind !== 'string') continue;
    kinds.set(`${group}/${kind}`, fieldAt(object, 'spec', 'scope') === 'Namespaced');
  }
  return kinds;
}

async function findScope(
  { discovery, signal }: PlanRequest,
  definedKinds: ReadonlyMap<string, boolean>,
  object: KubeObject,
  field: string,
): Promise<{ namespaced: boolean; defined: boolean }> {
  try {
    const kind = await discovery.find(object, signal);
    return { namespaced: kind.namespaced, defined: false };
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'UNKNOWN_KIND')) throw error;
    const defined = definedKinds.get(`${object.apiVersion.split('/')[0] ?? ''}/${object.kind}`);
    if (defined !== undefined) return { namespaced: defined, defined: true };
    throw invalid(`${field}.kind`, `the cluster does not know ${object.apiVersion} ${object.kind}`, error);
  }
}

function guardedNamespace(
  request: PlanRequest,
  object: KubeObject,
  field: string,
  namespaced: boolean,
): string | undefined {
  const { rules } = request;
  if (!namespaced) {
    const allowed = rules.cluster_scoped_kinds;
    if (!allowed.includes('*') && !allowed.includes(object.kind)) {
      const reason = `${object.kind} is cluster-scoped; deploy.cluster_scoped_kinds of this agent does not allow it`;
      throw agentErrors.FORBIDDEN({ details: { field: `${field}.kind`, reason } });
    }
    return undefined;
  }
  const namespace = object.metadata.namespace ?? request.namespace;
  if (namespace === request.namespace || rules.namespaces.includes('*') || rules.namespaces.includes(namespace)) {
    return namespace;
  }
  const reason = `namespace ${namespace} is not the one of the deploy, ${request.namespace}; deploy.namespaces of this agent does not allow it`;
  throw agentErrors.FORBIDDEN({ details: { field: `${field}.metadata.namespace`, reason } });
}

/**
 * Removes fields that only servers write: manifests copied from a cluster contain them, and the server rejects them.
 */
function withoutServerFields(object: KubeObject, namespace: string | undefined): KubeObject {
  const { status: _status, ...rest } = object;
  const {
    managedFields: _managed,
    uid: _uid,
    resourceVersion: _version,
    generation: _generation,
    creationTimestamp: _created,
    deletionTimestamp: _deleted,
    namespace: _namespace,
    ...metadata
  } = object.metadata;
  const withoutLink = Object.fromEntries(Object.entries(metadata).filter(([name]) => name !== 'selfLink'));
  return {
    ...rest,
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: {
      ...withoutLink,
      name: object.metadata.name,
      ...(namespace === undefined ? {} : { namespace }),
    },
  };
}

function invalid(field: string, reason: string, cause?: unknown): AppError {
  return agentErrors.INVALID_REQUEST({ details: { field, reason: `${field}: ${reason}` }, cause });
}
