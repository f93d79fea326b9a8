import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FUZZ_TARGETS, MOUNT_FUZZ_TARGETS } from './helper-part.ts';

const NATIVE = join(import.meta.dirname, '../../native');

/** The fuzz targets below a folder, each with its file. */
function fuzzTargets(folder: string): { file: string; target: string }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('_test.go'))
    .flatMap((file) => {
      const source = readFileSync(join(folder, file), 'utf8');
      return [...source.matchAll(/^func (Fuzz\w+)\(/gm)].map(([, target = '']) => ({ file, target }));
    });
}

it('the helper part runs every fuzz target', () => {
  const found = fuzzTargets(join(NATIVE, 'sandbox-agent/internal'));
  const names = found.map(({ file, target }) => `${file.split('/')[0]} ${target}`);
  expect(names.toSorted()).toEqual(FUZZ_TARGETS.map(([target, folder]) => `${folder} ${target}`).toSorted());
  const ofMounts = fuzzTargets(join(NATIVE, 'bucket-mount')).map(({ target }) => target);
  expect(ofMounts.toSorted()).toEqual([...MOUNT_FUZZ_TARGETS].toSorted());
});
