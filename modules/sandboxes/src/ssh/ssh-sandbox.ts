import type { Duplex } from 'node:stream';
import { isAppError, type AppError } from '@svc/errors';
import type { Forwarding } from '@svc/http';
import { sandboxErrors } from '../errors.ts';
import { HelperConnection } from '../domain/helper/helper-connection.ts';
import { SANDBOX } from '../domain/holder.ts';
import { PortSocket } from '../domain/preview/port-socket.ts';
import type { Sandbox } from '../domain/sandbox.ts';
import {
  HeldSandbox,
  type EnteredSandbox,
  type HeldSandboxDeps,
  type SessionKind,
  type SshClient,
} from './held-sandbox.ts';
import { RELAY_PROTOCOL, relayPath, type RelayedChannel } from './relay-path.ts';

export interface SshSandboxDeps extends HeldSandboxDeps {
  readonly forwarding: Forwarding;
}

/** A sandbox in use by a session. */
export interface EnteredSession extends EnteredSandbox {
  readonly sandbox: Sandbox;
}

/** A forwarded connection. */
export interface DialedPort extends Pick<EnteredSandbox, 'used' | 'leave'> {
  readonly socket: PortSocket;
}

/** The sandbox of one connection, on this node or at another replica. */
export class SshSandbox {
  readonly #deps: SshSandboxDeps;
  readonly #client: SshClient;
  readonly #held: HeldSandbox;
  readonly #refusal: AppError | null;
  readonly #recordedPorts = new Set<number>();

  /** `refusal`: why the client may use nothing of it. */
  constructor(deps: SshSandboxDeps, client: SshClient, refusal: AppError | null) {
    this.#deps = deps;
    this.#client = client;
    this.#held = new HeldSandbox(deps, client);
    this.#refusal = refusal;
  }

  /**
   * Waits for a sandbox that is being created. Throws SANDBOX_NOT_FOUND, SANDBOX_ELSEWHERE, SANDBOX_NOT_RUNNING,
   * RATE_LIMITED, TOO_MANY_TERMINALS, QUOTA_EXCEEDED, REPLICA_UNREACHABLE and TOO_MANY_CONNECTIONS.
   */
  async enter(kind: SessionKind, signal: AbortSignal): Promise<EnteredSession> {
    if (this.#refusal !== null) throw this.#refusal;
    const entered = (await this.#enterElsewhere({ kind }, signal)) ?? (await this.#held.enter(kind, signal));
    try {
      return { ...entered, sandbox: await this.#deps.service.byId(this.#client.grant.sandboxId) };
    } catch (error) {
      entered.leave();
      throw error;
    }
  }

  /**
   * Connects to a port inside; `cut` is called if the connection must end. Throws as `enter`, except for the limits of
   * terminals, and PREVIEW_BUSY and PORT_UNREACHABLE.
   */
  async dial(port: number, cut: () => void, signal: AbortSignal): Promise<DialedPort> {
    if (this.#refusal !== null) throw this.#refusal;
    const isRecorded = this.#recordedPorts.has(port);
    const elsewhere = await this.#enterElsewhere({ kind: 'port', port, isRecorded }, signal);
    const { connection, used, leave } = elsewhere ?? (await this.#held.enterPort(port, isRecorded, cut));
    this.#recordedPorts.add(port);
    try {
      return { socket: await PortSocket.open(connection, port, signal), used, leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Null if this node has the sandbox, or no replica that can be reached. */
  async #enterElsewhere(channel: RelayedChannel, signal: AbortSignal): Promise<EnteredSandbox | null> {
    const socket = await this.#connect(channel, signal);
    if (socket === null) return null;
    const connection = await HelperConnection.over(socket, signal);
    // The other replica records what is used.
    return { connection, used: () => undefined, leave: () => void connection.close() };
  }

  async #connect(channel: RelayedChannel, signal: AbortSignal): Promise<Duplex | null> {
    const { grant, requestId, remoteAddress } = this.#client;
    const { sandboxId: id, workspaceUuid, granted } = grant;
    const owned = { kind: SANDBOX, id, workspaceUuid };
    const client = { remoteAddress, isSecure: true };
    const connection = { path: relayPath(id, channel), protocol: RELAY_PROTOCOL, signal };
    try {
      return await this.#deps.forwarding.connect(connection, { owned, granted, requestId, client });
    } catch (error) {
      if (!isAppError(error) || error.code !== 'NOT_FOUND') throw error;
      const remedy = 'its replica runs a version that SSH cannot be forwarded to; upgrade it';
      throw sandboxErrors.SANDBOX_ELSEWHERE({ details: { node: 'another replica', remedy } });
    }
  }
}
