import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AppError } from '@svc/errors';
import { renderFlatError, resolveRequestId } from '@svc/http';
import { startErrors } from '../errors.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Orchestrators often probe over plain HTTP, and a probe contains no secret. */
const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/**
 * Handler of a plain HTTP listener that only redirects. Pages are redirected to TLS; everything else is refused,
 * because a program that sent its token in the clear would keep doing so if a redirect made it work.
 */
export function redirectToTls(probes: Handler, tlsUrl: () => string): Handler {
  return (request, response) => {
    const path = request.url ?? '/';
    if (PROBES.has(path)) return probes(request, response);
    request.resume();
    const isPage = request.method === 'GET' || request.method === 'HEAD';
    if (isPage && request.headers.authorization === undefined && path.startsWith('/')) {
      // 307: browsers must not cache the redirect, so that it can be disabled again.
      response
        .writeHead(307, { location: `${tlsOrigin(request, tlsUrl())}${path}`, 'cache-control': 'no-store' })
        .end();
      return;
    }
    refuse(request, response, startErrors.HTTPS_REQUIRED({ details: { url: tlsUrl() } }));
  };
}

/** Keeps the host: previews, tunnels and public objects have their own. */
function tlsOrigin({ headers }: IncomingMessage, tlsUrl: string): string {
  const asked = URL.parse(`https://${headers.host ?? ''}`);
  if (asked === null) return tlsUrl;
  const target = new URL(tlsUrl);
  target.hostname = asked.hostname;
  return target.origin;
}

function refuse(request: IncomingMessage, response: ServerResponse, error: AppError): void {
  const body = JSON.stringify(renderFlatError(error, resolveRequestId(request.headers)));
  response
    .writeHead(error.status, { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' })
    .end(body);
}

const YEAR_SECONDS = 31_536_000;

/**
 * How long browsers must insist on TLS. By default only if plain HTTP is not served and the certificate is the
 * operator's: HSTS applies to every port of a hostname, so it would block this platform's plain port too, and with the
 * local authority every other server on localhost.
 */
export function hstsSeconds(config: {
  http: 'serve' | 'redirect' | 'off';
  tls: { cert_file?: string; hsts_seconds?: number };
}): number {
  const { cert_file: certificate, hsts_seconds: wanted } = config.tls;
  return wanted ?? (config.http !== 'serve' && certificate !== undefined ? YEAR_SECONDS : 0);
}
