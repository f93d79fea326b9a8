import { createHash } from 'node:crypto';
import { writeTar, type TarEntry } from '@svc/archive';

export interface PackedImage {
  archive: Buffer;
  manifestDigest: string;
  layer: Buffer;
  layerDigest: string;
}

/** Packs a small image layout like `svc agent image`; the content of the layer is irrelevant to the server. */
export async function packTestImage(architecture: string, tag: string, layer: Buffer): Promise<PackedImage> {
  const blobs = new Map<string, Buffer>();
  const put = (mediaType: string, content: Buffer): { mediaType: string; digest: string; size: number } => {
    const hash = createHash('sha256').update(content).digest('hex');
    blobs.set(hash, content);
    return { mediaType: `application/vnd.oci.image.${mediaType}`, digest: `sha256:${hash}`, size: content.length };
  };
  const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
  const config = put('config.v1+json', json({ architecture, os: 'linux' }));
  const packed = put('layer.v1.tar+gzip', layer);
  const manifest = put('manifest.v1+json', json({ schemaVersion: 2, config, layers: [packed] }));
  const annotations = { 'org.opencontainers.image.ref.name': tag };
  const entries: TarEntry[] = [
    {
      type: 'file',
      path: 'index.json',
      content: json({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }),
    },
    { type: 'folder', path: 'blobs/sha256' },
    ...[...blobs].map(([hash, content]): TarEntry => ({ type: 'file', path: `blobs/sha256/${hash}`, content })),
  ];
  const chunks: Buffer[] = [];
  for await (const chunk of writeTar(entries)) chunks.push(chunk);
  return { archive: Buffer.concat(chunks), manifestDigest: manifest.digest, layer, layerDigest: packed.digest };
}
