import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { driverContract, type ContractSubject, type TestedCapability } from '@svc/sandboxes/testing/driver-contract';
import { TRANSFER_WINDOW_BYTES } from '@svc/sandboxes/testing/frames';
import { kubernetesSubject, type KubernetesSubject } from '@svc/sandboxes/testing/kubernetes-subject';
import { runInSandbox } from '@svc/sandboxes/testing/run-in-sandbox';
import { runningContract } from '@svc/sandboxes/testing/running-contract';
import { sampleSpec } from '@svc/sandboxes/testing/sample-spec';
import { skippedTitle, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildProbe } from '../escapes/build-probe.ts';
import { TEST_IMAGE } from './agent-fixture.ts';
import { helmRequirement, type Kubernetes, kubernetesRequirement, startKubernetes } from './index.ts';
import { createSandboxNamespace, HELPER_IMAGE, type SandboxNamespace } from './sandbox-namespace.ts';

/** RuntimeClasses have no namespace, so each run has its own. */
const RUNTIME_CLASS = `svc-${randomUUID().slice(0, 8)}`;
/** Programs of the runtime that a sandbox attempts to trace. */
const NEWCOMERS = 15;
const LACKS: readonly TestedCapability[] = [
  'disk_limit',
  'disk_usage',
  'mounts',
  'oom_survival',
  'process_limit',
  'volumes',
];

const reason = (await kubernetesRequirement()) ?? (await helmRequirement());
const title = 'the Kubernetes driver';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let kubernetes: Kubernetes;
  let namespace: SandboxNamespace;
  let folder: TemporaryFolder;

  beforeAll(async () => {
    folder = await temporaryFolder();
    kubernetes = await startKubernetes();
    namespace = await createSandboxNamespace(kubernetes, RUNTIME_CLASS);
  });
  afterAll(async () => {
    await namespace?.[Symbol.asyncDispose]();
    await kubernetes?.stop();
    await folder?.remove();
  });

  function subject(owner?: string): KubernetesSubject {
    const { kubeconfig, name } = namespace;
    return kubernetesSubject({
      kubeconfig,
      namespace: name,
      image: TEST_IMAGE,
      helperImage: HELPER_IMAGE,
      changes: { snapshotFolder: join(folder.path, 'snapshots') },
      ...(owner === undefined ? {} : { owner }),
    });
  }

  const contractSubject = async (): Promise<ContractSubject> => {
    const { driver, again, dispose } = subject();
    return { driver, spec: (name) => sampleSpec(name), again: () => again(), dispose };
  };
  describe('as a driver', () => driverContract(contractSubject, LACKS));
  describe('with programs', () => runningContract(contractSubject, LACKS));

  const signal = (): AbortSignal => AbortSignal.timeout(60_000);

  it('refuses a cluster whose network does not enforce policies', async () => {
    const { again } = subject('verified');
    const driver = again({ networkPolicies: 'verify' });
    const status = await driver.open();
    await driver.close();
    expect(status).toMatchObject({
      available: false,
      reason: expect.stringContaining('does not enforce network policies'),
    });
    const left = await kubernetes.kubectl(
      '-n',
      namespace.name,
      'get',
      'pods',
      '-l',
      'svc.dev/sandbox-owner=verified',
      '-o',
      'name',
    );
    expect(left.trim()).toBe('');
  });

  it('leaves the pods of another owner alone', async () => {
    const [mine, other] = [subject('mine'), subject('other')];
    const spec = sampleSpec('shared-name');
    try {
      for (const { driver } of [mine, other]) {
        expect(await driver.open()).toMatchObject({ available: true });
        await driver.create(spec, signal());
      }
      expect(await mine.driver.list()).toEqual([{ id: spec.id, running: false, paused: false }]);
      await mine.driver.remove(spec.id);
      expect(await other.driver.isCreated(spec.id)).toBe(true);
    } finally {
      await mine.dispose();
      await other.dispose();
    }
  });

  it('says that the files of a sandbox are gone with its pod, instead of starting an empty one', async () => {
    const { driver, dispose } = subject('gone');
    const spec = sampleSpec('gone-pod');
    try {
      await driver.open();
      await driver.create(spec, signal());
      await driver.start(spec, signal());
      const connection = await driver.connect(spec.id, signal());
      await connection.call({ op: 'shutdown' }).catch(() => undefined);
      await connection.closed;
      await expect
        .poll(() =>
          driver.start(spec, signal()).then(
            () => 'started',
            (error: { code: string }) => error.code,
          ),
        )
        .toBe('ROOTFS_FAILED');
      await expect(driver.create(spec, signal())).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
    } finally {
      await dispose();
    }
  });

  it('refuses images without a registry source, and egress without resolvers', async () => {
    const { driver, dispose } = subject('refused');
    try {
      await driver.open();
      const local = sampleSpec('local', { image: 'local-only' });
      await expect(driver.create(local, signal())).rejects.toMatchObject({ code: 'IMAGE_PULL_FAILED' });
      const egress = sampleSpec('egress', { network: 'egress' });
      await expect(driver.create(egress, signal())).rejects.toMatchObject({ code: 'RUNTIME_FAILED' });
      expect(await driver.list()).toEqual([]);
    } finally {
      await dispose();
    }
  });

  it('creates a sandbox of another node from an archive, once no pod has it any more', async () => {
    const [here, there] = [subject('here'), subject('there')];
    const spec = sampleSpec('moves');
    const run = async (driver: KubernetesSubject['driver'], script: string): Promise<string> => {
      const connection = await driver.connect(spec.id, signal());
      const { stdout } = await runInSandbox(connection, ['sh', '-c', script]);
      await connection.close();
      return stdout;
    };
    try {
      for (const { driver } of [here, there]) await driver.open();
      await here.driver.create(spec, signal());
      await here.driver.start(spec, signal());
      await run(here.driver, 'echo kept > /root/file; rm /etc/group; mkfifo /root/pipe; ln /root/file /root/second');
      const snapshots = need(here.driver.snapshots);
      await snapshots.take(spec.id, 'snp_moves');
      const content: Uint8Array[] = [];
      for await (const chunk of snapshots.archives.read('snp_moves', signal())) content.push(Buffer.from(chunk));
      const target = need(there.driver.snapshots?.archives);
      expect(target.format).toBe(snapshots.archives.format);
      expect(await target.mayContinue(spec.id)).toBe(false);
      await here.driver.remove(spec.id);
      expect(await target.mayContinue(spec.id)).toBe(true);
      const source = (chunks: readonly Uint8Array[]) => ({
        base: null,
        open: async function* () {
          yield* chunks;
        },
        openBase: () => Promise.resolve(null),
      });
      const half = Buffer.concat(content).subarray(0, 100_000);
      await expect(target.create(spec, source([half]), signal())).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
      expect(await there.driver.isCreated(spec.id)).toBe(false);
      await target.create(spec, source(content), signal());
      await there.driver.start(spec, signal());
      const look = 'cat /root/second; ls /etc/group 2>&1; test -p /root/pipe && stat -c %h /root/file';
      expect(await run(there.driver, look)).toBe('kept\nls: /etc/group: No such file or directory\n2\n');
    } finally {
      await need(here.driver.snapshots).remove('snp_moves');
      await here.dispose();
      await there.dispose();
    }
  });

  it('begins anew with a pod that a crash left without the files of its snapshot', async () => {
    const { driver, dispose } = subject('crashed');
    const [spec, copy] = [sampleSpec('crash-source'), sampleSpec('crash-copy', { snapshotId: 'snp_crash' })];
    try {
      await driver.open();
      await driver.create(spec, signal());
      await need(driver.snapshots).take(spec.id, 'snp_crash');
      await driver.create(copy, signal());
      const pods = ['-n', namespace.name, 'pods', '-l', `svc.dev/sandbox=${copy.id}`];
      await kubernetes.kubectl('annotate', '--overwrite', ...pods, 'svc.dev/sandbox-state=filling');
      await expect.poll(() => driver.isCreated(copy.id)).toBe(false);
      await expect(driver.start(copy, signal())).rejects.toMatchObject({ code: 'ROOTFS_FAILED' });
      const uid = ['get', ...pods, '-o', 'jsonpath={.items[*].metadata.uid}'];
      const before = await kubernetes.kubectl(...uid);
      await driver.create(copy, signal());
      expect(await kubernetes.kubectl(...uid)).not.toBe(before);
      await driver.start(copy, signal());
      expect(await driver.inspect(copy.id)).toMatchObject({ running: true });
    } finally {
      await need(driver.snapshots).remove('snp_crash');
      await dispose();
    }
  });

  it('gives sandboxes GPUs by the name of the resource, and says when no node has them', async () => {
    const resource = `${RUNTIME_CLASS}.example/gpu`;
    const node = (await kubernetes.kubectl('get', 'nodes', '-o', 'jsonpath={.items[0].metadata.name}')).trim();
    const path = `/status/capacity/${resource.replace('/', '~1')}`;
    const patch = (change: object) =>
      kubernetes.kubectl('patch', 'node', node, '--subresource=status', '--type=json', '-p', JSON.stringify([change]));
    const { driver, again, dispose } = subject('gpus');
    const equipped = again({ gpuResource: resource });
    const [one, two] = [1, 2].map((gpus) => {
      const spec = sampleSpec(`gpus-${gpus}`);
      return { ...spec, resources: { ...spec.resources, gpus } };
    });
    if (one === undefined || two === undefined) throw new Error('nothing was made');
    await patch({ op: 'add', path, value: '1' });
    try {
      expect([driver.hasGpus, equipped.hasGpus]).toEqual([false, true]);
      await equipped.open();
      await equipped.create(one, signal());
      const query = ['get', 'pods', '-l', 'svc.dev/sandbox-owner=gpus', '-o', 'jsonpath={..limits}'];
      expect(await kubernetes.kubectl('-n', namespace.name, ...query)).toContain(`"${resource}":"1"`);
      let hasLeft = false;
      const leaveFor = <Awaited>(wait: () => Promise<Awaited>): Promise<Awaited> => {
        hasLeft = true;
        return wait();
      };
      await expect(equipped.create(two, AbortSignal.timeout(5000), { leaveFor })).rejects.toMatchObject({
        code: 'NO_CAPACITY',
        details: { reason: expect.stringContaining(`Insufficient ${resource}`) },
      });
      expect(hasLeft).toBe(true); // meanwhile, the starts of others have its place
    } finally {
      await equipped.close();
      await patch({ op: 'remove', path });
      await driver.open();
      await dispose();
    }
  });

  it('gives programs neither the account of the pod nor more privileges', async () => {
    const { driver, dispose } = subject('privileges');
    const spec = sampleSpec('privileges');
    try {
      await driver.open();
      await driver.create(spec, signal());
      await driver.start(spec, signal());
      const connection = await driver.connect(spec.id, signal());
      const script = `ls /var/run/secrets 2>/dev/null; env
        grep -E "^(NoNewPrivs|Seccomp|CapEff):" /proc/self/status; touch /.sandbox/x 2>&1
        for file in $(find /sys/fs/cgroup -maxdepth 2 -name cgroup.procs); do sh -c "echo $$ > $file" 2>&1 && echo writable; done
        hostname`;
      const { stdout } = await runInSandbox(connection, ['sh', '-c', script]);
      await connection.close();
      expect(stdout).toMatch(/NoNewPrivs:\t1\n/);
      expect(stdout).toMatch(/Seccomp:\t2\n/);
      expect(stdout).toMatch(/CapEff:\t00000000a00405fb\n/);
      expect(stdout).toMatch(/sandbox\/x: Read-only file system/);
      expect(stdout).toMatch(/cgroup.procs: Read-only file system/);
      expect(stdout).not.toContain('writable');
      expect(stdout).not.toContain('serviceaccount');
      expect(stdout).not.toContain('KUBERNETES');
      expect(stdout.endsWith('privileges\n')).toBe(true);
    } finally {
      await dispose();
    }
  });

  it('lets programs trace nothing that the runtime starts among them, so that none acts without the filter', async () => {
    const { driver, dispose } = subject('traced');
    const spec = sampleSpec('traced');
    const probe = await buildProbe();
    try {
      await driver.open();
      await driver.create(spec, signal());
      await driver.start(spec, signal());
      const connection = await driver.connect(spec.id, signal());
      const upload = connection.start(
        { op: 'file.write', path: '/root/probe', mode: 0o755 },
        { inputWindowBytes: TRANSFER_WINDOW_BYTES },
      );
      await upload.write(await readFile(probe.file));
      upload.finishInput();
      expect(await upload.outcome).toMatchObject({ ok: true });
      const attack = runInSandbox(connection, ['/root/probe', 'trace-newcomers', '/root/enough']);
      for (let count = 0; count < NEWCOMERS; count += 1) await (await driver.connect(spec.id, signal())).close();
      await runInSandbox(connection, ['touch', '/root/enough']);
      const { stdout } = await attack;
      await connection.close();
      expect(stdout).toMatch(/^refused: none of \d+\n$/);
      expect(Number(/\d+/.exec(stdout)?.[0])).toBeGreaterThanOrEqual(NEWCOMERS);
    } finally {
      await probe.remove();
      await dispose();
    }
  });

  it('runs sandboxes with isolation gvisor in their runtime class, and refuses them without it', async () => {
    const { driver, again, dispose } = subject('isolated');
    const isolated = again({ gvisorRuntimeClass: RUNTIME_CLASS });
    const spec = sampleSpec('isolated', { isolation: 'gvisor' });
    try {
      expect(await isolated.open()).toMatchObject({ available: true, details: { gvisor: false } });
      expect(isolated.whyUnsupported('gvisor')).toContain(RUNTIME_CLASS);
      // The handler of ordinary pods: what counts is that the pod names the class.
      const runtimeClass = { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', handler: 'runc' };
      const object = { ...runtimeClass, metadata: { name: RUNTIME_CLASS } };
      await kubernetes.kubectl.withInput(JSON.stringify(object), 'create', '--filename', '-');
      expect(await isolated.open()).toMatchObject({ available: true, details: { gvisor: true } });
      await isolated.create(spec, signal());
      await isolated.start(spec, signal());
      const query = ['get', 'pods', '-l', 'svc.dev/sandbox-owner=isolated', '-o', 'jsonpath={..runtimeClassName}'];
      expect(await kubernetes.kubectl('-n', namespace.name, ...query)).toBe(RUNTIME_CLASS);
    } finally {
      await isolated.close();
      await kubernetes.kubectl('delete', 'runtimeclass', RUNTIME_CLASS, '--ignore-not-found');
      await driver.open();
      await dispose();
    }
  });
});

function need<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('the driver has no snapshots');
  return value;
}
