import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '@svc/testing';
import { namesIn } from './ground.ts';

const MOST = 64;
const KILLS_FOR_EACH = 8;

/** Each image is prepared on first use, so that kills interrupt the preparation. */
export function furtherImages(kills: number): readonly string[] {
  return Array.from({ length: Math.min(MOST, Math.ceil(kills / KILLS_FOR_EACH)) }, (_, index) => `further-${index}`);
}

export function archiveOf(folder: string, image: string): string {
  return join(folder, `${image}.tar`);
}

/** Waits for the first image, busybox, and builds archives of it, each with a file that makes it a distinct image. */
export async function makeArchives(folder: string, dataFolder: string, images: readonly string[]): Promise<void> {
  const kept = join(dataFolder, 'sandboxes/images');
  await waitFor(() => namesIn(join(kept, 'names')).length > 0, { timeoutMs: 120_000, description: 'the first image' });
  const [layer = ''] = namesIn(join(kept, 'layers'));
  const own = join(folder, 'own');
  mkdirSync(own);
  for (const image of images) {
    writeFileSync(join(own, 'number'), image);
    execFileSync('tar', [
      '-cf',
      archiveOf(folder, image),
      '-C',
      join(kept, 'layers', layer, 'tree'),
      '.',
      '-C',
      own,
      'number',
    ]);
  }
  rmSync(own, { recursive: true });
}
