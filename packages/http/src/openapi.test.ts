import { fakeAccess, fakeAudit } from '@svc/testing';
import { createLogger, createMetrics } from '@svc/telemetry';
import { Type } from 'typebox';
import { describe, expect, it } from 'vitest';
import { createHttpApp } from './app.ts';
import type { HttpApp } from './http-app.ts';
import { operationIdOf } from './openapi-document.ts';
import { renderOpenApiDocument } from './openapi.ts';
import { renderNestedError } from './renderers.ts';

function createApp(): Promise<HttpApp> {
  return createHttpApp({
    log: createLogger({ level: 'silent', name: 'test' }),
    metrics: createMetrics(),
    access: fakeAccess(),
    audit: fakeAudit(),
    version: '1.2.3',
    errorFamilies: [{ prefix: '/v1', render: renderNestedError }],
  });
}

type Route = (app: HttpApp) => void;

const things: Route = (app) =>
  void app.post(
    '/api/things/:id',
    {
      config: { action: 'thing:create' },
      schema: {
        tags: ['things'],
        summary: 'Make a thing',
        params: Type.Object({ id: Type.String() }),
        body: Type.Object({ name: Type.String() }, { additionalProperties: false }),
        response: { 201: Type.Object({ id: Type.String() }) },
      },
    },
    async (_request, reply) => reply.status(201).send({ id: 'a' }),
  );
const clusters: Route = (app) =>
  void app.get(
    '/v1/clusters',
    { config: { public: true }, schema: { tags: ['clusters'], operationId: 'listClusters' } },
    async () => ({}),
  );

interface Rendered {
  paths: Record<string, unknown>;
  components: Record<string, Record<string, unknown>>;
}

async function renderDocument(...routes: Route[]): Promise<{ text: string; document: Rendered }> {
  const app = await createApp();
  for (const route of routes) route(app);
  await app.ready();
  const text = renderOpenApiDocument(app);
  await app.close();
  return { text, document: JSON.parse(text) as Rendered }; // rendered by the app
}

describe('the OpenAPI document', () => {
  it('describes a route by its own schema, and its errors in the shape of its path', async () => {
    const { document } = await renderDocument(things, clusters);
    expect(document).toMatchObject({ openapi: '3.1.0', info: { title: 'svc', version: '1.2.3' } });
    expect(document.paths).toEqual({
      '/api/things/{id}': {
        post: {
          operationId: 'postThingsById',
          tags: ['things'],
          summary: 'Make a thing',
          parameters: [{ schema: { type: 'string' }, in: 'path', name: 'id', required: true }],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: expect.objectContaining({ additionalProperties: false }) } },
          },
          responses: {
            201: { description: 'Created', content: { 'application/json': { schema: expect.anything() } } },
            401: { $ref: '#/components/responses/FlatError' },
            403: { $ref: '#/components/responses/FlatError' },
            default: { $ref: '#/components/responses/FlatError' },
          },
        },
      },
      '/v1/clusters': {
        get: {
          operationId: 'listClusters',
          tags: ['clusters'],
          security: [],
          responses: { 200: { description: 'OK' }, default: { $ref: '#/components/responses/NestedError' } },
        },
      },
    });
    expect(document).toMatchObject({
      security: [{ bearer: [] }, { session: [] }],
      tags: [{ name: 'clusters' }, { name: 'things' }],
    });
  });

  it('is the same text whatever the order of the routes, and ends in a newline', async () => {
    const [forth, back] = [await renderDocument(things, clusters), await renderDocument(clusters, things)];
    expect(forth.text).toBe(back.text);
    expect(forth.text).toMatch(/\n\}\n$/);
  });

  it('refuses two operations of one name, since clients are generated from it', async () => {
    const twin: Route = (app) =>
      void app.get(
        '/v1/twins',
        { config: { public: true }, schema: { operationId: 'listClusters' } },
        async () => ({}),
      );
    await expect(renderDocument(clusters, twin)).rejects.toThrow('are both named listClusters');
  });

  it('leaves no reference without its target', async () => {
    const { text, document } = await renderDocument(things, clusters);
    for (const [, kind = '', name = ''] of text.matchAll(/"#\/components\/(\w+)\/(\w+)"/g)) {
      expect(document.components[kind]?.[name], `${kind}/${name}`).toBeDefined();
    }
  });

  it('names operations after method and path', () => {
    expect(operationIdOf('get', '/api/containers/{id}/files/list')).toBe('getContainersByIdFilesList');
    expect(operationIdOf('delete', '/api/v1/workspace/{workspace_uuid}/object-store/keys')).toBe(
      'deleteWorkspaceByWorkspaceUuidObjectStoreKeys',
    );
    expect(operationIdOf('get', '/.well-known/jwks.json')).toBe('getWellKnownJwksJson');
  });
});
