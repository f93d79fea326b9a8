import { randomBytes } from 'node:crypto';
import type { SvcSubject } from './svc-subject.ts';

const MB = 1_000_000;
const MiB = 1024 * 1024;

export interface FileFigures {
  /** One value per round. */
  readonly writeMbPerSecond: readonly number[];
  readonly readMbPerSecond: readonly number[];
}

/** Transfers one file of random bytes through the API, with a new path in each round. */
export async function measureFiles(svc: SvcSubject, mebibytes: number, rounds: number): Promise<FileFigures> {
  const id = await svc.make();
  const content = randomBytes(mebibytes * MiB);
  const figures = { writeMbPerSecond: [] as number[], readMbPerSecond: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    const path = `/api/sandboxes/${id}/files?path=/root/bench-${round}`;
    const begunMs = performance.now();
    const written = await svc.client.call('POST', path, content);
    const writtenMs = performance.now();
    const read = await svc.client.call('GET', path);
    const readMs = performance.now();
    if (written.status >= 300 || !read.body.equals(content))
      throw new Error(`the file came back otherwise: ${written.body.toString()}`);
    figures.writeMbPerSecond.push(content.length / MB / ((writtenMs - begunMs) / 1000));
    figures.readMbPerSecond.push(content.length / MB / ((readMs - writtenMs) / 1000));
    await svc.client.call('DELETE', path);
  }
  await svc.settle();
  return figures;
}
