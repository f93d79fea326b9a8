/** How a command is run, and the routes that it may use. */
export interface CommandRow {
  readonly args: readonly string[];
  /** Every route that it asks for, in any order. `S3` is the S3 endpoint, with the key that an earlier route gave. */
  readonly asks: readonly string[];
  /** Asked as well; what is refused is left out of the answer. */
  readonly optional?: readonly string[];
  /** Asked with a session that the command opens by password, not with the caller's token. */
  readonly bySignIn?: readonly string[];
  /** Runs until it is interrupted. */
  readonly serves?: true;
}

const STORE = '/api/v1/workspace/:workspace_uuid/object-store';
const BUCKET = `${STORE}/buckets/:name`;
const ACCOUNTS = '/api/v1/workspaces/:workspace_uuid/service-accounts';
const CLUSTER = '/v1/clusters/:cluster';
const SANDBOX = '/api/containers/:id';

/** Every command that connects to a platform. In arguments, `SANDBOX` and `FOLDER` stand for those of the world. */
export const COMMANDS: Readonly<Record<string, CommandRow>> = {
  login: {
    args: ['--email', 'owner@example.com', '--password-stdin'],
    asks: ['POST /api/auth/login'],
    bySignIn: ['POST /api/tokens', 'GET /api/auth/me'],
  },
  status: {
    args: [],
    asks: ['GET /api/v1/platform/status', 'GET /api/auth/me'],
    optional: ['GET /api/v1/admin/nodes'],
  },
  'bucket ls': { args: [], asks: [`GET ${STORE}/buckets`] },
  'bucket create': { args: ['more'], asks: [`POST ${STORE}/buckets`] },
  'bucket fork': { args: ['photos', 'branch', '--no-wait'], asks: [`POST ${BUCKET}/fork`] },
  'bucket rm': { args: ['photos', '--force'], asks: [`DELETE ${BUCKET}`] },
  'bucket deleted': { args: [], asks: [`GET ${STORE}/buckets/deleted`] },
  'bucket restore': { args: ['photos'], asks: [`POST ${BUCKET}/restore`] },
  'bucket settings get': { args: ['photos'], asks: [`GET ${BUCKET}/settings`] },
  'bucket settings set': { args: ['photos', 'publicDefault=true'], asks: [`PUT ${BUCKET}/settings`] },
  'bucket versioning': { args: ['photos', 'enabled'], asks: [`PUT ${BUCKET}/versioning`] },
  'bucket encryption': { args: ['photos', 'none'], asks: [`PUT ${BUCKET}/encryption`] },
  'bucket lifecycle get': { args: ['photos'], asks: [`GET ${BUCKET}/lifecycle`] },
  'bucket lifecycle set': { args: ['photos', '@FOLDER/rules.json'], asks: [`PUT ${BUCKET}/lifecycle`] },
  'bucket lifecycle rm': { args: ['photos'], asks: [`DELETE ${BUCKET}/lifecycle`] },
  'bucket location': { args: ['photos'], asks: [`GET ${BUCKET}/location`] },
  'bucket urls': { args: ['photos'], asks: [`GET ${STORE}/urls`] },
  'bucket usage': { args: ['photos'], asks: [`GET ${STORE}/usage`] },
  'object ls': { args: ['svc://photos/'], asks: [`POST ${STORE}/keys`, 'S3'] },
  'object cp': { args: ['FOLDER/tree/file', 'svc://photos/file'], asks: [`POST ${STORE}/keys`, 'S3'] },
  'object mv': { args: ['FOLDER/tree/file', 'svc://photos/file'], asks: [`POST ${STORE}/keys`, 'S3'] },
  'object sync': { args: ['FOLDER/tree', 'svc://photos/'], asks: [`POST ${STORE}/keys`, 'S3'] },
  'object rm': { args: ['svc://photos/file'], asks: [`POST ${STORE}/keys`, 'S3'] },
  'object cat': { args: ['svc://photos/file'], asks: [`POST ${STORE}/keys`, 'S3'] },
  'object stat': { args: ['svc://photos/file'], asks: [`POST ${STORE}/keys`, 'S3'] },
  'object presign': { args: ['svc://photos/file'], asks: [`POST ${STORE}/keys`] },
  'key ls': { args: [], asks: [`GET ${STORE}/keys`] },
  'key create': { args: [], asks: [`POST ${STORE}/keys`] },
  'key rm': { args: ['AKIAX'], asks: [`DELETE ${STORE}/keys`] },
  'service-account ls': { args: [], asks: [`GET ${ACCOUNTS}`] },
  'service-account create': { args: ['ci'], asks: [`POST ${ACCOUNTS}`] },
  'service-account rename': { args: ['x', 'other'], asks: [`PATCH ${ACCOUNTS}/:id`] },
  'service-account rm': { args: ['x'], asks: [`DELETE ${ACCOUNTS}/:id`] },
  'domain ls': { args: [], asks: [`GET ${STORE}/domains`] },
  'domain add': { args: ['photos', 'files.example.org'], asks: [`POST ${STORE}/domains`] },
  'domain rm': { args: ['files.example.org'], asks: [`DELETE ${STORE}/domains/:hostname`] },
  'domain status': { args: ['files.example.org'], asks: [`GET ${STORE}/domains/:hostname/status`] },
  quota: { args: [], asks: ['GET /api/v1/workspaces/:workspace_uuid/quotas'] },
  'sandbox create': { args: ['busybox', '--no-wait'], asks: ['POST /api/containers'] },
  'sandbox ls': { args: [], asks: ['GET /api/containers'] },
  'sandbox get': { args: ['SANDBOX'], asks: ['GET /api/containers'] },
  'sandbox exec': {
    args: ['SANDBOX', '--no-stdin', '--', 'true'],
    asks: ['GET /api/containers', 'UPGRADE /ws/terminal/:id', `GET ${SANDBOX}`, `POST ${SANDBOX}/terminal/tickets`],
  },
  'sandbox cp': { args: ['FOLDER/tree/file', 'SANDBOX:/tmp/'], asks: ['GET /api/containers', `POST ${SANDBOX}/files`] },
  'sandbox logs': { args: ['SANDBOX'], asks: ['GET /api/containers', `GET ${SANDBOX}/terminals`] },
  'sandbox start': { args: ['SANDBOX'], asks: ['GET /api/containers', `POST ${SANDBOX}/start`] },
  'sandbox stop': { args: ['SANDBOX'], asks: ['GET /api/containers', `POST ${SANDBOX}/stop`] },
  'sandbox pause': { args: ['SANDBOX'], asks: ['GET /api/containers', `POST ${SANDBOX}/pause`] },
  'sandbox resume': { args: ['SANDBOX'], asks: ['GET /api/containers', `POST ${SANDBOX}/resume`] },
  'sandbox update': {
    args: ['SANDBOX', '--label', 'a=b', '--deny', '192.0.2.0/24', '--public-ports'],
    asks: ['GET /api/containers', `PUT ${SANDBOX}/egress`, `PUT ${SANDBOX}/ports`, `PATCH ${SANDBOX}`],
  },
  'sandbox rm': { args: ['SANDBOX'], asks: ['GET /api/containers', `DELETE ${SANDBOX}`] },
  'sandbox snapshots create': { args: ['SANDBOX'], asks: ['GET /api/containers', `POST ${SANDBOX}/snapshots`] },
  'sandbox snapshots ls': { args: [], asks: ['GET /api/snapshots'] },
  'sandbox snapshots rm': { args: ['snp_x'], asks: ['DELETE /api/snapshots/:id'] },
  'sandbox fork': { args: ['SANDBOX'], asks: ['GET /api/containers', `POST ${SANDBOX}/fork`] },
  'sandbox events': { args: ['SANDBOX'], asks: ['GET /api/containers', `GET ${SANDBOX}/events`], serves: true },
  'sandbox ports': { args: ['SANDBOX', '8080'], asks: ['GET /api/containers', `POST ${SANDBOX}/ports`] },
  'sandbox egress': {
    args: ['SANDBOX', '--none'],
    asks: ['GET /api/containers', `PUT ${SANDBOX}/egress`, `GET ${SANDBOX}`],
  },
  'sandbox rules': { args: ['SANDBOX', '--none'], asks: ['GET /api/containers', `PUT ${SANDBOX}/egress/rules`] },
  'sandbox images': { args: [], asks: ['GET /api/images'] },
  'template build': {
    args: ['web', '--from', 'busybox', '--run', 'true', '--detach'],
    asks: ['POST /api/templates/:name/builds'],
  },
  'template ls': { args: [], asks: ['GET /api/templates'] },
  'template logs': { args: ['web'], asks: ['GET /api/templates/:name'] },
  'template tag': { args: ['web', 'latest', 'stable'], asks: ['PUT /api/templates/:name/tags/:tag'] },
  'template rm': { args: ['web'], asks: ['DELETE /api/templates/:name'] },
  'secret set': { args: ['token', '--file', 'FOLDER/secret'], asks: ['GET /api/secrets', 'POST /api/secrets'] },
  'secret ls': { args: [], asks: ['GET /api/secrets'] },
  'secret rm': { args: ['token'], asks: ['DELETE /api/secrets/:name'] },
  'webhook create': { args: ['https://example.com/hook'], asks: ['POST /api/webhooks'] },
  'webhook ls': { args: [], asks: ['GET /api/webhooks'] },
  'webhook update': { args: ['whk_x', '--disable'], asks: ['PATCH /api/webhooks/:id'] },
  'webhook rotate-secret': { args: ['whk_x'], asks: ['POST /api/webhooks/:id/secret'] },
  'webhook deliveries': { args: ['whk_x'], asks: ['GET /api/webhooks/:id/deliveries'] },
  'webhook test': { args: ['whk_x'], asks: ['POST /api/webhooks/:id/test'] },
  'webhook redeliver': { args: ['whk_x', '1'], asks: ['POST /api/webhooks/:id/deliveries/:event/redeliver'] },
  'webhook rm': { args: ['whk_x'], asks: ['DELETE /api/webhooks/:id'] },
  'volume create': { args: ['data'], asks: ['POST /api/volumes'] },
  'volume ls': { args: [], asks: ['GET /api/volumes'] },
  'volume resize': { args: ['data', '2048'], asks: ['PATCH /api/volumes/:name'] },
  'volume rm': { args: ['data'], asks: ['DELETE /api/volumes/:name'] },
  'volume snapshot create': { args: ['data'], asks: ['POST /api/volumes/:name/snapshots'] },
  'volume snapshot ls': { args: [], asks: ['GET /api/volume-snapshots'] },
  'volume snapshot rm': { args: ['vsn_x'], asks: ['DELETE /api/volume-snapshots/:id'] },
  'cluster add': { args: ['staging'], asks: ['POST /v1/clusters'] },
  'cluster ls': { args: [], asks: ['GET /v1/clusters'] },
  'cluster status': { args: ['production'], asks: [`GET ${CLUSTER}/status`] },
  'cluster nodes': { args: ['production'], asks: [`GET ${CLUSTER}/nodes`] },
  'cluster workloads': { args: ['production'], asks: [`GET ${CLUSTER}/workloads`] },
  'cluster pods': { args: ['production'], asks: [`GET ${CLUSTER}/pods`] },
  'cluster deployments': { args: ['production'], asks: [`GET ${CLUSTER}/deployments`] },
  'cluster events': { args: ['production'], asks: [`GET ${CLUSTER}/events`] },
  'cluster kubeconfig': {
    args: ['production', '--out', 'FOLDER/kubeconfig'],
    asks: [`GET ${CLUSTER}/tunnel-endpoints`],
  },
  'cluster token': { args: ['production'], asks: [`POST ${CLUSTER}/token`] },
  'cluster rm': { args: ['production'], asks: [`DELETE ${CLUSTER}`] },
  deploy: {
    args: ['production', '-f', 'FOLDER/manifest.yaml', '-n', 'default', '--queue'],
    asks: [`POST ${CLUSTER}/deploy`],
  },
  exec: {
    args: ['production', 'web-1', '--', 'true'],
    asks: [`POST ${CLUSTER}/exec`, `GET ${CLUSTER}/commands/:id/events`],
  },
  logs: { args: ['production', 'web-1'], asks: [`GET ${CLUSTER}/logs`] },
  e2b: { args: [], asks: [`POST ${ACCOUNTS}`] },
  'ssh-config': { args: ['SANDBOX', '--print'], asks: ['GET /api/ssh'] },
  'ssh-key add': {
    args: ['FOLDER/key.pub', '--password-stdin'],
    asks: ['GET /api/auth/me', 'POST /api/auth/login'],
    bySignIn: ['POST /api/ssh-keys', 'POST /api/auth/logout'],
  },
  'ssh-key ls': { args: [], asks: ['GET /api/ssh-keys'] },
  'ssh-key rm': {
    args: ['x', '--password-stdin'],
    asks: ['GET /api/auth/me', 'POST /api/auth/login'],
    bySignIn: ['GET /api/ssh-keys', 'POST /api/auth/logout'],
  },
  kubeconfig: { args: ['production', '--out', 'FOLDER/kubeconfig'], asks: [`GET ${CLUSTER}/tunnel-endpoints`] },
  forward: {
    args: ['production', 'postgres', '0'],
    asks: [`GET ${CLUSTER}/tunnel-endpoints`, `UPGRADE ${CLUSTER}/forward/:service`],
  },
  's3 env': { args: [], asks: [`POST ${STORE}/keys`] },
  's3 configure': { args: ['aws'], asks: [`GET ${STORE}`, `POST ${STORE}/keys`] },
  'node list': { args: [], asks: ['GET /api/v1/admin/nodes'] },
  'node drain': { args: ['x'], asks: ['GET /api/v1/admin/nodes', 'POST /api/v1/admin/nodes/:node/drain'] },
  'node undrain': { args: ['x'], asks: ['GET /api/v1/admin/nodes', 'POST /api/v1/admin/nodes/:node/undrain'] },
};

const DATA = 'runs on the machine of the platform, on its data folder and database';
const BUILD = 'writes a file from the checkout';

/** Every other command, and why it has no row. */
export const NOT_RUN: Readonly<Record<string, string>> = {
  logout: 'revokes the token that login created, with that token: test/command-line/store.system.test.ts',
  mcp: 'its tools have rows of their own: src/mcp/doors.test.ts',
  'sandbox shell': 'needs a terminal; opens the same WebSocket as sandbox exec',
  up: 'is the platform',
  platform: 'is the platform',
  'config check': DATA,
  'config show': DATA,
  'config schema': DATA,
  'config reference': DATA,
  'admin reset-password': DATA,
  'admin password-link': DATA,
  'admin keys': DATA,
  'admin rotate-keys': DATA,
  'admin verify-audit': DATA,
  'admin domain block': DATA,
  'admin domain unblock': DATA,
  'admin quota list': DATA,
  'admin quota set': DATA,
  'admin quota unset': DATA,
  'object-store fsck': DATA,
  'object-store scrub': DATA,
  'object-store backup': DATA,
  'object-store restore': DATA,
  'migrate sqlite-to-postgres': DATA,
  'images pull': DATA,
  'images list': DATA,
  'images rm': DATA,
  'agent binary': BUILD,
  'agent image': BUILD,
  'package image': BUILD,
  'package deb': BUILD,
  openapi: BUILD,
};
