import { KubernetesStatusError, type KubeClient, type KubeObject } from '@svc/kube';
import { systemClock } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { openDisks, PodDisks, specOf } from './pod-disks.ts';
import { toPodView } from './pod-view.ts';
import type { SandboxSpec } from '../../../domain/driver.ts';

const SPEC: SandboxSpec = {
  id: 'sbx_abc',
  hostname: 'calm-otter',
  image: 'debian',
  resources: { cpuMillis: 1500, memoryMb: 512, diskMb: 2048, pids: 512, gpus: 1 },
  network: 'egress',
  isolation: 'namespaces',
};
const forbidden = new KubernetesStatusError({ status: 403, reason: 'Forbidden', message: 'no' });
const signal = new AbortController().signal;

interface Answers {
  readonly claim?: KubeObject | null;
  readonly claims?: readonly KubeObject[] | Error;
  readonly events?: readonly object[] | Error;
  readonly storageClass?: KubeObject | null | Error;
}

/** A cluster that answers so; `created` has what was created. */
function disksOf(answers: Answers, storageClass: string | null = 'fast') {
  const created: KubeObject[] = [];
  const valueOf = <Value>(value: Value | Error): Value => {
    if (value instanceof Error) throw value;
    return value;
  };
  const client: Pick<KubeClient, 'get' | 'list' | 'create'> = {
    get: async ({ kind }) =>
      kind === 'StorageClass' ? valueOf(answers.storageClass ?? null) : (created[0] ?? answers.claim ?? null),
    list: async function* ({ kind }) {
      const items = valueOf((kind === 'Event' ? answers.events : answers.claims) ?? []);
      yield { items: items as KubeObject[], resourceVersion: '1' };
    },
    create: async (object) => {
      const made = { ...object, metadata: { ...object.metadata, uid: 'u1' } };
      created.push(made);
      return made;
    },
  };
  const options = { client: client as KubeClient, namespace: 'boxes', owner: 'one', storageClass, clock: systemClock };
  return { created, disks: new PodDisks(options), open: () => openDisks(options, signal) };
}

const claimOf = (phase: string, annotations: Record<string, string> = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'claim', uid: 'u1', labels: { 'svc.dev/sandbox': 'sbx_abc' }, annotations },
  status: { phase },
});
const eventOf = (uid: string, reason: string, at: string, message = reason): object => ({
  involvedObject: { uid },
  reason,
  message,
  lastTimestamp: at,
});

describe('the disks of pods', () => {
  it('are claims of the size of the sandbox, which say what its pods are made of', async () => {
    const { disks, created } = disksOf({});
    const disk = await disks.create(SPEC, 'docker.io/library/debian:13', signal);
    expect(disk).toMatchObject({
      isCreated: false,
      content: { reference: 'docker.io/library/debian:13', folders: null },
    });
    expect(created[0]?.['spec']).toEqual({
      accessModes: ['ReadWriteOnce'],
      storageClassName: 'fast',
      resources: { requests: { storage: '2048Mi' } },
    });
    const found = await disks.find(disk.name, signal);
    if (found === null) throw new Error('it was made');
    // Without network and GPUs: for a pod in which nothing is started.
    const resources = { cpuMillis: 1500, memoryMb: 512, diskMb: 2048, pids: 512 };
    expect(specOf('sbx_abc', found)).toEqual({ ...SPEC, resources, network: 'none', template: null });
  });

  it('are not believed if somebody has changed what they say', async () => {
    for (const text of ['', '{', '{}', 'x'.repeat(20_000)]) {
      const { disks } = disksOf({ claim: claimOf('Bound', { 'svc.dev/sandbox-disk': text }) });
      await expect(disks.find('claim', signal)).rejects.toThrow('does not say what its sandbox is made of');
    }
  });

  it('need a right to claims, and a class that exists as far as the account may know', async () => {
    await expect(disksOf({ claims: forbidden }).open()).rejects.toThrow('no');
    await expect(disksOf({}).open()).rejects.toThrow('the cluster has no StorageClass fast');
    expect(await disksOf({ storageClass: forbidden }).open()).not.toBeNull();
  });

  it('are used without a class as long as some exist', async () => {
    expect(await disksOf({ claims: forbidden }, null).open()).toBeNull();
    expect(await disksOf({}, null).open()).toBeNull();
    const kept = await disksOf({ claims: [claimOf('Bound')] }, null).open();
    expect(kept?.makesNew).toBe(false);
  });

  const whyLate = (claim: KubeObject | null, events: readonly object[] | Error, podStatus: unknown = {}) => {
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'claim', uid: 'p1' }, status: podStatus };
    return disksOf({ claim, events }).disks.whyLate('claim', toPodView(pod));
  };

  it('say in the words of the cluster why they have no volume', async () => {
    const events = [
      eventOf('u1', 'ProvisioningFailed', '2026-01-01T00:00:02Z', 'out of space'),
      eventOf('u1', 'Provisioning', '2026-01-01T00:00:01Z'),
      eventOf('other', 'ProvisioningFailed', '2026-01-01T00:00:03Z', 'of an earlier claim'),
    ];
    expect(await whyLate(claimOf('Pending'), events)).toBe(
      'its claim claim has no volume yet: ProvisioningFailed: out of space',
    );
    expect(await whyLate(claimOf('Pending'), forbidden)).toBe('its claim claim has no volume yet');
    expect(await whyLate(null, [])).toBe('its claim was deleted');
  });

  it('leave it to the pod that no node has room, which a volume may wait for', async () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/1 nodes are available' }];
    const events = [eventOf('u1', 'WaitForFirstConsumer', '2026-01-01T00:00:01Z')];
    expect(await whyLate(claimOf('Pending'), events, { conditions })).toBeNull();
  });

  it('say why the node of the pod cannot mount them', async () => {
    const failed = eventOf('p1', 'FailedMount', '2026-01-01T00:00:01Z', 'wrong fs type');
    expect(await whyLate(claimOf('Bound'), [failed])).toBe('its disk cannot be mounted: FailedMount: wrong fs type');
    expect(await whyLate(claimOf('Bound'), [eventOf('p1', 'Pulling', '2026-01-01T00:00:01Z')])).toBeNull();
  });
});
