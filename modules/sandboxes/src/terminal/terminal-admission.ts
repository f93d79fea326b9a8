import {
  assertSameRole,
  assertStillGranted,
  rateLimitHeaders,
  type Access,
  type AuditLog,
  type AuthorizeRequest,
  type Principal,
  type RateLimiter,
  type UpgradeRequest,
} from '@svc/http';
import type { Sandbox } from '../domain/sandbox.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { Tickets } from '../domain/tickets.ts';
import { sandboxErrors } from '../errors.ts';
import { credentialHeaders, isAllowedOrigin } from './credentials.ts';
import type { TerminalRequest } from './terminal-request.ts';

const ACTION = 'sandbox:exec';

export interface AdmissionOptions {
  readonly access: Access;
  readonly audit: AuditLog;
  readonly service: SandboxService;
  readonly tickets: Tickets;
  readonly limiter: RateLimiter;
  readonly allowedOrigins: readonly string[];
}

export interface Admitted {
  readonly sandbox: Sandbox;
  /** Throws once the right to the terminal was taken: by the same credential, or for a ticket by whoever made it. */
  check(): Promise<void>;
}

/** Decides who may open a terminal, and writes down that they did. */
export class TerminalAdmission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Throws 401, 403, 404 or 429. */
  async admit(upgrade: UpgradeRequest, wanted: TerminalRequest): Promise<Admitted> {
    const { allowedOrigins } = this.#options;
    const { headers } = upgrade.request;
    if (!isAllowedOrigin(headers, allowedOrigins)) {
      throw sandboxErrors.ORIGIN_REFUSED({ details: { origin: headers.origin } });
    }
    return (await this.#byTicket(upgrade, wanted)) ?? (await this.#byCredential(upgrade, wanted));
  }

  async #byTicket(upgrade: UpgradeRequest, { ticket, sandboxId }: TerminalRequest): Promise<Admitted | null> {
    const { access, service, tickets } = this.#options;
    const caller = ticket === null ? null : await tickets.redeem(ticket, sandboxId);
    if (caller === null) return null;
    const { principal, grant } = caller;
    const sandbox = await service.byId(sandboxId);
    const request = requestOf(principal, sandbox.workspaceUuid, grant.teamUuid);
    await this.#note(upgrade, principal, sandbox);
    return { sandbox, check: () => assertSameRole(access, { request, grant }) };
  }

  async #byCredential({ request, requestId }: UpgradeRequest, wanted: TerminalRequest): Promise<Admitted> {
    const { access, service } = this.#options;
    const source = { headers: credentialHeaders(request.headers), method: 'GET', remoteAddress: addressOf(request) };
    const principal = await access.authenticate(source);
    const asked = requestOf(principal, wanted.workspaceUuid, wanted.teamUuid);
    const grant = await access.authorize(asked);
    const sandbox = await service.get(grant.workspaceUuid, wanted.sandboxId);
    await this.#note({ request, requestId }, principal, sandbox);
    return { sandbox, check: () => assertStillGranted(access, { source, request: asked, grant }) };
  }

  async #note(
    { request, requestId }: Pick<UpgradeRequest, 'request' | 'requestId'>,
    principal: Principal,
    sandbox: Sandbox,
  ): Promise<void> {
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
      remoteAddress: addressOf(request),
      requestId,
    });
  }
}

function requestOf(
  principal: Principal,
  workspaceUuid: string | undefined,
  teamUuid: string | null | undefined,
): AuthorizeRequest {
  return { principal, action: ACTION, workspaceUuid, teamUuid: teamUuid ?? undefined };
}

function addressOf({ socket }: UpgradeRequest['request']): string {
  return socket.remoteAddress ?? '';
}
