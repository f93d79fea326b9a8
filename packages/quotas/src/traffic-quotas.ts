import { defineQuotas } from './quota.ts';

/** Request quotas of a workspace, across all modules. */
export const trafficQuotas = defineQuotas({
  requests_per_second: {
    title: 'Requests per second',
    unit: 'per_second',
    description: 'Requests admitted per second on one replica',
    workspace: 'auto',
    owner: 'auto',
    auto: '10000 per CPU of this machine, or twice that per owner',
  },
  creates_per_minute: {
    title: 'Creates per minute',
    unit: 'per_minute',
    description: 'Sandboxes, forks, snapshots, volumes, and template builds created per minute on one replica',
    workspace: 'auto',
    owner: 'auto',
    auto: 'five times sandboxes.max_creates_per_minute',
  },
  uploads_in_flight: {
    title: 'Uploads in flight',
    unit: 'count',
    description: 'Concurrent uploads on one replica',
    workspace: 256,
    owner: 512,
  },
});
