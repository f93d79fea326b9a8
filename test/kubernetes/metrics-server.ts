import { join } from 'node:path';
import { untilReady } from './commands.ts';
import type { Daemon } from './daemon.ts';
import type { Kubectl } from './kubectl.ts';
import { NODE_ADDRESS, type NodePlan } from './node.ts';

const PORT = 10_443;

/** Serves metrics.k8s.io from a process beside the node, through a Service whose endpoint is the node's address. */
export async function startMetricsServer(plan: NodePlan, kubectl: Kubectl): Promise<Daemon> {
  const { folder, binaries, namespace, adminKubeconfig: kubeconfig } = plan;
  const daemon = namespace.start(folder, 'metrics-server', join(binaries, 'metrics-server'), [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--kubelet-insecure-tls',
    '--kubelet-preferred-address-types=InternalIP',
    '--kubelet-use-node-status-port',
    '--metric-resolution=10s',
    '--kubelet-request-timeout=5s',
    `--secure-port=${PORT}`,
    `--cert-dir=${join(folder, 'metrics-certificates')}`,
  ]);
  const list = { apiVersion: 'v1', kind: 'List', items: registration() };
  await kubectl.withInput(JSON.stringify(list), 'apply', '-f', '-');
  await untilReady('the metrics of the node', 120_000, () =>
    kubectl('get', '--raw', '/apis/metrics.k8s.io/v1beta1/nodes/node-1'),
  );
  return daemon;
}

function registration(): object[] {
  const metadata = { name: 'metrics-server', namespace: 'kube-system' };
  return [
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 443, targetPort: PORT }] } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'metrics-server' } },
      addressType: 'IPv4',
      ports: [{ port: PORT }],
      endpoints: [{ addresses: [NODE_ADDRESS], conditions: { ready: true } }],
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: 'v1beta1.metrics.k8s.io' },
      spec: {
        group: 'metrics.k8s.io',
        version: 'v1beta1',
        insecureSkipTLSVerify: true,
        groupPriorityMinimum: 100,
        versionPriority: 100,
        service: { name: 'metrics-server', namespace: 'kube-system' },
      },
    },
  ];
}
