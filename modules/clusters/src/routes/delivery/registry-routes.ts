import { IMAGE_LIMIT, renderRegistryError, useErrorRenderer, type HttpApp, type ImageSender } from '@svc/http';
import { Type } from 'typebox';
import { clusterErrors } from '../../errors.ts';
import { REPOSITORY } from '../../adapters/delivery/agent-delivery.ts';
import type { AgentImages } from '../../adapters/delivery/agent-images.ts';
import type { Manifest } from '../../adapters/delivery/image-archive.ts';

export interface RegistryOptions {
  images: AgentImages;
  sender: ImageSender;
}

const tags = ['clusters'];
const HAS_BYTES = { type: 'string', format: 'binary' };
const name = Type.String({ maxLength: 255 });
const reference = Type.String({ maxLength: 255, description: 'A tag or a digest' });
const digest = Type.String({ maxLength: 255, description: 'sha256:…' });

/**
 * The pull part of OCI distribution-spec 1.1 (and of Docker's registry API v2, whose clients request `/v2/` first), for
 * the agent's image only. Public like the chart: nodes pull without a token, and nothing in it is secret.
 */
export function registerRegistryRoutes(app: HttpApp, options: RegistryOptions): void {
  useErrorRenderer(app, renderRegistryError);
  app.addHook('onRequest', async (_request, reply) => {
    void reply.header('docker-distribution-api-version', 'registry/2.0');
  });
  addTagsRoute(app, options);
  addManifestRoute(app, options);
  addBlobRoute(app, options);
}

function addTagsRoute(app: HttpApp, { images }: RegistryOptions): void {
  app.get(
    '/v2/:name/tags/list',
    {
      config: { public: true, rateLimit: IMAGE_LIMIT },
      schema: {
        tags,
        summary: "List the versions of the agent's image; no credentials",
        params: Type.Object({ name }),
        response: { 200: Type.Object({ name: Type.String(), tags: Type.Array(Type.String()) }) },
      },
    },
    async (request) => {
      mustBeOurs(request.params.name);
      const indexes = await images.indexes();
      return { name: REPOSITORY, tags: indexes.map(({ tag }) => tag) };
    },
  );
}

function addManifestRoute(app: HttpApp, { images }: RegistryOptions): void {
  app.get(
    '/v2/:name/manifests/:reference',
    {
      config: { public: true, rateLimit: IMAGE_LIMIT },
      schema: {
        tags,
        summary: "Get the manifest of the agent's image; no credentials",
        params: Type.Object({ name, reference }),
        response: { 200: { description: 'The manifest', content: { 'application/json': { schema: HAS_BYTES } } } },
      },
    },
    async (request, reply) => {
      mustBeOurs(request.params.name);
      const found = await findManifest(images, request.params.reference);
      // Send the hashed bytes: parsing and reserializing could change them.
      return reply.type(found.mediaType).header('docker-content-digest', found.digest).send(found.content);
    },
  );
}

function addBlobRoute(app: HttpApp, { images, sender }: RegistryOptions): void {
  app.get(
    '/v2/:name/blobs/:digest',
    {
      config: { public: true, rateLimit: IMAGE_LIMIT },
      schema: {
        tags,
        summary: "Download a layer or the configuration of the agent's image; no credentials",
        params: Type.Object({ name, digest }),
        response: {
          200: { description: 'The bytes', content: { 'application/octet-stream': { schema: HAS_BYTES } } },
        },
      },
    },
    async (request, reply) => {
      mustBeOurs(request.params.name);
      const wanted = request.params.digest;
      const blob = await images.blob(wanted);
      if (blob === null) throw clusterErrors.BLOB_NOT_FOUND({ details: { digest: wanted } });
      void reply.header('docker-content-digest', wanted).header('cache-control', 'public, max-age=31536000, immutable');
      return sender.send(request, reply, blob, 'application/octet-stream');
    },
  );
}

async function findManifest(images: AgentImages, wanted: string): Promise<Manifest> {
  const indexes = await images.indexes();
  const found =
    indexes.find(({ tag, digest: own }) => wanted === tag || wanted === own) ?? (await images.manifest(wanted));
  if (found !== null) return found;
  const held = indexes.map(({ tag }) => tag).join(', ');
  const reason = held === '' ? 'it has none; run svc agent image --data FOLDER to build it' : `it holds ${held}`;
  throw clusterErrors.IMAGE_NOT_FOUND({ details: { reference: wanted, reason } });
}

function mustBeOurs(given: string): void {
  if (given !== REPOSITORY) throw clusterErrors.REPOSITORY_NOT_FOUND({ details: { name: given, own: REPOSITORY } });
}
