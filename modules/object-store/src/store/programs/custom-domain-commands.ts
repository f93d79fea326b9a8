import { storeErrors } from '../../errors.ts';
import type { DomainCommands, DomainRecord, RegisterDomain } from '../../domain/ports/custom-domains.ts';
import { all, change, first, lock, type Program, type Row } from '../program.ts';
import { integer, integerOrNull, text } from '../row.ts';
import { DOMAIN_SELECT, toDomain, toDomainState } from './custom-domain-rows.ts';

type Command<Name extends keyof DomainCommands> = Parameters<DomainCommands[Name]>[0];

export function* registerDomain(input: RegisterDomain): Program<{ domain: DomainRecord; created: boolean }> {
  const { hostname, bucketId } = input;
  yield* lock(`bucket/${bucketId}`);
  yield* lock(`custom-domain/${hostname}`);
  const bucket = yield* first(`select workspace_uuid from bucket where id = ? and state = 'active'`, bucketId);
  if (bucket === undefined) throw storeErrors.NoSuchBucket();
  const workspaceUuid = text(bucket, 'workspace_uuid');
  const taken = yield* first(
    'select bucket_id, workspace_uuid, claim_until_ms, state from custom_domain where hostname = ?',
    hostname,
  );
  const own = taken !== undefined && integer(taken, 'bucket_id') === bucketId;
  if (taken !== undefined && !own) yield* displace(input, taken, workspaceUuid);
  if (input.replaceOthers) yield* removeOthers(bucketId, hostname);
  if (!own) yield* insertDomain(input, workspaceUuid);
  return { domain: yield* readDomain(hostname), created: !own };
}

/** Throws if the existing claim is valid. Only a caller in the same workspace learns which bucket has the name. */
function* displace(input: RegisterDomain, taken: Row, workspaceUuid: string): Program<void> {
  const { hostname, nowMs, proven } = input;
  const claimUntilMs = integerOrNull(taken, 'claim_until_ms');
  const wasProven = toDomainState(taken).verifiedAtMs !== null;
  if ((claimUntilMs === null || claimUntilMs > nowMs) && (wasProven || !proven)) {
    const ownWorkspace = text(taken, 'workspace_uuid') === workspaceUuid;
    const bucket = yield* first('select name from bucket where id = ?', integer(taken, 'bucket_id'));
    const known = ownWorkspace && bucket !== undefined ? { bucket: text(bucket, 'name') } : {};
    throw storeErrors.DomainTaken({ details: { resource: hostname, ...known } });
  }
  yield* forgetDomain(hostname);
}

function* insertDomain(input: RegisterDomain, workspaceUuid: string): Program<void> {
  const { hostname, bucketId, nowMs, state, schedule } = input;
  const count = yield* first('select count(*) as domains from custom_domain where bucket_id = ?', bucketId);
  if (count !== undefined && integer(count, 'domains') >= input.maxDomains) {
    throw storeErrors.TooManyDomains({ details: { limit: input.maxDomains } });
  }
  yield* change(
    `insert into custom_domain (hostname, bucket_id, workspace_uuid, created_at_ms, state, revision, last_checked_at_ms,
       next_check_at_ms, claim_until_ms, served_until_ms, lease_until_ms)
     values (?, ?, ?, ?, ?, 1, ?, ?, ?, ?, 0)`,
    hostname,
    bucketId,
    workspaceUuid,
    nowMs,
    JSON.stringify(state),
    state.lastCheckedAtMs,
    schedule.nextCheckAtMs,
    schedule.claimUntilMs,
    schedule.servedUntilMs,
  );
}

function* removeOthers(bucketId: number, hostname: string): Program<void> {
  const others = yield* all(
    'select hostname from custom_domain where bucket_id = ? and hostname <> ?',
    bucketId,
    hostname,
  );
  for (const other of others) yield* forgetDomain(text(other, 'hostname'));
}

export function* removeDomain({ hostname, workspaceUuid }: Command<'removeDomain'>): Program<boolean> {
  yield* lock(`custom-domain/${hostname}`);
  const row = yield* first(
    `select d.hostname from custom_domain d join bucket b on b.id = d.bucket_id and b.state = 'active'
     where d.hostname = ? and d.workspace_uuid = ?`,
    hostname,
    workspaceUuid,
  );
  if (row === undefined) return false;
  yield* forgetDomain(hostname);
  return true;
}

/** Runs in the transaction that deletes the bucket. */
export function* forgetDomainsOfBucket(bucketId: number): Program<void> {
  yield* change(
    'delete from domain_certificate where hostname in (select hostname from custom_domain where bucket_id = ?)',
    bucketId,
  );
  yield* change('delete from custom_domain where bucket_id = ?', bucketId);
}

function* forgetDomain(hostname: string): Program<void> {
  yield* change('delete from domain_certificate where hostname = ?', hostname);
  yield* change('delete from custom_domain where hostname = ?', hostname);
}

export function* claimDueDomains(input: Command<'claimDueDomains'>): Program<readonly DomainRecord[]> {
  yield* lock('custom-domain-work');
  const rows = yield* all(
    `${DOMAIN_SELECT} where d.next_check_at_ms <= ? and d.lease_until_ms <= ? and k.hostname is null
     order by d.next_check_at_ms, d.hostname limit ?`,
    input.nowMs,
    input.nowMs,
    input.limit,
  );
  for (const row of rows) yield* takeLease(text(row, 'hostname'), input.leaseUntilMs);
  return rows.map((row) => toDomain(row));
}

export function* claimDomain(input: Command<'claimDomain'>): Program<DomainRecord | null> {
  yield* lock('custom-domain-work');
  const row = yield* first(
    `${DOMAIN_SELECT} where d.hostname = ? and d.lease_until_ms <= ? and k.hostname is null
       and (d.last_checked_at_ms is null or d.last_checked_at_ms <= ?)`,
    input.hostname,
    input.nowMs,
    input.checkedBeforeMs,
  );
  if (row === undefined) return null;
  yield* takeLease(input.hostname, input.leaseUntilMs);
  return toDomain(row);
}

function* takeLease(hostname: string, untilMs: number): Program<void> {
  yield* change('update custom_domain set lease_until_ms = ? where hostname = ?', untilMs, hostname);
}

export function* saveDomainState(input: Command<'saveDomainState'>): Program<DomainRecord | null> {
  const { hostname, revision, state, schedule } = input;
  const [saved] = yield* change(
    `update custom_domain set state = ?, revision = revision + 1, last_checked_at_ms = ?, next_check_at_ms = ?,
       claim_until_ms = ?, served_until_ms = ?, lease_until_ms = ?
     where hostname = ? and revision = ? returning hostname`,
    JSON.stringify(state),
    state.lastCheckedAtMs,
    schedule.nextCheckAtMs,
    schedule.claimUntilMs,
    schedule.servedUntilMs,
    input.leaseUntilMs,
    hostname,
    revision,
  );
  if (saved === undefined) return null;
  const row = yield* first(`${DOMAIN_SELECT} where d.hostname = ?`, hostname);
  return row === undefined ? null : toDomain(row);
}

export function* setDomainBlocked(input: Command<'setDomainBlocked'>): Program<void> {
  const { hostname, blocked, nowMs } = input;
  yield* lock(`custom-domain/${hostname}`);
  if (blocked) {
    yield* change(
      'insert into custom_domain_block (hostname, blocked_at_ms) values (?, ?) on conflict (hostname) do nothing',
      hostname,
      nowMs,
    );
    return;
  }
  yield* change('delete from custom_domain_block where hostname = ?', hostname);
  yield* change('update custom_domain set next_check_at_ms = ? where hostname = ?', nowMs, hostname);
}

function* readDomain(hostname: string): Program<DomainRecord> {
  const row = yield* first(`${DOMAIN_SELECT} where d.hostname = ?`, hostname);
  if (row === undefined) throw storeErrors.NoSuchDomain({ details: { resource: hostname } });
  return toDomain(row);
}
