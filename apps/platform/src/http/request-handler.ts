import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientOfRequest, HttpApp, ServiceModule } from '@svc/http';
import type { ConsoleHandler } from '../console/console-handler.ts';

/**
 * Routes a request: first to the hosts other than console and API (cluster tunnels, sandbox previews, public objects),
 * then to the console's files, then to the API. One listener serves console and API, so browsers need no cross-origin
 * rules.
 */
export function createRequestHandler(
  app: HttpApp,
  console: ConsoleHandler,
  modules: readonly Pick<ServiceModule<never>, 'handleHost'>[],
  hsts: { seconds: number; clientOf: ClientOfRequest },
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (modules.some(({ handleHost }) => handleHost(request, response))) return;
    // RFC 6797, 7.2: never over plain HTTP.
    if (hsts.seconds > 0 && hsts.clientOf(request).isSecure) {
      response.setHeader('strict-transport-security', `max-age=${hsts.seconds}`);
    }
    if (console.handle(request, response)) return;
    app.routing(request, response);
  };
}
