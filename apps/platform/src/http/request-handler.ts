import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpApp } from '@svc/http';
import type { ConsoleHandler } from '../console/console-handler.ts';

/**
 * First the console's files, then the API: one listener serves both, so a browser needs no cross-origin rules. Previews of
 * sandboxes have hosts of their own, on which there is neither.
 */
export function createRequestHandler(
  app: HttpApp,
  console: ConsoleHandler,
  previews: (request: IncomingMessage, response: ServerResponse) => boolean,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (previews(request, response)) return;
    if (console.handle(request, response)) return;
    app.routing(request, response);
  };
}
