import type { EscapeGroup } from './escape-table.ts';

/**
 * Groups that pods are not tried with: the test cluster's network enforces no policies, pods have neither secrets nor volumes,
 * and the kubelet decides about processes and disks.
 */
export const LEFT_ON_PODS: readonly EscapeGroup[] = ['network', 'secrets', 'volumes', 'resources'];
