import type { EscapeGroup } from './groups.ts';
import type { Feature } from './refusal-cases.ts';

/**
 * Groups that pods are not tried with: the test cluster's network enforces no policies, and the kubelet decides about processes
 * and disks.
 */
export const LEFT_ON_PODS: readonly EscapeGroup[] = ['network', 'resources'];

export const LACKED_BY_PODS: readonly Feature[] = ['secrets', 'volumes', 'mounts', 'builds'];
