import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { accessErrors, confirmAccess, createGrantedRight, type Access, type GrantedAccess } from '@svc/access';
import { httpErrors, type UpgradeRequest, type UpgradeRoute } from '@svc/http';
import { SANDBOX } from '../domain/holder.ts';
import { HeldSandbox, type EnteredSandbox, type HeldSandboxDeps } from './held-sandbox.ts';
import { channelOfPath, RELAY_PROTOCOL, sandboxOfPath, type RelayedChannel } from './relay-path.ts';
import { SSH_ACTION } from './ssh-login.ts';
import { StreamRelay } from './stream-relay.ts';

const KEEP_ALIVE_MS = 30_000;
const ACCEPTED = `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${RELAY_PROTOCOL}\r\n\r\n`;

export interface SshRelaysDeps extends HeldSandboxDeps {
  readonly access: Access;
}

/** Serves channels of SSH connections that clients have with other replicas. Only replicas reach it. */
export class SshRelays implements UpgradeRoute {
  readonly name = 'ssh';
  readonly hold = 'required';
  readonly forwards = true;
  readonly #deps: SshRelaysDeps;
  readonly #open = new Set<Duplex>();

  constructor(deps: SshRelaysDeps) {
    this.#deps = deps;
  }

  matches(_request: UpgradeRequest['request'], url: URL): boolean {
    return sandboxOfPath(url) !== null;
  }

  async handle(upgrade: UpgradeRequest): Promise<void> {
    const { url, hop, socket, head } = upgrade;
    const sandboxId = sandboxOfPath(url);
    const channel = channelOfPath(url);
    const granted = hop?.granted ?? null;
    if (granted === null || sandboxId === null || channel === null) throw httpErrors.NOT_FOUND();
    const left = new AbortController();
    socket.once('close', () => left.abort());
    const held = await this.#authorize(upgrade, sandboxId, granted);
    const entered = await enter(held, channel, socket, left.signal);
    if (socket.destroyed) {
      entered.leave();
      return;
    }
    if (socket instanceof Socket) socket.setTimeout(0).setNoDelay(true).setKeepAlive(true, KEEP_ALIVE_MS);
    socket.write(ACCEPTED);
    if (head.length > 0) socket.unshift(head);
    this.#open.add(socket);
    void new StreamRelay(socket, entered, channel).run().finally(() => {
      this.#open.delete(socket);
      entered.leave();
    });
  }

  drain(): void {
    for (const socket of this.#open) socket.destroy();
  }

  /** The login was at the other replica, so its credential is confirmed instead of shown again. */
  async #authorize(upgrade: UpgradeRequest, sandboxId: string, granted: GrantedAccess): Promise<HeldSandbox> {
    const { access, clock } = this.#deps;
    const { hold, forward, requestId, client } = upgrade;
    const askedAtMs = clock.nowMs();
    if (granted.action !== SSH_ACTION || granted.grant === null) throw accessErrors.FORBIDDEN();
    const principal = await confirmAccess(access, granted);
    const { workspaceUuid } = granted.grant;
    const right = createGrantedRight(access, granted, askedAtMs);
    hold(right);
    await forward({ kind: SANDBOX, id: sandboxId, workspaceUuid }, granted); // stays here, if it is what was stated
    const grant = { principal, granted, right, workspaceUuid, sandboxId };
    return new HeldSandbox(this.#deps, { grant, remoteAddress: client.remoteAddress, requestId });
  }
}

function enter(
  held: HeldSandbox,
  channel: RelayedChannel,
  socket: Duplex,
  signal: AbortSignal,
): Promise<EnteredSandbox> {
  if (channel.kind !== 'port') return held.enter(channel.kind, signal);
  return held.enterPort(channel.port, channel.isRecorded, () => socket.destroy());
}
