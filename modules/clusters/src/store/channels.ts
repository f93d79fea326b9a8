/** Channels of `publishEvents`, with what their ids name. */
export const CLUSTER_CHANNELS = {
  /** A command whose row or notes changed. */
  command: 'cluster_command',
  /** A cluster with a newly queued command. */
  queue: 'cluster_queue',
  /** `CLUSTER/COMMAND`: a sent command to cancel. */
  cancel: 'cluster_cancel',
  /** A cluster with new events. */
  events: 'cluster_events',
  /** A cluster that was deleted, or whose tokens were rotated. */
  access: 'cluster_access',
} as const;
