import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kubernetesRequirement } from '../kubernetes/index.ts';
import { runCampaign } from './campaign.ts';
import { runControl } from './control.ts';
import { openWorld, type World } from './world.ts';

/** Short by default; run `node test/chaos/main.ts --faults 1000` overnight. */
const FAULTS = 15;
const SEED = 20_260_101;

const reason = await kubernetesRequirement();
const title = 'an agent and a platform that are cut, stalled and killed while they work';
const onStage = (stage: string): void => console.log(new Date().toISOString(), stage);

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld();
  }, 600_000);
  afterAll(() => world?.close());

  it(`lose no result and no event, do nothing twice and break no log, over ${FAULTS} faults`, async () => {
    const { signal } = new AbortController();
    const { findings, records, inflicted } = await runCampaign(world, { faults: FAULTS, seed: SEED, signal, onStage });
    expect(findings).toEqual([]);
    expect(inflicted).toBe(FAULTS);
    const succeeded = records.commands.filter(({ seen }) => seen?.status === 'succeeded');
    expect(new Set(succeeded.map(({ kind }) => kind))).toEqual(new Set(['deploy', 'exec']));
    expect(records.agentKilledAtMs.length).toBeGreaterThan(0);
    expect(records.podsDeleted.size).toBeGreaterThan(FAULTS);
    expect(Math.max(...records.logs.map(({ numbers }) => numbers.length))).toBeGreaterThan(5);
  });

  it('and the checker finds a lost result, a lost event, and actions done twice', async () => {
    const { signal } = new AbortController();
    expect(await runControl(world, { seed: SEED + 2, signal, onStage })).toEqual({ missed: [], others: [] });
  });
});
