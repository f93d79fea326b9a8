import { findGo } from '@svc/testing';
import { binariesAreBuilt } from './binaries.ts';
import { clusterPrograms, missingPackages } from './system-packages.ts';

/**
 * Returns null if Kubernetes can be started here, otherwise one line with the missing requirement. As root,
 * packages are installed and programs built automatically, so only Go for the first build can be missing.
 */
export async function kubernetesRequirement(apiOnly = false): Promise<string | null> {
  if ((process.env['KUBECONFIG_UNDER_TEST'] ?? '') !== '') return null;
  if (process.platform !== 'linux') return 'needs Linux';
  const root = process.getuid?.() === 0;
  if (!root && !apiOnly) return 'needs root; run it with sudo';
  const missing = missingPackages(clusterPrograms(apiOnly));
  if (!root && missing.length > 0) return `needs packages; install them with: apt-get install -y ${missing.join(' ')}`;
  return helmRequirement();
}

/** Null if Helm and Kubernetes are built or can be, otherwise what is missing. */
export async function helmRequirement(): Promise<string | null> {
  if (findGo() !== null || (await binariesAreBuilt())) return null;
  return 'needs the command go; install it with: apt-get install -y golang-go';
}
