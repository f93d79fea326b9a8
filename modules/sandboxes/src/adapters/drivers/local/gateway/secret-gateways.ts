import type { Socket } from 'node:net';
import { Shares } from '@svc/runtime';
import type { LiveEgressRules } from '../../../../domain/egress-rules/egress-rule.ts';
import { allowsHost, ANY_NAME } from '../../../../domain/egress-hosts.ts';
import type { EgressGuard, SandboxLink } from '../egress/egress-guard.ts';
import { GatewayListener } from './gateway-listener.ts';
import type { IssueCertificate } from './host-certificates.ts';
import { SecretGateway } from './secret-gateway.ts';
import { noSteeringRules, steeringRules } from './steering-rules.ts';
import { createUpstreamLookup } from './upstream-lookup.ts';

/** Of all sandboxes together, of which each workspace and owner has a share; each takes memory for TLS on both sides. */
const MAX_CONNECTIONS = 2000;

export interface SecretGatewaysOptions {
  /** The host's address on every sandbox link. */
  readonly gateway: string;
  readonly guard: Pick<EgressGuard, 'allowedTargets' | 'openPort' | 'resolveFor' | 'resolvers' | 'steer'>;
  /** Loads rules into the firewall. */
  readonly load: (rules: string) => Promise<void>;
  readonly issue: IssueCertificate;
  readonly nowMs: () => number;
  /** The owner of a workspace, all of whose workspaces have one share. */
  readonly shareOf: (workspaceUuid: string) => string;
  /** Defaults to 2,000. */
  readonly maxConnections?: number;
}

interface Steered {
  readonly link: SandboxLink;
  readonly workspaceUuid: string;
  readonly gateway: SecretGateway;
}

/** The gateways of this machine's sandboxes that have rules for secrets, by the sandbox's address. */
export class SecretGateways {
  readonly #options: SecretGatewaysOptions;
  readonly #byAddress = new Map<string, Steered>();
  readonly #shares: Shares;
  #listener: Promise<GatewayListener> | null = null;

  constructor(options: SecretGatewaysOptions) {
    this.#options = options;
    const { maxConnections: capacity = MAX_CONNECTIONS, shareOf } = options;
    this.#shares = new Shares({ capacity, groupOf: shareOf, holders: { key: 'workspace', group: 'owner' } });
  }

  /** Applies rules to a running sandbox. Its queries are answered, and its connections led here, from then on. */
  async apply(link: SandboxLink, live: LiveEgressRules): Promise<void> {
    const known = this.#byAddress.get(link.address);
    if (known?.link.id === link.id && known.gateway.authority.cert === live.authority.cert) {
      known.gateway.update(live.rules);
      this.#options.guard.steer(link, known.gateway.hosts);
      return;
    }
    known?.gateway.close();
    await this.#begin(link, live);
  }

  async #begin(link: SandboxLink, live: LiveEgressRules): Promise<void> {
    const { gateway: address, guard, load, issue, nowMs } = this.#options;
    const { securePort, plainPort } = await this.#open();
    const port = await guard.openPort();
    const lookup = createUpstreamLookup((host) => guard.resolveFor(link, host));
    const isAllowed = (host: string): boolean => allowsName(guard.allowedTargets(link), host);
    const gateway = new SecretGateway({ ...live, isAllowed, issue, lookup, nowMs });
    this.#byAddress.set(link.address, { link, workspaceUuid: live.workspaceUuid, gateway });
    const questions = guard.allowedTargets(link) === null ? { resolvers: guard.resolvers, port } : null;
    guard.steer(link, gateway.hosts);
    try {
      await load(steeringRules({ ...link, gateway: address, securePort, plainPort, questions }));
    } catch (error) {
      this.#byAddress.delete(link.address);
      gateway.close();
      throw error;
    }
  }

  /** Ends the connections of a sandbox whose allowlist has changed. Programs open those that are still allowed again. */
  cut(sandboxId: string): void {
    for (const { link, gateway } of this.#byAddress.values()) if (link.id === sandboxId) gateway.cut();
  }

  /** Ends what is added to a sandbox's requests, and its connections to hosts with a rule. */
  async release(sandboxId: string): Promise<void> {
    for (const [address, { link, gateway }] of this.#byAddress) {
      if (link.id !== sandboxId) continue;
      this.#byAddress.delete(address);
      gateway.close();
      await this.#options.load(noSteeringRules(link.interfaceName));
    }
  }

  /** Leaves the firewall as it is, so that names with a rule lead nowhere until they are served again. */
  async close(): Promise<void> {
    for (const { gateway } of this.#byAddress.values()) gateway.close();
    this.#byAddress.clear();
    const listener = this.#listener;
    this.#listener = null;
    await listener?.then(
      (opened) => opened.close(),
      () => undefined,
    );
  }

  /** The address exists only once a sandbox has it on its link. */
  async #open(): Promise<GatewayListener> {
    this.#listener ??= GatewayListener.open(this.#options.gateway, (...connection) => this.accept(...connection));
    const opening = this.#listener;
    return opening.catch((error: unknown) => {
      if (this.#listener === opening) this.#listener = null;
      throw error;
    });
  }

  /** Takes an accepted connection from the address of a sandbox; closes it beyond the share of the workspace. */
  accept(socket: Socket, from: string, isSecure: boolean): void {
    const steered = this.#byAddress.get(from);
    const share = steered === undefined ? null : this.#shares.take(steered.workspaceUuid);
    if (steered === undefined || share === null || share.refusal !== null) {
      socket.destroy();
      return;
    }
    socket.once('close', share.release);
    steered.gateway.accept(socket, isSecure);
  }
}

/** Under `*`, the addresses decide. */
function allowsName(allowed: readonly string[] | null, host: string): boolean {
  return allowed === null || allowed.includes(ANY_NAME) || allowsHost(allowed, host);
}
