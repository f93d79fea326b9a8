import { isAppError } from '@svc/errors';
import { createMaker, type Access, type Maker, type Principal } from '@svc/access';
import { sandboxErrors } from '../../errors.ts';
import type { Logger } from '@svc/telemetry';
import type { SandboxDriver } from '../driver.ts';
import type { SandboxRepository } from '../ports.ts';
import type { VolumeMount } from '../sandbox.ts';
import type { ForkCopy, NoteCopy } from '../snapshots/fork-copy.ts';
import { mountPathFault } from '../volumes/volume.ts';
import {
  actionsOf,
  assertMountsBuckets,
  parsePrefix,
  type BucketMount,
  type Buckets,
  type NamedBucket,
  type WantedBucketMount,
} from './bucket-mount.ts';

export interface MountServiceDeps {
  readonly access: Pick<Access, 'allowedActions'>;
  /** Null if the object store is disabled. */
  readonly buckets: Buckets | null;
  readonly driver: SandboxDriver;
  readonly repository: Pick<SandboxRepository, 'mountsBucket'>;
  readonly log: Logger;
}

const FORK_WAIT_MS = 120_000;

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

  /**
   * Forks the buckets that the mounts write to, and leads all mounts of these buckets to the forks. Others are shared. Throws
   * FORK_FORBIDDEN and BUCKET_NOT_FORKED; then nothing is left. Notes each fork before it exists.
   */
  async fork(
    workspaceUuid: string,
    principal: Principal,
    mounts: readonly BucketMount[],
    note: NoteCopy,
    signal: AbortSignal,
  ): Promise<readonly BucketMount[]> {
    const { buckets } = this.#deps;
    const written = new Map(mounts.filter(({ readOnly }) => !readOnly).map((mount) => [mount.bucketId, mount]));
    if (buckets === null || written.size === 0) return mounts.map(toShared);
    if (!(await this.#mayDo(workspaceUuid, createMaker(principal), ['bucket:create']))) {
      throw sandboxErrors.FORK_FORBIDDEN();
    }
    const forks = new Map<number, NamedBucket>();
    try {
      for (const [bucketId, { bucket: bucketName }] of written) {
        const name = buckets.forkName(bucketName);
        await note({ kind: 'bucket', name, sourceName: bucketName });
        forks.set(bucketId, await forkBucket(buckets, { workspaceUuid, bucketName, bucketId }, name, signal));
      }
    } catch (error) {
      await Promise.all([...forks.values()].map((fork) => this.#discard(fork)));
      throw error;
    }
    return mounts.map((mount) => {
      const fork = forks.get(mount.bucketId);
      if (fork === undefined) return toShared(mount);
      return { ...mount, bucket: fork.bucketName, bucketId: fork.bucketId, forkedFrom: mount.bucket };
    });
  }

  /** The mounts of a fork that shares all buckets with its source. */
  share(mounts: readonly BucketMount[]): readonly BucketMount[] {
    return mounts.map(toShared);
  }

  /** Throws DROP_FORBIDDEN unless the caller may delete the objects of the buckets that `discard` would delete. */
  async assertMayDiscard(workspaceUuid: string, principal: Principal, mounts: readonly BucketMount[]): Promise<void> {
    if (!mounts.some(isForked)) return;
    const actions = ['object:delete'] as const;
    if (!(await this.#mayDo(workspaceUuid, createMaker(principal), actions))) throw sandboxErrors.DROP_FORBIDDEN();
  }

  /**
   * Deletes the buckets that were forked for a deleted sandbox, unless another one mounts them. Returns the names of
   * those. Never throws.
   */
  async discard(workspaceUuid: string, mounts: readonly BucketMount[]): Promise<readonly string[]> {
    const names = new Map(mounts.filter(isForked).map(({ bucketId, bucket }) => [bucketId, bucket]));
    const discarded: string[] = [];
    for (const [bucketId, bucketName] of names) {
      if (await this.#discard({ workspaceUuid, bucketName, bucketId })) discarded.push(bucketName);
    }
    return discarded;
  }

  /** Deletes a bucket that a fork which failed made or was about to make, unless a sandbox mounts it. */
  async removeFork({ workspaceUuid, name, sourceName }: Omit<ForkCopy, 'id' | 'kind'>): Promise<void> {
    const { buckets, repository } = this.#deps;
    if (buckets === null) throw new Error('the object store is disabled'); // it is tried again at the next start
    const bucketId = await buckets.find(workspaceUuid, name);
    if (bucketId !== null && (await repository.mountsBucket(workspaceUuid, bucketId))) return;
    await buckets.discardFork({ workspaceUuid, bucketName: name, sourceName });
  }

  async #discard(bucket: NamedBucket): Promise<boolean> {
    const { buckets, repository, log } = this.#deps;
    try {
      if (await repository.mountsBucket(bucket.workspaceUuid, bucket.bucketId)) return false;
      return (await buckets?.discard(bucket)) ?? false;
    } catch (error) {
      log.warn({ err: error, bucket: bucket.bucketName }, 'the bucket of a deleted fork was kept');
      return false;
    }
  }

  async #authorize(workspaceUuid: string, mount: BucketMount, index: number): Promise<BucketMount> {
    const { buckets } = this.#deps;
    if (buckets === null) {
      const details = { field: 'mounts', reason: 'the object store is disabled' };
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
    return this.#mayDo(workspaceUuid, maker, actionsOf(mount));
  }

  async #mayDo(workspaceUuid: string, maker: Maker, actions: readonly `${string}:${string}`[]): Promise<boolean> {
    const allowed = await this.#deps.access.allowedActions({ maker, workspaceUuid, actions });
    return actions.every((action) => allowed.has(action));
  }
}

function isForked({ forkedFrom }: BucketMount): boolean {
  return forkedFrom !== undefined;
}

/** The bucket belongs to another sandbox, which alone may drop it. */
function toShared(mount: BucketMount): BucketMount {
  const { forkedFrom: _source, ...shared } = mount;
  return shared;
}

/** Throws BUCKET_NOT_FORKED with the object store's reason. */
async function forkBucket(
  buckets: Buckets,
  source: NamedBucket,
  name: string,
  signal: AbortSignal,
): Promise<NamedBucket> {
  try {
    return await buckets.fork(source, { name, waitMs: FORK_WAIT_MS, signal });
  } catch (error) {
    if (!isAppError(error) || error.status >= 500) throw error;
    const details = { bucket: source.bucketName, reason: error.message, ...error.details };
    throw sandboxErrors.BUCKET_NOT_FORKED({ details, cause: error });
  }
}
