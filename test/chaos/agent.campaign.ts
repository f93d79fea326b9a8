import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubernetesRequirement } from '../kubernetes/index.ts';
import { runCampaign } from './campaign.ts';
import { idlePod, manifestOf } from './workload.ts';
import { NAMESPACE, WORKER, openWorld, type World } from './world.ts';

/** Short here; `node test/chaos/main.ts --faults 1000` for a long night. */
const FAULTS = 15;
const SEED = 20_260_101;

const reason = await kubernetesRequirement();
const title = 'an agent and a platform that are cut, stalled and killed while they work';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  }, 600_000);
  afterAll(() => world?.close());

  it(`lose no result and no event, do nothing twice and break no log, over ${FAULTS} faults`, async () => {
    const { signal } = new AbortController();
    const { findings, records, inflicted } = await runCampaign(world, { faults: FAULTS, seed: SEED, signal });
    expect(findings).toEqual([]);
    expect(inflicted).toBe(FAULTS);
    const succeeded = records.commands.filter(({ seen }) => seen?.status === 'succeeded');
    expect(new Set(succeeded.map(({ kind }) => kind))).toEqual(new Set(['deploy', 'exec']));
    expect(records.agentKilledAtMs.length).toBeGreaterThan(0);
    expect(records.podsDeleted.size).toBeGreaterThan(FAULTS);
    expect(Math.max(...records.logs.map(({ numbers }) => numbers.length))).toBeGreaterThan(5);
  });

  it('and the checker finds a lost result, a lost event, and what was done twice', async () => {
    const report = await runCampaign(world, {
      faults: 0,
      seed: SEED + 2,
      round: 'control',
      signal: new AbortController().signal,
      unheard: ['unheard'],
      interfere: async (commands) => {
        const first = await waitFor(() => commands.find(({ kind, id }) => kind === 'deploy' && id !== null));
        const line = await waitFor(() => commands.find(({ kind, id }) => kind === 'exec' && id !== null));
        for (const { id } of [first, line]) {
          await waitFor(async () => id !== null && (await world.api.command(id))?.status === 'succeeded');
        }
        const object = {
          ...(JSON.parse(manifestOf(first.name)) as { metadata: object }),
          apiVersion: 'v1',
          kind: 'ConfigMap',
        };
        await world.client.create({ ...object, metadata: { name: first.name, namespace: NAMESPACE } });
        await world.kubernetes.kubectl(
          '-n',
          NAMESPACE,
          'exec',
          WORKER,
          '--',
          'sh',
          '-c',
          `echo ${line.name} >> /tmp/journal`,
        );
        await world.client.create(idlePod('unheard', {})); // of nobody's project: the agent says nothing of it
        commands.push({ ...line, name: 'line-unknown', id: 'cmd-000000000000', seen: null });
      },
    });
    const planted = [
      'exec line-unknown (cmd-000000000000): its result is lost',
      expect.stringMatching(/^object .* came 2 times$/),
      expect.stringMatching(/^journal line .* came 2 times$/),
      'event pod_created pod/unheard is lost',
    ];
    expect(report.findings).toEqual(expect.arrayContaining(planted));
  });
});
