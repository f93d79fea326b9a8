import type { CustomDomain } from '@svc/sdk';
import type { Tone } from '../../../ui/badge.tsx';
import { formatAbsolute } from '../../../ui/format-time.ts';

export interface DomainLabel {
  tone: Tone;
  label: string;
  live: boolean;
  /** The next step or the current activity; null if everything is fine. */
  next: string | null;
}

/** The state of a domain, and its next step. */
export function domainLabel(domain: CustomDomain): DomainLabel {
  const { status, cname_target: target, error } = domain;
  const dns = parseDns(domain);
  switch (status) {
    case 'active':
      return { tone: 'ok', label: 'Active', live: true, next: null };
    case 'verifying':
      return { tone: 'accent', label: 'Issuing certificate', live: false, next: 'The DNS record is correct.' };
    case 'blocked':
      return { tone: 'danger', label: 'Blocked', live: false, next: 'Blocked by the platform operator.' };
    case 'error':
      return { tone: 'danger', label: 'Error', live: false, next: faultOf(error) ?? `It does not point to ${target}.` };
    default:
      return {
        tone: 'warn',
        label: 'Waiting for DNS',
        live: false,
        next: describeDns(dns.status, dns.observed, target),
      };
  }
}

function describeDns(status: string, observed: string | null, target: string): string {
  switch (status) {
    case 'mismatch':
      return `It points to ${observed ?? 'another host'} instead of ${target}.`;
    case 'proxied':
      return 'It is proxied. Set the record to DNS only: a proxy that terminates TLS breaks the certificate.';
    case 'ok':
      return 'The DNS record is correct.';
    default:
      return `No CNAME record yet. Point it at ${target}.`;
  }
}

/** The last observed DNS record of the hostname. */
export function parseDns({ dns }: CustomDomain): { status: string; observed: string | null } {
  const observed = dns?.observed;
  const text = Array.isArray(observed) ? observed.join(', ') : typeof observed === 'string' ? observed : null;
  return { status: dns?.status ?? 'missing', observed: text === '' ? null : text };
}

function faultOf(error: CustomDomain['error']): string | null {
  if (typeof error === 'string') return error;
  return error?.message ?? null;
}

/** The certificate's status. */
export function describeCertificate({ ssl, status }: CustomDomain): string {
  switch (ssl.status) {
    case 'active':
      return ssl.expires_at === null ? 'Active' : `Active until ${formatAbsolute(ssl.expires_at)}`;
    case 'pending':
      return 'Issuing';
    case 'error':
      return 'Failed';
    case 'deactivated':
      return status === 'active' ? 'Not managed here: TLS ends before this platform' : 'None';
    case 'initializing':
      return 'None yet';
  }
}
