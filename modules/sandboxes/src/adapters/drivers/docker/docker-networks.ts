import { existsSync } from 'node:fs';
import type { Logger } from '@svc/telemetry';
import { runTool } from '../../images/run-tool.ts';
import { firewallRules, withoutTable } from '../local/firewall-rules.ts';
import { hostNameservers } from '../local/nameservers.ts';
import { findProgram } from '../local/requirements.ts';
import { asFields, EngineRefusal, isMissing, type EngineClient } from './engine-client.ts';
import { engineName, filterByOwner, OWNER_LABEL, SANDBOX_LABEL, SLOT_LABEL } from './names.ts';

/** Names of earlier versions, the same for all platforms of a machine: each start replaced the rules of the others. */
const FORMER = { interfaceStart: 'svcsd', table: 'svc_sandboxes_docker' };
/** Length of the prefix of the owner's id in names. An interface's name has at most 15 characters, 5 of them for the slot. */
const OWNER_CHARACTERS = 5;
/** Networks of four addresses in a range of 65,536; the first is not used. */
const SLOTS = 16_383;
const MAX_ATTEMPTS = 20;
const TOOL_LIMIT_MS = 20_000;
const BRIDGE_OPTION = 'com.docker.network.bridge.name';

export interface NetworkOptions {
  readonly client: EngineClient;
  readonly owner: string;
  /** The first two numbers of the IPv4 range, such as `100.97`. */
  readonly addressPrefix: string;
  /** Resolvers for sandboxes; defaults to the host's when empty. */
  readonly nameservers: readonly string[];
  /** A network of the operator, who is responsible for what it reaches; null for a dedicated network per sandbox. */
  readonly network: string | null;
  readonly log: Logger;
}

/** Network support for sandboxes, determined once. */
export interface Egress {
  /** Why egress is not available; null if it is. */
  readonly reason: string | null;
  readonly nameservers: readonly string[];
}

/**
 * Creates one network for each sandbox with egress: a dedicated bridge with two addresses, so that no neighbour shares
 * the link and outgoing traffic passes this host's firewall. That requires the engine to run on this host.
 */
export class DockerNetworks {
  readonly #options: NetworkOptions;
  #egress: Egress = { reason: 'not started', nameservers: [] };
  #next = 0;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** Loads the firewall, or determines why egress is not available. */
  async open(signal: AbortSignal): Promise<Egress> {
    const { network } = this.#options;
    const nameservers = this.#options.nameservers.length > 0 ? this.#options.nameservers : await hostNameservers();
    const reason = network === null ? await this.#loadFirewall(nameservers, signal) : null;
    if (network === null && reason === null) await this.#sweep(signal);
    this.#egress = { reason, nameservers };
    this.#next = Number.parseInt(this.#options.owner.slice(0, 4), 16) % SLOTS; // different start per platform
    return this.#egress;
  }

  /** Removes the firewall of a platform that has no networks. A table that could not be removed matches nothing. */
  async close(): Promise<void> {
    const { owner, network, log } = this.#options;
    if (network !== null || this.#egress.reason !== null) return;
    const signal = AbortSignal.timeout(TOOL_LIMIT_MS);
    try {
      const networks = await this.#networks(filterByOwner(owner), signal);
      if (networks.length === 0) await this.#nft(withoutTable(firewallTable(owner)), signal);
    } catch (error) {
      log.warn({ err: error }, 'the firewall table was not removed');
    }
  }

  get nameservers(): readonly string[] {
    return this.#egress.nameservers;
  }

  /** Returns the name of the sandbox's network, creating it if needed. */
  async provide(id: string, signal: AbortSignal): Promise<string> {
    const { client, owner, network } = this.#options;
    if (this.#egress.reason !== null) throw new Error(`network egress is not available: ${this.#egress.reason}`);
    if (network !== null) return network;
    const name = engineName(owner, id);
    const present = await client.json('GET', `/networks/${name}`, { signal }).catch(nullIfMissing);
    if (present !== null) return name;
    for (let attempt = 1; ; attempt += 1) {
      const slot = await this.#freeSlot(signal);
      try {
        await client.json('POST', '/networks/create', { body: this.#request(name, id, slot), signal });
        break;
      } catch (error) {
        // Another platform took the slot meanwhile, or it overlaps with a network of the host.
        // The engine's status for it differs between versions (400, 403, 409, 500), and it has no code.
        const taken = error instanceof EngineRefusal && /overlap|conflict|exists|in use/i.test(error.message);
        if (!taken || attempt === MAX_ATTEMPTS) throw error;
      }
    }
    await this.#assertHere(name, signal);
    return name;
  }

  /** `name`: the sandbox's name in the engine, which its network shares. */
  async remove(name: string, signal: AbortSignal): Promise<void> {
    const { client, network } = this.#options;
    if (network !== null) return;
    await client.json('DELETE', `/networks/${name}`, { signal }).catch(nullIfMissing);
  }

  /** The bridge must be on this host; elsewhere our firewall would not apply. */
  async #assertHere(name: string, signal: AbortSignal): Promise<void> {
    const { client } = this.#options;
    const { Options: options } = asFields(await client.json('GET', `/networks/${name}`, { signal }));
    const bridge = String(asFields(options)[BRIDGE_OPTION]);
    if (existsSync(`/sys/class/net/${bridge}`)) return;
    await client.json('DELETE', `/networks/${name}`, { signal });
    throw new Error(
      'network egress is not available: the engine runs on another machine; name sandboxes.docker.network',
    );
  }

  async #freeSlot(signal: AbortSignal): Promise<number> {
    const networks = await this.#networks({ label: [SLOT_LABEL] }, signal);
    const taken = new Set(networks.map(({ labels }) => Number(labels[SLOT_LABEL])));
    for (let tried = 0; tried < SLOTS; tried += 1) {
      this.#next = (this.#next % SLOTS) + 1;
      if (!taken.has(this.#next)) return this.#next;
    }
    throw new Error('all networks of sandboxes are taken');
  }

  #request(name: string, id: string, slot: number): Readonly<Record<string, unknown>> {
    const first = slot * 4;
    const address = (last: number): string =>
      `${this.#options.addressPrefix}.${Math.floor((first + last) / 256)}.${(first + last) % 256}`;
    return {
      Name: name,
      Driver: 'bridge',
      CheckDuplicate: true,
      EnableIPv6: false,
      IPAM: { Config: [{ Subnet: `${address(0)}/30`, Gateway: address(1) }] },
      Labels: { [OWNER_LABEL]: this.#options.owner, [SANDBOX_LABEL]: id, [SLOT_LABEL]: String(slot) },
      Options: {
        [BRIDGE_OPTION]: `${interfaceStart(this.#options.owner)}${slot}`,
        'com.docker.network.bridge.enable_icc': 'false',
        'com.docker.network.bridge.enable_ip_masquerade': 'false', // done by the firewall
      },
    };
  }

  async #loadFirewall(nameservers: readonly string[], signal: AbortSignal): Promise<string | null> {
    if (process.getuid?.() !== 0) return 'the firewall needs root; start svc with sudo';
    if (findProgram('nft') === null) return 'the firewall needs nft; install it with: apt-get install -y nftables';
    const { owner, addressPrefix } = this.#options;
    const range = `${addressPrefix}.0.0/16`;
    const rules = (table: string, start: string): string =>
      firewallRules({ table, interfaces: { name: `${start}*` }, nameservers, range });
    try {
      const networks = await this.#networks({ label: [SLOT_LABEL] }, signal);
      const hasFormer = networks.some(({ bridge }) => bridge.startsWith(FORMER.interfaceStart));
      const former = hasFormer ? rules(FORMER.table, FORMER.interfaceStart) : '';
      await this.#nft(rules(firewallTable(owner), interfaceStart(owner)) + former, signal);
      return null;
    } catch (error) {
      return `the firewall was not loaded: ${error instanceof Error ? error.message : String(error)}`;
    }
  }

  async #nft(input: string, signal: AbortSignal): Promise<void> {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TOOL_LIMIT_MS)]);
    await runTool(findProgram('nft') ?? 'nft', ['-f', '-'], { input, signal: limit });
  }

  /** Removes networks without a sandbox, left by an interrupted create or remove. */
  async #sweep(signal: AbortSignal): Promise<void> {
    const { client, owner } = this.#options;
    for (const { labels } of await this.#networks(filterByOwner(owner), signal)) {
      const name = engineName(owner, String(labels[SANDBOX_LABEL]));
      const used = await client.json('GET', `/containers/${name}/json`, { signal }).catch(nullIfMissing);
      if (used === null) await this.remove(name, signal);
    }
  }

  async #networks(filters: object, signal: AbortSignal): Promise<OwnNetwork[]> {
    const found = await this.#options.client.json('GET', '/networks', { query: { filters }, signal });
    return (Array.isArray(found) ? found : []).map((each) => {
      const { Labels: labels, Options: options } = asFields(each);
      return { labels: asFields(labels), bridge: String(asFields(options)[BRIDGE_OPTION]) };
    });
  }
}

interface OwnNetwork {
  readonly labels: Readonly<Record<string, unknown>>;
  /** Name of its bridge on the host. */
  readonly bridge: string;
}

function interfaceStart(owner: string): string {
  return `svcd${owner.slice(0, OWNER_CHARACTERS)}-`;
}

function firewallTable(owner: string): string {
  return `${FORMER.table}_${owner.slice(0, OWNER_CHARACTERS)}`;
}

function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}
