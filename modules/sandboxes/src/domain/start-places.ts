import type { FairSlots } from '@svc/runtime';
import type { StartPlace } from './driver.ts';
import type { Sandbox } from './sandbox.ts';

export interface StartPlacesOptions {
  /** Slots of this node, shared between workspaces. */
  readonly here: FairSlots;
  /** Creates the slots of one connected cluster for starts or for removals. */
  readonly inCluster: () => FairSlots;
}

type Kind = 'start' | 'removal';

interface ClusterSlots {
  readonly slots: FairSlots;
  users: number;
}

/**
 * Slots for starts and removals: those of this node, and others for each connected cluster, so that a cluster that does not
 * answer delays only its own sandboxes. There, a start may transfer files for hours, so that removals have slots of their own.
 */
export class StartPlaces {
  readonly #options: StartPlacesOptions;
  /** By kind and cluster. */
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

  /** Starts a sandbox in a slot. The signal ends waits for one. */
  run<Result>(
    sandbox: Pick<Sandbox, 'workspaceUuid' | 'cluster'>,
    work: (place: StartPlace) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    return this.#run('start', sandbox, work, signal);
  }

  /** Removes a sandbox in a slot. */
  remove(sandbox: Pick<Sandbox, 'workspaceUuid' | 'cluster'>, work: () => Promise<void>): Promise<void> {
    return this.#run('removal', sandbox, work);
  }

  async #run<Result>(
    kind: Kind,
    { workspaceUuid, cluster }: Pick<Sandbox, 'workspaceUuid' | 'cluster'>,
    work: (place: StartPlace) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    const { slots, leave } = this.#enter(kind, cluster?.id ?? null);
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

  #enter(kind: Kind, clusterId: string | null): { readonly slots: FairSlots; readonly leave: () => void } {
    const { here, inCluster } = this.#options;
    if (clusterId === null) return { slots: here, leave: () => undefined };
    const key = `${kind} ${clusterId}`;
    const found = this.#clusters.get(key) ?? { slots: inCluster(), users: 0 };
    this.#clusters.set(key, found);
    found.users += 1;
    const leave = (): void => {
      found.users -= 1;
      if (found.users === 0) this.#clusters.delete(key);
    };
    return { slots: found.slots, leave };
  }
}
