import { existsSync, readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { replaceFile } from '@svc/runtime';
import { makeCertificates } from './make-certificates.ts';
import type { PemPair } from '@svc/certificates';

export interface TlsMaterial {
  key: string;
  cert: string;
  /** The authority's certificate, for a kubeconfig or `curl --cacert`. */
  ca: string;
}

/** Keeps the authority for all replicas. */
export interface AuthorityStore {
  /** Returns the authority; if there is none, stores the created one, unless another replica was faster. */
  ensure(create: () => Promise<PemPair>): Promise<PemPair>;
}

const NAME = 'svc local authority';
const RENEW_BEFORE_MS = 30 * 24 * 3600_000;

/**
 * A certificate authority for this installation only, created on the first start, for names that no public authority
 * certifies: localhost with its addresses, and `extraNames`, where a `*.` prefix covers all names directly below. All
 * replicas share it; the folder has this replica's certificate. An authority of an earlier version in the folder is
 * taken over.
 */
export async function ensureLocalCertificate(
  folder: string,
  extraNames: readonly string[],
  now: Date,
  store: AuthorityStore,
): Promise<TlsMaterial> {
  const files = { ca: 'ca.crt', caKey: 'ca.key', cert: 'server.crt', key: 'server.key' };
  const path = (name: keyof typeof files): string => join(folder, files[name]);
  const certified = extraNames.filter((name) => !['0.0.0.0', '::'].includes(name));
  const names = [...new Set(['localhost', '*.localhost', '127.0.0.1', '::1', ...certified])];
  const make = (authority: PemPair | { name: string }) =>
    makeCertificates({ authority, certificate: { names }, now: now.toISOString() });
  /** Keyed by the authority's certificate: another replica may have stored its authority first. */
  const made = new Map<string, PemPair>();
  const authority = await store.ensure(async () => {
    if (existsSync(path('ca')) && existsSync(path('caKey'))) {
      return { cert: readFileSync(path('ca'), 'utf8'), key: readFileSync(path('caKey'), 'utf8') };
    }
    const { authority: own, certificate } = await make({ name: NAME });
    made.set(own.cert, certificate);
    return own;
  });
  const isIssuer = existsSync(path('ca')) && readFileSync(path('ca'), 'utf8') === authority.cert;
  if (isIssuer && existsSync(path('cert')) && existsSync(path('key'))) {
    const cert = readFileSync(path('cert'), 'utf8');
    if (isUsable(cert, names, now)) return { cert, key: readFileSync(path('key'), 'utf8'), ca: authority.cert };
  }
  const server = made.get(authority.cert) ?? (await make(authority)).certificate;
  await rm(path('cert'), { force: true }); // never beside the authority of another one
  await replaceFile(path('ca'), authority.cert);
  await replaceFile(path('key'), server.key);
  await replaceFile(path('cert'), server.cert);
  return { ...server, ca: authority.cert };
}

function isUsable(pem: string, names: readonly string[], now: Date): boolean {
  const certificate = new X509Certificate(pem);
  if (new Date(certificate.validTo).getTime() - now.getTime() < RENEW_BEFORE_MS) return false;
  const written = (certificate.subjectAltName ?? '').split(', ');
  return names.every((name) =>
    isIP(name) === 0 ? written.includes(`DNS:${name}`) : certificate.checkIP(name) !== undefined,
  );
}
