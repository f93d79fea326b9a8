import type { SvcClient } from '@svc/sdk';

/** Sandboxes that go on to come are a fault, and not a reason to go on for ever. */
const ROUNDS = 10;

/** Before a platform of a test ends: sandboxes outlive it, since it may only be restarting, and would run on. */
export async function removeSandboxes({ sandboxes }: Pick<SvcClient, 'sandboxes'>): Promise<void> {
  try {
    // Once more until there is none: a page that was open a moment ago may have asked for another one meanwhile.
    for (let round = 0; round < ROUNDS && (await sandboxes.page()).items.length > 0; round += 1) {
      // One that has gone by itself meanwhile must not keep the others.
      for await (const sandbox of sandboxes.list()) await sandbox.delete().catch(() => undefined);
    }
  } catch {
    // sandboxes are off, or the test has ended the platform itself
  }
}
