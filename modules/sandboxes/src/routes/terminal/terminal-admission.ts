import {
  confirmAccess,
  createGrantedAccess,
  createGrantedRight,
  type Access,
  type AuditLog,
  type Principal,
} from '@svc/access';
import { rateLimitHeaders, type RateLimiter, type UpgradeHold, type UpgradeRequest } from '@svc/http';
import type { Sandbox } from '../../domain/sandbox.ts';
import type { SandboxService } from '../../domain/sandbox-service.ts';
import type { Tickets } from '../../domain/tickets.ts';
import { sandboxErrors } from '../../errors.ts';
import { credentialHeaders, isAllowedOrigin } from './credentials.ts';
import type { TerminalRequest } from '../../domain/terminal/terminal-request.ts';

const ACTION = 'sandbox:exec';

export interface AdmissionOptions {
  readonly access: Access;
  readonly audit: AuditLog;
  readonly service: SandboxService;
  readonly tickets: Tickets;
  readonly limiter: RateLimiter;
  readonly now: () => Date;
  readonly allowedOrigins: readonly string[];
}

export interface Admitted {
  readonly sandbox: Sandbox;
  /** The right to the terminal, from the presented credential or the one that created the ticket. */
  readonly held: UpgradeHold;
}

/** Authorizes terminals and records them in the audit log. */
export class TerminalAdmission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Throws 401, 403, 404 or 429, and SANDBOX_ELSEWHERE. */
  async admit(upgrade: UpgradeRequest, wanted: TerminalRequest): Promise<Admitted> {
    const { allowedOrigins } = this.#options;
    const { headers } = upgrade.request;
    if (!isAllowedOrigin(headers, allowedOrigins, upgrade.client.isSecure)) {
      throw sandboxErrors.ORIGIN_REFUSED({ details: { origin: headers.origin } });
    }
    return (await this.#byTicket(upgrade, wanted)) ?? (await this.#byCredential(upgrade, wanted));
  }

  async #byTicket(upgrade: UpgradeRequest, { ticket, sandboxId }: TerminalRequest): Promise<Admitted | null> {
    const { access, service, tickets, now } = this.#options;
    const granted = ticket === null ? null : await tickets.redeem(ticket, sandboxId);
    if (granted === null) return null;
    const askedAt = now();
    const principal = await confirmAccess(access, granted);
    const sandbox = await service.held(granted.grant?.workspaceUuid ?? '', sandboxId);
    await this.#note(upgrade, principal, sandbox);
    return { sandbox, held: upgrade.hold(createGrantedRight(access, granted, askedAt.getTime())) };
  }

  async #byCredential(upgrade: UpgradeRequest, wanted: TerminalRequest): Promise<Admitted> {
    const { access, service, now } = this.#options;
    const shownAt = now();
    const source = { headers: credentialHeaders(upgrade.request.headers), method: 'GET', ...upgrade.client };
    const principal = await access.authenticate(source);
    const { workspaceUuid, teamUuid } = wanted;
    const grant = await access.authorize({ principal, action: ACTION, workspaceUuid, teamUuid });
    const sandbox = await service.held(grant.workspaceUuid, wanted.sandboxId);
    await this.#note(upgrade, principal, sandbox);
    const granted = createGrantedAccess(principal, shownAt, ACTION, grant);
    return { sandbox, held: upgrade.hold(createGrantedRight(access, granted, shownAt.getTime())) };
  }

  async #note({ client, requestId }: UpgradeRequest, principal: Principal, sandbox: Sandbox): Promise<void> {
    const decision = this.#options.limiter.take(principal.id);
    if (!decision.allowed) {
      const details = { retry_after_seconds: decision.retryAfterSeconds };
      throw sandboxErrors.RATE_LIMITED({ details, headers: rateLimitHeaders(decision) });
    }
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
