import type { SandboxDriver, SandboxSpec } from '../../src/domain/driver.ts';

/** Copies of the files of sandboxes, whether the driver keeps them or only streams them. */
export interface Copies {
  take(id: string, snapshotId: string): Promise<{ readonly sizeBytes: number }>;
  /** Creates a sandbox from the copy that its spec names. */
  create(spec: SandboxSpec, signal: AbortSignal): Promise<void>;
  remove(snapshotId: string): Promise<void>;
  list(): Promise<readonly string[]>;
}

const MAX_BYTES = 256 * 1024 * 1024;

export function copiesOf(driver: SandboxDriver): Copies {
  const { snapshots, saves } = driver;
  if (snapshots !== undefined) {
    return {
      take: (id, snapshotId) => snapshots.take(id, snapshotId),
      create: (spec, signal) => driver.create(spec, signal),
      remove: (snapshotId) => snapshots.remove(snapshotId),
      list: () => snapshots.list(),
    };
  }
  if (saves === undefined) throw new Error('it makes none');
  const kept = new Map<string, readonly Buffer[]>();
  return {
    take: async (id, snapshotId) => {
      const chunks = await saves.save(id, MAX_BYTES, AbortSignal.timeout(60_000), async (content) => {
        const read: Buffer[] = [];
        for await (const chunk of content) read.push(Buffer.from(chunk));
        return read;
      });
      kept.set(snapshotId, chunks);
      return { sizeBytes: chunks.reduce((sum, { length }) => sum + length, 0) };
    },
    create: (spec, signal) => {
      const content = async function* () {
        yield* kept.get(spec.snapshotId ?? '') ?? [];
      };
      return saves.create(spec, { base: null, open: content, openBase: () => Promise.resolve(null) }, signal);
    },
    remove: async (snapshotId) => void kept.delete(snapshotId),
    list: async () => [...kept.keys()],
  };
}
