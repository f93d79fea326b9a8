import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';

/** A certificate with its private key (PKCS #8), in PEM. */
export interface PemPair {
  cert: string;
  key: string;
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const YEAR_MS = 365 * 24 * 3600_000;
/** Clients whose clocks are slightly behind must accept a new certificate. */
const BACKDATE_MS = 3600_000;

/** Creates an authority with this common name, valid for ten years. */
export async function makeAuthority(name: string, now: Date): Promise<PemPair> {
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: `CN=${name}`,
    notBefore: new Date(now.getTime() - BACKDATE_MS),
    notAfter: new Date(now.getTime() + 10 * YEAR_MS),
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: certificate.toString('pem'), key: await exportKey(keys.privateKey) };
}

/** Creates a server certificate for these hostnames and addresses (RFC 5280, subjectAltName), valid for one year. */
export function makeServerCertificate(authority: PemPair, names: readonly string[], now: Date): Promise<PemPair> {
  return makeCertificate(authority, {
    names: names.map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
    usages: [x509.ExtendedKeyUsage.serverAuth],
    notBefore: new Date(now.getTime() - BACKDATE_MS),
    notAfter: new Date(now.getTime() + YEAR_MS),
  });
}

/**
 * Creates the certificate of a replica, for both sides of a connection. It is valid as long as its authority: its key
 * exists only in the memory of one process and ends with it.
 */
export function makeReplicaCertificate(authority: PemPair, uri: string): Promise<PemPair> {
  const { notBefore, notAfter } = new x509.X509Certificate(authority.cert);
  return makeCertificate(authority, {
    names: [{ type: 'url', value: uri }],
    usages: [x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth],
    notBefore,
    notAfter,
  });
}

interface CertificateWish {
  names: x509.JsonGeneralNames;
  usages: x509.ExtendedKeyUsage[];
  notBefore: Date;
  notAfter: Date;
}

async function makeCertificate(
  authority: PemPair,
  { names, usages, notBefore, notAfter }: CertificateWish,
): Promise<PemPair> {
  const issuer = new x509.X509Certificate(authority.cert);
  const keys = await makeKeys();
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: 'CN=svc',
    issuer: issuer.subject,
    notBefore,
    notAfter,
    signingAlgorithm: ALGORITHM,
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(usages),
      new x509.SubjectAlternativeNameExtension(names),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: certificate.toString('pem'), key: await exportKey(keys.privateKey) };
}

function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

async function exportKey(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY');
}

function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  return webcrypto.subtle.importKey('pkcs8', x509.PemConverter.decodeFirst(pem), ALGORITHM, false, ['sign']);
}

function serialNumber(): string {
  const bytes = Buffer.from(webcrypto.getRandomValues(new Uint8Array(16)));
  bytes[0] = (bytes[0] ?? 0) & 0x7f; // positive, RFC 5280 section 4.1.2.2
  return bytes.toString('hex');
}
