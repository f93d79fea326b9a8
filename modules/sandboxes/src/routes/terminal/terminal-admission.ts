import {
  accessErrors,
  confirmAccess,
  createGrantedAccess,
  createGrantedRight,
  type Access,
  type AuditLog,
  type GrantedAccess,
  type Principal,
  isTrustedOrigin,
} from '@svc/access';
import type { UpgradeHold, UpgradeRequest } from '@svc/http';
import type { CallerLimiter } from '../../domain/admission.ts';
import type { Sandbox } from '../../domain/sandbox.ts';
import type { SandboxService } from '../../domain/sandbox-service.ts';
import type { Tickets } from '../../domain/tickets.ts';
import { sandboxErrors } from '../../errors.ts';
import { SANDBOX } from '../../domain/holder.ts';
import { credentialHeaders } from './credentials.ts';
import type { TerminalRequest } from '../../domain/terminal/terminal-request.ts';

const ACTION = 'sandbox:exec';

export interface AdmissionOptions {
  readonly access: Access;
  readonly audit: AuditLog;
  readonly service: SandboxService;
  readonly tickets: Tickets;
  readonly limiter: CallerLimiter;
  readonly now: () => Date;
  readonly allowedOrigins: readonly string[];
}

export interface Admitted {
  readonly sandbox: Sandbox;
  /** The right to the terminal, from the presented credential or the one that created the ticket. */
  readonly held: UpgradeHold;
}

interface Authorized {
  readonly principal: Principal;
  readonly granted: GrantedAccess;
  readonly askedAtMs: number;
}

/** Authorizes terminals and records them in the audit log. */
export class TerminalAdmission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /**
   * Null if another node has the sandbox and took the connection over. Throws 401, 403, 404 or 429, and
   * SANDBOX_ELSEWHERE.
   */
  async admit(upgrade: UpgradeRequest, wanted: TerminalRequest): Promise<Admitted | null> {
    const { access, service, allowedOrigins } = this.#options;
    const { headers } = upgrade.request;
    if (!isTrustedOrigin(headers, allowedOrigins, upgrade.client.isSecure)) {
      throw sandboxErrors.ORIGIN_REFUSED({ details: { origin: headers.origin } });
    }
    const { principal, granted, askedAtMs } = await this.#authorize(upgrade, wanted);
    const workspaceUuid = granted.grant?.workspaceUuid ?? '';
    const held = upgrade.hold(createGrantedRight(access, granted, askedAtMs));
    if (await upgrade.forward({ kind: SANDBOX, id: wanted.sandboxId, workspaceUuid }, granted)) return null;
    const sandbox = await service.held(workspaceUuid, wanted.sandboxId);
    await this.#note(upgrade, principal, sandbox);
    return { sandbox, held };
  }

  /** A ticket works once: if the first replica redeemed it, its statement takes the place of the ticket. */
  async #authorize(upgrade: UpgradeRequest, wanted: TerminalRequest): Promise<Authorized> {
    const { access, tickets, now } = this.#options;
    const askedAt = now();
    const { ticket, sandboxId, workspaceUuid, teamUuid } = wanted;
    const stated = ticket === null ? null : (upgrade.hop?.granted ?? (await tickets.redeem(ticket, sandboxId)));
    if (stated !== null) {
      if (stated.action !== ACTION) throw accessErrors.FORBIDDEN();
      const principal = await confirmAccess(access, stated);
      return { principal, granted: stated, askedAtMs: askedAt.getTime() };
    }
    const source = { headers: credentialHeaders(upgrade.request.headers), method: 'GET', ...upgrade.client };
    const principal = await access.authenticate(source);
    const grant = await access.authorize({ principal, action: ACTION, workspaceUuid, teamUuid });
    const granted = createGrantedAccess(principal, askedAt, ACTION, grant);
    return { principal, granted, askedAtMs: askedAt.getTime() };
  }

  async #note({ client, requestId }: UpgradeRequest, principal: Principal, sandbox: Sandbox): Promise<void> {
    await this.#options.limiter.admit(principal, sandbox.workspaceUuid);
    await this.#options.audit.record({
      principal,
      action: ACTION,
      resource: `sandbox/${sandbox.id}`,
      workspaceUuid: sandbox.workspaceUuid,
      outcome: 'success',
      status: 101,
      remoteAddress: client.remoteAddress,
      requestId,
    });
  }
}
