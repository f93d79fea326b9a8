import { isStatusError, type KubeClient } from '@svc/kube';
import type { SandboxSpec } from '../../../domain/driver.ts';
import type { ImageCatalog } from '../../../domain/images/catalog.ts';
import type { PlatformImages } from '../../../domain/images/platform-images.ts';
import { sandboxErrors } from '../../../errors.ts';
import { formatReference, parseReference } from '../../images/registry/reference.ts';
import { FIELD_MANAGER, imageSecretName, OWNER_LABEL } from './names.ts';

/** What a pod pulls. */
export interface PodImage {
  /** OCI reference. */
  readonly image: string;
  /** Name of the Secret with the credentials; null if the platform has none for it. */
  readonly imageSecret: string | null;
}

export interface PodImagesOptions {
  readonly catalog: ImageCatalog;
  /** Null: all images come from registries. */
  readonly platformImages: PlatformImages | null;
  readonly namespace: string;
  readonly owner: string;
}

/**
 * The images of pods: nodes pull those of the catalog from their first registry, and the others, and those of templates, from the
 * platform, by a credential that is kept as a Secret beside the pods.
 */
export class PodImages {
  readonly #options: PodImagesOptions;

  constructor(options: PodImagesOptions) {
    this.#options = options;
  }

  /** Makes an image that nodes pull from the platform, ahead of `find`. Throws like it. */
  async prepare(name: string, signal: AbortSignal): Promise<void> {
    if (this.#inRegistry(name) === null) await this.#platform(name).ofCatalog(name, signal);
  }

  /** Throws UNKNOWN_IMAGE and IMAGE_PULL_FAILED. */
  async find(
    { image: name, template = null }: SandboxSpec,
    client: KubeClient,
    signal: AbortSignal,
  ): Promise<PodImage> {
    const known = template === null ? this.#inRegistry(name) : null;
    if (known !== null) return { image: known, imageSecret: null };
    const platform = this.#platform(name);
    const image = await (template === null ? platform.ofCatalog(name, signal) : platform.ofTemplate(template, signal));
    return { image, imageSecret: await this.#keepSecret(name, platform, client, signal) };
  }

  #inRegistry(name: string): string | null {
    const entry = this.#options.catalog.find(name);
    if (entry === null) throw sandboxErrors.UNKNOWN_IMAGE({ details: { image: name } });
    for (const source of this.#options.platformImages?.servesAll === true ? [] : entry.sources) {
      const reference = source.kind === 'registry' ? parseReference(source.reference) : null;
      if (reference !== null) return formatReference(reference);
    }
    return null;
  }

  #platform(image: string): PlatformImages {
    const { platformImages } = this.#options;
    if (platformImages !== null) return platformImages;
    const reason = 'it has no registry source, and the cluster pulls images from registries only';
    throw sandboxErrors.IMAGE_PULL_FAILED({ details: { image, reason } });
  }

  /** Written each time: the credential changes, and somebody may have removed the Secret. */
  async #keepSecret(image: string, platform: PlatformImages, client: KubeClient, signal: AbortSignal): Promise<string> {
    const { namespace, owner } = this.#options;
    const { host, username, password } = await platform.login();
    const auth = Buffer.from(`${username}:${password}`).toString('base64');
    const config = JSON.stringify({ auths: { [host]: { username, password, auth } } });
    const name = imageSecretName(owner);
    const secret = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace, labels: { [OWNER_LABEL]: owner } },
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': Buffer.from(config).toString('base64') },
    };
    try {
      await client.apply(secret, { fieldManager: FIELD_MANAGER, force: true, signal });
    } catch (error) {
      if (!isStatusError(error, 403)) throw error;
      const reason = `its pull credential could not be stored in the namespace ${namespace} (${error.message}); grant the right to create and patch secrets there, as the current chart does`;
      throw sandboxErrors.IMAGE_PULL_FAILED({ details: { image, reason }, cause: error });
    }
    return name;
  }
}
