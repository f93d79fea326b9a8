import type { AuditLog } from '@svc/access';
import type { Clock } from '@svc/runtime';
import type { CallerLimiter } from '../domain/admission.ts';
import type { EventRecorder } from '../domain/events/event-recorder.ts';
import type { HelperConnection } from '../domain/helper/helper-connection.ts';
import type { LiveSandboxes } from '../domain/live-sandboxes.ts';
import type { OpenPreviews } from '../domain/preview/open-previews.ts';
import type { Sandbox } from '../domain/sandbox.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import { recordTerminal } from '../domain/terminal/terminal-events.ts';
import type { TerminalSlots } from '../domain/terminal/terminal-slots.ts';
import { SSH_ACTION, type SshGrant } from './ssh-login.ts';

const HOLD_WHILE_CREATING_MS = 60_000;

/** What a session channel runs. */
export type SessionKind = 'shell' | 'exec' | 'sftp';

export interface HeldSandboxDeps {
  readonly service: SandboxService;
  readonly live: LiveSandboxes;
  readonly audit: AuditLog;
  readonly recorder: EventRecorder;
  /** Shared with terminals over WebSockets, like the slots. */
  readonly limiter: CallerLimiter;
  readonly slots: TerminalSlots;
  /** Shared with previews. */
  readonly ports: OpenPreviews;
  readonly clock: Clock;
}

/** Who uses the sandbox, and from where. */
export interface SshClient {
  readonly grant: SshGrant;
  readonly remoteAddress: string;
  readonly requestId: string;
}

/** A sandbox in use by a channel. */
export interface EnteredSandbox {
  readonly connection: HelperConnection;
  /** Call it for input, as activity of the sandbox; resumes a paused one. */
  used(): void;
  /** Call it once, when the channel has ended. */
  leave(): void;
}

/** A sandbox of this node. Every session and forwarded port passes the checks of a terminal again. */
export class HeldSandbox {
  readonly #deps: HeldSandboxDeps;
  readonly #client: SshClient;

  constructor(deps: HeldSandboxDeps, client: SshClient) {
    this.#deps = deps;
    this.#client = client;
  }

  /**
   * Waits for a sandbox that is being created. Throws SANDBOX_NOT_FOUND, SANDBOX_ELSEWHERE, SANDBOX_NOT_RUNNING,
   * RATE_LIMITED, TOO_MANY_TERMINALS and QUOTA_EXCEEDED.
   */
  async enter(kind: SessionKind, signal: AbortSignal): Promise<EnteredSandbox> {
    const { service, live, slots, recorder, clock } = this.#deps;
    const { workspaceUuid, sandboxId } = this.#client.grant;
    await this.#deps.limiter.admit(this.#client.grant.principal, workspaceUuid);
    await this.#held();
    await this.#record({ request: kind });
    const sandbox = await service.settled(workspaceUuid, sandboxId, HOLD_WHILE_CREATING_MS, signal);
    await this.#deps.service.connectionTo(sandbox); // before a slot is taken
    const release = await slots.take(sandbox);
    try {
      signal.throwIfAborted();
      const connection = await this.#deps.service.connectionTo(sandbox);
      const endActivity = live.begin(sandbox.id, clock.nowMs());
      const recordEnd =
        kind === 'shell' ? recordTerminal(recorder, sandbox, { argv: null, session: null }, null) : () => undefined;
      const leave = (): void => {
        endActivity();
        recordEnd();
        release();
      };
      return { connection, used: () => this.#use(), leave };
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * For a connection to a port inside; `cut` is called if it must end. Each port is recorded once for a connection of the
   * client. Throws as `enter`, and PREVIEW_BUSY.
   */
  async enterPort(port: number, isRecorded: boolean, cut: () => void): Promise<EnteredSandbox> {
    const { live, ports, clock } = this.#deps;
    const { sandboxId } = this.#client.grant;
    const connection = await this.#deps.service.connectionTo(await this.#held());
    if (!isRecorded) await this.#record({ request: 'forward', port });
    const leavePorts = ports.enter({ sandboxId, linkId: null, expiresAtMs: null, address: null }, cut);
    const endActivity = live.begin(sandboxId, clock.nowMs());
    const leave = (): void => {
      leavePorts();
      endActivity();
    };
    return { connection, used: () => this.#use(), leave };
  }

  #held(): Promise<Sandbox> {
    const { workspaceUuid, sandboxId } = this.#client.grant;
    return this.#deps.service.held(workspaceUuid, sandboxId);
  }

  #use(): void {
    const { live, clock } = this.#deps;
    const { sandboxId } = this.#client.grant;
    live.use(sandboxId);
    live.active(sandboxId, clock.nowMs());
  }

  async #record(details: Record<string, unknown>): Promise<void> {
    const { grant, remoteAddress, requestId } = this.#client;
    await this.#deps.audit.record({
      principal: grant.principal,
      action: SSH_ACTION,
      resource: `sandbox/${grant.sandboxId}`,
      workspaceUuid: grant.workspaceUuid,
      outcome: 'success',
      status: 101,
      remoteAddress,
      requestId,
      details: { via: 'ssh', ...details },
    });
  }
}
