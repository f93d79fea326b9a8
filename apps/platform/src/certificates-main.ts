import { text } from 'node:stream/consumers';
import { makeAuthority, makeServerCertificate, type PemPair } from './x509.ts';

/** Request of `local-authority.ts`, passed on standard input so that no key appears in the process list. */
export interface CertificateRequest {
  /** Absent: create one. */
  authority?: PemPair;
  names: string[];
  now: string;
}

/** A separate process: the certificate library takes 20 MB, which are freed when it ends. */
const request = JSON.parse(await text(process.stdin)) as CertificateRequest; // written by this program only
const now = new Date(request.now);
const authority = request.authority ?? (await makeAuthority(now));
const server = await makeServerCertificate(authority, request.names, now);
process.stdout.write(JSON.stringify({ authority, server }));
