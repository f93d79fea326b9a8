import type { AuditEntry, AuditLog } from '@svc/http';

export interface FakeAudit extends AuditLog {
  /** In the order of recording. */
  readonly entries: readonly AuditEntry[];
}

/** Keeps what was recorded, for a test to look at. */
export function fakeAudit(): FakeAudit {
  const entries: AuditEntry[] = [];
  return {
    entries,
    record: async (entry) => {
      entries.push(entry);
    },
  };
}
