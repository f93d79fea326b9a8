import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { digestOf, readTree, type Tree } from '@svc/test/tree';
import type { ClientCall, ObjectClient } from './clients.ts';

const MiB = 1024 * 1024;
const SMALL_BYTES = 4 * 1024;
const CHUNK_BYTES = 8 * MiB;

export interface Sources {
  file: string;
  fileDigest: string;
  /** Path of one small file. */
  oneSmall: string;
  folder: string;
  tree: Tree;
}

/** A timed operation. `place` is this client's prefix in this round, `target` a path that does not exist. */
export interface Measure {
  readonly name: string;
  call(client: ObjectClient, round: Round): ClientCall;
  /** Rejects if the result is wrong. */
  check(round: Round): Promise<void>;
}

export interface Round {
  sources: Sources;
  place: string;
  target: string;
}

/** Random bytes, so that nothing is compressed or deduplicated. */
export async function makeSources(root: string, sizes: { largeMib: number; files: number }): Promise<Sources> {
  const [file, folder] = [join(root, 'large'), join(root, 'small')];
  await writeFile(file, chunks(sizes.largeMib * MiB));
  await mkdir(folder);
  for (let index = 0; index < sizes.files; index += 1) {
    const path = join(folder, `d${index % 10}`, `file-${index}`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, randomBytes(SMALL_BYTES));
  }
  const tree = await readTree(folder);
  return { file, fileDigest: await digestOf(file), oneSmall: join(folder, 'd0', 'file-0'), folder, tree };
}

function* chunks(sizeBytes: number): Generator<Buffer> {
  for (let rest = sizeBytes; rest > 0; rest -= CHUNK_BYTES) yield randomBytes(Math.min(CHUNK_BYTES, rest));
}

const nothing = (): Promise<void> => Promise.resolve();

/** The measures in execution order: the output of one is the input of the next. */
export const MEASURES: readonly Measure[] = [
  {
    name: 'one small file up',
    call: (client, { sources, place }) => client.copyUp(sources.oneSmall, `${place}/one`),
    check: nothing,
  },
  {
    name: 'large file up',
    call: (client, { sources, place }) => client.copyUp(sources.file, `${place}/large`),
    check: nothing,
  },
  {
    name: 'large file down',
    call: (client, { place, target }) => client.copyDown(`${place}/large`, join(target, 'large')),
    check: async ({ sources, target }) => {
      const found = await digestOf(join(target, 'large'));
      await rm(target, { recursive: true });
      if (found !== sources.fileDigest) throw new Error('the large file came back as another one');
    },
  },
  {
    name: 'small files up',
    call: (client, { sources, place }) => client.syncUp(sources.folder, `${place}/small`),
    check: nothing,
  },
  {
    name: 'small files up, nothing new',
    call: (client, { sources, place }) => client.syncUp(sources.folder, `${place}/small`),
    check: nothing,
  },
  {
    name: 'small files down',
    call: (client, { place, target }) => client.syncDown(`${place}/small`, target),
    check: async ({ sources, target }) => {
      const found = await readTree(target);
      await rm(target, { recursive: true });
      if (JSON.stringify(sorted(found)) !== JSON.stringify(sorted(sources.tree)))
        throw new Error('the small files came back as others');
    },
  },
];

function sorted(tree: Tree): [string, string][] {
  return Object.entries(tree).toSorted(([left], [right]) => (left < right ? -1 : 1));
}
