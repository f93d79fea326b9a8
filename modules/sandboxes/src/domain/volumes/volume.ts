import type { Breach, Limits } from '@svc/quotas';
import { sandboxErrors } from '../../errors.ts';
import type { SandboxDriver, VolumeDriver } from '../driver.ts';
import type { VolumeMount } from '../sandbox.ts';

/** A snapshot is a copy of a volume that no sandbox mounts. */
export type VolumeKind = 'volume' | 'snapshot';

/** `making`: being created. `resizing`: in use, and to be made larger on its node. `removed`: hidden; its files are deleted. */
export type VolumeState = 'making' | 'ready' | 'resizing' | 'removed';

export const MAX_VOLUMES_OF_SANDBOX = 16;

export interface Volume {
  readonly id: string;
  readonly kind: VolumeKind;
  readonly workspaceUuid: string;
  readonly ownerId: string;
  readonly node: string;
  readonly driver: string;
  /** Unique among the volumes of its workspace; snapshots may share one. */
  readonly name: string;
  readonly sizeMb: number;
  /** Space that a snapshot takes; 0 for volumes, which count with their size. */
  readonly sizeBytes: number;
  /** The snapshot or volume that a volume was created from, or the volume of a snapshot. It may be deleted. */
  readonly sourceId: string | null;
  readonly state: VolumeState;
  readonly createdAt: string;
}

export interface VolumePage {
  readonly volumes: readonly Volume[];
  readonly nextCursor: string | null;
}

export interface VolumeFilter {
  readonly kind: VolumeKind;
  /** Only volumes from this source. */
  readonly sourceId?: string | undefined;
  readonly pageSize: number;
  readonly cursor: string | null;
}

/** Stores volumes and their snapshots. Removed ones are visible only to `ofNode` and `purge`. */
export interface VolumeRepository {
  /** Checks quotas and name in one transaction. Throws QUOTA_EXCEEDED and VOLUME_EXISTS. */
  insert(volume: Volume, limits: Limits): Promise<void>;
  /** Moves it from `making` to `ready`. Null if it is not `making`. */
  finish(id: string, sizeBytes: number): Promise<Volume | null>;
  /** Finds a complete volume by name. */
  find(workspaceUuid: string, name: string): Promise<Volume | null>;
  /** Finds a complete volume or snapshot by id. */
  findById(id: string): Promise<Volume | null>;
  /** Lists complete ones, newest first. */
  list(workspaceUuid: string, filter: VolumeFilter): Promise<VolumePage>;
  /**
   * Records the new size of a volume that is `ready`, and that it is being resized. Returns the quota that this would
   * exceed, or null; the volume is null if it was not `ready`.
   */
  resize(id: string, sizeMb: number, limits: Limits): Promise<{ volume: Volume | null } | { breach: Breach }>;
  /** Ends the state `resizing` with this size. */
  endResize(id: string, sizeMb: number): Promise<Volume | null>;
  /** Returns false if it was already removed. Throws VOLUME_IN_USE if a sandbox mounts it. */
  remove(volume: Volume, limits: Limits): Promise<boolean>;
  /** Deletes the record, once no files are left. */
  purge(id: string): Promise<void>;
  ofNode(node: string, states: readonly VolumeState[]): Promise<readonly Volume[]>;
  /** Number of volumes and snapshots of a workspace. */
  count(workspaceUuid: string): Promise<number>;
}

/** Throws VOLUMES_UNAVAILABLE, with the field that needs them. */
export function assertHasVolumes({ name, volumes }: SandboxDriver, field?: string): VolumeDriver {
  if (volumes !== undefined) return volumes;
  throw sandboxErrors.VOLUMES_UNAVAILABLE({ details: { driver: name, ...(field === undefined ? {} : { field }) } });
}

/** Like `assertHasVolumes`. Also throws SANDBOXES_UNAVAILABLE while the driver is not available. */
export function assertVolumesAvailable(driver: SandboxDriver): VolumeDriver {
  const volumes = assertHasVolumes(driver);
  const status = driver.status();
  if (status.available) return volumes;
  const details = { reason: status.reason, install: status.install };
  throw sandboxErrors.SANDBOXES_UNAVAILABLE({ details, headers: { 'retry-after': '60' } });
}

/** Folders that the platform itself mounts or uses. */
const RESERVED = ['/proc', '/sys', '/dev', '/.sandbox'];

/** Why a volume cannot be mounted at this path; null if it can. */
export function mountPathFault(path: string, others: readonly Pick<VolumeMount, 'path'>[]): string | null {
  const parts = path.split('/').slice(1);
  const isNormal = path.startsWith('/') && parts.every((part) => part !== '' && part !== '.' && part !== '..');
  if (!isNormal || path.includes('\0') || Buffer.byteLength(path) > 1024) {
    return 'must be an absolute path, without . and .. and a slash at the end';
  }
  const reserved = RESERVED.find((folder) => isWithin(path, folder));
  if (reserved !== undefined) return `must not be below ${reserved}`;
  const other = others.find((each) => isWithin(path, each.path) || isWithin(each.path, path));
  return other === undefined ? null : `overlaps with ${other.path}`;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
