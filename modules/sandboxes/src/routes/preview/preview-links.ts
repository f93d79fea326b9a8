import type { KeyObject } from 'node:crypto';
import {
  confirmAccess,
  createGrantedRight,
  narrowRight,
  type Access,
  type GrantedAccess,
  type HeldRight,
} from '@svc/http';
import { isAppError } from '@svc/errors';
import type { Effects } from '../../domain/ports.ts';
import type { Sandbox } from '../../domain/sandbox.ts';
import { newPreviewLinkId } from '../../domain/identifiers.ts';
import { sandboxErrors } from '../../errors.ts';
import type { PreviewLink, PreviewLinkRepository } from '../../domain/preview/preview-link.ts';
import { signClaim, verifyClaim, type PreviewClaim } from '../../domain/preview/preview-token.ts';

const MAX_LINKS = 100;

/** Who makes a link, and until when its credential stands (ISO 8601, UTC). */
export interface PreviewMaker {
  readonly ownerId: string;
  readonly granted: GrantedAccess;
  readonly notAfter: string | null;
}

/** A token that is good for its place, and the right to what it opens. */
export interface CheckedPreview {
  readonly claim: PreviewClaim;
  readonly token: string;
  readonly right: HeldRight;
}

export interface PreviewLinksOptions {
  readonly access: Access;
  readonly repository: PreviewLinkRepository;
  readonly key: () => Promise<KeyObject>;
  readonly effects: Effects;
  /** Hears which links are worth nothing any more. */
  readonly revoked: (linkIds: readonly string[]) => void;
}

/** Signed links to ports: made, told, taken back, and checked. */
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
    const { repository, key, effects } = this.#options;
    const now = effects.now();
    // Whole seconds, as the token has them.
    const endMs = Math.min(now.getTime() + lifetimeMs, notAfter === null ? Infinity : Date.parse(notAfter));
    const expiresAtMs = Math.floor(endMs / 1000) * 1000;
    const link: PreviewLink = {
      id: newPreviewLinkId((size) => effects.randomBytes(size)),
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
    return this.#options.repository.list(sandboxId, this.#options.effects.now().toISOString());
  }

  /** What is open by such a link is cut as well. Answers how many links there were. */
  async revoke(sandboxId: string, port: number | null): Promise<number> {
    const ids = await this.#options.repository.remove(sandboxId, port);
    this.#options.revoked(ids);
    return ids.length;
  }

  /** The first of the tokens that is good for the place. Throws PREVIEW_REFUSED. */
  async check(tokens: readonly string[], place: { sandboxId: string; port: number } | null): Promise<CheckedPreview> {
    const { key, effects } = this.#options;
    let reason = tokens.length === 0 ? 'it has no signature' : 'it was not signed here';
    for (const token of tokens) {
      const claim = verifyClaim(token, await key());
      if (claim === null) continue;
      if (place !== null && (claim.sandboxId !== place.sandboxId || claim.port !== place.port)) {
        reason = 'it is for another address';
      } else if (claim.expiresAtMs <= effects.now().getTime()) {
        reason = 'it has expired';
      } else {
        const right = await this.#rightOf(claim);
        if (right !== null) return { claim, token, right };
        reason = 'it was revoked';
      }
    }
    throw sandboxErrors.PREVIEW_REFUSED({ details: { reason } });
  }

  /** Null when the link was revoked, or the credential that made it, or its maker may not any more. */
  async #rightOf({ linkId }: PreviewClaim): Promise<HeldRight | null> {
    const { repository, access, effects } = this.#options;
    const askedAtMs = effects.now().getTime();
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
