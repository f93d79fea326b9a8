import type { BucketRecord } from './records.ts';

/** `blocked` is set by the operator and overrides the result of checks. */
export type DomainStatus = 'pending' | 'verifying' | 'active' | 'error' | 'blocked';
/** Result of the last DNS check. `proxied`: the host resolves to a proxy's network instead. */
export type DnsStatus = 'missing' | 'mismatch' | 'proxied' | 'ok';
/** State of the domain's certificate. */
export type SslStatus = 'initializing' | 'pending' | 'active' | 'error' | 'deactivated';

/** The results of a domain's checks so far. Transitions are in `domain/custom-domains/domain-state.ts`. */
export interface DomainState {
  status: Exclude<DomainStatus, 'blocked'>;
  dns: { status: DnsStatus; observed: readonly string[] };
  ssl: SslStatus;
  /** When a check first found the CNAME correct. */
  verifiedAtMs: number | null;
  /** When the domain first started serving. */
  activatedAtMs: number | null;
  lastCheckedAtMs: number | null;
  /** When a previously correct CNAME was first found wrong. */
  lostAtMs: number | null;
  /** Consecutive checks that did not find the CNAME. */
  checkFailures: number;
  /** Consecutive failed certificate orders, and the earliest time of the next one. */
  orderFailures: number;
  orderAfterMs: number;
  error: { code: string; message: string } | null;
}

/** Times derived from a state, for queries. */
export interface DomainSchedule {
  /** Null after giving up; then only a user's request triggers a check. */
  nextCheckAtMs: number | null;
  /** Until then the name is reserved for this bucket. Null while it is registered here. */
  claimUntilMs: number | null;
  /** 0 if it is not served. */
  servedUntilMs: number;
}

/** Issuer and dates of a certificate. */
export interface CertificateFacts {
  issuer: string;
  notBeforeMs: number;
  notAfterMs: number;
  issuedAtMs: number;
}

/** A registered custom domain. */
export interface DomainRecord {
  /** Lower case, in A-labels (RFC 5890). */
  hostname: string;
  bucketId: number;
  bucketName: string;
  workspaceUuid: string;
  createdAtMs: number;
  blocked: boolean;
  state: DomainState;
  certificate: CertificateFacts | null;
  /** Incremented on every change. A change based on an older revision is rejected. */
  revision: number;
}

/** Input of `registerDomain`. */
export interface RegisterDomain {
  hostname: string;
  bucketId: number;
  nowMs: number;
  state: DomainState;
  schedule: DomainSchedule;
  /** Maximum number of domains per bucket. */
  maxDomains: number;
  /** Removes all other domains of the bucket in the same transaction. */
  replaceOthers: boolean;
  /** The CNAME already points to this bucket, which displaces an unproven claim. */
  proven: boolean;
}

/** Input of `saveDomainState`. */
export interface SaveDomainState {
  hostname: string;
  revision: number;
  state: DomainState;
  schedule: DomainSchedule;
  /** Extends the lease until then. 0 releases it. */
  leaseUntilMs: number;
}

/** Input of `saveCertificate`. */
export interface SaveCertificate extends CertificateFacts {
  hostname: string;
  bucketId: number;
  /** PEM, leaf certificate first. */
  chain: string;
  sealedKey: string;
}

/** A certificate with its sealed private key. */
export interface StoredCertificate extends CertificateFacts {
  chain: string;
  sealedKey: string;
}

/** Context that seals a domain's private key. */
export function certificateContext(hostname: string): string {
  return `domain-certificate/${hostname}`;
}

/** Context that seals the private key of an ACME account. */
export function acmeAccountContext(directoryUrl: string): string {
  return `acme-account/${directoryUrl}`;
}

/** An account at a certificate authority. */
export interface AcmeAccount {
  directoryUrl: string;
  /** Sealed private key that identifies the account to the authority (RFC 8555, 7.3.1). */
  sealedKey: string;
}

/** Commands on custom domains. */
export interface DomainCommands {
  /**
   * Registering the same name for the same bucket again returns the existing domain. Throws `NoSuchBucket`,
   * `TooManyDomains`, or `DomainTaken` if another bucket's claim is still valid; an expired claim is displaced, and so
   * is an unproven one by a proven one.
   */
  registerDomain(input: RegisterDomain): Promise<{ domain: DomainRecord; created: boolean }>;
  /** Also removes its certificate. False if the workspace has no such domain. */
  removeDomain(input: { hostname: string; workspaceUuid: string }): Promise<boolean>;
  /** Leases domains whose check is due, which keeps other replicas away from them. */
  claimDueDomains(input: { nowMs: number; leaseUntilMs: number; limit: number }): Promise<readonly DomainRecord[]>;
  /** Leases one domain, unless it is leased already or was checked after `checkedBeforeMs`. */
  claimDomain(input: {
    hostname: string;
    nowMs: number;
    leaseUntilMs: number;
    checkedBeforeMs: number;
  }): Promise<DomainRecord | null>;
  /** Null if the domain was removed or changed in the meantime; then nothing is written. */
  saveDomainState(input: SaveDomainState): Promise<DomainRecord | null>;
  /** False if the domain was removed in the meantime. */
  saveCertificate(input: SaveCertificate): Promise<boolean>;
  /** Also applies to unregistered names. Unblocking makes the check due. */
  setDomainBlocked(input: { hostname: string; blocked: boolean; nowMs: number }): Promise<void>;
  /** Keeps the first account of a directory. Returns the stored account. */
  saveAcmeAccount(input: AcmeAccount): Promise<AcmeAccount>;
  /** Also removes expired challenges. */
  putAcmeChallenge(input: {
    token: string;
    keyAuthorization: string;
    nowMs: number;
    expiresAtMs: number;
  }): Promise<void>;
  removeAcmeChallenge(input: { token: string }): Promise<void>;
}

/** None of these return domains of soft-deleted buckets. */
export interface DomainQueries {
  findDomain(input: { hostname: string }): Promise<DomainRecord | null>;
  /** By name. Without a bucket, lists those of the workspace. */
  listDomains(input: {
    workspaceUuid: string;
    bucketId: number | null;
    after: string;
    limit: number;
  }): Promise<readonly DomainRecord[]>;
  /** The bucket that a hostname currently serves, if any. */
  findServedBucket(input: { hostname: string; nowMs: number }): Promise<BucketRecord | null>;
  /** The certificate of a name that is currently served. */
  findCertificate(input: { hostname: string; nowMs: number }): Promise<StoredCertificate | null>;
  findAcmeAccount(input: { directoryUrl: string }): Promise<AcmeAccount | null>;
  findAcmeChallenge(input: { token: string; nowMs: number }): Promise<string | null>;
}

/**
 * Queries name servers. Both methods throw if no server gives a conclusive answer, for example on SERVFAIL or a
 * timeout.
 */
export interface DomainResolver {
  /** Lower case, without a trailing dot. Null if the name has no CNAME or does not exist. */
  cname(hostname: string): Promise<string | null>;
  /** IPv4 and IPv6 addresses. Empty if there are none. */
  addresses(hostname: string): Promise<readonly string[]>;
}

/** A new certificate with its private key. */
export interface IssuedCertificate {
  /** PEM, leaf certificate first. */
  chain: string;
  /** PEM (PKCS #8). */
  privateKey: string;
  issuer: string;
  notBeforeMs: number;
  notAfterMs: number;
}

/** Issues certificates for hosts that answer its challenge. Throws `CertificateRefused` or `CertificateUnavailable`. */
export interface CertificateAuthority {
  issue(hostname: string, signal: AbortSignal): Promise<IssuedCertificate>;
}
