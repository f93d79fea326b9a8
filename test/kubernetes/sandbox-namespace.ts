import { randomUUID } from 'node:crypto';
import { chmod, copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { helperBinaries } from '@svc/sandboxes/testing/local-subject';
import { temporaryFolder } from '@svc/testing';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import { ensureHelm } from './binaries.ts';
import { runCommand } from './commands.ts';
import type { Kubernetes } from './index.ts';
import { makeServiceAccount } from './service-account.ts';

export const HELPER_IMAGE = 'localhost/svc-sandbox-agent:test';
const ACCOUNT = 'svc';

export interface SandboxNamespace extends AsyncDisposable {
  readonly name: string;
  /** Of a service account with the rights that the chart grants for sandboxes, and no others. */
  readonly kubeconfig: string;
}

/** Settings of an agent that runs sandboxes in the namespace and nothing else. */
export function sandboxAgentEnvironment({ name }: SandboxNamespace): Record<string, string> {
  return {
    TUNNEL_ENABLED: 'true',
    TUNNEL_KUBERNETES_ENABLED: 'false',
    SVC_EVENTS_ENABLED: 'false',
    SANDBOXES_ENABLED: 'true',
    SANDBOXES_NAMESPACE: name,
    SANDBOXES_HELPER_IMAGE: HELPER_IMAGE,
    SANDBOXES_USER_NAMESPACES: 'false',
    SANDBOXES_NETWORK_POLICIES: 'trust', // few test clusters enforce them
  };
}

/**
 * Prepares a cluster for sandboxes as an operator does: a namespace of the Pod Security level baseline, the chart's
 * rights, and an image with the helper. The rights include reading `runtimeClass`, and claims if there is a storage class.
 * `chart` is the platform's by default.
 */
export async function createSandboxNamespace(
  { kubectl, importImage }: Kubernetes,
  runtimeClass: string,
  chart: keyof typeof CHARTS = 'svc',
  storageClass = '',
): Promise<SandboxNamespace> {
  const run = randomUUID().slice(0, 8);
  const [name, platform] = [`sandboxes-${run}`, `platform-${run}`];
  const folder = await temporaryFolder();
  for (const each of [name, platform]) await kubectl('create', 'namespace', each);
  await kubectl('label', 'namespace', name, 'pod-security.kubernetes.io/enforce=baseline');
  const kubeconfig = join(folder.path, 'kubeconfig.json');
  await makeServiceAccount({ kubectl, namespace: platform, name: ACCOUNT, file: kubeconfig });
  const rights = await chartRights(chart, name, platform, [
    `sandboxes.gvisorRuntimeClass=${runtimeClass}`,
    `sandboxes.storageClass=${storageClass}`,
  ]);
  await kubectl.withInput(rights, 'apply', '--filename', '-');
  await importHelper(importImage);
  return {
    name,
    kubeconfig,
    [Symbol.asyncDispose]: async () => {
      await kubectl.withInput(rights, 'delete', '--filename', '-');
      for (const each of [name, platform]) await kubectl('delete', 'namespace', each, '--wait=false');
      await folder.remove();
    },
  };
}

/** The values that turn sandboxes on, by chart. */
const CHARTS = {
  svc: ['services={sandboxes}'],
  'svc-agent': [
    'sandboxes.enabled=true',
    'sandboxes.createNamespace=false',
    `sandboxes.helperImage=${HELPER_IMAGE}`,
    `serviceAccount.name=${ACCOUNT}`,
    'agent.clusterName=home',
    'svc.apiUrl=http://svc',
    'svc.token=unused',
  ],
} as const;

async function chartRights(
  chartName: keyof typeof CHARTS,
  namespace: string,
  release: string,
  classes: readonly string[],
): Promise<string> {
  const chart = join(PROJECT_ROOT, 'deploy/helm', chartName);
  const values = [...CHARTS[chartName], `sandboxes.namespace=${namespace}`, ...classes];
  const flags = ['--namespace', release, '--kube-version', '1.34.0', '--show-only', 'templates/sandboxes.yaml'];
  const set = values.flatMap((value) => ['--set', value]);
  return (await runCommand(await ensureHelm(), ['template', 'svc', chart, ...flags, ...set])).stdout;
}

async function importHelper(importImage: Kubernetes['importImage']): Promise<void> {
  await using folder = await temporaryFolder();
  const { file } = await helperBinaries(process.arch, AbortSignal.timeout(300_000));
  await mkdir(join(folder.path, '.sandbox'));
  await copyFile(file, join(folder.path, '.sandbox/agent'));
  await chmod(join(folder.path, '.sandbox/agent'), 0o755);
  await importImage(HELPER_IMAGE, folder.path, ['/.sandbox/agent']);
}
