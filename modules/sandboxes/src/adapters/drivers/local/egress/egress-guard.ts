import { Resolver } from 'node:dns/promises';
import type { Logger } from '@svc/telemetry';
import { allowsHost } from '../../../../domain/egress-hosts.ts';
import { answerTo, DnsCode, DnsType, parseQuestion } from './dns-message.ts';
import { EgressResolver } from './egress-resolver.ts';
import { openingRules, questionRules } from './egress-rules.ts';

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

export interface GuardedSandbox {
  readonly id: string;
  readonly interfaceName: string;
  readonly address: string;
  readonly allowed: readonly string[];
}

interface Watched extends GuardedSandbox {
  /** Expiry of each open address. */
  readonly openUntilMs: Map<string, number>;
  readonly reportedAtMs: Map<string, number>;
  questions: number;
}

/**
 * Answers DNS queries of restricted sandboxes and opens the answered addresses in the firewall, before the answer is
 * sent.
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
    // The address exists only once a sandbox has it on its link, so the first sandbox opens the socket.
    this.#socket ??= EgressResolver.open(this.#options.gateway, (message, from) => this.#answer(message, from));
    const opening = this.#socket;
    const { port } = await opening.catch((error: unknown) => {
      if (this.#socket === opening) this.#socket = null;
      throw error;
    });
    const { gateway, nameservers, load } = this.#options;
    this.release(sandbox.id);
    const { interfaceName, address } = sandbox;
    await load(questionRules({ interfaceName, address, resolvers: [gateway, ...nameservers], port }));
    this.#byAddress.set(address, { ...sandbox, openUntilMs: new Map(), reportedAtMs: new Map(), questions: 0 });
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

  async #answer(message: Buffer, from: string): Promise<Buffer | null> {
    const sandbox = this.#byAddress.get(from);
    const question = parseQuestion(message);
    if (sandbox === undefined || question === null || sandbox.questions >= MAX_QUESTIONS_AT_ONCE) return null;
    if (!allowsHost(sandbox.allowed, question.name)) {
      this.#reportRefusal(sandbox, question.name);
      return answerTo(question, DnsCode.nameError);
    }
    // Sandboxes have IPv4 only, and records with additional addresses would name closed ones.
    if (question.type !== DnsType.a) return answerTo(question, DnsCode.noError);
    sandbox.questions += 1;
    try {
      const found = (await this.#resolver.resolve4(question.name, { ttl: true })).slice(0, MAX_ADDRESSES);
      const ttlSeconds = ttlOf(found);
      const addresses = found.map(({ address }) => address);
      await this.#open(sandbox, addresses, ttlSeconds);
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
