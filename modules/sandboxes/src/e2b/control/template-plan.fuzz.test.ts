import { describeFuzz, orRefusalLater } from '@svc/testing';
import { Value } from 'typebox/value';
import { expect } from 'vitest';
import { ImageCatalog } from '../../domain/images/catalog.ts';
import { MAX_STEPS, neededStages } from '../../domain/templates/build-plan.ts';
import { startBuildSchema, toClientPlan } from './template-plan.ts';

const catalog = new ImageCatalog([], null);

describeFuzz({
  name: 'builds of templates by E2B clients',
  corpus: new URL('./corpus/template-plan/', import.meta.url),
  seeds: [
    '{"fromImage":"python:3","steps":[{"type":"RUN","args":["pip install x","root"]},{"type":"COPY","args":["a","/b","",""],"filesHash":"abc"}],"startCmd":"x","readyCmd":"y"}',
    '{"fromTemplate":"own","steps":[{"type":"ENV","args":["A","b","C"]},{"type":"WORKDIR","args":["/w"]},{"type":"USER","args":["u"]},{"type":"copy","filesHash":"x"}],"force":true}',
    '{"fromImage":"a:latest","fromImageRegistry":{"type":"aws"},"steps":[{"type":"VOLUME"}]}',
    '{"fromTemplate":"__proto__","steps":[{"type":"constructor","args":[]}]}',
  ],
  dictionary: [
    '"type":"RUN"',
    '"type":"COPY"',
    '"type":"ENV"',
    '"type":"USER"',
    '"args":[',
    '"filesHash":"',
    '""',
    'null',
    '[]',
    '{}',
    '"__proto__":',
    ',',
    '1e999',
    '\\u0000',
    '\\ud800',
    ':latest',
  ],
  run: async (input) => {
    let given: unknown;
    try {
      given = JSON.parse(input.toString('utf8'));
    } catch {
      return;
    }
    if (!Value.Check(startBuildSchema, given)) return;
    const plan = await orRefusalLater(() => toClientPlan(given, catalog, async (name) => name === 'own'));
    if (plan === null) return;
    expect(plan.stages).toHaveLength(1);
    expect([...neededStages(plan)]).toEqual([0]);
    const steps = plan.stages.flatMap((stage) => stage.steps);
    expect(steps.length).toBe(given.steps?.length ?? 0);
    expect(steps.length).toBeLessThanOrEqual(MAX_STEPS);
    for (const step of steps) {
      expect(step.text.length).toBeLessThanOrEqual(Math.max(1000, input.length));
      if (step.kind === 'copy') expect(step.files).toMatch(/^e2b-[A-Za-z0-9_-]+$/);
      if (step.kind === 'env')
        for (const pair of step.variables) expect(pair.every((text) => typeof text === 'string')).toBe(true);
      // No step reaches into another stage, and no log line names the values of variables.
      if (step.kind === 'copy') expect(step.from).toBeNull();
    }
    expect(JSON.parse(JSON.stringify(plan))).toEqual(plan);
  },
});
