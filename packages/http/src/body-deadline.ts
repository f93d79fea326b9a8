import type { HttpApp } from './http-app.ts';

/**
 * A JSON body is small and is held in memory until it is whole: it has this long. Streamed bodies may take hours; the
 * listener cuts those whose client has stopped sending.
 */
export function limitBodyTime(app: HttpApp, timeoutMs: number): void {
  app.addHook('preParsing', async (request, _reply, payload) => {
    if (request.routeOptions.config.rawBody === true) return payload; // an object that happens to be JSON
    if (!/\bjson\b/.test(request.headers['content-type'] ?? '')) return payload;
    const timer = setTimeout(() => request.raw.destroy(), timeoutMs);
    const stop = (): void => clearTimeout(timer);
    request.raw.once('end', stop).once('close', stop);
    return payload;
  });
}
