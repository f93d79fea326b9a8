import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

export interface CheckedImage {
  digest: string;
  architecture: string;
  user: string;
}

interface Descriptor {
  digest: string;
  size: number;
}

const run = promisify(execFile);
const sha256 = (content: Buffer): string => `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Reads an image archive (OCI layout) and throws at the first hash or size in it that is wrong. */
export async function checkedImage(archive: string): Promise<CheckedImage> {
  const entry = async (path: string): Promise<Buffer> => {
    const options = { encoding: 'buffer', maxBuffer: 256 * 1024 * 1024 } as const;
    return (await run('tar', ['-xOf', archive, path], options)).stdout;
  };
  const blob = async ({ digest, size }: Descriptor): Promise<Buffer> => {
    const content = await entry(`blobs/${digest.replace(':', '/')}`);
    if (sha256(content) !== digest || content.length !== size) throw new Error(`${digest} has other content`);
    return content;
  };
  const index = JSON.parse(String(await entry('index.json'))) as { manifests: [Descriptor] };
  const manifest = JSON.parse(String(await blob(index.manifests[0]))) as { config: Descriptor; layers: Descriptor[] };
  const { architecture, config, rootfs } = JSON.parse(String(await blob(manifest.config))) as {
    architecture: string;
    config: { User: string };
    rootfs: { diff_ids: string[] };
  };
  for (const [at, layer] of manifest.layers.entries()) {
    const diffId = sha256(gunzipSync(await blob(layer)));
    if (rootfs.diff_ids[at] !== diffId) throw new Error(`layer ${at} is not ${rootfs.diff_ids[at]}`);
  }
  return { digest: index.manifests[0].digest, architecture, user: config.User };
}
