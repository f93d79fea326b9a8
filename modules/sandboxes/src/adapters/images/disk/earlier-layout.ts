import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { NO_SETTINGS } from '../../../domain/images/image-settings.ts';
import { isMissing, isThere, writeWhole } from './files.ts';
import type { ImageRecords } from './image-records.ts';

/** Images used to be unpacked to `images/<digest>/rootfs`; each becomes an image with one layer. */
export async function adoptEarlierLayout(folder: string, records: ImageRecords): Promise<void> {
  for (const digest of await records.imageDigests()) {
    const earlier = join(folder, 'images', digest, 'rootfs');
    if (!(await isThere(earlier))) continue;
    const layer = join(folder, 'layers', digest);
    await mkdir(layer, { recursive: true, mode: 0o700 });
    try {
      await rename(earlier, join(layer, 'tree'));
    } catch (error) {
      if (isMissing(error)) continue; // another process was first
      throw error;
    }
    const sizes = { bytes: 0, entries: 0 }; // not recorded at the time
    await writeWhole(join(layer, 'layer.json'), JSON.stringify(sizes));
    await records.writeImage({ digest, layers: [{ name: digest, ...sizes }], settings: NO_SETTINGS });
  }
}
