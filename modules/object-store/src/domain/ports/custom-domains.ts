import type { BucketRecord } from './records.ts';

/** `blocked` is the operator's word and stands above what the checks found. */
export type DomainStatus = 'pending' | 'verifying' | 'active' | 'error' | 'blocked';
export type DnsStatus = 'missing' | 'mismatch' | 'proxied' | 'ok';
export type SslStatus = 'initializing' | 'pending' | 'active' | 'error' | 'deactivated';

/** What the checks of a domain have found so far; the moves are in `domain/custom-domains/domain-state.ts`. */
export interface DomainState {
  status: Exclude<DomainStatus, 'blocked'>;
  dns: { status: DnsStatus; observed: readonly string[] };
  ssl: SslStatus;
  /** When the CNAME was first seen to be right. */
  verifiedAtMs: number | null;
  /** When the domain first served. */
  activatedAtMs: number | null;
  lastCheckedAtMs: number | null;
  /** A CNAME that was right is wrong since. */
  lostAtMs: number | null;
  /** Checks in a row that did not find the CNAME. */
  checkFailures: number;
  /** Orders for a certificate in a row that failed, and when the next one may be placed. */
  orderFailures: number;
  orderAfterMs: number;
  error: { code: string; message: string } | null;
}

/** What follows from a state for those who ask by time. */
export interface DomainSchedule {
  /** Null: given up; only a person's question looks again. */
  nextCheckAtMs: number | null;
  /** Until then nobody else may register the name; null: as long as it is registered here. */
  claimUntilMs: number | null;
  /** 0: not served. */
  servedUntilMs: number;
}

export interface CertificateFacts {
  issuer: string;
  notBeforeMs: number;
  notAfterMs: number;
  issuedAtMs: number;
}

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
  /** Grows with every change; a change that knows an older one is not made. */
  revision: number;
}

export interface RegisterDomain {
  hostname: string;
  bucketId: number;
  nowMs: number;
  state: DomainState;
  schedule: DomainSchedule;
  /** Most domains of one bucket. */
  maxDomains: number;
  /** Whatever else the bucket had is removed in the same transaction. */
  replaceOthers: boolean;
  /** The CNAME leads to this bucket already: whoever only said that the name is theirs gives way. */
  proven: boolean;
}

export interface SaveDomainState {
  hostname: string;
  revision: number;
  state: DomainState;
  schedule: DomainSchedule;
  /** Keeps the claim on the work until then; 0 lets go of it. */
  leaseUntilMs: number;
}

export interface SaveCertificate extends CertificateFacts {
  hostname: string;
  bucketId: number;
  /** PEM, the host's own first. */
  chain: string;
  sealedKey: string;
}

export interface StoredCertificate extends CertificateFacts {
  chain: string;
  sealedKey: string;
}

/** Under which a domain's private key is sealed. */
export function certificateContext(hostname: string): string {
  return `domain-certificate/${hostname}`;
}

/** Under which the private key of an account is sealed. */
export function acmeAccountContext(directoryUrl: string): string {
  return `acme-account/${directoryUrl}`;
}

export interface AcmeAccount {
  directoryUrl: string;
  /** The authority knows the account by this key (RFC 8555, 7.3.1). */
  sealedKey: string;
}

export interface DomainCommands {
  /**
   * The same name on the same bucket again is what is there. `NoSuchBucket`, `TooManyDomains`, `DomainTaken` where another
   * bucket's claim still holds; one that does not hold any more is displaced, and one without a proof by one with it.
   */
  registerDomain(input: RegisterDomain): Promise<{ domain: DomainRecord; created: boolean }>;
  /** With its certificate. False when the workspace has no such domain. */
  removeDomain(input: { hostname: string; workspaceUuid: string }): Promise<boolean>;
  /** Takes domains whose check is due, for as long as the lease: no other replica works on them meanwhile. */
  claimDueDomains(input: { nowMs: number; leaseUntilMs: number; limit: number }): Promise<readonly DomainRecord[]>;
  /** Takes one domain, unless it is taken or was checked after `checkedBeforeMs`. */
  claimDomain(input: {
    hostname: string;
    nowMs: number;
    leaseUntilMs: number;
    checkedBeforeMs: number;
  }): Promise<DomainRecord | null>;
  /** Null when the domain went or was changed by another meanwhile; then nothing is written. */
  saveDomainState(input: SaveDomainState): Promise<DomainRecord | null>;
  /** False when the domain went meanwhile. */
  saveCertificate(input: SaveCertificate): Promise<boolean>;
  /** Also for names that nobody registered. Unblocking makes the check due. */
  setDomainBlocked(input: { hostname: string; blocked: boolean; nowMs: number }): Promise<void>;
  /** The first account of a directory stays: the answer is the one that holds. */
  saveAcmeAccount(input: AcmeAccount): Promise<AcmeAccount>;
  /** Expired ones go at the same time. */
  putAcmeChallenge(input: {
    token: string;
    keyAuthorization: string;
    nowMs: number;
    expiresAtMs: number;
  }): Promise<void>;
  removeAcmeChallenge(input: { token: string }): Promise<void>;
}

/** Domains of soft-deleted buckets are in none of these answers. */
export interface DomainQueries {
  findDomain(input: { hostname: string }): Promise<DomainRecord | null>;
  /** By name. Without a bucket: those of the workspace. */
  listDomains(input: {
    workspaceUuid: string;
    bucketId: number | null;
    after: string;
    limit: number;
  }): Promise<readonly DomainRecord[]>;
  /** The bucket that a host name serves now, if it does. */
  findServedBucket(input: { hostname: string; nowMs: number }): Promise<BucketRecord | null>;
  /** Of a name that is served now. */
  findCertificate(input: { hostname: string; nowMs: number }): Promise<StoredCertificate | null>;
  findAcmeAccount(input: { directoryUrl: string }): Promise<AcmeAccount | null>;
  findAcmeChallenge(input: { token: string; nowMs: number }): Promise<string | null>;
}

/** Asks name servers. Both throw when no server gives an answer that counts, such as SERVFAIL or silence. */
export interface DomainResolver {
  /** Lower case, without a dot at the end; null when the name has no CNAME or does not exist. */
  cname(hostname: string): Promise<string | null>;
  /** IPv4 and IPv6; empty when there are none. */
  addresses(hostname: string): Promise<readonly string[]>;
}

export interface IssuedCertificate {
  /** PEM, the host's own first. */
  chain: string;
  /** PEM (PKCS #8). */
  privateKey: string;
  issuer: string;
  notBeforeMs: number;
  notAfterMs: number;
}

/** Gives certificates for hosts that answer its challenge. Fails with `CertificateRefused` or `CertificateUnavailable`. */
export interface CertificateAuthority {
  issue(hostname: string, signal: AbortSignal): Promise<IssuedCertificate>;
}
