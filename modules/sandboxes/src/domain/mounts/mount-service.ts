import { createMaker, type Access, type Maker, type Principal } from '@svc/access';
import { sandboxErrors } from '../../errors.ts';
import type { SandboxDriver } from '../driver.ts';
import type { VolumeMount } from '../sandbox.ts';
import { mountPathFault } from '../volumes/volume.ts';
import {
  actionsOf,
  assertMountsBuckets,
  parsePrefix,
  type BucketMount,
  type Buckets,
  type WantedBucketMount,
} from './bucket-mount.ts';

export interface MountServiceDeps {
  readonly access: Pick<Access, 'allowedActions'>;
  /** Null if the object store is disabled. */
  readonly buckets: Buckets | null;
  readonly driver: SandboxDriver;
}

/** Finds and authorizes the buckets of create requests. */
export class MountService {
  readonly #deps: MountServiceDeps;

  constructor(deps: MountServiceDeps) {
    this.#deps = deps;
  }

  /**
   * Finds the buckets that a request names. Throws MOUNTS_OF_GUESTS, MOUNTS_UNAVAILABLE, MOUNT_FORBIDDEN, UNKNOWN_BUCKET
   * and INVALID_FIELD.
   */
  async resolve(
    workspaceUuid: string,
    principal: Principal,
    wanted: readonly WantedBucketMount[],
    volumes: readonly Pick<VolumeMount, 'path'>[],
  ): Promise<readonly BucketMount[]> {
    const mounts: BucketMount[] = [];
    for (const [index, { bucket, prefix, path, readOnly }] of wanted.entries()) {
      const field = `mounts[${index}]`;
      const fault = mountPathFault(path, [...volumes, ...mounts]);
      if (fault !== null) throw sandboxErrors.INVALID_FIELD({ details: { field: `${field}.path`, reason: fault } });
      const found = { bucket, prefix: parsePrefix(prefix, `${field}.prefix`), path, readOnly };
      mounts.push({ ...found, bucketId: 0, maker: createMaker(principal) });
    }
    return this.authorize(workspaceUuid, principal, mounts);
  }

  /** Gives the mounts of a sandbox to another creator, such as that of a fork. Throws like `resolve`. */
  async authorize(
    workspaceUuid: string,
    principal: Principal,
    mounts: readonly BucketMount[],
  ): Promise<readonly BucketMount[]> {
    if (mounts.length === 0) return [];
    if (principal.kind === 'guest') throw sandboxErrors.MOUNTS_OF_GUESTS();
    assertMountsBuckets(this.#deps.driver);
    const maker = createMaker(principal);
    return Promise.all(mounts.map((mount, index) => this.#authorize(workspaceUuid, { ...mount, maker }, index)));
  }

  async #authorize(workspaceUuid: string, mount: BucketMount, index: number): Promise<BucketMount> {
    const { buckets } = this.#deps;
    if (buckets === null) {
      const details = { field: 'mounts', reason: 'the object store is switched off' };
      throw sandboxErrors.MOUNTS_UNAVAILABLE({ details });
    }
    const field = `mounts[${index}]`;
    if (!(await this.#mayUse(workspaceUuid, mount.maker, mount))) {
      const access = mount.readOnly ? 'read' : 'read and write';
      throw sandboxErrors.MOUNT_FORBIDDEN({ details: { field, access } });
    }
    const bucketId = await buckets.find(workspaceUuid, mount.bucket);
    if (bucketId === null) {
      throw sandboxErrors.UNKNOWN_BUCKET({ details: { field: `${field}.bucket`, bucket: mount.bucket } });
    }
    return { ...mount, bucketId };
  }

  async #mayUse(workspaceUuid: string, maker: Maker, mount: BucketMount): Promise<boolean> {
    const actions = actionsOf(mount);
    const allowed = await this.#deps.access.allowedActions({ maker, workspaceUuid, actions });
    return actions.every((action) => allowed.has(action));
  }
}
