import type {
  CertificateFacts,
  DomainRecord,
  DomainSchedule,
  DomainState,
  DnsStatus,
} from '../ports/custom-domains.ts';
import type { DnsFinding } from './check-cname.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

const FIRST_CHECK_MS = 15 * SECOND_MS;
const SLOWEST_CHECK_MS = HOUR_MS;
const GIVE_UP_MS = 7 * DAY_MS;
/** How long a domain keeps serving after its CNAME disappears, to allow for repairs of name servers. */
const KEEP_SERVING_MS = 72 * HOUR_MS;
const FIRST_ORDER_RETRY_MS = 60 * SECOND_MS;
const SLOWEST_ORDER_RETRY_MS = DAY_MS;
/** Minimum interval between renewals, whatever the certificate's dates. */
const RENEW_AT_MOST_EVERY_MS = DAY_MS;
const FOREVER_MS = Number.MAX_SAFE_INTEGER;

/** Facts that decide a domain's state, besides its current state. */
export interface DomainFacts {
  createdAtMs: number;
  nowMs: number;
  certificate: CertificateFacts | null;
  /** False if the platform issues no certificates: then a domain needs only its CNAME. */
  needsCertificate: boolean;
}

export function newDomainState(): DomainState {
  return {
    status: 'pending',
    dns: { status: 'missing', observed: [] },
    ssl: 'initializing',
    verifiedAtMs: null,
    activatedAtMs: null,
    lastCheckedAtMs: null,
    lostAtMs: null,
    checkFailures: 0,
    orderFailures: 0,
    orderAfterMs: 0,
    error: null,
  };
}

export function factsOf(record: DomainRecord, nowMs: number, needsCertificate: boolean): DomainFacts {
  return { createdAtMs: record.createdAtMs, certificate: record.certificate, nowMs, needsCertificate };
}

/** The state after a DNS check. */
export function afterCheck(state: DomainState, finding: DnsFinding, facts: DomainFacts): DomainState {
  const checked = { ...state, lastCheckedAtMs: facts.nowMs };
  if (finding.kind === 'unanswered') return { ...checked, checkFailures: state.checkFailures + 1 };
  const dns = { status: finding.status, observed: finding.observed };
  return finding.status === 'ok'
    ? withGoodCname({ ...checked, dns }, facts)
    : withoutCname({ ...checked, dns }, finding.status, facts);
}

/** The state after a certificate was issued. */
export function afterIssue(state: DomainState, facts: DomainFacts): DomainState {
  return { ...activated(state, facts), ssl: 'active', orderFailures: 0, orderAfterMs: 0, error: null };
}

/** The state after a failed order. A certificate that is still valid keeps serving. */
export function afterRefusal(
  state: DomainState,
  error: { code: string; message: string },
  facts: DomainFacts,
): DomainState {
  const orderFailures = state.orderFailures + 1;
  const waitMs = Math.min(SLOWEST_ORDER_RETRY_MS, FIRST_ORDER_RETRY_MS * 2 ** Math.min(orderFailures - 1, 20));
  const failed = { ...state, orderFailures, orderAfterMs: facts.nowMs + waitMs, error };
  return hasGoodCertificate(facts) ? failed : { ...failed, status: 'error', ssl: 'error' };
}

/** Whether to order a certificate now. */
export function wantsCertificate(state: DomainState, facts: DomainFacts): boolean {
  if (!facts.needsCertificate || state.dns.status !== 'ok' || facts.nowMs < state.orderAfterMs) return false;
  return facts.certificate === null || facts.nowMs >= renewalAt(facts.certificate);
}

export function scheduleOf(state: DomainState, facts: DomainFacts): DomainSchedule {
  return {
    nextCheckAtMs: nextCheckAt(state, facts),
    claimUntilMs: state.verifiedAtMs === null ? facts.createdAtMs + GIVE_UP_MS : later(state.lostAtMs, GIVE_UP_MS),
    servedUntilMs: servedUntil(state),
  };
}

function withGoodCname(state: DomainState, facts: DomainFacts): DomainState {
  const found = { ...state, verifiedAtMs: state.verifiedAtMs ?? facts.nowMs, lostAtMs: null, checkFailures: 0 };
  if (!facts.needsCertificate) return { ...activated(found, facts), ssl: 'deactivated', error: null };
  if (hasGoodCertificate(facts)) {
    const error = found.orderFailures > 0 ? found.error : null; // keep showing a failed renewal
    return { ...activated(found, facts), ssl: 'active', error };
  }
  if (found.orderFailures > 0 && facts.nowMs < found.orderAfterMs) {
    const error = found.ssl === 'error' ? found.error : certificateExpired();
    return { ...found, status: 'error', ssl: 'error', error };
  }
  return { ...found, status: 'verifying', ssl: 'pending', error: null };
}

function withoutCname(state: DomainState, status: Exclude<DnsStatus, 'ok'>, facts: DomainFacts): DomainState {
  const wasVerified = state.verifiedAtMs !== null;
  const lostAtMs = wasVerified ? (state.lostAtMs ?? facts.nowMs) : null;
  const missed = { ...state, lostAtMs, checkFailures: state.checkFailures + 1 };
  const ssl = servedUntil(missed) > facts.nowMs ? missed.ssl : wasVerified ? 'deactivated' : 'initializing';
  if (facts.nowMs >= (lostAtMs ?? facts.createdAtMs) + GIVE_UP_MS) {
    const message = 'The CNAME was not found for 7 days; ask for the status to have it looked for again';
    return { ...missed, ssl, status: 'error', error: { code: 'verification_timeout', message } };
  }
  const error = dnsError(status, wasVerified);
  return { ...missed, ssl, status: wasVerified || status === 'proxied' ? 'error' : 'pending', error };
}

function dnsError(status: Exclude<DnsStatus, 'ok'>, wasVerified: boolean): DomainState['error'] {
  if (status === 'proxied') {
    return { code: 'proxied', message: 'A proxy answers for this name; set the record to DNS only' };
  }
  if (wasVerified)
    return { code: 'cname_lost', message: 'The CNAME that was there does not lead to the bucket any more' };
  if (status === 'missing') return null;
  return { code: 'cname_mismatch', message: 'The name leads somewhere else; a CNAME to the target is needed' };
}

function certificateExpired(): { code: string; message: string } {
  return { code: 'certificate_expired', message: 'The certificate has expired and could not be renewed' };
}

function activated(state: DomainState, facts: DomainFacts): DomainState {
  return { ...state, status: 'active', activatedAtMs: state.activatedAtMs ?? facts.nowMs };
}

function hasGoodCertificate({ certificate, nowMs }: DomainFacts): boolean {
  return certificate !== null && nowMs < certificate.notAfterMs;
}

/** At two thirds of its lifetime, as Let's Encrypt recommends. */
function renewalAt({ notBeforeMs, notAfterMs, issuedAtMs }: CertificateFacts): number {
  const lifeMs = notAfterMs - notBeforeMs;
  return Math.max(notBeforeMs + (lifeMs * 2) / 3, issuedAtMs + Math.min(RENEW_AT_MOST_EVERY_MS, lifeMs / 2));
}

function nextCheckAt(state: DomainState, facts: DomainFacts): number | null {
  const { nowMs, certificate, needsCertificate } = facts;
  if (state.error?.code === 'verification_timeout') return null;
  if (state.dns.status !== 'ok' || state.checkFailures > 0) {
    const doublings = Math.min(Math.max(state.checkFailures - 1, 0), 20);
    return nowMs + Math.min(SLOWEST_CHECK_MS, FIRST_CHECK_MS * 2 ** doublings);
  }
  const wantedAtMs = certificate === null ? nowMs : renewalAt(certificate);
  const orderAtMs = needsCertificate ? Math.max(nowMs, wantedAtMs, state.orderAfterMs) : FOREVER_MS;
  return Math.round(Math.min(nowMs + SLOWEST_CHECK_MS, orderAtMs));
}

function servedUntil(state: DomainState): number {
  if (state.activatedAtMs === null) return 0;
  return later(state.lostAtMs, KEEP_SERVING_MS) ?? FOREVER_MS;
}

function later(timeMs: number | null, byMs: number): number | null {
  return timeMs === null ? null : timeMs + byMs;
}
