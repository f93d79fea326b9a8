import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { CertificateRequest } from './certificates-main.ts';
import type { PemPair } from '@svc/certificates';

/** Makes a certificate, and its authority if there is none yet, in a process of its own. */
export async function makeCertificates(
  request: CertificateRequest,
): Promise<{ authority: PemPair; certificate: PemPair }> {
  const script = fileURLToPath(new URL('./certificates-main.ts', import.meta.url));
  const preloads = process.execArgv.filter((flag) => flag.startsWith('--require='));
  const child = spawn(process.execPath, [...preloads, script], { timeout: 30_000, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.on('error', () => undefined); // it ended early; standard error has the reason
  child.stdin.end(JSON.stringify(request));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  if (output === '') throw new Error(`the certificate could not be created: ${errors}`);
  return JSON.parse(output) as { authority: PemPair; certificate: PemPair }; // written by certificates-main.ts
}
