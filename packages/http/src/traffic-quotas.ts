import { defineQuotas } from '@svc/quotas';

/** Request quotas of a workspace, across all modules. */
export const trafficQuotas = defineQuotas({
  requests_per_second: {
    title: 'Requests per second',
    unit: 'per_second',
    description: 'Requests that are admitted in a second on one replica',
    workspace: 'auto',
    owner: 'auto',
    auto: '10000 for each CPU of this machine, twice that for an owner',
  },
  uploads_in_flight: {
    title: 'Uploads in flight',
    unit: 'count',
    description: 'Uploads that are being received at once on one replica',
    workspace: 256,
    owner: 512,
  },
});
