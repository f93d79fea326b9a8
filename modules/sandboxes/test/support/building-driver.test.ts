import { describe } from 'vitest';
import { buildContract } from '../contract/build-contract.ts';
import { BuildingDriver } from './building-driver.ts';
import { sampleSpec } from './sample-spec.ts';

describe('BuildingDriver', () => {
  buildContract(async () => {
    const driver = new BuildingDriver();
    return { driver, spec: (name) => sampleSpec(name), again: null, dispose: () => driver.dispose() };
  });
});
