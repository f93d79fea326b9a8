import { Type, type Static } from 'typebox';
import type { DomainRecord } from '../domain/ports/custom-domains.ts';
import { toTimestamp } from './envelope.ts';

const nullableText = Type.Union([Type.String(), Type.Null()]);

const status = Type.Union([
  Type.Literal('pending'),
  Type.Literal('verifying'),
  Type.Literal('active'),
  Type.Literal('error'),
  Type.Literal('blocked'),
]);
const certificateStatus = Type.Union([
  Type.Literal('initializing'),
  Type.Literal('pending'),
  Type.Literal('active'),
  Type.Literal('error'),
  Type.Literal('deactivated'),
]);
const dnsStatus = Type.Union([
  Type.Literal('missing'),
  Type.Literal('mismatch'),
  Type.Literal('proxied'),
  Type.Literal('ok'),
]);

/** A custom domain as the management API returns it. */
export const domainSchema = Type.Object({
  hostname: Type.String(),
  bucket: Type.String(),
  cname_target: Type.String({ description: "Required target of the hostname's CNAME record" }),
  dns_hint: Type.String(),
  url: Type.String(),
  status,
  ssl: Type.Object({
    status: certificateStatus,
    issuer: nullableText,
    expires_at: nullableText,
  }),
  dns: Type.Object({
    status: dnsStatus,
    observed: Type.Array(Type.String()),
  }),
  created_at: Type.String(),
  verified_at: nullableText,
  last_checked_at: nullableText,
  error: Type.Union([Type.Object({ code: Type.String(), message: Type.String() }), Type.Null()]),
});

/** All domains of a bucket. The first one is repeated at the top level, for clients that support a single domain. */
export const bucketDomainsSchema = Type.Object({
  ...Type.Partial(domainSchema).properties,
  bucket: Type.String(),
  cname_target: Type.String(),
  domains: Type.Array(domainSchema),
  count: Type.Integer(),
});

export type DomainView = Static<typeof domainSchema>;

export function toDomainView(domain: DomainRecord, target: string): DomainView {
  const { hostname, state, certificate, blocked } = domain;
  return {
    hostname,
    bucket: domain.bucketName,
    cname_target: target,
    dns_hint: dnsHint(hostname, target),
    url: `https://${hostname}`,
    status: blocked ? 'blocked' : state.status,
    ssl: {
      status: blocked ? 'deactivated' : state.ssl,
      issuer: certificate?.issuer ?? null,
      expires_at: certificate === null ? null : toTimestamp(certificate.notAfterMs),
    },
    dns: { status: state.dns.status, observed: [...state.dns.observed] },
    created_at: toTimestamp(domain.createdAtMs),
    verified_at: orNull(state.verifiedAtMs),
    last_checked_at: orNull(state.lastCheckedAtMs),
    error: blocked ? { code: 'blocked', message: 'The operator has blocked this hostname' } : state.error,
  };
}

function dnsHint(hostname: string, target: string): string {
  return `Create the DNS record "${hostname}. CNAME ${target}." without a proxy (DNS only)`;
}

function orNull(timeMs: number | null): string | null {
  return timeMs === null ? null : toTimestamp(timeMs);
}
