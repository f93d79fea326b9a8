import { isAppError, type AppError } from '@svc/errors';
import type { Access, AuthorizeRequest, CredentialSource, Grant, Principal } from './access.ts';
import { httpErrors } from './errors.ts';

/** Of a connection that outlives the request that began it: a shell, a watch, a forwarded port. */
export interface HeldRight {
  /** Asks again; throws what `Access` throws once it is gone. */
  check(): Promise<void>;
  /** Called once, with the refusal. */
  taken(refusal: AppError): void;
}

export interface HeldRightsOptions {
  /** Runs the callback once after the delay (milliseconds); the answer cancels it. */
  setTimer: (callback: () => void, delayMs: number) => () => void;
  /** Checks could not be made: the first failure of a round. They are made again. */
  onError: (error: unknown) => void;
}

/** A right that was taken is gone after this time and that of one round. */
const EVERY_MS = 2000;
const CHECKED_AT_ONCE = 16;
const REFUSALS: ReadonlySet<number> = new Set([401, 403, 404]);

/** What was granted when a connection began is asked for again every two seconds, and the connection told when it is gone. */
export class HeldRights {
  readonly #options: HeldRightsOptions;
  readonly #held = new Set<HeldRight>();
  #cancel: (() => void) | null = null;
  #stopped = false;

  constructor(options: HeldRightsOptions) {
    this.#options = options;
  }

  /** The answer lets go of it: the connection is over. */
  hold(right: HeldRight): () => void {
    this.#held.add(right);
    this.#schedule();
    return () => this.#held.delete(right);
  }

  stop(): void {
    this.#stopped = true;
    this.#cancel?.();
    this.#held.clear();
  }

  #schedule(): void {
    if (this.#cancel !== null || this.#stopped || this.#held.size === 0) return;
    this.#cancel = this.#options.setTimer(() => void this.#round(), EVERY_MS);
  }

  async #round(): Promise<void> {
    const all = [...this.#held];
    const failures: unknown[] = [];
    for (let index = 0; index < all.length; index += CHECKED_AT_ONCE) {
      await Promise.all(all.slice(index, index + CHECKED_AT_ONCE).map((right) => this.#check(right, failures)));
    }
    if (failures.length > 0) this.#options.onError(failures[0]);
    this.#cancel = null;
    this.#schedule();
  }

  async #check(right: HeldRight, failures: unknown[]): Promise<void> {
    if (!this.#held.has(right)) return;
    try {
      await right.check();
    } catch (error) {
      // Accounts that cannot be asked take nothing away.
      if (!isAppError(error) || !REFUSALS.has(error.status)) failures.push(error);
      else if (this.#held.delete(right)) right.taken(error);
    }
  }
}

/**
 * Whether a refusal only says that the time of the credential is over. A JWT cannot be revoked, and that it was not shown
 * again is no right that somebody took: its owner is asked for by what they may.
 */
export function isOnlyExpired(error: unknown, { credential }: Principal): boolean {
  const expires = credential === 'jwt' || credential === 'oidc' || credential === 'guest_jwt';
  return expires && isAppError(error) && error.status === 401;
}

export interface GrantedBefore {
  source: CredentialSource;
  request: AuthorizeRequest;
  grant: Grant;
}

/** Throws the refusal when the same credential would not be granted the same now. */
export async function assertStillGranted(access: Access, { source, request, grant }: GrantedBefore): Promise<void> {
  const { principal } = request;
  try {
    await access.authenticate(source);
  } catch (error) {
    if (!isOnlyExpired(error, principal)) throw error;
  }
  await assertSameRole(access, { request, grant });
}

/** Throws the refusal when the principal would not be granted the same now, whatever became of the credential. */
export async function assertSameRole(access: Access, { request, grant }: Omit<GrantedBefore, 'source'>): Promise<void> {
  const now = await access.authorize({ ...request, workspaceUuid: grant.workspaceUuid });
  if (now.role !== grant.role) throw httpErrors.FORBIDDEN({ details: { reason: 'the role has changed' } });
}
