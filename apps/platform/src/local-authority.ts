import { existsSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';

export interface TlsMaterial {
  key: string;
  cert: string;
  /** The authority's certificate: what a kubeconfig or `curl --cacert` needs. */
  ca: string;
}

const RENEW_BEFORE_MS = 30 * 24 * 3600_000;

/**
 * A certificate authority of this installation alone, made on first start, for the names that no public authority
 * certifies: localhost and its addresses. Its key never leaves the data folder.
 */
export async function ensureLocalCertificate(folder: string, extraHost: string, now: Date): Promise<TlsMaterial> {
  const files = { ca: 'ca.crt', caKey: 'ca.key', cert: 'server.crt', key: 'server.key' };
  const path = (name: keyof typeof files): string => join(folder, files[name]);
  const names = ['localhost', '*.localhost', '127.0.0.1', '::1'];
  if (!names.includes(extraHost) && !['0.0.0.0', '::'].includes(extraHost)) names.push(extraHost);
  if (existsSync(path('cert')) && existsSync(path('key')) && existsSync(path('ca'))) {
    const cert = readFileSync(path('cert'), 'utf8');
    if (isUsable(cert, extraHost, now)) {
      return { cert, key: readFileSync(path('key'), 'utf8'), ca: readFileSync(path('ca'), 'utf8') };
    }
  }
  // Loaded only when something must be made: a second start does not pay for it.
  const { makeAuthority, makeServerCertificate } = await import('./x509.ts');
  const hasAuthority = existsSync(path('ca')) && existsSync(path('caKey'));
  const authority = hasAuthority
    ? { cert: readFileSync(path('ca'), 'utf8'), key: readFileSync(path('caKey'), 'utf8') }
    : await makeAuthority(now);
  const server = await makeServerCertificate(authority, names, now);
  if (!hasAuthority) {
    await writeSecret(path('caKey'), authority.key);
    await writeSecret(path('ca'), authority.cert);
  }
  await writeSecret(path('key'), server.key);
  await writeSecret(path('cert'), server.cert);
  return { ...server, ca: authority.cert };
}

function isUsable(pem: string, host: string, now: Date): boolean {
  const certificate = new X509Certificate(pem);
  if (new Date(certificate.validTo).getTime() - now.getTime() < RENEW_BEFORE_MS) return false;
  const wanted = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  return (isIP(wanted) === 0 ? certificate.checkHost(wanted) : certificate.checkIP(wanted)) !== undefined;
}

async function writeSecret(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
