import { KubernetesStatusError, type KubeObject, type ListPage, type ListOptions } from '@svc/kube';
import { expect, it } from 'vitest';
import { Faults } from '../deploy/faults.ts';
import type { PlannedObject } from '../deploy/plan.ts';
import { planAutoScale, type AutoScaleRequest } from './plan-auto-scale.ts';

function deployment(name: string, namespace: string): PlannedObject {
  const object: KubeObject = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec: {} };
  return { object, field: `manifest[${name}]`, namespaced: true, dependsOnManifest: false };
}

function autoscaler(target: string): KubeObject {
  return {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: target, namespace: 'shop', labels: { 'svc.dev/auto-scale': 'true', 'svc.dev/project': 'p' } },
    spec: { scaleTargetRef: { kind: 'Deployment', name: target } },
  };
}

async function plan(
  planned: readonly PlannedObject[],
  list: (kind: unknown, options?: ListOptions) => AsyncGenerator<ListPage>,
): Promise<PlannedObject[]> {
  const client: AutoScaleRequest['client'] = {
    list,
    get: () => Promise.resolve(null),
    raw: () => Promise.resolve({}),
  };
  const names = { projectId: 'p', keyPrefix: 'svc.dev', fieldManager: 'svc-agent' };
  return (
    await planAutoScale({ client, planned, faults: new Faults(), signal: new AbortController().signal, ...names })
  ).planned;
}

it('lists the autoscalers of a namespace once, however many workloads the manifest has there', async () => {
  const asked: (string | undefined)[] = [];
  const planned = [...['a', 'b', 'c'].map((name) => deployment(name, 'shop')), deployment('a', 'other')];
  const result = await plan(planned, async function* list(_kind, options) {
    asked.push(options?.namespace);
    yield { items: options?.namespace === 'shop' ? [autoscaler('b')] : [], resourceVersion: '1' };
  });
  expect(asked).toEqual(['shop', 'other']);
  // Only the workload that we scaled until now takes its replicas back.
  expect(result.filter(({ takesReplicas }) => takesReplicas === true)).toEqual([
    { ...planned[1], takesReplicas: true },
  ]);
});

it('leaves workloads unchanged if the agent may not read autoscalers', async () => {
  const planned = ['a', 'b'].map((name) => deployment(name, 'shop'));
  let asked = 0;
  const result = await plan(planned, async function* list() {
    asked += 1;
    yield* [];
    throw new KubernetesStatusError({ status: 403, reason: 'Forbidden', message: 'no' });
  });
  expect(result).toEqual(planned);
  expect(asked).toBe(1);
});
