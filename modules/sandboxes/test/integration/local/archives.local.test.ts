import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ArchiveSource, SandboxSpec } from '../../../src/domain/driver.ts';
import { localDriverReason, localSubject, type LocalSubject } from '../../support/local-subject.ts';
import { runInSandbox } from '../../support/run-in-sandbox.ts';
import { sampleSpec } from '../../support/sample-spec.ts';

const reason = localDriverReason();
const title = 'archives of the local driver';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let from: LocalSubject;
  let to: LocalSubject;
  let snapshotId: string;
  let base: string;
  let count = 0;
  const signal = (): AbortSignal => AbortSignal.timeout(60_000);

  const run = async ({ driver }: LocalSubject, spec: SandboxSpec, command: string): Promise<string> => {
    const connection = await driver.connect(spec.id, signal());
    const { stdout, stderr } = await runInSandbox(connection, ['sh', '-c', command]);
    await connection.close();
    return stdout + stderr;
  };
  const archive = (): ArchiveSource => ({
    base,
    open: () => from.driver.snapshots.archives.read(snapshotId, signal()),
    openBase: async () => from.driver.snapshots.archives.readBase(base, signal()),
  });
  const newSpec = (): SandboxSpec => {
    count += 1;
    return sampleSpec(`archived-${count}`, { snapshotId });
  };
  const filesOf = ({ id }: SandboxSpec): string[] => {
    try {
      return readdirSync(join(to.folder.path, 'sandboxes/disks', id)).toSorted();
    } catch {
      return [];
    }
  };

  beforeAll(async () => {
    from = await localSubject();
    to = await localSubject('builtin', { hasOwnImages: true });
    for (const { driver } of [from, to]) expect(await driver.open()).toMatchObject({ available: true });
    const spec = sampleSpec('source');
    await from.driver.create(spec, signal());
    await from.driver.start(spec, signal());
    const prepare = [
      'mkdir /data && echo one > /data/file && chown 7:8 /data/file && ln -s file /data/link',
      'rm /etc/os-release',
      'dd if=/dev/urandom of=/data/big bs=1M count=3 2>/dev/null && sha256sum < /data/big > /data/sum',
    ];
    await run(from, spec, prepare.join(' && '));
    snapshotId = 'snp_local_archive';
    await from.driver.snapshots.take(spec.id, snapshotId);
    base = await from.driver.snapshots.archives.base(snapshotId);
    await from.driver.remove(spec.id);
  });
  afterAll(async () => {
    await from.driver.snapshots.remove(snapshotId);
    await from.dispose();
    await to.dispose();
  });

  it('have the same format on machines of one architecture', () => {
    expect(to.driver.snapshots.archives.format).toBe(`local/${process.arch}`);
  });

  it('make a sandbox on a machine that has neither the snapshot nor its image', async () => {
    const spec = newSpec();
    expect(await to.images.byDigest(base)).toBeNull();
    await to.driver.snapshots.archives.create(spec, archive(), signal());
    expect(await to.driver.isCreated(spec.id)).toBe(true);
    await to.driver.start(spec, signal());
    expect(await run(to, spec, 'cat /data/link; stat -c %u:%g /data/file; ls /etc/os-release')).toMatch(
      /^one\n7:8\nls:/,
    );
    expect(await run(to, spec, 'sha256sum < /data/big | cmp - /data/sum && echo same')).toBe('same\n');
    expect(await run(to, spec, 'hostname; busybox true && ls -ld /tmp | cut -c1-10')).toBe(
      `${spec.hostname}\ndrwxrwxrwt\n`,
    );
    expect(filesOf(spec)).toEqual(['disk.img', 'sandbox.json']);
    const disk = join(to.folder.path, 'sandboxes/disks', spec.id, 'disk.img');
    expect(statSync(disk).blocks * 512).toBeLessThan(24 * 1024 * 1024); // sparse
    await to.driver.stop(spec.id, 0);
    expect(execFileSync('e2fsck', ['-f', '-n', disk], { encoding: 'utf8', stdio: 'pipe' })).toContain('Pass 5');
    await to.driver.start(spec, signal());
    expect(await run(to, spec, 'cat /data/file')).toBe('one\n');
    await to.driver.remove(spec.id);
    expect(filesOf(spec)).toEqual([]);
  });

  it('leave no sandbox if they end early, and make one at the next attempt', async () => {
    const spec = newSpec();
    async function* cut(): AsyncGenerator<Uint8Array> {
      let chunks = 0;
      for await (const chunk of archive().open()) {
        chunks += 1;
        if (chunks > 4) return;
        yield chunk;
      }
    }
    const { archives } = to.driver.snapshots;
    await expect(archives.create(spec, { ...archive(), open: cut }, signal())).rejects.toMatchObject({
      code: 'ARCHIVE_DAMAGED',
    });
    expect(await to.driver.isCreated(spec.id)).toBe(false);
    expect(filesOf(spec)).toEqual([]);
    await archives.create(spec, archive(), signal());
    expect(await to.driver.isCreated(spec.id)).toBe(true);
    await to.driver.remove(spec.id);
  });

  it('carry the image of a template to a machine that lacks it, where a layer holds it', async () => {
    const LAYER = 'tpl_archivedimageaaaaaaaaaaaaa';
    const HOLDER = 'tpl_archivedimagebbbbbbbbbbbbb';
    const place = { buildId: null, user: null, workingFolder: null, startCommand: null };
    const source = sampleSpec('built', { template: { digest: base, ...place, building: true } });
    await from.driver.create(source, signal());
    await from.driver.start(source, signal());
    await run(from, source, 'rm -r /etc/os-release /var; mkdir -p /data/sub /var && echo built > /data/sub/file');
    await from.driver.stop(source.id, 1000);
    const { digest: files } = await from.driver.builds.commit(source.id, LAYER, signal());
    const settings = { ...(await from.driver.builds.find(files))!.settings, environment: { A: 'b' } };
    const digest = await from.driver.builds.configure(files, LAYER, settings, 'workspace');
    const content = (): AsyncIterable<Uint8Array> => from.driver.snapshots.archives.readBase(digest, signal());
    async function* cut(): AsyncGenerator<Uint8Array> {
      let chunks = 0;
      for await (const chunk of content()) {
        chunks += 1;
        if (chunks > 4) return;
        yield chunk;
      }
    }

    await to.driver.builds.hold(digest, HOLDER);
    await expect(to.driver.snapshots.archives.addBase(digest, cut(), signal())).rejects.toMatchObject({
      code: 'IMAGE_PULL_FAILED',
    });
    expect(await to.driver.builds.find(digest)).toBeNull();
    await to.driver.snapshots.archives.addBase(digest, content(), signal());
    await to.images.collect();
    expect(await to.driver.builds.find(digest)).toEqual({ digest, settings });
    const spec = sampleSpec('from-image', { template: { digest, ...place } });
    await to.driver.create(spec, signal());
    await to.driver.start(spec, signal());
    expect(await run(to, spec, 'cat /data/sub/file; ls -A /var; ls /etc/os-release')).toMatch(/^built\nls:/);
    await to.driver.remove(spec.id);
    await to.images.collect();
    expect(await to.driver.builds.find(digest)).not.toBeNull();
    await to.driver.builds.remove(HOLDER);
    await to.images.collect();
    expect(await to.driver.builds.find(digest)).toBeNull();
    await from.driver.remove(source.id);
    await from.driver.builds.remove(LAYER);
  });

  it('name what is missing if the image is gone', async () => {
    const spec = newSpec();
    const other = { ...archive(), base: `sha256-${'0'.repeat(64)}`, openBase: async () => null };
    await expect(to.driver.snapshots.archives.create(spec, other, signal())).rejects.toMatchObject({
      code: 'ROOTFS_FAILED',
    });
    await to.driver.remove(spec.id);
  });
});
