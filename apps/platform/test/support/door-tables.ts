/** Methods and paths of the data plane for E2B's clients. */
const PROCESS = '/e2b/envd/process.Process';
const FILESYSTEM = '/e2b/envd/filesystem.Filesystem';

/** A route without a counterpart among the platform's own ones: the action that it needs, and why. */
interface Without {
  readonly action: string;
  readonly because: string;
}

/** A difference from the counterpart, and its reason. */
interface Differing {
  readonly route: string;
  /** The action that the route needs instead of that of its counterpart. */
  readonly action: string;
  readonly because: string;
}

export type Counterpart = string | Without | Differing;

const without = (action: string, because: string): Without => ({ action, because });
const differing = (route: string, action: string, because: string): Differing => ({ route, action, because });

const SANDBOX = '/api/sandboxes/:id';
const ACCOUNTS = '/api/v1/workspaces/:workspace_uuid/service-accounts';
const STARTS = 'a process goes on for the client that started it; the platform has no route for this';
const TEAM = 'a team of E2B is a workspace as its sandboxes show it; who lists sandboxes sees it';

/**
 * Every route for E2B's clients, with the route of the platform that does the same. Whoever may use one may use the
 * other.
 */
export const E2B_COUNTERPARTS: Readonly<Record<string, Counterpart>> = {
  'POST /e2b/sandboxes': 'POST /api/sandboxes',
  'POST /e2b/v2/sandboxes': 'POST /api/sandboxes',
  'GET /e2b/sandboxes': 'GET /api/sandboxes',
  'GET /e2b/v2/sandboxes': 'GET /api/sandboxes',
  'GET /e2b/sandboxes/:id': `GET ${SANDBOX}`,
  'DELETE /e2b/sandboxes/:id': `DELETE ${SANDBOX}`,
  'POST /e2b/sandboxes/:id/timeout': `PATCH ${SANDBOX}`,
  'POST /e2b/sandboxes/:id/refreshes': `PATCH ${SANDBOX}`,
  'POST /e2b/sandboxes/:id/pause': `POST ${SANDBOX}/pause`,
  'POST /e2b/sandboxes/:id/connect': `POST ${SANDBOX}/resume`,
  'POST /e2b/v2/sandboxes/:id/connect': `POST ${SANDBOX}/resume`,
  'POST /e2b/sandboxes/:id/resume': `POST ${SANDBOX}/resume`,
  'POST /e2b/sandboxes/:id/fork': `POST ${SANDBOX}/fork`,
  'PUT /e2b/sandboxes/:id/network': `PUT ${SANDBOX}/egress`,
  'GET /e2b/volumes': 'GET /api/volumes',
  'POST /e2b/volumes': 'POST /api/volumes',
  'GET /e2b/volumes/:id': 'GET /api/volumes/:name',
  'DELETE /e2b/volumes/:id': 'DELETE /api/volumes/:name',
  'GET /e2b/volumecontent/:id/path': 'GET /api/volumes/:name/files/stat',
  'PATCH /e2b/volumecontent/:id/path': 'PATCH /api/volumes/:name/files',
  'DELETE /e2b/volumecontent/:id/path': 'DELETE /api/volumes/:name/files',
  'GET /e2b/volumecontent/:id/dir': 'GET /api/volumes/:name/files/list',
  'POST /e2b/volumecontent/:id/dir': 'POST /api/volumes/:name/files/mkdir',
  'GET /e2b/volumecontent/:id/file': 'GET /api/volumes/:name/files',
  'PUT /e2b/volumecontent/:id/file': 'POST /api/volumes/:name/files',
  'GET /e2b/secrets': 'GET /api/secrets',
  'GET /e2b/secrets/:id': 'GET /api/secrets/:name',
  'POST /e2b/secrets': 'POST /api/secrets',
  'POST /e2b/secrets/:id': 'PUT /api/secrets/:name',
  'DELETE /e2b/secrets/:id': 'DELETE /api/secrets/:name',
  'GET /e2b/api-keys': `GET ${ACCOUNTS}`,
  'POST /e2b/api-keys': `POST ${ACCOUNTS}`,
  'PATCH /e2b/api-keys/:id': `PATCH ${ACCOUNTS}/:id`,
  'DELETE /e2b/api-keys/:id': `DELETE ${ACCOUNTS}/:id`,
  'GET /e2b/v2/sandboxes/:id/logs': `GET ${SANDBOX}/events`,
  'GET /e2b/sandboxes/:id/logs': `GET ${SANDBOX}/events`,
  'GET /e2b/teams': without('sandbox:list', TEAM),
  'GET /e2b/teams/:workspace_uuid/metrics': without('sandbox:list', TEAM),
  'GET /e2b/teams/:workspace_uuid/metrics/max': without('sandbox:list', TEAM),
  'POST /e2b/sandboxes/:id/snapshots': `POST ${SANDBOX}/snapshots`,
  'GET /e2b/snapshots': 'GET /api/snapshots',
  'GET /e2b/sandboxes/:id/metrics': `GET ${SANDBOX}/metrics`,
  'GET /e2b/sandboxes/metrics': differing(
    `GET ${SANDBOX}/metrics`,
    'sandbox:list',
    'it is about many sandboxes; listing and reading one are of the same roles',
  ),
  'POST /e2b/v3/templates': 'POST /api/templates/:name/builds',
  'GET /e2b/templates/:id/files/:hash': 'PUT /api/templates/files/:hash',
  'POST /e2b/v2/templates/:id/builds/:build': 'POST /api/templates/:name/builds',
  'GET /e2b/templates/:id/builds/:build/status': 'GET /api/templates/:name/builds/:build',
  'GET /e2b/templates/:id/builds/:build/logs': 'GET /api/templates/:name/builds/:build/logs',
  'POST /e2b/templates/tags': 'PUT /api/templates/:name/tags/:tag',
  'DELETE /e2b/templates/tags': 'DELETE /api/templates/:name/tags/:tag',
  'GET /e2b/templates/:id/tags': 'GET /api/templates/:name',
  'GET /e2b/templates': 'GET /api/templates',
  'GET /e2b/v2/templates': 'GET /api/templates',
  'GET /e2b/templates/:id': 'GET /api/templates/:name',
  'GET /e2b/templates/aliases/:alias': 'GET /api/images',
  'PATCH /e2b/v2/templates/:id': without('template:update', 'whether a template is public changes nothing here'),
  'DELETE /e2b/templates/:id': 'DELETE /api/templates/:name',
  'PUT /e2b/template-files/:ticket': 'PUT /api/templates/files/:hash',
  'GET /e2b/envd/health': `GET ${SANDBOX}`,
  'GET /e2b/envd/envs': `GET ${SANDBOX}`,
  'GET /e2b/envd/metrics': `GET ${SANDBOX}/metrics`,
  [`POST ${PROCESS}/Start`]: `POST ${SANDBOX}/exec`,
  [`POST ${PROCESS}/Connect`]: without('sandbox:exec', STARTS),
  [`POST ${PROCESS}/List`]: differing(
    `GET ${SANDBOX}/processes`,
    'sandbox:exec',
    'it also shows the environment of each process',
  ),
  [`POST ${PROCESS}/SendSignal`]: `POST ${SANDBOX}/processes/:pid/signal`,
  [`POST ${PROCESS}/SendInput`]: without('sandbox:exec', STARTS),
  [`POST ${PROCESS}/StreamInput`]: without('sandbox:exec', STARTS),
  [`POST ${PROCESS}/CloseStdin`]: without('sandbox:exec', STARTS),
  [`POST ${PROCESS}/Update`]: without('sandbox:exec', STARTS),
  [`POST ${FILESYSTEM}/MakeDir`]: `POST ${SANDBOX}/files/mkdir`,
  [`POST ${FILESYSTEM}/Move`]: `POST ${SANDBOX}/files/move`,
  [`POST ${FILESYSTEM}/Remove`]: `DELETE ${SANDBOX}/files`,
  [`POST ${FILESYSTEM}/Stat`]: `GET ${SANDBOX}/files/stat`,
  [`POST ${FILESYSTEM}/ListDir`]: `GET ${SANDBOX}/files/list`,
  [`POST ${FILESYSTEM}/WatchDir`]: `GET ${SANDBOX}/files/watch`,
  [`POST ${FILESYSTEM}/CreateWatcher`]: `GET ${SANDBOX}/files/watch`,
  [`POST ${FILESYSTEM}/GetWatcherEvents`]: `GET ${SANDBOX}/files/watch`,
  [`POST ${FILESYSTEM}/RemoveWatcher`]: `GET ${SANDBOX}/files/watch`,
  'GET /e2b/envd/files': `GET ${SANDBOX}/files`,
  'POST /e2b/envd/files': `POST ${SANDBOX}/files`,
  'POST /e2b/envd/files/compose': without('sandbox:files-write', 'puts parts together that the client wrote before'),
  'GET /files': `GET ${SANDBOX}/files`,
  'POST /files': `POST ${SANDBOX}/files`,
};
