import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Stable across restarts of this data folder, and unique among replicas. */
export function replicaIdOf(dataFolder: string, newId: () => string = randomUUID): string {
  const file = join(dataFolder, 'replica-id');
  try {
    const known = readFileSync(file, 'utf8').trim();
    if (known !== '') return known;
  } catch {
    // the first start: there is none yet
  }
  const id = newId();
  writeFileSync(file, `${id}\n`, { mode: 0o600 });
  return id;
}
