import {
  accessErrors,
  createGrantedAccess,
  createGrantedRight,
  type Access,
  type AuditLog,
  type GrantedAccess,
  type HeldRight,
  type Principal,
} from '@svc/access';
import { toAppError } from '@svc/errors';
import { addressKey } from '@svc/addresses';
import { TokenBuckets, type Clock } from '@svc/runtime';
import { isSandboxId, NAME_PATTERN } from '../domain/identifiers.ts';
import { sandboxErrors } from '../errors.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';

/** Opens a terminal as any other way in does; the same row of the authorize table. */
export const SSH_ACTION = 'sandbox:exec';

/** Failed logins of one address: ten at once, then one every six seconds. */
const FAILURES = { perMinute: 10, burst: 10 };
const MAX_ADDRESSES = 20_000;
/** Visible ASCII, as in an Authorization header. */
const TOKEN = /^[!-~]{1,4096}$/;

const NAME = new RegExp(NAME_PATTERN);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What the user name of an SSH connection says: `SANDBOX`, or `SANDBOX+TEAM_UUID` to reach it as a member of a team. */
interface UserName {
  readonly sandbox: { readonly id: string } | { readonly name: string };
  readonly teamUuid: string | undefined;
}

export interface SshLoginDeps {
  readonly access: Access;
  readonly audit: AuditLog;
  readonly service: SandboxService;
  readonly clock: Clock;
  /** Called with the outcome of each attempt. */
  readonly attempted: (outcome: 'success' | 'refused' | 'failed') => void;
}

/** What a client may use after its login. */
export interface SshGrant {
  readonly principal: Principal;
  readonly granted: GrantedAccess;
  /** The right behind the connection. */
  readonly right: HeldRight;
  readonly workspaceUuid: string;
  readonly sandboxId: string;
}

export type SshCredential =
  /** An API token, or the token of a service account. */
  | { readonly kind: 'password'; readonly password: string }
  /** A key that the client has proved to hold; null if the proof is wrong. */
  | { readonly kind: 'key'; readonly fingerprint: string | null };

export interface LoginAttempt {
  readonly userName: string;
  readonly credential: SshCredential;
  /** Keys that this connection has tried. Clients try all they have, so they are forgiven once one is right. */
  readonly refusedKeys: number;
  readonly remoteAddress: string;
  readonly requestId: string;
}

/** Authenticates and authorizes SSH clients, and slows down those that guess. */
export class SshLogin {
  readonly #deps: SshLoginDeps;
  readonly #failures: TokenBuckets;

  constructor(deps: SshLoginDeps) {
    this.#deps = deps;
    this.#failures = new TokenBuckets(FAILURES, { nowMs: () => deps.clock.nowMs(), maxKeys: MAX_ADDRESSES });
  }

  /** Whether this address has failed too often to try again now. */
  isBlocked(remoteAddress: string): boolean {
    return this.#failures.waitMs(addressKey(remoteAddress)) > 0;
  }

  /** Throws 401, 403 or 404, which count as failures, and RATE_LIMITED. */
  async login(attempt: LoginAttempt): Promise<SshGrant> {
    const key = addressKey(attempt.remoteAddress);
    const waitMs = this.#failures.waitMs(key);
    if (waitMs > 0) {
      throw sandboxErrors.RATE_LIMITED({ details: { retry_after_seconds: Math.ceil(waitMs / 1000) } });
    }
    this.#failures.add(key, -1); // at once, so that parallel attempts count
    try {
      const grant = await this.#admit(attempt);
      this.#failures.add(key, 1 + attempt.refusedKeys);
      this.#deps.attempted('success');
      return grant;
    } catch (error) {
      const isFault = toAppError(error).status >= 500;
      if (isFault) this.#failures.add(key, 1); // not the caller's
      this.#deps.attempted(isFault ? 'failed' : 'refused');
      throw error;
    }
  }

  async #admit(attempt: LoginAttempt): Promise<SshGrant> {
    const { access, clock } = this.#deps;
    const wanted = parseUserName(attempt.userName);
    if (wanted === null) throw accessErrors.UNAUTHORIZED();
    const askedAt = clock.now();
    const principal = await this.#authenticate(attempt);
    try {
      const { granted, workspaceUuid, sandboxId } = await this.#authorize(principal, wanted, askedAt);
      const right = createGrantedRight(access, granted, askedAt.getTime());
      return { principal, granted, right, workspaceUuid, sandboxId };
    } catch (error) {
      await this.#recordRefusal(principal, attempt, toAppError(error).status);
      throw error;
    }
  }

  #authenticate({ credential, remoteAddress }: LoginAttempt): Promise<Principal> {
    const { access } = this.#deps;
    if (credential.kind === 'key') {
      if (credential.fingerprint === null) throw accessErrors.UNAUTHORIZED();
      return access.authenticateSshKey(credential.fingerprint);
    }
    if (!TOKEN.test(credential.password)) throw accessErrors.UNAUTHORIZED();
    const headers = { authorization: `Bearer ${credential.password}` };
    return access.authenticate({ headers, method: 'GET', remoteAddress, isSecure: true });
  }

  /** An ID names its workspace; a name is looked up in the caller's own one, or in that of the team. */
  async #authorize(
    principal: Principal,
    { sandbox, teamUuid }: UserName,
    askedAt: Date,
  ): Promise<Pick<SshGrant, 'granted' | 'workspaceUuid' | 'sandboxId'>> {
    const { access, service } = this.#deps;
    const found = 'id' in sandbox ? await service.byId(sandbox.id) : null;
    const grant = await access.authorize({
      principal,
      action: SSH_ACTION,
      workspaceUuid: found?.workspaceUuid,
      teamUuid,
    });
    const { workspaceUuid } = grant;
    const sandboxId = 'id' in sandbox ? sandbox.id : await this.#findByName(workspaceUuid, sandbox.name);
    return { granted: createGrantedAccess(principal, askedAt, SSH_ACTION, grant), workspaceUuid, sandboxId };
  }

  async #findByName(workspaceUuid: string, name: string): Promise<string> {
    const filter = { name, labels: {}, pageSize: 1, cursor: null };
    const [found] = (await this.#deps.service.list(workspaceUuid, filter)).sandboxes;
    if (found === undefined) throw sandboxErrors.SANDBOX_NOT_FOUND();
    return found.id;
  }

  async #recordRefusal(
    principal: Principal,
    { userName, remoteAddress, requestId }: LoginAttempt,
    status: number,
  ): Promise<void> {
    await this.#deps.audit.record({
      principal,
      action: SSH_ACTION,
      resource: `sandbox/${userName.slice(0, 128)}`,
      workspaceUuid: null,
      outcome: status < 500 ? 'refused' : 'failed',
      status,
      remoteAddress,
      requestId,
      details: { via: 'ssh' },
    });
  }
}

/** Returns null for a name that no sandbox can have. */
export function parseUserName(text: string): UserName | null {
  const [sandbox = '', teamUuid, ...others] = text.split('+');
  if (others.length > 0 || (teamUuid !== undefined && !UUID.test(teamUuid))) return null;
  if (isSandboxId(sandbox)) return { sandbox: { id: sandbox }, teamUuid };
  return NAME.test(sandbox) ? { sandbox: { name: sandbox }, teamUuid } : null;
}
