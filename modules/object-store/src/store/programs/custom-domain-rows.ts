import type { DomainRecord, DomainState } from '../../domain/ports/custom-domains.ts';
import type { Row } from '../program.ts';
import { integer, integerOrNull, text, textOrNull } from '../row.ts';

/** Selects a domain's columns. Includes domains of active buckets only. */
export const DOMAIN_SELECT = `select d.hostname, d.bucket_id, b.name as bucket_name, d.workspace_uuid, d.created_at_ms,
    d.state, d.revision, k.blocked_at_ms, c.issuer, c.not_before_ms, c.not_after_ms, c.issued_at_ms
  from custom_domain d
  join bucket b on b.id = d.bucket_id and b.state = 'active'
  left join custom_domain_block k on k.hostname = d.hostname
  left join domain_certificate c on c.hostname = d.hostname`;

export function toDomain(row: Row): DomainRecord {
  const issuer = textOrNull(row, 'issuer');
  return {
    hostname: text(row, 'hostname'),
    bucketId: integer(row, 'bucket_id'),
    bucketName: text(row, 'bucket_name'),
    workspaceUuid: text(row, 'workspace_uuid'),
    createdAtMs: integer(row, 'created_at_ms'),
    blocked: integerOrNull(row, 'blocked_at_ms') !== null,
    state: toDomainState(row),
    certificate:
      issuer === null
        ? null
        : {
            issuer,
            notBeforeMs: integer(row, 'not_before_ms'),
            notAfterMs: integer(row, 'not_after_ms'),
            issuedAtMs: integer(row, 'issued_at_ms'),
          },
    revision: integer(row, 'revision'),
  };
}

export function toDomainState(row: Row): DomainState {
  return JSON.parse(text(row, 'state')) as DomainState; // only written by this store
}
