import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadPlatformConfig, type PlatformConfig } from '@svc/platform';
import { skippedTitle, temporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import { ensureHelm, helmRequirement, kubernetesRequirement, startKubernetes, type Kubernetes } from './index.ts';

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
  [['services={sandbox}'], '/services/0'],
  [['services={sandboxes}', 'sandboxes.namespace=default'], 'sandboxes.namespace'], // the release's own
  [['services={sandboxes}', 'serviceAccount.create=false'], 'serviceAccount.name'],
  [['services={sandboxes}', 'persistence.enabled=false'], 'persistence.enabled'],
  [
    [
      'services={sandboxes}',
      'autoscaling.enabled=true',
      'database.existingSecret=a',
      'objectStore.engine=s3',
      'objectStore.s3.bucket=b',
      'objectStore.s3.existingSecret=c',
      'masterKey.existingSecret=d',
    ],
    'autoscaling.enabled is refused',
  ],
  [['sandboxes.nameservers={resolver}'], '/sandboxes/nameservers/0'],
  [['config.sandboxes.driver=local'], '/config/sandboxes'],
  [['config.sandboxes.kubernetes.namespace=other'], '/config/sandboxes/kubernetes'],
  [['config.sandboxes.kubernetes.storage_class=other'], '/config/sandboxes/kubernetes'],
  [['publicUrl=svc.example.com'], '/publicUrl'],
  [['trustedProxies={proxy}'], '/trustedProxies/0'],
  [['image.digest=latest'], '/image/digest'],
  [['config.database.url=postgres://user:password@host/svc'], '/config/database'],
  [['config.object_store.master_key=00'], '/config/object_store'],
  [['config.owner.password=hunter22'], '/config/owner'],
  [['objectStore.engine=s3'], 'objectStore.s3.bucket'],
  [[...INGRESS, ...GATEWAY], 'exclude each other'],
  [['autoscaling.enabled=true'], 'database.existingSecret'],
  [['service.externalTrafficPolicy=local'], '/service/externalTrafficPolicy'],
];

interface NetworkPolicyRule {
  ports: readonly { port: string }[];
  from?: readonly unknown[];
}

interface Rendered {
  kind: string;
  metadata: { name: string; namespace?: string };
  rules?: { resources: string[]; verbs: string[] }[];
  subjects?: object[];
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

  it('keeps the addresses of clients behind a balancer of the cluster', async () => {
    const policyOf = async (...values: readonly string[]) =>
      (await template(...values)).get('Service/svc')?.spec?.['externalTrafficPolicy'];
    expect(await policyOf()).toBeUndefined();
    expect(await policyOf('service.type=LoadBalancer')).toBe('Local');
    expect(await policyOf('service.type=NodePort', 'service.externalTrafficPolicy=Cluster')).toBe('Cluster');
  });

  it('lets only replicas reach the listener through which they forward', async () => {
    const rendered = await template(...REPLICAS);
    expect((await configOf(rendered)).internal).toEqual({ listen: '0.0.0.0:4300' });
    expect(JSON.stringify(rendered.get('StatefulSet/svc'))).toContain('{"name":"internal","containerPort":4300}');
    const rules = rendered.get('NetworkPolicy/svc')?.spec?.['ingress'] as readonly NetworkPolicyRule[]; // of the template
    const internal = rules.filter(({ ports }) => ports.some(({ port }) => port === 'internal'));
    const replicas = rendered.get('StatefulSet/svc')?.spec?.['selector'];
    expect(internal).toEqual([{ ports: [{ port: 'internal' }], from: [{ podSelector: replicas }] }]);
  });

  it('grants the service account what the driver of sandboxes uses, in their namespace only', async () => {
    const rendered = await template(
      'services={clusters,sandboxes}',
      'sandboxes.namespace=sandboxes',
      'sandboxes.nameservers={9.9.9.9}',
      'sandboxes.pullSecret=pull',
      'config.sandboxes.max_running=50',
    );
    const role = rendered.get('Role/default-svc-sandboxes');
    expect(role).toMatchObject({ metadata: { namespace: 'sandboxes' } });
    expect(role?.rules?.map(({ resources, verbs }) => [resources, verbs])).toEqual([
      [['pods'], ['list', 'watch', 'create', 'patch', 'delete']],
      [['pods/exec'], ['get', 'create']],
      [['networkpolicies'], ['list', 'create', 'patch']],
      [['secrets'], ['create', 'patch']],
    ]);
    expect(rendered.get('RoleBinding/default-svc-sandboxes')).toMatchObject({
      metadata: { namespace: 'sandboxes' },
      subjects: [{ kind: 'ServiceAccount', name: 'svc', namespace: 'default' }],
    });
    expect([...rendered.keys()].filter((key) => key.startsWith('Cluster'))).toEqual([]);
    expect(rendered.get('StatefulSet/svc')?.spec).toMatchObject({
      template: { spec: { automountServiceAccountToken: true } },
    });
    const config = await configOf(rendered);
    expect(config.services).toEqual(['clusters', 'sandboxes']);
    expect(config.sandboxes).toMatchObject({
      driver: 'kubernetes',
      nameservers: ['9.9.9.9'],
      max_running: 50,
      kubernetes: { namespace: 'sandboxes', helper_image: 'localhost/svc:0.1.0', pull_secret: 'pull' },
    });
  });

  it('grants claims, and reads their class, only with a class for the disks of sandboxes', async () => {
    const rendered = await template('services={sandboxes}', 'sandboxes.storageClass=fast');
    const rules = rendered.get('Role/default-svc-sandboxes')?.rules?.map(({ resources, verbs }) => [resources, verbs]);
    expect(rules?.slice(4)).toEqual([
      [['persistentvolumeclaims'], ['get', 'list', 'create', 'patch', 'delete']],
      [['events'], ['list']],
    ]);
    expect(rendered.get('ClusterRole/default-svc-sandboxes')?.rules).toEqual([
      { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], resourceNames: ['fast'], verbs: ['get'] },
    ]);
    expect((await configOf(rendered)).sandboxes).toMatchObject({ kubernetes: { storage_class: 'fast' } });
  });

  it('reads only the runtime classes that sandboxes use, and grants nothing if told so', async () => {
    const sandboxes = ['services={sandboxes}', 'sandboxes.gvisorRuntimeClass=gvisor'];
    const classes = (await template(...sandboxes)).get('ClusterRole/default-svc-sandboxes');
    expect(classes?.rules).toEqual([
      { apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'], resourceNames: ['gvisor'], verbs: ['get'] },
    ]);
    const without = await template(...sandboxes, 'sandboxes.rbac.create=false');
    expect([...without.keys()].filter((key) => key.includes('Role'))).toEqual([]);
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

  it('is accepted with sandboxes, whose rights end with their namespace', async () => {
    await kubernetes.kubectl('create', 'namespace', 'sandboxes');
    const sandboxes = ['services={clusters,sandboxes}', 'sandboxes.namespace=sandboxes', 'sandboxes.runtimeClass=runc'];
    expect((await helm('install', CHART, ...values(...sandboxes))).stderr).toBe('');
    const may = async (...what: readonly string[]): Promise<string> => {
      const account = '--as=system:serviceaccount:platform:svc';
      // It exits with an error after a no.
      return kubernetes.kubectl('auth', 'can-i', ...what, account).then(
        (answer) => answer.trim(),
        () => 'no',
      );
    };
    expect(await may('create', 'pods', '--namespace=sandboxes')).toBe('yes');
    expect(await may('create', 'pods/exec', '--namespace=sandboxes')).toBe('yes');
    expect(await may('get', 'runtimeclasses.node.k8s.io/runc')).toBe('yes');
    for (const what of ['secrets', 'serviceaccounts', 'configmaps', 'roles.rbac.authorization.k8s.io']) {
      expect(await may('list', what, '--namespace=sandboxes'), what).toBe('no');
    }
    expect(await may('create', 'pods', '--namespace=platform')).toBe('no');
    expect(await may('get', 'nodes')).toBe('no');
    expect(await may('get', 'runtimeclasses.node.k8s.io/other')).toBe('no');
    await helm('uninstall');
    expect(await may('create', 'pods', '--namespace=sandboxes')).toBe('no');
    expect(await may('get', 'runtimeclasses.node.k8s.io/runc')).toBe('no');
  });

  it('warns of an Ingress or a balancer that hides the addresses of clients', async () => {
    const notes = async (...given: readonly string[]): Promise<string> =>
      (await helm('install', CHART, '--dry-run=server', ...values(...given))).stdout;
    const warning = 'all clients share one address';
    expect(await notes()).not.toContain(warning);
    expect(await notes('service.type=LoadBalancer')).not.toContain(warning);
    expect(await notes('service.type=LoadBalancer', 'service.externalTrafficPolicy=Cluster')).toContain(warning);
    expect(await notes(...INGRESS)).toContain(warning);
    expect(await notes(...INGRESS, 'trustedProxies={10.0.0.7}')).not.toContain(warning);
  });

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
