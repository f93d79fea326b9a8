import { KubernetesStatusError } from '@svc/kube';
import { describe, expect, it } from 'vitest';
import { usageFromKubelets } from './kubelet-usage.ts';

const SUMMARY = { node: { cpu: { usageNanoCores: 500_000_000 }, memory: { workingSetBytes: 1024 } } };

/** Like a proxied kubelet on a dead node: no response until the caller gives up. */
function silence(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('given up')), { once: true });
    if (signal?.aborted === true) reject(new Error('given up'));
  });
}

function nodeOf(path: string): string {
  return path.split('/')[4] ?? '';
}

describe('usage from the kubelets', () => {
  const { signal } = new AbortController();

  it('is the sum over all nodes', async () => {
    const client = { raw: () => Promise.resolve(SUMMARY) };
    const names = Array.from({ length: 20 }, (_, index) => `node-${index}`);
    expect(await usageFromKubelets(client, names, signal)).toEqual({ cpu: 10, memory: 20_480 });
  });

  it('is the sum over responsive nodes, even if many do not respond', async () => {
    const names = ['alive-1', ...Array.from({ length: 7 }, (_, index) => `dead-${index}`), 'alive-2', 'alive-3'];
    const client = {
      raw: (path: string, given?: AbortSignal) =>
        nodeOf(path).startsWith('dead') ? silence(given) : Promise.resolve(SUMMARY),
    };
    expect(await usageFromKubelets(client, names, signal, 50)).toEqual({ cpu: 1.5, memory: 3072 });
  });

  it('is unknown without permission, and stops asking', async () => {
    let asked = 0;
    const refusal = new KubernetesStatusError({ status: 403, reason: 'Forbidden', message: 'no' });
    const raw = (): Promise<never> => {
      asked += 1;
      return Promise.reject(refusal);
    };
    const names = Array.from({ length: 100 }, (_, index) => `node-${index}`);
    expect(await usageFromKubelets({ raw }, names, signal)).toBeNull();
    expect(asked).toBeLessThan(20);
  });

  it('is aborted with the agent', async () => {
    const stop = new AbortController();
    const asked = usageFromKubelets({ raw: (_path, given) => silence(given) }, ['node'], stop.signal);
    stop.abort(new Error('the agent is stopping'));
    await expect(asked).rejects.toThrow('the agent is stopping');
  });
});
