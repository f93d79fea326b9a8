import type { ReadyLine } from '../system/running-platform.ts';

/** No request here takes longer, unless it hangs. */
const ANSWER_LIMIT_MS = 120_000;

export interface Answer {
  readonly status: number;
  readonly bytes: Buffer;
  /** Parsed JSON; empty for other bodies. */
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Call {
  readonly json?: unknown;
  readonly bytes?: Buffer;
}

/** Null: there was no response, so the outcome is unknown. */
export type Api = (method: string, path: string, call?: Call) => Promise<Answer | null>;

export function apiOf({ url, token }: Pick<ReadyLine, 'url' | 'token'>): Api {
  return async (method, path, { json, bytes } = {}) => {
    const type = json === undefined ? 'application/octet-stream' : 'application/json';
    const body = json === undefined ? bytes : JSON.stringify(json);
    try {
      const response = await fetch(new URL(path, url), {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body === undefined ? {} : { 'content-type': type }) },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
      });
      const received = Buffer.from(await response.arrayBuffer());
      return { status: response.status, bytes: received, body: fieldsOf(response, received) };
    } catch (error) {
      if (error instanceof Error && error.name === 'TimeoutError') {
        throw new Error(`${method} ${path} was not answered within ${ANSWER_LIMIT_MS} ms`, { cause: error });
      }
      return null;
    }
  };
}

function fieldsOf(response: Response, bytes: Buffer): Readonly<Record<string, unknown>> {
  if (response.headers.get('content-type')?.startsWith('application/json') !== true) return {};
  return JSON.parse(bytes.toString('utf8')) as Record<string, unknown>; // every JSON body of this API is an object
}

/** The fields of a sandbox that the campaign reads. */
export interface SandboxRecord {
  readonly id: string;
  readonly name: string;
  readonly status: 'creating' | 'running' | 'stopped' | 'error';
  readonly state_reason: string | null;
  readonly snapshot_id: string | null;
  readonly started_at: string | null;
  readonly paused_at: string | null;
  readonly labels: Readonly<Record<string, string>>;
  readonly network: 'none' | 'egress';
  readonly egress_allow: readonly string[] | null;
  readonly resources: {
    readonly cpu: number;
    readonly memory_mb: number;
    readonly disk_mb: number;
    readonly pids: number;
  };
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly volumes: readonly { readonly name: string }[];
}

export interface VolumeRecord {
  readonly id: string;
  readonly name: string;
}

export interface SnapshotRecord {
  readonly id: string;
  readonly name: string;
}

export interface BuildRecord {
  readonly id: string;
  readonly status: 'waiting' | 'building' | 'ready' | 'error';
  readonly tags: readonly string[];
  /** Whether sandboxes can be created from it. */
  readonly available: boolean;
  readonly error: { readonly message: string } | null;
}

export interface TemplateRecord {
  readonly id: string;
  readonly name: string;
  readonly tags: readonly { readonly tag: string; readonly build_id: string }[];
  readonly builds: readonly BuildRecord[];
}

export interface Records {
  readonly sandboxes: readonly SandboxRecord[];
  readonly snapshots: readonly SnapshotRecord[];
  readonly volumes: readonly VolumeRecord[];
  /** With all their builds. */
  readonly templates: readonly TemplateRecord[];
  /** Number of warm sandboxes. */
  readonly waiting: number;
  /** Number of prepared starts. */
  readonly prepared: number;
}

export async function readRecords(api: Api): Promise<Records> {
  const sandboxes = await listed<SandboxRecord>(api, '/api/containers', 'containers');
  const snapshots = await listed<SnapshotRecord>(api, '/api/snapshots', 'snapshots');
  const volumes = await listed<VolumeRecord>(api, '/api/volumes', 'volumes');
  const templates: TemplateRecord[] = [];
  for (const { name } of await listed<TemplateRecord>(api, '/api/templates', 'templates')) {
    const { body } = await answered(api('GET', `/api/templates/${name}`));
    templates.push(body as unknown as TemplateRecord); // as the API documents it
  }
  const metrics = (await answered(api('GET', '/metrics'))).bytes.toString('utf8');
  const waiting = Number(/^svc_sandbox_pool_ready\{[^}]*\} (\d+)$/m.exec(metrics)?.[1] ?? '0');
  const prepared = Number(/^svc_sandbox_prepared_starts_ready (\d+)$/m.exec(metrics)?.[1] ?? '0');
  return { sandboxes, snapshots, volumes, templates, waiting, prepared };
}

async function listed<Each>(api: Api, path: string, field: string): Promise<Each[]> {
  const all: Each[] = [];
  let cursor: unknown = null;
  do {
    const page = typeof cursor === 'string' ? `&cursor=${encodeURIComponent(cursor)}` : '';
    const { body } = await answered(api('GET', `${path}?page_size=200${page}`));
    all.push(...(body[field] as Each[])); // as the API documents it
    cursor = body['next_cursor'];
  } while (typeof cursor === 'string');
  return all;
}

/** For requests that must be answered because nothing is being killed. */
export async function answered(asked: Promise<Answer | null>): Promise<Answer> {
  const answer = await asked;
  if (answer === null) throw new Error('the platform does not answer');
  if (answer.status >= 300) throw new Error(`answered ${answer.status}: ${answer.bytes.toString('utf8')}`);
  return answer;
}
