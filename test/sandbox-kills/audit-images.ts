import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from './ground.ts';

/** Stored layers and images without a reference, and references to missing ones. */
export function strayImages(dataFolder: string): string[] {
  const root = join(dataFolder, 'sandboxes/images');
  const read = (...path: readonly string[]): string => {
    try {
      return readFileSync(join(root, ...path), 'utf8');
    } catch {
      return ''; // removed since the listing; the next audit sees its current state
    }
  };
  const images = new Map<string, readonly string[]>();
  for (const digest of namesIn(join(root, 'images'))) {
    const { layers } = JSON.parse(read('images', digest, 'image.json') || '{"layers":[]}') as {
      layers: readonly { name: string }[]; // as the store writes it
    };
    images.set(
      digest,
      layers.map(({ name }) => name),
    );
  }
  const needed = new Set<string>();
  for (const name of namesIn(join(root, 'names'))) {
    needed.add((JSON.parse(read('names', name) || '{"digest":""}') as { digest: string }).digest);
  }
  for (const group of namesIn(join(root, 'holds'))) {
    for (const holder of namesIn(join(root, 'holds', group))) {
      if (holder !== 'owner') needed.add(read('holds', group, holder));
    }
  }
  const used = new Set([...images.values()].flat());
  const layers = new Set(namesIn(join(root, 'layers')));
  return [
    ...[...images.keys()].filter((digest) => !needed.has(digest)).map((digest) => `image ${digest} is left over`),
    ...[...needed].filter((digest) => !images.has(digest)).map((digest) => `image ${digest} is missing`),
    ...[...layers].filter((name) => !used.has(name)).map((name) => `layer ${name} is left over`),
    ...[...used].filter((name) => !layers.has(name)).map((name) => `layer ${name} is missing`),
    ...['partial', 'work', 'leases'].flatMap((folder) =>
      namesIn(join(root, folder)).map((name) => `${join(root, folder, name)} is left over`),
    ),
  ];
}
