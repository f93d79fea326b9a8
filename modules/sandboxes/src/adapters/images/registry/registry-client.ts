import { createHash } from 'node:crypto';
import { Authentication, type RegistryCredentials } from './authentication.ts';
import {
  MANIFEST_TYPES,
  MAX_MANIFEST_BYTES,
  parseConfiguration,
  parseManifest,
  chooseEntry,
  type BlobDescriptor,
  type ImageConfiguration,
  type ImageManifest,
} from './manifest.ts';
import { DOCKER_HUB, manifestNameOf, type ImageReference } from './reference.ts';
import { RegistryFailure } from './registry-failure.ts';
import { readBody, RegistryHttp, type RegistryAnswer } from './registry-http.ts';

export interface RegistryClientOptions {
  /** Host with port, as in references. */
  readonly registry: string;
  /** Host with port to fetch from instead; null for the registry itself. */
  readonly mirror: string | null;
  readonly credentials: RegistryCredentials | null;
  readonly plainHttp: boolean;
  readonly ca?: string | undefined;
  readonly proxy?: string | undefined;
  readonly nowMs: () => number;
}

/** A resolved image for one platform: all its content is identified by digests. */
export interface ResolvedImage extends ImageConfiguration {
  /** Digest of this platform's manifest. */
  readonly digest: string;
  readonly manifest: ImageManifest;
}

const MAX_INDEX_DEPTH = 2;
/** One anonymous attempt, one after the challenge, and one for a token that just expired. */
const MAX_ATTEMPTS = 3;

/** Read client for one registry of the OCI distribution specification. */
export class RegistryClient {
  readonly #options: RegistryClientOptions;
  readonly #http: RegistryHttp;
  readonly #authentication: Authentication;
  readonly #base: string;

  constructor(options: RegistryClientOptions) {
    this.#options = options;
    this.#http = new RegistryHttp(options);
    this.#authentication = new Authentication({ ...options, http: this.#http });
    const usual = options.registry === DOCKER_HUB ? 'registry-1.docker.io' : options.registry;
    this.#base = `${options.plainHttp ? 'http' : 'https'}://${options.mirror ?? usual}`;
  }

  /** Resolves the image for an architecture, in OCI's naming (`amd64`). Throws `RegistryFailure`. */
  async resolve(reference: ImageReference, architecture: string, signal: AbortSignal): Promise<ResolvedImage> {
    let name = manifestNameOf(reference);
    for (let depth = 0; depth <= MAX_INDEX_DEPTH; depth += 1) {
      const { content, mediaType, digest } = await this.#manifest(reference, name, signal);
      const parsed = parseManifest(content, mediaType);
      if ('layers' in parsed) {
        const configuration = await this.#blob(reference, parsed.config, signal);
        const { diffIds, settings, platform } = parseConfiguration(configuration, parsed.layers.length);
        if (platform !== `linux/${architecture}`) {
          throw new RegistryFailure(`it is for ${platform}, and this machine is linux/${architecture}`);
        }
        return { digest, manifest: parsed, diffIds, settings };
      }
      name = chooseEntry(parsed, architecture).digest;
    }
    throw new RegistryFailure('its indexes name indexes without end');
  }

  /** Opens a blob at an offset. The caller validates the content, and reads or destroys the body. */
  async openBlob(
    { repository }: ImageReference,
    { digest }: BlobDescriptor,
    offset: number,
    signal: AbortSignal,
  ): Promise<RegistryAnswer> {
    const range: Record<string, string> = offset === 0 ? {} : { range: `bytes=${offset}-` };
    const path = `/v2/${repository}/blobs/${digest}`;
    // `identity`, because a compressing registry or proxy would send other bytes than the digest covers.
    return this.#get(path, repository, { 'accept-encoding': 'identity', ...range }, [200, 206, 416], signal);
  }

  close(): void {
    this.#http.close();
  }

  async #manifest(reference: ImageReference, name: string, signal: AbortSignal) {
    const path = `/v2/${reference.repository}/manifests/${name}`;
    const headers = { accept: MANIFEST_TYPES.join(', '), 'accept-encoding': 'identity' };
    const answer = await this.#get(path, reference.repository, headers, [200], signal);
    const content = await readBody(answer.body, MAX_MANIFEST_BYTES);
    const announced = answer.headers['docker-content-digest'];
    const expected = name.includes(':') ? name : typeof announced === 'string' ? announced : null;
    const algorithm = expected?.startsWith('sha512:') === true ? 'sha512' : 'sha256';
    const digest = digestOf(content, algorithm);
    if (expected !== null && digest !== expected) {
      throw new RegistryFailure(`the manifest ${name} is not what its digest says`);
    }
    return { content, mediaType: answer.headers['content-type'] ?? '', digest };
  }

  async #blob(reference: ImageReference, descriptor: BlobDescriptor, signal: AbortSignal): Promise<Buffer> {
    const answer = await this.openBlob(reference, descriptor, 0, signal);
    const content = await readBody(answer.body, descriptor.sizeBytes);
    const algorithm = descriptor.digest.split(':')[0] ?? '';
    if (digestOf(content, algorithm) !== descriptor.digest) {
      throw new RegistryFailure('its configuration is not what its digest says');
    }
    return content;
  }

  async #get(
    path: string,
    repository: string,
    headers: Readonly<Record<string, string>>,
    accepted: readonly number[],
    signal: AbortSignal,
  ): Promise<RegistryAnswer> {
    const { registry } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const sent = { ...headers, ...this.#authentication.headers(repository) };
      const answer = await this.#http.get(new URL(this.#base + path), sent, signal);
      if (accepted.includes(answer.status)) return answer;
      answer.body.destroy();
      if (answer.status === 401 && attempt < MAX_ATTEMPTS) {
        const challenge = answer.headers['www-authenticate'] ?? '';
        if (await this.#authentication.answer(challenge, repository, registry, signal)) continue;
      }
      throw this.#refusal(answer.status, repository, path);
    }
  }

  #refusal(status: number, repository: string, path: string): RegistryFailure {
    const { registry, credentials } = this.#options;
    if (status === 401 || status === 403) {
      return new RegistryFailure(
        credentials === null
          ? `${registry} wants a user name and a password for ${repository}`
          : `${registry} refuses the user ${credentials.username} for ${repository}`,
      );
    }
    if (status === 404) return new RegistryFailure(`${registry} has no ${path.slice('/v2/'.length)}`);
    if (status === 429) {
      return new RegistryFailure(`${registry} limits how often it may be asked`, { retryable: true });
    }
    return new RegistryFailure(`${registry} answers ${status}`, { retryable: status >= 500 });
  }
}

function digestOf(content: Buffer, algorithm: string): string {
  return `${algorithm}:${createHash(algorithm).update(content).digest('hex')}`;
}
