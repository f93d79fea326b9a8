import type { SandboxSpec } from '../../src/domain/driver.ts';

/** A small sandbox with the image busybox. */
export function sampleSpec(name: string, changes: Partial<SandboxSpec> = {}): SandboxSpec {
  return {
    id: `sbx_${name}`,
    hostname: name,
    image: 'busybox',
    resources: { cpuMillis: 1000, memoryMb: 128, diskMb: 64, pids: 64 },
    network: 'none',
    isolation: 'namespaces',
    ...changes,
  };
}
