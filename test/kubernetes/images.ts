import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findCommand } from '@svc/testing';
import { runCommand } from './commands.ts';

export interface ImageOptions {
  command: readonly string[];
  user?: string;
  environment?: readonly string[];
}

/**
 * Packs a root folder as an OCI image archive (image-spec v1) with one layer; returns the archive's path in `folder`.
 */
export async function packImage(folder: string, name: string, root: string, options: ImageOptions): Promise<string> {
  const work = await mkdtemp(join(folder, 'image-'));
  const blobs = join(work, 'blobs', 'sha256');
  await mkdir(blobs, { recursive: true });
  const layerFile = join(work, 'layer.tar');
  await runCommand('tar', [
    '-C',
    root,
    '--numeric-owner',
    '--owner=0',
    '--group=0',
    '--sort=name',
    '-cf',
    layerFile,
    '.',
  ]);
  const layer = await putBlob(blobs, await readFile(layerFile));
  await rm(layerFile);
  const environment = ['PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', ...(options.environment ?? [])];
  const config = await putJson(blobs, {
    architecture: process.arch === 'x64' ? 'amd64' : process.arch,
    os: 'linux',
    config: { Cmd: options.command, Env: environment, ...(options.user === undefined ? {} : { User: options.user }) },
    rootfs: { type: 'layers', diff_ids: [layer.digest] },
  });
  const media = 'application/vnd.oci.image';
  const manifest = await putJson(blobs, {
    schemaVersion: 2,
    mediaType: `${media}.manifest.v1+json`,
    config: { mediaType: `${media}.config.v1+json`, ...config },
    layers: [{ mediaType: `${media}.layer.v1.tar`, ...layer }],
  });
  const annotations = { 'io.containerd.image.name': name, 'org.opencontainers.image.ref.name': name.split(':').at(-1) };
  const entry = { mediaType: `${media}.manifest.v1+json`, ...manifest, annotations };
  await writeFile(join(work, 'index.json'), JSON.stringify({ schemaVersion: 2, manifests: [entry] }));
  await writeFile(join(work, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  const archive = `${work}.tar`;
  await runCommand('tar', ['-C', work, '-cf', archive, 'blobs', 'index.json', 'oci-layout']);
  await rm(work, { recursive: true });
  return archive;
}

/** Creates a root folder with a static busybox and a link for each of its applets: shell, sleep, httpd, nc. */
export async function makeBusyboxRoot(): Promise<string> {
  const busybox = findCommand('busybox');
  if (busybox === null) throw new Error('busybox is missing; run: apt-get install -y busybox-static');
  const root = await mkdtemp(join(tmpdir(), 'svc-busybox-'));
  for (const name of ['bin', 'etc', 'tmp', 'proc', 'sys', 'dev', 'var', 'root']) await mkdir(join(root, name));
  await chmod(join(root, 'tmp'), 0o1777);
  await copyFile(busybox, join(root, 'bin', 'busybox'));
  await chmod(join(root, 'bin', 'busybox'), 0o755);
  const { stdout } = await runCommand(busybox, ['--list']);
  for (const applet of stdout.split('\n')) {
    if (applet !== '' && applet !== 'busybox') await symlink('busybox', join(root, 'bin', applet));
  }
  await writeFile(join(root, 'etc', 'passwd'), 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n');
  await writeFile(join(root, 'etc', 'group'), 'root:x:0:\nnogroup:x:65534:\n');
  return root;
}

interface Blob {
  digest: string;
  size: number;
}

function putJson(blobs: string, value: unknown): Promise<Blob> {
  return putBlob(blobs, Buffer.from(JSON.stringify(value)));
}

async function putBlob(blobs: string, content: Buffer): Promise<Blob> {
  const hash = createHash('sha256').update(content).digest('hex');
  await writeFile(join(blobs, hash), content);
  return { digest: `sha256:${hash}`, size: content.length };
}
