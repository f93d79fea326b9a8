import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

/** The members of an EC key's JWK that its thumbprint is made of, in their order (RFC 7638, section 3.2). */
interface PublicJwk {
  crv: string;
  kty: string;
  x: string;
  y: string;
}

/** The key of an account at a certificate authority: P-256, signatures as JWS (RFC 7515) with ES256. */
export class AccountKey {
  readonly #key: KeyObject;
  readonly #jwk: PublicJwk;

  constructor(pem: string) {
    this.#key = createPrivateKey(pem);
    const { crv = '', kty = '', x = '', y = '' } = createPublicKey(this.#key).export({ format: 'jwk' });
    this.#jwk = { crv, kty, x, y };
  }

  static generatePem(): string {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  /** What proves that a token is answered for this account (RFC 8555, section 8.1). */
  keyAuthorization(token: string): string {
    const thumbprint = createHash('sha256').update(JSON.stringify(this.#jwk)).digest('base64url');
    return `${token}.${thumbprint}`;
  }

  /** A flattened JWS. Without the account's address the key itself stands in the head. */
  sign(payload: unknown, head: { nonce: string; url: string }, accountUrl: string | null): string {
    const signer = accountUrl === null ? { jwk: this.#jwk } : { kid: accountUrl };
    const protectedHead = encode(JSON.stringify({ alg: 'ES256', ...head, ...signer }));
    // An empty payload asks to read (section 6.3), which is not the same as an empty object.
    const body = payload === undefined ? '' : encode(JSON.stringify(payload));
    const signature = sign('sha256', Buffer.from(`${protectedHead}.${body}`), {
      key: this.#key,
      dsaEncoding: 'ieee-p1363',
    });
    return JSON.stringify({ protected: protectedHead, payload: body, signature: signature.toString('base64url') });
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url');
}
