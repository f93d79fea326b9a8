import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { helmRequirement, type Kubernetes, kubernetesRequirement, startKubernetes } from '../kubernetes/index.ts';
import { CONTROLS } from './planted-faults.ts';
import { runPodKills } from './run.ts';

/** A short run; use `node test/pod-kills/main.ts --kills 300` for a long one. */
const KILLS = 8;
const SEED = 20_261_129;
const LIMIT_MS = 15 * 60_000;

const external = (process.env['KUBECONFIG_UNDER_TEST'] ?? '') === '' ? null : 'needs the processes of the node';
const reason = external ?? (await kubernetesRequirement()) ?? (await helmRequirement());
const title = 'sandboxes as pods under load';

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let kubernetes: Kubernetes;
  const lines: string[] = [];
  const run = (controls: boolean): Promise<string[]> =>
    runPodKills(kubernetes, {
      kills: KILLS,
      seed: SEED,
      controls,
      say: (line) => lines.push(line),
      stop: new AbortController().signal,
    });
  beforeAll(async () => {
    kubernetes = await startKubernetes();
  });
  afterAll(() => kubernetes?.stop());

  it(
    `are neither doubled, orphaned nor started empty through ${KILLS} kills of the platform, pods and containers`,
    async () => {
      expect(await run(false), lines.slice(-20).join('\n')).toEqual([]);
      expect(lines.at(-1)).toMatch(/^clean: \d+ kills/);
    },
    LIMIT_MS,
  );

  it(
    'are audited by an auditor that finds planted faults',
    async () => {
      expect(await run(true), lines.slice(-20).join('\n')).toEqual([]);
      for (const { name } of CONTROLS) expect(lines.join('\n')).toContain(`control ${name}: found`);
    },
    LIMIT_MS,
  );
});
