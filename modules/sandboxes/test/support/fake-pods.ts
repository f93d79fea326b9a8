import { unlessAborted } from '@svc/runtime';
import type { SaveDriver } from '../../src/domain/driver.ts';
import { isEnding } from '../../src/domain/snapshots/snapshot-takes.ts';
import { sandboxErrors } from '../../src/errors.ts';
import { chunksOf, FakeDriver } from './fake-driver.ts';

/** A fake driver that keeps no snapshots, but streams them, like that of a connected cluster. */
export class FakePods extends FakeDriver {
  override readonly snapshots = undefined as never; // a driver has either these or `saves`
  /** What the files of every sandbox are. Tests make them fail or wait. */
  filesOf: (id: string) => AsyncIterable<Uint8Array> = (id) => chunksOf(`files of ${id}`);
  /** Awaited while the size is measured; make it throw or wait. */
  beforeMeasure: (id: string) => Promise<void> = async () => undefined;
  readonly saves: SaveDriver = {
    format: 'pods',
    sizeBytes: async (id, signal) => {
      await unlessAborted(this.beforeMeasure(id), signal, () => signal.reason as Error); // the caller's own
      return this.copyBytes;
    },
    save: async (id, _maxBytes, signal, keep) => {
      const sandbox = this.sandboxes.get(id);
      if (sandbox === undefined) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
      const mustPause = sandbox.helper !== null && !sandbox.paused;
      if (mustPause) await this.pause(id);
      try {
        const kept = keep(contentUntil(signal, this.filesOf(id)));
        return await unlessAborted(kept, signal, () => signal.reason as Error); // as above
      } finally {
        if (mustPause && !isEnding(signal)) await this.resume(id);
      }
    },
    create: (spec, archive, signal) => this.createFromArchive(spec, archive, signal),
  };
}

/** The content fails once the signal aborts, although its source may go on waiting. */
async function* contentUntil(signal: AbortSignal, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  for (;;) {
    const next = await unlessAborted(chunks.next(), signal, () => signal.reason as Error); // the caller's own
    if (next.done === true) return;
    yield next.value;
  }
}
