import { access, readFile } from 'node:fs/promises';
import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HelperConnection } from '../../../src/domain/helper/helper-connection.ts';
import { localDriverReason, localSubject, type LocalSubject } from '../../support/local-subject.ts';
import { runInSandbox } from '../../support/run-in-sandbox.ts';
import { sampleSpec } from '../../support/sample-spec.ts';

const reason = localDriverReason();
const title = 'adjusting a warm sandbox';
const signal = (): AbortSignal => AbortSignal.timeout(60_000);

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let subject: LocalSubject;
  let connection: HelperConnection;
  const before = sampleSpec('adjusted');
  const after = {
    ...before,
    hostname: 'chosen',
    resources: { ...before.resources, memoryMb: 256, pids: 32, cpuMillis: 250 },
  };
  const shown = async (script: string): Promise<string> =>
    (await runInSandbox(connection, ['sh', '-c', script])).stdout.trim();

  beforeAll(async () => {
    subject = await localSubject();
    await subject.driver.open();
    await subject.driver.create(before, signal());
    await subject.driver.start(before, signal());
    connection = await subject.driver.connect(before.id, signal());
    await subject.driver.adjust(after);
  });
  afterAll(async () => {
    await connection.close();
    await subject.dispose();
  });

  it('sets the hostname, including in the files that contain it', async () => {
    expect(await shown('hostname; cat /etc/hostname; grep 127.0.1.1 /etc/hosts')).toBe(
      'chosen\nchosen\n127.0.1.1 chosen',
    );
  });

  it('raises and lowers the limits', async () => {
    const limits = [];
    for (const resources of [after.resources, { ...after.resources, memoryMb: 64, pids: 200 }]) {
      await subject.driver.adjust({ ...after, resources });
      limits.push(await readLimit(before.id, 'memory', ['memory.max', 'memory.limit_in_bytes']));
      limits.push(await readLimit(before.id, 'pids', ['pids.max']));
    }
    expect(limits).toEqual([256 * 1024 * 1024, 32, 64 * 1024 * 1024, 200]);
  });

  it('does not follow symlinks of the image when it writes the hostname', async () => {
    await shown('mv /etc/hostname /etc/real; ln -s /etc/real /etc/hostname');
    await expect(subject.driver.adjust(after)).rejects.toMatchObject({ code: 'RUNTIME_FAILED' });
    expect(await shown('cat /etc/real')).toBe('chosen');
  });
});

/** The limit of the host's control group, in any cgroup layout. */
async function readLimit(id: string, controller: string, files: readonly string[]): Promise<number> {
  for (const folder of [`/sys/fs/cgroup/svc-sandboxes/${id}`, `/sys/fs/cgroup/${controller}/svc-sandboxes/${id}`]) {
    for (const file of files) {
      const path = `${folder}/${file}`;
      const isThere = await access(path).then(
        () => true,
        () => false,
      );
      if (isThere) return Number(await readFile(path, 'utf8'));
    }
  }
  throw new Error(`${controller} is not limited`);
}
