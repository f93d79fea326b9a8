import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpApp } from '@svc/http';
import type { ClustersService } from '../services/service.ts';
import type { ConsoleHandler } from '../console/console-handler.ts';

/**
 * First what is for hosts that are not ours, tunnels of clusters and previews of sandboxes; then the console's files,
 * then the API: one listener serves both, so a browser needs no cross-origin rules.
 */
export function createRequestHandler(
  app: HttpApp,
  console: ConsoleHandler,
  tunnels: ClustersService['tunnels'],
  previews: (request: IncomingMessage, response: ServerResponse) => boolean,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (tunnels?.handle(request, response) === true || previews(request, response)) return;
    if (console.handle(request, response)) return;
    app.routing(request, response);
  };
}
