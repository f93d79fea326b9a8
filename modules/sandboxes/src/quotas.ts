import { defineQuotas } from '@svc/quotas';

const ELSEWHERE = 'unlimited if sandboxes do not run on this machine';

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
    description: 'CPUs of starting or running sandboxes',
    workspace: 'auto',
    owner: 'auto',
    auto: `16 times the CPUs of this machine; ${ELSEWHERE}`,
  },
  sandbox_memory: {
    title: 'Memory',
    unit: 'mib',
    description: 'Memory in MiB of starting or running sandboxes',
    workspace: 'auto',
    owner: 'auto',
    auto: `four times the memory of this machine; ${ELSEWHERE}`,
  },
  sandbox_disk: {
    title: 'Disk',
    unit: 'mib',
    description:
      'Disk in MiB of all sandboxes, volumes, their snapshots, the layers of templates, and archives of both',
    workspace: 'auto',
    owner: 'auto',
    auto: `four times the size of the data folder's file system; ${ELSEWHERE}`,
  },
  snapshots: {
    title: 'Snapshots',
    unit: 'count',
    description: 'Snapshots of sandboxes and volumes',
    workspace: 'auto',
    owner: 'auto',
    auto: 'five times sandboxes.max_snapshots_per_caller',
  },
  volumes: {
    title: 'Volumes',
    unit: 'count',
    description: 'Volumes, mounted or not',
    workspace: 200,
    owner: 1000,
  },
  templates: {
    title: 'Templates',
    unit: 'count',
    description: 'Sandbox templates, with any number of builds',
    workspace: 100,
    owner: 500,
  },
  template_builds: {
    title: 'Template builds',
    unit: 'count',
    description: 'Queued and running template builds',
    workspace: 16,
    owner: 32,
  },
  secrets: {
    title: 'Secrets',
    unit: 'count',
    description: 'Secrets, of up to 8 KiB each',
    workspace: 200,
    owner: 1000,
  },
  webhooks: {
    title: 'Webhooks',
    unit: 'count',
    description: 'Webhooks for events of sandboxes',
    workspace: 20,
    owner: 100,
  },
  terminals: {
    title: 'Open terminals',
    unit: 'count',
    description: 'Open sandbox terminals',
    workspace: 256,
    owner: 512,
  },
});
