/**
 * `node bench/sandboxes/pods.ts [--n 20] [--pool 4]`: how fast sandboxes start as pods of a real Kubernetes on this machine,
 * cold and with a pool of warm pods, beside `kubectl run -it`, in turns. Images are on the node.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { binariesFolder, KUBERNETES_VERSION, startKubernetes } from '@svc/test/kubernetes';
import { createSandboxNamespace, HELPER_IMAGE } from '@svc/test/sandbox-namespace';
import { kubectlSubject } from './kubectl-subject.ts';
import { measureCreates } from './patterns.ts';
import type { Subject } from './subject.ts';
import { startSvc } from './svc-subject.ts';
import { createsTable } from './tables.ts';

const IMAGE = 'localhost/busybox:1';
const { values } = parseArgs({
  options: { n: { type: 'string', default: '20' }, pool: { type: 'string', default: '4' } },
});
const say = (line: string): void => void process.stderr.write(`${line}\n`);
const root = await mkdtemp(join(tmpdir(), 'svc-bench-pods-'));
const stops: (() => Promise<unknown>)[] = [];
try {
  const load = loadavg().map((each) => each.toFixed(2));
  const kubernetes = await startKubernetes();
  stops.push(() => kubernetes.stop());
  const { kubeconfig, name, [Symbol.asyncDispose]: remove } = await createSandboxNamespace(kubernetes, 'svc-unused');
  stops.push(async () => remove());
  const cluster = { kubeconfig, namespace: name, image: IMAGE, helperImage: HELPER_IMAGE };
  const subjects: Subject[] = [];
  for (const pool of [Number(values.pool), 0]) {
    const folder = join(root, `pool-${pool}`);
    const svc = await startSvc({ folder, imageCache: join(root, 'images'), image: 'tiny', pool, cluster });
    stops.push(() => svc.stop());
    subjects.push(svc);
  }
  // With the rights of an administrator: the platform's account may not use `kubectl attach`.
  subjects.push(kubectlSubject(join(binariesFolder(), 'kubectl'), { ...cluster, kubeconfig: kubernetes.kubeconfig }));
  const figures = await measureCreates(subjects, 'sequential', Number(values.n), say);
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? ''}; Node.js ${process.version}; Kubernetes ${KUBERNETES_VERSION}`;
  process.stdout.write(`${machine}; load before: ${load.join(', ')}\n\n${createsTable(figures)}\n`);
} finally {
  for (const stop of stops.toReversed()) await stop();
  await rm(root, { recursive: true, force: true });
}
