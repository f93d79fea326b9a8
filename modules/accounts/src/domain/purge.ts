import type { Clock } from '@svc/runtime';
import { secondsAfter, timestamp } from './timestamps.ts';
import type { AuditTrail } from './audit/audit-trail.ts';
import type { SigningKeys } from './jwt/signing-keys.ts';
import type { Sessions } from './sign-in/sessions.ts';
import type { AccountDatabase } from './stores.ts';
import type { WorkspaceDeletion } from './workspaces/workspace-deletion.ts';

export interface PurgeDeps {
  database: AccountDatabase;
  clock: Clock;
  sessions: Sessions;
  audit: AuditTrail;
  keys: SigningKeys;
  deletion: WorkspaceDeletion;
}

/** Maximum rows deleted per statement, so that other writers do not wait long. */
const BATCH = 500;
/** Maximum batches per table and run; the next run continues. */
const MAX_BATCHES = 20;
/** Expired items stay listed this long, so that their owner can see why something stopped working. */
const SHOW_EXPIRED_SECONDS = 30 * 86_400;
const FORGET_DEVICE_SECONDS = 180 * 86_400;
/** Failed sign-ins are forgotten one every ten minutes, and altogether after a day without any. */
const FORGET_ATTEMPTS_MS = 86_400_000;
const GUESTS_PER_RUN = 200;

/** Deletes expired rows. Safe to run on several replicas at once: each row is deleted by one of them. */
export async function purgeExpired(deps: PurgeDeps): Promise<number> {
  const { database, clock, sessions, audit, keys, deletion } = deps;
  const now = clock.now();
  const shown = timestamp(secondsAfter(now, -SHOW_EXPIRED_SECONDS));
  const unseen = timestamp(secondsAfter(now, -FORGET_DEVICE_SECONDS));
  const deadlines = sessions.deadlines(now);
  let removed = 0;
  const batches: readonly (() => Promise<number>)[] = [
    () => database.sessions.deleteExpired(deadlines.now, deadlines.idleBefore, BATCH),
    () => database.apiTokens.deleteExpired(shown, BATCH),
    () => database.serviceAccounts.deleteExpired(shown, BATCH),
    () => database.invitations.deleteExpired(shown, BATCH),
    () => database.passwordLinks.deleteExpired(timestamp(now), BATCH),
    () => database.devices.deleteUnseenSince(unseen, BATCH),
    () => database.throttles.deleteUntouched(now.getTime() - FORGET_ATTEMPTS_MS, BATCH),
    () => audit.purge(BATCH),
  ];
  for (const batch of batches) removed += await inBatches(batch);
  removed += await deletion.removeExpiredGuests(GUESTS_PER_RUN);
  await deletion.finishStuck(BATCH);
  await keys.reload(); // drops retired keys and picks up a rotation by another process
  return removed;
}

async function inBatches(batch: () => Promise<number>): Promise<number> {
  let removed = 0;
  for (let count = 0; count < MAX_BATCHES; count++) {
    const now = await batch();
    removed += now;
    if (now < BATCH) break;
  }
  return removed;
}
