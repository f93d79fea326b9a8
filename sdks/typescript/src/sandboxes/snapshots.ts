import { pageParameters, type PageQuery } from '../pages.ts';
import type { CallOptions } from '../transport.ts';
import type { SandboxTransport } from './sandbox-transport.ts';
import type { Snapshot } from './sandbox-types.ts';

export interface SnapshotQuery extends PageQuery {
  /** Only those of this sandbox, which may be gone. */
  sandboxId?: string | undefined;
}

/** The snapshots of the workspace. */
export class SnapshotsClient {
  readonly #transport: SandboxTransport;

  constructor(transport: SandboxTransport) {
    this.#transport = transport;
  }

  /** Newest first, page after page, as far as it is iterated. */
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

  get(id: string, options: CallOptions = {}): Promise<Snapshot> {
    return this.#transport.call('GET', `/snapshots/${encodeURIComponent(id)}`, options);
  }

  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.call('DELETE', `/snapshots/${encodeURIComponent(id)}`, options);
  }
}
