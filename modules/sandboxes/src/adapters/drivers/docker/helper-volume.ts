import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { writeTar } from '@svc/archive';
import { asFields, EngineRefusal, type EngineClient } from './engine-client.ts';
import { findImage } from './find-image.ts';
import { HELPER_LABEL, HELPER_REPOSITORY } from './names.ts';

const BLOCK_BYTES = 512;
const MOUNT_POINT = '/.sandbox';

/**
 * Installs the helper in the engine as a volume that every sandbox mounts read-only, and returns the volume's name. The
 * volume is filled from an image that contains only the helper: an engine copies an image's files at the mount point
 * into an empty volume. This works wherever the engine runs. The name derives from the helper's content, and the
 * volume's content is verified.
 */
export async function installHelper(client: EngineClient, binaryFile: string, signal: AbortSignal): Promise<string> {
  const binary = await readFile(binaryFile);
  const digest = createHash('sha256').update(binary).digest('hex');
  const tag = digest.slice(0, 32);
  const volume = `${HELPER_REPOSITORY}-${tag}`;
  const image = `${HELPER_REPOSITORY}:${tag}`;
  // Importing again would move the tag from the existing image and leave that one untagged.
  if ((await findImage(client, image, signal)) === null) await importHelper(client, binary, tag, signal);
  for (const attempt of [1, 2]) {
    const found = await fillAndRead(client, volume, tag, signal);
    if (found === digest) return volume;
    if (attempt === 2) break;
    // Filling was interrupted, such as by an engine shutdown, or the image has other content. Such a volume is not in
    // use yet.
    await client.json('DELETE', `/volumes/${volume}`, { signal });
    await client.json('DELETE', `/images/${image}`, { signal });
    await importHelper(client, binary, tag, signal);
  }
  throw new Error(`the volume ${volume} does not hold the helper`);
}

async function importHelper(client: EngineClient, binary: Buffer, tag: string, signal: AbortSignal): Promise<void> {
  const archive = writeTar([
    { type: 'folder', path: '.sandbox' },
    { type: 'file', path: '.sandbox/agent', mode: 0o755, content: binary },
  ]);
  const answer = await client.stream('POST', '/images/create', {
    query: { fromSrc: '-', repo: HELPER_REPOSITORY, tag, changes: `LABEL ${HELPER_LABEL}=${tag}` },
    body: Readable.from(archive),
    signal,
  });
  for await (const _ of answer); // progress
  // If another platform imported it at the same moment, the first of the two images lost its tag.
  const filters = { dangling: ['true'], label: [HELPER_LABEL] };
  await client.json('POST', '/images/prune', { query: { filters }, signal }).catch((error: unknown) => {
    if (!(error instanceof EngineRefusal && error.status === 409)) throw error; // a prune is already running
  });
}

/** Returns the SHA-256 of the helper in the volume, or null. */
async function fillAndRead(
  client: EngineClient,
  volume: string,
  tag: string,
  signal: AbortSignal,
): Promise<string | null> {
  const made = asFields(
    await client.json('POST', '/containers/create', {
      body: {
        Image: `${HELPER_REPOSITORY}:${tag}`,
        Entrypoint: ['/.sandbox/agent'],
        HostConfig: { NetworkMode: 'none', Mounts: [{ Type: 'volume', Source: volume, Target: MOUNT_POINT }] },
      },
      signal,
    }),
  );
  const container = String(made['Id']);
  try {
    const archive = await client.stream('GET', `/containers/${container}/archive`, {
      query: { path: `${MOUNT_POINT}/agent` },
      signal,
    });
    return await digestOfOnlyFile(archive);
  } catch (error) {
    if (error instanceof EngineRefusal && error.status === 404) return null;
    throw error;
  } finally {
    await client.json('DELETE', `/containers/${container}`, { query: { force: true }, signal });
  }
}

/** Hashes the first file of a tar stream, which is what the engine sends for a single file. */
async function digestOfOnlyFile(archive: Readable): Promise<string> {
  const hash = createHash('sha256');
  let header = Buffer.alloc(0);
  let left = -1;
  for await (const chunk of archive as AsyncIterable<Buffer>) {
    let rest = chunk;
    if (left < 0) {
      header = Buffer.concat([header, rest]);
      if (header.length < BLOCK_BYTES) continue;
      left = Number.parseInt(header.toString('latin1', 124, 136), 8);
      rest = header.subarray(BLOCK_BYTES);
    }
    const content = rest.subarray(0, left);
    hash.update(content);
    left -= content.length;
  }
  return hash.digest('hex');
}
