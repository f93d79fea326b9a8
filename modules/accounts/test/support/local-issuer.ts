import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';

/** A minimal OpenID Connect issuer on 127.0.0.1: keys and tokens only. */
export interface LocalIssuer {
  issuer: string;
  jwksUrl: string;
  /** Number of requests for its keys. */
  requests: () => number;
  /** Response instead of the keys: an outage, or invalid content. */
  answerWith: (body: string | null, status?: number) => void;
  /** Publishes only a new key; the old one is withdrawn. */
  rotate: () => Promise<void>;
  /** Without a lifetime (null), the token has no `exp`. Undefined claims are omitted. */
  sign: (claims: Record<string, unknown>, issuedAt: Date, lifetimeSeconds?: number | null) => Promise<string>;
  close: () => Promise<void>;
}

export async function startLocalIssuer(): Promise<LocalIssuer> {
  let requests = 0;
  let override: { body: string; status: number } | null = null;
  let current = await newKey(1);
  const server = createServer((_request, response) => {
    requests += 1;
    const { body, status } = override ?? { body: JSON.stringify({ keys: [current.jwk] }), status: 200 };
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // a TCP listener's address is an object
  return {
    issuer,
    jwksUrl: `${issuer}/keys`,
    requests: () => requests,
    answerWith: (body, status = 200) => {
      override = body === null ? null : { body, status };
    },
    rotate: async () => {
      current = await newKey(Number(current.jwk.kid) + 1);
    },
    sign: (claims, issuedAt, lifetimeSeconds = 600) => {
      const iat = Math.floor(issuedAt.getTime() / 1000);
      const expiry = lifetimeSeconds === null ? {} : { exp: iat + lifetimeSeconds };
      return new SignJWT({ iss: issuer, aud: 'svc-test', iat, ...expiry, ...claims })
        .setProtectedHeader({ alg: 'RS256', kid: current.jwk.kid ?? '' })
        .sign(current.privateKey);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
      }),
  };
}

async function newKey(number: number): Promise<{ privateKey: CryptoKey; jwk: JWK }> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: String(number), alg: 'RS256', use: 'sig' } };
}
