import type { KubeObject } from '@svc/kube';

/**
 * A pod as created by a Deployment's controller, with the usual two containers; managed by us, so that it is followed.
 */
export function podOf(index: number): KubeObject {
  const app = `app-${Math.floor(index / 10)}`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${app}-6c7d8f9b54-${index}`,
      namespace: 'bench',
      labels: { app, 'pod-template-hash': '6c7d8f9b54', 'svc.dev/project': app },
      annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090' },
    },
    spec: {
      nodeName: `node-${index % 100}`,
      containers: ['main', 'sidecar'].map((name) => ({
        name,
        image: `registry.example/team/${app}:${name}`,
        env: Array.from({ length: 12 }, (_, number) => ({ name: `SETTING_${number}`, value: `value of ${number}` })),
        resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
        livenessProbe: { httpGet: { path: '/healthz', port: 8080 } },
        readinessProbe: { httpGet: { path: '/readyz', port: 8080 } },
      })),
    },
  };
}

/** The status of a running and ready pod, as written by a kubelet. */
export function podStatusOf(index: number): object {
  const at = '2026-01-01T00:00:00Z';
  return {
    phase: 'Running',
    podIP: `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
    startTime: at,
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastTransitionTime: at,
    })),
    containerStatuses: ['main', 'sidecar'].map((name) => ({
      name,
      image: `registry.example/team/app:${name}`,
      imageID: `sha256:${String(index).padStart(64, '0')}`,
      containerID: `containerd://${String(index).padStart(64, '1')}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: at } },
    })),
  };
}
