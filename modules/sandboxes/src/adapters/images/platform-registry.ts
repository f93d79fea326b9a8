import { isAppError } from '@svc/errors';
import type { QuotaLimits } from '@svc/quotas';
import { isCauseCode, sandboxErrors } from '../../errors.ts';
import { whyUnreachable, type ImageService, type PlatformImages } from '../../domain/images/platform-images.ts';
import {
  nodeSubject,
  type PullCredential,
  type PullCredentials,
  type PullSubject,
} from '../../domain/images/pull-credentials.ts';
import type { TemplateRepository } from '../../domain/templates/template.ts';
import type { ImageExport, ImageExports } from './image-exports.ts';
import type { ImageStore } from './image-store.ts';
import { isCatalogDigest, nameOfRepository, REPOSITORIES, type RepositoryName } from './repository-name.ts';

export interface PlatformRegistryDeps {
  readonly images: Pick<ImageStore, 'prepare' | 'byDigest'>;
  readonly exports: ImageExports;
  readonly credentials: PullCredentials;
  readonly templates: Pick<TemplateRepository, 'findBuild'>;
  /** This node. */
  readonly node: string;
  readonly imageService: ImageService;
  readonly quotaLimits: QuotaLimits;
}

/** The only tag: a repository has one image, and its name the digest of it. */
export const TAG = 'image';

/**
 * The platform's registry for the nodes of clusters. Each image is a repository of its own: `svc-images/NODE/DIGEST` for one of
 * the catalog, `svc-templates/BUILD/DIGEST` for a built one, so that the name tells who may pull it and where it is.
 */
export class PlatformRegistry {
  readonly #deps: PlatformRegistryDeps;

  constructor(deps: PlatformRegistryDeps) {
    this.#deps = deps;
  }

  /** For the driver of a cluster. */
  imagesFor(subject: PullSubject): PlatformImages {
    return {
      servesAll: this.#deps.imageService.servesAll,
      hasTemplates: subject.workspaceUuid !== null,
      ofCatalog: (image, signal) => this.#ofCatalog(image, signal),
      ofTemplate: async ({ digest, buildId }, signal) => {
        const repository = this.#reference({ kind: REPOSITORIES.templates, source: buildId ?? '', image: digest });
        if ((await this.#deps.images.byDigest(digest)) !== null) {
          await asCause(digest, () => this.#export(digest, subject.workspaceUuid, signal));
        }
        return repository;
      },
      login: async () => ({ host: this.#host(), ...(await this.#deps.credentials.issue(subject)) }),
    };
  }

  /** The node with the images below `KIND/SOURCE`, for a workspace; null if there is none for it. */
  async findNode(id: string, workspaceUuid: string): Promise<string | null> {
    const [kind, source = ''] = id.split('/');
    if (kind === REPOSITORIES.images) return source;
    const build = await this.#deps.templates.findBuild(source);
    return build?.workspaceUuid === workspaceUuid ? build.node : null;
  }

  /** Whether the credential may pull the image, and this node has it. */
  async offers({ kind, source, image }: RepositoryName, pull: PullCredential): Promise<boolean> {
    const { node, templates, images } = this.#deps;
    if ((await images.byDigest(image)) === null) return false;
    if (kind === REPOSITORIES.images) {
      const isReachable = pull.workspaceUuid !== null || pull.subject === nodeSubject(node).subject;
      return source === node && isCatalogDigest(image) && isReachable;
    }
    const build = pull.workspaceUuid === null ? null : await templates.findBuild(source);
    return build?.workspaceUuid === pull.workspaceUuid && build.digest === image && build.node === node;
  }

  /**
   * The image of a repository that is offered, made first if needed; null if it is gone. Throws IMAGE_PULL_FAILED and
   * IMAGES_BUSY.
   */
  get({ kind, image }: RepositoryName, pull: PullCredential, signal: AbortSignal): Promise<ImageExport | null> {
    return this.#export(image, kind === REPOSITORIES.images ? null : pull.workspaceUuid, signal);
  }

  async #ofCatalog(image: string, signal: AbortSignal): Promise<string> {
    const { images, node } = this.#deps;
    const { digest } = await images.prepare(image, signal);
    const reference = this.#reference({ kind: REPOSITORIES.images, source: node, image: digest });
    const made = await asCause(image, () => this.#export(digest, null, signal));
    if (made === null) throw failure(image, 'it was removed while it was packed');
    return reference;
  }

  /** What went wrong on this machine is for the operator: the log has it as the cause. */
  async #export(image: string, workspaceUuid: string | null, signal: AbortSignal): Promise<ImageExport | null> {
    const { exports, quotaLimits } = this.#deps;
    try {
      if (workspaceUuid !== null) await quotaLimits.readLimits(workspaceUuid); // so that the owner is known
      return await exports.get(image, workspaceUuid, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (isAppError(error)) throw error;
      throw failure(image, 'it could not be packed', error);
    }
  }

  #reference(name: RepositoryName): string {
    return `${this.#host()}/${nameOfRepository(name)}:${TAG}`;
  }

  /** With a port or a dot: without both, runtimes take the host for a part of a name on Docker Hub. */
  #host(): string {
    const url = this.#deps.imageService.secureUrl();
    const reason = whyUnreachable(url);
    if (reason !== null) throw failure('of the platform', reason);
    const { host } = new URL(url);
    return /[.:]/.test(host) ? host : `${host}:443`;
  }
}

function failure(image: string, reason: string, cause?: unknown): Error {
  return sandboxErrors.IMAGE_PULL_FAILED({ details: { image, reason }, cause });
}

/** For a sandbox, which fails with one of the causes. */
async function asCause<Result>(image: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!isAppError(error) || isCauseCode(error.code)) throw error;
    throw failure(image, error.message, error);
  }
}
