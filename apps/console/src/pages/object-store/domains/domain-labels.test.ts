import type { CustomDomain } from '@svc/sdk';
import { describe, expect, it } from 'vitest';
import { describeCertificate, domainLabel } from './domain-labels.ts';

const TARGET = 'abc.cname.s3.test';
const domain = (changes: Partial<CustomDomain>): CustomDomain => ({
  hostname: 'files.example.test',
  bucket: 'photos',
  cname_target: TARGET,
  dns_hint: '',
  url: 'https://files.example.test',
  status: 'pending',
  ssl: { status: 'initializing', issuer: null, expires_at: null },
  dns: { status: 'missing', observed: [] },
  created_at: '2026-11-01T00:00:00.000Z',
  verified_at: null,
  last_checked_at: null,
  error: null,
  ...changes,
});

describe('custom domain labels', () => {
  it.each<[Partial<CustomDomain>, string | null]>([
    [{}, `No CNAME record yet. Point it at ${TARGET}.`],
    [
      { dns: { status: 'mismatch', observed: ['a.test', 'b.test'] } },
      `It points to a.test, b.test instead of ${TARGET}.`,
    ],
    [
      { dns: { status: 'proxied', observed: [] } },
      'It is proxied. Set the record to DNS only: a proxy that terminates TLS breaks the certificate.',
    ],
    [{ status: 'active', dns: { status: 'ok', observed: [TARGET] } }, null],
  ])('%j: the next step', (changes, next) => {
    expect(domainLabel(domain(changes)).next).toBe(next);
  });

  it('distinguish a missing certificate from one that is not needed', () => {
    const ssl = (status: CustomDomain['ssl']['status']) => ({ status, issuer: null, expires_at: null });
    expect(describeCertificate(domain({}))).toBe('None yet');
    expect(describeCertificate(domain({ ssl: ssl('pending') }))).toBe('Issuing');
    expect(describeCertificate(domain({ ssl: ssl('deactivated') }))).toBe('None');
    expect(describeCertificate(domain({ status: 'active', ssl: ssl('deactivated') }))).toContain('TLS ends before');
  });
});
