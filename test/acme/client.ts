import { request, type RequestOptions } from 'node:https';
import { collectStream } from '@svc/testing';
import { exportJWK, FlattenedSign, generateKeyPair, type CryptoKey, type JWK } from 'jose';

export interface AcmeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** GET over TLS that trusts only the given authority. */
export function getOverTls(url: string, ca: string): Promise<AcmeResponse> {
  return send(url, { ca, method: 'GET' });
}

/** Signed requests of one account (RFC 8555, 6.2), by key until the account has a URL. */
export class AcmeSession {
  readonly #ca: string;
  readonly #newNonceUrl: string;
  readonly #privateKey: CryptoKey;
  readonly #publicKey: JWK;
  #account: string | null = null;

  private constructor(ca: string, newNonceUrl: string, privateKey: CryptoKey, publicKey: JWK) {
    this.#ca = ca;
    this.#newNonceUrl = newNonceUrl;
    this.#privateKey = privateKey;
    this.#publicKey = publicKey;
  }

  static async open(ca: string, newNonceUrl: string): Promise<AcmeSession> {
    const { privateKey, publicKey } = await generateKeyPair('ES256');
    return new AcmeSession(ca, newNonceUrl, privateKey, await exportJWK(publicKey));
  }

  /** Sets the account's URL from the server, which replaces the key from now on. */
  useAccount(url: string): void {
    this.#account = url;
  }

  async post(url: string, payload: unknown): Promise<AcmeResponse> {
    const { headers } = await send(this.#newNonceUrl, { ca: this.#ca, method: 'HEAD' });
    const nonce = String(headers['replay-nonce']);
    const signer = this.#account === null ? { jwk: this.#publicKey } : { kid: this.#account };
    const jws = await new FlattenedSign(Buffer.from(JSON.stringify(payload)))
      .setProtectedHeader({ alg: 'ES256', nonce, url, ...signer })
      .sign(this.#privateKey);
    const contentType = { 'content-type': 'application/jose+json' };
    return send(url, { ca: this.#ca, method: 'POST', headers: contentType }, JSON.stringify(jws));
  }
}

function send(url: string, options: RequestOptions, body = ''): Promise<AcmeResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { ...options, agent: false, timeout: 10_000 }, (response) => {
      const { statusCode = 0, headers } = response;
      collectStream(response).then(
        (content) => resolve({ status: statusCode, headers, body: content.toString('utf8') }),
        reject,
      );
    });
    outgoing.once('timeout', () => outgoing.destroy(new Error(`${url} did not answer in time`)));
    outgoing.once('error', reject);
    outgoing.end(body);
  });
}
