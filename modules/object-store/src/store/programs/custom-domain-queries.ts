import type { DomainQueries, DomainRecord } from '../../domain/ports/custom-domains.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';
import { all, first, type Program } from '../program.ts';
import { toBucket } from './bucket-rows.ts';
import { DOMAIN_SELECT, toDomain } from './custom-domain-rows.ts';

type Query<Name extends keyof DomainQueries> = Parameters<DomainQueries[Name]>[0];

export function* findDomain({ hostname }: Query<'findDomain'>): Program<DomainRecord | null> {
  const row = yield* first(`${DOMAIN_SELECT} where d.hostname = ?`, hostname);
  return row === undefined ? null : toDomain(row);
}

export function* listDomains(input: Query<'listDomains'>): Program<readonly DomainRecord[]> {
  const { workspaceUuid, bucketId, after, limit } = input;
  const rows =
    bucketId === null
      ? yield* all(
          `${DOMAIN_SELECT} where d.workspace_uuid = ? and d.hostname > ? order by d.hostname limit ?`,
          workspaceUuid,
          after,
          limit,
        )
      : yield* all(
          `${DOMAIN_SELECT} where d.bucket_id = ? and d.workspace_uuid = ? and d.hostname > ? order by d.hostname limit ?`,
          bucketId,
          workspaceUuid,
          after,
          limit,
        );
  return rows.map((row) => toDomain(row));
}

export function* findServedBucket({ hostname, nowMs }: Query<'findServedBucket'>): Program<BucketRecord | null> {
  const row = yield* first(
    `select b.* from custom_domain d join bucket b on b.id = d.bucket_id and b.state = 'active'
     where d.hostname = ? and d.served_until_ms > ?
       and not exists (select 1 from custom_domain_block k where k.hostname = d.hostname)`,
    hostname,
    nowMs,
  );
  return row === undefined ? null : toBucket(row);
}
