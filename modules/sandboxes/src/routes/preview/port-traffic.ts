import { confirmAccess, createGrantedRight, type Access, type GrantedAccess } from '@svc/access';
import { isAppError } from '@svc/errors';
import type { Clock } from '@svc/runtime';
import type { SandboxAccess } from '../../domain/access/sandbox-access.ts';
import type { Sandbox } from '../../domain/sandbox.ts';
import { sandboxErrors } from '../../errors.ts';
import type { CheckedPreview, PreviewLinks, PreviewMaker } from './preview-links.ts';

/** How long one connection may last, as with a link. */
const CONNECTION_MS = 7 * 86_400_000;
/** The right to ports, as for links. The record of a token names what its holder asked for first. */
const PORT_ACTION = 'sandbox:exec';

export interface PortTrafficDeps {
  readonly links: PreviewLinks;
  readonly sandboxAccess: SandboxAccess;
  readonly access: Access;
  readonly find: (sandboxId: string) => Promise<Sandbox>;
  readonly clock: Clock;
}

/**
 * Admits requests to ports without a link: to those of a sandbox that was created with public ports, and with a traffic
 * token to those of any other. Both last as long as the credential that asked for them.
 */
export class PortTraffic {
  readonly #deps: PortTrafficDeps;

  constructor(deps: PortTrafficDeps) {
    this.#deps = deps;
  }

  /** Opens every port of the sandbox to anyone who knows its address, until its links are revoked. */
  async publish(sandbox: Sandbox, maker: PreviewMaker): Promise<void> {
    await this.#deps.links.publish(sandbox, maker);
  }

  isPublic(sandboxId: string): Promise<boolean> {
    return this.#deps.links.isPublic(sandboxId);
  }

  /** The token for the ports of this sandbox; null if they need none. */
  async tokenFor(sandboxId: string, granted: GrantedAccess): Promise<string | null> {
    const { links, sandboxAccess } = this.#deps;
    return (await links.isPublic(sandboxId)) ? null : sandboxAccess.issueTraffic(sandboxId, granted);
  }

  /**
   * Returns null if the request needs a link. Throws SANDBOX_GONE if there is no such sandbox, and PORT_REFUSED without a
   * valid token if one was issued for the sandbox.
   */
  async admit(
    { sandboxId, port }: { readonly sandboxId: string; readonly port: number },
    { token, hasCookie }: { readonly token: string | undefined; readonly hasCookie: boolean },
  ): Promise<CheckedPreview | null> {
    const { links, sandboxAccess, access, clock } = this.#deps;
    const open = await links.checkPublic(sandboxId, port, clock.nowMs() + CONNECTION_MS);
    if (open !== null) {
      await this.#assertThere(sandboxId);
      return open;
    }
    if (token === undefined) {
      if (hasCookie) return null;
      await this.#assertThere(sandboxId);
      if (await sandboxAccess.isIssued(sandboxId)) throw sandboxErrors.PORT_REFUSED();
      return null;
    }
    const record = await sandboxAccess.checkTraffic(sandboxId, token);
    if (record === null) throw sandboxErrors.PORT_REFUSED();
    const { id: linkId } = record;
    const granted: GrantedAccess = { ...record.granted, action: PORT_ACTION };
    const askedAtMs = clock.nowMs();
    await confirmAccess(access, granted).catch((error: unknown) => {
      throw isAppError(error) && error.status < 500 ? sandboxErrors.PORT_REFUSED() : error;
    });
    const claim = { linkId, sandboxId, port, expiresAtMs: askedAtMs + CONNECTION_MS };
    return { claim, token: '', right: createGrantedRight(access, granted, askedAtMs), granted, isPublic: false };
  }

  async #assertThere(sandboxId: string): Promise<void> {
    await this.#deps.find(sandboxId).catch((error: unknown) => {
      const isUnknown = isAppError(error) && error.code === 'SANDBOX_NOT_FOUND';
      throw isUnknown ? sandboxErrors.SANDBOX_GONE({ details: { sandbox: sandboxId } }) : error;
    });
  }
}
