import { text } from 'node:stream/consumers';
import { makeAuthority, makeReplicaCertificate, makeServerCertificate, type PemPair } from '@svc/certificates';

/** Request of `make-certificates.ts`, passed on standard input so that no key appears in the process list. */
export interface CertificateRequest {
  /** Absent: create one with this name. */
  authority: PemPair | { name: string };
  /** Hostnames and addresses of a server, or the URI of a replica. */
  certificate: { names: string[] } | { uri: string };
  now: string;
}

/** A separate process: the certificate library takes 20 MB, which are freed when it ends. */
const request = JSON.parse(await text(process.stdin)) as CertificateRequest; // written by this program only
const now = new Date(request.now);
const authority = 'cert' in request.authority ? request.authority : await makeAuthority(request.authority.name, now);
const certificate =
  'uri' in request.certificate
    ? await makeReplicaCertificate(authority, request.certificate.uri)
    : await makeServerCertificate(authority, request.certificate.names, now);
process.stdout.write(JSON.stringify({ authority, certificate }));
