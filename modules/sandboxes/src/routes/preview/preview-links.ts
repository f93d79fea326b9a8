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
import { signClaim, verifyClaim, type PreviewClaim } from '../../domain/preview/preview-token.ts';

const MAX_LINKS = 100;
/** In the place of a port: all of them, without a signature. */
const EVERY_PORT = 0;
/** Public ports have no end of their own. */
const NO_END = '9999-12-31T23:59:59.000Z';

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
  readonly granted: GrantedAccess;
  /** Whether anyone may open the port, without a credential. */
  readonly isPublic: boolean;
}

export interface PreviewLinksOptions {
  readonly access: Access;
  readonly repository: PreviewLinkRepository;
  readonly key: () => Promise<KeyObject>;
  readonly clock: Clock;
  readonly random: Random;
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

  /** Opens every port without a signature. Throws TOO_MANY_PREVIEW_LINKS. */
  async publish(sandbox: Sandbox, { ownerId, granted, notAfter }: PreviewMaker): Promise<void> {
    const { repository, clock, random } = this.#options;
    const link: PreviewLink = {
      id: newPreviewLinkId(random.bytes),
      sandboxId: sandbox.id,
      port: EVERY_PORT,
      ownerId,
      granted,
      createdAt: clock.now().toISOString(),
      expiresAt: notAfter ?? NO_END,
    };
    if (!(await repository.insert(link, MAX_LINKS))) {
      throw sandboxErrors.TOO_MANY_PREVIEW_LINKS({ details: { limit: MAX_LINKS } });
    }
  }

  /** Requires links or tokens again, and cuts connections without them. */
  async unpublish(sandboxId: string): Promise<void> {
    await this.revoke(sandboxId, EVERY_PORT);
  }

  /** Whether every port is open without a signature. */
  async isPublic(sandboxId: string): Promise<boolean> {
    return (await this.#all(sandboxId)).some(({ port }) => port === EVERY_PORT);
  }

  /** Links to single ports. */
  async list(sandboxId: string): Promise<readonly PreviewLink[]> {
    return (await this.#all(sandboxId)).filter(({ port }) => port !== EVERY_PORT);
  }

  #all(sandboxId: string): Promise<readonly PreviewLink[]> {
    return this.#options.repository.list(sandboxId, this.#options.clock.now().toISOString());
  }

  /** Returns null unless the ports are public. The connection may last until `untilMs`. */
  async checkPublic(sandboxId: string, port: number, untilMs: number): Promise<CheckedPreview | null> {
    const link = (await this.#all(sandboxId)).find((each) => each.port === EVERY_PORT);
    if (link === undefined) return null;
    const expiresAtMs = Math.min(Date.parse(link.expiresAt), untilMs);
    const claim = { linkId: link.id, sandboxId, port, expiresAtMs };
    const found = await this.#findRight(claim);
    return found === null ? null : { claim, token: '', isPublic: true, ...found };
  }

  /** Revokes links and cuts their open connections. Returns the number of links. */
  async revoke(sandboxId: string, port: number | null): Promise<number> {
    const ids = await this.#options.repository.remove(sandboxId, port);
    this.#options.revoked(ids);
    return ids.length;
  }

  /** Returns the first token that is valid for the place. Throws PREVIEW_REFUSED. */
  async check(tokens: readonly string[], place: { sandboxId: string; port: number } | null): Promise<CheckedPreview> {
    const { key, clock } = this.#options;
    let reason = tokens.length === 0 ? 'it has no signature' : 'it was not signed here';
    for (const token of tokens) {
      const claim = verifyClaim(token, await key());
      if (claim === null) continue;
      if (place !== null && (claim.sandboxId !== place.sandboxId || claim.port !== place.port)) {
        reason = 'it is for another address';
      } else if (claim.expiresAtMs <= clock.nowMs()) {
        reason = 'it has expired';
      } else {
        const found = await this.#findRight(claim);
        if (found !== null) return { claim, token, isPublic: false, ...found };
        reason = 'it was revoked';
      }
    }
    throw sandboxErrors.PREVIEW_REFUSED({ details: { reason } });
  }

  /** Returns null if the link or the credential that created it was revoked, or its creator lost access. */
  async #findRight({ linkId }: PreviewClaim): Promise<Pick<CheckedPreview, 'right' | 'granted'> | null> {
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
    const right = narrowRight(createGrantedRight(access, link.granted, askedAtMs), linkId, async () => {
      if ((await repository.find(linkId)) === null)
        throw sandboxErrors.PREVIEW_REFUSED({ details: { reason: 'it was revoked' } });
    });
    return { right, granted: link.granted };
  }
}
