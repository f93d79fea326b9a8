import type { SandboxStats } from '../../../domain/driver.ts';
import { asFields, type EngineClient } from './engine-client.ts';

/** Resource usage of a container, as the engine reports it. Throws EngineRefusal. */
export async function containerStats(
  client: EngineClient,
  name: string,
  signal: AbortSignal,
): Promise<Omit<SandboxStats, 'oomKills'>> {
  const query = { stream: false, 'one-shot': true };
  const [stats, container] = await Promise.all([
    client.json('GET', `/containers/${name}/stats`, { query, signal }).then(asFields),
    client.json('GET', `/containers/${name}/json`, { query: { size: true }, signal }).then(asFields),
  ]);
  const cpu = parseNumber(asFields(asFields(stats['cpu_stats'])['cpu_usage'])['total_usage']);
  return {
    cpuMicroseconds: cpu === null ? null : Math.round(cpu / 1000),
    memoryBytes: parseNumber(asFields(stats['memory_stats'])['usage']),
    pids: parseNumber(asFields(stats['pids_stats'])['current']),
    diskBytes: parseNumber(container['SizeRw']) ?? 0, // omitted when nothing was written
  };
}

function parseNumber(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 ? value : null;
}
