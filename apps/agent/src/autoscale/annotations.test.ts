import type { KubeObject } from '@svc/kube';
import { describe, expect, it } from 'vitest';
import { autoScaleWish, containersWithoutRequests } from './annotations.ts';

function workload(
  own: Record<string, unknown>,
  template: Record<string, unknown> = {},
  kind = 'Deployment',
): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind,
    // YAML may give a number where a string is required; one of the cases.
    metadata: { name: 'web', annotations: prefixed(own) as Record<string, string> },
    spec: { template: { metadata: { annotations: prefixed(template) } } },
  };
}

function prefixed(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [`svc.dev/${name}`, value]));
}

const wishOf = (object: KubeObject) => autoScaleWish(object, 'documents[0]', 'svc.dev');

describe('auto-scale annotations', () => {
  it('have no effect when absent or false', () => {
    expect(wishOf(workload({}))).toBeNull();
    expect(wishOf(workload({ 'auto-scale': 'false', 'min-replicas': 'x' }))).toBeNull();
  });

  it("are read from the pod template; each of the workload's own overrides it", () => {
    const template = { 'auto-scale': 'true', 'min-replicas': '2', 'max-replicas': '10' };
    expect(wishOf(workload({}, template))).toEqual({ minReplicas: 2, maxReplicas: 10, targetCpu: 80 });
    const own = { 'max-replicas': '4', 'target-cpu': '55' };
    expect(wishOf(workload(own, template))).toEqual({ minReplicas: 2, maxReplicas: 4, targetCpu: 55 });
    expect(wishOf(workload({ 'auto-scale': 'false' }, template))).toBeNull();
  });

  it.each([
    [{ 'auto-scale': 'yes' }, 'auto-scale', 'must be "true" or "false"'],
    [{ 'auto-scale': true }, 'auto-scale', 'must be a string'],
    [{ 'auto-scale': 'true', 'min-replicas': '0' }, 'min-replicas', 'integer from 1'],
    [{ 'auto-scale': 'true', 'min-replicas': '1.5' }, 'min-replicas', 'integer from 1'],
    [{ 'auto-scale': 'true', 'max-replicas': 'many' }, 'max-replicas', 'integer from 1'],
    [{ 'auto-scale': 'true', 'min-replicas': '5', 'max-replicas': '3' }, 'max-replicas', 'less than min-replicas 5'],
  ])('are refused with their path when invalid: %j', (own, name, words) => {
    try {
      wishOf(workload(own));
      expect.unreachable();
    } catch (error) {
      const field = `documents[0].metadata.annotations["svc.dev/${name}"]`;
      expect(error).toMatchObject({ code: 'INVALID_REQUEST', details: { field } });
      expect(String(error)).toContain(words);
    }
  });

  it('are refused on kinds that cannot be scaled', () => {
    expect(() => wishOf(workload({ 'auto-scale': 'true' }, {}, 'DaemonSet'))).toThrow('a DaemonSet cannot be scaled');
  });

  it('require a CPU request in every container; a limit counts as one', () => {
    const containers = [
      { name: 'a', resources: { requests: { cpu: '100m' } } },
      { name: 'b', resources: { limits: { cpu: '1' } } },
      { name: 'c', resources: { requests: { memory: '1Gi' } } },
      { name: 'd' },
    ];
    const object = { ...workload({}), spec: { template: { spec: { containers } } } };
    expect(containersWithoutRequests(object)).toEqual(['c', 'd']);
  });

  it('require one in every sidecar init container, and in no other', () => {
    const initContainers = [{ name: 'setup' }, { name: 'proxy', restartPolicy: 'Always' }];
    const containers = [{ name: 'a', resources: { requests: { cpu: '100m' } } }];
    const object = { ...workload({}), spec: { template: { spec: { containers, initContainers } } } };
    expect(containersWithoutRequests(object)).toEqual(['proxy']);
  });
});
