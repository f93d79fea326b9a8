/** An entry of `metadata.ownerReferences`. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** An entry of `metadata.managedFields`: the fields that one manager owns. */
export interface ManagedFields {
  manager: string;
  operation: string;
  /** RFC 3339. */
  time?: string;
  subresource?: string;
  fieldsV1?: Record<string, unknown>;
}

/** The used part of an object's `metadata`. */
export interface ObjectMetadata {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  managedFields?: ManagedFields[];
}

/** An object of any kind; callers check everything below the metadata. */
export interface KubeObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMetadata;
  [field: string]: unknown;
}

/** Identifies a kind; discovery finds its path. */
export interface KindReference {
  apiVersion: string;
  kind: string;
}

/** Identifies an object; omit `namespace` for cluster-scoped kinds. */
export interface ObjectReference extends KindReference {
  name: string;
  namespace?: string;
}

/** Returns the reference that identifies an object. */
export function referenceOf(object: KubeObject): ObjectReference {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace } = metadata;
  return { apiVersion, kind, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** Returns `group/Kind/namespace/name`, without the version: the same for every version of the object. */
export function identityOf(reference: ObjectReference): string {
  const group = reference.apiVersion.includes('/') ? reference.apiVersion.split('/')[0] : '';
  return `${group}/${reference.kind}/${reference.namespace ?? ''}/${reference.name}`;
}
