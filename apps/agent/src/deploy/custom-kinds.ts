import { setTimeout as delay } from 'node:timers/promises';
import type { KubeClient } from '@svc/kube';
import { hasCondition } from '@svc/kube/values';
import { agentErrors } from '../errors.ts';

const TIMEOUT_MS = 30_000;
const INTERVAL_MS = 250;

/** Waits until the server serves a custom kind, before which its objects cannot be applied. */
export async function waitEstablished(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MS;
  const reference = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name };
  for (;;) {
    const object = await client.get(reference, signal);
    if (hasCondition(object, 'Established')) {
      client.discovery.forget();
      return;
    }
    if (performance.now() >= deadline) {
      const reason = `the cluster does not serve ${name} after ${TIMEOUT_MS / 1000} s`;
      throw agentErrors.NOT_READY({ details: { field: name, reason } });
    }
    await delay(INTERVAL_MS, undefined, { signal });
  }
}
