import { randomUUID, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { selfSignedCertificate } from '@svc/testing';

/** Issues tokens by the distribution's specification: to one user for everything, and anonymously for `public/`. */
export interface TokenService {
  /** Configuration of a registry that trusts this service, and the files it needs. */
  readonly auth: string;
  readonly files: Readonly<Record<string, string>>;
  readonly requests: { readonly scope: string | null; readonly authorization: string | undefined }[];
  /** Sets the lifetime of new tokens. */
  setLife(seconds: number): void;
  tokenFor(repository: string, actions?: readonly string[]): string;
  close(): Promise<void>;
}

export const USER = { username: 'user', password: 'secret' };
const SERVICE = 'test-registry';
const ISSUER = 'test-issuer';

export async function startTokenService(): Promise<TokenService> {
  const { key, cert } = await selfSignedCertificate();
  const requests: TokenService['requests'] = [];
  let lifeSeconds = 300;
  const tokenFor = (repository: string, actions: readonly string[] = ['pull', 'push']): string => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    const claims = {
      iss: ISSUER,
      sub: '',
      aud: SERVICE,
      iat: nowSeconds - 60,
      nbf: nowSeconds - 60,
      exp: nowSeconds + lifeSeconds,
      jti: randomUUID(),
      access: [{ type: 'repository', name: repository, actions }],
    };
    const header = { alg: 'ES256', typ: 'JWT', x5c: [cert.replace(/-----[^-]+-----|\s/g, '')] };
    const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  };
  const expected = `Basic ${Buffer.from(`${USER.username}:${USER.password}`).toString('base64')}`;
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost');
    const scope = searchParams.get('scope');
    const { authorization } = request.headers;
    requests.push({ scope, authorization });
    const repository = scope?.split(':')[1] ?? '';
    const allowed = authorization === expected || (authorization === undefined && repository.startsWith('public/'));
    if (!allowed) return void response.writeHead(401).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    return void response.end(JSON.stringify({ token: tokenFor(repository, ['pull']), expires_in: lifeSeconds }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // a TCP listener's address is never a string
  return {
    auth:
      `  token:\n    realm: http://127.0.0.1:${port}/token\n    service: ${SERVICE}\n    issuer: ${ISSUER}\n` +
      '    rootcertbundle: {folder}/token.pem',
    files: { 'token.pem': cert },
    requests,
    setLife: (seconds) => void (lifeSeconds = seconds),
    tokenFor,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
