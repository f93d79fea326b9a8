import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Type, type Static, type TSchema } from 'typebox';
import { Check } from 'typebox/schema';
import { readArchiveIndex, type ArchivedFile } from './archive-index.ts';

/** Content that clients request by digest (OCI image-spec 1.1, "Content Descriptors"). */
export interface Manifest {
  mediaType: string;
  digest: string;
  content: Buffer;
}

export interface ImageArchive {
  architecture: ImageArchitecture;
  tag: string;
  manifest: Manifest;
  /** Configuration and layers by digest. */
  blobs: ReadonlyMap<string, ArchivedFile>;
}

export interface ImageIndex extends Manifest {
  tag: string;
}

const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';
const TAG_ANNOTATION = 'org.opencontainers.image.ref.name';
const MAX_DOCUMENT_BYTES = 1024 * 1024;
const READ_BYTES = 256 * 1024;

const descriptor = Type.Object({
  mediaType: Type.String(),
  digest: Type.String({ pattern: '^sha256:[0-9a-f]{64}$' }),
  size: Type.Integer({ minimum: 0 }),
});
const tagged = Type.Intersect([
  descriptor,
  Type.Object({ annotations: Type.Object({ [TAG_ANNOTATION]: Type.String({ pattern: '^\\w[\\w.-]{0,127}$' }) }) }),
]);
const layoutIndex = Type.Object({ manifests: Type.Array(tagged, { minItems: 1, maxItems: 1 }) });
const imageManifest = Type.Object({ config: descriptor, layers: Type.Array(descriptor, { maxItems: 64 }) });
const imageConfig = Type.Object({ architecture: Type.String() });

/** Reads the image layout of a single-image archive. Throws if a digest or the architecture does not match. */
export async function readImageArchive(handle: FileHandle, architecture: ImageArchitecture): Promise<ImageArchive> {
  const files = await readArchiveIndex(handle);
  const place = (path: string): ArchivedFile => {
    const found = files.get(path);
    if (found === undefined) throw new Error(`it has no ${path}`);
    return found;
  };
  const findPlace = async ({ digest, size }: Static<typeof descriptor>): Promise<ArchivedFile> => {
    const found = place(`blobs/${digest.replace(':', '/')}`);
    if (found.sizeBytes !== size || (await computeDigest(handle, found)) !== digest)
      throw new Error(`${digest} is damaged`);
    return found;
  };
  const index = await readDocument(handle, place('index.json'), layoutIndex);
  const [top] = index.value.manifests;
  if (top === undefined) throw new Error('it has no image');
  const manifest = await readDocument(handle, await findPlace(top), imageManifest);
  const { config, layers } = manifest.value;
  const blobs = new Map<string, ArchivedFile>();
  for (const each of [config, ...layers]) blobs.set(each.digest, await findPlace(each));
  const found = await readDocument(handle, place(`blobs/${config.digest.replace(':', '/')}`), imageConfig);
  if (found.value.architecture !== architecture) throw new Error(`it is for ${found.value.architecture}`);
  return {
    architecture,
    tag: top.annotations[TAG_ANNOTATION],
    manifest: { mediaType: top.mediaType, digest: top.digest, content: manifest.content },
    blobs,
  };
}

/**
 * Index of the images with one tag; a node picks the image for its processor. Identical images give identical bytes.
 */
export function createIndex(images: readonly ImageArchive[]): ImageIndex {
  const manifests = images.map(({ architecture, manifest: { mediaType, digest, content } }) => ({
    mediaType,
    digest,
    size: content.length,
    platform: { os: 'linux', architecture },
  }));
  const content = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: INDEX_TYPE, manifests }));
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`;
  return { tag: images[0]?.tag ?? '', mediaType: INDEX_TYPE, digest, content };
}

async function readDocument<Schema extends TSchema>(
  handle: FileHandle,
  { offset, sizeBytes }: ArchivedFile,
  schema: Schema,
): Promise<{ content: Buffer; value: Static<Schema> }> {
  if (sizeBytes > MAX_DOCUMENT_BYTES) throw new Error('a document of the image is too large');
  const content = Buffer.alloc(sizeBytes);
  await handle.read(content, 0, sizeBytes, offset);
  const value: unknown = JSON.parse(content.toString('utf8'));
  if (!Check(schema, value)) throw new Error('it is not an OCI layout with one image');
  return { content, value };
}

async function computeDigest(handle: FileHandle, { offset, sizeBytes }: ArchivedFile): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(READ_BYTES);
  for (let read = 0; read < sizeBytes;) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(READ_BYTES, sizeBytes - read), offset + read);
    if (bytesRead === 0) throw new Error('the archive is cut off');
    hash.update(buffer.subarray(0, bytesRead));
    read += bytesRead;
  }
  return `sha256:${hash.digest('hex')}`;
}

/** Architecture names of OCI images. */
export type ImageArchitecture = 'amd64' | 'arm64';
