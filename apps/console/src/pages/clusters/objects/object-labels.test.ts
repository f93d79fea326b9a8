import { describe, expect, it } from 'vitest';
import { formatCores, nodeLabel, formatUsed, podLabel, workloadLabel } from './object-labels.ts';
import { nameFault, parseObjectsSearch } from './objects-search.ts';

describe('cluster object labels', () => {
  it.each([
    [{ state: 'Running', ready: true }, 'Running', 'ok'],
    [{ state: 'Running', ready: false }, 'Not ready', 'warn'],
    [{ state: 'ContainerCreating', ready: false }, 'ContainerCreating', 'warn'],
    [{ state: 'Init:1/2', ready: false }, 'Init:1/2', 'warn'],
    [{ state: 'CrashLoopBackOff', ready: false }, 'CrashLoopBackOff', 'danger'],
    [{ state: 'Completed', ready: false }, 'Completed', 'neutral'],
  ])('show a pod %j as %s', (pod, label, tone) => expect(podLabel(pod)).toEqual({ label, tone }));

  it('show the worst condition of a node first', () => {
    const node = { state: 'ready', schedulable: false, pressures: [] as string[] } as const;
    expect(nodeLabel(node)).toEqual({ label: 'Cordoned', tone: 'warn' });
    expect(nodeLabel({ ...node, pressures: ['DiskPressure'] })).toEqual({ label: 'DiskPressure', tone: 'warn' });
    expect(nodeLabel({ ...node, state: 'unknown' })).toEqual({ label: 'Not reporting', tone: 'danger' });
  });

  it('name known states of workloads, and keep unknown ones', () => {
    expect(workloadLabel({ state: 'scaled_down' })).toEqual({ label: 'Scaled down', tone: 'neutral' });
    expect(workloadLabel({ state: 'odd' })).toEqual({ label: 'Odd', tone: 'neutral' });
    expect([formatUsed(0.5, 2, formatCores), formatUsed(null, 2, formatCores)]).toEqual(['500m of 2', '2']);
    expect([formatCores(0.12), formatCores(1.52), formatCores(null)]).toEqual(['120m', '1.5', '–']);
  });

  it('accept only valid filters from the URL', () => {
    expect(parseObjectsSearch({ kind: 'Job', name: 7, selector: 'app=web' })).toEqual({
      kind: 'Job',
      name: '7',
      selector: 'app=web',
    });
    expect(parseObjectsSearch({ kind: 'toString', namespace: '' })).toEqual({});
    expect([nameFault('web-1'), nameFault('Web')]).toEqual([
      undefined,
      'Use lowercase letters, digits, dots and hyphens.',
    ]);
  });
});
