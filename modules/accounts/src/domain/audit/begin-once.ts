import type { Logger } from '@svc/telemetry';
import type { AuditStores } from '../stores.ts';
import type { AuditChain } from './audit-chain.ts';
import type { BeginningMark } from './beginning-mark.ts';

export interface BeginOnceDeps {
  stores: AuditStores;
  chain: AuditChain;
  mark: BeginningMark;
  log: Logger;
}

/**
 * Starts the chain, but only once: if the mark is set and an end is missing, the end was removed, and relinking the
 * rows would sign whatever they now contain. The log continues after a gap that every verification reports.
 */
export function createBeginOnce({ stores, chain, mark, log }: BeginOnceDeps): () => Promise<void> {
  let begun: Promise<void> | undefined;
  const begin = async (): Promise<void> => {
    if (!(await mark.isSet())) {
      await chain.begin();
      await mark.set();
      return;
    }
    const ends = await stores.readAudit(async (each) => [await each.end('checkpoint'), await each.end('head')]);
    if (ends.includes(null)) {
      log.error('the audit log was changed outside the platform: run `svc admin verify-audit`');
    }
  };
  return async () => {
    begun ??= begin();
    try {
      await begun;
    } catch (error) {
      begun = undefined; // the next caller retries
      throw error;
    }
  };
}
