import { open, type FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { readBuiltConsole, type BuiltConsole, type BuiltFile } from './built-files.ts';
import { chooseVariant, isFresh, isNavigation } from './negotiation.ts';

/**
 * Only the platform's own files may run, load in or frame the console: no inline script or style, no eval, no foreign
 * origin. `connect-src 'self'` includes WebSockets to the same host (CSP 3, 6.7.2.8).
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self'",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every console response. */
const CONSOLE_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // An invitation link contains its token, which must not leak to other sites.
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

export interface ConsoleHandlerOptions {
  /** The console's build folder. */
  folder: string;
  /** Path prefixes that never belong to the console, such as `/api`. */
  apiPrefixes: readonly string[];
  /** Called when a file could not be read; the client received a 500 or an aborted connection. */
  onFault: (error: unknown) => void;
}

export interface ConsoleHandler {
  /** Handles the request, or returns false and leaves it untouched for the API. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
}

/** Reads the built console once and serves it: hashed files are cached forever, the document is always revalidated. */
export async function createConsoleHandler(options: ConsoleHandlerOptions): Promise<ConsoleHandler> {
  const built = await readBuiltConsole(options.folder);
  const isRoute = createMatcher(built.routes);
  return {
    handle(request, response) {
      const answer = choose(built, isRoute, options.apiPrefixes, request);
      if (answer === null) return false;
      send(request, response, answer).catch((error: unknown) => {
        options.onFault(error);
        if (!response.headersSent) response.writeHead(500, { ...CONSOLE_HEADERS, 'content-length': '0' });
        response.end();
      });
      return true;
    },
  };
}

interface Answer {
  status: 200 | 404;
  file: BuiltFile;
}

function choose(
  built: BuiltConsole,
  isRoute: (path: string) => boolean,
  apiPrefixes: readonly string[],
  request: IncomingMessage,
): Answer | null {
  if (request.method !== 'GET' && request.method !== 'HEAD') return null;
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
  if (apiPrefixes.some((prefix) => path === prefix || path.startsWith(`${prefix}/`))) return null;
  const file = built.files.get(path);
  if (file !== undefined) return { status: 200, file };
  if (isRoute(path)) return { status: 200, file: built.document };
  return isNavigation(request.headers) ? { status: 404, file: built.document } : null;
}

/** Turns `/w/$workspace/audit` into a pattern in which `$workspace` matches one path segment. */
function createMatcher(routes: readonly string[]): (path: string) => boolean {
  const sources = routes.map((route) =>
    route
      .split('/')
      .map((part) => (part.startsWith('$') ? '[^/]+' : part.replace(/[^\w-]/g, String.raw`\$&`)))
      .join('/'),
  );
  const pattern = new RegExp(`^(?:${sources.join('|')})/?$`);
  return (path) => pattern.test(path);
}

async function send(request: IncomingMessage, response: ServerResponse, { status, file }: Answer): Promise<void> {
  const choice = chooseVariant(file, request.headers);
  if (choice === null) throw new Error('a built file has no plain variant');
  const { variant, encoding } = choice;
  const headers: Record<string, string> = {
    ...CONSOLE_HEADERS,
    'cache-control': file.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    'content-type': file.contentType,
    etag: variant.etag,
    vary: 'accept-encoding',
  };
  if (status === 200 && isFresh(request.headers, variant.etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  headers['content-length'] = String(variant.sizeBytes);
  if (encoding !== 'identity') headers['content-encoding'] = encoding;
  if (request.method === 'HEAD') {
    response.writeHead(status, headers).end();
    return;
  }
  await streamFile(await open(variant.path), response, status, headers);
}

async function streamFile(
  handle: FileHandle,
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
): Promise<void> {
  try {
    response.writeHead(status, headers);
    await pipeline(handle.createReadStream({ autoClose: false }), response);
  } catch (error) {
    // A client disconnect is not an error.
    if (!isPrematureClose(error)) throw error;
  } finally {
    await handle.close();
  }
}

function isPrematureClose(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
