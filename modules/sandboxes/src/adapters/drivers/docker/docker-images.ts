import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { unlessAborted } from '@svc/runtime';
import { sandboxErrors } from '../../../errors.ts';
import type { ImageCatalog, ImageEntry } from '../../../domain/images/catalog.ts';
import type { ImageSettings } from '../../../domain/images/image-settings.ts';
import type { ImageStore } from '../../images/image-store.ts';
import { formatReference, parseReference, type ImageReference } from '../../images/registry/reference.ts';
import { asFields, type EngineClient } from './engine-client.ts';
import { packLayers } from '../../images/pack-layers.ts';
import { findImage } from './find-image.ts';
import { IMAGE_REPOSITORY } from './names.ts';

const PREPARE_LIMIT_MS = 30 * 60_000;

export interface RegistryLogin {
  readonly host: string;
  readonly username?: string | undefined;
  readonly password?: string | undefined;
}

export interface DockerImagesOptions {
  readonly client: EngineClient;
  readonly catalog: ImageCatalog;
  /** Our own unpacked images, for those the engine cannot pull itself. */
  readonly images: ImageStore;
  readonly logins: readonly RegistryLogin[];
  /** The helper binary for this machine, which packs unpacked layers. */
  readonly packer: string;
}

export interface EngineImage {
  readonly id: string;
  /** Null if the engine's copy includes them. */
  readonly settings: ImageSettings | null;
}

/** Provides catalog images in an engine: pulled by the engine, or packed from our own store and imported. */
export class DockerImages {
  readonly #options: DockerImagesOptions;
  readonly #running = new Map<string, Promise<EngineImage>>();
  readonly #closed = new AbortController();

  constructor(options: DockerImagesOptions) {
    this.#options = options;
  }

  /** Throws UNKNOWN_IMAGE, and IMAGE_PULL_FAILED with the errors of the engine and of each of our sources. */
  async provide(name: string, signal: AbortSignal): Promise<EngineImage> {
    const entry = this.#options.catalog.find(name);
    if (entry === null) throw sandboxErrors.UNKNOWN_IMAGE({ details: { image: name } });
    const work = this.#running.get(entry.name) ?? this.#begin(entry);
    const late = (): Error =>
      sandboxErrors.IMAGE_PULL_FAILED({ details: { image: name, reason: 'the Docker Engine is still pulling it' } });
    return unlessAborted(work, signal, late);
  }

  /** Starts work shared by all waiters; it continues when one of them gives up. */
  #begin(entry: ImageEntry): Promise<EngineImage> {
    const [source] = entry.sources;
    const reference = source?.kind === 'registry' ? parseReference(source.reference) : null;
    const signal = AbortSignal.any([this.#closed.signal, AbortSignal.timeout(PREPARE_LIMIT_MS)]);
    const work = this.#get(entry.name, reference, signal).finally(() => this.#running.delete(entry.name));
    work.catch(() => undefined); // reported to the waiters
    this.#running.set(entry.name, work);
    return work;
  }

  /** Cancels pending work. */
  async close(): Promise<void> {
    this.#closed.abort();
    await Promise.allSettled(this.#running.values());
  }

  async #get(name: string, reference: ImageReference | null, signal: AbortSignal): Promise<EngineImage> {
    if (reference === null) return this.#import(name, signal);
    const text = formatReference(reference);
    const present = await this.#find(text, signal);
    if (present !== null) return { id: present, settings: null };
    const refusal = await this.#pull(reference, signal);
    const pulled = refusal === null ? await this.#find(text, signal) : null;
    if (pulled !== null) return { id: pulled, settings: null };
    try {
      return await this.#import(name, signal);
    } catch (error) {
      signal.throwIfAborted();
      const own = error instanceof Error ? error.message : String(error);
      const reason = `the Docker Engine said: ${refusal ?? 'pulled, but still missing'}; ${own}`;
      throw sandboxErrors.IMAGE_PULL_FAILED({ details: { image: name, reason }, cause: error });
    }
  }

  /** Returns null on success, else the engine's error. */
  async #pull(reference: ImageReference, signal: AbortSignal): Promise<string | null> {
    const { client, logins } = this.#options;
    const { username, password } = logins.find(({ host }) => host === reference.registry) ?? {};
    const login = username === undefined ? {} : { username, password, serveraddress: reference.registry };
    const headers = { 'x-registry-auth': Buffer.from(JSON.stringify(login)).toString('base64url') };
    try {
      const query = { fromImage: formatReference(reference), platform: '' };
      const answer = await client.stream('POST', '/images/create', { query, headers, signal });
      return await readComplaint(answer);
    } catch (error) {
      signal.throwIfAborted();
      return error instanceof Error ? error.message : String(error);
    }
  }

  async #import(name: string, signal: AbortSignal): Promise<EngineImage> {
    const { client, images, packer } = this.#options;
    const { digest, layers, settings } = await images.prepare(name, signal);
    const tag = digest.replace(/[^A-Za-z0-9_.-]/g, '-').slice(0, 128);
    const present = await this.#find(`${IMAGE_REPOSITORY}:${tag}`, signal);
    if (present !== null) return { id: present, settings };
    const { archive, ended } = packLayers(packer, layers, signal);
    let complaint: string | null;
    try {
      const query = { fromSrc: '-', repo: IMAGE_REPOSITORY, tag };
      complaint = await readComplaint(await client.stream('POST', '/images/create', { query, body: archive, signal }));
    } finally {
      archive.destroy(); // ends the packer, whatever happened to the request
    }
    complaint = (await ended) ?? complaint;
    const id = complaint === null ? await this.#find(`${IMAGE_REPOSITORY}:${tag}`, signal) : null;
    if (id !== null) return { id, settings };
    const reason = `the Docker Engine refused it: ${complaint ?? 'it is not there'}`;
    // Delete a partial import, so that it is not found next time.
    await client.json('DELETE', `/images/${IMAGE_REPOSITORY}:${tag}`, { signal }).catch(() => undefined);
    throw sandboxErrors.IMAGE_PULL_FAILED({ details: { image: name, reason } });
  }

  #find(reference: string, signal: AbortSignal): Promise<string | null> {
    return findImage(this.#options.client, reference, signal);
  }
}

/** The engine reports progress as JSON lines; a failure is one of them, after status 200. */
async function readComplaint(answer: Readable): Promise<string | null> {
  let complaint: string | null = null;
  for await (const line of createInterface({ input: answer })) {
    if (!line.includes('"error"')) continue;
    const { error } = asFields(JSON.parse(line));
    if (typeof error === 'string') complaint = error.slice(0, 1000);
  }
  return complaint;
}
