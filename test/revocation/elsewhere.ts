import type { ListenFlag } from '@svc/platform/testing';

/** Why something has no channel in the table; the files show it. */
export interface Reason {
  readonly why: string;
  /** Tests of this project, or the code that makes it so. */
  readonly see: readonly string[];
}

const OF_THE_GUARD = 'apps/platform/test/integration/revocation.test.ts';

/** Upgrades of the platform without a channel in the table. */
export const OTHER_UPGRADES: Readonly<Record<string, Reason>> = {
  ssh: {
    why: 'carries an SSH connection from the replica that authenticated it, which holds its right, to the sandbox',
    see: ['modules/sandboxes/test/integration/ssh-replicas.test.ts'],
  },
  'public-objects': {
    why: 'refuses every upgrade',
    see: ['modules/object-store/test/integration/public-host.test.ts'],
  },
};

/** Files that hold rights without a channel of their own in the table. */
export const OTHER_HOLDERS: Readonly<Record<string, Reason>> = {
  'modules/sandboxes/src/routes/registry-routes.ts': {
    why: 'serves nodes, with a credential of their cluster; downloads end with the cluster or the template',
    see: ['modules/sandboxes/test/integration/images/platform-registry.test.ts'],
  },
  'packages/http/src/guard.ts': {
    why: 'holds every request behind the guard, whatever its route',
    see: [OF_THE_GUARD],
  },
  'packages/http/src/held-requests.ts': { why: 'does the holding for the guard', see: [OF_THE_GUARD] },
  'packages/http/src/upgrades.ts': { why: 'does the holding for upgrades, each of which is a channel', see: [] },
  'modules/clusters/src/routes/tunnel/forward-route.ts': { why: 'is the upgrade forward', see: [] },
  'modules/clusters/src/routes/kubernetes/shell-route.ts': { why: 'is the upgrade shell', see: [] },
  'modules/sandboxes/src/routes/terminal/terminal-admission.ts': { why: 'is the upgrade terminal', see: [] },
  'modules/sandboxes/src/ssh/ssh-relays.ts': { why: 'is the upgrade ssh', see: [] },
  'modules/sandboxes/src/domain/clusters/cluster-rights.ts': {
    why: 'stops sandboxes in clusters whose creator lost the right',
    see: ['modules/sandboxes/test/integration/clusters.test.ts'],
  },
  'packages/access/src/held-rights.ts': {
    why: 'is the mechanism itself',
    see: ['packages/access/src/held-rights.test.ts'],
  },
};

/** Every listener of the platform, and what of it is in the table. */
export const LISTENERS: Readonly<Record<ListenFlag, Reason>> = {
  '--port': { why: 'has the routes and upgrades of the tables', see: [OF_THE_GUARD] },
  '--https-port': {
    why: 'has the same handlers as the listener without TLS; a stream of HTTP/2 is cut like a connection',
    see: ['apps/platform/src/start.ts', 'test/system/http2.system.test.ts'],
  },
  '--s3-port': { why: 'has the channels of access keys', see: ['test/revocation/store-channels.ts'] },
  '--s3-https-port': { why: 'has the same handlers as the listener without TLS', see: ['apps/platform/src/start.ts'] },
  'metrics.port': {
    why: 'answers at once, with a token from the configuration that no one can take away while the process runs',
    see: ['packages/http/src/metrics-route.test.ts'],
  },
  'internal.listen': {
    why: 'authorizes what another replica forwards once more, and holds it as if it had come directly',
    see: ['packages/forward/src/forward.test.ts'],
  },
  'sandboxes.ssh.port': { why: 'has the channels over SSH', see: ['test/revocation/sandbox-channels.ts'] },
  'object_store.custom_domains.http_port': {
    why: 'passes requests to the handlers of the S3 listener',
    see: ['modules/object-store/src/routes/sites/index.ts'],
  },
  'object_store.custom_domains.https_port': {
    why: 'passes requests to the handlers of the S3 listener',
    see: ['modules/object-store/src/routes/sites/index.ts'],
  },
};

/** Other things that could be taken away. */
export const OTHERS: Readonly<Record<string, Reason>> = {
  'a secret that the gateway adds to requests, and the rule that says so': {
    why: 'belong to the workspace: a change or deletion cuts the connections of the gateway that used them',
    see: ['modules/sandboxes/test/integration/egress-rules.local.test.ts'],
  },
  'a sandbox whose creator has left': {
    why: 'belongs to the workspace and keeps running, with its rules, but without the mounts of its creator',
    see: ['docs/mounts.md', 'docs/secrets.md'],
  },
  'a volume in a sandbox': {
    why: 'is attached without a credential; its content is only reached through a sandbox',
    see: ['docs/volumes.md'],
  },
  'a template build under way whose maker has left': {
    why: 'belongs to the workspace, in sandboxes without secrets and mounts; whoever may update the template can cancel it',
    see: ['docs/templates.md', 'modules/sandboxes/test/integration/templates.test.ts'],
  },
  'the log of a build, which waits for new lines, logs and commands of a cluster': {
    why: 'are responses of ordinary routes, all of which are opened with all credentials',
    see: [OF_THE_GUARD],
  },
  'a public object that becomes private': {
    why: 'ends the downloads of anonymous readers too, at every door of the store',
    see: ['modules/object-store/test/integration/public-transfers.test.ts'],
  },
  'a workspace that is deleted': {
    why: 'must be empty: what is left are the requests of its callers',
    see: [OF_THE_GUARD],
  },
  'an access key that expires': {
    why: 'is checked with its maker on each request and while one runs',
    see: ['modules/object-store/test/integration/key-rights.test.ts'],
  },
  'a session, JWT or guest that expires': {
    why: 'takes longer than a test',
    see: ['modules/accounts/test/integration/access/recheck.test.ts'],
  },
};
