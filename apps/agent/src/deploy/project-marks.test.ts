import { fieldAt, type KubeObject } from '@svc/kube';
import { describe, expect, it } from 'vitest';
import { markForProject } from './project-marks.ts';

const container = {
  name: 'main',
  image: 'x',
  env: [
    { name: 'SVC_PROJECT_ID', value: 'forged' },
    { name: 'A', value: '1' },
  ],
};
const spec = { containers: [container], initContainers: [{ name: 'init' }] };
const object = (apiVersion: string, kind: string, fields: Record<string, unknown>): KubeObject => ({
  apiVersion,
  kind,
  metadata: { name: 'web', labels: { app: 'web' } },
  ...fields,
});

describe('project labels', () => {
  it.each([
    [object('apps/v1', 'Deployment', { spec: { template: { spec } } }), ['spec', 'template']],
    [
      object('batch/v1', 'CronJob', { spec: { jobTemplate: { spec: { template: { spec } } } } }),
      ['spec', 'jobTemplate', 'spec', 'template'],
    ],
    [object('v1', 'Pod', { spec }), []],
  ])('are set on the object, on its pods and in every container: %#', (given, path) => {
    const marked = markForProject(given, 'shop', 'svc.dev');
    expect(marked.metadata.labels).toMatchObject({ app: 'web', 'svc.dev/project': 'shop' });
    expect(fieldAt(marked, ...path, 'metadata', 'labels', 'svc.dev/project')).toBe('shop');
    const value = { name: 'SVC_PROJECT_ID', value: 'shop' };
    expect(fieldAt(marked, ...path, 'spec', 'containers', 0, 'env')).toEqual([{ name: 'A', value: '1' }, value]);
    expect(fieldAt(marked, ...path, 'spec', 'initContainers', 0, 'env')).toEqual([value]);
  });

  it('do not change other kinds that share a name with a known one', () => {
    const given = object('example.com/v1', 'Deployment', { spec: { template: { spec } } });
    expect(markForProject(given, 'shop', 'svc.dev')['spec']).toEqual(given['spec']);
  });

  it('do not change their input', () => {
    const given = object('apps/v1', 'Deployment', { spec: { template: { spec } } });
    const before = structuredClone(given);
    markForProject(given, 'shop', 'svc.dev');
    expect(given).toEqual(before);
  });
});
