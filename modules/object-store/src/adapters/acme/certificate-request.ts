import 'reflect-metadata'; // the library registers its classes through it
import { webcrypto } from 'node:crypto';
import { PemConverter, Pkcs10CertificateRequestGenerator, SubjectAlternativeNameExtension } from '@peculiar/x509';

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

export interface CertificateRequest {
  /** DER (RFC 2986) in base64url, the form that finalizes an order. */
  csr: string;
  /** PEM (PKCS #8) of the key generated for this request. */
  privateKey: string;
}

export async function createCertificateRequest(hostname: string): Promise<CertificateRequest> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const request = await Pkcs10CertificateRequestGenerator.create({
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: hostname }])],
  });
  return {
    csr: Buffer.from(request.rawData).toString('base64url'),
    privateKey: PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY'),
  };
}
