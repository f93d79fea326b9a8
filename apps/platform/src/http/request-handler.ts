import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientOfRequest, HttpApp } from '@svc/http';
import type { ClustersService } from '../services/service.ts';
import type { ConsoleHandler } from '../console/console-handler.ts';

/** Answers a request for a host of its own, and says whether it did. */
type OwnHosts = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * First the hosts that are neither console nor API: tunnels of clusters, previews of sandboxes and public objects; then the
 * console's files, then the API: one listener serves both, so a browser needs no cross-origin rules.
 */
export function createRequestHandler(
  app: HttpApp,
  console: ConsoleHandler,
  tunnels: ClustersService['tunnels'],
  ownHosts: readonly OwnHosts[],
  hsts: { seconds: number; clientOf: ClientOfRequest },
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (tunnels?.handle(request, response) === true || ownHosts.some((handle) => handle(request, response))) return;
    // RFC 6797, 7.2: never over plain HTTP.
    if (hsts.seconds > 0 && hsts.clientOf(request).isSecure) {
      response.setHeader('strict-transport-security', `max-age=${hsts.seconds}`);
    }
    if (console.handle(request, response)) return;
    app.routing(request, response);
  };
}
