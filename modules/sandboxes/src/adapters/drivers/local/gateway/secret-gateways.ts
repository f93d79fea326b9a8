import type { Socket } from 'node:net';
import type { LiveEgressRules } from '../../../../domain/egress-rules/egress-rule.ts';
import { allowsHost, ANY_NAME } from '../../../../domain/egress-hosts.ts';
import type { EgressGuard, SandboxLink } from '../egress/egress-guard.ts';
import { GatewayListener } from './gateway-listener.ts';
import type { IssueCertificate } from './host-certificates.ts';
import { SecretGateway } from './secret-gateway.ts';
import { noSteeringRules, steeringRules } from './steering-rules.ts';
import { createUpstreamLookup } from './upstream-lookup.ts';

/** Of all sandboxes together; each takes memory for TLS on both sides. */
const MAX_CONNECTIONS = 2000;

export interface SecretGatewaysOptions {
  /** The host's address on every sandbox link. */
  readonly gateway: string;
  readonly guard: EgressGuard;
  /** Loads rules into the firewall. */
  readonly load: (rules: string) => Promise<void>;
  readonly issue: IssueCertificate;
  readonly nowMs: () => number;
}

interface Steered {
  readonly link: SandboxLink;
  readonly gateway: SecretGateway;
}

/** The gateways of this machine's sandboxes that have rules for secrets, by the sandbox's address. */
export class SecretGateways {
  readonly #options: SecretGatewaysOptions;
  readonly #byAddress = new Map<string, Steered>();
  #listener: Promise<GatewayListener> | null = null;

  constructor(options: SecretGatewaysOptions) {
    this.#options = options;
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
    this.#byAddress.set(link.address, { link, gateway });
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
    this.#listener ??= GatewayListener.open(this.#options.gateway, (...connection) => this.#accept(...connection));
    const opening = this.#listener;
    return opening.catch((error: unknown) => {
      if (this.#listener === opening) this.#listener = null;
      throw error;
    });
  }

  #accept(socket: Socket, from: string, isSecure: boolean): void {
    const steered = this.#byAddress.get(from);
    let open = 0;
    for (const { gateway } of this.#byAddress.values()) open += gateway.connectionCount;
    if (steered === undefined || open >= MAX_CONNECTIONS) socket.destroy();
    else steered.gateway.accept(socket, isSecure);
  }
}

/** Under `*`, the addresses decide. */
function allowsName(allowed: readonly string[] | null, host: string): boolean {
  return allowed === null || allowed.includes(ANY_NAME) || allowsHost(allowed, host);
}
