import { isRecord, type KubeObject } from '@svc/kube';

/** Kind -> path of its pod template. A pod is its own template. */
const POD_TEMPLATES: ReadonlyMap<string, readonly string[]> = new Map([
  ['Pod', []],
  ['Deployment', ['spec', 'template']],
  ['StatefulSet', ['spec', 'template']],
  ['DaemonSet', ['spec', 'template']],
  ['ReplicaSet', ['spec', 'template']],
  ['ReplicationController', ['spec', 'template']],
  ['Job', ['spec', 'template']],
  ['CronJob', ['spec', 'jobTemplate', 'spec', 'template']],
]);

const BUILT_IN_GROUPS: ReadonlySet<string> = new Set(['v1', 'apps/v1', 'batch/v1', 'batch/v1beta1']);

/**
 * Sets the label `<prefix>/project` on the object and its pods, and `SVC_PROJECT_ID` in every container's environment.
 */
export function markForProject(object: KubeObject, projectId: string, keyPrefix: string): KubeObject {
  const label = { [`${keyPrefix}/project`]: projectId };
  const labelled = { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...label } } };
  const path = BUILT_IN_GROUPS.has(object.apiVersion) ? POD_TEMPLATES.get(object.kind) : undefined;
  if (path === undefined) return labelled;
  return changeAt(labelled, path, (template) => markTemplate(template, label, projectId)) as KubeObject; // same kind
}

function markTemplate(
  template: Record<string, unknown>,
  label: Record<string, string>,
  projectId: string,
): Record<string, unknown> {
  const metadata = isRecord(template['metadata']) ? template['metadata'] : {};
  const labels = isRecord(metadata['labels']) ? metadata['labels'] : {};
  const spec = isRecord(template['spec']) ? template['spec'] : undefined;
  return {
    ...template,
    metadata: { ...metadata, labels: { ...labels, ...label } },
    ...(spec === undefined
      ? {}
      : {
          spec: {
            ...spec,
            ...containersWith(spec, 'containers', projectId),
            ...containersWith(spec, 'initContainers', projectId),
          },
        }),
  };
}

function containersWith(spec: Record<string, unknown>, list: string, projectId: string): Record<string, unknown> {
  const containers = spec[list];
  if (!Array.isArray(containers)) return {};
  return { [list]: containers.map((container: unknown) => withProject(container, projectId)) };
}

/** Overrides a value from the manifest: the platform decides. */
function withProject(container: unknown, projectId: string): unknown {
  if (!isRecord(container)) return container;
  const given = Array.isArray(container['env']) ? container['env'] : [];
  const others = given.filter((entry: unknown) => !isRecord(entry) || entry['name'] !== 'SVC_PROJECT_ID');
  return { ...container, env: [...others, { name: 'SVC_PROJECT_ID', value: projectId }] };
}

function changeAt(
  value: Record<string, unknown>,
  path: readonly string[],
  change: (inner: Record<string, unknown>) => Record<string, unknown>,
): Record<string, unknown> {
  const [name, ...rest] = path;
  if (name === undefined) return change(value);
  const inner = value[name];
  return isRecord(inner) ? { ...value, [name]: changeAt(inner, rest, change) } : value;
}
