import { defineQuotas } from '@svc/quotas';

const ELSEWHERE = 'unlimited where sandboxes do not run on this machine';

/** Quotas for all sandboxes of a workspace and of an owner. */
export const sandboxQuotas = defineQuotas({
  sandboxes: {
    title: 'Sandboxes',
    unit: 'count',
    description: 'Sandboxes in any state',
    workspace: 'auto',
    owner: 'auto',
    auto: 'five times sandboxes.max_per_caller',
  },
  sandbox_cpus: {
    title: 'CPUs',
    unit: 'cpus',
    description: 'CPUs of sandboxes that start or run',
    workspace: 'auto',
    owner: 'auto',
    auto: `16 times the CPUs of this machine; ${ELSEWHERE}`,
  },
  sandbox_memory: {
    title: 'Memory',
    unit: 'mib',
    description: 'Memory in MiB of sandboxes that start or run',
    workspace: 'auto',
    owner: 'auto',
    auto: `four times the memory of this machine; ${ELSEWHERE}`,
  },
  sandbox_disk: {
    title: 'Disk',
    unit: 'mib',
    description: 'Disks in MiB of all sandboxes, and what their snapshots take',
    workspace: 'auto',
    owner: 'auto',
    auto: `four times the size of the data folder's file system; ${ELSEWHERE}`,
  },
  snapshots: {
    title: 'Snapshots',
    unit: 'count',
    description: 'Snapshots of sandboxes',
    workspace: 'auto',
    owner: 'auto',
    auto: 'five times sandboxes.max_snapshots_per_caller',
  },
  terminals: {
    title: 'Open terminals',
    unit: 'count',
    description: 'Terminals of sandboxes that are open at once',
    workspace: 256,
    owner: 512,
  },
});
