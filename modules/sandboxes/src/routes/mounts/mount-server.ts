import type { IncomingMessage, ServerResponse } from 'node:http';
import { accessErrors, type Access, type HeldRight, type HeldRights } from '@svc/access';
import { isAppError, type AppError } from '@svc/errors';
import type { Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import {
  actionsOf,
  servedFolder,
  type BucketMount,
  type Buckets,
  type ServedFolder,
} from '../../domain/mounts/bucket-mount.ts';
import type { SandboxRepository } from '../../domain/ports.ts';
import { sandboxErrors } from '../../errors.ts';

/** Buckets that are served to programs of mounts. */
export interface ServedBuckets extends Buckets {
  /** Serves a request of the program. Never throws. */
  serve(folder: ServedFolder, request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface MountServerDeps {
  readonly repository: Pick<SandboxRepository, 'find'>;
  readonly access: Pick<Access, 'allowedActions'>;
  readonly rights: HeldRights;
  readonly buckets: ServedBuckets | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A mount in use, with its right. */
interface HeldMount {
  readonly folder: ServedFolder;
  readonly responses: Set<ServerResponse>;
  release: () => void;
  cancelTimer: () => void;
}

/** How long the right of a mount without requests is held. The next request asks for it again. */
const IDLE_MS = 10_000;

/** Serves buckets to the mounts of sandboxes, each with the current rights of its creator. */
export class MountServer {
  readonly #deps: MountServerDeps;
  readonly #held = new Map<string, HeldMount>();

  constructor(deps: MountServerDeps) {
    this.#deps = deps;
  }

  /** Serves a request of an authenticated program. Never throws. */
  async serve(sandboxId: string, index: number, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { buckets } = this.#deps;
    try {
      if (buckets === null) throw sandboxErrors.MOUNT_GONE();
      const key = `${sandboxId}/${index}`;
      let mount = this.#held.get(key);
      while (mount === undefined) {
        await this.#open(key, sandboxId, index);
        mount = this.#held.get(key); // none if its right was lost in the meantime
      }
      if (response.closed) return this.#leave(key, mount, response); // no event ends its stay in the mount
      mount.cancelTimer();
      mount.responses.add(response);
      response.once('close', () => this.#leave(key, mount, response));
      await buckets.serve(mount.folder, request, response);
    } catch (error) {
      this.#refuse(error, request, response);
    }
  }

  /** Null if there is no such sandbox. */
  async workspaceOf(sandboxId: string): Promise<string | null> {
    return (await this.#deps.repository.find(sandboxId))?.workspaceUuid ?? null;
  }

  close(): void {
    for (const [key, mount] of this.#held) this.#drop(key, mount);
  }

  /** Holds the right of a mount from now on. Throws if there is none. */
  async #open(key: string, sandboxId: string, index: number): Promise<void> {
    const { repository, clock, rights } = this.#deps;
    const confirmedAtMs = clock.nowMs();
    const sandbox = await repository.find(sandboxId);
    const mount = sandbox?.mounts[index];
    if (sandbox === null || mount === undefined || sandbox.removedAt !== null) throw sandboxErrors.MOUNT_GONE();
    const right = this.#rightOf(sandbox.workspaceUuid, mount, confirmedAtMs);
    await right.check();
    if (this.#held.has(key)) return; // another request was faster
    const held: HeldMount = {
      folder: servedFolder(sandbox.workspaceUuid, mount),
      responses: new Set(),
      release: () => undefined,
      cancelTimer: () => undefined,
    };
    held.release = rights.hold(right, () => this.#drop(key, held));
    this.#held.set(key, held);
  }

  #rightOf(workspaceUuid: string, mount: BucketMount, confirmedAtMs: number): HeldRight {
    const { access, buckets } = this.#deps;
    const { maker, readOnly, bucketId } = mount;
    const actions = actionsOf(mount);
    const key = JSON.stringify(['mount', maker.principalId, maker.tokenId, workspaceUuid, bucketId, readOnly]);
    return {
      key,
      exactKey: key,
      confirmedAtMs,
      check: async () => {
        const allowed = await access.allowedActions({ maker, workspaceUuid, actions });
        if (!actions.every((action) => allowed.has(action))) throw accessErrors.FORBIDDEN();
        if ((await buckets?.exists(servedFolder(workspaceUuid, mount))) !== true) throw sandboxErrors.MOUNT_GONE();
      },
    };
  }

  #leave(key: string, mount: HeldMount, response: ServerResponse): void {
    mount.responses.delete(response);
    if (mount.responses.size > 0 || this.#held.get(key) !== mount) return;
    mount.cancelTimer();
    mount.cancelTimer = this.#deps.clock.setTimer(() => this.#drop(key, mount), IDLE_MS);
  }

  /** Cuts what is under way. The next request is refused, unless the right is back by then. */
  #drop(key: string, mount: HeldMount): void {
    if (this.#held.get(key) === mount) this.#held.delete(key);
    mount.cancelTimer();
    mount.release();
    for (const response of mount.responses) response.destroy();
  }

  #refuse(error: unknown, request: IncomingMessage, response: ServerResponse): void {
    if (!isAppError(error)) this.#deps.log.error({ err: error }, 'the right to a mounted bucket could not be checked');
    if (response.headersSent) {
      response.destroy();
      return;
    }
    request.resume();
    const [status, errno] = isAppError(error) ? refusalOf(error) : [503, 'EIO'];
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ errno }));
  }
}

/** A bucket that is gone is an input/output error, a right that is gone a refusal. Other faults pass. */
function refusalOf({ status }: AppError): [status: number, errno: string] {
  if (status === 404) return [404, 'EIO'];
  return status === 401 || status === 403 ? [403, 'EACCES'] : [503, 'EIO'];
}
