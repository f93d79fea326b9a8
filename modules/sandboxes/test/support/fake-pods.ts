import type { SaveDriver } from '../../src/domain/driver.ts';
import { sandboxErrors } from '../../src/errors.ts';
import { chunksOf, FakeDriver } from './fake-driver.ts';

/** A fake driver that keeps no snapshots, but streams them, like that of a connected cluster. */
export class FakePods extends FakeDriver {
  override readonly snapshots = undefined as never; // a driver has either these or `saves`
  /** What the files of every sandbox are. Tests make them fail or wait. */
  filesOf: (id: string) => AsyncIterable<Uint8Array> = (id) => chunksOf(`files of ${id}`);
  readonly saves: SaveDriver = {
    format: 'pods',
    sizeBytes: async () => this.copyBytes,
    save: async (id, _maxBytes, _signal, keep) => {
      const sandbox = this.sandboxes.get(id);
      if (sandbox === undefined) throw sandboxErrors.ROOTFS_FAILED({ details: { reason: 'its files are gone' } });
      const mustPause = sandbox.helper !== null && !sandbox.paused;
      if (mustPause) await this.pause(id);
      try {
        return await keep(this.filesOf(id));
      } finally {
        if (mustPause) await this.resume(id);
      }
    },
    create: (spec, archive, signal) => this.createFromArchive(spec, archive, signal),
  };
}
