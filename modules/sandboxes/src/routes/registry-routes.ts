import {
  IMAGE_LIMIT,
  ImageSender,
  REGISTRY_CHALLENGE,
  renderRegistryError,
  useErrorRenderer,
  whenClosed,
  type HttpApp,
} from '@svc/http';
import type { HeldRights } from '@svc/access';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { ImageExport, ImageExports } from '../adapters/images/image-exports.ts';
import { TAG, type PlatformRegistry } from '../adapters/images/platform-registry.ts';
import {
  NAME_PART,
  REPOSITORIES,
  type RepositoryKind,
  type RepositoryName,
} from '../adapters/images/repository-name.ts';
import type { PullCredential, PullCredentials, PullLogin } from '../domain/images/pull-credentials.ts';
import { sandboxErrors } from '../errors.ts';
import { goneSignal } from './request-signal.ts';

/** The kind of what only the node with an image can serve. Its id is the repository's name without the image. */
export const IMAGE = 'sandbox-image';

export interface RegistryRoutesDeps {
  readonly registry: PlatformRegistry;
  readonly exports: ImageExports;
  readonly credentials: PullCredentials;
  readonly rights: HeldRights;
}

const tags = ['sandboxes'];
const HAS_BYTES = { type: 'string', format: 'binary' };
const part = Type.String({ maxLength: 140, pattern: NAME_PART });
const named = { source: part, image: part };
/** A node pulls a few layers of a few images at once. */
const MAX_DOWNLOADS = 256;

/**
 * The pull part of OCI distribution-spec 1.1 for the images of sandboxes that run as pods. Without a credential of the platform's
 * own for a cluster, everything is 401; what the credential may not pull is 404, whether or not it exists.
 */
export function registerRegistryRoutes(app: HttpApp, deps: RegistryRoutesDeps): void {
  useErrorRenderer(app, renderRegistryError);
  app.addHook('onRequest', async (_request, reply) => {
    void reply.header('docker-distribution-api-version', 'registry/2.0');
  });
  const door = new Door(deps);
  const sender = new ImageSender(MAX_DOWNLOADS);
  for (const kind of Object.values(REPOSITORIES)) {
    addManifestRoute(app, kind, door);
    addBlobRoute(app, kind, door, deps, sender);
  }
}

function addManifestRoute(app: HttpApp, kind: RepositoryKind, door: Door): void {
  app.get(
    `/v2/${kind}/:source/:image/manifests/:reference`,
    {
      config: door.configOf(kind),
      schema: {
        tags,
        summary: `Get the manifest of an image of ${WHOSE[kind]}, by a pull credential`,
        params: Type.Object({ ...named, reference: Type.String({ maxLength: 255, description: 'A tag or a digest' }) }),
        response: { 200: { description: 'The manifest.', content: { 'application/json': { schema: HAS_BYTES } } } },
      },
    },
    async (request, reply) => {
      const { reference, ...rest } = request.params;
      const found = await door.open({ kind, ...rest }, request, reply);
      const { manifest } = found;
      if (reference !== TAG && reference !== manifest.digest) throw notFound({ kind, ...rest });
      return reply
        .type(manifest.mediaType)
        .header('docker-content-digest', manifest.digest)
        .send(Buffer.from(manifest.content));
    },
  );
}

function addBlobRoute(
  app: HttpApp,
  kind: RepositoryKind,
  door: Door,
  { exports }: RegistryRoutesDeps,
  sender: ImageSender,
): void {
  app.get(
    `/v2/${kind}/:source/:image/blobs/:digest`,
    {
      config: door.configOf(kind),
      schema: {
        tags,
        summary: `Download a layer or the configuration of an image of ${WHOSE[kind]}, by a pull credential`,
        params: Type.Object({ ...named, digest: Type.String({ maxLength: 255, description: 'sha256:…' }) }),
        response: {
          200: { description: 'The bytes.', content: { 'application/octet-stream': { schema: HAS_BYTES } } },
        },
      },
    },
    async (request, reply) => {
      const { digest, ...rest } = request.params;
      const found = await door.open({ kind, ...rest }, request, reply);
      void reply.header('docker-content-digest', digest);
      if (digest === found.config.digest) {
        return reply.type('application/octet-stream').send(Buffer.from(found.config.content));
      }
      const layer = await exports.openLayer(found, digest);
      if (layer === null) throw sandboxErrors.BLOB_NOT_FOUND({ details: { digest } });
      return sender.send(request, reply, { ...layer, offset: 0 }, 'application/octet-stream');
    },
  );
}

const WHOSE: Readonly<Record<RepositoryKind, string>> = {
  [REPOSITORIES.images]: 'the catalog',
  [REPOSITORIES.templates]: 'a template',
};

/** Decides who may pull what, and ends downloads whose right is lost. */
class Door {
  readonly #deps: RegistryRoutesDeps;
  readonly #admitted = new WeakMap<FastifyRequest, PullLogin & { readonly credential: PullCredential }>();

  constructor(deps: RegistryRoutesDeps) {
    this.#deps = deps;
  }

  /** Public to the guard: nodes have no principal. */
  configOf(kind: RepositoryKind) {
    return {
      public: true,
      rateLimit: IMAGE_LIMIT,
      admit: (request: FastifyRequest) => this.#admit(request),
      owned: (request: FastifyRequest) => {
        const { source } = request.params as { readonly source: string }; // of the path
        const workspaceUuid = this.#admitted.get(request)?.credential.workspaceUuid ?? '';
        return { kind: IMAGE, id: `${kind}/${source}`, workspaceUuid };
      },
    } as const;
  }

  /** The image, for as long as the response lasts. Throws IMAGE_NOT_FOUND. */
  async open(name: RepositoryName, request: FastifyRequest, reply: FastifyReply): Promise<ImageExport> {
    const { registry, rights } = this.#deps;
    const login = this.#admitted.get(request);
    if (login === undefined) throw unauthorized();
    const confirmedAtMs = rights.now().getTime();
    if (!(await registry.offers(name, login.credential))) throw notFound(name);
    const key = `image-pull/${login.credential.id}/${name.kind}/${name.source}/${name.image}`;
    const check = async (): Promise<void> => {
      const credential = await this.#deps.credentials.check(login);
      if (credential === null) throw unauthorized();
      if (!(await registry.offers(name, credential))) throw notFound(name);
    };
    const end = (): void => void reply.raw.destroy();
    whenClosed(reply.raw, rights.hold({ key, exactKey: key, confirmedAtMs, check }, end));
    const found = await registry.get(name, login.credential, goneSignal(reply));
    if (found === null) throw notFound(name);
    return found;
  }

  async #admit(request: FastifyRequest): Promise<void> {
    const login = parseBasic(request.headers.authorization);
    const credential = login === null ? null : await this.#deps.credentials.check(login);
    if (login === null || credential === null) throw unauthorized();
    this.#admitted.set(request, { ...login, credential });
  }
}

/** RFC 7617: the first colon ends the user name. */
function parseBasic(header: string | undefined): PullLogin | null {
  const encoded = /^basic +([A-Za-z0-9+/]{1,1024}={0,2})$/i.exec(header ?? '')?.[1];
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon < 1 ? null : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}

function unauthorized(): Error {
  return sandboxErrors.PULL_CREDENTIAL_INVALID({ headers: { 'www-authenticate': REGISTRY_CHALLENGE } });
}

function notFound({ kind, source, image }: RepositoryName): Error {
  return sandboxErrors.IMAGE_NOT_FOUND({ details: { image: `${kind}/${source}/${image}` } });
}
