import { createPrivateKey, X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '@svc/runtime';
import {
  acmeAccountContext,
  type CertificateAuthority,
  type IssuedCertificate,
} from '../../domain/ports/custom-domains.ts';
import type { DomainCommands, DomainQueries } from '../../domain/ports/custom-domains.ts';
import type { KeyRing } from '../../domain/secrets/key-ring.ts';
import { AccountKey } from './account-key.ts';
import { readProblem, refused } from './acme-problem.ts';
import { AcmeSession, unexpected, type AcmeResource } from './acme-session.ts';

export interface AcmeAuthorityOptions {
  directoryUrl: string;
  /** PEM of the CAs trusted for the directory's TLS certificate. Defaults to the system's CAs. */
  ca?: string | undefined;
  /** Contact address for expiry notices from the authority. */
  email?: string | undefined;
  metadata: DomainCommands & DomainQueries;
  secrets: Pick<KeyRing, 'seal' | 'open'>;
  clock: Clock;
}

const CHALLENGE_LIFE_MS = 3_600_000;

/** Issues certificates over RFC 8555. The HTTP-01 response is kept in the store, so any replica can serve it. */
export function createAcmeAuthority(options: AcmeAuthorityOptions): CertificateAuthority {
  return {
    issue: async (hostname, signal) => {
      const key = new AccountKey(await accountPem(options));
      const session = new AcmeSession({ ...options, ca: options.ca, email: options.email, key }, signal);
      await session.open();
      const order = await session.newOrder(hostname);
      for (const url of parseList(order.body['authorizations'])) await authorize(url, session, key, options, signal);
      return await finalize(order, hostname, session, signal);
    },
  };
}

/** The account's private key. The first order creates it; all replicas share it. */
async function accountPem({ directoryUrl, metadata, secrets }: AcmeAuthorityOptions): Promise<string> {
  const context = acmeAccountContext(directoryUrl);
  const account =
    (await metadata.findAcmeAccount({ directoryUrl })) ??
    (await metadata.saveAcmeAccount({
      directoryUrl,
      sealedKey: await secrets.seal(AccountKey.generatePem(), context),
    }));
  return await secrets.open(account.sealedKey, context);
}

async function authorize(
  url: string,
  session: AcmeSession,
  key: AccountKey,
  { metadata, clock }: AcmeAuthorityOptions,
  signal: AbortSignal,
): Promise<void> {
  const authorization = await session.post(url);
  if (authorization.body['status'] === 'valid') return;
  const challenge = findHttpChallenge(authorization);
  const nowMs = clock.nowMs();
  const keyAuthorization = key.keyAuthorization(challenge.token);
  const { token } = challenge;
  await metadata.putAcmeChallenge({ token, keyAuthorization, nowMs, expiresAtMs: nowMs + CHALLENGE_LIFE_MS });
  try {
    await session.post(challenge.url, {});
    const decided = await poll(session, url, signal);
    if (decided.body['status'] !== 'valid') throw refused(readProblem(errorOfChallenge(decided)));
  } finally {
    await metadata.removeAcmeChallenge({ token });
  }
}

async function finalize(
  order: AcmeResource,
  hostname: string,
  session: AcmeSession,
  signal: AbortSignal,
): Promise<IssuedCertificate> {
  const { createCertificateRequest } = await import('./certificate-request.ts'); // takes megabytes; few platforms need it
  const { csr, privateKey } = await createCertificateRequest(hostname);
  await session.post(parseAddress(order.body['finalize'], 'the order cannot be finalized'), { csr });
  const ready = await poll(session, order.url, signal);
  if (ready.body['status'] !== 'valid') throw refused(readProblem(ready.body['error']));
  const chain = await session.readText(parseAddress(ready.body['certificate'], 'the order has no certificate'));
  return { chain, privateKey, ...parseFacts(chain, hostname, privateKey) };
}

/** Polls until the authority decides; the signal bounds the wait. */
async function poll(session: AcmeSession, url: string, signal: AbortSignal): Promise<AcmeResource> {
  for (;;) {
    const resource = await session.post(url);
    const { status } = resource.body;
    if (status !== 'pending' && status !== 'processing' && status !== 'ready') return resource;
    await delay(resource.retryAfterMs, undefined, { signal });
  }
}

/** Rejects a certificate that does not match this host and key, even if its signature is valid. */
function parseFacts(
  chain: string,
  hostname: string,
  privateKey: string,
): Pick<IssuedCertificate, 'issuer' | 'notBeforeMs' | 'notAfterMs'> {
  const certificate = new X509Certificate(chain);
  if (certificate.checkHost(hostname) === undefined || !certificate.checkPrivateKey(createPrivateKey(privateKey))) {
    throw unexpected('the certificate is for another host or key');
  }
  return {
    issuer: certificate.issuer.split('\n').at(-1)?.replace(/^CN=/, '') ?? '',
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
  };
}

function findHttpChallenge(authorization: AcmeResource): { url: string; token: string } {
  for (const challenge of parseObjects(authorization.body['challenges'])) {
    const { type, url, token } = challenge;
    if (type === 'http-01' && typeof url === 'string' && typeof token === 'string') return { url, token };
  }
  throw unexpected('it offers no HTTP-01 challenge');
}

function errorOfChallenge(authorization: AcmeResource): unknown {
  return parseObjects(authorization.body['challenges']).find(({ error }) => error !== undefined)?.['error'];
}

function parseObjects(value: unknown): Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value)) return [];
  return value.filter((each): each is Record<string, unknown> => typeof each === 'object' && each !== null);
}

function parseList(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function parseAddress(value: unknown, what: string): string {
  if (typeof value !== 'string') throw unexpected(what);
  return value;
}
