import type { CustomDomain } from '@svc/sdk';
import type { Tone } from '../../../ui/badge.tsx';
import { formatAbsolute } from '../../../ui/format-time.ts';

export interface DomainWords {
  tone: Tone;
  word: string;
  live: boolean;
  /** What is to be done, or what is going on; null where all is well. */
  next: string | null;
}

/** Where a domain is on its way, and what it waits for. */
export function domainWords(domain: CustomDomain): DomainWords {
  const { status, cname_target: target, error } = domain;
  const dns = dnsOf(domain);
  switch (status) {
    case 'active':
      return { tone: 'ok', word: 'Active', live: true, next: null };
    case 'verifying':
      return { tone: 'accent', word: 'Getting a certificate', live: false, next: 'The DNS record is right.' };
    case 'blocked':
      return { tone: 'danger', word: 'Blocked', live: false, next: 'The operator of this platform has blocked it.' };
    case 'error':
      return { tone: 'danger', word: 'Fault', live: false, next: faultOf(error) ?? `It does not lead to ${target}.` };
    default:
      return { tone: 'warn', word: 'Waiting for DNS', live: false, next: dnsWords(dns.status, dns.observed, target) };
  }
}

function dnsWords(status: string, observed: string | null, target: string): string {
  switch (status) {
    case 'mismatch':
      return `It leads to ${observed ?? 'another place'}, not to ${target}.`;
    case 'proxied':
      return 'A proxy stands before it. Set the record to DNS only: a proxy that ends TLS breaks the certificate.';
    case 'ok':
      return 'The DNS record is right.';
    default:
      return `No CNAME record yet. Point it to ${target}.`;
  }
}

/** What was last seen of the host name's record. */
export function dnsOf({ dns }: CustomDomain): { status: string; observed: string | null } {
  const observed = dns?.observed;
  const text = Array.isArray(observed) ? observed.join(', ') : typeof observed === 'string' ? observed : null;
  return { status: dns?.status ?? 'missing', observed: text === '' ? null : text };
}

function faultOf(error: CustomDomain['error']): string | null {
  if (typeof error === 'string') return error;
  return error?.message ?? null;
}

/** How far the certificate is. */
export function certificateOf({ ssl, status }: CustomDomain): string {
  switch (ssl.status) {
    case 'active':
      return ssl.expires_at === null ? 'Active' : `Active, until ${formatAbsolute(ssl.expires_at)}`;
    case 'pending':
      return 'Being issued';
    case 'error':
      return 'Could not be issued';
    case 'deactivated':
      return status === 'active' ? 'Not from here: TLS ends before this platform' : 'None';
    case 'initializing':
      return 'None yet';
  }
}
