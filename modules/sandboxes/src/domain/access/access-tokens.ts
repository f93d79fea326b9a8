import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto';
import type { GrantedAccess } from '@svc/access';
import type { AppError } from '@svc/errors';
import type { Clock, Random } from '@svc/runtime';

/** What a credential was granted in one sandbox or volume, the subject. */
export interface AccessRecord {
  readonly id: string;
  readonly subjectId: string;
  readonly granted: GrantedAccess;
}

/** Stores the records of sandboxes, or those of volumes. Records go with their subject. */
export interface AccessRepository {
  /** Stores the record unless the holder already has one in the subject. Returns the id of the stored record. */
  ensure(record: AccessRecord, holder: string, now: string): Promise<string>;
  find(id: string): Promise<AccessRecord | null>;
}

export interface AccessTokensDeps {
  readonly repository: AccessRepository;
  readonly key: () => Promise<KeyObject>;
  readonly clock: Pick<Clock, 'now'>;
  readonly random: Random;
}

/** What differs between the tokens of sandboxes and those of volumes. */
export interface AccessTokenKind {
  /** Creates the id of a record. */
  readonly newId: (randomBytes: Random['bytes']) => string;
  /** Matches a token; its first group is the id of the record. */
  readonly pattern: RegExp;
  /** The error for a token that was not issued for the subject. */
  readonly invalid: () => AppError;
}

/**
 * Tokens that stand for what a credential was granted in one sandbox or volume. A token lasts as long as the credential and
 * its rights do. It is derived from its record, so that it is stored nowhere. A purpose separates tokens of one record: a
 * token for one is none for the other.
 */
export class AccessTokens {
  readonly #deps: AccessTokensDeps;
  readonly #kind: AccessTokenKind;

  constructor(deps: AccessTokensDeps, kind: AccessTokenKind) {
    this.#deps = deps;
    this.#kind = kind;
  }

  /** Returns the token of this credential for the subject, which is the same every time. */
  async issue(subjectId: string, granted: GrantedAccess, purpose: string): Promise<string> {
    const { repository, random, clock } = this.#deps;
    const record = { id: this.#kind.newId(random.bytes), subjectId, granted };
    const id = await repository.ensure(record, holderOf(granted), clock.now().toISOString());
    return this.tokenOf({ id, subjectId }, purpose);
  }

  /**
   * Returns the record of the token; null if it was issued for this subject and the subject is gone. Throws `invalid` for
   * any other token, so that a caller without one learns nothing about the subject.
   */
  async check(subjectId: string, token: string, purpose: string): Promise<AccessRecord | null> {
    const id = await this.#idOf(subjectId, token, purpose);
    if (id === null) throw this.#kind.invalid();
    return this.#findIn(subjectId, id);
  }

  /** Like `check`, but returns null for a token that was not issued for the subject. */
  async match(subjectId: string, token: string, purpose: string): Promise<AccessRecord | null> {
    const id = await this.#idOf(subjectId, token, purpose);
    return id === null ? null : this.#findIn(subjectId, id);
  }

  /** Returns the record of the token of any subject; null if it is none, or the subject is gone. */
  async find(token: string, purpose: string): Promise<AccessRecord | null> {
    const id = this.#kind.pattern.exec(token)?.[1];
    const record = id === undefined ? null : await this.#deps.repository.find(id);
    return record !== null && isSame(token, await this.tokenOf(record, purpose)) ? record : null;
  }

  /** Asks no database, so that guesses cost little. */
  async #idOf(subjectId: string, token: string, purpose: string): Promise<string | null> {
    const id = this.#kind.pattern.exec(token)?.[1];
    return id !== undefined && isSame(token, await this.tokenOf({ id, subjectId }, purpose)) ? id : null;
  }

  async #findIn(subjectId: string, id: string): Promise<AccessRecord | null> {
    const record = await this.#deps.repository.find(id);
    return record?.subjectId === subjectId ? record : null;
  }

  /** The token that stands for the record. */
  async tokenOf({ id, subjectId }: Pick<AccessRecord, 'id' | 'subjectId'>, purpose: string): Promise<string> {
    return accessToken(await this.#deps.key(), purpose, id, subjectId);
  }
}

/** Identifies a credential. Each sign-in at an external issuer is another one: it is revoked separately and has no record here. */
function holderOf({ credential, grant }: GrantedAccess): string {
  const { credential: kind, principalId, credentialId, confirmedAt } = credential;
  return JSON.stringify([
    kind,
    principalId,
    credentialId ?? confirmedAt,
    grant?.workspaceUuid,
    grant?.teamUuid,
    grant?.role,
  ]);
}

/** `svc_<id>-<HMAC>`: derived from a record, so that it is stored nowhere. */
export function accessToken(key: KeyObject, purpose: string, id: string, subjectId: string): string {
  const mac = createHmac('sha256', key).update(`${purpose}\n${id}\n${subjectId}`);
  return `svc_${id}-${mac.digest('base64url')}`;
}

/** Compares two secrets in constant time. */
export function isSame(given: string, wanted: string): boolean {
  const [one, two] = [Buffer.from(given), Buffer.from(wanted)];
  return one.length === two.length && timingSafeEqual(one, two);
}
