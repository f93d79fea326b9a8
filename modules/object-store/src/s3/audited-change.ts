import type { StoreAction } from '../domain/ports/maker-rights.ts';
import { asksToShare } from './access/requested-acl.ts';
import { asksForBypass, asksForLock } from './object-lock-headers.ts';
import { MAX_VERSION_ID_LENGTH, type AuditedChange } from './s3-audit.ts';
import type { S3Request } from './s3-request.ts';

const AUDITED: ReadonlySet<StoreAction> = new Set(['bucket:create', 'bucket:update', 'bucket:delete']);

/**
 * The audit entry for a request, derived from its method, URL and headers; null for ordinary reads and writes. Handlers
 * of forms and bulk deletes write their own entries, because the relevant details are in the body.
 */
export function auditedChange(
  operation: string,
  needs: StoreAction,
  { bucketName, key, headers, query }: S3Request,
): AuditedChange | null {
  const resource = key === null ? `bucket/${bucketName ?? ''}` : `object/${bucketName ?? ''}/${key}`;
  const bypass = asksForBypass(headers);
  const version = { version_id: query.get('versionId')?.slice(0, MAX_VERSION_ID_LENGTH) };
  if (operation === 'PutObjectRetention' || operation === 'PutObjectLegalHold') {
    return { action: needs, resource, details: { operation, ...version, bypass_governance: bypass } };
  }
  if (AUDITED.has(needs)) return { action: needs, resource, details: { operation } };
  if (operation === 'PostObject' || operation === 'DeleteObjects') return null;
  if (operation === 'DeleteObject' && (bypass || query.has('versionId'))) {
    return { action: needs, resource, details: { operation, ...version, bypass_governance: bypass } };
  }
  const configures = asksToShare((name) => headers.get(name)) || asksForLock(headers);
  return configures && needs === 'object:write' ? { action: 'bucket:update', resource, details: { operation } } : null;
}
