import { pageParameters, type PageQuery } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import type { Snapshot } from './sandbox-types.ts';

/** Filters for lists of snapshots. */
export interface SnapshotQuery extends PageQuery {
  /** Lists only snapshots of this sandbox, which may have been deleted. */
  sandboxId?: string | undefined;
}

/**
 * The snapshots of the workspace.
 *
 * @example
 * ```ts
 * const { id } = await sandbox.snapshot({ name: 'ready' });
 * const copy = await svc.sandboxes.create({ snapshot_id: id });
 * ```
 */
export class SnapshotsClient {
  readonly #transport: SandboxTransport;

  constructor(transport: SandboxTransport) {
    this.#transport = transport;
  }

  /** Lists snapshots, newest first, fetching pages as needed. */
  async *list({ sandboxId, ...page }: SnapshotQuery = {}, options: CallOptions = {}): AsyncGenerator<Snapshot, void> {
    let cursor = page.cursor ?? null;
    do {
      const query = { ...pageParameters({ ...page, cursor: cursor ?? undefined }), sandbox_id: sandboxId };
      const answer = await this.#transport.call<{ snapshots: Snapshot[]; next_cursor?: string | null }>(
        'GET',
        '/snapshots',
        { query, ...options },
      );
      yield* answer.snapshots;
      cursor = answer.next_cursor ?? null;
    } while (cursor !== null);
  }

  /** Returns a snapshot. */
  get(id: string, options: CallOptions = {}): Promise<Snapshot> {
    return this.#transport.call('GET', `/snapshots/${encodeURIComponent(id)}`, options);
  }

  /** Deletes a snapshot. Sandboxes created from it don't change. */
  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('DELETE', `/snapshots/${encodeURIComponent(id)}`, options);
  }
}
