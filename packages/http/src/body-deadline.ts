import type { HttpApp } from './http-app.ts';

/**
 * Limits the time to receive a JSON body, which is small and buffered in memory. Streamed bodies may take hours; the
 * listener cuts those whose client has stopped sending.
 */
export function limitBodyTime(app: HttpApp, timeoutMs: number): void {
  app.addHook('preParsing', async (request, _reply, payload) => {
    if (request.routeOptions.config.rawBody === true) return payload; // raw content that happens to be JSON
    if (!/\bjson\b/.test(request.headers['content-type'] ?? '')) return payload;
    const timer = setTimeout(() => request.raw.destroy(), timeoutMs);
    const stop = (): void => clearTimeout(timer);
    request.raw.once('end', stop).once('close', stop);
    return payload;
  });
}
