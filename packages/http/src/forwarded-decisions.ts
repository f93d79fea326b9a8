import { hash } from 'node:crypto';
import type { Access, AuthorizeRequest, CredentialSource, Grant, Principal } from '@svc/access';
import { RecentResults } from '@svc/runtime';

/** A caller and its grant, as confirmed when the credential was looked up. */
export interface Decision {
  readonly principal: Principal;
  readonly grant: Grant;
  readonly shownAt: Date;
}

/** What is taken away ends here at most this much later than at the replica that forwards, which looks it up each time. */
const MAX_AGE_MS = 500;
const MAX_DECISIONS = 10_000;

/**
 * Decides about requests that another replica has just authorized. The decision is this replica's own, but it holds for
 * all equal requests of half a second: looking everything up twice took longer than forwarding.
 */
export class ForwardedDecisions {
  readonly #access: Access;
  readonly #now: () => Date;
  readonly #recent: RecentResults<Decision>;

  constructor(access: Access, now: () => Date) {
    this.#access = access;
    this.#now = now;
    this.#recent = new RecentResults({
      maxAgeMs: MAX_AGE_MS,
      maxEntries: MAX_DECISIONS,
      nowMs: () => now().getTime(),
    });
  }

  /** Throws 401, 403 or 404, which is not remembered. */
  decide(source: CredentialSource, asked: Omit<AuthorizeRequest, 'principal'>): Promise<Decision> {
    return this.#recent.get(keyOf(source, asked), async () => {
      const shownAt = this.#now();
      const principal = await this.#access.authenticate(source);
      return { principal, grant: await this.#access.authorize({ principal, ...asked }), shownAt };
    });
  }
}

/** Equal keys get equal decisions. Hashed, so that no credential stays in memory. */
function keyOf({ headers, method, remoteAddress, isSecure }: CredentialSource, asked: object): string {
  const { authorization, cookie, upgrade } = headers;
  const shown = [authorization, cookie, upgrade, headers['sec-websocket-protocol'], headers['x-csrf-token']];
  return hash('sha256', JSON.stringify([...shown, method, remoteAddress, isSecure, asked]), 'base64');
}
