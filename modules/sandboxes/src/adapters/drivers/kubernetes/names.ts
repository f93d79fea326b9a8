import { createHash } from 'node:crypto';
import { fieldAt, type KubeObject } from '@svc/kube';
import { assertSandboxId } from '../../../domain/driver.ts';

/** On everything we create in a cluster: the owner, a node of an installation. */
export const OWNER_LABEL = 'svc.dev/sandbox-owner';
/** On a sandbox's pod: its id. */
export const SANDBOX_LABEL = 'svc.dev/sandbox';
/** On every pod that the network policies select: its network mode. */
export const NETWORK_LABEL = 'svc.dev/sandbox-network';
/** On a sandbox's pod: its `PodState`; on its claim: its `DiskState`. */
export const STATE_ANNOTATION = 'svc.dev/sandbox-state';
/**
 * `filling`: it does not have the files of its snapshot yet. `stopped`: only its helper runs. `paused`: its helper has
 * stopped all other processes.
 */
export type PodState = 'filling' | 'stopped' | 'running' | 'paused';

/** `filling`: it does not have its files yet. */
export type DiskState = 'filling' | 'created';
/** On a sandbox's claim: what its pod is made of, as JSON. */
export const DISK_ANNOTATION = 'svc.dev/sandbox-disk';

export const POD = { apiVersion: 'v1', kind: 'Pod' } as const;
export const CLAIM = { apiVersion: 'v1', kind: 'PersistentVolumeClaim' } as const;
export const SANDBOX_CONTAINER = 'sandbox';
/** The init container that brings in the helper. */
export const HELPER_CONTAINER = 'helper';
/** The init container that puts the files of the image on the disk, and the volume of the disk. */
export const DISK_CONTAINER = 'disk';
export const DISK_VOLUME = 'disk';
/** Exit code of that container if the pod mounts other folders than the disk has, which it then reports. */
export const OTHER_FOLDERS = 3;
/** Name of the manager of the fields that we change. */
export const FIELD_MANAGER = 'svc-sandboxes';

/** Name of a sandbox's pod, and of its claim. Ids have characters that are not legal in names, and names are unique in a namespace. */
export function podName(owner: string, id: string): string {
  assertSandboxId(id);
  return `svc-sandbox-${createHash('sha256').update(`${owner}\n${id}`).digest('hex').slice(0, 24)}`;
}

/** Name of the Secret with the credential for the platform's registry. */
export function imageSecretName(owner: string): string {
  return `svc-sandbox-images-${owner}`;
}

export function selectOwner(owner: string): string {
  return `${OWNER_LABEL}=${owner}`;
}

/** The change of an existing pod's state annotation. Its uid makes it fail if the pod is gone. */
export function stateChange(
  { name, uid }: { readonly name: string; readonly uid: string },
  namespace: string,
  state: PodState,
): KubeObject {
  return { ...POD, metadata: { name, namespace, uid, annotations: { [STATE_ANNOTATION]: state } } };
}

/** The value of a label or annotation; null if it is missing. */
export function metadataText(object: KubeObject, map: 'labels' | 'annotations', key: string): string | null {
  const value = fieldAt(object.metadata, map, key);
  return typeof value === 'string' ? value : null;
}

/** Pattern of the name of a folder that can be on a disk; the helper has the same (`fill.go`). */
export const DISK_FOLDER = '^[A-Za-z0-9_][A-Za-z0-9_.+@-]{0,49}$';
/** The most folders that a disk has. */
export const MAX_DISK_FOLDERS = 50;
