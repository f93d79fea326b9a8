import { join } from 'node:path';
import { measureCompletion } from './completion.ts';
import { measureEncryption } from './encryption.ts';
import { measureEnginesBelow } from './engine-below.ts';
import type { Figure } from './figure.ts';
import { measureListing } from './long-listing.ts';
import { measureMemory } from './memory.ts';
import { measurePostgres } from './postgres.ts';

type Say = (line: string) => void;

/** Runs each sequentially, with its own platform and folder. */
export async function measureAlone(root: string, only: string, say: Say): Promise<Figure[]> {
  const measures: [string, (folder: string, say: Say) => Promise<Figure[]>][] = [
    ['memory', measureMemory],
    ['completion', measureCompletion],
    ['listing', measureListing],
    ['encryption', measureEncryption],
    ['postgres', measurePostgres],
    ['below', measureEnginesBelow],
  ];
  const figures: Figure[] = [];
  for (const [name, measure] of measures) {
    if (name.includes(only)) figures.push(...(await measure(join(root, name), say)));
  }
  return figures;
}
