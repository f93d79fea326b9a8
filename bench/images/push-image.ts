import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export interface PushedImage {
  readonly compressedBytes: number;
  readonly unpackedBytes: number;
  readonly files: number;
}

const MAX_ARCHIVE_BYTES = 2 * 1024 ** 3 - 1;

/** Pushes one gzip layer per local folder, tagged `latest`. */
export async function pushImage(url: string, repository: string, folders: readonly string[]): Promise<PushedImage> {
  const layers = [];
  const diffIds: string[] = [];
  let unpackedBytes = 0;
  let files = 0;
  for (const folder of folders) {
    const archive = execFileSync('tar', ['-C', '/', '--sort=name', '-c', folder.slice(1)], {
      maxBuffer: MAX_ARCHIVE_BYTES,
    });
    files += Number(execFileSync('sh', ['-c', 'find "$1" -type f | wc -l', 'count', folder], { encoding: 'utf8' }));
    unpackedBytes += archive.length;
    diffIds.push(digestOf(archive));
    const content = gzipSync(archive);
    const digest = await pushBlob(url, repository, content);
    layers.push({ mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip', digest, size: content.length });
  }
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const configuration = Buffer.from(
    JSON.stringify({ os: 'linux', architecture, config: {}, rootfs: { type: 'layers', diff_ids: diffIds } }),
  );
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  const config = {
    mediaType: 'application/vnd.oci.image.config.v1+json',
    digest: await pushBlob(url, repository, configuration),
    size: configuration.length,
  };
  const answer = await fetch(`${url}/v2/${repository}/manifests/latest`, {
    method: 'PUT',
    headers: { 'content-type': mediaType },
    body: JSON.stringify({ schemaVersion: 2, mediaType, config, layers }),
  });
  if (answer.status !== 201) throw new Error(`the registry refuses the manifest: ${await answer.text()}`);
  return { compressedBytes: layers.reduce((sum, { size }) => sum + size, 0), unpackedBytes, files };
}

async function pushBlob(url: string, repository: string, content: Buffer): Promise<string> {
  const digest = digestOf(content);
  const begun = await fetch(`${url}/v2/${repository}/blobs/uploads/`, { method: 'POST' });
  const location = new URL(begun.headers.get('location') ?? '', url);
  location.searchParams.set('digest', digest);
  const put = await fetch(location, {
    method: 'PUT',
    headers: { 'content-type': 'application/octet-stream' },
    body: new Uint8Array(content),
  });
  if (put.status !== 201) throw new Error(`the registry refuses a blob: ${await put.text()}`);
  return digest;
}

function digestOf(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}
