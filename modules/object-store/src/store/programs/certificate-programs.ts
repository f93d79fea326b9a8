import type {
  AcmeAccount,
  DomainCommands,
  DomainQueries,
  StoredCertificate,
} from '../../domain/ports/custom-domains.ts';
import { change, first, lock, type Program } from '../program.ts';
import { integer, text } from '../row.ts';
import { assertOpenKey } from './key-ring-programs.ts';

type Command<Name extends keyof DomainCommands> = Parameters<DomainCommands[Name]>[0];
type Query<Name extends keyof DomainQueries> = Parameters<DomainQueries[Name]>[0];

/** The lock prevents a concurrent removal between the check and the insert. */
export function* saveCertificate(input: Command<'saveCertificate'>): Program<boolean> {
  yield* assertOpenKey(input.sealedKey);
  yield* lock(`custom-domain/${input.hostname}`);
  const domain = yield* first(
    'select 1 as found from custom_domain where hostname = ? and bucket_id = ?',
    input.hostname,
    input.bucketId,
  );
  if (domain === undefined) return false;
  yield* change('delete from domain_certificate where hostname = ?', input.hostname);
  yield* change(
    `insert into domain_certificate (hostname, chain, sealed_key, issuer, not_before_ms, not_after_ms, issued_at_ms)
     values (?, ?, ?, ?, ?, ?, ?)`,
    input.hostname,
    input.chain,
    input.sealedKey,
    input.issuer,
    input.notBeforeMs,
    input.notAfterMs,
    input.issuedAtMs,
  );
  return true;
}

export function* findCertificate({ hostname, nowMs }: Query<'findCertificate'>): Program<StoredCertificate | null> {
  const row = yield* first(
    `select c.* from domain_certificate c
     join custom_domain d on d.hostname = c.hostname and d.served_until_ms > ?
     join bucket b on b.id = d.bucket_id and b.state = 'active'
     where c.hostname = ? and not exists (select 1 from custom_domain_block k where k.hostname = c.hostname)`,
    nowMs,
    hostname,
  );
  if (row === undefined) return null;
  return {
    chain: text(row, 'chain'),
    sealedKey: text(row, 'sealed_key'),
    issuer: text(row, 'issuer'),
    notBeforeMs: integer(row, 'not_before_ms'),
    notAfterMs: integer(row, 'not_after_ms'),
    issuedAtMs: integer(row, 'issued_at_ms'),
  };
}

export function* saveAcmeAccount(input: AcmeAccount): Program<AcmeAccount> {
  yield* assertOpenKey(input.sealedKey);
  yield* change(
    'insert into acme_account (directory_url, sealed_key) values (?, ?) on conflict (directory_url) do nothing',
    input.directoryUrl,
    input.sealedKey,
  );
  return (yield* findAcmeAccount(input)) ?? input;
}

export function* findAcmeAccount({ directoryUrl }: Query<'findAcmeAccount'>): Program<AcmeAccount | null> {
  const row = yield* first('select * from acme_account where directory_url = ?', directoryUrl);
  return row === undefined ? null : { directoryUrl, sealedKey: text(row, 'sealed_key') };
}

export function* putAcmeChallenge(input: Command<'putAcmeChallenge'>): Program<void> {
  yield* change('delete from acme_challenge where expires_at_ms <= ? or token = ?', input.nowMs, input.token);
  yield* change(
    'insert into acme_challenge (token, key_authorization, expires_at_ms) values (?, ?, ?)',
    input.token,
    input.keyAuthorization,
    input.expiresAtMs,
  );
}

export function* removeAcmeChallenge({ token }: Command<'removeAcmeChallenge'>): Program<void> {
  yield* change('delete from acme_challenge where token = ?', token);
}

export function* findAcmeChallenge({ token, nowMs }: Query<'findAcmeChallenge'>): Program<string | null> {
  const row = yield* first(
    'select key_authorization from acme_challenge where token = ? and expires_at_ms > ?',
    token,
    nowMs,
  );
  return row === undefined ? null : text(row, 'key_authorization');
}
