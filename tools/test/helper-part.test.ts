import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FUZZ_TARGETS } from './helper-part.ts';

const INTERNAL = join(import.meta.dirname, '../../native/sandbox-agent/internal');

it('the helper part runs every fuzz target', () => {
  const found = readdirSync(INTERNAL, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('_test.go'))
    .flatMap((file) => {
      const source = readFileSync(join(INTERNAL, file), 'utf8');
      return [...source.matchAll(/^func (Fuzz\w+)\(/gm)].map((match) => `${file.split('/')[0]} ${match[1]}`);
    });
  expect(found.toSorted()).toEqual(FUZZ_TARGETS.map(([target, folder]) => `${folder} ${target}`).toSorted());
});
