import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { SecureContext } from 'node:tls';
import { callbackify } from 'node:util';
import type { Clock } from '@svc/runtime';
import type { Logger } from '@svc/telemetry';
import type { DomainDirectory } from '../../domain/custom-domains/domain-directory.ts';
import type { MetadataStore } from '../../domain/ports/metadata-store.ts';
import type { TlsCertificates } from './tls-certificates.ts';

type Handler = (incoming: IncomingMessage, response: ServerResponse) => void;

/**
 * Handlers of the two listeners of custom domains:
 * `createListener({ ...sites.http })` and `createListener({ ...sites.https })`.
 */
export interface Sites {
  readonly http: { handler: Handler; configure: (server: Server) => void };
  readonly https: {
    handler: Handler;
    configure: (server: Server) => void;
    tls: { SNICallback: (servername: string, done: (error: Error | null, context?: SecureContext) => void) => void };
  };
}

export interface SitesOptions {
  directory: DomainDirectory;
  certificates: TlsCertificates;
  metadata: Pick<MetadataStore, 'findAcmeChallenge'>;
  /** The plane that serves the bucket once its host is known. */
  s3: { handle: Handler; configure: (server: Server) => void };
  /** Null if requests without TLS are served directly. */
  redirectToPort: number | null;
  clock: Clock;
  log: Logger;
}

const CHALLENGE_PREFIX = '/.well-known/acme-challenge/';
const TOKEN = /^[A-Za-z0-9_-]{1,200}$/;

export function createSites(options: SitesOptions): Sites {
  const { certificates, s3, log } = options;
  const guarded =
    (serve: (incoming: IncomingMessage, response: ServerResponse) => Promise<void>): Handler =>
    (incoming, response) => {
      serve(incoming, response).catch((error: unknown) => {
        log.error({ err: error }, 'a request to a custom domain failed');
        refuse(response, 503);
      });
    };
  return {
    http: {
      handler: guarded((incoming, response) => servePlain(incoming, response, options)),
      configure: s3.configure,
    },
    https: {
      handler: guarded((incoming, response) => serveTls(incoming, response, options)),
      configure: s3.configure,
      tls: {
        // Unknown names get no handshake, and so no certificate that would reveal whose platform this is.
        SNICallback: callbackify(async (servername: string) => {
          const context = await certificates.contextFor(servername);
          if (context === null) throw new Error('no such host');
          return context;
        }),
      },
    },
  };
}

async function servePlain(incoming: IncomingMessage, response: ServerResponse, options: SitesOptions): Promise<void> {
  if (await answerChallenge(incoming, response, options)) return;
  const host = incoming.headers.host ?? '';
  if ((await options.directory.findBucket(host)) === null) return refuse(response, 421);
  const hostname = options.directory.parseName(host) ?? '';
  const { redirectToPort } = options;
  if (redirectToPort === null || (await options.certificates.contextFor(hostname)) === null) {
    options.s3.handle(incoming, response);
    return;
  }
  const port = redirectToPort === 443 ? '' : `:${redirectToPort}`;
  response.writeHead(308, { location: `https://${hostname}${port}${pathOf(incoming)}`, 'content-length': 0 });
  response.end();
}

async function serveTls(incoming: IncomingMessage, response: ServerResponse, options: SitesOptions): Promise<void> {
  // A connection may ask for a host that its certificate does not cover (RFC 9110, section 7.4).
  if ((await options.directory.findBucket(incoming.headers.host ?? '')) === null) return refuse(response, 421);
  options.s3.handle(incoming, response);
}

/** HTTP-01 (RFC 8555, section 8.3). Tokens are unguessable, so the host is not checked. */
async function answerChallenge(
  incoming: IncomingMessage,
  response: ServerResponse,
  { metadata, clock }: SitesOptions,
): Promise<boolean> {
  const path = (incoming.url ?? '').split('?', 1)[0] ?? '';
  if (incoming.method !== 'GET' || !path.startsWith(CHALLENGE_PREFIX)) return false;
  const token = path.slice(CHALLENGE_PREFIX.length);
  const answer = TOKEN.test(token) ? await metadata.findAcmeChallenge({ token, nowMs: clock.nowMs() }) : null;
  if (answer === null) {
    refuse(response, 404); // redirecting the authority to https would not help it
    return true;
  }
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': Buffer.byteLength(answer) });
  response.end(answer);
  return true;
}

/** The path as sent. Only text that starts with a slash may become part of our URLs. */
function pathOf(incoming: IncomingMessage): string {
  const url = incoming.url ?? '/';
  return url.startsWith('/') ? url : '/';
}

function refuse(response: ServerResponse, status: 404 | 421 | 503): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(status, { 'content-length': 0, connection: 'close' });
  response.end();
}
