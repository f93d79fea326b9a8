import { Resolver } from 'node:dns/promises';
import type { Logger } from '@svc/telemetry';
import { allowsHost, ANY_NAME } from '../../../../domain/egress-hosts.ts';
import { includesAddress, rangesOf } from '../../../../domain/egress-ranges.ts';
import { answerTo, DnsCode, DnsType, parseQuestion, type DnsQuestion } from './dns-message.ts';
import { EgressResolver } from './egress-resolver.ts';
import { openingRules, questionRules } from './egress-rules.ts';
import { relayQuestion, type Transport } from './relay-question.ts';

const MIN_TTL_SECONDS = 5;
const MAX_TTL_SECONDS = 3600;
/** Addresses stay open slightly longer than their TTL, because programs connect after the lookup. */
const EXTRA_SECONDS = 30;
const MAX_ADDRESSES = 16;
const MAX_OPEN_ADDRESSES = 2000;
const MAX_QUESTIONS_AT_ONCE = 32;
/** Minimum interval between reports of the same name, and the maximum number of names reported in it. */
const REPORT_EVERY_MS = 60_000;
const MAX_REPORTED = 30;
/** Programs notice soon that a rule is gone and the host has its own address again. */
const STEERED_TTL_SECONDS = 5;
/** Answers about addresses: A, AAAA, SVCB, HTTPS, any. */
const ADDRESS_TYPES: ReadonlySet<number> = new Set([DnsType.a, 28, 64, 65, 255]);

export interface EgressGuardOptions {
  /** The host's address on every sandbox link. */
  readonly gateway: string;
  /** Upstream resolvers, with a port if it is not 53. */
  readonly nameservers: readonly string[];
  /** Loads rules into the firewall. */
  readonly load: (rules: string) => Promise<void>;
  /** Called when a sandbox asks for a name outside its allowlist. */
  readonly refused: (sandboxId: string, host: string) => void;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Where a sandbox is connected. */
export interface SandboxLink {
  readonly id: string;
  readonly interfaceName: string;
  readonly address: string;
}

export interface GuardedSandbox extends SandboxLink {
  readonly allowed: readonly string[];
}

interface Watched extends SandboxLink {
  /** Null: all hosts, and queries of every kind are relayed. */
  readonly allowed: readonly string[] | null;
  /** Hosts that resolve to the gateway's address. */
  steered: readonly string[];
  /** Expiry of each open address. */
  readonly openUntilMs: Map<string, number>;
  readonly reportedAtMs: Map<string, number>;
  questions: number;
}

/**
 * Answers DNS queries of restricted sandboxes and opens the answered addresses in the firewall, before the answer is
 * sent. Leads the hosts of sandboxes with rules for secrets to the gateway.
 */
export class EgressGuard {
  readonly #options: EgressGuardOptions;
  readonly #byAddress = new Map<string, Watched>();
  readonly #resolver = new Resolver({ timeout: 2000, tries: 2 });
  #socket: Promise<EgressResolver> | null = null;

  constructor(options: EgressGuardOptions) {
    this.#options = options;
    if (options.nameservers.length > 0) this.#resolver.setServers(options.nameservers);
  }

  /** Starts answering a sandbox's queries. Its table must exist and be closed. Calling it again starts over. */
  async admit(sandbox: GuardedSandbox): Promise<void> {
    const port = await this.openPort();
    const known = this.#byAddress.get(sandbox.address);
    const steered = known?.id === sandbox.id ? known.steered : [];
    this.release(sandbox.id);
    const { interfaceName, address } = sandbox;
    await this.#options.load(questionRules({ interfaceName, address, resolvers: this.resolvers, port }));
    this.#watch(sandbox, sandbox.allowed, steered);
  }

  /** The addresses whose queries are ours to answer. */
  get resolvers(): readonly string[] {
    return [this.#options.gateway, ...this.#options.nameservers];
  }

  /** Opens the resolver on the first call. Returns its port. */
  async openPort(): Promise<number> {
    // The address exists only once a sandbox has it on its link, so the first sandbox opens the socket.
    this.#socket ??= EgressResolver.open(this.#options.gateway, (...query) => this.#answer(...query));
    const opening = this.#socket;
    const { port } = await opening.catch((error: unknown) => {
      if (this.#socket === opening) this.#socket = null;
      throw error;
    });
    return port;
  }

  /** Leads these hosts to the gateway. The caller redirects the queries of a sandbox without an allowlist. */
  steer(link: SandboxLink, hosts: readonly string[]): void {
    const known = this.#byAddress.get(link.address);
    if (known?.id === link.id) known.steered = hosts;
    else this.#watch(link, null, hosts);
  }

  endSteering({ id, address }: SandboxLink): void {
    const known = this.#byAddress.get(address);
    if (known?.id !== id) return;
    if (known.allowed === null) this.#byAddress.delete(address);
    else known.steered = [];
  }

  /** The allowlist of a sandbox; null if it has none. */
  allowedTargets({ id, address }: SandboxLink): readonly string[] | null {
    const known = this.#byAddress.get(address);
    return known?.id === id ? known.allowed : null;
  }

  /** The addresses of a host that a sandbox may reach, as its firewall has them open. */
  async resolveFor(link: SandboxLink, host: string): Promise<readonly string[]> {
    const found = await this.#resolver.resolve4(host);
    const allowed = this.allowedTargets(link);
    if (allowed === null || allowsHost(allowed, host)) return found;
    const ranges = rangesOf(allowed);
    return found.filter((address) => includesAddress(ranges, address));
  }

  release(sandboxId: string): void {
    for (const [address, { id }] of this.#byAddress) if (id === sandboxId) this.#byAddress.delete(address);
  }

  async close(): Promise<void> {
    this.#byAddress.clear();
    this.#resolver.cancel();
    const socket = this.#socket;
    this.#socket = null;
    await socket?.then(
      (opened) => opened.close(),
      () => undefined,
    );
  }

  #watch(link: SandboxLink, allowed: readonly string[] | null, steered: readonly string[]): void {
    const { id, interfaceName, address } = link;
    const counts = { openUntilMs: new Map(), reportedAtMs: new Map(), questions: 0 };
    this.#byAddress.set(address, { id, interfaceName, address, allowed, steered, ...counts });
  }

  async #answer(message: Buffer, from: string, transport: Transport): Promise<Buffer | null> {
    const sandbox = this.#byAddress.get(from);
    if (sandbox === undefined || sandbox.questions >= MAX_QUESTIONS_AT_ONCE) return null;
    const question = parseQuestion(message);
    const { allowed } = sandbox;
    if (question === null) return allowed === null ? this.#relay(sandbox, message, transport) : null;
    if (allowed !== null && !allowsHost(allowed, question.name) && !allowed.includes(ANY_NAME)) {
      this.#reportRefusal(sandbox, question.name);
      return answerTo(question, DnsCode.nameError);
    }
    if (ADDRESS_TYPES.has(question.type) && allowsHost(sandbox.steered, question.name)) {
      const addresses = question.type === DnsType.a ? [this.#options.gateway] : [];
      return answerTo(question, DnsCode.noError, addresses, STEERED_TTL_SECONDS);
    }
    if (allowed === null) return this.#relay(sandbox, message, transport);
    // Sandboxes have IPv4 only, and records with additional addresses would name closed ones.
    if (question.type !== DnsType.a) return answerTo(question, DnsCode.noError);
    return this.#answerAllowed(sandbox, question, allowed);
  }

  /** Answers as the configured resolvers do. */
  async #relay(sandbox: Watched, message: Buffer, transport: Transport): Promise<Buffer | null> {
    sandbox.questions += 1;
    try {
      return await relayQuestion(message, this.#options.nameservers, transport);
    } finally {
      sandbox.questions -= 1;
    }
  }

  async #answerAllowed(sandbox: Watched, question: DnsQuestion, allowed: readonly string[]): Promise<Buffer> {
    const isListed = allowsHost(allowed, question.name);
    sandbox.questions += 1;
    try {
      const found = (await this.#resolver.resolve4(question.name, { ttl: true })).slice(0, MAX_ADDRESSES);
      const ttlSeconds = ttlOf(found);
      const resolved = found.map(({ address }) => address);
      const ranges = rangesOf(allowed);
      // The addresses of a listed name are open by their name, those of any other only if they are in a range.
      const addresses = isListed ? resolved : resolved.filter((each) => includesAddress(ranges, each));
      if (isListed) await this.#open(sandbox, addresses, ttlSeconds);
      return answerTo(question, DnsCode.noError, addresses, ttlSeconds);
    } catch (error) {
      return answerTo(question, codeOf(error));
    } finally {
      sandbox.questions -= 1;
    }
  }

  async #open(sandbox: Watched, addresses: readonly string[], ttlSeconds: number): Promise<void> {
    const nowMs = this.#options.nowMs();
    const { openUntilMs } = sandbox;
    const needed = addresses.filter((address) => (openUntilMs.get(address) ?? 0) < nowMs + ttlSeconds * 1000);
    if (needed.length === 0) return;
    for (const [address, until] of openUntilMs) if (until <= nowMs) openUntilMs.delete(address);
    if (openUntilMs.size + needed.length > MAX_OPEN_ADDRESSES) throw new Error('too many egress addresses are allowed');
    const seconds = ttlSeconds + EXTRA_SECONDS;
    try {
      await this.#options.load(openingRules(sandbox.interfaceName, needed, seconds));
    } catch (error) {
      this.#options.log.warn({ err: error, sandbox: sandbox.id }, 'egress addresses could not be allowed');
      throw error;
    }
    for (const address of needed) openUntilMs.set(address, nowMs + seconds * 1000);
  }

  #reportRefusal({ id, reportedAtMs }: Watched, name: string): void {
    const nowMs = this.#options.nowMs();
    for (const [each, at] of reportedAtMs) if (nowMs - at >= REPORT_EVERY_MS) reportedAtMs.delete(each);
    if (reportedAtMs.has(name) || reportedAtMs.size >= MAX_REPORTED) return;
    reportedAtMs.set(name, nowMs);
    this.#options.refused(id, name);
  }
}

function ttlOf(records: readonly { ttl: number }[]): number {
  const least = Math.min(...records.map(({ ttl }) => ttl));
  return Math.min(MAX_TTL_SECONDS, Math.max(MIN_TTL_SECONDS, Number.isFinite(least) ? least : 0));
}

function codeOf(error: unknown): number {
  const code = error instanceof Error && 'code' in error ? error.code : '';
  if (code === 'ENOTFOUND') return DnsCode.nameError;
  return code === 'ENODATA' ? DnsCode.noError : DnsCode.serverFailure;
}
