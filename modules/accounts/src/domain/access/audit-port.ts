import type { AuditEntry, AuditLog } from '@svc/http';
import type { AuditTrail } from '../audit/audit-trail.ts';

/** The audit log as the HTTP guard knows it. */
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
