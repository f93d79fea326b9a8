import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { replaceFile } from '@svc/runtime';
import type { CertificateRequest } from './certificates-main.ts';
import type { PemPair } from './x509.ts';

export interface TlsMaterial {
  key: string;
  cert: string;
  /** The authority's certificate, for a kubeconfig or `curl --cacert`. */
  ca: string;
}

const RENEW_BEFORE_MS = 30 * 24 * 3600_000;

/**
 * A certificate authority for this installation only, created on the first start, for names that no public authority
 * certifies: localhost with its addresses, and `extraNames`, where a `*.` prefix covers all names directly below. Its
 * key never leaves the data folder.
 */
export async function ensureLocalCertificate(
  folder: string,
  extraNames: readonly string[],
  now: Date,
): Promise<TlsMaterial> {
  const files = { ca: 'ca.crt', caKey: 'ca.key', cert: 'server.crt', key: 'server.key' };
  const path = (name: keyof typeof files): string => join(folder, files[name]);
  const certified = extraNames.filter((name) => !['0.0.0.0', '::'].includes(name));
  const names = [...new Set(['localhost', '*.localhost', '127.0.0.1', '::1', ...certified])];
  if (existsSync(path('cert')) && existsSync(path('key')) && existsSync(path('ca'))) {
    const cert = readFileSync(path('cert'), 'utf8');
    if (isUsable(cert, names, now)) {
      return { cert, key: readFileSync(path('key'), 'utf8'), ca: readFileSync(path('ca'), 'utf8') };
    }
  }
  const hasAuthority = existsSync(path('ca')) && existsSync(path('caKey'));
  const existing = hasAuthority
    ? { authority: { cert: readFileSync(path('ca'), 'utf8'), key: readFileSync(path('caKey'), 'utf8') } }
    : {};
  const { authority, server } = await makeCertificates({ ...existing, names, now: now.toISOString() });
  if (!hasAuthority) {
    await replaceFile(path('caKey'), authority.key);
    await replaceFile(path('ca'), authority.cert);
  }
  await replaceFile(path('key'), server.key);
  await replaceFile(path('cert'), server.cert);
  return { ...server, ca: authority.cert };
}

async function makeCertificates(request: CertificateRequest): Promise<{ authority: PemPair; server: PemPair }> {
  const script = fileURLToPath(new URL('./certificates-main.ts', import.meta.url));
  const child = spawn(process.execPath, [script], { timeout: 30_000, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined); // it ended early; standard error has the reason
  child.stdin.end(JSON.stringify(request));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (output === '') throw new Error(`the local certificate could not be created: ${errors}`);
  return JSON.parse(output) as { authority: PemPair; server: PemPair }; // written by certificates-main.ts
}

function isUsable(pem: string, names: readonly string[], now: Date): boolean {
  const certificate = new X509Certificate(pem);
  if (new Date(certificate.validTo).getTime() - now.getTime() < RENEW_BEFORE_MS) return false;
  const written = (certificate.subjectAltName ?? '').split(', ');
  return names.every((name) =>
    isIP(name) === 0 ? written.includes(`DNS:${name}`) : certificate.checkIP(name) !== undefined,
  );
}
