import type { SvcClient } from '@svc/sdk';

/** Sandboxes that keep appearing are a bug, not a reason to loop forever. */
const ROUNDS = 10;

/** Call before stopping a test's platform: sandboxes outlive it, since it may only be restarting. */
export async function removeSandboxes({ sandboxes }: Pick<SvcClient, 'sandboxes'>): Promise<void> {
  try {
    // Repeat until there are none: a page that was just open may have created another one.
    for (let round = 0; round < ROUNDS && (await sandboxes.page()).items.length > 0; round += 1) {
      // A sandbox that ended meanwhile must not prevent the others' removal.
      for await (const sandbox of sandboxes.list()) await sandbox.delete().catch(() => undefined);
    }
  } catch {
    // sandboxes are off, or the test has ended the platform itself
  }
}
