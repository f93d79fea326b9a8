import type { AuditEntry, AuditLog } from '@svc/access';
import type { AuditTrail } from '../audit/audit-trail.ts';

/** Adapts the audit trail to the HTTP guard's audit log. */
export function createAuditLog(trail: AuditTrail): AuditLog {
  return {
    record: ({ principal, details, ...entry }: AuditEntry) =>
      trail.record({
        ...entry,
        actorKind: principal?.kind ?? 'anonymous',
        actorId: principal?.id ?? null,
        actorName: principal?.name ?? null,
        credential: principal?.credential ?? null,
        credentialId: principal?.credentialId ?? null,
        details: details ?? {},
      }),
  };
}
