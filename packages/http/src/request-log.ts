import type { Metrics } from '@svc/telemetry';
import { redactText } from '@svc/telemetry';
import type { HttpApp } from './http-app.ts';

const MAX_LOGGED_URL_CHARACTERS = 1024;

/** One line and one observation for each answer; the line's `request_id` comes with the request's own logger. */
export function observeRequests(app: HttpApp, metrics: Metrics): void {
  const labels = ['method', 'route', 'status'] as const;
  const duration = metrics.histogram('svc_http_request_duration_seconds', 'Time to answer a request', labels);
  app.addHook('onResponse', async (request, reply) => {
    // The route's pattern, never the path: the number of time series stays that of the routes.
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
