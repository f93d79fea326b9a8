import { describe } from 'vitest';
import { driverContract } from '../contract/driver-contract.ts';
import { FakeDriver } from './fake-driver.ts';
import { sampleSpec } from './sample-spec.ts';

describe('FakeDriver', () => {
  driverContract(async () => {
    const driver = new FakeDriver();
    return { driver, spec: (name) => sampleSpec(name), again: null, dispose: () => driver.dispose() };
  });
});
