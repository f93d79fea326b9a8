import type { GrantedAccess } from '@svc/access';
import { sandboxErrors } from '../../errors.ts';
import { newSandboxAccessId } from '../identifiers.ts';
import { AccessTokens, type AccessRecord, type AccessRepository, type AccessTokensDeps } from './access-tokens.ts';

export interface SandboxAccessRepository extends AccessRepository {
  ofSandbox(sandboxId: string): Promise<readonly AccessRecord[]>;
  hasAny(sandboxId: string): Promise<boolean>;
  /** A page of the records of all running sandboxes, by id; an empty `after` begins. */
  ofRunning(after: string, limit: number): Promise<readonly AccessRecord[]>;
}

export interface SandboxAccessDeps extends AccessTokensDeps {
  readonly repository: SandboxAccessRepository;
}

const PAGE_SIZE = 500;
const EVERYTHING = 'svc-sandbox-access';
const TRAFFIC = 'svc-sandbox-traffic';
/** Matches tokens of sandboxes. */
export const SANDBOX_TOKEN = /^svc_(sba_[a-z2-7]{26})-[A-Za-z0-9_-]{43}$/;

/** Tokens of sandboxes, for clients that address a sandbox without the credential that they created it with. */
export class SandboxAccess {
  readonly #repository: SandboxAccessRepository;
  readonly #tokens: AccessTokens;

  constructor(deps: SandboxAccessDeps) {
    this.#repository = deps.repository;
    const invalid = () => sandboxErrors.SANDBOX_TOKEN_INVALID();
    this.#tokens = new AccessTokens(deps, { newId: newSandboxAccessId, pattern: SANDBOX_TOKEN, invalid });
  }

  /** Returns the token of this credential for the sandbox, which is the same every time. */
  issue(sandboxId: string, granted: GrantedAccess): Promise<string> {
    return this.#tokens.issue(sandboxId, granted, EVERYTHING);
  }

  /** Returns what the token was granted; null if the sandbox is gone. Throws SANDBOX_TOKEN_INVALID for any other token. */
  async check(sandboxId: string, token: string): Promise<GrantedAccess | null> {
    return (await this.#tokens.check(sandboxId, token, EVERYTHING))?.granted ?? null;
  }

  /** Returns a token for the ports of the sandbox only. */
  issueTraffic(sandboxId: string, granted: GrantedAccess): Promise<string> {
    return this.#tokens.issue(sandboxId, granted, TRAFFIC);
  }

  /** Returns the record of a token for ports; null if it is none of this sandbox. */
  checkTraffic(sandboxId: string, token: string): Promise<AccessRecord | null> {
    return this.#tokens.match(sandboxId, token, TRAFFIC);
  }

  /** Whether the sandbox has tokens. */
  isIssued(sandboxId: string): Promise<boolean> {
    return this.#repository.hasAny(sandboxId);
  }

  /** Returns the sandbox that a token was issued for; null if it is no such token, or the sandbox is gone. */
  async sandboxOf(token: string): Promise<string | null> {
    return (await this.#tokens.find(token, EVERYTHING))?.subjectId ?? null;
  }

  /**
   * Returns the record whose token the predicate accepts, of the sandbox or of any running one; null if there is none.
   */
  async find(sandboxId: string | null, accepts: (token: string) => boolean): Promise<AccessRecord | null> {
    if (sandboxId !== null) return this.#findIn(await this.#repository.ofSandbox(sandboxId), accepts);
    for (let after = ''; ;) {
      const page = await this.#repository.ofRunning(after, PAGE_SIZE);
      const found = await this.#findIn(page, accepts);
      if (found !== null || page.length < PAGE_SIZE) return found;
      after = page.at(-1)?.id ?? '';
    }
  }

  async #findIn(records: readonly AccessRecord[], accepts: (token: string) => boolean): Promise<AccessRecord | null> {
    for (const record of records) if (accepts(await this.#tokens.tokenOf(record, EVERYTHING))) return record;
    return null;
  }
}
