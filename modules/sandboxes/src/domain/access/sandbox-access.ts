import type { KeyObject } from 'node:crypto';
import type { GrantedAccess } from '@svc/access';
import type { Clock, Random } from '@svc/runtime';
import { sandboxErrors } from '../../errors.ts';
import { newSandboxAccessId } from '../identifiers.ts';
import { accessToken, holderOf, isSame } from './access-token.ts';

/** What a credential was granted in a sandbox. */
export interface SandboxAccessRecord {
  /** `sba_…` */
  readonly id: string;
  readonly sandboxId: string;
  readonly granted: GrantedAccess;
}

export interface SandboxAccessRepository {
  /** Stores the record unless the holder already has one in the sandbox. Returns the id of the stored record. */
  ensure(record: SandboxAccessRecord, holder: string, now: string): Promise<string>;
  find(id: string): Promise<SandboxAccessRecord | null>;
  ofSandbox(sandboxId: string): Promise<readonly SandboxAccessRecord[]>;
  /** A page of the records of all running sandboxes, by id; an empty `after` begins. */
  ofRunning(after: string, limit: number): Promise<readonly SandboxAccessRecord[]>;
}

export interface SandboxAccessDeps {
  readonly repository: SandboxAccessRepository;
  readonly key: () => Promise<KeyObject>;
  readonly clock: Clock;
  readonly random: Random;
}

const PAGE_SIZE = 500;
/** What a token is good for; a token for one is none for the other. */
const EVERYTHING = 'svc-sandbox-access';
const TRAFFIC = 'svc-sandbox-traffic';
const TOKEN = /^svc_(sba_[a-z2-7]{26})-([A-Za-z0-9_-]{43})$/;

/**
 * Tokens of sandboxes, for clients that address a sandbox without the credential that they created it with. A token
 * lasts as long as the credential and its rights do. It is derived from the record, so that it is stored nowhere.
 */
export class SandboxAccess {
  readonly #deps: SandboxAccessDeps;

  constructor(deps: SandboxAccessDeps) {
    this.#deps = deps;
  }

  /** Returns the token of this credential for the sandbox, which is the same every time. */
  async issue(sandboxId: string, granted: GrantedAccess): Promise<string> {
    return this.#tokenOf(await this.#ensure(sandboxId, granted), sandboxId);
  }

  /**
   * Returns what the token was granted; null if it was issued for this sandbox and the sandbox is gone. Throws
   * SANDBOX_TOKEN_INVALID for any other token, so that a caller without one learns nothing about the sandbox.
   */
  async check(sandboxId: string, token: string): Promise<GrantedAccess | null> {
    const id = TOKEN.exec(token)?.[1];
    if (id === undefined || !isSame(token, await this.#tokenOf(id, sandboxId))) {
      throw sandboxErrors.SANDBOX_TOKEN_INVALID();
    }
    const record = await this.#deps.repository.find(id);
    return record?.sandboxId === sandboxId ? record.granted : null;
  }

  /** Returns a token for the ports of the sandbox only. */
  async issueTraffic(sandboxId: string, granted: GrantedAccess): Promise<string> {
    return this.#tokenOf(await this.#ensure(sandboxId, granted), sandboxId, TRAFFIC);
  }

  /** Returns the record of a token for ports; null if it is none of this sandbox. */
  async checkTraffic(sandboxId: string, token: string): Promise<SandboxAccessRecord | null> {
    const id = TOKEN.exec(token)?.[1];
    if (id === undefined || !isSame(token, await this.#tokenOf(id, sandboxId, TRAFFIC))) return null;
    const record = await this.#deps.repository.find(id);
    return record?.sandboxId === sandboxId ? record : null;
  }

  /** Whether the sandbox has tokens. */
  async isIssued(sandboxId: string): Promise<boolean> {
    return (await this.#deps.repository.ofSandbox(sandboxId)).length > 0;
  }

  /** Returns the sandbox that a token was issued for; null if it is no such token, or the sandbox is gone. */
  async sandboxOf(token: string): Promise<string | null> {
    const id = TOKEN.exec(token)?.[1];
    const record = id === undefined ? null : await this.#deps.repository.find(id);
    if (record === null || !isSame(token, await this.#tokenOf(record.id, record.sandboxId))) return null;
    return record.sandboxId;
  }

  /**
   * Returns the record whose token the predicate accepts, of the sandbox or of any running one; null if there is none.
   */
  async find(sandboxId: string | null, accepts: (token: string) => boolean): Promise<SandboxAccessRecord | null> {
    const { repository } = this.#deps;
    if (sandboxId !== null) return this.#findIn(await repository.ofSandbox(sandboxId), accepts);
    for (let after = ''; ;) {
      const page = await repository.ofRunning(after, PAGE_SIZE);
      const found = await this.#findIn(page, accepts);
      if (found !== null || page.length < PAGE_SIZE) return found;
      after = page.at(-1)?.id ?? '';
    }
  }

  async #findIn(
    records: readonly SandboxAccessRecord[],
    accepts: (token: string) => boolean,
  ): Promise<SandboxAccessRecord | null> {
    for (const record of records) if (accepts(await this.#tokenOf(record.id, record.sandboxId))) return record;
    return null;
  }

  #ensure(sandboxId: string, granted: GrantedAccess): Promise<string> {
    const { repository, random, clock } = this.#deps;
    const record = { id: newSandboxAccessId(random.bytes), sandboxId, granted };
    return repository.ensure(record, holderOf(granted), clock.now().toISOString());
  }

  async #tokenOf(id: string, sandboxId: string, purpose = EVERYTHING): Promise<string> {
    return accessToken(await this.#deps.key(), purpose, id, sandboxId);
  }
}
