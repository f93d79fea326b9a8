import type { IncomingMessage, ServerResponse } from 'node:http';
import { PLATFORM_COOKIES, serializeCookie } from '@svc/access';
import { toAppError, type AppError } from '@svc/errors';
import { renderFlatError, resolveRequestId } from '@svc/http';

/** Whether a user is navigating to a page, so that the URL is kept in the address bar. */
export function isNavigation({ headers, method }: IncomingMessage): boolean {
  if (method !== 'GET') return false;
  const mode = headers['sec-fetch-mode'];
  return mode === undefined ? (headers.accept ?? '').includes('text/html') : mode === 'navigate';
}

/** Creates a cookie that expires with the link. */
export function entryCookie(token: string, leftMs: number, isSecure: boolean): string {
  const maxAgeSeconds = Math.max(0, Math.floor(leftMs / 1000));
  return serializeCookie(PLATFORM_COOKIES.preview, token, { maxAgeSeconds, isSecure });
}

/** Sends an error as JSON, or as a short page for navigations. It cannot be cached, framed or run scripts. */
export function answerError(raw: unknown, request: IncomingMessage, response: ServerResponse): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const error = toAppError(raw);
  const requestId = resolveRequestId(request.headers);
  const html = isNavigation(request);
  const body = html ? renderPage(error.status, error.message) : JSON.stringify(renderJson(error, requestId));
  response.writeHead(error.status, {
    ...error.headers,
    'content-type': html ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
    'cache-control': 'no-store',
    connection: 'close', // the body, if any, was not read
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

/** E2B clients look for this answer of a sandbox that is gone. */
function renderJson(error: AppError, requestId: string): unknown {
  if (error.code !== 'SANDBOX_GONE') return renderFlatError(error, requestId);
  const { sandbox } = error.details;
  return {
    sandboxId: typeof sandbox === 'string' ? sandbox.replace(/^sbx_/, '') : '',
    message: error.message,
    code: error.status,
  };
}

function renderPage(status: number, message: string): string {
  const escaped = message.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<!doctype html><html lang="en"><title>Preview: ${status}</title><h1>${status}</h1><p>${escaped}</p></html>\n`;
}
