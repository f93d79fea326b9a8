import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubernetesRequirement } from '../kubernetes/index.ts';
import { ensureHelm, helmRequirement } from '../kubernetes/index.ts';
import { startKubectl, type KubectlFixture } from './kubectl-fixture.ts';

const reason = (await kubernetesRequirement()) ?? (await helmRequirement());
const TITLE = 'Helm with only the output of svc kubeconfig';

const DEPLOYMENT = `apiVersion: apps/v1
kind: Deployment
metadata: { name: {{ .Release.Name }} }
spec:
  replicas: {{ .Values.replicas }}
  selector: { matchLabels: { app: {{ .Release.Name }} } }
  template:
    metadata: { labels: { app: {{ .Release.Name }} } }
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - { name: main, image: "localhost/busybox:1", imagePullPolicy: IfNotPresent, command: [sleep, "3600"] }
`;

describe.skipIf(reason !== null)(reason === null ? TITLE : skippedTitle(TITLE, reason), () => {
  let fixture: KubectlFixture;
  let helm: string;
  beforeAll(async () => {
    helm = await ensureHelm();
    fixture = await startKubectl({ TUNNEL_KUBERNETES_IDENTITY: 'agent' });
    const chart = join(fixture.folder, 'chart');
    await mkdir(join(chart, 'templates'), { recursive: true });
    await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: shop\nversion: 1.0.0\n');
    await writeFile(join(chart, 'values.yaml'), 'replicas: 1\n');
    await writeFile(join(chart, 'templates', 'deployment.yaml'), DEPLOYMENT);
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  it('installs a chart and waits for it, upgrades, rolls back and uninstalls', async () => {
    const run = async (...args: string[]): Promise<string> => {
      const { exitCode, stdout, stderr } = await fixture.run(args, { program: helm });
      if (exitCode !== 0) throw new Error(`helm ${args.join(' ')}: ${stderr}`);
      return stdout;
    };
    const replicas = () => fixture.kubectl(['get', 'deployment', 'shop', '-o', 'jsonpath={.spec.replicas}']);
    expect(await run('install', 'shop', 'chart', '--wait', '--timeout', '120s')).toContain('STATUS: deployed');
    await run('upgrade', 'shop', 'chart', '--set', 'replicas=2', '--wait', '--timeout', '120s');
    expect(await replicas()).toBe('2');
    await run('rollback', 'shop', '1', '--wait', '--timeout', '120s');
    expect(await replicas()).toBe('1');
    expect(await run('list', '-q')).toBe('shop\n');
    expect(await run('uninstall', 'shop')).toContain('uninstalled');
  });
});
