import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadPlatformConfig, type PlatformConfig } from '@svc/platform';
import { skippedTitle, temporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import { ensureHelm, helmRequirement } from '../tunnel/helm.ts';
import { kubernetesRequirement, startKubernetes, type Kubernetes } from './index.ts';

const run = promisify(execFile);
const reason = await helmRequirement();
const TITLE = "the platform's chart";
const CHART = join(PROJECT_ROOT, 'deploy/helm/svc');

/** Two replicas with a database, an engine and a master key, by reference. */
const REPLICAS: readonly string[] = [
  'replicas=2',
  'masterKey.existingSecret=master',
  'database.existingSecret=database-app',
  'objectStore.engine=s3',
  'objectStore.s3.endpoint=http://engine:7070',
  'objectStore.s3.bucket=blobs',
  'objectStore.s3.existingSecret=engine',
];
const HOSTS = ['console.hosts={svc.example.com}', 's3.hosts={s3.example.com,*.s3.example.com}'];
const INGRESS = ['ingress.enabled=true', 'ingress.tlsSecret=tls', ...HOSTS.map((each) => `ingress.${each}`)];
const GATEWAY = ['gateway.enabled=true', 'gateway.parentRefs[0].name=edge', ...HOSTS.map((each) => `gateway.${each}`)];
const REPLICA_REQUIREMENTS = ['database.existingSecret', 'objectStore.engine', 'masterKey.existingSecret'];

/** Values that the chart refuses, and what its error names. */
const REFUSED: readonly (readonly [values: readonly string[], named: string])[] = [
  [['replicas=0'], '/replicas'],
  [['replica=2'], 'replica'],
  [['services={sandboxes}'], '/services/0'],
  [['publicUrl=svc.example.com'], '/publicUrl'],
  [['trustedProxies={proxy}'], '/trustedProxies/0'],
  [['image.digest=latest'], '/image/digest'],
  [['config.database.url=postgres://user:password@host/svc'], '/config/database'],
  [['config.object_store.master_key=00'], '/config/object_store'],
  [['config.owner.password=hunter22'], '/config/owner'],
  [['objectStore.engine=s3'], 'objectStore.s3.bucket'],
  [[...INGRESS, ...GATEWAY], 'exclude each other'],
  [['autoscaling.enabled=true'], 'database.existingSecret'],
];

interface Rendered {
  kind: string;
  metadata: { name: string };
  data?: { 'platform.yaml': string };
  spec?: Record<string, unknown>;
}

describe.skipIf(reason !== null)(reason === null ? TITLE : skippedTitle(TITLE, reason), () => {
  let helm: string;
  beforeAll(async () => {
    helm = await ensureHelm();
  }, 20 * 60_000); // allows for building Helm on first use

  const template = async (...values: readonly string[]): Promise<Map<string, Rendered>> => {
    const flags = values.flatMap((value) => ['--set', value]);
    const { stdout } = await run(helm, ['template', 'svc', CHART, '--kube-version', '1.34.0', ...flags]);
    const documents = parseAllDocuments(stdout).map((each) => each.toJS() as Rendered | null);
    return new Map(documents.flatMap((each) => (each === null ? [] : [[`${each.kind}/${each.metadata.name}`, each]])));
  };
  /** Reads the rendered configuration as the platform would. */
  const configOf = async (rendered: Map<string, Rendered>): Promise<PlatformConfig> => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'platform.yaml');
    await writeFile(file, rendered.get('ConfigMap/svc')?.data?.['platform.yaml'] ?? '');
    return loadPlatformConfig({ file, environment: {}, flags: [] }).value;
  };

  it('passes helm lint, and refuses values by name', async () => {
    const { stdout } = await run(helm, ['lint', '--strict', CHART]);
    expect(stdout).toContain('0 chart(s) failed');
    for (const [values, named] of REFUSED) {
      await expect(template(...values), values.join()).rejects.toThrow(named);
    }
  });

  it.each(REPLICA_REQUIREMENTS)('refuses two replicas without %s', async (name) => {
    const values = REPLICAS.filter((value) => !value.startsWith(`${name}=`));
    await expect(template(...values)).rejects.toThrow(name);
  });

  it('installs one replica with a volume and without a Secret of its own by default', async () => {
    const rendered = await template();
    expect([...rendered.keys()].toSorted()).toEqual([
      'ConfigMap/svc',
      'NetworkPolicy/svc',
      'Pod/svc-test',
      'PodDisruptionBudget/svc',
      'Service/svc',
      'Service/svc-replicas',
      'ServiceAccount/svc',
      'StatefulSet/svc',
    ]);
    expect(rendered.get('StatefulSet/svc')?.spec).toMatchObject({
      replicas: 1,
      volumeClaimTemplates: [{ metadata: { name: 'data' } }],
      template: {
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true },
          containers: [{ securityContext: { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } } }],
        },
      },
    });
    expect(await configOf(rendered)).toMatchObject({
      services: ['clusters', 'object-store'],
      object_store: { engine: 'embedded' },
    });
  });

  it('mounts the Secrets of two replicas as files, and derives the public addresses from the Ingress', async () => {
    const rendered = await template(...REPLICAS, ...INGRESS);
    const config = await configOf(rendered);
    expect(config).toMatchObject({
      public_url: 'https://svc.example.com',
      s3_public_url: 'https://s3.example.com',
      object_store: { engine: 's3', domains: ['s3.example.com'], s3: { bucket: 'blobs' } },
    });
    const text = JSON.stringify(rendered.get('StatefulSet/svc'));
    for (const secret of ['master', 'database-app', 'engine']) expect(text).toContain(`{"name":"${secret}","items":`);
    expect(text).toContain('"name":"SVC_DATABASE_URL_FILE","value":"/etc/svc/secrets/database-url"');
    const rules = rendered.get('Ingress/svc')?.spec?.['rules'] as readonly { host: string }[];
    expect(rules.map(({ host }) => host)).toEqual(['svc.example.com', 's3.example.com', '*.s3.example.com']);
  });

  it('routes through the Gateway API, scales, and is scraped', async () => {
    const scaled = ['autoscaling.enabled=true', 'autoscaling.openStreams=500', 'serviceMonitor.enabled=true'];
    const rendered = await template(...REPLICAS, ...GATEWAY, ...scaled);
    expect(rendered.get('HTTPRoute/svc-console')?.spec).toMatchObject({ hostnames: ['svc.example.com'] });
    expect(rendered.get('HTTPRoute/svc-s3')?.spec).toMatchObject({ parentRefs: [{ name: 'edge' }] });
    expect(rendered.get('StatefulSet/svc')?.spec).not.toHaveProperty('replicas');
    expect(rendered.get('HorizontalPodAutoscaler/svc')?.spec).toMatchObject({
      metrics: [{ resource: { name: 'cpu' } }, { pods: { metric: { name: 'svc_held_rights' } } }],
    });
    expect(rendered.has('ServiceMonitor/svc')).toBe(true);
  });
});

const given = (process.env['KUBECONFIG_UNDER_TEST'] ?? '') !== '';
const apiReason = given ? 'a cluster was given from outside' : (reason ?? (await kubernetesRequirement(true)));
const API_TITLE = "the platform's chart at a real API server";

describe.skipIf(apiReason !== null)(apiReason === null ? API_TITLE : skippedTitle(API_TITLE, apiReason), () => {
  let kubernetes: Kubernetes;
  let environment: NodeJS.ProcessEnv;
  beforeAll(async () => {
    await ensureHelm();
    kubernetes = await startKubernetes({ apiOnly: true });
    environment = { ...process.env, KUBECONFIG: kubernetes.kubeconfig, NO_PROXY: '*' };
    await kubernetes.kubectl('create', 'namespace', 'platform');
    const levels = ['enforce', 'warn'].map((mode) => `pod-security.kubernetes.io/${mode}=restricted`);
    await kubernetes.kubectl('label', 'namespace', 'platform', ...levels);
  }, 20 * 60_000); // allows for building Kubernetes on first use
  afterAll(() => kubernetes?.stop());

  const helm = async (command: string, ...rest: readonly string[]) =>
    run(await ensureHelm(), [command, 'svc', ...rest, '--namespace', 'platform'], { env: environment });
  const values = (...given: readonly string[]): string[] => given.flatMap((value) => ['--set', value]);

  it('is accepted without a warning, with pods of the level restricted, and upgrades and rolls back', async () => {
    const installed = await helm('install', CHART, ...values(...REPLICAS, ...INGRESS));
    expect(installed.stderr).toBe('');
    expect(installed.stdout).toContain('The console is at https://svc.example.com.');
    const upgraded = await helm('upgrade', CHART, '--reuse-values', ...values('config.log.level=debug'));
    expect(upgraded.stderr).toBe('');
    const config = ['get', 'configmap', 'svc', '--namespace', 'platform', '--output', 'yaml'];
    expect(await kubernetes.kubectl(...config)).toContain('level: debug');
    await helm('rollback', '1');
    expect(await kubernetes.kubectl(...config)).not.toContain('level: debug');
  });
});
