/** One object of each kind that the deployer profile can deploy; none starts anything. */
const template = {
  metadata: { labels: { app: 'drifting' } },
  spec: { containers: [{ name: 'main', image: 'localhost/busybox:1', command: ['sleep', '1'] }] },
};
const never = { ...template, spec: { ...template.spec, nodeSelector: { 'svc.dev/nowhere': 'true' } } };
const selector = { matchLabels: template.metadata.labels };
const job = { suspend: true, template: { ...never, spec: { ...never.spec, restartPolicy: 'Never' } } };

const WATCHED: readonly (readonly [apiVersion: string, kind: string, body: object])[] = [
  ['v1', 'ConfigMap', { data: { a: '1' } }],
  ['v1', 'ServiceAccount', {}],
  ['v1', 'Service', { spec: { selector: template.metadata.labels, ports: [{ port: 80 }] } }],
  [
    'v1',
    'PersistentVolumeClaim',
    { spec: { storageClassName: 'none', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } } },
  ],
  ['apps/v1', 'Deployment', { spec: { replicas: 0, selector, template } }],
  ['apps/v1', 'StatefulSet', { spec: { replicas: 0, serviceName: 'drifting', selector, template } }],
  ['apps/v1', 'DaemonSet', { spec: { selector, template: never } }],
  ['batch/v1', 'Job', { spec: job }],
  ['batch/v1', 'CronJob', { spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: job } } }],
  [
    'autoscaling/v2',
    'HorizontalPodAutoscaler',
    { spec: { maxReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'other' } } },
  ],
  ['policy/v1', 'PodDisruptionBudget', { spec: { minAvailable: 0, selector } }],
  [
    'networking.k8s.io/v1',
    'Ingress',
    { spec: { defaultBackend: { service: { name: 'drifting', port: { number: 80 } } } } },
  ],
  ['networking.k8s.io/v1', 'NetworkPolicy', { spec: { podSelector: selector } }],
];

const documents = [...WATCHED, ['v1', 'Secret', { stringData: { a: '1' } }] as const].map(([apiVersion, kind, body]) =>
  JSON.stringify({ apiVersion, kind, metadata: { name: 'drifting' }, ...body }),
);

/** `objects` as `kind/name`: those whose drift the deployer profile may watch, which is every kind except Secrets. */
export const DRIFTING = {
  manifest: documents.join('\n---\n'),
  objects: WATCHED.map(([, kind]) => `${kind.toLowerCase()}/drifting`),
};
