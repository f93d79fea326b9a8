import { fieldAt, isStatusError, type KubeClient } from '@svc/kube';
import type { Usage } from './usage.ts';

const NODES_AT_ONCE = 8;
/** For all nodes together: a dead node does not respond, and waiting for many would miss a heartbeat. */
const TIMEOUT_MS = 10_000;

/** Sums the summaries of all kubelets that respond in time, through the API server; null if none does. */
export async function usageFromKubelets(
  client: Pick<KubeClient, 'raw'>,
  names: readonly string[],
  signal: AbortSignal,
  timeoutMs = TIMEOUT_MS,
): Promise<Usage | null> {
  const usage: Usage = { cpu: 0, memory: 0 };
  let told = 0;
  let refused = false;
  const waiting = [...names];
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const ask = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined && !refused && !inTime.aborted; name = waiting.shift()) {
      try {
        const summary = await client.raw(
          `/api/v1/nodes/${encodeURIComponent(name)}/proxy/stats/summary?only_cpu_and_memory=true`,
          inTime,
        );
        const nanoCores = fieldAt(summary, 'node', 'cpu', 'usageNanoCores');
        const bytes = fieldAt(summary, 'node', 'memory', 'workingSetBytes');
        if (typeof nanoCores !== 'number' || typeof bytes !== 'number') continue;
        told += 1;
        usage.cpu += nanoCores / 1e9;
        usage.memory += bytes;
      } catch (error) {
        if (isStatusError(error, 403)) refused = true; // the other nodes would refuse too
      }
    }
  };
  await Promise.all(Array.from({ length: NODES_AT_ONCE }, ask));
  signal.throwIfAborted();
  return told === 0 || refused ? null : usage;
}
