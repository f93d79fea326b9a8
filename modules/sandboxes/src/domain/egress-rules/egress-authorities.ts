import type { WrappedKey } from '@svc/keys';
import type { Sealer } from '../secrets/secret.ts';
import type { EgressAuthority } from './egress-rule.ts';

/**
 * Common name of every sandbox's authority. OpenSSL finds certificates by the hash of their subject, so it is the same
 * for all.
 */
export const AUTHORITY_NAME = 'svc sandbox egress';

/** A certificate in PEM with its sealed key. */
export interface SealedAuthority {
  readonly cert: string;
  readonly key: WrappedKey;
}

export interface EgressAuthorityRepository {
  find(sandboxId: string): Promise<SealedAuthority | null>;
  /** Stores the authority unless there is one. Returns the stored one. */
  ensure(sandboxId: string, authority: SealedAuthority): Promise<SealedAuthority>;
}

export interface EgressAuthoritiesDeps {
  readonly repository: EgressAuthorityRepository;
  readonly sealer: Sealer;
  readonly create: (name: string) => Promise<EgressAuthority>;
}

/** The certificate authorities of sandboxes with rules, one for each. Their keys are sealed at rest. */
export class EgressAuthorities {
  readonly #deps: EgressAuthoritiesDeps;

  constructor(deps: EgressAuthoritiesDeps) {
    this.#deps = deps;
  }

  /** Returns the sandbox's authority; creates it at the first call. */
  async ensure(sandboxId: string): Promise<EgressAuthority> {
    const { repository, sealer, create } = this.#deps;
    const known = await repository.find(sandboxId);
    if (known !== null) return this.#open(sandboxId, known);
    const { cert, key } = await create(AUTHORITY_NAME);
    const sealed = await sealer.wrap(Buffer.from(key), authorityContext(sandboxId));
    return this.#open(sandboxId, await repository.ensure(sandboxId, { cert, key: sealed }));
  }

  async #open(sandboxId: string, { cert, key }: SealedAuthority): Promise<EgressAuthority> {
    const opened = await this.#deps.sealer.unwrap(key, authorityContext(sandboxId));
    return { cert, key: opened.toString() };
  }
}

/** Binds a sealed key to its sandbox. */
export function authorityContext(sandboxId: string): string {
  return `sandbox-authority:${sandboxId}`;
}
