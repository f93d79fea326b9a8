import type { QuotaLimits } from '@svc/quotas';
import { KeyedQueue, Shares, type Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import { sandboxErrors } from '../../errors.ts';
import type { VolumeDriver } from '../driver.ts';
import type { HelperConnection } from '../helper/helper-connection.ts';
import type { Volume, VolumeRepository } from './volume.ts';

/** How long a helper waits for the next request. */
const IDLE_MS = 10_000;
const CHECK_EVERY_MS = 1000;
const START_LIMIT_MS = 20_000;
const MAX_SERVERS = 64;
const MAX_OF_WORKSPACE = 8;
const HOLDERS = { key: 'workspace', group: 'owner' };

export interface VolumeServersDeps {
  /** Throws if this node has no volumes now. */
  readonly driver: () => VolumeDriver;
  readonly repository: Pick<VolumeRepository, 'findById'>;
  readonly quotaLimits: QuotaLimits;
  readonly clock: Pick<Clock, 'nowMs' | 'setTimer'>;
  readonly log: Logger;
}

interface Server {
  readonly volumeId: string;
  readonly workspaceUuid: string;
  /** Null while the helper starts. */
  connection: HelperConnection | null;
  /** Operations in progress. */
  uses: number;
  usedAtMs: number;
  cancelCheck: () => void;
  /** Returns its place. */
  readonly free: () => void;
}

/** A volume whose files can be reached. */
export interface OpenVolume {
  readonly connection: HelperConnection;
  /** Keeps the helper until the returned function is called. */
  readonly begin: () => () => void;
}

/**
 * The helpers that serve the files of volumes on this node: one for each volume in use, ended after some idle seconds and at once
 * when the volume is deleted. They are bounded for the node and for each workspace, and owners have shares.
 */
export class VolumeServers {
  readonly #deps: VolumeServersDeps;
  readonly #servers = new Map<string, Server>();
  /** Starts and ends of each volume's helper, one at a time. */
  readonly #queue = new KeyedQueue();
  readonly #shares: Shares;
  #isClosed = false;

  constructor(deps: VolumeServersDeps) {
    this.#deps = deps;
    const groupOf = deps.quotaLimits.shareOf;
    this.#shares = new Shares({ capacity: MAX_SERVERS, capacityPerKey: MAX_OF_WORKSPACE, groupOf, holders: HOLDERS });
  }

  /** Throws VOLUMES_BUSY if too many volumes are in use, and what the driver throws. */
  async open(volume: Pick<Volume, 'id' | 'workspaceUuid'>): Promise<OpenVolume> {
    return this.#opened(volume.id) ?? this.#queue.run(volume.id, () => this.#start(volume));
  }

  /** Ends the helper of a volume and its operations. */
  async release(volumeId: string): Promise<void> {
    await this.#queue.run(volumeId, () => this.#end(volumeId));
  }

  /** Ends the helper of a volume unless an operation is in progress. */
  async releaseIdle(volumeId: string): Promise<void> {
    await this.#queue.run(volumeId, async () => {
      if (this.#servers.get(volumeId)?.uses === 0) await this.#end(volumeId);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#servers.keys()].map((id) => this.release(id)));
    await this.#queue.idle();
  }

  #opened(volumeId: string): OpenVolume | null {
    const server = this.#servers.get(volumeId);
    if (server === undefined || server.connection === null || server.connection.lost) return null;
    server.usedAtMs = this.#deps.clock.nowMs();
    return { connection: server.connection, begin: () => this.#begin(server) };
  }

  #begin(server: Server): () => void {
    const { clock } = this.#deps;
    let isOver = false;
    server.uses += 1;
    return () => {
      if (isOver) return;
      isOver = true;
      server.uses -= 1;
      server.usedAtMs = clock.nowMs();
    };
  }

  async #start({ id, workspaceUuid }: Pick<Volume, 'id' | 'workspaceUuid'>): Promise<OpenVolume> {
    const opened = this.#opened(id);
    if (opened !== null) return opened; // started by the previous request
    await this.#end(id); // a helper that died
    const driver = this.#deps.driver();
    await this.#deps.quotaLimits.readLimits(workspaceUuid); // so that the owner is known
    const free = await this.#takePlace(workspaceUuid);
    const usedAtMs = this.#deps.clock.nowMs();
    const server: Server = {
      volumeId: id,
      workspaceUuid,
      connection: null,
      uses: 0,
      usedAtMs,
      cancelCheck: () => undefined,
      free,
    };
    this.#servers.set(id, server);
    try {
      const connection = await driver.serve(id, AbortSignal.timeout(START_LIMIT_MS));
      server.connection = connection;
      void connection.closed.then(() => this.#lost(server));
      this.#checkLater(server);
      return { connection, begin: () => this.#begin(server) };
    } catch (error) {
      this.#servers.delete(id);
      free();
      throw error;
    }
  }

  /** Takes a place; if there is none, of the idle helper that was used the longest ago. */
  async #takePlace(workspaceUuid: string): Promise<() => void> {
    const { shareOf } = this.#deps.quotaLimits;
    for (;;) {
      if (this.#isClosed)
        throw sandboxErrors.SANDBOXES_UNAVAILABLE({ details: { reason: 'the platform is shutting down' } });
      const { refusal, release } = this.#shares.take(workspaceUuid);
      if (release !== null) return release;
      const idle = [...this.#servers.values()]
        .filter(({ uses, connection }) => uses === 0 && connection !== null)
        .filter((server) => {
          if (refusal.holder === HOLDERS.key) return server.workspaceUuid === workspaceUuid;
          return refusal.holder !== HOLDERS.group || shareOf(server.workspaceUuid) === shareOf(workspaceUuid);
        })
        .toSorted((one, other) => one.usedAtMs - other.usedAtMs)[0];
      if (idle === undefined) throw sandboxErrors.VOLUMES_BUSY({ headers: { 'retry-after': '1' } });
      await this.releaseIdle(idle.volumeId);
    }
  }

  #checkLater(server: Server): void {
    server.cancelCheck = this.#deps.clock.setTimer(() => void this.#check(server), CHECK_EVERY_MS);
  }

  /** Another replica may have deleted the volume. */
  async #check(server: Server): Promise<void> {
    const { clock, repository, log } = this.#deps;
    const { volumeId } = server;
    try {
      // Also between operations: one request, such as a deep listing, may take several.
      if ((await repository.findById(volumeId)) === null) await this.release(volumeId);
      else if (server.uses === 0 && clock.nowMs() - server.usedAtMs >= IDLE_MS) await this.releaseIdle(volumeId);
    } catch (error) {
      log.warn({ err: error, volume: volumeId }, 'the helper of a volume could not be checked');
    }
    if (this.#servers.get(volumeId) === server) this.#checkLater(server);
  }

  async #lost(server: Server): Promise<void> {
    if (this.#servers.get(server.volumeId) !== server) return;
    const { log } = this.#deps;
    log.warn({ volume: server.volumeId }, 'the helper of a volume has ended');
    await this.#queue
      .run(server.volumeId, async () => {
        if (this.#servers.get(server.volumeId) === server) await this.#end(server.volumeId);
      })
      .catch((error: unknown) =>
        log.warn({ err: error, volume: server.volumeId }, 'the helper could not be cleaned up'),
      );
  }

  async #end(volumeId: string): Promise<void> {
    const server = this.#servers.get(volumeId);
    if (server === undefined) return;
    this.#servers.delete(volumeId);
    server.cancelCheck();
    try {
      await server.connection?.close();
      await this.#deps.driver().endServing(volumeId);
    } finally {
      server.free();
    }
  }
}
