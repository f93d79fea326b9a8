import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpApp } from '@svc/http';
import type { ConsoleHandler } from '../console/console-handler.ts';

/** First the console's files, then the API: one listener serves both, so a browser needs no cross-origin rules. */
export function createRequestHandler(
  app: HttpApp,
  console: ConsoleHandler,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (console.handle(request, response)) return;
    app.routing(request, response);
  };
}
