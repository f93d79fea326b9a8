import type { KeyObject } from 'node:crypto';
import {
  confirmAccess,
  createGrantedRight,
  narrowRight,
  type Access,
  type GrantedAccess,
  type HeldRight,
} from '@svc/access';
import { isAppError } from '@svc/errors';
import type { Clock, Random } from '@svc/runtime';
import type { Sandbox } from '../../domain/sandbox.ts';
import { newPreviewLinkId } from '../../domain/identifiers.ts';
import { sandboxErrors } from '../../errors.ts';
import type { PreviewLink, PreviewLinkRepository } from '../../domain/preview/preview-link.ts';
import { readClaim, signClaim, verifyClaim, type PreviewClaim } from '../../domain/preview/preview-token.ts';

const MAX_LINKS = 100;

/** The creator of a link, and the expiry of its credential (ISO 8601, UTC). */
export interface PreviewMaker {
  readonly ownerId: string;
  readonly granted: GrantedAccess;
  readonly notAfter: string | null;
}

/** A token that is valid for the requested place, and the right behind it. */
export interface CheckedPreview {
  readonly claim: PreviewClaim;
  readonly token: string;
  readonly right: HeldRight;
}

export interface PreviewLinksOptions {
  readonly access: Access;
  readonly repository: PreviewLinkRepository;
  readonly key: () => Promise<KeyObject>;
  readonly clock: Clock;
  readonly random: Random;
  /** Throws SANDBOX_ELSEWHERE for a sandbox of another node. */
  readonly assertHere: (sandboxId: string) => Promise<void>;
  /** Called with the ids of revoked links. */
  readonly revoked: (linkIds: readonly string[]) => void;
}

/** Creates, lists, revokes and checks signed links to ports. */
export class PreviewLinks {
  readonly #options: PreviewLinksOptions;

  constructor(options: PreviewLinksOptions) {
    this.#options = options;
  }

  async make(
    sandbox: Sandbox,
    { ownerId, granted, notAfter }: PreviewMaker,
    port: number,
    lifetimeMs: number,
  ): Promise<{ link: PreviewLink; token: string }> {
    const { repository, key, clock, random } = this.#options;
    const now = clock.now();
    // Whole seconds, as in the token.
    const endMs = Math.min(now.getTime() + lifetimeMs, notAfter === null ? Infinity : Date.parse(notAfter));
    const expiresAtMs = Math.floor(endMs / 1000) * 1000;
    const link: PreviewLink = {
      id: newPreviewLinkId(random.bytes),
      sandboxId: sandbox.id,
      port,
      ownerId,
      granted,
      createdAt: now.toISOString(),
      expiresAt: new Date(expiresAtMs).toISOString(),
    };
    if (!(await repository.insert(link, MAX_LINKS))) {
      throw sandboxErrors.TOO_MANY_PREVIEW_LINKS({ details: { limit: MAX_LINKS } });
    }
    const claim = { linkId: link.id, sandboxId: link.sandboxId, port, expiresAtMs };
    return { link, token: signClaim(claim, await key()) };
  }

  list(sandboxId: string): Promise<readonly PreviewLink[]> {
    return this.#options.repository.list(sandboxId, this.#options.clock.now().toISOString());
  }

  /** Revokes links and cuts their open connections. Returns the number of links. */
  async revoke(sandboxId: string, port: number | null): Promise<number> {
    const ids = await this.#options.repository.remove(sandboxId, port);
    this.#options.revoked(ids);
    return ids.length;
  }

  /** Returns the first token that is valid for the place. Throws PREVIEW_REFUSED and SANDBOX_ELSEWHERE. */
  async check(tokens: readonly string[], place: { sandboxId: string; port: number } | null): Promise<CheckedPreview> {
    const { key, clock } = this.#options;
    let reason = tokens.length === 0 ? 'it has no signature' : 'it was not signed here';
    for (const token of tokens) {
      const claim = verifyClaim(token, await key());
      if (claim === null) {
        await this.#refuseElsewhere(token);
        continue;
      }
      if (place !== null && (claim.sandboxId !== place.sandboxId || claim.port !== place.port)) {
        reason = 'it is for another address';
      } else if (claim.expiresAtMs <= clock.nowMs()) {
        reason = 'it has expired';
      } else {
        const right = await this.#findRight(claim);
        if (right !== null) return { claim, token, right };
        reason = 'it was revoked';
      }
    }
    throw sandboxErrors.PREVIEW_REFUSED({ details: { reason } });
  }

  /** Names the node of a stored link. This node cannot verify its signature, since each node signs with its own key. */
  async #refuseElsewhere(token: string): Promise<void> {
    const { repository, assertHere } = this.#options;
    const claim = readClaim(token);
    const link = claim === null ? null : await repository.find(claim.linkId);
    if (link !== null && link.sandboxId === claim?.sandboxId) await assertHere(link.sandboxId);
  }

  /** Returns null if the link or the credential that created it was revoked, or its creator lost access. */
  async #findRight({ linkId }: PreviewClaim): Promise<HeldRight | null> {
    const { repository, access, clock } = this.#options;
    const askedAtMs = clock.nowMs();
    const link = await repository.find(linkId);
    if (link === null) return null;
    try {
      await confirmAccess(access, link.granted);
    } catch (error) {
      if (isAppError(error) && error.status < 500) return null;
      throw error;
    }
    return narrowRight(createGrantedRight(access, link.granted, askedAtMs), linkId, async () => {
      if ((await repository.find(linkId)) === null)
        throw sandboxErrors.PREVIEW_REFUSED({ details: { reason: 'it was revoked' } });
    });
  }
}
