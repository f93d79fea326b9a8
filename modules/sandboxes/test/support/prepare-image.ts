import { setTimeout as sleepFor } from 'node:timers/promises';
import { ImageCatalog } from '../../src/domain/images/catalog.ts';
import { helperUnpacker } from '../../src/adapters/images/disk/layer-unpacker.ts';
import { ImageStore } from '../../src/adapters/images/image-store.ts';
import { registrySource } from '../../src/adapters/images/registry/registry-source.ts';
import { helperBinaries } from './local-subject.ts';

// A process for a test to kill: reports its start, prepares the image `one` from an archive, and ends.
const [folder = '', path = ''] = process.argv.slice(2);
const entry = { name: 'one', displayName: '', description: '', category: '', tags: [], popular: true, aliases: [] };
const store = new ImageStore({
  folder,
  catalog: new ImageCatalog([{ ...entry, sources: [{ kind: 'rootfs_tar', path }] }], null),
  owner: folder,
  unpack: helperUnpacker(async () => (await helperBinaries(process.arch)).file),
  registry: registrySource({ settings: [], proxy: null, nowMs: Date.now }),
  nowMs: Date.now,
  maxImageBytes: 64 * 1024 * 1024,
  sleep: (delayMs, signal) => sleepFor(delayMs, undefined, { signal }),
});
await store.open();
process.stdout.write('begins\n');
await store.prepare('one', AbortSignal.timeout(30_000));
await store.close();
