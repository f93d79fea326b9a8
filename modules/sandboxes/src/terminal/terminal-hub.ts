import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  rateLimitHeaders,
  type Access,
  type AuditLog,
  type Principal,
  type RateLimiter,
  type UpgradeRequest,
  type UpgradeRoute,
} from '@svc/http';
import { WebSocketServer, type WebSocket } from 'ws';
import type { LiveSandboxes } from '../domain/live-sandboxes.ts';
import type { Effects } from '../domain/ports.ts';
import type { Sandbox } from '../domain/sandbox.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { Tickets } from '../domain/tickets.ts';
import { sandboxErrors } from '../errors.ts';
import { credentialHeaders, isAllowedOrigin, selectProtocol } from './credentials.ts';
import { defaultFraming } from './default-framing.ts';
import { isTerminalPath, parseTerminalRequest, type TerminalRequest } from './terminal-request.ts';
import { TerminalSession } from './terminal-session.ts';
import { SANDBOX_V1, v1Framing } from './v1-framing.ts';

const HOLD_WHILE_CREATING_MS = 60_000;
const HEARTBEAT_EVERY_MS = 20_000;
const CLOSE_GRACE_MS = 2_000;
/** A paste comes as one message; larger ones must come in parts (close code 1009). */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

export interface TerminalHubOptions {
  readonly access: Access;
  readonly audit: AuditLog;
  readonly service: SandboxService;
  readonly live: LiveSandboxes;
  readonly tickets: Tickets;
  readonly effects: Effects;
  readonly limiter: RateLimiter;
  readonly allowedOrigins: readonly string[];
  readonly maxTerminals: number;
}

/** `/ws/terminal/:id`: decides who may, waits for a sandbox that is being made, and owns every open terminal. */
export class TerminalHub implements UpgradeRoute {
  readonly #options: TerminalHubOptions;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    handleProtocols: (offered) => selectProtocol([...offered], [SANDBOX_V1]) ?? false,
  });
  readonly #sessions = new Map<TerminalSession, string>();
  #cancelHeartbeat: () => void = () => undefined;
  #closing = false;

  constructor(options: TerminalHubOptions) {
    this.#options = options;
  }

  matches(_request: IncomingMessage, url: URL): boolean {
    return isTerminalPath(url.pathname);
  }

  async handle(upgrade: UpgradeRequest): Promise<void> {
    const { request, socket, url } = upgrade;
    const wanted = parseTerminalRequest(url);
    const sandbox = await this.#admit(upgrade, wanted);
    const ready = await this.#waitUntilRunning(sandbox, socket);
    const connection = this.#options.live.connectionOf(ready.id);
    if (ready.status !== 'running' || connection === null || this.#closing) {
      throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status: ready.status } });
    }
    this.#assertRoom(ready.id);
    if (socket.destroyed) return;
    this.#server.handleUpgrade(request, socket, upgrade.head, (webSocket) => {
      const isV1 = webSocket.protocol === SANDBOX_V1;
      this.#open(webSocket, ready, wanted, isV1);
    });
  }

  start(): void {
    this.#cancelHeartbeat = this.#options.effects.setTimer(() => {
      for (const session of this.#sessions.keys()) session.heartbeat();
      if (!this.#closing) this.start();
    }, HEARTBEAT_EVERY_MS);
  }

  /** Tells every client to come back, and cuts those that do not answer. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#cancelHeartbeat();
    const sessions = [...this.#sessions.keys()];
    for (const session of sessions) session.close(1012, 'the platform restarts');
    const cancel = this.#options.effects.setTimer(() => {
      for (const session of sessions) session.terminate();
    }, CLOSE_GRACE_MS);
    await Promise.all(sessions.map((session) => session.closed));
    cancel();
    this.#server.close();
  }

  get openTerminals(): number {
    return this.#sessions.size;
  }

  /** Answers the sandbox that the caller may use, or throws 401, 403, 404 or 429. */
  async #admit({ request, requestId }: UpgradeRequest, wanted: TerminalRequest): Promise<Sandbox> {
    const { access, service, tickets, allowedOrigins } = this.#options;
    if (!isAllowedOrigin(request.headers, allowedOrigins)) {
      throw sandboxErrors.ORIGIN_REFUSED({ details: { origin: request.headers.origin } });
    }
    const remoteAddress = request.socket.remoteAddress ?? '';
    if (wanted.ticket !== null && (await tickets.redeem(wanted.ticket, wanted.sandboxId))) {
      const sandbox = await service.byId(wanted.sandboxId);
      this.#limit(sandbox.ownerId);
      await this.#record(null, sandbox, remoteAddress, requestId);
      return sandbox;
    }
    const headers = credentialHeaders(request.headers);
    const principal = await access.authenticate({ headers, method: 'GET', remoteAddress });
    const { workspaceUuid, teamUuid } = wanted;
    const grant = await access.authorize({ principal, action: 'sandbox:exec', workspaceUuid, teamUuid });
    const sandbox = await service.get(grant.workspaceUuid, wanted.sandboxId);
    this.#limit(principal.id);
    await this.#record(principal, sandbox, remoteAddress, requestId);
    return sandbox;
  }

  #limit(callerId: string): void {
    const decision = this.#options.limiter.take(callerId);
    if (decision.allowed) return;
    const details = { retry_after_seconds: decision.retryAfterSeconds };
    throw sandboxErrors.RATE_LIMITED({ details, headers: rateLimitHeaders(decision) });
  }

  async #record(
    principal: Principal | null,
    sandbox: Sandbox,
    remoteAddress: string,
    requestId: string,
  ): Promise<void> {
    await this.#options.audit.record({
      principal,
      action: 'sandbox:exec',
      resource: `sandbox/${sandbox.id}`,
      workspaceUuid: sandbox.workspaceUuid,
      outcome: 'success',
      status: 101,
      remoteAddress,
      requestId,
    });
  }

  /** A client that connects right after its create is held, so that it need not poll. */
  async #waitUntilRunning(sandbox: Sandbox, socket: Duplex): Promise<Sandbox> {
    if (sandbox.status !== 'creating') return sandbox;
    const gone = new AbortController();
    const abort = (): void => gone.abort();
    socket.once('close', abort);
    try {
      const { service } = this.#options;
      const { workspaceUuid, id } = sandbox;
      return await service.settled(workspaceUuid, id, HOLD_WHILE_CREATING_MS, gone.signal);
    } finally {
      socket.off('close', abort);
    }
  }

  #assertRoom(id: string): void {
    const open = [...this.#sessions.values()].filter((each) => each === id).length;
    if (open >= this.#options.maxTerminals) throw sandboxErrors.TOO_MANY_TERMINALS();
  }

  #open(socket: WebSocket, sandbox: Sandbox, wanted: TerminalRequest, isV1: boolean): void {
    const { live, effects } = this.#options;
    const connection = live.connectionOf(sandbox.id);
    if (connection === null) {
      void this.#closeOf(sandbox.id).then(({ code, reason }) => socket.close(code, reason));
      return;
    }
    const nowMs = (): number => effects.now().getTime();
    const endActivity = live.begin(sandbox.id, nowMs());
    const session = new TerminalSession({
      socket,
      connection,
      framing: isV1 ? v1Framing() : defaultFraming(wanted.encoding),
      start: {
        env: sandbox.environment,
        ...(wanted.argv === null ? { tty: { cols: wanted.cols, rows: wanted.rows } } : { argv: wanted.argv }),
      },
      cols: wanted.cols,
      rows: wanted.rows,
      active: () => live.active(sandbox.id, nowMs()),
      lostClose: () => this.#closeOf(sandbox.id),
    });
    this.#sessions.set(session, sandbox.id);
    void session.over.finally(() => {
      this.#sessions.delete(session);
      endActivity();
    });
  }

  /** Why a terminal ended below its client. */
  async #closeOf(id: string): Promise<{ code: number; reason: string }> {
    if (this.#closing) return { code: 1012, reason: 'the platform restarts' };
    const sandbox = await this.#options.service.byId(id).catch(() => null);
    if (sandbox === null) return { code: 4005, reason: 'the sandbox was deleted' };
    if (sandbox.status === 'stopped') return { code: 4004, reason: 'the sandbox was stopped' };
    return { code: 1011, reason: 'the sandbox went away' };
  }
}
