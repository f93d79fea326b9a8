import { toggleAccessKey, toggleBucket } from './bucket-operations.ts';
import type { CrashClient } from './client.ts';
import { copy, listOwn, putBlob, putInParts, putSmall, readBack, remove, removeMany } from './key-operations.ts';
import { putAging, putRule } from './expiry-operations.ts';
import { putTagged, removeTagged, retag, untag } from './tag-operations.ts';
import { cover, deleteVersion, putVersion } from './version-operations.ts';

/** Relative weights of the operations. */
const MIX: readonly (readonly [number, string, (client: CrashClient) => Promise<boolean>])[] = [
  [30, 'put small', putSmall],
  [12, 'put blob', putBlob],
  [8, 'put in parts', putInParts],
  [10, 'copy', copy],
  [8, 'delete', remove],
  [3, 'delete many', removeMany],
  [4, 'read back', readBack],
  [4, 'list', listOwn],
  [9, 'put version', putVersion],
  [5, 'delete version', deleteVersion],
  [2, 'delete marker', cover],
  [3, 'bucket', toggleBucket],
  [2, 'access key', toggleAccessKey],
  [4, 'put with tag', putTagged],
  [4, 'tag', retag],
  [1, 'untag', untag],
  [1, 'delete tagged', removeTagged],
  [6, 'put that expires', putAging],
  [1, 'lifecycle rule', putRule],
];
const TOTAL = MIX.reduce((sum, [share]) => sum + share, 0);

/** Runs one client on its own few names, one operation at a time, until the server is gone. */
export async function workUntilCut(client: CrashClient): Promise<void> {
  const { state } = client;
  for (;;) {
    const [, name, perform] = draw(client.random());
    try {
      // False: nothing to do, or refused.
      if (!(await perform(client))) continue;
    } catch {
      state.cut += 1; // unanswered, so the outcome is unknown
      return;
    }
    state.answered.set(name, (state.answered.get(name) ?? 0) + 1);
  }
}

function draw(fraction: number): (typeof MIX)[number] {
  let left = fraction * TOTAL;
  for (const entry of MIX) {
    left -= entry[0];
    if (left < 0) return entry;
  }
  throw new Error('the fraction is below 1');
}
