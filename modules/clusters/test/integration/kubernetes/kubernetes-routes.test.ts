import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PlayedKubernetes, type PlayedAnswer } from '../../support/played-kubernetes.ts';
import { startRig, type Rig } from '../../support/rig.ts';

const SECRET = 'hunter2-in-the-environment';

function podNamed(name: string, namespace = 'shop'): object {
  return {
    metadata: {
      name,
      namespace,
      creationTimestamp: '2026-11-22T08:00:00Z',
      labels: { 'pod-template-hash': '5f6' },
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': SECRET },
      ownerReferences: [{ kind: 'ReplicaSet', name: 'web-5f6', controller: true }],
    },
    spec: {
      nodeName: 'worker-1',
      containers: [
        {
          name: 'main',
          image: 'shop/web:1',
          env: [{ name: 'PASSWORD', value: SECRET }],
          args: [`--password=${SECRET}`],
        },
      ],
    },
    status: {
      phase: 'Running',
      podIP: '10.0.0.7',
      conditions: [{ type: 'Ready', status: 'True' }],
      containerStatuses: [{ name: 'main', ready: true, restartCount: 3, state: { running: {} } }],
    },
  };
}

const DEPLOYMENT = {
  metadata: { name: 'web', namespace: 'shop', generation: 2 },
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: 'web' }, matchExpressions: [{ key: 'tier', operator: 'In', values: ['a', 'b'] }] },
    template: { spec: { containers: [{ name: 'main', image: 'shop/web:1', env: [{ name: 'P', value: SECRET }] }] } },
  },
  status: { observedGeneration: 2, readyReplicas: 1, updatedReplicas: 2 },
};

const METRICS = {
  items: [{ metadata: { name: 'pod-0', namespace: 'shop' }, containers: [{ usage: { cpu: '250m', memory: '1Mi' } }] }],
};

let rig: Rig;
let cluster: { id: string; token: string };
let answer: (url: URL) => PlayedAnswer;
let kubernetes: PlayedKubernetes | undefined;

beforeAll(async () => {
  rig = await startRig({ config: { connects_per_minute: 1000 } });
  cluster = await rig.addCluster();
});
afterEach(async () => {
  await kubernetes?.close();
  kubernetes = undefined;
});
afterAll(() => rig.close());

async function play(answers: (url: URL) => PlayedAnswer): Promise<PlayedKubernetes> {
  answer = answers;
  kubernetes = await PlayedKubernetes.connect(rig, cluster, { answer: (url) => answer(url) });
  return kubernetes;
}

/** A list paged like the API server's: the continue token is the index of the next object. */
function renderPage(objects: readonly object[], url: URL): PlayedAnswer {
  const from = Number(url.searchParams.get('continue') ?? '0');
  const to = from + Number(url.searchParams.get('limit'));
  const metadata = to < objects.length ? { continue: String(to) } : {};
  return { body: { metadata, items: objects.slice(from, to) } };
}

const get = (path: string) => rig.call('GET', `/v1/clusters/production${path}`);

describe('lists of cluster resources', () => {
  it('show pods with state, restarts, owner and usage, but without their environment', async () => {
    const played = await play(({ pathname }) =>
      pathname.startsWith('/apis/metrics.k8s.io') ? { body: METRICS } : { body: { items: [podNamed('pod-0')] } },
    );
    const { status, body } = await get('/pods?namespace=shop&node=worker-1&label_selector=app%3Dweb');
    expect(status).toBe(200);
    expect(body).toEqual({
      pods: [
        {
          namespace: 'shop',
          name: 'pod-0',
          state: 'Running',
          message: null,
          phase: 'Running',
          ready: true,
          ready_containers: 1,
          total_containers: 1,
          restarts: 3,
          created_at: '2026-11-22T08:00:00Z',
          node: 'worker-1',
          ip: '10.0.0.7',
          owner: { kind: 'Deployment', name: 'web' },
          default_container: null,
          containers: [{ name: 'main', image: 'shop/web:1', init: false, state: 'Running', ready: true, restarts: 3 }],
          cpu_usage_cores: 0.25,
          memory_usage_bytes: 1024 * 1024,
        },
      ],
      next_cursor: null,
    });
    expect(JSON.stringify(body)).not.toContain(SECRET);
    expect(played.asked).toContain(
      '/api/v1/namespaces/shop/pods?labelSelector=app%3Dweb&fieldSelector=spec.nodeName%3Dworker-1&limit=100',
    );
    expect(played.callers[0]).toEqual({
      service: 'kubernetes',
      user: `svc:user:${rig.owner.principal.id}`,
      role: 'owner',
    });
  });

  it('show workloads kind by kind, across page boundaries', async () => {
    await play((url) => {
      if (url.pathname.endsWith('/deployments')) return renderPage([DEPLOYMENT, DEPLOYMENT, DEPLOYMENT], url);
      return renderPage(url.pathname.endsWith('/jobs') ? [{ metadata: { name: 'once', namespace: 'shop' } }] : [], url);
    });
    const kinds: unknown[] = [];
    let cursor: unknown = null;
    do {
      const query = typeof cursor === 'string' ? `&cursor=${cursor}` : '';
      const { body } = await get(`/workloads?page_size=2${query}`);
      const workloads = body['workloads'] as Record<string, unknown>[]; // the schema of the route
      kinds.push(...workloads.map(({ kind, name }) => `${String(kind)}/${String(name)}`));
      cursor = body['next_cursor'];
    } while (cursor !== null);
    expect(kinds).toEqual(['Deployment/web', 'Deployment/web', 'Deployment/web', 'Job/once']);
    const { body } = await get('/workloads?kind=Deployment&page_size=1');
    expect(body['workloads']).toEqual([
      {
        kind: 'Deployment',
        namespace: 'shop',
        name: 'web',
        state: 'progressing',
        ready: 1,
        desired: 2,
        updated: 2,
        images: ['shop/web:1'],
        created_at: null,
        selector: 'app=web,tier in (a,b)',
      },
    ]);
    expect(JSON.stringify(body)).not.toContain(SECRET);
  });

  it('show nodes, without usage if there is no metrics API', async () => {
    const node = {
      metadata: { name: 'worker-1', labels: { 'node-role.kubernetes.io/control-plane': '' } },
      spec: { unschedulable: true },
      status: {
        conditions: [
          { type: 'Ready', status: 'True' },
          { type: 'DiskPressure', status: 'True' },
        ],
        allocatable: { cpu: '1900m', memory: '4Gi', pods: '110' },
        nodeInfo: { kubeletVersion: 'v1.33.0', osImage: 'Debian', architecture: 'amd64' },
        addresses: [{ type: 'InternalIP', address: '10.1.0.1' }],
      },
    };
    await play(({ pathname }) =>
      pathname.startsWith('/apis/') ? { status: 404, body: {} } : { body: { items: [node] } },
    );
    expect((await get('/nodes')).body['nodes']).toEqual([
      {
        name: 'worker-1',
        state: 'ready',
        ready: true,
        schedulable: false,
        pressures: ['DiskPressure'],
        roles: ['control-plane'],
        created_at: null,
        kubelet_version: 'v1.33.0',
        os_image: 'Debian',
        architecture: 'amd64',
        internal_ip: '10.1.0.1',
        cpu_capacity_cores: 1.9,
        memory_capacity_bytes: 4 * 2 ** 30,
        pods_capacity: 110,
        cpu_usage_cores: null,
        memory_usage_bytes: null,
      },
    ]);
  });

  it('filter by a part of the name, with a limit on the reads per call', async () => {
    const pods = Array.from({ length: 2500 }, (_, index) => podNamed(`pod-${String(index).padStart(4, '0')}`));
    const played = await play((url) => renderPage(url.pathname.startsWith('/apis/') ? [] : pods, url));
    const first = await get('/pods?name=99&page_size=10');
    const names = (body: Record<string, unknown>): unknown[] =>
      (body['pods'] as Record<string, unknown>[]).map(({ name }) => name); // the schema of the route
    expect(names(first.body)[0]).toBe('pod-0099');
    const found = names(first.body);
    for (let cursor = first.body['next_cursor']; typeof cursor === 'string';) {
      const { body } = await get(`/pods?name=99&page_size=10&cursor=${cursor}`);
      found.push(...names(body));
      cursor = body['next_cursor'];
    }
    const expected = pods
      .map((_, index) => `pod-${String(index).padStart(4, '0')}`)
      .filter((name) => name.includes('99'));
    expect(found).toEqual(expected);
    const before = played.asked.length;
    expect((await get('/pods?name=nothing')).body).toMatchObject({
      pods: [],
      next_cursor: expect.any(String) as string,
    });
    expect(played.asked.length - before).toBe(11); // ten pages of pods and one metrics request
  });

  it("report the cluster's refusal", async () => {
    let status = 403;
    await play(({ pathname }) =>
      pathname.startsWith('/apis/') ? { body: {} } : { status, body: { kind: 'Status', message: 'no list for you' } },
    );
    expect(await get('/pods')).toMatchObject({
      status: 403,
      body: { error: { code: 'FORBIDDEN', details: { reason: 'no list for you' } } },
    });
    status = 410;
    expect(await get('/pods')).toMatchObject({ status: 410, body: { error: { code: 'CURSOR_EXPIRED' } } });
    status = 400;
    expect(await get('/pods?label_selector=,,')).toMatchObject({
      status: 400,
      body: { error: { code: 'INVALID_REQUEST' } },
    });
    status = 500;
    expect(await get('/pods')).toMatchObject({ status: 502, body: { error: { code: 'KUBERNETES_ERROR' } } });
    expect(await get('/pods?cursor=abc')).toMatchObject({
      status: 400,
      body: { error: { details: { field: 'cursor' } } },
    });
  });

  it('return AGENT_OFFLINE while there is no tunnel', async () => {
    for (const path of ['/pods', '/nodes', '/workloads']) {
      expect(await get(path)).toMatchObject({ status: 503, body: { error: { code: 'AGENT_OFFLINE' } } });
    }
  });
});
