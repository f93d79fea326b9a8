import { text } from 'node:stream/consumers';
import { makeAuthority, makeServerCertificate, type PemPair } from './x509.ts';

/** What `local-authority.ts` asks for, on standard input, so that no key stands in a process list. */
export interface CertificateRequest {
  /** Absent: make one. */
  authority?: PemPair;
  names: string[];
  now: string;
}

/** A process of its own: the library that makes certificates takes 20 MB, which go with it. */
const request = JSON.parse(await text(process.stdin)) as CertificateRequest; // written by this program alone
const now = new Date(request.now);
const authority = request.authority ?? (await makeAuthority(now));
const server = await makeServerCertificate(authority, request.names, now);
process.stdout.write(JSON.stringify({ authority, server }));
