import type { HttpApp } from '@svc/http';
import type { HTTPMethods } from 'fastify';
import { sandboxErrors } from '../../errors.ts';

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** A part of E2B's API that is refused by name. */
interface Refusal {
  readonly paths: readonly string[];
  /** All methods by default. */
  readonly methods?: readonly HTTPMethods[];
  readonly feature: string;
  readonly remedy: string;
}

/** Every refused part, which the page on E2B lists too. */
const REFUSED: readonly Refusal[] = [
  {
    paths: ['/v2/templates/*', '/templates/*'],
    feature: 'This part of templates',
    remedy: 'build them with the Template class of a current SDK, or with svc template build',
  },
  {
    paths: ['/templates', '/v2/templates'],
    methods: ['POST'],
    feature: 'Building on a machine of the client',
    remedy: 'build with the Template class of a current SDK, or with svc template build',
  },
  {
    paths: ['/access-tokens', '/access-tokens/*'],
    feature: 'Managing access tokens',
    remedy: 'create API tokens of a user with POST /api/tokens',
  },
  {
    paths: ['/nodes', '/nodes/*', '/admin/*'],
    feature: "E2B's own operation",
    remedy: "use the platform's API",
  },
];

/** Answers 501 with the reason for everything that is known and not supported. */
export function registerUnsupported(app: HttpApp, prefix: string): void {
  for (const { paths, methods = METHODS, feature, remedy } of REFUSED) {
    for (const path of paths) {
      app.route({
        method: [...methods],
        url: `${prefix}${path}`,
        config: { public: true }, // the same answer for everyone, which depends on nothing
        schema: { hide: true },
        handler: () => {
          throw sandboxErrors.E2B_UNSUPPORTED({ details: { feature, remedy } });
        },
      });
    }
  }
}
