import { grantedAccessOf, grantOf, principalOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import type { SandboxService } from '../domain/sandbox-service.ts';
import { sandboxErrors } from '../errors.ts';
import type { PreviewLinks } from './preview/preview-links.ts';
import { PATH_PREFIX, TOKEN_NAME } from './preview/preview-place.ts';
import { idParamsSchema, workspaceQuery, workspaceQuerySchema } from './schemas.ts';

const tags = ['sandboxes'];
const DEFAULT_SECONDS = 3600;
const MOST_SECONDS = 7 * 86_400;
const portNumber = Type.Integer({ minimum: 1, maximum: 65_535 });
const timestamp = Type.String({ format: 'date-time' });

export interface PortRoutesOptions {
  readonly prefix: string;
  readonly service: SandboxService;
  readonly links: PreviewLinks;
  readonly domain: string;
  readonly publicUrl: () => string;
}

const madeSchema = Type.Object({
  id: Type.String(),
  port: portNumber,
  url: Type.String({ description: 'URL with a separate origin for this port of this sandbox' }),
  path_url: Type.String({
    description: "The same port on the platform's host, without cookies and in an opaque origin",
  }),
  expires_at: timestamp,
});
const portUrl = Type.String({ description: 'URL of a port, with {port} for its number' });
const listSchema = Type.Object({
  ports: Type.Array(Type.Object({ id: Type.String(), port: portNumber, created_at: timestamp, expires_at: timestamp })),
  count: Type.Integer(),
  public: Type.Boolean({ description: 'Whether every port is open without a link, as E2B clients can request' }),
  url: portUrl,
});
const publicSchema = Type.Object({
  public: Type.Boolean(),
  url: portUrl,
});
const revokedSchema = Type.Object({ revoked: Type.Integer({ description: 'Revoked links' }) });

export function registerPortRoutes(app: HttpApp, options: PortRoutesOptions): void {
  registerMake(app, options);
  registerPublic(app, options);
  registerList(app, options);
  registerRevoke(app, options);
}

function registerMake(app: HttpApp, { prefix, service, links, domain, publicUrl }: PortRoutesOptions): void {
  app.post(
    `${prefix}/:id/ports`,
    {
      config: { action: 'sandbox:exec' },
      schema: {
        tags,
        summary: 'Create a signed link to a port of the sandbox; anyone with the link can use it',
        description:
          "HTTP and WebSocket traffic reaches the port on the sandbox's loopback interface, whatever its network. " +
          'The first response moves the signature from the URL into a cookie.',
        params: idParamsSchema,
        querystring: Type.Object(workspaceQuery),
        body: Type.Object(
          {
            port: portNumber,
            expires_in_seconds: Type.Optional(
              Type.Integer({ minimum: 1, maximum: MOST_SECONDS, description: `${DEFAULT_SECONDS} by default` }),
            ),
          },
          { additionalProperties: false },
        ),
        response: { 201: madeSchema },
      },
    },
    async (request, reply) => {
      const sandbox = await service.get(grantOf(request).workspaceUuid, request.params.id);
      const { port, expires_in_seconds: seconds = DEFAULT_SECONDS } = request.body;
      const { id: ownerId, expiresAt: notAfter } = principalOf(request);
      const maker = { ownerId, granted: grantedAccessOf(request), notAfter };
      const { link, token } = await links.make(sandbox, maker, port, seconds * 1000);
      const origin = originOf(sandbox.id, String(port), domain, publicUrl());
      reply.header('cache-control', 'no-store');
      return reply.status(201).send({
        id: link.id,
        port,
        url: `${origin}/?${TOKEN_NAME}=${token}`,
        path_url: `${new URL(publicUrl()).origin}${PATH_PREFIX}${token}/`,
        expires_at: link.expiresAt,
      });
    },
  );
}

/** The origin of a port, below the preview domain. */
function originOf(sandboxId: string, port: string, domain: string, publicUrl: string): string {
  const { protocol, port: ownPort } = new URL(publicUrl);
  return `${protocol}//${port}-${sandboxId.replace(/^sbx_/, '')}.${domain}${ownPort === '' ? '' : `:${ownPort}`}`;
}

/** The URL of a port, with `{port}` for its number. */
function urlOfPorts(sandboxId: string, domain: string, publicUrl: string): string {
  return `${originOf(sandboxId, '{port}', domain, publicUrl)}/`;
}

function registerPublic(app: HttpApp, { prefix, service, links, domain, publicUrl }: PortRoutesOptions): void {
  app.put(
    `${prefix}/:id/ports`,
    {
      config: { action: 'sandbox:exec' },
      schema: {
        tags,
        summary: 'Open every port of the sandbox to anyone who knows its address, or require links again',
        description:
          'Public ports end with the credential that opened them. Closing them cuts their connections; links to single ' +
          'ports stay.',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        body: Type.Object({ public: Type.Boolean() }, { additionalProperties: false }),
        response: { 200: publicSchema },
      },
    },
    async (request) => {
      const sandbox = await service.get(grantOf(request).workspaceUuid, request.params.id);
      const { id: ownerId, expiresAt: notAfter } = principalOf(request);
      await links.unpublish(sandbox.id); // the user who opened them may lose that right
      if (request.body.public) await links.publish(sandbox, { ownerId, granted: grantedAccessOf(request), notAfter });
      return { public: request.body.public, url: urlOfPorts(sandbox.id, domain, publicUrl()) };
    },
  );
}

function registerList(app: HttpApp, { prefix, service, links, domain, publicUrl }: PortRoutesOptions): void {
  app.get(
    `${prefix}/:id/ports`,
    {
      config: { action: 'sandbox:read', anyNode: true },
      schema: {
        tags,
        summary: 'List the active port links, without their signatures, and whether every port is open without one',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        response: { 200: listSchema },
      },
    },
    async (request) => {
      const { id } = await service.get(grantOf(request).workspaceUuid, request.params.id);
      const ports = (await links.list(id)).map((link) => ({
        id: link.id,
        port: link.port,
        created_at: link.createdAt,
        expires_at: link.expiresAt,
      }));
      const url = urlOfPorts(id, domain, publicUrl());
      return { ports, count: ports.length, public: await links.isPublic(id), url };
    },
  );
}

function registerRevoke(app: HttpApp, { prefix, service, links }: PortRoutesOptions): void {
  app.delete(
    `${prefix}/:id/ports`,
    {
      config: { action: 'sandbox:exec' },
      schema: {
        tags,
        summary: 'Revoke all port links of the sandbox, and public access to its ports, and close their connections',
        params: idParamsSchema,
        querystring: workspaceQuerySchema,
        response: { 200: revokedSchema },
      },
    },
    async (request) => {
      const { id } = await service.get(grantOf(request).workspaceUuid, request.params.id);
      return { revoked: await links.revoke(id, null) };
    },
  );
  app.delete(
    `${prefix}/:id/ports/:port`,
    {
      config: { action: 'sandbox:exec' },
      schema: {
        tags,
        summary: 'Revoke the links to one port and close their connections',
        params: Type.Object({ id: Type.String({ maxLength: 100 }), port: portNumber }),
        querystring: workspaceQuerySchema,
        response: { 200: revokedSchema },
      },
    },
    async (request) => {
      const { id } = await service.get(grantOf(request).workspaceUuid, request.params.id);
      const { port } = request.params;
      const revoked = await links.revoke(id, port);
      if (revoked === 0) throw sandboxErrors.PREVIEW_LINK_NOT_FOUND({ details: { port } });
      return { revoked };
    },
  );
}
