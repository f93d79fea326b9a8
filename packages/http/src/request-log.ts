import type { Metrics } from '@svc/telemetry';
import { redactText } from '@svc/telemetry';
import type { HttpApp } from './http-app.ts';

const MAX_LOGGED_URL_CHARACTERS = 1024;

/** Logs one line and records one observation per response. The request's logger adds `request_id`. */
export function observeRequests(app: HttpApp, metrics: Metrics): void {
  const labels = ['method', 'route', 'status'] as const;
  const duration = metrics.histogram('svc_http_request_duration_seconds', 'Time to answer a request', labels);
  app.addHook('onResponse', async (request, reply) => {
    // The route pattern, not the path, bounds the number of time series.
    const route = request.routeOptions.url ?? 'unknown';
    duration.observe({ method: request.method, route, status: String(reply.statusCode) }, reply.elapsedTime / 1000);
    request.log.info(
      {
        method: request.method,
        url: redactText(request.url).slice(0, MAX_LOGGED_URL_CHARACTERS),
        status: reply.statusCode,
        duration_ms: Math.round(reply.elapsedTime * 10) / 10,
        remote: request.ip,
        principal: request.principal?.id,
        ...(reply.raw.writableFinished ? {} : { aborted: true }),
      },
      'request',
    );
  });
}
