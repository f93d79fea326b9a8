import { join } from 'node:path';
import { skippedTitle } from '@svc/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import { ensureHelm, helmRequirement } from './index.ts';
import { runCommand } from './commands.ts';

const reason = await helmRequirement();
const title = "the agent's chart with sandboxes";

interface Rendered {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Record<string, string> };
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
  readonly data?: Readonly<Record<string, string>>;
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let helm: string;
  beforeAll(async () => {
    helm = await ensureHelm();
  });

  async function render(...values: string[]): Promise<Rendered[]> {
    const usual = ['agent.clusterName=home', 'svc.apiUrl=http://svc', 'svc.token=token', ...values];
    const flags = usual.flatMap((value) => ['--set', value]);
    const chart = join(PROJECT_ROOT, 'deploy/helm/svc-agent');
    const { stdout } = await runCommand(helm, ['template', 'svc-agent', chart, '--namespace', 'svc-system', ...flags]);
    return parseAllDocuments(stdout).flatMap((document) => {
      const object = document.toJS() as Rendered | null; // null for a template that renders nothing
      return object === null ? [] : [object];
    });
  }
  const on = ['sandboxes.enabled=true', 'sandboxes.helperImage=registry.example/svc:1'];
  const configOf = (objects: readonly Rendered[]): string =>
    objects.find(({ kind }) => kind === 'ConfigMap')?.data?.['config.yaml'] ?? '';

  it('grants nothing for sandboxes by default', async () => {
    const objects = await render();
    expect(objects.filter(({ metadata }) => metadata.namespace === 'svc-sandboxes')).toEqual([]);
    expect(configOf(objects)).not.toContain('sandboxes');
  });

  it('grants pods and network policies in one namespace of the Pod Security level baseline, and reads no Secrets', async () => {
    const objects = await render(...on, 'sandboxes.namespace=boxes');
    expect(objects.find(({ kind }) => kind === 'Namespace')?.metadata).toMatchObject({
      name: 'boxes',
      labels: { 'pod-security.kubernetes.io/enforce': 'baseline' },
    });
    const inside = objects.filter(({ metadata }) => metadata.namespace === 'boxes');
    expect(inside.map(({ kind }) => kind).toSorted()).toEqual(['Role', 'RoleBinding']);
    const rules = inside.find(({ kind }) => kind === 'Role')?.rules ?? [];
    expect(rules.flatMap(({ resources }) => resources)).toEqual(['pods', 'pods/exec', 'networkpolicies', 'secrets']);
    expect(rules.find(({ resources }) => resources.includes('secrets'))?.verbs).toEqual(['create', 'patch']);
    const config = configOf(objects);
    expect(config).toMatch(/sandboxes:\n(?: +.*\n)*? +helper_image: registry.example\/svc:1/);
    expect(config).toMatch(/tunnel:\n +enabled: true/);
  });

  it('reads only the RuntimeClasses that it names', async () => {
    const [role] = (await render(...on, 'sandboxes.gvisorRuntimeClass=gvisor')).filter(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name.endsWith('-sandboxes'),
    );
    expect(role?.rules).toMatchObject([{ resources: ['runtimeclasses'], resourceNames: ['gvisor'], verbs: ['get'] }]);
  });

  it('grants claims, and reads their class, only with a class for the disks of sandboxes', async () => {
    const objects = await render(...on, 'sandboxes.namespace=boxes', 'sandboxes.storageClass=fast');
    const rules = objects.find(({ kind, metadata }) => kind === 'Role' && metadata.namespace === 'boxes')?.rules ?? [];
    const claims = rules.find(({ resources }) => resources.includes('persistentvolumeclaims'));
    expect(claims?.verbs).toEqual(['get', 'list', 'create', 'patch', 'delete']);
    expect(rules.find(({ resources }) => resources.includes('events'))?.verbs).toEqual(['list']);
    const classes = objects.find(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name.endsWith('-sandboxes'),
    );
    expect(classes?.rules).toMatchObject([{ resources: ['storageclasses'], resourceNames: ['fast'], verbs: ['get'] }]);
    expect(classes?.rules).toHaveLength(1);
    expect(configOf(objects)).toMatch(/sandboxes:\n(?: +.*\n)*? +storage_class: fast/);
  });

  it('needs an image with the helper, and a profile that changes something', async () => {
    await expect(render('sandboxes.enabled=true')).rejects.toThrow('helperImage');
    await expect(render(...on, 'rbac.profile=observer')).rejects.toThrow('an observer changes nothing');
  });
});
