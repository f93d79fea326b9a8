import type { AuditEntry, AuditLog } from '@svc/access';

export interface FakeAudit extends AuditLog {
  /** In the order of recording. */
  readonly entries: readonly AuditEntry[];
}

/** Creates an audit log that keeps its entries for assertions. */
export function fakeAudit(): FakeAudit {
  const entries: AuditEntry[] = [];
  return {
    entries,
    record: async (entry) => {
      entries.push(entry);
    },
  };
}
