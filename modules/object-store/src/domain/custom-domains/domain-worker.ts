import type { BlockList } from 'node:net';
import { isAppError } from '@svc/errors';
import { BackgroundLoop, type Clock, TokenBucket } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import {
  certificateContext,
  type CertificateAuthority,
  type DomainRecord,
  type DomainResolver,
  type DomainState,
} from '../ports/custom-domains.ts';
import type { DomainCommands, DomainQueries } from '../ports/custom-domains.ts';
import type { WorkLeaseCommands } from '../ports/work-leases.ts';
import type { KeyRing } from '../secrets/key-ring.ts';
import { checkCname } from './check-cname.ts';
import type { DomainDirectory } from './domain-directory.ts';
import { afterCheck, afterIssue, afterRefusal, factsOf, scheduleOf, wantsCertificate } from './domain-state.ts';

export interface DomainWorkerOptions {
  metadata: DomainCommands & DomainQueries & WorkLeaseCommands;
  resolver: DomainResolver;
  /** Null if the platform issues no certificates and TLS ends before it. */
  authority: CertificateAuthority | null;
  secrets: Pick<KeyRing, 'seal'>;
  directory: DomainDirectory;
  proxies: BlockList;
  targetOf: (bucketId: number) => string;
  ordersPerHour: number;
  clock: Clock;
  log: Logger;
}

const POLL_MS = 5_000;
const BATCH = 8;
/** Longer than a check and an order can take together. */
const LEASE_MS = 300_000;
const ORDER_TIMEOUT_MS = 180_000;
/** Delay for an order that exceeds the hourly limit. */
const ORDER_LATER_MS = 60_000;

/** Advances domains when they are due. A lease keeps other replicas away from a domain in progress. */
export class DomainWorker {
  readonly #options: DomainWorkerOptions;
  readonly #orders: TokenBucket;
  readonly #loop: BackgroundLoop;

  constructor(options: DomainWorkerOptions) {
    this.#options = options;
    const { ordersPerHour, clock, log } = options;
    this.#orders = new TokenBucket({ perMinute: ordersPerHour / 60, burst: ordersPerHour }, clock.nowMs());
    this.#loop = new BackgroundLoop({
      run: (signal) => this.round(signal),
      intervalMs: POLL_MS,
      runsAtStart: true,
      onError: (error, signal) => {
        if (!signal.aborted) log.error({ err: error }, 'checking custom domains failed');
      },
    });
  }

  get needsCertificate(): boolean {
    return this.#options.authority !== null;
  }

  /** Starts the next round now. */
  wake(): void {
    this.#loop.wake();
  }

  /** Runs until the signal aborts. Logs a failed round and tries again in the next one. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#loop.runUntil(signal);
  }

  /** Processes everything that is due. */
  async round(signal: AbortSignal): Promise<void> {
    const { metadata, clock } = this.#options;
    while (!signal.aborted) {
      const nowMs = clock.nowMs();
      const due = await metadata.claimDueDomains({ nowMs, leaseUntilMs: nowMs + LEASE_MS, limit: BATCH });
      await Promise.all(due.map((record) => this.#guarded(record, signal)));
      if (due.length < BATCH) return;
    }
  }

  /** Checks DNS now. Any resulting work is left to the next round, which starts at once. */
  async checkNow(hostname: string, checkedBeforeMs: number): Promise<void> {
    const { metadata, clock } = this.#options;
    const nowMs = clock.nowMs();
    const claim = { hostname, nowMs, leaseUntilMs: nowMs + LEASE_MS, checkedBeforeMs };
    const record = await metadata.claimDomain(claim);
    if (record === null) return;
    await this.#check(record, 0);
    this.wake();
  }

  /** Whether the CNAME of a host points to this bucket. */
  async leadsTo(hostname: string, bucketId: number): Promise<boolean> {
    const { resolver, proxies, targetOf } = this.#options;
    const finding = await checkCname(hostname, targetOf(bucketId), resolver, proxies);
    return finding.kind === 'answered' && finding.status === 'ok';
  }

  async #guarded(record: DomainRecord, signal: AbortSignal): Promise<void> {
    try {
      await this.#advance(record, signal);
    } catch (error) {
      // The lease expires and the domain is retried.
      if (!signal.aborted) this.#options.log.error({ err: error, hostname: record.hostname }, 'a domain check failed');
    }
  }

  async #advance(record: DomainRecord, signal: AbortSignal): Promise<void> {
    const { clock, authority } = this.#options;
    const checked = await this.#check(record, clock.nowMs() + LEASE_MS);
    if (checked === null) return;
    if (authority === null || !wantsCertificate(checked.state, this.#factsOf(checked))) {
      await this.#save(checked, checked.state, 0);
    } else if (this.#orders.take(clock.nowMs())) {
      await this.#order(checked, authority, signal);
    } else {
      await this.#save(checked, { ...checked.state, orderAfterMs: clock.nowMs() + ORDER_LATER_MS }, 0);
    }
  }

  async #check(record: DomainRecord, leaseUntilMs: number): Promise<DomainRecord | null> {
    const { resolver, proxies, targetOf } = this.#options;
    const finding = await checkCname(record.hostname, targetOf(record.bucketId), resolver, proxies);
    return await this.#save(record, afterCheck(record.state, finding, this.#factsOf(record)), leaseUntilMs);
  }

  async #order(record: DomainRecord, authority: CertificateAuthority, signal: AbortSignal): Promise<void> {
    const { metadata, secrets, clock, log } = this.#options;
    const { hostname, bucketId } = record;
    try {
      const issued = await authority.issue(hostname, AbortSignal.any([signal, AbortSignal.timeout(ORDER_TIMEOUT_MS)]));
      const { chain, privateKey, ...dates } = issued;
      const sealedKey = await secrets.seal(privateKey, certificateContext(hostname));
      const certificate = { ...dates, issuedAtMs: clock.nowMs() };
      if (!(await metadata.saveCertificate({ hostname, bucketId, chain, sealedKey, ...certificate }))) return;
      const holding = { ...record, certificate };
      await this.#save(holding, afterIssue(record.state, this.#factsOf(holding)), 0);
      log.info({ hostname, not_after: new Date(dates.notAfterMs).toISOString() }, 'certificate issued');
    } catch (error) {
      if (signal.aborted) throw error; // the platform is stopping; the order did not fail
      log.warn({ err: error, hostname }, 'no certificate was issued');
      await this.#save(record, afterRefusal(record.state, describeRefusal(error), this.#factsOf(record)), 0);
    }
  }

  async #save(record: DomainRecord, state: DomainState, leaseUntilMs: number): Promise<DomainRecord | null> {
    const { metadata, directory, log } = this.#options;
    const { hostname, revision } = record;
    const schedule = scheduleOf(state, this.#factsOf(record));
    const saved = await metadata.saveDomainState({ hostname, revision, state, schedule, leaseUntilMs });
    directory.forget(hostname);
    if (saved !== null && state.status !== record.state.status) {
      log.info({ hostname, from: record.state.status, to: state.status, error: state.error?.code }, 'domain moved');
    }
    return saved;
  }

  #factsOf(record: DomainRecord): ReturnType<typeof factsOf> {
    return factsOf(record, this.#options.clock.nowMs(), this.needsCertificate);
  }
}

function describeRefusal(error: unknown): { code: string; message: string } {
  if (!isAppError(error)) return { code: 'issuance_failed', message: 'No certificate could be had' };
  const { problem } = error.details;
  return { code: typeof problem === 'string' ? problem : 'issuance_failed', message: error.message };
}
