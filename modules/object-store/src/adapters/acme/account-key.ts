import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

/** The JWK members of an EC key that its thumbprint covers, in the required order (RFC 7638, section 3.2). */
interface PublicJwk {
  crv: string;
  kty: string;
  x: string;
  y: string;
}

/** An account key for a certificate authority: P-256, with JWS signatures (RFC 7515) using ES256. */
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

  /** The key authorization that proves control of a token (RFC 8555, section 8.1). */
  keyAuthorization(token: string): string {
    const thumbprint = createHash('sha256').update(JSON.stringify(this.#jwk)).digest('base64url');
    return `${token}.${thumbprint}`;
  }

  /** Returns a flattened JWS. Without an account URL, the header carries the public key itself. */
  sign(payload: unknown, head: { nonce: string; url: string }, accountUrl: string | null): string {
    const signer = accountUrl === null ? { jwk: this.#jwk } : { kid: accountUrl };
    const protectedHead = encode(JSON.stringify({ alg: 'ES256', ...head, ...signer }));
    // An empty payload is a POST-as-GET (section 6.3), which differs from an empty object.
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
