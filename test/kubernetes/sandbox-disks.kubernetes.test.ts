import { join } from 'node:path';
import { kubeconfigAccess } from '@svc/kube';
import { systemClock, type Clock } from '@svc/runtime';
import { driverContract, type ContractSubject, type TestedCapability } from '@svc/sandboxes/testing/driver-contract';
import { kubernetesSubject, type KubernetesSubject } from '@svc/sandboxes/testing/kubernetes-subject';
import { runInSandbox } from '@svc/sandboxes/testing/run-in-sandbox';
import { runningContract } from '@svc/sandboxes/testing/running-contract';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { skippedTitle, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TEST_IMAGE } from './agent-fixture.ts';
import { startDiskProvisioner, type DiskProvisioner } from './disk-provisioner.ts';
import { helmRequirement, type Kubernetes, kubernetesRequirement, startKubernetes } from './index.ts';
import { createSandboxNamespace, HELPER_IMAGE, type SandboxNamespace } from './sandbox-namespace.ts';

type Driver = KubernetesSubject['driver'];
type Spec = ReturnType<typeof sampleSpec>;

/** Whether a disk is limited depends on its class, so that the driver promises nothing. */
const LACKS: readonly TestedCapability[] = ['disk_limit', 'mounts', 'oom_survival', 'process_limit', 'volumes'];

/** Waits for a volume no longer than the cluster takes to say that it has none. */
const HASTY_CLOCK: Clock = {
  ...systemClock,
  setTimer: (run, delayMs) => systemClock.setTimer(run, Math.min(delayMs, 15_000)),
};

const reason = (await kubernetesRequirement()) ?? (await helmRequirement());
const title = 'the Kubernetes driver with disks on claims';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let kubernetes: Kubernetes;
  let namespace: SandboxNamespace;
  let provisioner: DiskProvisioner;
  let folder: TemporaryFolder;

  beforeAll(async () => {
    folder = await temporaryFolder();
    kubernetes = await startKubernetes();
    provisioner = await startDiskProvisioner(kubernetes);
    namespace = await createSandboxNamespace(kubernetes, 'svc-unused', 'svc', provisioner.storageClass);
  });
  afterAll(async () => {
    await namespace?.[Symbol.asyncDispose]();
    await provisioner?.[Symbol.asyncDispose]();
    await kubernetes?.stop();
    await folder?.remove();
  });

  function subject(owner = 'contract'): KubernetesSubject {
    const { storageClass } = provisioner;
    return kubernetesSubject({
      kubeconfig: namespace.kubeconfig,
      namespace: namespace.name,
      image: TEST_IMAGE,
      helperImage: HELPER_IMAGE,
      owner,
      changes: { storageClass, snapshotFolder: join(folder.path, owner) },
    });
  }

  const contractSubject = async (): Promise<ContractSubject> => {
    const { driver, again, dispose } = subject();
    return { driver, spec: (name) => sampleSpec(name), again: () => again(), dispose };
  };
  describe('as a driver', () => driverContract(contractSubject, LACKS));
  describe('with programs', () => runningContract(contractSubject, LACKS));

  const signal = (): AbortSignal => AbortSignal.timeout(90_000);
  const run = async (driver: Driver, { id }: Spec, script: string): Promise<string> => {
    const connection = await driver.connect(id, signal());
    try {
      const { stdout, stderr } = await runInSandbox(connection, ['sh', '-c', script]);
      return stdout + stderr;
    } finally {
      await connection.close();
    }
  };
  const begin = async (driver: Driver, spec: Spec): Promise<void> => {
    await driver.create(spec, signal());
    await driver.start(spec, signal());
  };
  const inNamespace = (...words: readonly string[]): Promise<string> =>
    kubernetes.kubectl('-n', namespace.name, ...words);
  /** Names of objects of a sandbox. */
  const objects = async (kind: string, { id }: Spec): Promise<string> =>
    (await inNamespace('get', kind, '-l', `svc.dev/sandbox=${id}`, '-o', 'name')).trim();
  const using = async (
    owner: string,
    body: (subject: KubernetesSubject, spec: Spec) => Promise<void>,
  ): Promise<void> => {
    const made = subject(owner);
    try {
      expect(await made.driver.open()).toMatchObject({ available: true });
      await body(made, sampleSpec(owner));
    } finally {
      await made.dispose();
    }
  };

  it('frees the pod of a stopped sandbox, and starts another one with its files', () =>
    using('frees', async ({ driver }, spec) => {
      await begin(driver, spec);
      const made =
        'umask 022; echo kept > /etc/file; ln /etc/file /var/second; chown 7:8 /etc/file; echo new > /bin/tool';
      await run(driver, spec, `${made}; mkdir /tmp/folder; echo lost > /outside; cp /bin/busybox /var/large`);
      const connection = await driver.connect(spec.id, signal());
      const moved = await connection.call({
        op: 'file.move',
        path: '/bin/tool',
        target: '/etc/tool',
        overwrite: false,
      });
      await connection.close();
      expect(moved).toMatchObject({ ok: true }); // the folders are separate mounts
      await driver.stop(spec.id, 2000);
      expect(await objects('pods', spec)).toBe('');
      expect(await driver.isCreated(spec.id)).toBe(true);
      expect(await driver.list()).toEqual([{ id: spec.id, running: false, paused: false }]);
      await driver.start(spec, signal());
      const look = 'cat /etc/file /etc/tool; stat -c "%u:%g %h %a" /etc/file; ls -d /tmp/folder /outside /lost+found';
      const shown = await run(driver, spec, `${look}; cmp /bin/busybox /var/large && hostname; stat -c %a /tmp`);
      expect(shown).toMatch(/^kept\nnew\n7:8 1 644\n\/tmp\/folder\nfrees\n1777\n/);
      expect(shown).toMatch(/\/outside: No such file/);
      expect(shown).toMatch(/\/lost\+found: No such file/);
    }));

  it(
    'starts a sandbox with its files after the cluster has taken its pod',
    () =>
      using('evicted', async ({ driver }, spec) => {
        await begin(driver, spec);
        await run(driver, spec, 'echo kept > /root/file; sync');
        await inNamespace('delete', 'pod', '-l', `svc.dev/sandbox=${spec.id}`, '--grace-period=0');
        await expect.poll(async () => (await driver.inspect(spec.id)).running).toBe(false);
        await driver.start(spec, signal());
        expect(await run(driver, spec, 'cat /root/file')).toBe('kept\n');
        // Out of memory: the pod remains as a failed one.
        await run(
          driver,
          spec,
          'echo more > /root/file; sync; (sleep 1; dd if=/dev/zero of=/dev/null bs=512M count=1) &',
        ).catch(() => '');
        const connection = await driver.connect(spec.id, signal()).catch(() => null);
        await connection?.call({ op: 'shutdown' }).catch(() => undefined);
        await connection?.close();
        await expect.poll(async () => (await driver.inspect(spec.id)).running).toBe(false);
        expect(await objects('pods', spec)).not.toBe('');
        await driver.start(spec, signal());
        expect(await run(driver, spec, 'cat /root/file')).toBe('more\n');
      }),
    120_000,
  );

  it(
    'continues after a crash of the platform at any step of a create',
    () =>
      using('crashes', async ({ driver, again }, spec) => {
        // The node ends the pod while the disk is filled, then the platform is gone too.
        const half = new AbortController();
        const creating = driver.create(spec, half.signal).then(
          () => 'created',
          () => 'failed',
        );
        await expect.poll(() => objects('pods', spec), { interval: 20 }).not.toBe('');
        await inNamespace('delete', 'pods', '-l', `svc.dev/sandbox=${spec.id}`, '--grace-period=0', '--force');
        expect(await creating).toBe('failed');
        await expect.poll(() => objects('pvc', spec), { timeout: 20_000 }).toBe('');
        await driver.create(spec, signal());
        // It was not recorded that the disk is complete.
        const claim = ['pvc', '-l', `svc.dev/sandbox=${spec.id}`];
        await inNamespace('annotate', '--overwrite', ...claim, 'svc.dev/sandbox-state=filling');
        expect(await driver.isCreated(spec.id)).toBe(false);
        await driver.close();
        const second = again();
        try {
          expect(await second.open()).toMatchObject({ available: true });
          expect(await objects('pods', spec)).toBe(''); // nothing uses it any more
          await expect(second.start(spec, signal())).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
          await second.create(spec, signal());
          await second.start(spec, signal());
          expect(await run(second, spec, 'ls -d /etc/passwd /root')).toBe('/etc/passwd\n/root\n');
        } finally {
          await second.close();
          await driver.open();
        }
      }),
    120_000,
  );

  it(
    'starts an interrupted fill again, and never refills a complete disk',
    () =>
      using('filled', async ({ driver }, spec) => {
        await begin(driver, spec);
        await driver.stop(spec.id, 0);
        const name = (await objects('pvc', spec)).replace(/^.*\//, '');
        const volume = (await inNamespace('get', 'pvc', name, '-o', 'jsonpath={.spec.volumeName}')).trim();
        const path = (await kubernetes.kubectl('get', 'pv', volume, '-o', 'jsonpath={.spec.hostPath.path}')).trim();
        const onNode = async (script: string): Promise<string> => {
          const { runCommand } = await import('./commands.ts');
          const node = String(kubernetes.shared?.nodeProcess);
          return (await runCommand('nsenter', ['--target', node, '--mount', '--pid', '--', 'sh', '-ec', script]))
            .stdout;
        };
        expect(await onNode(`cat ${path}/image; ls ${path}/files; ls ${path}`)).toBe(
          `${TEST_IMAGE}\nbin\netc\nroot\ntmp\nvar\nfiles\nimage\nlost+found\n`,
        );
        await onNode(`echo changed > ${path}/files/etc/passwd`);
        await driver.start(spec, signal());
        expect(await run(driver, spec, 'cat /etc/passwd')).toBe('changed\n');
        await driver.stop(spec.id, 0);
        // As a kill in the middle leaves it: renaming is the last step.
        await onNode(`mv ${path}/files ${path}/files.partial; rm ${path}/files.partial/bin/busybox`);
        await driver.start(spec, signal());
        expect(await run(driver, spec, 'cat /etc/passwd')).toContain('root:x:0:0');
        expect(await onNode(`ls ${path}`)).toBe('files\nimage\nlost+found\n');
      }),
    120_000,
  );

  it('leaves neither claim nor volume of a deleted sandbox, and finds claims without a pod', () =>
    using('deleted', async ({ driver, again }, spec) => {
      await begin(driver, spec);
      await driver.stop(spec.id, 0);
      await driver.close();
      const second = again();
      await second.open();
      expect((await second.list()).map(({ id }) => id)).toEqual([spec.id]);
      await second.remove(spec.id);
      expect(await second.list()).toEqual([]);
      await second.close();
      await driver.open();
      await expect.poll(() => objects('pvc', spec), { timeout: 20_000 }).toBe('');
      await expect.poll(async () => (await provisioner.volumes()).length, { timeout: 20_000 }).toBe(0);
    }));

  it('keeps the disks of sandboxes that it made before there was none for new ones, and the other way around', () =>
    using('changes', async ({ driver, again }, spec) => {
      await begin(driver, spec);
      await run(driver, spec, 'echo kept > /root/file');
      await driver.stop(spec.id, 0);
      await driver.close();
      const without = again({ storageClass: null });
      const other = sampleSpec('changes-other');
      try {
        await without.open();
        expect(without.lacks.has('disk_usage')).toBe(true);
        await without.start(spec, signal());
        expect(await run(without, spec, 'cat /root/file')).toBe('kept\n');
        await begin(without, other);
        expect(await objects('pvc', other)).toBe('');
      } finally {
        await without.close();
        await driver.open();
      }
      await driver.stop(other.id, 0);
      expect(await objects('pods', other)).not.toBe('');
      await driver.start(other, signal());
      expect(await run(driver, other, 'echo runs')).toBe('runs\n');
    }));

  it(
    'copies the files of running and of stopped sandboxes, whether they have disks',
    () =>
      using('copied', async ({ driver, again }, spec) => {
        const { snapshots } = driver;
        if (snapshots === undefined) throw new Error('the driver has no snapshots');
        await begin(driver, spec);
        const change =
          'echo kept > /etc/file; rm /etc/group; ln /etc/file /var/linked; mkdir -p /new/folder; echo too > /new/file';
        await run(driver, spec, `${change}; ln -s /etc/file /root/link; truncate -s 8M /root/holes`);
        await snapshots.take(spec.id, 'snp_runs');
        await run(driver, spec, 'echo later > /etc/file');
        await driver.stop(spec.id, 0);
        await snapshots.take(spec.id, 'snp_stopped');
        expect(await objects('pods', spec)).toBe(''); // that of the copy is gone
        const look = 'cat /root/link; cat /new/file 2>/dev/null; ls /etc/group 2>&1; wc -c < /root/holes; hostname';
        const expected = (text: string, name: string): string =>
          `${text}ls: /etc/group: No such file or directory\n8388608\n${name}\n`;
        const without = again({ storageClass: null });
        for (const [snapshotId, text] of [
          ['snp_runs', 'kept'],
          ['snp_stopped', 'later'],
        ] as const) {
          const copy = sampleSpec(`of-${text}`, { snapshotId });
          await begin(driver, copy);
          // What was outside of the folders of the image went with the pod of the stopped one.
          const shown = text === 'kept' ? 'kept\ntoo\n' : 'later\n';
          expect(await run(driver, copy, look)).toBe(expected(shown, copy.hostname));
          await driver.stop(copy.id, 0);
          await driver.start(copy, signal());
          expect(await run(driver, copy, 'cat /root/link')).toBe(`${text}\n`);
          await driver.remove(copy.id);
        }
        await without.open();
        const plain = sampleSpec('plain', { snapshotId: 'snp_runs' });
        await begin(without, plain);
        expect(await run(without, plain, look)).toBe(expected('kept\ntoo\n', plain.hostname));
        await without.remove(plain.id);
        await without.close();
        for (const id of await snapshots.list()) await snapshots.remove(id);
      }),
    240_000,
  );

  it('limits the disk to the size of its volume, and measures it', () =>
    using('full', async ({ driver }, spec) => {
      await begin(driver, spec);
      expect(await run(driver, spec, 'dd if=/dev/zero of=/var/big bs=1M count=100')).toMatch(/No space left/);
      const full = await driver.stats(spec.id);
      expect(full.diskBytes).toBeGreaterThan(32 * 1024 ** 2);
      expect(full.diskBytes).toBeLessThanOrEqual(64 * 1024 ** 2);
      await run(driver, spec, 'rm /var/big; sync');
      await expect
        .poll(async () => (await driver.stats(spec.id)).diskBytes, { timeout: 20_000 })
        .toBeLessThan(16 * 1024 ** 2);
      const small = sampleSpec('too-small', { resources: { ...spec.resources, diskMb: 1 } });
      await expect(driver.create(small, signal())).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
      await expect.poll(() => objects('pvc', small), { timeout: 20_000 }).toBe('');
    }));

  it(
    'says why a claim has no volume',
    () =>
      using('pending', async ({ again }, spec) => {
        const name = `${provisioner.storageClass}-absent`;
        const object = { apiVersion: 'storage.k8s.io/v1', kind: 'StorageClass', provisioner: 'svc.test/absent' };
        await kubernetes.kubectl.withInput(
          JSON.stringify({ ...object, metadata: { name } }),
          'create',
          '--filename',
          '-',
        );
        const absent = again({ storageClass: name, clock: HASTY_CLOCK });
        try {
          expect(await absent.open()).toMatchObject({ available: true });
          await expect(absent.create(spec, AbortSignal.timeout(120_000))).rejects.toMatchObject({
            code: 'ROOTFS_FAILED',
            details: { reason: expect.stringMatching(/has no volume yet: ExternalProvisioning: .*svc\.test\/absent/) },
          });
          expect(await objects('pvc', spec)).toBe('');
          await absent.close();
          await kubernetes.kubectl('delete', 'storageclass', name);
          // The rights of the chart show only the class that it names.
          const access = () => kubeconfigAccess(kubernetes.kubeconfig);
          const never = again({ storageClass: 'never-made', access });
          expect(await never.open()).toMatchObject({ reason: 'the cluster has no StorageClass never-made' });
          await never.close();
        } finally {
          await absent.close();
          await kubernetes.kubectl('delete', 'storageclass', name, '--ignore-not-found');
        }
      }),
    180_000,
  );

  it('says which right is missing, and when a quota is used up', async () => {
    const plain = await createSandboxNamespace(kubernetes, 'svc-unused');
    const { storageClass } = provisioner;
    const options = { kubeconfig: plain.kubeconfig, image: TEST_IMAGE, helperImage: HELPER_IMAGE };
    const { driver } = kubernetesSubject({ ...options, namespace: plain.name, changes: { storageClass } });
    try {
      expect(await driver.open()).toMatchObject({
        available: false,
        reason: expect.stringMatching(/cannot list resource "persistentvolumeclaims".*/),
      });
    } finally {
      await driver.close();
      await plain[Symbol.asyncDispose]();
    }
    await using('quota', async ({ driver: limited }, spec) => {
      await inNamespace('create', 'quota', 'claims', '--hard=requests.storage=10Mi');
      try {
        await expect(limited.create(spec, signal())).rejects.toMatchObject({
          code: 'NO_CAPACITY',
          details: { reason: expect.stringContaining('exceeded quota') },
        });
      } finally {
        await inNamespace('delete', 'quota', 'claims');
      }
    });
  });
});
