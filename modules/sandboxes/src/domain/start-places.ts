import type { FairSlots } from '@svc/runtime';
import type { StartPlace } from './driver.ts';
import type { Sandbox } from './sandbox.ts';

export interface StartPlacesOptions {
  /** Slots of this node, shared between workspaces. */
  readonly here: FairSlots;
  /** Creates the slots of one connected cluster. */
  readonly inCluster: () => FairSlots;
}

interface ClusterSlots {
  readonly slots: FairSlots;
  users: number;
}

/**
 * Slots for starts and removals: those of this node, and others for each connected cluster, so that a cluster that does not
 * answer delays only its own sandboxes.
 */
export class StartPlaces {
  readonly #options: StartPlacesOptions;
  readonly #clusters = new Map<string, ClusterSlots>();

  constructor(options: StartPlacesOptions) {
    this.#options = options;
  }

  /** Starts and removals without a slot yet. */
  get waiting(): number {
    let { waiting } = this.#options.here;
    for (const { slots } of this.#clusters.values()) waiting += slots.waiting;
    return waiting;
  }

  /** Runs the work in a slot. The signal ends waits for one. */
  async run<Result>(
    { workspaceUuid, cluster }: Pick<Sandbox, 'workspaceUuid' | 'cluster'>,
    work: (place: StartPlace) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const { slots, leave } = this.#enter(cluster?.id ?? null);
    let release = (): void => undefined;
    const take = async (): Promise<void> => void (release = await slots.acquire(workspaceUuid, signal));
    const leaveFor = async <Awaited>(wait: () => Promise<Awaited>): Promise<Awaited> => {
      release();
      const awaited = await wait();
      await take();
      return awaited;
    };
    try {
      await take();
      return await work({ leaveFor });
    } finally {
      release();
      leave();
    }
  }

  #enter(clusterId: string | null): { readonly slots: FairSlots; readonly leave: () => void } {
    const { here, inCluster } = this.#options;
    if (clusterId === null) return { slots: here, leave: () => undefined };
    const found = this.#clusters.get(clusterId) ?? { slots: inCluster(), users: 0 };
    this.#clusters.set(clusterId, found);
    found.users += 1;
    const leave = (): void => {
      found.users -= 1;
      if (found.users === 0) this.#clusters.delete(clusterId);
    };
    return { slots: found.slots, leave };
  }
}
