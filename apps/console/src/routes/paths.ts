/**
 * All URLs of the console. Routes, links and the platform's list derive from it; segments that begin with `$` are
 * parameters. The workspace is in the URL, so a link means the same to everyone.
 */
export const paths = {
  home: '/',
  workspace: '/w/$workspace',
  audit: '/w/$workspace/audit',
  buckets: '/w/$workspace/buckets',
  deletedBuckets: '/w/$workspace/deleted-buckets',
  usage: '/w/$workspace/usage',
  bucket: '/w/$workspace/buckets/$bucket',
  bucketLifecycle: '/w/$workspace/buckets/$bucket/lifecycle',
  bucketDomains: '/w/$workspace/buckets/$bucket/domains',
  bucketUsage: '/w/$workspace/buckets/$bucket/usage',
  bucketSettings: '/w/$workspace/buckets/$bucket/settings',
  accessKeys: '/w/$workspace/keys',
  sandboxes: '/w/$workspace/sandboxes',
  snapshots: '/w/$workspace/sandboxes/snapshots',
  volumes: '/w/$workspace/sandboxes/volumes',
  volume: '/w/$workspace/sandboxes/volumes/$volume',
  secrets: '/w/$workspace/secrets',
  templates: '/w/$workspace/sandboxes/templates',
  webhooks: '/w/$workspace/sandboxes/webhooks',
  template: '/w/$workspace/sandboxes/templates/$template',
  sandbox: '/w/$workspace/sandboxes/$sandbox',
  sandboxFiles: '/w/$workspace/sandboxes/$sandbox/files',
  sandboxMetrics: '/w/$workspace/sandboxes/$sandbox/metrics',
  sandboxSnapshots: '/w/$workspace/sandboxes/$sandbox/snapshots',
  sandboxPorts: '/w/$workspace/sandboxes/$sandbox/ports',
  sandboxEvents: '/w/$workspace/sandboxes/$sandbox/events',
  sandboxSettings: '/w/$workspace/sandboxes/$sandbox/settings',
  clusters: '/w/$workspace/clusters',
  cluster: '/w/$workspace/clusters/$cluster',
  clusterNodes: '/w/$workspace/clusters/$cluster/nodes',
  clusterWorkloads: '/w/$workspace/clusters/$cluster/workloads',
  clusterPods: '/w/$workspace/clusters/$cluster/pods',
  clusterPod: '/w/$workspace/clusters/$cluster/pods/$namespace/$pod',
  clusterPodShell: '/w/$workspace/clusters/$cluster/pods/$namespace/$pod/shell',
  clusterDeployments: '/w/$workspace/clusters/$cluster/deployments',
  clusterDeployment: '/w/$workspace/clusters/$cluster/deployments/$deployment',
  clusterDeploy: '/w/$workspace/clusters/$cluster/deploy',
  clusterEvents: '/w/$workspace/clusters/$cluster/events',
  clusterSettings: '/w/$workspace/clusters/$cluster/settings',
  workspaceSettings: '/w/$workspace/settings',
  teams: '/teams',
  teamMembers: '/teams/$team',
  teamInvitations: '/teams/$team/invitations',
  teamSettings: '/teams/$team/settings',
  /** For operators. */
  nodes: '/nodes',
  account: '/account',
  tokens: '/account/tokens',
  sshKeys: '/account/ssh-keys',
} as const;

/** Pages before sign-in, which are outside of the console’s router. */
export const entrancePaths = {
  signIn: '/sign-in',
  /** Here and in `setPassword`, the token follows a `#`, so that it never reaches a server's log. */
  invitation: '/invite',
  setPassword: '/set-password',
} as const;

export type ConsolePath = (typeof paths)[keyof typeof paths];
